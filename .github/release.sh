#!/bin/sh
# Builds the program for one target and packs it with the licences, beside a file with the archive's SHA-256:
#
#     .github/release.sh TARGET FOLDER [PROGRAM]
#
# With PROGRAM that file is packed and nothing is built. A program for Linux that needs a library of the system is refused: it
# would not start where that library is older.
set -eu
target=$1
out=$2
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)

case $target in *-windows-*) suffix=.exe ;; *) suffix= ;; esac
if [ $# -gt 2 ]; then
    program=$3
else
    (cd "$top" && cargo build --locked --release --package cantus-cli --target "$target")
    program=${CARGO_TARGET_DIR:-$top/target}/$target/release/cantus$suffix
fi

case $target in
*-linux-*)
    dynamic=$(LC_ALL=C readelf --dynamic --wide "$program")
    needed=$(printf '%s\n' "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | tr '\n' ' ')
    if [ -n "$needed" ]; then
        echo "release: the program for $target needs ${needed}of the system; build for a target that ends in -musl" >&2
        exit 1
    fi
    ;;
esac

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$top/Cargo.toml" | head -n 1)
name=cantus-$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir "$work/$name"
cp "$program" "$work/$name/cantus$suffix"
cp "$top/README.md" "$top/CHANGELOG.md" "$top"/LICENSE-* "$work/$name"
(cd "$work" && tar -czf "$name.tar.gz" "$name")
mv "$work/$name.tar.gz" "$out"
cd "$out"
if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$name.tar.gz" >"$name.tar.gz.sha256"
else
    shasum -a 256 "$name.tar.gz" >"$name.tar.gz.sha256"
fi
cat "$name.tar.gz.sha256"
