#!/bin/sh
# Assemble CONTOUR: maps.txt -> maps.inc, edges.inc (if python3 is there), demo.asm -> demo.bin.
# usage: demo/build.sh [output]
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-"$here/demo.bin"}
if command -v python3 >/dev/null; then python3 "$here/mkmap.py"; fi
dasm "$here/demo.asm" -I"$here" -f3 -o"$out"
