#!/usr/bin/env bash
# The shared library exports exactly the functions that the public header declares, and nothing else.
# Arguments: the library, the header.
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ && $3 !~ /^(_init|_fini)$/ { print $3 }' | grep -v '^__' | sort)
declared=$(grep -oE '\bvcs_[a-z0-9_]+\(' <(grep -E '^VCS_API|^ {2,}.*\bvcs_' "$2" | grep VCS_API) | tr -d '(' | sort -u)
if ! diff <(echo "$declared") <(echo "$exported"); then
  echo "not ok: declared (<) and exported (>) functions differ"
  exit 1
fi
echo "ok: $(echo "$exported" | wc -l) functions, all vcs_, all declared"
