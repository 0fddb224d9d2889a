"""A launcher in Python: runs a provider's program with the instructions of the project around the working folder.

    CANTUS_LIBRARY=target/release/libcantus_capi.so python3 examples/python/launcher.py claude ARTIFACTS claude -p "Say hello"
"""

import ctypes
import json
import os
import subprocess
import sys

ABI = 1
CALL = ctypes.c_void_p


class Text(ctypes.Structure):
    """A text that belongs to the library."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode()


def load(path):
    """The library with the types of the functions used here."""
    library = ctypes.CDLL(path)
    if library.cantus_abi() != ABI:
        raise SystemExit(f"{path} has another interface than {ABI}")
    strings = ctypes.POINTER(ctypes.c_char_p)
    for name, result, arguments in [
        ("composer_new", CALL, [ctypes.c_char_p, ctypes.c_char_p]),
        ("begin", CALL, [CALL, ctypes.c_char_p, ctypes.c_char_p]),
        ("arguments", ctypes.c_size_t, [CALL, strings, ctypes.c_size_t]),
        ("argument", ctypes.c_char_p, [CALL, ctypes.c_size_t]),
        ("env_count", ctypes.c_size_t, [CALL]),
        ("env_name", ctypes.c_char_p, [CALL, ctypes.c_size_t]),
        ("env_value", ctypes.c_char_p, [CALL, ctypes.c_size_t]),
        ("variable", Text, [CALL]),
        ("troubles", Text, [CALL]),
        ("invocation_status", ctypes.c_int, [CALL]),
        ("record_exit", None, [CALL, ctypes.c_int32]),
        ("finish", None, [CALL]),
        ("invocation_free", None, [CALL]),
        ("composer_free", None, [CALL]),
    ]:
        function = getattr(library, f"cantus_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def main(provider, artifacts, program, *args):
    """Runs `program` and gives its status."""
    library = load(os.environ["CANTUS_LIBRARY"])
    composer = library.cantus_composer_new(b".", None)
    request = json.dumps({"version": 1, "provider": provider, "agent": "example"})
    call = library.cantus_begin(composer, request.encode(), os.fsencode(artifacts))

    given = (ctypes.c_char_p * len(args))(*map(os.fsencode, args))
    count = library.cantus_arguments(call, given, len(args))
    command = [program, *(os.fsdecode(library.cantus_argument(call, i)) for i in range(count))]
    env = {name: value for name, value in os.environ.items() if name != str(library.cantus_variable(call))}
    for i in range(library.cantus_env_count(call)):
        env[os.fsdecode(library.cantus_env_name(call, i))] = os.fsdecode(library.cantus_env_value(call, i))

    code = subprocess.run(command, env=env, check=False).returncode
    code = code if code >= 0 else 128 - code
    library.cantus_record_exit(call, code)
    library.cantus_finish(call)
    print(f"status {library.cantus_invocation_status(call)}, troubles {library.cantus_troubles(call)}", file=sys.stderr)
    library.cantus_invocation_free(call)
    library.cantus_composer_free(composer)
    return code


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: launcher.py PROVIDER ARTIFACTS COMMAND [ARGS...]")
    sys.exit(main(*sys.argv[1:]))
