#!/usr/bin/env bash
# The Python package as users get it: `pip install .` into .venv, then python/tests, and the command line's demo.
# Light packages are installed by themselves; PyTorch and Captum are gigabytes, so they are installed by --full only, and
# their tests are skipped, with a word about it, where they are not there.
set -uo pipefail
cd "$(dirname "$0")/.."
full=${1:-}
pip=".venv/bin/python -m pip -q --disable-pip-version-check"

[ -x .venv/bin/python ] || python3 -m venv .venv || exit 1
install() { # what for, packages
  local what=$1
  shift
  $pip install "$@" > build-python-setup.log 2>&1 && rm -f build-python-setup.log && return
  tail -3 build-python-setup.log
  echo "python: $what could not be installed: its tests are SKIPPED" >&2
}
has() { .venv/bin/python -c "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))" "$@"; }

if ! $pip install . > build-python-setup.log 2>&1; then
  tail -20 build-python-setup.log
  echo "python: the package could not be built" >&2
  exit 1
fi
rm -f build-python-setup.log
has pytest || install "pytest" pytest
has gymnasium cv2 || install "Gymnasium" gymnasium opencv-python-headless
has matplotlib sklearn || install "matplotlib and scikit-learn" matplotlib scikit-learn
has pygame || install "pygame" pygame-ce
has jax || install "JAX" jax
if [ "$full" = --full ]; then has torch captum || install "PyTorch and Captum" torch captum; fi
has torch captum || echo "python: PyTorch and Captum are not installed: their tests are SKIPPED (tests/python.sh --full installs them)"
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
