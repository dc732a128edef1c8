#!/usr/bin/env bash
# `make demo`: our own cartridge and, where ROM images are installed, a real game; leaves pictures in out/.
# Argument: the program.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$1
mkdir -p out
echo "==> our own cartridge"
"$program" info demo
"$program" run demo --frames 1200 --seed 3 --screenshot out/demo.png --video out/demo.gif
made=(out/demo.png out/demo.gif)
if "$program" info space_invaders > /dev/null 2>&1; then
  echo "==> Space Invaders (ROM image from ale-py)"
  "$program" info space_invaders
  "$program" run space_invaders --profile ale --frames 1200 --seed 3 --screenshot out/space_invaders.png --video out/space_invaders.gif
  echo "==> and is it exact? one record of the reference, 6,000 frames and a million instructions"
  "$program" verify tests/golden/xitari/space_invaders.1.tsv.gz tests/golden/xitari-cpu/space_invaders.tsv.gz
  made+=(out/space_invaders.png out/space_invaders.gif)
else
  echo "(no ROM images found; 'pip install ale-py' brings them)"
fi
echo
echo "Look at:"
for picture in "${made[@]}"; do echo "  $PWD/$picture"; done
