#!/bin/sh
# Runs each fuzz target for a while (SECONDS_EACH, default 60), the hand-made bundle or the examples as its first inputs. Needs a nightly
# toolchain and cargo-fuzz: `cargo install cargo-fuzz`.
set -eu
cd "$(dirname "$0")/../.."
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "cargo-fuzz is not there: run \`cargo install cargo-fuzz\`" >&2
    exit 2
fi
for target in manifest trace request; do
    mkdir -p "fuzz/corpus/$target"
    case $target in
    request) cp examples/bundles/native.kdl examples/bundles/compiled.kdl "fuzz/corpus/$target/" ;;
    *) cp "tests/vectors/bundle/handmade/$target.json" "fuzz/corpus/$target/handmade.json" ;;
    esac
    cargo +nightly fuzz run "$target" -- -max_total_time="${SECONDS_EACH:-60}" -max_len=8192 -print_final_stats=1
done
