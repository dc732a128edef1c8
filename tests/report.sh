# report.sh: prints a line ok or not ok for each check of a test, and counts them; sourced by tests/test_*.sh.
# shellcheck shell=bash
tests=0
failures=0

report() { # report STATUS NAME: after a failed check, what the program printed, which is in the files out and err
  tests=$((tests + 1))
  if [ "$1" = 0 ]; then
    echo "ok $tests - $2"
    return
  fi
  failures=$((failures + 1))
  echo "not ok $tests - $2"
  sed 's/^/#   /' out err 2>/dev/null | head -20
}
