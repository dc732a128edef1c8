#!/usr/bin/env bash
# The shared library exports exactly the functions that the public headers declare, and nothing else.
# Arguments: the library, the headers.
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ && $3 !~ /^(_init|_fini)$/ { print $3 }' | grep -v '^__' | sort)
declared=$(grep -hoE '\bvcs_[a-z0-9_]+\(' <(cat "${@:2}" | grep -E '^VCS_API') | tr -d '(' | sort -u)
if ! diff <(echo "$declared") <(echo "$exported"); then
  echo "not ok: declared (<) and exported (>) functions differ"
  exit 1
fi
echo "ok: $(echo "$exported" | wc -l) functions, all vcs_, all declared"
