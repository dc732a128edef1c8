#!/usr/bin/env bash
# `make fuzz SECONDS=60`: every harness (or those that are named) for some seconds each under libFuzzer, with the address and
# undefined-behaviour sanitizers, then the share of each parser's lines that all inputs so far have reached.
#
#   fuzz/fuzz.sh SECONDS [HARNESS...]
#
# New inputs are kept in build-fuzz/corpus. An input that fails is in build-fuzz/found, and the command that repeats it is
# printed; after the fix, add it to fuzz/corpus. `fuzz/fuzz.sh --keep` adds the inputs that reach new code to fuzz/corpus.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/need.sh
build="build-fuzz"
mkdir -p $build
all=(expression patch symbols png save record batch rom)

if ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return n < 0 && d[0]; }' |
  clang -fsanitize=fuzzer,address -x c - -o /dev/null 2> /dev/null; then
  need_missing clang "clang has no libFuzzer (on Debian: apt-get install clang libclang-rt-14-dev); ctest replays the kept inputs"
  exit
fi
if ! { cmake -S . -B $build -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g1" -DDIFFVCS_FUZZ=ON \
  -DDIFFVCS_TESTS=OFF -DDIFFVCS_CLI=OFF -DDIFFVCS_PYTHON=OFF > $build/build.log 2>&1 &&
  cmake --build $build -j "$(nproc)" --target "${all[@]/#/harness_}" >> $build/build.log 2>&1; }; then
  tail -20 $build/build.log
  echo "fuzz: the harnesses could not be built" >&2
  exit 1
fi
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

if [ "${1:-}" = --keep ]; then
  for name in "${all[@]}"; do
    $build/fuzz/harness_"$name" -merge=1 -max_len=8192 "fuzz/corpus/$name" "$build/corpus/$name" 2>&1 | tail -1
  done
  exit
fi

seconds=${1:?seconds for each harness}
shift
names=("$@")
[ ${#names[@]} -gt 0 ] || names=("${all[@]}")
failed=0
for name in "${names[@]}"; do
  mkdir -p "$build/corpus/$name" $build/found $build/profiles
  options=(-max_total_time="$seconds" -timeout=30 -rss_limit_mb=3000 -print_final_stats=1 -artifact_prefix="$build/found/$name-")
  [ -e "fuzz/$name.dict" ] && options+=(-dict="fuzz/$name.dict")
  log=$build/$name.log
  if LLVM_PROFILE_FILE="$build/profiles/$name.profraw" $build/fuzz/harness_"$name" "${options[@]}" "$build/corpus/$name" \
    "fuzz/corpus/$name" > "$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "ok $name: $runs inputs in $seconds s, $(find "$build/corpus/$name" -type f | wc -l) kept"
  else
    echo "not ok $name"
    grep -m 3 -E 'ERROR|runtime error|is false|SUMMARY' "$log"
    found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
    [ -z "$found" ] || echo "again: $build/fuzz/harness_$name $found"
    failed=1
  fi
done
fuzz/coverage.py $build "${names[@]}" || failed=1
exit $failed
