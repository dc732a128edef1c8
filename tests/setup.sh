#!/usr/bin/env bash
# Installs what is missing: Debian packages to build and test with (--build: only to build), and into the virtual
# environment .venv ruff, mypy and check-jsonschema (not with --build) and ale-py (with --roms). Does nothing if everything
# is installed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

packages=()
need() { command -v "$1" > /dev/null 2>&1 || packages+=("$2"); }
header() { [ -e "/usr/include/$1" ] || compgen -G "/usr/include/*/$1" > /dev/null || packages+=("$2"); }

need cc gcc
need make make
need cmake cmake
need python3 python3
need pkg-config pkg-config
header zlib.h zlib1g-dev
header png.h libpng-dev
header SDL2/SDL.h libsdl2-dev
python3 -c 'import ensurepip, venv' > /dev/null 2>&1 || packages+=(python3-venv)
if [ "${1:-}" != --build ]; then
  need clang clang
  need clang-format clang-format
  need clang-tidy clang-tidy
  need shellcheck shellcheck
  need dasm dasm
  need xvfb-run xvfb
  need xauth xauth
  header cmocka.h libcmocka-dev
fi

if [ ${#packages[@]} -gt 0 ]; then
  echo "setup: installing ${packages[*]}"
  sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  export DEBIAN_FRONTEND=noninteractive
  if ! { $sudo apt-get -qq update && $sudo apt-get -qq install -y "${packages[@]}"; } > setup.log 2>&1; then
    tail -5 setup.log
    echo "setup: could not install: ${packages[*]} (see setup.log). Install them by hand and run again." >&2
    exit 1
  fi
  rm -f setup.log
fi

if [ "${1:-}" != --build ] && ! { [ -x .venv/bin/mypy ] && [ -x .venv/bin/ruff ] && [ -x .venv/bin/check-jsonschema ]; }; then
  echo "setup: installing ruff, mypy and check-jsonschema into .venv"
  if ! { python3 -m venv .venv && .venv/bin/pip -q install ruff mypy check-jsonschema; } > setup.log 2>&1; then
    tail -3 setup.log
    echo "setup: ruff, mypy and check-jsonschema could not be installed: Python's style and types, and the workflow files, are not checked" >&2
  fi
  rm -f setup.log
fi

if [ "${1:-}" = --roms ] || [ "${2:-}" = --roms ]; then
  if ! compgen -G '.venv/lib/python3*/site-packages/ale_py/roms/pong.bin' > /dev/null ||
    ! compgen -G '.venv/lib/python3*/site-packages/gymnasium/vector' > /dev/null; then
    echo "setup: installing ale-py into .venv (its ROM images and its emulator are what we compare with)"
    if ! { python3 -m venv .venv && .venv/bin/pip -q install 'ale-py>=0.12,<0.13' numpy gymnasium; } > setup.log 2>&1; then
      tail -3 setup.log
      echo "setup: ale-py could not be installed: everything that needs ROM images will be skipped" >&2
      exit 1
    fi
    rm -f setup.log
  fi
fi
