# report.sh: counts the checks of a shell test and prints a line for each; sourced.
# shellcheck shell=bash
tests=0
failures=0

report() { # report STATUS NAME
  tests=$((tests + 1))
  [ "$1" = 0 ] && echo "ok $tests - $2" && return
  failures=$((failures + 1))
  echo "not ok $tests - $2"
}
