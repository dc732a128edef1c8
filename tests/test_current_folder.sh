#!/bin/bash
# test_current_folder PROGRAM TEST_DEVICE PLANTED: the program runs no file from the current folder: no Python module
# during the search for ROM images, no libdiffvcs_cuda during the search for a GPU. The last check shows that a planted
# library would be noticed.
set -u
program=$(realpath "$1") device=$(realpath "$2") planted=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $1"; failed=1; }
unset DIFFVCS_CUDA DIFFVCS_ROMS ALE_ROMS_DIR

for module in importlib os site encodings ale_py sitecustomize usercustomize; do
  echo "open('MODULE_RAN', 'w')" > "$module.py"
done
printf '#!/bin/sh\ntouch PROGRAM_RAN\n' > python3
chmod +x python3
for path in "$PATH" /usr/bin:/bin ".:$PATH" ":/usr/bin:/bin"; do
  PATH=$path "$program" info anything > out 2>&1 && fail "there is a game called anything"
  grep -q "python3's ale_py" out || fail "no search: $(cat out)"
done
[ ! -e MODULE_RAN ] || fail "a module of the current folder was run"
[ ! -e PROGRAM_RAN ] || fail "a python3 of the current folder was run"

cp "$planted" libdiffvcs_cuda.so
export DIFFVCS_DEVICE=0 # the first GPU, which needs the library; test_device says what is missing
(exec -a ./x "$device") > out 2>&1
grep -q 'was not found' out || fail "no answer about a GPU: $(cat out)"
[ ! -e LIBRARY_RAN ] || fail "a library of the current folder was loaded by a program called ./x"
(exec -a x "$device") > out 2>&1
[ ! -e LIBRARY_RAN ] || fail "a library of the current folder was loaded by a program called x"
DIFFVCS_CUDA="$work/libdiffvcs_cuda.so" "$device" > out 2>&1
[ -e LIBRARY_RAN ] || fail "a library that is named is not loaded: this test could not fail"
exit $failed
