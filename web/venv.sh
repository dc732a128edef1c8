#!/usr/bin/env bash
# build-web/venv: the Python environment of `make site` and of web/tests, with web/requirements.txt. It is not .venv, because
# other steps of `make test` install into .venv at the same time. Does nothing if everything is installed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
venv=build-web/venv
cmp -s web/requirements.txt $venv/requirements.txt && exit 0
mkdir -p build-web
[ -x $venv/bin/python ] || python3 -m venv $venv || exit 1
echo "web: installing web/requirements.txt into $venv"
if ! $venv/bin/python -m pip -q --disable-pip-version-check install -r web/requirements.txt > build-web/pip.log 2>&1; then
  tail -3 build-web/pip.log
  echo "web: the packages of web/requirements.txt could not be installed (see build-web/pip.log)" >&2
  exit 1
fi
cp web/requirements.txt $venv/requirements.txt
