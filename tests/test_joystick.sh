#!/bin/bash
# test_joystick: the study of docs/joystick.md, its numbers asserted. $DIFFVCS is the program. Skipped (exit status 77)
# where the image of Space Invaders is not found. Prints ok / not ok lines; exit status 0 when all are ok.
diffvcs=${DIFFVCS:?set DIFFVCS to the path of the program}
. "$(dirname "$0")/need.sh"
. "$(dirname "$0")/report.sh"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
need_game space_invaders

study() { # study DIRECTORY ARGUMENT...
  local out=$tmp/$1
  shift
  "$diffvcs" joystick "$@" --out "$out" >"$tmp/printed" 2>&1
  report $? "joystick $*"
}

# holds NAME TABLE WHICH WHAT: some rows satisfy the awk condition WHICH, and all of those satisfy WHAT.
# Columns: control, frames, method, pixels, rows, columns, largest, recall, precision, sign, cosine.
holds() {
  awk -F '\t' "NR > 1 && ($3) { rows++; if (!($4)) wrong++ } END { exit !rows || wrong }" "$tmp/$2/table.tsv"
  report $? "$1"
}

ranks() { # ranks NAME TABLE METHOD RANKING
  grep -Eq "^\| \`$3\` .*\| $4 \|$" "$tmp/$2/table.md"
  report $? "$1"
}

middle='NOOP*1050,RIGHT*40,NOOP*4'
sideways='($1 == "RIGHT" || $1 == "LEFT")'
for profile in xitari ale; do
  study middle --profile $profile --actions "$middle"
  holds "forks find what moves" middle "$sideways && \$3 == \"bit+fork\" && (\$2 == 2 || \$2 == 4 || \$2 == 8)" \
    '$8 >= 0.9 && $9 >= 0.9 && $10 >= 0.95'
  holds "the truth is 20 pixels, the cannon's edges" middle "$sideways && \$3 == \"truth\" && \$2 > 1" \
    '$4 == 20 && $5 == "185:195"'
  holds "UP and DOWN move nothing" middle '$1 == "UP" || $1 == "DOWN"' '$4 == 0'
  ranks "the inverse knows right from left" middle truth "4312 \| -4312 \| 0 \| 0 \| RIGHT > UP = DOWN > LEFT"
  ranks "and so do forks" middle 'bit\+fork' "4312 \| -4312 \| 0 \| 0 \| RIGHT > UP = DOWN > LEFT"

  study held --profile $profile --actions "$middle" --held
  holds "held, forks find what moves" held "$sideways && \$3 == \"bit+fork\" && \$2 > 1" \
    '$8 >= 0.9 && $9 >= 0.9 && $10 >= 0.95'
  holds "66 pixels after 8 frames" held "$sideways && \$3 == \"truth\" && \$2 == 8" '$4 == 66'

  study between --profile $profile --actions "$middle" --press 1
  holds "a frame that is not polled" between 1 '$4 == 0'

  study stop --profile $profile
  holds "LEFT at the left stop: the truth" stop '$1 == "LEFT" && $3 == "truth"' '$4 == 0'
  holds "and forks agree" stop '$1 == "LEFT" && $3 == "bit+fork"' '$4 == 0'
  ranks "backwards LEFT is nothing there" stop truth "4312 \| 0 \| 0 \| 0 \| RIGHT > LEFT = UP = DOWN"
  ranks "and forks agree" stop 'bit\+fork' "4312 \| 0 \| 0 \| 0 \| RIGHT > LEFT = UP = DOWN"
  holds "RIGHT at the left stop" stop '$1 == "RIGHT" && $3 == "bit+fork" && $2 > 1' '$8 == 1 && $9 == 1 && $10 == 1'
done

echo "1..$tests"
[ "$failures" = 0 ]
