#!/usr/bin/env bash
# `make test`: every check, each as a numbered step with its time. Steps that need ROM images take them from ale-py,
# installed into .venv; where that is impossible they are reported as SKIPPED, loudly, and everything else still runs.
# What has one thread only runs beside the rest and is reported at the end. Ends with one line: N passed, N failed, N skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0 failed=0 skipped=0 names=()
beside=$(mktemp -d) beside_names=() beside_jobs=()
trap 'rm -rf "$beside"' EXIT
trap 'kill "${beside_jobs[@]}" 2> /dev/null; exit 130' INT TERM

count() { # name, seconds, exit status
  if [ "$3" = 0 ]; then
    passed=$((passed + 1))
    echo "<== ok: $1 ($2 s)"
  else
    failed=$((failed + 1))
    names+=("$1")
    echo "<== FAILED: $1 ($2 s)"
  fi
}

step() { # name, command...
  local name=$1 start=$SECONDS
  shift
  echo
  echo "==> $name"
  "$@"
  count "$name" $((SECONDS - start)) $?
}

start_beside() { # name, command...: one that uses one processor, and nothing that another step makes
  local log=$beside/${#beside_names[@]} start=$SECONDS
  beside_names+=("$1")
  shift
  { "$@" > "$log.log" 2>&1; echo "$? $((SECONDS - start))" > "$log.end"; } &
  beside_jobs+=($!)
}

finish_beside() {
  local i status seconds
  for i in "${!beside_names[@]}"; do
    wait "${beside_jobs[i]}"
    echo
    echo "==> ${beside_names[i]}"
    cat "$beside/$i.log"
    status=1 seconds=0
    [ -e "$beside/$i.end" ] && read -r status seconds < "$beside/$i.end"
    count "${beside_names[i]}" "$seconds" "$status"
  done
}

skip() {
  skipped=$((skipped + 1))
  echo
  echo "==> $1"
  echo "<== SKIPPED: $1: $2"
}

step "set-up" tests/setup.sh
if tests/setup.sh --roms; then
  DIFFVCS_ROMS=$(compgen -G "$PWD/.venv/lib/python3*/site-packages/ale_py/roms")
  export DIFFVCS_ROMS
fi
roms=${DIFFVCS_ROMS:-}

step "build" make -s build
start_beside "python: the package, beside ale-py through Gymnasium, PyTorch and JAX" tests/python.sh
if command -v nvcc > /dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
  start_beside "the library for GPUs compiles" make -s cuda-library BUILD=build-cuda
else
  skip "the library for GPUs" "nvcc is not installed"
fi
step "unit tests" ctest --test-dir build --output-on-failure -j "$(nproc)"
step "unit tests under the address and undefined-behaviour sanitizers" make -s test-sanitize
if [ -n "$roms" ]; then
  step "PXC-S, PXC1: golden records, 64 games x 5 streams and a million instructions each" \
    build/diffvcs verify --roms "$roms" tests/golden/xitari/*.tsv.gz tests/golden/xitari-cpu/*.tsv.gz
  step "ale-py live: RAM, screen, reward, lives, game over, every frame of every game" \
    .venv/bin/python tests/ale_live.py --frames 250 --episodes 0
  step "ale-py live: options, modes, difficulties, sticky actions, colours of every game" \
    .venv/bin/python tests/ale_env_live.py --quick
  step "ale-py live: every sample of the sound of twenty games" .venv/bin/python tests/ale_sound_live.py --quick
  step "ale-py live: what every RAM bit of eight games does, by setRAM" .venv/bin/python tests/ale_truth_live.py --quick
  step "ale-py live: the bytes of RAM that explain lists, by setRAM" .venv/bin/python tests/ale_explain_live.py --quick
  step "ale-py live: the vector environment's observations and rewards" .venv/bin/python tests/ale_vector_live.py --quick
else
  skip "golden records" "no ROM images (pip install ale-py)"
  skip "ale-py live" "ale-py is not installed"
fi
step "PXC2: two compilers, four optimisations, CUDA C++ on the host" tests/builds.sh
step "installed package is usable" tests/test_install.sh
step "style" tests/lint.sh --brief
finish_beside

echo
for name in "${names[@]:-}"; do [ -z "$name" ] || echo "FAILED: $name"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
