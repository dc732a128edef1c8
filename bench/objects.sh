#!/usr/bin/env bash
# What it costs to record the objects of a drawn frame (docs/annotations.md): host instructions by callgrind, which repeat exactly on a busy machine.
#   bench/objects.sh BUILD ROMS [FRAMES] [GAME...]     BUILD has libdiffvcs.a; all games of ROMS without GAME
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: bench/objects.sh BUILD ROMS [FRAMES] [GAME...]}
roms=${2:?usage: bench/objects.sh BUILD ROMS [FRAMES] [GAME...]}
frames=${3:-20}
games=("${@:4}")
if [ ${#games[@]} = 0 ]; then
  for image in "$roms"/*.bin; do games+=("$(basename "$image" .bin)"); done
fi
command -v valgrind > /dev/null || { echo "objects: valgrind is not installed"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
${CC:-cc} -std=c11 -O2 -Wall -Wextra -Iinclude -o "$scratch/objects" bench/objects.c "$build/libdiffvcs.a" -lz -lpng -lpthread -lm
for game in "${games[@]}"; do
  row=("$game")
  for recording in 0 1 2 3; do
    count=$(valgrind -q --tool=callgrind --instr-atstart=no --callgrind-out-file="$scratch/out" --collect-atstart=no "$scratch/objects" "$roms/$game.bin" \
      $recording "$frames" 2> "$scratch/log") || { cat "$scratch/log"; exit 1; }
    row+=("$(sed -n 's/^\(summary\|totals\): \([0-9]*\).*/\2/p' "$scratch/out" | head -1)")
  done
  echo "${row[*]} $count"
done | sort -t' ' -k1,1 | awk -v frames="$frames" '
  function median(list, n,   i, k, x) {
    for (i = 2; i <= n; i++) { x = list[i]; for (k = i; k > 1 && list[k - 1] > x; k--) list[k] = list[k - 1]; list[k] = x }
    return list[int((n + 1) / 2)]
  }
  {
    recorded[NR] = $3 / $2; listed[NR] = $4 / $2; tracked[NR] = $5 / $2; recorded_over += recorded[NR] > 1.3; listed_over += listed[NR] > 1.3
    if (listed[NR] > worst) { worst = listed[NR]; name = $1 }
    if (recorded[NR] > recorded_most) recorded_most = recorded[NR]
    if (tracked[NR] > tracked_most) tracked_most = tracked[NR]
    printf "%-24s %8d instructions a drawn frame, x %.2f recorded, x %.2f listed (%d), x %.2f with identity\n", $1, $2 / frames, recorded[NR],
      listed[NR], $6, tracked[NR]
  }
  END {
    printf "%d games: recorded median %.2f, worst %.2f, %d above 1.3; listed median %.2f, worst %.2f (%s), %d above 1.3; with identity %.2f and %.2f\n",
      NR, median(recorded, NR), recorded_most, recorded_over, median(listed, NR), worst, name, listed_over, median(tracked, NR), tracked_most
  }'
