#!/bin/bash
# paper_docs: compares numbers of the documents with those of a page that `diffvcs paper` has made: paper_docs.sh DIR.
# A page of --quick has some of them, a whole page all. Without DIR, $DIFFVCS makes a whole page first, in minutes. Prints
# a line for every number that disagrees; exit status 0 when there is none.
cd "$(dirname "$0")/.." || exit 1
. tests/need.sh
page=${1:-}
if [ -z "$page" ]; then
  page=$(mktemp -d) || exit 1
  trap 'rm -rf "$page"' EXIT
  if ! "${DIFFVCS:?set DIFFVCS to the path of the program}" info space_invaders >"$page/info" 2>&1; then
    need_missing roms "no image of space_invaders (set DIFFVCS_ROMS)"
    exit
  fi
  "$DIFFVCS" paper --out "$page" || exit 1
fi
wrong=0
checked=0

disagree() {
  echo "$1"
  wrong=$((wrong + 1))
}

# A row of a table, its columns separated by spaces.
row() { # row TABLE BEGINNING
  tr '\t' ' ' <"$page/sections/$1.tsv" | grep -F -- "$2" | head -1
}

# A column of a row, counted from 1; columns may have spaces.
cell() { # cell TABLE BEGINNING COLUMN
  grep -F -- "$2" "$page/sections/$1.tsv" | head -1 | cut -f "$3"
}

# A number of the page that a document must have, too.
in_docs() { # in_docs NUMBER DOCUMENT...
  local number=$1 document
  shift
  checked=$((checked + 1))
  [ -n "$number" ] || disagree "the page has no number for $*"
  for document; do
    grep -Fq -- "$number" "docs/$document" || disagree "docs/$document: the page has $number"
  done
}

# All numbers of the documents that begin so are this one.
only() { # only BEGINNING NUMBER
  checked=$((checked + 1))
  grep -onE "0?\\.$1[0-9]*" docs/*.md | while IFS=: read -r file line number; do
    case "0${number#0}" in
      "$2") ;;
      *) echo "$file:$line: $number, the page has $2" ;;
    esac
  done
}

margin=$(grep -o "one half on, T = [0-9.]*" "$page/sections/theorem2.html" | grep -o "[0-9.]*$")
pull=$(grep -o "one half at T = [0-9.]*" "$page/sections/delayed.html" | grep -o "[0-9.]*$")
others=$(only 1443[0-9] "$pull" && only 079[0-9] "$margin" && only 080[1-9] "$margin")
[ -z "$others" ] || disagree "$others"
in_docs "$pull" paper.md
in_docs "$margin" theorem.md

in_docs "$(cell ndiv "rho" 3)" paper.md
in_docs "largest offset $(cell ndiv "largest offset" 3)" paper.md
in_docs "$(cell delayed "opcodes" 3)" paper.md
in_docs "$(cell delayed "data" 3)" paper.md
in_docs "| RIGHT | $(cell joystick "truth	RIGHT" 3) | $(cell joystick "bit+fork	RIGHT" 3), all of them true | \
$(cell joystick "truth	RIGHT" 5) | $(cell joystick "bit+fork	RIGHT" 5) |" joystick.md
in_docs "| LEFT | $(cell joystick "truth	LEFT" 3) | $(cell joystick "bit+fork	LEFT" 3) | \
$(cell joystick "truth	LEFT" 5) | $(cell joystick "bit+fork	LEFT" 5) |" joystick.md
in_docs "from frame $(cell superchip "1	another" 4) on" paper.md

if grep -q seaquest "$page/sections/full.tsv"; then # a whole page
  for game in space_invaders pong breakout seaquest; do
    values=$(grep -P "^$game\tround\t6\t" "$page/sections/full.tsv" | head -1 | cut -f 4-8 | sed 's|\([0-9.]*\) / [^\t]*|\1|g; s/\t/ | /g')
    in_docs "| $game | $values |" relaxed.md
    for kind in hard softmax; do
      values=$(grep -P "^$game\t[0-9]*\tround\t$kind\t6\t" "$page/sections/dispatch.tsv" | cut -f 6- | sed 's/\t/ | /g')
      in_docs "| $game | $kind | $values |" relaxed.md
    done
  done
  for game in space_invaders pong breakout ms_pacman seaquest qbert beam_rider asterix freeway riverraid \
    montezuma_revenge elevator_action; do
    values=$(grep -P "^$game\t" "$page/sections/games.tsv" | head -1 | cut -f 2- | sed 's/, [0-9]* masked//g; s/\t/ | /g')
    in_docs "| $game | $values |" paper.md
  done
  above=$(cell theorem2 "steps above the bound with C = 256" 3)
  in_docs "$(echo "$above" | sed -E ':a; s/([0-9])([0-9]{3})([^0-9]|$)/\1,\2\3/; ta')" theorem.md
fi
echo "$checked numbers compared, $wrong disagree"
[ "$wrong" = 0 ]
