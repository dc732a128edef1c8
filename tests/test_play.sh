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
play() { play_game demo "$@"; } # script, frames, options...
play_game() { # game, script, frames, options...
  local game=$1 script=$2 frames=$3
  shift 3
  printf '%b' "$script" > "$work/script"
  timeout 100 xvfb-run -a "$program" play "$game" --fast --script "$work/script" --frames "$frames" --out "$work/out" "$@" 2> "$work/error"
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

# A right click explains the pixel: the page is there, and the terminal says where. Help and overlays are drawn: the window is
# another picture with each of them, and a click outside the picture does nothing.
out=$(play "100 explain:80,100\n" 102)
[[ $out == *"explained: open $work/out/explain/explain.html"* ]] && grep -q "pixel:80,100" "$work/out/explain/explain.html" || fail "a right click explains nothing: $out"
[ "$(play "100 explain:80,400\n" 102 | wc -l)" = 1 ] || fail "a click outside the picture"
rm -f "$work"/out/*.png
play "${keys}99 p\n100 f10\n110 o\n120 f10\n130 o\n140 f10\n150 o\n160 f10\n170 o\n180 f1\n190 f10\n" 200 > /dev/null
[ "$(md5sum "$work"/out/demo-window*.png | cut -d' ' -f1 | sort -u | wc -l)" = 5 ] || fail "overlays or help are not drawn"

# Two players at one keyboard: two joysticks in Combat; in Pong two paddles, which turn together until the second player turns one.
if [ -n "${DIFFVCS_ROMS:-}" ]; then
  start='60 f2\n70 -f2\n'
  for game in combat pong; do
    states=$(for key in o left a "left\n100 d"; do play_game "$game" "${start}100 $key\n" 160 | tail -1; done)
    [ "$(sort -u <<< "$states" | wc -l)" = 4 ] || fail "the sticks of two players in $game: $states"
  done
fi

# Game pads do what the keys do: the first is the left joystick, the second the right one, whether they are there at the start or come later;
# a pad that is taken out holds nothing any more, and a third one does nothing. SDL's own pads without hardware stand in for real ones.
if [ -n "${DIFFVCS_ROMS:-}" ]; then
  pads=${VIRTUAL_PADS:-build/tests/libvirtual_pads.so}
  start='60 f2\n70 -f2\n'
  same() { # what happens to the pads, the keys that do the same, what it is about
    local by_pads by_keys
    by_pads=$(PADS=$1 SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS=1 LD_PRELOAD=$pads play_game combat "$start" 160 | tail -1)
    by_keys=$(play_game combat "$start$2" 160 | tail -1)
    [ -n "$by_keys" ] && [ "$by_pads" = "$by_keys" ] || fail "game pads, $3: '$by_pads' is not '$by_keys': $(cat "$work/error")"
  }
  two='0 0 plug; 0 1 plug'
  same "$two; 100 0 button 13 1; 120 0 button 13 0" '100 left\n120 -left\n' "a button of the first"
  same "$two; 100 1 axis 0 32000; 130 1 button 0 1" '100 d\n130 f\n' "stick and button of the second"
  same "0 0 plug; 90 1 plug; 100 1 axis 1 -32000; 120 1 unplug" '100 w\n120 -w\n' "one that comes and goes"
  same "$two; 10 2 plug; 100 2 button 11 1; 100 0 button 11 1" '100 up\n' "a third one"
fi

# Without a display it says so.
env -u DISPLAY -u WAYLAND_DISPLAY "$program" play demo --frames 1 --fast > /dev/null 2> "$work/error" && fail "it plays without a display"
grep -q "no display" "$work/error" || fail "no display: $(cat "$work/error")"

# A patch changes the game; a wrong one is refused.
printf 'PATCH\x00\x00\x00\x00\x01\xA9EOF' > "$work/same.ips"
printf 'PATCH\x00\x0f\x00\x00\x00\x00\x10\xFFEOF' > "$work/other.ips"
printf 'PATCH\xF0\x00\x00\x00\x01\x00EOF' > "$work/wrong.ips"
"$program" run demo --frames 10 --patch "$work/other.ips" > /dev/null || fail "run with a patch"
play "" 10 --patch "$work/wrong.ips" > /dev/null && fail "a patch for another image was taken"
grep -q "another" "$work/error" || fail "a wrong patch is not explained"
play "1 sideways\n" 10 > /dev/null && fail "a wrong script was taken"

# A script that is no plain file is read, or refused in a sentence.
script() { timeout 20 xvfb-run -a "$program" play demo --fast --frames 100 --out "$work/out" --script "$1" 2> "$work/error"; }
mkfifo "$work/unwritten" "$work/written"
printf '%b' "$keys" > "$work/written" &
[ "$(script "$work/written")" = "$there" ] || fail "a script through a pipe: $(cat "$work/error")"
script "$work/unwritten" > /dev/null && fail "a pipe without a writer was taken for a script"
grep -q "nothing is at its other end" "$work/error" || fail "a pipe without a writer is not explained: $(cat "$work/error")"
script /dev/zero > /dev/null && fail "/dev/zero was taken for a script"
grep -q "longer than" "$work/error" || fail "a script without end is not explained: $(cat "$work/error")"
script "$work" > /dev/null && fail "a folder was taken for a script"
grep -q "is a directory" "$work/error" || fail "a folder as script is not explained: $(cat "$work/error")"
exit $failed
