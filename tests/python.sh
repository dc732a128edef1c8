#!/usr/bin/env bash
# The Python package as users get it: `pip install .` into .venv, then python/tests, and the command line's demo.
# Light packages are installed by themselves; PyTorch and Captum are gigabytes, so they are installed by --full only, and
# their tests are skipped, with a SKIP line, where they are not installed. Where `make build` has compiled the library,
# pip links it instead of compiling it again, which takes longer than all tests; --full compiles, as on a user's machine.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
full=${1:-}
pip=".venv/bin/python -m pip -q --disable-pip-version-check"

[ -x .venv/bin/python ] || python3 -m venv .venv || exit 1
has() { .venv/bin/python -c "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))" "$@"; }
missing=()
need() { has "$1" || missing+=("$2"); } # module, package
need pytest pytest
need gymnasium gymnasium
need cv2 opencv-python-headless
need matplotlib matplotlib
need pygame pygame-ce
need pettingzoo pettingzoo
need multi_agent_ale_py multi_agent_ale_py
need jax jax
need fsspec fsspec
if [ "$full" = --full ]; then
  need sklearn scikit-learn
  need torch torch
  need captum captum
  need stable_baselines3 stable-baselines3
  need torchrl torchrl
  need ray 'ray[rllib]'
fi
if [ ${#missing[@]} -gt 0 ] && ! $pip install --no-compile "${missing[@]}" > build-python-setup.log 2>&1; then
  for package in "${missing[@]}"; do
    $pip install --no-compile "$package" > build-python-setup.log 2>&1 && continue
    tail -3 build-python-setup.log
    echo "python: $package could not be installed: what needs it is SKIPPED" >&2
  done
fi

prebuilt=()
if [ "$full" != --full ] && [ -e build/CMakeCache.txt ]; then
  if ! cmake --build build -j "$(nproc)" --target diffvcs_static > build-python-setup.log 2>&1; then
    tail -20 build-python-setup.log
    echo "python: the library could not be built" >&2
    exit 1
  fi
  prebuilt=("--config-settings=build-dir=build-python-linked"
    "--config-settings=cmake.define.DIFFVCS_PREBUILT=$PWD/build/libdiffvcs.a")
fi
if ! $pip install "${prebuilt[@]}" . > build-python-setup.log 2>&1; then
  tail -20 build-python-setup.log
  echo "python: the package could not be built" >&2
  exit 1
fi
rm -f build-python-setup.log
has torch captum || echo "python: PyTorch and Captum are not installed (tests/python.sh --full installs them)"
has pytest || exit 1

# outside the repository, so that what is imported is what was installed
root=$PWD
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
(cd "$out" && "$root/.venv/bin/python" -m diffvcs demo --out "$out" > /dev/null && [ -s "$out/python_demo.png" ]) || {
  echo "python: the demo failed" >&2
  exit 1
}
.venv/bin/python -m pytest -q -p no:cacheprovider --rootdir "$root" python/tests
