#!/bin/sh
# Tries the hooks of `.pre-commit-hooks.yaml`, as this clone's HEAD has them, with the real pre-commit: needs python3 and a
# network. The program is the first argument; without one it is built.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir "$work/bin" "$work/repo" "$work/home"
if [ $# -gt 0 ]; then
    cp "$1" "$work/bin/cantus"
else
    cargo build --locked --quiet --manifest-path "$top/Cargo.toml" --package cantus-cli --target-dir "$work/target"
    cp "$work/target/debug/cantus" "$work/bin/cantus"
fi
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pre-commit==4.7.0
PATH="$work/bin:$work/venv/bin:$PATH"
export PATH HOME="$work/home" PRE_COMMIT_HOME="$work/cache"
git config --global user.name Tester
git config --global user.email tester@example.invalid
git config --global safe.directory '*'
rev=$(git -C "$top" rev-parse HEAD)

fail() {
    echo "pre-commit: $1" >&2
    cat "$work/out" >&2
    exit 1
}
stops() { # a commit with these arguments is stopped, and the report holds the first
    wanted=$1 && shift
    if git commit --quiet -m x "$@" >"$work/out" 2>&1; then fail "a commit that should stop was made"; fi
    grep -qF -e "$wanted" "$work/out" || fail "the report lacks \`$wanted\`"
}
passes() {
    git commit --quiet -m x "$@" >"$work/out" 2>&1 || fail "a commit that should pass was stopped"
}
use() { # the hooks of these names
    printf 'repos:\n  - repo: %s\n    rev: %s\n    hooks:\n' "$top" "$rev" >.pre-commit-config.yaml
    for id in "$@"; do printf '      - id: %s\n' "$id" >>.pre-commit-config.yaml; done
    git add .pre-commit-config.yaml
}
note() {
    printf -- '---\ntype: core\n---\n# Rules\n\n%s\n' "$1" >memory/rules.md
}

cd "$work/repo"
git init --quiet --initial-branch=main
mkdir memory
note "Be brief."
cantus project --quiet
git add .
passes
pre-commit install >"$work/out" 2>&1 || fail "pre-commit couldn't be installed"

use cantus-check
passes
note "Be kind."
git add memory
stops "[drift.stale]"
cantus project --quiet
# The files are right in the working tree and not staged.
stops "[drift.stale]"
git add .
passes
echo "pre-commit: cantus-check stops what is stale and passes what is fresh"

use cantus-project
passes
note "Be nice."
git add memory
stops "files were modified by this hook"
git diff --cached --quiet -- AGENTS.md || fail "the hook staged a file"
grep -q "Be nice." AGENTS.md || fail "the hook wrote nothing"
git add .
passes
echo "pre-commit: cantus-project writes, stages nothing, and stops the commit"

# The hook of Cantus itself beside the framework, whichever came first.
use cantus-project
sed -i.bak 's/cantus-project/cantus-check/' .pre-commit-config.yaml && rm .pre-commit-config.yaml.bak
git add .
passes
cantus hook install >"$work/out"
grep -q "is run first" "$work/out" || fail "the framework's hook wasn't kept"
note "Be quick."
git add memory
stops "cantus check --staged"
cantus hook uninstall >"$work/out"
pre-commit uninstall >"$work/out"
cantus hook install >"$work/out"
pre-commit install >"$work/out"
printf 'repos: []\n' >.pre-commit-config.yaml
git add .pre-commit-config.yaml
stops "[drift.stale]"
cantus project --quiet
git add .
passes
echo "pre-commit: all passed"
