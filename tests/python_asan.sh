#!/usr/bin/env bash
# The Python tests with the address and undefined-behaviour sanitizers: a library built with them, and Python started with
# their runtime. Arguments go to pytest. Leaks are not reported, because Python frees little at exit.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
python=.venv/bin/python
[ -x $python ] && $python -c 'import pytest, gymnasium' 2> /dev/null || {
  echo "python_asan: run tests/python.sh first, which makes .venv" >&2
  exit 1
}
build="build-python-asan"
mkdir -p $build
if ! { cmake -S . -B $build -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-Og -g1" -DDIFFVCS_SANITIZE=ON -DDIFFVCS_TESTS=OFF \
  -DDIFFVCS_CLI=OFF && cmake --build $build -j "$(nproc)" --target diffvcs_python; } > $build/build.log 2>&1; then
  tail -20 $build/build.log
  echo "python_asan: the library could not be built" >&2
  exit 1
fi
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' $build/CMakeCache.txt)
runtime=$("$compiler" -print-file-name=libasan.so)
case $runtime in
  /*) ;;
  *)
    echo "python_asan: $compiler has no libasan.so; gcc has one" >&2
    exit 1
    ;;
esac
# no test of this may be skipped for want of the library: a call out of bounds must end the process
# libstdc++ comes first, too: the sanitizers must find how JAX throws exceptions before JAX is loaded
exceptions=$("$compiler" -print-file-name=libstdc++.so)
export LD_PRELOAD="$runtime $exceptions" DIFFVCS_LIBRARY=$PWD/$build/libdiffvcs_python.so PYTHONPATH=$PWD/python PYTHONMALLOC=malloc
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1
export DIFFVCS_BRIEF=1
if ! $python - << 'END'; then
import subprocess, sys
faulty = "import ctypes, numpy as np; from diffvcs import _c; _c.lib.raw('vcs_demo_image')(ctypes.c_void_p(8))"
sys.exit(subprocess.run([sys.executable, "-c", faulty], capture_output=True).returncode == 0)
END
  echo "python_asan: a fault is not noticed" >&2
  exit 1
fi
$python -m pytest -q -p no:cacheprovider --rootdir "$PWD" "${@:-python/tests}"
