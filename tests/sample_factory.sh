#!/usr/bin/env bash
# Sample Factory's own EnvPool example on our environments. It needs Gymnasium 0.29 and NumPy 1, so it has a virtual environment of its
# own, build-sample-factory, with the package and PyTorch.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
venv=build-sample-factory
[ -x $venv/bin/python ] || python3 -m venv $venv || exit 1
$venv/bin/python -m pip -q --disable-pip-version-check install sample-factory . || exit 1
out=$($venv/bin/python examples/frameworks/sample_factory_pong.py 600 2>&1) || { echo "$out" | tail -20; exit 1; }
echo "$out" | tail -1
