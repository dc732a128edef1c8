#!/usr/bin/env bash
# test_examples: every C example compiles without a warning and prints what its opening comment says it prints.
# $LIBRARY is libdiffvcs.a; CFLAGS are added to the compiler's options.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0
for source in examples/c/*.c; do
  name=$(basename "$source" .c)
  # the indented lines after "Output:" in the comment
  awk '/^ \* Output:/ { on = 1; next } / \*\/$/ { exit } on { sub(/^ \*   /, ""); print }' "$source" > "$out/want"
  # shellcheck disable=SC2086
  if ! cc -std=c11 -Wall -Wextra ${STRICT:+-Werror} ${CFLAGS:-} -Iinclude "$source" "$LIBRARY" -lz -lpng -lpthread -lm -ldl -o "$out/$name"; then
    echo "not ok $name: does not compile"
    failed=1
  elif ! [ -s "$out/want" ] || ! "$out/$name" > "$out/got" || ! diff "$out/want" "$out/got"; then
    echo "not ok $name: prints something else than its comment says"
    failed=1
  else
    echo "ok $name"
  fi
done
exit $failed
