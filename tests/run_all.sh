#!/usr/bin/env bash
# `make test`: every check, each as a numbered step with its time. Steps that need ROM images take them from ale-py,
# installed into .venv; where that is impossible they are reported as SKIPPED, loudly, and everything else still runs.
# Ends with one line: N passed, N failed, N skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0 failed=0 skipped=0 names=()

step() { # name, command...
  local name=$1 start=$SECONDS
  shift
  echo
  echo "==> $name"
  if "$@"; then
    passed=$((passed + 1))
    echo "<== ok: $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    names+=("$name")
    echo "<== FAILED: $name ($((SECONDS - start)) s)"
  fi
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
if command -v nvcc > /dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
  step "the library for GPUs compiles" make -s cuda BUILD=build-cuda
else
  skip "the library for GPUs" "nvcc is not installed"
fi
step "installed package is usable" tests/test_install.sh
step "python: the package, beside ale-py through Gymnasium, PyTorch and JAX" tests/python.sh
step "style" tests/lint.sh

echo
for name in "${names[@]:-}"; do [ -z "$name" ] || echo "FAILED: $name"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
