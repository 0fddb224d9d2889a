#!/bin/sh
# Stands in for Claude Code: prints what it was given, and ends with status 3.
while [ $# -gt 0 ]; do
    case $1 in
    --append-system-prompt-file)
        echo "== system prompt"
        cat "$2"
        shift 2
        ;;
    --settings)
        echo "== settings"
        echo "$2"
        shift 2
        ;;
    *)
        echo "== argument"
        echo "$1"
        shift
        ;;
    esac
done
echo "== SASE_INSTRUCTIONS_FILE"
basename "$SASE_INSTRUCTIONS_FILE"
exit 3
