#!/bin/bash
# test_steer: derivatives find what to press (docs/steer.md): the cannon of Space Invaders is to be 45 columns further to
# the right after 100 frames. Guided search and horizon must reach it from every seed, horizon after fewer frames in the
# median, and exact and mixed search from most seeds; random search must miss it from most. A boxer is to be at a column
# and a row, by the names of objects: horizon and mixed must get him there. The
# score of Seaquest is to be high: smooth search must be better than random search.
# $DIFFVCS is the program. Skipped (exit status 77) without the image. Exit status 0 when all is well.
diffvcs=${DIFFVCS:?set DIFFVCS to the path of the program}
. "$(dirname "$0")/need.sh"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
need_game space_invaders
"$diffvcs" steer space_invaders --actions NOOP*1050,RIGHT*40,NOOP*4 --goal ram:9C=100 --horizon 100 --budget 8000 \
  --seeds 5 --searches random,guided,exact,horizon,mixed --out "$tmp/steer.tsv" || exit 1
awk -F '\t' '$2 == "guided" && $3 == 0 { there++ } $2 == "exact" && $3 == 0 { exact++ }
  $2 == "horizon" && $3 == 0 { decided++ } $2 == "mixed" && $3 == 0 { mixed++ }
  $2 == "random" && $3 > 0 { missed++ } END { exit there != 5 || exact < 3 || missed < 3 || decided != 5 || mixed < 4 }' \
  "$tmp/steer.tsv" || exit 1
median() { awk -F '\t' -v search="$1" '$2 == search { print $4 }' "$tmp/steer.tsv" | sort -n | sed -n 3p; }
[ "$(median horizon)" -lt "$(median guided)" ] || exit 1

"$diffvcs" info boxing >"$tmp/info" 2>&1 || { need_missing roms "no image of boxing (set DIFFVCS_ROMS)" "test_steer objects"; exit; }
"$diffvcs" steer boxing --actions NOOP*300 --goal "object:player 0 x=60,object:player 0 y=70" --budget 8000 --seeds 5 \
  --searches blind,horizon,mixed --out "$tmp/object.tsv" || exit 1
awk -F '\t' '$2 == "horizon" && $3 == 0 { planned++ } $2 == "mixed" && $3 == 0 { mixed++ } END { exit planned != 5 || mixed < 4 }' \
  "$tmp/object.tsv" || exit 1

# The derivative with respect to probabilities raises the score of Seaquest further than random search: in the median of
# five seeds, and never less.
"$diffvcs" info seaquest >"$tmp/info" 2>&1 || { need_missing roms "no image of seaquest (set DIFFVCS_ROMS)" "test_steer score"; exit; }
"$diffvcs" steer seaquest --goal score --horizon 300 --budget 30000 --seeds 5 --searches random,smooth --out "$tmp/score.tsv" || exit 1
awk -F '\t' '$2 == "random" { random[$1] = $3 } $2 == "smooth" { better += $3 > random[$1]; worse += $3 < random[$1] }
  END { exit better < 3 || worse }' "$tmp/score.tsv"
