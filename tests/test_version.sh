#!/usr/bin/env bash
# test_version: the header, the program ($DIFFVCS), the installed package description ($PC, diffvcs.pc) and the newest
# release of CHANGELOG.md name one version. test_version.c does the same for the library, python/tests/test_version.py
# for the Python package.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
failed=0
number() { awk -v name="VCS_VERSION_$1" '$1 == "#define" && $2 == name { print $3 }' include/diffvcs/diffvcs.h; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)

same() { # what, the version it names
  if [ "$2" = "$version" ]; then
    echo "ok $1: $2"
  else
    echo "not ok $1: '$2', but include/diffvcs/diffvcs.h has $version"
    failed=1
  fi
}

same "diffvcs --version" "$("$DIFFVCS" --version | sed 's/^diffvcs //')"
same "diffvcs.pc" "$(sed -n 's/^Version: //p' "$PC")"
same "CHANGELOG.md" "$(sed -nE 's/^## \[([0-9.]+)\].*/\1/p' CHANGELOG.md | head -1)"
exit $failed
