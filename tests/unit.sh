#!/usr/bin/env bash
# tests/unit.sh BUILD [OPTION...]: ctest in a build folder; then the SKIP lines of its tests, which ctest hides where a
# test passes without some of its parts.
set -uo pipefail
build=$1
shift
ctest --test-dir "$build" --output-on-failure -j "$(nproc)" "$@"
status=$?
grep -h '^SKIP: ' "$build/Testing/Temporary/LastTest.log"
exit $status
