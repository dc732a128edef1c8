#!/bin/bash
# The player's window, under Xvfb: rewinding a minute lands on the identical state; slots, pictures, recordings and patches work.
set -u
. "$(dirname "$0")/need.sh"
command -v xvfb-run > /dev/null || { need_missing xvfb "no xvfb-run"; exit; }
export SDL_AUDIODRIVER=dummy LIBGL_ALWAYS_SOFTWARE=1
program=${DIFFVCS:-build/diffvcs}
"$program" play demo --frames 1 --fast 2>&1 | grep -q "without SDL2" && { need_missing sdl "built without SDL2"; exit; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $1"; failed=1; }
play() { # script, frames, options...
  local script=$1 frames=$2
  shift 2
  printf '%b' "$script" > "$work/script"
  timeout 100 xvfb-run -a "$program" play demo --fast --script "$work/script" --frames "$frames" --out "$work/out" "$@" 2> "$work/error"
}

# 100 frames; and the same, 3,600 more of another kind, and a minute back, two frames at a time.
keys='20 right\n60 -right\n'
there=$(play "$keys" 100)
back=$(play "${keys}100 left\n500 -left\n900 space\n3700 backspace\n5500 -backspace\n" 5500)
[ -n "$there" ] && [ "$there" = "$back" ] || fail "rewinding a minute: '$there' is not '$back'"
[ "$(play "${keys}200 f3\n400 backspace\n" 550 | tail -1)" = "$there" ] || fail "rewinding over a switch"
[ "$(play "" 100)" != "$there" ] || fail "keys do nothing"

# Overlays and pausing change nothing; a paused game stands still.
[ "$(play "${keys}30 o\n40 o\n50 o\n" 100)" = "$there" ] || fail "overlays change the game"
[ "$(play "${keys}70 p\n90 n\n99 p\n" 128)" = "$there" ] || fail "pausing and stepping"

# Slots, pictures, recordings.
out=$(play "${keys}100 f6\n150 f12\n160 f11\n190 f11\n200 f8\n" 200 | tail -1)
[ "$out" = "$there" ] || fail "loading: '$out' is not '$there'"
for file in demo-slot0.sav demo-shot0.png demo-video0.gif; do [ -s "$work/out/$file" ] || fail "no $file"; done

# A patch changes the game; a wrong one is refused.
printf 'PATCH\x00\x00\x00\x00\x01\xA9EOF' > "$work/same.ips"
printf 'PATCH\x00\x0f\x00\x00\x00\x00\x10\xFFEOF' > "$work/other.ips"
printf 'PATCH\xF0\x00\x00\x00\x01\x00EOF' > "$work/wrong.ips"
"$program" run demo --frames 10 --patch "$work/other.ips" > /dev/null || fail "run with a patch"
play "" 10 --patch "$work/wrong.ips" > /dev/null && fail "a patch for another image was taken"
grep -q "another" "$work/error" || fail "a wrong patch is not explained"
play "1 sideways\n" 10 > /dev/null && fail "a wrong script was taken"
exit $failed
