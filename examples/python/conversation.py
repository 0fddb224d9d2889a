"""A launcher that keeps one conversation: each run gives the agent one request, with what changed since the last one.

    python3 examples/python/conversation.py conversation.jsonl cat "First request" "Second request"

The agent's program, here `cat`, reads the system text and the messages of the request on its standard input.
"""

import json
import os
import subprocess
import sys

CANTUS = os.environ.get("CANTUS", "cantus")


def last_id(history):
    """The id that the next entry descends from; None in a new conversation."""
    if not os.path.exists(history):
        return None
    with open(history, encoding="utf-8") as lines:
        return ([None] + [json.loads(line)["id"] for line in lines])[-1]


def append(history, entry):
    """Adds an entry below the last one."""
    parent = last_id(history)
    place = {"id": str(int(parent or 0) + 1), "parentId": parent}
    with open(history, "a", encoding="utf-8") as lines:
        lines.write(json.dumps({**entry, **place}) + "\n")


def texts(launch, history):
    """System text, context update and pack of one request."""
    command = [CANTUS, "session", "compile", "-", "--history", history]
    done = subprocess.run(command, input=json.dumps(launch).encode(), stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def describe(request, number):
    """The launch description. What changes with each request is in dynamic sections, or the system text would change."""
    return {
        "version": 1,
        "product": "Acme",
        "sections": [
            {"id": "role", "title": "Your Role", "text": "You answer briefly."},
            {"id": "branch", "title": "Branch", "text": os.environ.get("BRANCH", "main"), "dynamic": True},
        ],
        "state": {"name": None, "todo": [{"text": request}], "first_turn": number == 1},
        "wiki": True,
    }


def answer(agent, system, messages):
    """What the agent says."""
    spoken = "\n\n".join([system, *messages])
    return subprocess.run(agent, input=spoken.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()


def main(history, agent, *requests):
    for number, request in enumerate(requests, 1):
        given = texts(describe(request, number), history)
        messages = [request]
        if given["update"]:
            update = given["update"]
            messages.insert(0, update["content"])
            # This alone makes the update delivered.
            append(
                history,
                {
                    "type": "custom_message",
                    "customType": "cantus-context",
                    "content": update["content"],
                    "details": {"cantusContext": update["snapshot"]},
                },
            )
        append(history, {"type": "message", "content": request})
        said = answer([agent], given["system"], messages)
        append(history, {"type": "message", "content": said})
        print(f"request {number}: updated {given['pack']['delivery']['updated']}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
