#!/bin/bash
# The debugger: it stops at breakpoints, and stepping back and forward again gives the same state.
set -u
debug=("${DIFFVCS:-build/diffvcs}" debug demo)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $1"; failed=1; }
ask() { printf '%s\n' "$@" | "${debug[@]}" --frame 60; }

# Backwards: the state after 1,000 steps, 700 back and 700 again is the same, to the last field; so for lines and frames.
for unit in "step 1000|back 700|step 700" "step 5|frame 3|back frame 2|frame 2" "step 40|line 30|back 200|step 200" \
  "frame 30|back frame 30|frame 30" "step 1|back|step 1"; do
  there=${unit%%|back*}
  ask "${there//|/$'\n'}" state > "$work/there"
  ask "${unit//|/$'\n'}" state > "$work/again"
  there=$(grep -v '^frame' "$work/there")
  again=$(grep -v '^frame' "$work/again")
  if [ "$there" != "$again" ] || [ -z "$there" ]; then
    fail "$unit does not come back"
    diff <(echo "$there") <(echo "$again") | head -5
  fi
done

# Breakpoints, each met where it says; and met again backwards.
ask "break pixel 80,100" continue | tail -1 | grep -qE 'line 1[0-9][0-9] clock (1(4[89]|[5-9][0-9])|2[0-9][0-9])' || fail "break pixel"
ask "break scanline 100" continue | tail -1 | grep -q 'line 100 clock' || fail "break scanline"
ask "break scanline 100" continue continue | tail -1 | grep -q '^frame 61.* line 100 clock' || fail "break scanline in the next frame"
ask "break cycle 5000" continue "print cycle >= 5000 && cycle < 5080" | tail -1 | grep -q '^1 ' || fail "break cycle"
ask "break write COLUBK" continue | tail -1 | grep -q 'COLUBK' || fail "break write COLUBK"
ask "break write WSYNC if scanline > 50" continue "print scanline > 50" | tail -1 | grep -q '^1 ' || fail "break with a condition"
pc=$(ask "break write WSYNC" continue "print pc" | tail -1 | sed 's/.*\$//')
ask "break pc \$$pc" continue | tail -1 | grep -qi " $pc " || fail "break pc"
first=$(ask "break write WSYNC" continue | tail -1)
[ "$(ask "break write WSYNC" continue continue reverse | tail -1)" = "$first" ] || fail "reverse does not stop where continue did"
ask reverse | grep -q 'no earlier breakpoint' || fail "reverse at the beginning"
ask back | grep -q 'beginning' || fail "back at the beginning"

# Other controls change the future; the past stays the same.
[ "$(ask "frame 20" "memory")" != "$(ask "hold right" "frame 20" "memory")" ] || fail "hold changes nothing"
[ "$(ask "frame 21" memory | tail -8)" = "$(ask "hold right" "frame 20" "back frame 20" hold "frame 21" memory | tail -8)" ] ||
  fail "the past is not the same after hold"

# Symbols, watches, traces, pictures.
printf -- '--- Symbol List (sorted by symbol)\nCOUNTER                  0080              (R )\n' > "$work/demo.sym"
ask "symbols $work/demo.sym" "watch [COUNTER]" step | grep -q '\[COUNTER\] = ' || fail "watch"
ask "trace $work/t.csv" "step 50" "trace off" > /dev/null
[ "$(wc -l < "$work/t.csv")" = 51 ] || fail "trace has not 50 rows and a heading"
ask "trace $work/u.csv" "step 50" "back 20" "step 20" "trace off" > /dev/null
[ "$(wc -l < "$work/u.csv")" = 71 ] || fail "going back is traced"
ask "screenshot $work/now.png" > /dev/null && [ -s "$work/now.png" ] || fail "screenshot"

# Invalid commands are reported, and nothing crashes.
for wrong in nonsense "break" "break pc" "break pixel 200,3" "break pixel" "print" "print (" "delete 7" "hold sideways" \
  "symbols /nowhere" "screenshot /nowhere/x.png" "trace /nowhere/x.csv" "break if" "step x y" "break scanline 16777216" "break scanline 4294967297" "break pixel 4294967376,100" \
  "break cycle 4294967297" "break pc 65536" "break write 70000" "break read -1" "break access 4294967424" "print 4294967297" "print $(printf '1+%.0s' {1..300})1"; do
  out=$(ask "$wrong")
  code=$?
  [ "$wrong" = break ] && continue
  if [ $code != 1 ] || ! echo "$out" | grep -q '^!'; then fail "'$wrong' is not refused (exit status $code)"; fi
done

# A script is a file that ends, and a line is one command. A signal ends a debugger that follows a script or a pipe.
mkfifo "$work/pipe"
for script in /dev/zero "$work/pipe" "$work" "$work/nowhere"; do
  timeout -s KILL 20 "${debug[@]}" --commands "$script" < /dev/null > /dev/null 2> "$work/error"
  code=$?
  [ $code = 2 ] && [ -s "$work/error" ] || fail "--commands $script is not refused (exit status $code)"
done
printf 'step 5\n\nprint a' > "$work/script"
"${debug[@]}" --commands "$work/script" < /dev/null | grep -q '^frame 0.10 ' || fail "a script's empty line repeats no command"
ask "print $(printf '1+%.0s' {1..300})1" step | tail -1 | grep -q '^frame 60.1 ' || fail "a long line is more than one command"

# At a terminal, too, a script that fails is an exit status of 1; a mistake that a person makes is none.
at_terminal() { # LINE ARGUMENT...
  local line=$1
  shift
  printf '%s\nquit\n' "$line" | timeout 60 python3 -c 'import os, pty, sys; sys.exit(os.WEXITSTATUS(pty.spawn(sys.argv[1:])))' \
    "${debug[@]}" "$@" > /dev/null
}
printf 'step x y\n' > "$work/wrong"
at_terminal step --commands "$work/wrong"
[ $? = 1 ] || fail "a script that fails is no failure at a terminal"
at_terminal "step x y" --commands "$work/script" || fail "a mistake at the prompt is a failure"

ends() { # COMMAND...: what reads a pipe that does not end, ends with SIGTERM
  timeout -k 10 2 "$@" > /dev/null
  [ $? != 137 ]
}
yes "frame 100" | ends "${debug[@]}" || fail "SIGTERM does not end a debugger that runs what a pipe says"
sleep 20 | ends "${debug[@]}" || fail "SIGTERM does not end a debugger that waits for a pipe"
exit $failed
