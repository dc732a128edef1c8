#!/bin/bash
# test_edit: drawings become bytes of ROM (docs/edit.md): an invader becomes a heart, a digit of Pong's score an H. The
# patch is applied, and the game is played from power-on on the patched image: it must show the drawing. $DIFFVCS is the
# program. Skipped (exit status 77) without the images. Exit status 0 when all is well.
diffvcs=${DIFFVCS:?set DIFFVCS to the path of the program}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/need.sh"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0

image_of() { "$diffvcs" info "$1" 2>/dev/null | sed -n 's/^file *//p' | head -1; }

if ! [ -f "$(image_of pong)" ] || ! [ -f "$(image_of space_invaders)" ]; then
  need_missing roms "no images of pong and space_invaders (set DIFFVCS_ROMS)"
  exit
fi

# shows GAME REGION ROW...: the game can be made to show the drawing, by a patch that holds from power-on.
shows() {
  local game=$1 region=$2
  shift 2
  python3 "$here/draw_png.py" "$tmp/target.png" "$@" || exit 1
  "$diffvcs" edit "$game" --frame 200 --region "$region" --target "$tmp/target.png" --out "$tmp/$game" >"$tmp/printed" 2>&1 &&
    grep -Eq '^wrong +[1-9][0-9]* of [0-9]+ pixels before, 0 after$' "$tmp/printed" &&
    python3 - "$(image_of "$game")" "$tmp/$game/patch.ips" "$tmp/patched.bin" <<'END' &&
import sys
image, patch = bytearray(open(sys.argv[1], "rb").read()), open(sys.argv[2], "rb").read()
at = 5
while patch[at : at + 3] != b"EOF":
    offset, size = int.from_bytes(patch[at : at + 3], "big"), int.from_bytes(patch[at + 3 : at + 5], "big")
    image[offset : offset + size] = patch[at + 5 : at + 5 + size]
    at += 5 + size
open(sys.argv[3], "wb").write(image)
END
    "$diffvcs" edit "$tmp/patched.bin" --frame 200 --region "$region" --target "$tmp/target.png" --out "$tmp/again" \
      >"$tmp/printed" 2>&1 && grep -Eq '^wrong +0 of' "$tmp/printed" && echo "ok - $game shows it" && return
  failures=$((failures + 1))
  echo "not ok - $game shows it"
  sed 's/^/#   /' "$tmp/printed"
}

none=................
shows space_invaders 21,48,16,12 $none $none ".....##..##....." "....########...." "....########...." \
  "....########...." "....########...." ".....######....." "......####......" ".......##......." $none $none
# Two rows of this one come right only if several bits of a byte change together.
shows space_invaders 73,121,8,10 "###..###" "###..###" "..#..#.." "..#..#.." ".#.##.#." ".#.##.#." "........" "........" "########" "########"
two="....####....####...."
all="....############...."
shows pong 32,1,20,20 $two $two $two $two $two $two $two $two $all $all $all $all $two $two $two $two $two $two $two $two

# The two digits of Pong's score are one sprite: what the rest of the picture is worth decides whether it changes.
python3 "$here/draw_png.py" "$tmp/target.png" $two $two $two $two $two $two $two $two $all $all $all $all $two $two $two $two $two $two $two $two
keeps() {
  "$diffvcs" edit pong --frame 200 --region 32,1,20,20 --target "$tmp/target.png" --horizon 4 --keep "$1" --out "$tmp/keep" >"$tmp/printed" 2>&1
  if grep -Eq "$2" "$tmp/printed" && grep -Eq "$3" "$tmp/printed"; then
    echo "ok - keep $1"
  else
    failures=$((failures + 1))
    echo "not ok - keep $1"
    sed 's/^/#   /' "$tmp/printed"
  fi
}
keeps 0.01 'before, 0 after$' '^outside +[1-9][0-9]* pixels'
keeps 1 'before, 48 after$' '^outside +0 pixels'

# ends GAME REGION PATTERN OPTIONS ROW...: so many pixels stay wrong.
ends() {
  local game=$1 region=$2 pattern=$3 options=$4
  shift 4
  python3 "$here/draw_png.py" "$tmp/target.png" "$@" || exit 1
  # shellcheck disable=SC2086 # several options
  "$diffvcs" edit "$game" --frame 200 --region "$region" --target "$tmp/target.png" $options --out "$tmp/ends" >"$tmp/printed" 2>&1
  if grep -Eq "$pattern" "$tmp/printed"; then
    echo "ok - $game $options"
  else
    failures=$((failures + 1))
    echo "not ok - $game $options"
    sed 's/^/#   /' "$tmp/printed"
  fi
}

# No byte by itself makes this ship better, but a pair of bytes does.
if [ -f "$(image_of asteroids)" ]; then
  ship="....######.... ....######.... ..##......##.. ..##......##.. ..####..####.. ..####..####.."
  # shellcheck disable=SC2086 # rows
  ends asteroids 140,19,14,6 'before, 36 after$' "" $ship
  # shellcheck disable=SC2086
  ends asteroids 140,19,14,6 'before, 8 after$' "--pairs 2" $ship
fi
# The paddle of Pong has no data: its pixels come from operands.
h="....#..#...." v=".....##....." o="............" f="....####...."
ends pong 136,96,12,16 'before, 28 after$' "--pairs 100" $h $h $v $v $h $h $v $v $v $v $o $o $f $f $f $f
ends pong 136,96,12,16 'before, 20 after$' "--code" $h $h $v $v $h $h $v $v $v $v $o $o $f $f $f $f
[ "$failures" = 0 ]
