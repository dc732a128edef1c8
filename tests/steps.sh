# steps.sh: numbered steps with their times, and a last line that counts them; sourced by run_all.sh and nightly.sh.
# shellcheck shell=bash
#
# A step is a command. What it prints is shown and kept, so that the lines `SKIP: NEED: test: reason` of its tests can be
# counted (tests/need.h). `finish` prints a line for each failed step, what was skipped and which need was missing, and last
#
#   14 passed, 0 failed, 9 skipped
#
# where the first two count steps, and the last counts everything that was not tested.
. tests/need.sh
passed=0 failed=0 steps=0 failed_names=()
logs=$(mktemp -d) beside_names=() beside_jobs=()
trap 'rm -rf "$logs"' EXIT
trap '[ ${#beside_jobs[@]} = 0 ] || kill "${beside_jobs[@]}" 2> /dev/null; exit 130' INT TERM

begin() { # name
  steps=$((steps + 1))
  echo
  echo "==> $steps. $1"
}

count() { # name, seconds, exit status, log
  grep -h '^SKIP: ' "$4" >> "$logs/skips"
  if [ "$3" = 0 ]; then
    passed=$((passed + 1))
    echo "<== ok: $1 ($2 s)"
  else
    failed=$((failed + 1))
    failed_names+=("$1")
    echo "<== FAILED: $1 ($2 s)"
  fi
}

step() { # name, command...
  local name=$1 start=$SECONDS
  shift
  begin "$name"
  "$@" 2>&1 | tee "$logs/step"
  count "$name" $((SECONDS - start)) "${PIPESTATUS[0]}" "$logs/step"
}

# A step that uses one processor and nothing that another step makes. It runs in parallel with the other steps and is shown at the end.
start_beside() { # name, command...
  local log=$logs/beside${#beside_names[@]} start=$SECONDS
  beside_names+=("$1")
  shift
  { "$@" > "$log.log" 2>&1; echo "$? $((SECONDS - start))" > "$log.end"; } &
  beside_jobs+=($!)
}

finish_beside() {
  local i status seconds log
  for i in "${!beside_names[@]}"; do
    wait "${beside_jobs[i]}"
    log=$logs/beside$i
    begin "${beside_names[i]}"
    cat "$log.log"
    status=1 seconds=0
    [ -e "$log.end" ] && read -r status seconds < "$log.end"
    count "${beside_names[i]}" "$seconds" "$status" "$log.log"
  done
  beside_names=() beside_jobs=()
}

# A step that cannot run at all.
skip_step() { # name, need, reason
  begin "$1"
  if need_missing "$2" "$3" "$1" > "$logs/step" || [ $? = 77 ]; then
    tee -a "$logs/skips" < "$logs/step"
  else
    cat "$logs/step"
    count "$1" 0 1 "$logs/step"
  fi
}

finish() {
  local name
  finish_beside
  touch "$logs/skips"
  echo
  for name in "${failed_names[@]:-}"; do [ -z "$name" ] || echo "FAILED: $name"; done
  awk -F ': ' '{ count[$2]++ } END { for (need in count) print "skipped for want of " need ": " count[need] }' "$logs/skips" |
    sort
  echo "$passed passed, $failed failed, $(wc -l < "$logs/skips") skipped"
  [ "$failed" = 0 ]
}

# The folder of ROM images, exported as DIFFVCS_ROMS: as the caller has set it, even to nothing, or ale-py's. `ale` is 1
# where ale-py can be compared with.
# shellcheck disable=SC2034 # the scripts that source this read `ale`
find_roms() {
  ale=0
  if tests/setup.sh --roms; then
    ale=1
    : "${DIFFVCS_ROMS=$(compgen -G "$PWD/.venv/lib/python3*/site-packages/ale_py/roms")}"
  fi
  export DIFFVCS_ROMS=${DIFFVCS_ROMS:-}
  [ -n "$DIFFVCS_ROMS" ] || ale=0
}
