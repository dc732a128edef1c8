#!/usr/bin/env bash
# The library on other platforms: builds the program with a cross compiler, and runs it under an emulator where it is not the
# platform's own processor. Golden records must be reproduced, and derivatives must be those of this machine, byte for byte.
#
#   tests/platforms.sh [PLATFORM...]      aarch64 i686 musl clang big-endian macos windows; without names: all
#
# One line for each platform: `ok` (runs and agrees), `builds` (nothing here can run it), `not ok`. What is missing is counted
# as skipped. docs/platforms.md has the table of what was seen. CFLAGS replaces -O1. SMALL=1 compares less, for a slow machine:
# derivatives at 8 bits instead of 64, and the first 600 frames of the golden records instead of 6,000.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/need.sh
platforms=("$@")
[ ${#platforms[@]} -gt 0 ] || platforms=(aarch64 i686 musl clang big-endian macos windows)
failed=0
bits=64 frames=6000
[ -n "${SMALL:-}" ] && bits=8 frames=600
native=build/diffvcs
roms=${DIFFVCS_ROMS:-$(compgen -G '.venv/lib/python3*/site-packages/ale_py/roms' || true)}
zig=(python3 -m ziglang)
[ -x build-wheels/venv/bin/python ] && zig=("$PWD/build-wheels/venv/bin/python" -m ziglang) # `make wheels` has installed it

lacks() { # need, reason
  need_missing "$1" "$2" platforms
  [ $? = 77 ] || failed=1
}

# Builds the program and test_os for a platform: name, CMake's system, archiver, compiler...
build() {
  local name=$1 system=$2 archiver=$3 folder=build-platforms/$1
  shift 3
  mkdir -p "$folder"
  AR=$archiver wheels/dependencies.sh "$folder/deps" "$@" > "$folder/deps.log" 2>&1 || return 1
  # shellcheck disable=SC2086 # options of the caller
  cmake -S . -B "$folder/build" -DCMAKE_SYSTEM_NAME="$system" -DCMAKE_C_COMPILER="$PWD/$folder/deps/cc" -DCMAKE_AR="$PWD/$folder/deps/ar" \
    -DCMAKE_RANLIB=/bin/true -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="${CFLAGS:--O1}" -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
    -DZLIB_INCLUDE_DIR="$PWD/$folder/deps/include" -DZLIB_LIBRARY="$PWD/$folder/deps/lib/libz.a" \
    -DPNG_PNG_INCLUDE_DIR="$PWD/$folder/deps/include" -DPNG_LIBRARY="$PWD/$folder/deps/lib/libpng.a" \
    -DDIFFVCS_TESTS=OFF -DDIFFVCS_PYTHON=OFF -DCMAKE_DISABLE_FIND_PACKAGE_SDL2=ON -DCMAKE_EXE_LINKER_FLAGS="${LINK:-}" ${FLAGS:-} \
    > "$folder/build.log" 2>&1 &&
    cmake --build "$folder/build" -j "$(nproc)" --target diffvcs >> "$folder/build.log" 2>&1 &&
    "$folder/deps/cc" -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -Iinclude -Isrc -I"$folder/deps/include" tests/test_os.c src/host/files.c \
      src/host/os_*.c "$folder/deps/lib/libz.a" ${LINK:-} -o "$folder/build/test_os$end" >> "$folder/build.log" 2>&1
}

# Runs the programs, perhaps under an emulator, and compares: name, command...
compare() {
  local name=$1 out=build-platforms/$1 records=() line alone=
  shift
  [[ $1 == qemu* ]] && alone=alone
  if ! (cd "$out/build" && "${@:1:$#-1}" "./test_os$end" "$alone") > "$out/test_os.log" 2>&1; then
    echo "not ok $name: test_os: $(grep -m 1 '^not ok' "$out/test_os.log")"
    return 1
  fi
  rm -rf "$out/ours" "$out/theirs"
  mkdir -p "$out/ours" "$out/theirs"
  for side in ours theirs; do
    local run=("$PWD/$native")
    [ $side = theirs ] && run=("$@")
    if ! { "${run[@]}" record demo --frames 600 --seed 3 --out "$out/$side/demo.3.tsv" > /dev/null &&
      "${run[@]}" run demo --frames 600 --seed 3 | grep '^state' > "$out/$side/state" &&
      "${run[@]}" score demo --bits $bits --horizons 1,4 --jobs 1 --fresh --no-costs --out "$out/$side/score.tsv" > /dev/null &&
      "${run[@]}" grad demo --frame 50 --output pixel:100,80 --horizon 2 --out "$out/$side/grad" > /dev/null; }; then
      echo "not ok $name: $side did not run"
      return 1
    fi
  done
  if ! diff -rq -x '*.json' "$out/ours" "$out/theirs" > "$out/diff"; then
    echo "not ok $name: $(head -1 "$out/diff")"
    return 1
  fi
  line="$(tr -s ' ' < "$out/theirs/state"); records, derivatives and truths of our own cartridge are equal"
  if [ -n "$roms" ]; then
    for game in pong space_invaders pitfall; do
      zcat "tests/golden/xitari/$game.1.tsv.gz" | awk -v last=$frames '$1 !~ /^[0-9]+$/ || $1 <= last' > "$out/$game.1.tsv"
      records+=("$out/$game.1.tsv")
    done
    if ! "$@" verify --roms "$roms" "${records[@]}" > "$out/verify" 2>&1; then
      echo "not ok $name: $(tail -1 "$out/verify")"
      return 1
    fi
    line+="; ${#records[@]} golden records of $frames frames pass"
  fi
  echo "ok $name: $line"
}

try() { # name, emulator ("" or "-": none is here), then as `build`
  local name=$1 emulator=$2 end=
  [ "$name" = windows ] && end=.exe
  local program=build-platforms/$1/build/diffvcs$end
  shift 2
  if ! build "$name" "$@"; then
    echo "not ok $name: does not build: $(grep -m 1 -hE 'error:|Error' "build-platforms/$name/"*.log)"
    failed=1
    return
  fi
  if [ "$emulator" = - ]; then
    echo "builds $name"
  else
    # shellcheck disable=SC2086 # an emulator and its options
    compare "$name" $emulator "$PWD/$program" || failed=1
  fi
}

[ -x "$native" ] || { echo "platforms: run make first" >&2; exit 1; }
for platform in "${platforms[@]}"; do
  case $platform in
    aarch64)
      if command -v aarch64-linux-gnu-gcc > /dev/null && command -v qemu-aarch64 > /dev/null; then
        try aarch64 "qemu-aarch64 -L /usr/aarch64-linux-gnu" Linux aarch64-linux-gnu-ar aarch64-linux-gnu-gcc
      else
        lacks aarch64 "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
      fi
      ;;
    i686)
      if command -v i686-linux-gnu-gcc > /dev/null; then
        LINK=-static try i686 "" Linux i686-linux-gnu-ar i686-linux-gnu-gcc -msse2 -mfpmath=sse
      else
        lacks i686 "apt-get install gcc-i686-linux-gnu libc6-dev-i386-cross"
      fi
      ;;
    musl)
      if command -v musl-gcc > /dev/null; then
        LINK=-static try musl "" Linux ar musl-gcc
      else
        lacks musl "apt-get install musl-tools"
      fi
      ;;
    clang)
      if command -v clang > /dev/null; then
        try clang "" Linux ar clang
      else
        lacks clang "apt-get install clang"
      fi
      ;;
    big-endian) # refused, with a sentence, by the first header
      compiler=(cc -Wno-builtin-macro-redefined -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__)
      command -v s390x-linux-gnu-gcc > /dev/null && compiler=(s390x-linux-gnu-gcc)
      message=$("${compiler[@]}" -Iinclude -Isrc -fsyntax-only -x c - 2>&1 <<< '#include "core/base.h"')
      if grep -q "needs a little-endian processor" <<< "$message"; then
        echo "ok big-endian: ${compiler[0]}: refused: $(grep -o 'diffvcs needs[^"]*' <<< "$message" | head -1)"
      else
        echo "not ok big-endian: not refused"
        failed=1
      fi
      ;;
    macos)
      if "${zig[@]}" version > /dev/null 2>&1; then
        FLAGS=-DCMAKE_INSTALL_NAME_TOOL=/bin/true try macos - Darwin "${zig[*]} ar" "${zig[@]}" cc -target aarch64-macos.11.0
      else
        lacks zig "pip install ziglang"
      fi
      ;;
    windows)
      emulator=- mingw=x86_64-w64-mingw32
      if command -v wine > /dev/null; then
        emulator=wine
        export WINEPREFIX=$PWD/build-platforms/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
      fi
      if command -v $mingw-gcc > /dev/null; then
        LINK=-static FLAGS=-DCMAKE_RC_COMPILER=$mingw-windres try windows $emulator Windows $mingw-ar $mingw-gcc
      else
        lacks mingw "apt-get install gcc-mingw-w64-x86-64 wine64"
      fi
      ;;
    *)
      echo "platforms: no platform $platform" >&2
      exit 2
      ;;
  esac
done
exit $failed
