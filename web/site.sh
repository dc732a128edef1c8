#!/usr/bin/env bash
# `make site`: documentation, references, the paper's page and the explorer, one folder for any static host: out/site.
# Installs mkdocs-material and mkdocstrings into build-web/venv where they are missing.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
python=build-web/venv/bin/python
[ -x $python ] || python3 -m venv build-web/venv || exit 1
if ! $python -c 'import material, mkdocstrings' 2> /dev/null; then
  echo "site: installing mkdocs-material and mkdocstrings"
  if ! $python -m pip -q --disable-pip-version-check install 'mkdocs-material>=9,<10' 'mkdocstrings[python]<1' > build-web/pip.log 2>&1; then
    tail -3 build-web/pip.log
    echo "site: mkdocs-material could not be installed (see build-web/pip.log)" >&2
    exit 1
  fi
fi
export NO_MKDOCS_2_WARNING=1
$python web/site.py && $python -m mkdocs build -q --strict -f build-web/mkdocs.yml && echo "site: out/site, $(du -sh out/site | cut -f1)"
