# need.sh: how a shell test reports that something it needs is missing; sourced. tests/need.h explains the scheme.
# shellcheck shell=bash

# Prints `SKIP: NEED: test: reason` and returns 77, ctest's status for a skipped test; where $DIFFVCS_REQUIRE names the
# need, returns 1.
need_missing() { # need, reason [, test]
  local test=${3:-$(basename "$0" .sh)}
  case ",${DIFFVCS_REQUIRE:-}," in
    *",$1,"* | *,all,*)
      echo "REQUIRED BUT MISSING: $1: $test: $2"
      return 1
      ;;
    *)
      echo "SKIP: $1: $test: $2"
      return 77
      ;;
  esac
}

# Leaves the test unless the program $DIFFVCS finds the image of a game.
need_game() { # game
  "${DIFFVCS:?}" info "$1" >/dev/null 2>&1 && return
  need_missing roms "no image of $1 (set DIFFVCS_ROMS)"
  exit
}
