#!/usr/bin/env bash
# test_where.sh: every row of the table "Where is ..." in docs/architecture.md names a file that has what it names.
set -euo pipefail
cd "$(dirname "$0")/.."
rows=0
while IFS='|' read -r _ question file name _; do
  file=$(tr -d ' `' <<< "$file")
  name=$(tr -d ' `' <<< "$name")
  [ "$file" = file ] || [[ "$file" == ---* ]] && continue
  rows=$((rows + 1))
  if [ ! -f "$file" ]; then
    echo "docs/architecture.md:$question: there is no $file" >&2
    exit 1
  fi
  if ! grep -qw -- "$name" "$file"; then
    echo "docs/architecture.md:$question: $file has no $name" >&2
    exit 1
  fi
done < <(sed -n '/^## Where is/,/^## Differences/p' docs/architecture.md | grep '^|')
if [ "$rows" -lt 25 ]; then
  echo "docs/architecture.md: the table has $rows rows, fewer than 25" >&2
  exit 1
fi
echo "$rows rows: each file has what the table names"
