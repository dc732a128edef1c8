#!/usr/bin/env bash
# Installs the build tools of `make web` that are missing: emscripten and esbuild from Debian, and the source of Debian's
# zlib (save files and checksums need it), which is compiled to WebAssembly. Does nothing if all are installed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
cache=build-web/zlib
archive=zlib_1.2.13.dfsg.orig.tar.bz2
sum=71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1

packages=()
need() { command -v "$1" > /dev/null 2>&1 || packages+=("$2"); }
need emcc emscripten
need esbuild esbuild
need cmake cmake
need curl curl
need bzip2 bzip2
if [ ${#packages[@]} -gt 0 ]; then
  echo "web: installing ${packages[*]}"
  sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  export DEBIAN_FRONTEND=noninteractive
  if ! { $sudo apt-get -qq update && $sudo apt-get -qq install -y "${packages[@]}"; } > build-web.log 2>&1; then
    tail -5 build-web.log
    echo "web: could not install: ${packages[*]} (see build-web.log). Install them by hand and run again." >&2
    exit 1
  fi
  rm -f build-web.log
fi

[ -e $cache/zlib.h ] && exit 0
mkdir -p $cache
if ! curl -fsSL --retry 3 -o $cache/$archive "https://deb.debian.org/debian/pool/main/z/zlib/$archive" ||
  ! echo "$sum  $cache/$archive" | sha256sum --quiet -c - || ! tar -xjf $cache/$archive -C $cache --strip-components=1; then
  rm -rf $cache
  echo "web: zlib's source could not be fetched from deb.debian.org; put its files into $cache and run again" >&2
  exit 1
fi
