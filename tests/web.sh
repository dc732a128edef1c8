#!/usr/bin/env bash
# The explorer in a browser: builds it (`make web`), installs Chromium, Playwright and axe where they are missing, and runs
# web/tests beside the native library in build/. What cannot be installed is skipped (tests/need.h), and the step passes.
# Arguments go to pytest: tests/web.sh -k axe. tests/web.sh --setup builds and installs, and runs nothing.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/need.sh
skip() { # need, reason
  need_missing "$1" "$2"
  [ $? = 77 ] && exit 0
  exit 1
}

web/setup.sh || skip emscripten "emscripten, esbuild or zlib's source could not be installed"
web/build.sh || exit 1
if ! cmake --build build -j "$(nproc)" --target diffvcs diffvcs_shared diffvcs_python > build-web/native.log 2>&1; then
  tail -20 build-web/native.log
  exit 1
fi
if ! command -v chromium > /dev/null && ! command -v google-chrome > /dev/null; then
  sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  echo "web: installing chromium"
  DEBIAN_FRONTEND=noninteractive $sudo apt-get -qq install -y chromium > build-web/chromium.log 2>&1 ||
    skip chromium "Chromium could not be installed"
fi
python=build-web/venv/bin/python
web/venv.sh || skip playwright "Playwright or axe could not be installed"
[ "${1:-}" = --setup ] && exit 0
$python -m pytest -q -p no:cacheprovider --rootdir "$PWD" web/tests "$@"
