#!/usr/bin/env bash
# test_workflows: the workflows of .github run commands that exist, and together every step of tests/nightly.sh.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
failed=0
fail() { echo "not ok $1"; failed=1; }

commands=$(sed -nE 's/^ *- run: //p' .github/workflows/*.yml)
[ "$(wc -l <<< "$commands")" -ge 10 ] || fail "the workflows run only: $commands"
while read -r target; do
  grep -qE "^[^=]*\b$target\b[^=]*:" Makefile || fail "a workflow runs make $target, which the Makefile does not have"
done < <(grep -oE '(^|&& )make [a-z][a-z-]*' <<< "$commands" | sed 's/.*make //' | sort -u)
while read -r script; do
  [ -x "$script" ] || fail "a workflow runs $script, which is no program here"
done < <(grep -oE '(^|&& )(\.ci|tests|wheels|web|fuzz|bench)/[A-Za-z_./]+' <<< "$commands" | sed 's/^&& //' | sort -u)

words=$(sed -nE 's/^ *steps: \[(.*)\]$/\1/p' .github/workflows/nightly.yml | tr -d ' ' | tr ',' ' ')
[ "$(wc -w <<< "$words")" -ge 8 ] || fail "the nightly workflow has the jobs: $words"
while read -r name; do
  found=0
  for word in $words; do [[ ${name%%:*} == *"$word"* ]] && found=1; done
  [ $found = 1 ] || fail "no job of the nightly workflow runs: $name"
done < <(sed -nE 's/^(nightly|with_[a-z_]+) "([^"]+)".*/\2/p' tests/nightly.sh)
for word in $words; do
  grep -qE "^(nightly|with_[a-z_]+) \"[^\":]*$word" tests/nightly.sh || fail "the nightly job $word runs nothing"
done
[ $failed = 0 ] && echo "ok workflows"
exit $failed
