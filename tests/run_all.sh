#!/usr/bin/env bash
# `make test`: every check, each as a numbered step with its time (tests/steps.sh). Steps that need ROM images take them
# from ale-py, installed into .venv; where that is impossible they are skipped, and everything else still runs.
# DIFFVCS_REQUIRE=roms makes that a failure. Longer checks are in tests/nightly.sh.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/steps.sh

step "set-up" tests/setup.sh
find_roms

step "build" make -s build
start_beside "python: the package, beside ale-py through Gymnasium, PyTorch and JAX" tests/python.sh
if command -v nvcc > /dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
  start_beside "the library for GPUs compiles" make -s cuda-library BUILD=build-cuda
else
  skip_step "the library for GPUs compiles" nvcc "nvcc is not installed"
fi
start_beside "the explorer in a browser, beside the native library: hashes, saves, links, a broken ROM" tests/web.sh -k "native or broken or link or small or widget or embedded"
step "unit tests" tests/unit.sh build -LE long
if command -v nvcc > /dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
  step "objects by the PTX of the GPU's code, on the CPU" make -s test-ptx
else
  skip_step "objects by the PTX of the GPU's code, on the CPU" nvcc "nvcc is not installed"
fi
step "unit tests under the address and undefined-behaviour sanitizers" make -s test-sanitize
if [ -n "$DIFFVCS_ROMS" ]; then
  step "PXC-S, PXC1: golden records, 64 games x 5 streams and a million instructions each" \
    build/diffvcs verify --roms "$DIFFVCS_ROMS" tests/golden/xitari/*.tsv.gz tests/golden/xitari-cpu/*.tsv.gz
else
  skip_step "PXC-S, PXC1: golden records" roms "no ROM images (pip install ale-py)"
fi
live() { # what is compared, script, arguments...: a comparison with ale-py, frame by frame
  if [ "$ale" = 1 ]; then
    step "ale-py live: $1" .venv/bin/python "${@:2}"
  else
    skip_step "ale-py live: $1" roms "ale-py is not installed"
  fi
}
live "RAM, screen, reward, lives, game over, every frame of every game" tests/ale_live.py --frames 250 --episodes 0
live "options, modes, difficulties, sticky actions, colours of every game" tests/ale_env_live.py --quick
live "every sample of the sound of twenty games" tests/ale_sound_live.py --quick
live "what every RAM bit of eight games does, by setRAM" tests/ale_truth_live.py --quick
live "the bytes of RAM that explain lists, by setRAM" tests/ale_explain_live.py --quick
live "the vector environment's observations and rewards" tests/ale_vector_live.py --quick
step "PXC2: two compilers, four optimisations, CUDA C++ on the host" tests/builds.sh
step "installed package is usable" tests/test_install.sh
step "style" tests/lint.sh --brief
finish
