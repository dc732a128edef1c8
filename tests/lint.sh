#!/usr/bin/env bash
# Style: clang-format on every C file, clang-tidy on the host, gradient and command-line sources, shell syntax.
# --brief: clang's analyzer does not follow calls, which takes a third of the time (`make test`); `make lint` follows them.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0
depth=()
[ "${1:-}" = --brief ] && depth=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow)
files=$(git ls-files '*.c' '*.h' | grep -v xla_ffi_c_api.h) # which is OpenXLA's, unchanged
# shellcheck disable=SC2086
if clang-format --dry-run --Werror $files 2> build-format.log; then
  echo "ok clang-format: $(echo "$files" | wc -l) files"
else
  echo "not ok clang-format: run 'make format'"
  grep -oE '^[^:]+' build-format.log | sort | uniq -c | sort -rn | head
  failed=1
fi
rm -f build-format.log
# A file at a time on every core; without gcc's own options of machine.c, which clang does not know.
mkdir -p build-tidy
sed -E 's/ -fno-(gcse|crossjumping|tree-[a-z-]+)//g' build/compile_commands.json > build-tidy/compile_commands.json
if git ls-files 'src/host/*.c' 'src/grad/*.c' 'src/relax/*.c' 'src/cuda/*.c' 'src/cli/*.c' 'src/study/*.c' 'src/plot/*.c' 'src/paper/*.c' 'python/native/*.c' |
  xargs -P "$(nproc)" -n 1 clang-tidy --quiet "${depth[@]}" -p build-tidy > build-tidy.log 2> /dev/null; then
  echo "ok clang-tidy"
else
  echo "not ok clang-tidy"
  grep -E 'warning|error' build-tidy.log | head -20
  failed=1
fi
rm -rf build-tidy.log build-tidy
for script in $(git ls-files '*.sh' .ci/run); do
  bash -n "$script" || failed=1
done
exit $failed
