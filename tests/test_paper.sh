#!/bin/bash
# test_paper: the reduced version of `diffvcs paper`, its numbers asserted. $DIFFVCS is the program. Skipped (exit status
# 77) where the image of Space Invaders is not found. Prints ok / not ok lines; exit status 0 when all are ok.
diffvcs=${DIFFVCS:?set DIFFVCS to the path of the program}
cd "$(dirname "$0")/.." || exit 1
. tests/need.sh
. tests/report.sh
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
need_game space_invaders

says() { # says NAME TABLE LINE: some line of a table begins so; columns are separated by spaces here
  tr '\t' ' ' <"$tmp/out/sections/$2.tsv" | grep -Fq "$3"
  report $? "$1"
}

sections=19
mkdir "$tmp/elsewhere" # records are found from any folder
(cd "$tmp/elsewhere" && "$diffvcs" paper --quick --out "$tmp/out") >"$tmp/printed" 2>&1
report $? "paper --quick"
cat "$tmp/printed"
[ "$(grep -c " equal, " "$tmp/printed")" = "$sections" ]
report $? "all sections"

# The paper's rows on its reduced bus, to the digit: alpha, T, paper, ours.
for row in "2 0.14 7 7" "3 0.14 879 879" "4 0.14 1121 1121" "5 0.14 1216 1216" "6 0.14 exact exact" \
  "6 0.08 exact exact" "6 0.10 exact exact" "6 0.12 exact exact" "6 0.15 803 803" "6 0.18 2 2" "6 0.20 2 2"; do
  says "N_div at $row" ndiv "$row equal"
done
says "rho" ndiv "rho 2.16 2.1587 equal"
says "f_b" ndiv "f_b 0.374 0.3737 equal"
says "the largest offset" ndiv "largest offset 122 122 equal"
grep -q "different" "$tmp/out/sections/ndiv.tsv" && different=1 || different=0
report "$different" "p_branch, p_read and P_step to three digits"
says "T = 0.1448 diverges at frame 1" delayed "xitari 0.1448 1 1 1 equal"
says "T = 0.1446 at frame 194" delayed "xitari 0.1446 194 194 194 equal"
says "its first wrong read" delayed '135 $F488 $EE 255'
says "T = 0.1444 does not" delayed "xitari 0.1444 2365 exact exact"
says "(6, 0.14) is exact" corner "6 0.14 +-4 exact exact exact equal 0 0"
says "(5.5, 0.145) is not" corner "5.5 0.145 +-4 diverges 1 1 equal"
says "the alpha sweep" alpha "2 0.53 0.53 equal"
says "the temperature figure" temperature "0.1 1.3 1.34 equal"
says "the threshold of operands in ROM" delayed "operands 0.1465 0.1465 equal"
says "the bound that holds" theorem2 "soft and hard dispatch) - 0 of"
says "FULL beside the truth" full "(6, 0.14): "
says "the slope in 1/T" theorem2 "0.07: bytes -1 -1.00"
says "soft equals hard" theorem1 "6 of 6, 120 frames each equal"
says "SOFT-STE is computed, and identical" video "none 0 equal"
says "the game of the video is played" video "HARD: the game is over, frame - never  holds"
says "softmax dispatch leaves the run at (6, 0.14)" ndiv "0.14 1 0.83"
says "softmax dispatch is scored" dispatch "space_invaders 39 round softmax 6 1.00"
says "LEFT moves nothing at the stop" joystick "LEFT moves it left - 0: it stands at its left stop different"
says "naive is 0, as the paper says" joystick "naive RIGHT 0 0 0 0 equal"
says "the Superchip's seed shows" superchip "the picture depends on the seed yes yes equal"
says "the same seed, the same run" superchip "with the seed pinned, runs are equal yes yes equal"
says "the counter's derivative" counter "BNE 4 yes -1.68 -0.1184 -3.298e-07 -1.68 -0.1184 -3.298e-07 equal"
says "the modes" settings "SOFT-STE = HARD none equal"
says "the games are counted" games "games that are exact at (6, 0.14) 3 of 3 2 of 2 equal"
says "a batch on a GPU, or why not" throughput "65536 "
says "PXC-S" conformance "pixel-exact 64 of 64, 60 frames 3 of 3"
says "PXC1" conformance "PXC1, per instruction pass 3 of 3"
says "PXC2" conformance "PXC2, a second port pass 3 of 3, 5 frames each equal"
says "the engines" conformance "against each other - 3 of 3, 20 frames each holds"
! grep -q "class=fails>[^0]" "$tmp/out/index.html"
report $? "no check of our own fails"
[ "$(grep -c "class=assumes" "$tmp/out/index.html")" = "$sections" ]
report $? "every section states what it assumes"
grep -n "together<th>\|<h2 id" "$tmp/out/index.html" | head -1 | grep -q together
report $? "the summary of the verdicts comes first"
for figure in gate alpha temperature joystick theorem2 pstep full four-panels; do
  [ -s "$tmp/out/figures/$figure.svg" ] && [ -s "$tmp/out/figures/$figure.png" ] && grep -q "figures/$figure.png" "$tmp/out/index.html"
  report $? "figure $figure"
done

# The video, decoded: 60 frames of four panels below their labels. Panels are 320 x 210, 4 apart, from row 22 on.
psnr() { # psnr X Y HEIGHT: how near the panel at X is to the first one, in decibels, in the rows from Y on
  ffmpeg -v info -i "$tmp/out/four-panels.mp4" -filter_complex \
    "[0]crop=320:$3:0:$2[a];[0]crop=320:$3:$1:$2[b];[a][b]psnr" -f null - 2>&1 |
    sed -n 's/.*average:\([0-9]*\).*/\1/p; s/.*average:inf.*/99/p'
}
if command -v ffmpeg ffprobe >/dev/null; then
  frames=$(ffprobe -v error -count_frames -select_streams v -show_entries stream=width,height,nb_read_frames -of csv=p=0 \
    "$tmp/out/four-panels.mp4")
  [ "$frames" = "1292,232,60" ]
  report $? "the video has 60 frames of four panels ($frames)"
  soft=$(psnr 324 22 210) corner=$(psnr 648 22 210) outside=$(psnr 972 22 210) label=$(psnr 324 0 20)
  [ "$soft" -ge 40 ] && [ "$corner" -ge 40 ]
  report $? "decoded, SOFT-STE and (6, 0.14) are HARD ($soft and $corner dB)"
  [ "$outside" -lt 40 ]
  report $? "decoded, (5.5, 0.145) is not ($outside dB)"
  [ "$label" -lt 20 ]
  report $? "the panels have labels ($label dB)"
else
  need_missing ffmpeg "no ffmpeg program" || [ $? = 77 ]
  report $? "the video, decoded"
fi
tests/paper_docs.sh "$tmp/out"
report $? "the documents' numbers are the page's"

"$diffvcs" paper --quick --out "$tmp/out" >"$tmp/again" 2>&1
[ "$(grep -c ' kept$' "$tmp/again")" = "$sections" ]
report $? "nothing is made twice"
rm "$tmp/out/sections/gate.html"
"$diffvcs" paper --quick --out "$tmp/out" >"$tmp/again" 2>&1
[ "$(grep -c ' kept$' "$tmp/again")" = $((sections - 1)) ]
report $? "what is missing is made"
"$diffvcs" paper --only ndvi --out "$tmp/out" >"$tmp/again" 2>&1
[ $? = 2 ] && grep -q "did you mean ndiv" "$tmp/again"
report $? "a table that is not there"


# A GPU's rows come from a record where there is no GPU.
mkdir -p "$tmp/records/gpu"
{
  echo "A made-up GPU"
  tr '\t' '|' <"$tmp/out/sections/throughput.tsv" | sed 's/^65536|[^|]*|[^|]*/65536|1234567|7654321000/' | tr '|' '\t'
} >"$tmp/records/gpu/throughput.tsv"
"$diffvcs" paper --quick --only throughput --records "$tmp/records" --out "$tmp/recorded" >"$tmp/again" 2>&1
grep -q "but recorded: A made-up GPU" "$tmp/recorded/sections/throughput.html" &&
  grep -q "^65536$(printf '\t')1234567$(printf '\t')7654321000" "$tmp/recorded/sections/throughput.tsv" ||
  grep -q "this computer's GPU" "$tmp/recorded/sections/throughput.html"
report $? "a GPU's rows are those of the record"

echo "1..$tests"
[ "$failures" = 0 ]
