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
echo "==> what pressing RIGHT does to the screen, and why the balloon is where it is"
"$program" grad demo --seed 1 --frame 620 --input right --horizon 4 --out out/right | sed -n 1,11p
"$program" explain demo --seed 1 --frame 620 --object P0 --horizon 4 --out out/explain | sed -n 1p
made+=(out/right/heat.png out/explain/explain.html)
if "$program" info space_invaders > /dev/null 2>&1; then
  echo "==> Space Invaders (ROM image from ale-py)"
  "$program" info space_invaders
  "$program" run space_invaders --frames 1200 --seed 3 --screenshot out/space_invaders.png --video out/space_invaders.gif
  echo "==> and is it exact? one record of the reference, 6,000 frames and a million instructions"
  "$program" verify tests/golden/xitari/space_invaders.1.tsv.gz tests/golden/xitari-cpu/space_invaders.tsv.gz
  "$program" explain space_invaders --frame 1050 --pixel 38,190 --out out/space_invaders_explain | sed -n 1p
  made+=(out/space_invaders.png out/space_invaders.gif out/space_invaders_explain/explain.html)
else
  echo "(no ROM images found; 'pip install ale-py' brings them)"
fi
echo
echo "Look at:"
for picture in "${made[@]}"; do echo "  $PWD/$picture"; done
