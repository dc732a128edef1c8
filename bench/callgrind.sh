#!/usr/bin/env bash
# Counts host instructions per emulated instruction, in total and by function. The counts repeat exactly on a busy machine.
#   bench/callgrind.sh ROMS [FRAMES] [GAME...]
# The C library may copy with `rep movsb`, which callgrind counts as one instruction per byte; its real cost is far lower.
# Builds the library with debug information in build-callgrind, the same optimised code as `make`.
set -euo pipefail
cd "$(dirname "$0")/.."
roms=${1:?usage: bench/callgrind.sh ROMS [FRAMES] [GAME...]}
frames=${2:-60}
games=("${@:3}")
[ ${#games[@]} -gt 0 ] || games=(pong breakout space_invaders seaquest ms_pacman qbert montezuma_revenge \
  asteroids pitfall road_runner)
build="build-callgrind"
command -v valgrind > /dev/null || { echo "callgrind: valgrind is not installed"; exit 0; }

cmake -S . -B $build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-g -DDIFFVCS_TESTS=OFF -DDIFFVCS_CLI=OFF > /dev/null
cmake --build $build --target diffvcs_static -j "$(nproc)" -- --no-print-directory -s > /dev/null
read -ra flags <<< "${CFLAGS:-}"
${CC:-cc} -std=c11 -O2 -g -fno-inline -Wall -Wextra -Iinclude "${flags[@]}" -o $build/count bench/count.c bench/loop.c \
  $build/libdiffvcs.a -lz -lpng -lpthread -lm

declare -A host_sum emulated_sum
printf '| %-18s | %14s | %14s | %14s |\n' "game, $frames frames" "instr./frame" "host, screen" "host, emulate"
printf '|%s|%s|%s|%s|\n' "--------------------" "---------------:" "---------------:" "---------------:"
outputs=()
for game in "${games[@]}"; do
  row=()
  for drawing in 1 0; do
    out=$build/callgrind.$game.$drawing
    emulated=$(valgrind -q --tool=callgrind --callgrind-out-file="$out" --collect-atstart=no \
      --toggle-collect=bench_loop $build/count "$roms/$game.bin" "$game" "$frames" $drawing 2> $build/callgrind.log) ||
      { cat $build/callgrind.log; exit 1; }
    host=$(sed -n 's/^\(summary\|totals\): \([0-9]*\).*/\2/p' "$out" | head -1)
    row+=("$(awk -v h="$host" -v e="$emulated" 'BEGIN { printf "%.2f", h / e }')")
    host_sum[$drawing]=$((${host_sum[$drawing]:-0} + host))
    emulated_sum[$drawing]=$((${emulated_sum[$drawing]:-0} + emulated))
    [ $drawing = 0 ] || outputs+=("$out")
  done
  printf '| %-18s | %14d | %14s | %14s |\n' "$game" $((emulated / frames)) "${row[@]}"
done
printf 'host instructions by emulated instruction: screen %s, emulate %s\n' \
  "$(awk "BEGIN { printf \"%.2f\", ${host_sum[1]} / ${emulated_sum[1]} }")" \
  "$(awk "BEGIN { printf \"%.2f\", ${host_sum[0]} / ${emulated_sum[0]} }")"

# Code inlined from another file is listed as that file with the function it went into. Only sums over all games.
for drawing in 1 0; do
  echo "where it goes, $([ $drawing = 1 ] && echo screen || echo emulate), all games, in file:function:"
  for out in "${outputs[@]/%.1/.$drawing}"; do
    callgrind_annotate --auto=no --show-percs=no --threshold=100 "$out"
  done | awk '
    $1 ~ /^[0-9,]+$/ && $2 ~ /:/ {
      gsub(",", "", $1); sub(".*/", "", $2)
      sum[$2] += $1; all += $1
    }
    END {
      for (name in sum) if (sum[name] > all / 200) printf "  %6.2f%% %s\n", 100 * sum[name] / all, name
    }' | sort -rn
done
