#!/usr/bin/env bash
# Style and static checks: clang-format, clang-tidy, ruff, mypy, shellcheck, GitHub's schema of workflow files, and the one
# file that is copied from another project. With --brief (`make test`), clang's analyzer does not follow calls and takes a third of the
# time; `make lint` follows them.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/need.sh
failed=0
depth=()
[ "${1:-}" = --brief ] && depth=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow)
log=$(mktemp)
trap 'rm -rf "$log" build-tidy' EXIT

check() { # name, command...: one line if all is well, else the beginning of what it printed
  local name=$1
  shift
  if "$@" > "$log" 2>&1; then
    echo "ok $name"
  else
    echo "not ok $name"
    head -20 "$log"
    failed=1
  fi
}

python_check() { # tool, arguments...
  if [ -x ".venv/bin/$1" ]; then
    check "$1 $2" ".venv/bin/$1" "${@:2}"
  else
    need_missing "$1" "$1 is not in .venv (tests/setup.sh installs it)"
    [ $? = 77 ] || failed=1
  fi
}

# shellcheck disable=SC2317 # `check` calls it
tidy() { # a file at a time on every core, without gcc's own options of machine.c, which clang does not know
  mkdir -p build-tidy
  sed -E 's/ -fno-(gcse|crossjumping|tree-[a-z-]+)//g' build/compile_commands.json > build-tidy/compile_commands.json
  git ls-files 'src/*.c' 'python/native/*.c' |
    xargs -P "$(nproc)" -n 1 clang-tidy --quiet "${depth[@]}" -p build-tidy 2> /dev/null | grep -E 'warning|error'
  [ "${PIPESTATUS[1]}" = 0 ]
}

mapfile -t sources < <(git ls-files '*.c' '*.h' '*.cu' | grep -v xla_ffi_c_api.h) # which is OpenXLA's, unchanged
mapfile -t scripts < <(git ls-files '*.sh' .ci/run)
check "clang-format: ${#sources[@]} files ('make format' rewrites them)" clang-format --dry-run --Werror "${sources[@]}"
check "clang-tidy" tidy
check "shellcheck: ${#scripts[@]} scripts" shellcheck "${scripts[@]}"
python_check ruff check --quiet .
python_check ruff format --quiet --check .
python_check mypy python/diffvcs
python_check mypy --platform win32 python/diffvcs
python_check check-jsonschema --builtin-schema=vendor.github-workflows .github/workflows/*.yml
blob=$(sed -n 's/^ *Git blob *//p' NOTICE)
check "xla_ffi_c_api.h is the file that NOTICE names" test "$(git hash-object python/native/xla_ffi_c_api.h)" = "$blob"
exit $failed
