#!/usr/bin/env bash
# `make test-nightly`: the checks that are too long for `make test`, each as a numbered step (tests/steps.sh). About three hours
# on two cores. tests/nightly.sh WORD... runs only the steps whose kind, before the colon, contains one of the words.
#
#   mutants        every opcode made wrong in every way, every line of the CPU's arithmetic changed: the tests must fail
#   fuzz           a million frames of images that are no games under ASan and UBSan, with derivatives
#   long           kills, failing calls, ten thousand environments for ten minutes, flips on every game
#   platforms      other processors and C libraries, by cross compilers and emulators
#   parsers        ten minutes of libFuzzer for each parser, with coverage
#   threads        batches under the thread sanitizer
#   ale-py         the comparisons of `make test` at full length, and every game
#   sanitizers     the unit tests at full length, those that `make test` leaves to the plain build included
#   docs           every command line of the documentation, the long ones too
#   python         the package with PyTorch, Captum and scikit-learn, compiled from source as on a user's machine; with NumPy 1; several players;
#                  mended defects put back: their tests must fail
#   sweeps         kills, equality and speed of sweeps on Ray; RLlib learns
#   web            the explorer in two browsers, and the site
#   style          clang-tidy with clang's analyzer
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/steps.sh
words=("$@")

wanted() { # name
  local word
  [ ${#words[@]} = 0 ] && return 0
  for word in "${words[@]}"; do [[ ${1%%:*} == *"$word"* ]] && return 0; done
  return 1
}
nightly() { if wanted "$1"; then step "$@"; fi; } # name, command...
with_ale() {                                      # name, command...
  wanted "$1" || return 0
  if [ "$ale" = 1 ]; then step "$@"; else skip_step "$1" roms "ale-py is not installed"; fi
}

with_ray() { # name, command...
  wanted "$1" || return 0
  export RAY_worker_niceness=0 # not 15: workers would starve beside other work
  if .venv/bin/python -c "import ray" 2> /dev/null; then step "$@"; else skip_step "$1" ray "Ray is not installed (pip install ray)"; fi
}

with_ale_and_ray() { # name, command...
  if [ "$ale" = 1 ]; then with_ray "$@"; else with_ale "$@"; fi
}

sanitized() { # folder, CMake's options...: a build with every test
  cmake -S . -B "$1" -DCMAKE_BUILD_TYPE=None "${@:2}" > /dev/null && cmake --build "$1" -j "$(nproc)" -- --no-print-directory -s
}
fuzz() { # two runs on two processors
  build-sanitize/tests/fuzz_rom 500000 11 200 & local first=$!
  build-sanitize/tests/fuzz_rom 500000 12 200 && wait $first
}
threads() { # -O1: twice as fast as -Og, and a race is one in every build
  local tests=(batch parallel env truth smooth device device_batch)
  cmake -S . -B build-tsan -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g1 -fsanitize=thread" -DDIFFVCS_PYTHON=OFF > /dev/null &&
    cmake --build build-tsan -j "$(nproc)" --target "${tests[@]/#/test_}" -- --no-print-directory -s &&
    DIFFVCS_BRIEF=1 TSAN_OPTIONS="halt_on_error=1 die_after_fork=0" tests/unit.sh build-tsan -R "^test_($(IFS='|' && echo "${tests[*]}"))$"
}
odd_calls() { DIFFVCS_ODD_CALLS=all tests/python_asan.sh -k careless; }

step "set-up" tests/setup.sh
find_roms
step "build" make -s build
nightly "mutants: every opcode wrong in every way, every line of arithmetic changed" tests/mutate_cpu.sh
nightly "sanitizers, fuzz: build" sanitized build-sanitize -DCMAKE_C_FLAGS="-Og -g1" -DDIFFVCS_SANITIZE=ON
nightly "long: a hundred kills of each command, a soak, flips in one walk and the relaxed chips on every game" tests/unit.sh build -L long
nightly "sanitizers: every unit test at full length" tests/unit.sh build-sanitize -E test_concurrent_games
nightly "sanitizers, fuzz: a million frames of images that are no games" fuzz
nightly "fuzz: derivatives of 20,000 frames, one in five" build/tests/fuzz_rom 20000 77 5
nightly "fuzz, parsers: ten minutes of libFuzzer each, and their coverage" fuzz/fuzz.sh 600
nightly "platforms: aarch64, i686, musl, clang, big-endian, macOS, Windows" tests/platforms.sh
nightly "threads: batches and truths under the thread sanitizer" threads
with_ale "ale-py live: every game, 5,000 frames or three episodes" \
  .venv/bin/python tests/ale_live.py --frames 5000 --episodes 3
with_ale "ale-py live: options, modes, difficulties of every game, at full length" .venv/bin/python tests/ale_env_live.py
with_ale "ale-py live: the sound of every game" .venv/bin/python tests/ale_sound_live.py --all
with_ale "ale-py live: what every RAM bit of every game does" .venv/bin/python tests/ale_truth_live.py
with_ale "ale-py live: the bytes of RAM that explain lists, 50 pixels" .venv/bin/python tests/ale_explain_live.py
with_ale "ale-py live: the vector environment, every section" .venv/bin/python tests/ale_vector_live.py
with_ale "docs: every command line of README and docs, long ones included" python3 tests/docs.py --long
# first: the steps behind it use what it puts into .venv
nightly "python, sweeps: the package from source, with PyTorch, Captum and Ray" tests/python.sh --full
nightly "python: 400 odd calls of every function that takes arrays, under the sanitizers" odd_calls
nightly "python: NumPy 1" tests/numpy1.sh
nightly "python: the two products with forks over 4 and 8 frames, every game" .venv/bin/python tests/products.py
nightly "python: Sample Factory's own example" tests/sample_factory.sh
nightly "python: each mended defect put back, its test must fail" .venv/bin/python tests/mutate_mends.py
with_ale "python: multi_agent_ale_py live, every mode for two and four players, 5,000 frames" .venv/bin/python tests/multi_agent_live.py
with_ale "python: self-play beats a random player" .venv/bin/python examples/self_play/self_play.py --generations 10 --at-least 75
with_ray "sweeps: twenty workers and three drivers killed, a full disk" .venv/bin/python tests/sweep_faults.py
with_ale_and_ray "sweeps: the scores of all games by threads and on Ray" tests/sweep_score.sh
with_ray "sweeps: tasks a second on Ray and by threads" .venv/bin/python bench/sweep.py --workers 4 --at-least .9
with_ale_and_ray "sweeps: RLlib's PPO learns Pong on two cores" .venv/bin/python examples/frameworks/rllib_pong.py 600000 -15
nightly "web: the whole explorer in Chromium and Firefox" tests/web.sh
nightly "web: the site builds without a warning" make -s site
nightly "style: clang's analyzer follows calls" tests/lint.sh
finish
