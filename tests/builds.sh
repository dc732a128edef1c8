#!/usr/bin/env bash
# PXC2: the same machine from different builds. gcc and clang, -O0 to -O3, and the core headers compiled as CUDA C++
# for the host, must give the same state hashes. Prints one line a build; exit status 1 if any differ.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/need.sh
out=build-variants
mkdir -p "$out"
mapfile -t sources < <(find src/host -name "*.c" ! -name "batch*.c" | sort) # batches have no part in it, and need the rest
sources+=(build/demo_image.c)
[ -e build/demo_image.c ] || cmake -DIN=demo/demo.bin -DOUT=build/demo_image.c -P cmake/embed.cmake
flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra ${STRICT:+-Werror} -Iinclude -Isrc)
roms=${DIFFVCS_ROMS:-$(compgen -G '.venv/lib/python3*/site-packages/ale_py/roms' || true)}
games=(demo)
if [ -n "$roms" ]; then
  games+=("$roms"/{pong,space_invaders,pitfall2,robotank,road_runner,klax,air_raid}.bin)
else
  need_missing roms "no ROM images (pip install ale-py): builds are compared on our own cartridge only"
  [ $? = 77 ] || exit 1
fi

reference=""
failed=0
compare() { # name, program
  local got
  if ! got=$("$2" "${games[@]}"); then
    echo "not ok $1: did not run"
    failed=1
    return
  fi
  [ -n "$reference" ] || reference=$got
  if [ "$got" = "$reference" ]; then
    echo "ok $1: $(echo "$got" | wc -l) runs, hashes equal"
  else
    echo "not ok $1: hashes differ"
    diff <(echo "$reference") <(echo "$got") | head -4
    failed=1
  fi
}

# Compilers run side by side, programs one after the other: each of those uses every core itself.
compile() { # name, compiler, optimisation
  # shellcheck disable=SC2086
  $2 "${flags[@]}" $3 tests/hashes.c "${sources[@]}" -o "$out/$1" -lz -lpng -lpthread -lm -ldl 2> "$out/$1.log"
}

variants=("gcc-O0 gcc -O0" "gcc-O2 gcc -O2" "gcc-O3 gcc -O3 -fno-strict-aliasing" "clang-O1 clang -O1" "clang-O3 clang -O3")
rm -f "$out"/gcc-O? "$out"/clang-O?
for variant in "${variants[@]}"; do
  read -r name compiler options <<< "$variant"
  if command -v "$compiler" > /dev/null; then compile "$name" "$compiler" "$options" & fi
done
wait
for variant in "${variants[@]}"; do
  read -r name compiler _ <<< "$variant"
  if ! command -v "$compiler" > /dev/null; then
    need_missing "$compiler" "$name: $compiler is not installed"
    [ $? = 77 ] || failed=1
  elif [ -x "$out/$name" ]; then
    compare "$name" "$out/$name"
  else
    echo "not ok $name: did not compile"
    head -5 "$out/$name.log"
    failed=1
  fi
done

# The core as CUDA C++: two translation units that run the machine on the host, linked with the rest built as C.
if command -v nvcc > /dev/null; then
  objects=()
  for source in "${sources[@]}"; do
    object="$out/$(basename "${source%.c}").o"
    case "$(basename "$source")" in machine.c | asleep.c) continue ;; esac # nvcc compiles these
    gcc "${flags[@]}" -O1 -c "$source" -o "$object" || failed=1
    objects+=("$object")
  done
  as_cuda() { # a source of src/host
    nvcc -x cu -std=c++17 -O1 -DVCS_FROM_CUDA --Werror all-warnings -Xcompiler -Wall,-Wextra,-Wno-unused-function -Iinclude -Isrc \
      -c "src/host/$1.c" -o "$out/$1_cuda.o" 2>> "$out/cuda.log"
  }
  : > "$out/cuda.log"
  if as_cuda machine && as_cuda asleep &&
    gcc "${flags[@]}" -O1 -c tests/hashes.c -o "$out/hashes.o" &&
    g++ "$out/hashes.o" "$out/machine_cuda.o" "$out/asleep_cuda.o" "${objects[@]}" -o "$out/cuda-host" -lz -lpng -lpthread -lm \
      -L"$(dirname "$(command -v nvcc)")/../lib64" -lcudart_static -ldl -lrt 2>> "$out/cuda.log"; then
    compare cuda-host "$out/cuda-host"
  else
    echo "not ok cuda-host: did not compile"
    head -5 "$out/cuda.log"
    failed=1
  fi
else
  need_missing nvcc "cuda-host: nvcc is not installed"
  [ $? = 77 ] || failed=1
fi
exit $failed
