#!/bin/bash
# test_pipes: outputs and inputs that are no plain files: descriptors (/dev/stdout), pipes, links, closed streams. $DIFFVCS is the
# program. Prints ok / not ok lines; exit status 0 when all are ok.
diffvcs=${DIFFVCS:?set DIFFVCS to the path of the program}
. "$(dirname "$0")/need.sh"
. "$(dirname "$0")/report.sh"
[ -e /dev/fd/0 ] || { need_missing linux "/dev/fd"; exit; }
diffvcs=$(cd "$(dirname "$diffvcs")" && pwd)/$(basename "$diffvcs")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

truth() { timeout -k 1 60 "$diffvcs" truth demo --frame 10 --bits ram:80 "$@" 2>err </dev/null; }
score() { timeout -k 1 60 "$diffvcs" score demo --horizons 1 --bits 0 --rom-bits 0 --pixels 0 --states 1 --methods naive "$@" 2>err </dev/null; }

# ---- Outputs --------------------------------------------------------------------------------------------------------

truth --out rows
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1 link; do
  ln -sf /dev/stdout link
  case $name in /proc/*) [ -e "$name" ] || continue ;; esac
  (echo before && truth --out "$name" && echo after) >all
  grep -v '^wrote' all | cmp -s - <(echo before && cat rows && echo after)
  report $? "--out $name adds to the file that stdout is"
done
exec 7>>all
truth --out /dev/fd/7 >out
exec 7>&-
[ "$(tail -n "$(wc -l <rows)" all)" = "$(cat rows)" ] && [ "$(head -1 all)" = before ]
report $? "a descriptor of the shell is written at its end"
truth --out /dev/fd/9 >out 9<rows
[ $? = 1 ] && grep -q "cannot write /dev/fd/9" err && [ -s rows ]
report $? "a descriptor that is open for reading is refused"
ln -s rows.new dangling
truth --out dangling >out && cmp -s rows rows.new && [ -L dangling ]
report $? "a link to a file that is not there makes that file"
ln -s circle circle
truth --out circle >out
[ $? = 1 ] && [ -L circle ] && [ ! -s out ]
report $? "a link to itself is refused before the run"
mkfifo reader
cat reader >got &
wait_for=$!
truth --out reader >out
status=$?
wait $wait_for
[ $status = 0 ] && cmp -s got rows
report $? "the check before the run does not end the reader of a pipe"
truth --out >(cat >got.fd) >out
status=$?
sleep 1
[ $status = 0 ] && cmp -s got.fd rows
report $? "a process of the shell reads an output"
for name in /dev/stdout reader .; do
  for fresh in "" --fresh; do
    score --out $name $fresh | cat >out
    [ "${PIPESTATUS[0]}" = 2 ] && grep -q "cannot read and write $name: it is a .*name a file" err && [ ! -s out ]
    report $? "score --out $name $fresh is refused at once"
  done
done

# ---- Closed streams -------------------------------------------------------------------------------------------------

printf 'trace open.csv\nstep 5\ntrace off\n' | timeout -k 1 60 "$diffvcs" debug demo >out 2>err
printf 'trace closed.csv\nstep 5\ntrace off\n' | timeout -k 1 60 "$diffvcs" debug demo >&- 2>err
[ "${PIPESTATUS[1]}" = 1 ] && grep -q "cannot write to stdout" err && cmp -s open.csv closed.csv
report $? "what is printed with stdout closed does not become part of a file"
truth --out closed.tsv 2>&- >out
cmp -s closed.tsv rows
report $? "and a closed stderr changes no file"

# ---- Inputs ---------------------------------------------------------------------------------------------------------

head -c 4096 /dev/zero >zero.bin
slowly() { sleep 3 && cat "$1"; }
timeout -k 1 60 "$diffvcs" info <(slowly zero.bin) --json >out 2>err && grep -q '"size": 4096' out
report $? "a process that begins to write after three seconds is waited for"
mkfifo slow
slowly zero.bin >slow &
timeout -k 1 60 "$diffvcs" info slow >out 2>err
report $? "and a pipe with a name whose writer says nothing for three seconds"
mkfifo unwritten
timeout -k 1 60 "$diffvcs" info unwritten >out 2>err
[ $? = 2 ] && grep -q "nothing is at its other end" err
report $? "a pipe without a writer is refused"
timeout -k 1 60 "$diffvcs" edit demo --frame 10 --target unwritten --pixel 0,0 --out edited >out 2>err
[ $? -le 2 ] && grep -q "unwritten.*nothing is at its other end" err
report $? "edit --target of such a pipe, too"
timeout -k 1 60 "$diffvcs" run demo --frames 10 --screenshot heart.png --zoom 1 >out 2>err
timeout -k 1 60 "$diffvcs" edit demo --frame 10 --target <(head -c 100 heart.png) --pixel 0,0 --out edited >out 2>err
[ $? = 2 ] && grep -q "cannot read /dev/fd/" err
report $? "and half a picture through a pipe is refused"

echo "1..$tests"
echo "test_pipes: $((tests - failures)) of $tests ok"
[ "$failures" = 0 ]
