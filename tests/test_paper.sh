#!/bin/bash
# test_paper: the reduced version of `diffvcs paper`, its numbers asserted. $DIFFVCS is the program. Skipped (exit status
# 77) where the image of Space Invaders is not found. Prints ok / not ok lines; exit status 0 when all are ok.
diffvcs=${DIFFVCS:?set DIFFVCS to the path of the program}
cd "$(dirname "$0")/.." || exit 1
. tests/need.sh
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
if ! "$diffvcs" info space_invaders >"$tmp/info" 2>&1; then
  need_missing roms "no image of space_invaders (set DIFFVCS_ROMS)"
  exit
fi
tests=0
failures=0

report() { # report STATUS NAME
  tests=$((tests + 1))
  [ "$1" = 0 ] && echo "ok $tests - $2" && return
  failures=$((failures + 1))
  echo "not ok $tests - $2"
}

says() { # says NAME TABLE LINE: some line of a table begins so; columns are separated by spaces here
  tr '\t' ' ' <"$tmp/out/sections/$2.tsv" | grep -Fq "$3"
  report $? "$1"
}

"$diffvcs" paper --quick --out "$tmp/out" >"$tmp/said" 2>&1
report $? "paper --quick"
cat "$tmp/said"

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
says "the bound that holds" theorem2 "soft and hard dispatch) 0 0 of"
says "FULL beside the truth" full "(6, 0.14): "
says "the slope in 1/T" theorem2 "0.07: bytes -1 -1.00"
says "soft equals hard" theorem1 "6 of 6, 120 frames each equal"
says "SOFT-STE is computed, and identical" video "none 0 equal"
says "PXC-S" conformance "pixel-exact 64 of 64, 60 frames 3 of 3"
says "PXC1" conformance "PXC1, per instruction pass 3 of 3"
says "PXC2" conformance "3 of 3, 20 frames each equal"
for figure in gate alpha temperature joystick theorem2 pstep four-panels; do
  [ -s "$tmp/out/figures/$figure.svg" ] && [ -s "$tmp/out/figures/$figure.png" ] && grep -q "figures/$figure.png" "$tmp/out/index.html"
  report $? "figure $figure"
done

"$diffvcs" paper --quick --out "$tmp/out" >"$tmp/again" 2>&1
[ "$(grep -c ' kept$' "$tmp/again")" = 15 ]
report $? "nothing is made twice"
rm "$tmp/out/sections/gate.html"
"$diffvcs" paper --quick --out "$tmp/out" >"$tmp/again" 2>&1
[ "$(grep -c ' kept$' "$tmp/again")" = 14 ]
report $? "what is missing is made"
"$diffvcs" paper --only ndvi --out "$tmp/out" >"$tmp/again" 2>&1
[ $? = 2 ] && grep -q "did you mean ndiv" "$tmp/again"
report $? "a table that is not there"

echo "1..$tests"
[ "$failures" = 0 ]
