#!/usr/bin/env bash
# `make site`: documentation, references, the paper's page and the explorer, one folder for any static host: out/site.
# Installs web/requirements.txt into build-web/venv where it is missing or has changed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
python=build-web/venv/bin/python
web/venv.sh || exit 1
export NO_MKDOCS_2_WARNING=1
$python web/site.py && $python -m mkdocs build -q --strict -f build-web/mkdocs.yml && $python web/links.py out/site && echo "site: out/site, $(du -sh out/site | cut -f1)"
