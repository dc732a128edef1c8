#!/usr/bin/env bash
# The Python package with NumPy 1, whose integers become floats where those of NumPy 2 do not: tests that need nothing else.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/need.sh
environment="build-numpy1"
if ! { [ -x $environment/bin/pytest ] || { python3 -m venv $environment && $environment/bin/pip -q install 'numpy<2' pytest; }; } > $environment.log 2>&1; then
  need_missing numpy1 "NumPy 1 could not be installed (Python 3.12 is the last that has it)" numpy1
  exit
fi
export PYTHONPATH=$PWD/python DIFFVCS_LIBRARY=$PWD/build/libdiffvcs_python.so DIFFVCS_BRIEF=1
$environment/bin/python -m pytest -q -p no:cacheprovider --rootdir "$PWD" \
  python/tests/test_{c,careless,copies,exact,files,flips,functional,machine,mistakes,relaxed,study,sweep}.py -k "not ctrl_c"
