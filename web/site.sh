#!/usr/bin/env bash
# `make site`: documentation, references, the paper's page and the explorer, one folder for any static host: out/site.
# Installs web/requirements.txt into build-web/venv where it is missing or has changed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
python=build-web/venv/bin/python
web/venv.sh || exit 1
export NO_MKDOCS_2_WARNING=1
# The results pages of the paper and of the attribution benchmark, unless `make paper` or a benchmark run has left larger ones.
page() { # file, command...: makes the file if it is missing
  [ -e "$1" ] && return
  "${@:2}" > build-web/page.log 2>&1 || { tail -3 build-web/page.log; echo "site: $1 could not be made" >&2; exit 1; }
}
benchmark() { PYTHONPATH=python DIFFVCS_LIBRARY=build/libdiffvcs_python.so $python -m diffvcs.benchmark "$@" --suite quick; }
run_benchmark() { benchmark run && benchmark report; }
page out/paper/index.html build/diffvcs paper --quick --out out/paper
page out/benchmark/quick.html run_benchmark
$python web/site.py && $python -m mkdocs build -q --strict -f build-web/mkdocs.yml && $python web/links.py out/site && echo "site: out/site, $(du -sh out/site | cut -f1)"
