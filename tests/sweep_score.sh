#!/usr/bin/env bash
# The scores of all games by threads and on a Ray cluster of four worker processes: the same bytes.
#
#   tests/sweep_score.sh [OUT] [OPTION...]      options of `python -m diffvcs.sweep score` such as --bits 8
#
# Ten minutes on two cores, half of it by threads. Results stay in OUT, so that a second run computes only what is missing; without OUT
# they go to a temporary folder. PYTHON names an interpreter with Ray and the package; .venv's if not given. Needs ROM images.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
python=${PYTHON:-$PWD/.venv/bin/python}
out=${1:-$(mktemp -d)}
[ $# -gt 0 ] && shift || trap 'rm -rf "$out"' EXIT
export RAY_worker_niceness=${RAY_worker_niceness:-0}

timed() { # words...: the command's output, and its seconds
  local start=$SECONDS
  "$@" || exit 1
  echo "  ${*: -1}: $((SECONDS - start)) s"
}
timed "$python" -m diffvcs.sweep score --all "$@" --out "$out/threads"
timed "$python" -m diffvcs.sweep score --all "$@" --workers 4 --ray --out "$out/ray"
games=$(find "$out/ray/results" -type f | wc -l)
if diff -r "$out/threads" "$out/ray"; then
  echo "sweep_score: score.tsv and the results of $games games are the same bytes by threads and on Ray"
else
  echo "sweep_score: NOT the same bytes by threads and on Ray"
  exit 1
fi
