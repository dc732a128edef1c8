#!/usr/bin/env bash
# What CMake needs to build for another platform: its compiler and archiver as programs without arguments (PREFIX/cc and
# PREFIX/ar), and zlib and libpng as static libraries in PREFIX/include and PREFIX/lib.
#
#   AR="zig ar" wheels/dependencies.sh PREFIX COMPILER...      does nothing if they are there
#
# Sources are taken from $DIFFVCS_SOURCES (archives zlib*.tar.* and libpng*.tar.*), or from Debian's source packages, with Debian's
# changes, which correct security faults.
set -euo pipefail
prefix=$(mkdir -p "$1" && cd "$1" && pwd)
shift
for tool in cc ar; do
  command=${AR:-ar}
  [ $tool = cc ] && command=$*
  printf '#!/bin/sh\nexec %s "$@"\n' "$command" > "$prefix/$tool"
  chmod +x "$prefix/$tool"
done
[ -e "$prefix/lib/libpng.a" ] && exit 0
here=$(cd "$(dirname "$0")/.." && pwd)
sources=${DIFFVCS_SOURCES:-$here/build-wheels/sources}

compgen -G "$sources/zlib*.orig.tar.*" > /dev/null || compgen -G "$sources/zlib*.tar.*" > /dev/null ||
  "$here/wheels/sources.sh" "$sources" zlib=1:1.2.13.dfsg-1 libpng1.6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in zlib libpng; do
  archive=$(find "$sources/" -maxdepth 1 -name "$name*.tar.*" ! -name '*.debian.tar.*' | sort | tail -1)
  [ -n "$archive" ] || {
    echo "dependencies: no source of $name in $sources; put zlib-1.*.tar.gz and libpng-1.6.*.tar.gz there" >&2
    exit 1
  }
  mkdir "$work/$name"
  tar -xf "$archive" -C "$work/$name" --strip-components=1
  changes=$(find "$sources/" -maxdepth 1 -name "$name*.debian.tar.*" | sort -V | tail -1)
  [ -n "$changes" ] || continue
  command -v patch > /dev/null || {
    echo "dependencies: there is no patch (apt-get install patch)" >&2
    exit 1
  }
  tar -xf "$changes" -C "$work/$name"
  while read -r change; do
    patch -s -p1 -d "$work/$name" < "$work/$name/debian/patches/$change"
  done < <(sed '/^#/d; /^ *$/d' "$work/$name/debian/patches/series")
done
cp "$work/libpng/scripts/pnglibconf.h.prebuilt" "$work/libpng/pnglibconf.h"
cd "$work"
compile() { # folder, file...; TARGET_OS_MAC, which clang defines for macOS, means the Macintosh of 1984 to both
  local folder=$1 file
  shift
  for file in "$@"; do
    "$prefix/cc" -O2 -fPIC -fvisibility=hidden -w -UTARGET_OS_MAC -DHAVE_UNISTD_H -DHAVE_STDARG_H -DPNG_ARM_NEON_OPT=0 -DPNG_INTEL_SSE_OPT=0 \
      -Izlib -Ilibpng -c "$folder/$file.c" -o "$folder-$file.o"
  done
}
compile zlib adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate inftrees trees uncompr zutil
compile libpng png pngerror pngget pngmem pngpread pngread pngrio pngrtran pngrutil pngset pngtrans pngwio pngwrite pngwtran pngwutil
mkdir -p "$prefix/include" "$prefix/lib"
"$prefix/ar" rcs "$prefix/lib/libz.a" zlib-*.o
"$prefix/ar" rcs "$prefix/lib/libpng.a" libpng-*.o
cp zlib/zlib.h zlib/zconf.h libpng/png.h libpng/pngconf.h libpng/pnglibconf.h "$prefix/include/"
