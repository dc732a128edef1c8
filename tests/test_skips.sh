#!/usr/bin/env bash
# `make test` counts its skips, and fails if a need that DIFFVCS_REQUIRE names is missing.
#
# tests/run_all.sh itself runs here, in a folder where the steps that take minutes are replaced by ones that only print
# their name; the unit tests are one real test program ($TEST, which needs ROM images for a part of its tests). There are no
# ROM images. What is checked is the exit status and the last line.
set -uo pipefail
test_program=${TEST:?set TEST to the path of test_relax_chips}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $1"; failed=1; }

mkdir -p "$work/tests/golden/xitari" "$work/tests/golden/xitari-cpu" "$work/bin" "$work/build/Testing/Temporary"
cp "$here/run_all.sh" "$here/steps.sh" "$here/need.sh" "$here/unit.sh" "$work/tests/"
stub() { # file, line...: a program that does these lines
  printf '%s\n' '#!/usr/bin/env bash' "${@:2}" > "$1"
  chmod +x "$1"
}
for script in python web builds test_install lint; do
  stub "$work/tests/$script.sh" "echo stub: $script" "exit \${STUB_STATUS_$script:-0}"
done
stub "$work/tests/setup.sh" "[ \"\${1:-}\" != --roms ]" # ale-py cannot be installed
stub "$work/bin/make" "echo stub: make"
stub "$work/bin/ctest" "\"$test_program\" > build/Testing/Temporary/LastTest.log 2>&1"
run() { # variable=value...: all of make test; its output is in $work/out
  env PATH="$work/bin:$PATH" DIFFVCS_ROMS= DIFFVCS_REQUIRE= "$@" bash "$work/tests/run_all.sh" > "$work/out" 2>&1
}
last() { tail -1 "$work/out"; }
skipped() { last | sed -n 's/.*, \([0-9]*\) skipped$/\1/p'; }

run || fail "a run that only skips fails: $(last)"
grep -q "^SKIP: roms: ale-py live: RAM" "$work/out" || fail "a step that cannot run has no line"
grep -q "^SKIP: roms: test_relax_chips: " "$work/out" || fail "the parts that a passing test leaves out have no lines"
[ "$(skipped)" = "$(grep -c '^SKIP: ' "$work/out")" ] || fail "not every skip is in the last line: $(last)"
[ "$(grep -c '^SKIP: roms: ' "$work/out")" -ge 12 ] || fail "7 steps and several games need ROM images: $(last)"
grep -q "^skipped for want of roms: " "$work/out" || fail "the needs are not counted"

run DIFFVCS_REQUIRE=roms
[ $? = 1 ] || fail "without ROM images DIFFVCS_REQUIRE=roms does not fail: $(last)"
grep -q "^SKIP: roms" "$work/out" && fail "what is required is called skipped"
[ "$(grep -c '^REQUIRED BUT MISSING: roms' "$work/out")" -ge 7 ] || fail "not every step that lacks ROM images fails"
last | grep -q "^[0-9]* passed, 8 failed, " || fail "the records, six comparisons and the unit tests fail, not: $(last)"
grep -q "^FAILED: unit tests" "$work/out" || fail "the unit tests do not fail for want of ROM images"

run DIFFVCS_REQUIRE=all
[ $? = 1 ] || fail "DIFFVCS_REQUIRE=all does not fail: $(last)"

# A failure counts wherever it happens: in a step that runs alone, or in one that runs beside other steps.
run STUB_STATUS_builds=1
[ $? = 1 ] && grep -q "^FAILED: PXC2" "$work/out" || fail "a failed step is not reported: $(last)"
run STUB_STATUS_python=1
[ $? = 1 ] && grep -q "^FAILED: python" "$work/out" || fail "a failed step beside other steps is not reported: $(last)"
exit $failed
