#!/usr/bin/env bash
# test_demo_cart: demo/demo.bin is, byte for byte, what demo/demo.asm assembles to.
# Exit status: 0 it is, 1 it is not, 77 skipped (dasm is not installed).
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/need.sh"

if ! command -v dasm >/dev/null 2>&1; then
    need_missing dasm "dasm is not installed (Debian: apt-get install dasm)"
    exit
fi

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

if ! (cd "$root" && dasm demo/demo.asm -Idemo -f3 "-o$tmp/demo.bin" >"$tmp/log" 2>&1); then
    echo "test_demo_cart: demo.asm does not assemble:"
    cat "$tmp/log"
    exit 1
fi
size=$(wc -c <"$tmp/demo.bin" | tr -d ' ')
if [ "$size" != 4096 ]; then
    echo "test_demo_cart: the image has $size bytes, not 4096"
    exit 1
fi
if ! cmp "$tmp/demo.bin" "$root/demo/demo.bin"; then
    echo "test_demo_cart: demo/demo.bin is not what demo/demo.asm gives: run demo/build.sh"
    exit 1
fi
python3 -B "$root/demo/mkmap.py" --check || exit 1
echo "test_demo_cart: ok"
