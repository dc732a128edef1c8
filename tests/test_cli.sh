#!/bin/bash
# test_cli: the program from the outside: the output of each command, its exit status, the files it writes, and its messages
# about bad input. $DIFFVCS is the program; with $DIFFVCS_ROMS (a directory with pong.bin and breakout.bin) real
# games are used too. Prints ok / not ok lines; exit status 0 when all are ok.
diffvcs=${DIFFVCS:?set DIFFVCS to the path of the program}
roms=${DIFFVCS_ROMS:-}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/need.sh"
. "$here/report.sh"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
diffvcs=$(cd "$(dirname "$diffvcs")" && pwd)/$(basename "$diffvcs")
cd "$tmp" || exit 1

lacks() { # lacks NEED REASON: a part of the test is left out
  need_missing "$1" "$2"
  [ $? = 77 ] || failures=$((failures + 1))
}

# exits STATUS NAME ARGUMENT...: the program ends with that status; its words are in out and err.
exits() {
  local want=$1 name=$2
  shift 2
  "$diffvcs" "$@" >out 2>err </dev/null
  local got=$?
  [ "$got" = "$want" ]
  local wrong=$?
  [ "$wrong" = 0 ] || echo "# exit status $got, not $want: diffvcs $*"
  report "$wrong" "$name"
}

# says FILE PATTERN: the last command wrote a line like this.
says() {
  grep -Eq -- "$2" "$1"
  report $? "  says: $2"
}

same() { # same NAME FILE FILE
  cmp -s "$2" "$3"
  report $? "$1"
}

missing() { # missing NAME FILE
  [ ! -e "$2" ]
  report $? "$1"
}

png_is_whole() { [ "$(head -c 4 "$1" | tail -c 3)" = PNG ] && [ "$(tail -c 8 "$1" | head -c 4)" = IEND ]; }
gif_is_whole() { [ "$(head -c 6 "$1")" = GIF89a ] && [ "$(tail -c 1 "$1" | od -An -tx1 | tr -d ' ')" = 3b ]; }
no_drafts() {
  [ -z "$(find . -name '*.part')" ]
  report $? "$1"
}

# ---- The program itself ---------------------------------------------------------------------------------------------

exits 0 "help" --help
says out "usage: diffvcs COMMAND"
exits 0 "version" --version
says out "^diffvcs [0-9]+\.[0-9]+"
exits 2 "no command"
exits 2 "a misspelled command" verfy
says err "did you mean verify"
exits 2 "an unknown command" xylophone
says err "diffvcs --help"
for command in info run record verify trace truth smooth grad score edit steer; do
  exits 0 "help of $command" "$command" --help
  says out "^examples:"
  exits 2 "an unknown option of $command" "$command" --rom x
  says err "did you mean --roms"
  exits 2 "$command of nothing" "$command"
  says err "is missing"
done
exits 0 "help by word" help trace
says out "usage: diffvcs trace"
if [ -e /dev/full ]; then
  "$diffvcs" info demo >/dev/full 2>err
  [ $? = 1 ]
  report $? "a full disk at stdout is reported"
  timeout -k 5 30 "$diffvcs" trace demo --limit 1000000000 >/dev/full 2>err
  [ $? = 1 ] && grep -q 'cannot write to stdout: No space left' err
  report $? "a trace ends when nothing can be written"
else
  lacks linux "/dev/full"
fi

# ---- info -----------------------------------------------------------------------------------------------------------

exits 0 "info demo" info demo
says out "^mapper +4K$"
says out "^television +NTSC$"
says out "^size +4096 bytes"
exits 0 "info in another format and scheme" info demo --format pal --scheme 4k --profile ale
says out "^television +PAL$"
says out "^profile +ale$"
exits 0 "info as JSON" info demo --json
says out '"mapper": "4K"'
python3 -m json.tool out >/dev/null 2>err
report $? "the JSON is JSON"

# ---- Bad images -----------------------------------------------------------------------------------------------------

: >empty.bin
mkdir directory
head -c 1000 /dev/zero >short.bin
head -c 5000000 /dev/zero >long.bin
printf 'not gzip' | gzip >cut.bin.gz
head -c 20 cut.bin.gz >cut.bin
for command in info run trace record truth smooth; do
  exits 2 "$command of an empty file" "$command" ./empty.bin
  says err "empty"
  exits 2 "$command of a directory" "$command" directory
  says err "is a directory"
  exits 2 "$command of a file that is too long" "$command" long.bin
  says err "longer than"
  exits 2 "$command of an unknown name" "$command" breakuot_ --roms directory
  says err "did you mean breakout"
  says err "DIFFVCS_ROMS"
  says err "pip install ale-py"
  exits 2 "$command of a missing path" "$command" ./nothing.bin
  says err "no such ROM image"
  exits 2 "$command of a damaged gzip file" "$command" cut.bin
done
# A pipe with nothing at its other end is an error, not a wait in which Ctrl-C only sets a flag.
mkfifo pipe pipe.gif
for command in "info pipe" "run demo --frames 2 --video pipe.gif" "run demo --patch pipe" "verify pipe"; do
  # shellcheck disable=SC2086 # words
  timeout -k 1 60 "$diffvcs" $command >out 2>err </dev/null
  [ $? -le 2 ] && cat out err | grep -q "nothing is at its other end"
  report $? "$command, a pipe that nothing else has open"
done
cat pipe.gif >read.gif &
reader=$!
sleep 1
exits 0 "a video into a pipe that is read" run demo --frames 2 --video pipe.gif
wait $reader
gif_is_whole read.gif
report $? "  arrives"
"$diffvcs" run short.bin --frames 10 >out 2>err
[ $? -le 2 ]
report $? "a truncated image runs or is refused"
head -c 4096 /dev/urandom >random.bin
exits 0 "random bytes run" run random.bin --frames 200 --seed 1
says out "^state +[0-9a-f]{16}$"
exits 2 "an unknown scheme" info demo --scheme Q9
exits 2 "a scheme of another size" info demo --scheme F4

# ---- run ------------------------------------------------------------------------------------------------------------

exits 0 "run demo" run demo --seed 3 --frames 500
says out "^frames +500$"
says out "^speed +[0-9]+ frames/s$"
grep '^state' out >state.plain
exits 0 "run with a picture" run demo --seed 3 --frames 500 --screenshot demo.png --zoom 1
grep '^state' out >state.drawn
same "drawing does not change the state" state.plain state.drawn
png_is_whole demo.png
report $? "the screenshot is a PNG"
exits 0 "run with a video" run demo --seed 3 --frames 60 --video demo.gif --zoom 1
gif_is_whole demo.gif
report $? "the video is a GIF"
if command -v ffmpeg >/dev/null; then
  exits 0 "run with an MP4" run demo --frames 30 --video demo.mp4
  [ -s demo.mp4 ]
  report $? "the MP4 is there"
else
  lacks ffmpeg "ffmpeg is not installed"
fi
exits 0 "run with sound" run demo --seed 3 --frames 60 --wav demo.wav
[ "$(head -c 4 demo.wav)" = RIFF ] && [ "$(wc -c <demo.wav)" -gt 30000 ]
report $? "the sound is a WAV"
exits 2 "sound that is no WAV" run demo --wav x.mp3
exits 2 "sound that is too long" run demo --frames 1000001 --wav x.wav
exits 1 "sound into nowhere" run demo --wav nowhere/x.wav
exits 2 "run with both seed and actions" run demo --seed 1 --actions x
exits 2 "a screenshot that is no PNG" run demo --screenshot x.jpg
exits 2 "a video with an unknown ending" run demo --video x.avi
exits 1 "a screenshot into nowhere" run demo --screenshot nowhere/x.png
exits 1 "a video in a missing directory" run demo --video nowhere/x.gif
exits 2 "a number that is none" run demo --frames many

printf '# a comment\nNOOP\n\n 3  # RIGHT\nupfire\r\n' >moves.txt
exits 0 "run an action file" run demo --actions moves.txt
says out "^frames +3$"
exits 0 "run on after an action file" run demo --actions moves.txt --frames 10
says out "^frames +10$"
yes NOOP | head -500 >noops.txt
exits 0 "run a file of NOOPs" run demo --actions noops.txt
grep '^state' out >state.noops
exits 0 "run the stream of NOOPs" run demo --frames 500
grep '^state' out >state.zero
same "seed 0 is NOOP" state.noops state.zero
cmp -s state.zero state.plain
[ $? = 1 ]
report $? "other actions give another state"
printf 'NOOP\nFIRE\nRIHGT\n' >typo.txt
exits 2 "a misspelled action" run demo --actions typo.txt
says err "line 3: no action 'RIHGT'; did you mean RIGHT"
printf 'NOOP\n18\n' >number.txt
exits 2 "an action number too high" run demo --actions number.txt
says err "line 2: no action '18'"
exits 2 "an empty action file" run demo --actions empty.bin
says err "no actions"
exits 2 "a missing action file" run demo --actions nothing.txt

# ---- record and verify ----------------------------------------------------------------------------------------------

exits 0 "record demo" record demo --seed 1 --frames 400 --dense 50 --stride 100 --out records/
exits 0 "record its instructions" record demo --cpu --instructions 20500 --out records
exits 0 "verify both" verify records/demo.1.tsv.gz records/demo.tsv.gz
says out "^demo.1 exact 400 frames$"
says out "^demo exact 20500 instructions$"
says out "^2 records: 2 exact, 0 differ, 0 unreadable$"
exits 0 "record to stdout" record demo --seed 1 --frames 400 --dense 50 --stride 100 --out -
gzip -dc records/demo.1.tsv.gz >demo.1.tsv
same "the same record, plain" out demo.1.tsv
exits 0 "record to a file" record demo --seed 1 --frames 400 --dense 50 --stride 100 --out plain.tsv
same "the same record, in a file" plain.tsv demo.1.tsv
exits 0 "verify a plain record" verify demo.1.tsv
exits 2 "several games to stdout" record demo demo --out -
exits 2 "several games to a file" record demo demo --out plain.tsv
exits 1 "record into nowhere" record demo --out nowhere/x.tsv
mkdir one two
head -c 4096 /dev/zero >one/same.bin
head -c 4096 /dev/urandom >two/same.bin
exits 2 "records of two images with one name" record one/same.bin two/same.bin --frames 10 --out both
says err "both called 'same'"
missing "are made of neither" both
exits 0 "of two with two names" record one/same.bin demo --frames 10 --out both
for command in "annotate --seeds 1 --depths 1 --out both" "annotate --seeds 1 --depths 1 --html both" "score --out both/score.tsv"; do
  # shellcheck disable=SC2086 # words
  exits 2 "two images with one name: $command" $command one/same.bin two/same.bin
  says err "both called 'same'"
done

flip() { # flip FILE ROW COLUMN: one digit of one checksum
  awk -F '\t' -v OFS='\t' -v row="$2" -v column="$3" \
    '$1 == row { d = substr($column, 1, 1); $column = (d == "0" ? "1" : "0") substr($column, 2) } { print }' "$1"
}
mkdir flipped
flip demo.1.tsv 37 3 >flipped/demo.1.tsv
exits 1 "one wrong checksum of RAM" verify flipped/demo.1.tsv
says out "^demo.1 differs at frame 37 \(equal up to 36\): RAM$"
flip demo.1.tsv 300 4 >flipped/demo.1.tsv
exits 1 "one wrong checksum of a screen in a sparse row" verify flipped/demo.1.tsv
says out "^demo.1 differs at frame 300 \(equal up to 200\): screen$"
flip demo.1.tsv 200 11 | gzip >flipped/demo.1.tsv.gz
exits 1 "one wrong chain of the play, gzipped" verify flipped/demo.1.tsv.gz
says out "^demo.1 differs at frame 200 \(equal up to 100\): play$"
flip demo.1.tsv boot 3 >flipped/demo.1.tsv
exits 1 "a wrong boot" verify flipped/demo.1.tsv
says out "^demo.1 differs at boot: RAM$"
gzip -dc records/demo.tsv.gz >demo.tsv
flip demo.tsv 5000 10 >flipped/demo.tsv
exits 1 "one wrong chain of instructions" verify flipped/demo.tsv
says out "^demo differs at instruction 5000 \(equal up to 4000\): state$"
flip demo.tsv 7 11 >flipped/demo.tsv
exits 1 "one wrong chain of cycles" verify flipped/demo.tsv
says out "^demo differs at instruction 7 \(equal up to 6\): cycles$"
cp demo.1.tsv flipped/demo.2.tsv
exits 1 "the record of another seed" verify flipped/demo.2.tsv
says out "^demo.2 differs at frame [0-9]+ "

cp demo.1.tsv demo.tsv.txt
cp demo.1.tsv unknown_game.1.tsv
: >demo.3.tsv
echo "pong is a game" >demo.4.tsv
mkdir cut
head -n 15 demo.1.tsv | sed '$s/..$//' >cut/demo.1.tsv # in the middle of the last checksum of a row
printf '# height=210 width=160\n' >demo.6.tsv
head -c 4096 /dev/urandom >demo.7.tsv
head -c 500 records/demo.1.tsv.gz >demo.8.tsv.gz
cp demo.1.tsv demo.x.tsv
for bad in demo.3.tsv demo.4.tsv cut/demo.1.tsv demo.6.tsv demo.7.tsv demo.8.tsv.gz \
  demo.9.tsv demo.x.tsv demo.tsv.txt directory; do
  exits 2 "a bad record: $bad" verify "$bad"
  says out " unreadable: "
done
exits 2 "a record of a game without a ROM" verify unknown_game.1.tsv --roms directory
says out "^unknown_game.1 unreadable: no ROM image 'unknown_game'$"
says err "DIFFVCS_ROMS"
exits 2 "bad records do not stop the remaining records" verify demo.3.tsv demo.1.tsv demo.4.tsv demo.1.tsv --jobs 2
says out "^4 records: 2 exact, 0 differ, 2 unreadable$"
[ "$(sed 's/ .*//' out | head -4 | tr '\n' ' ')" = "demo.3 demo.1 demo.4 demo.1 " ]
report $? "lines come in the order given"
exits 1 "a difference outweighs a bad record" verify flipped/demo.2.tsv demo.3.tsv

# ---- trace ----------------------------------------------------------------------------------------------------------

exits 0 "trace" trace demo --limit 3000 --out demo.tsv
exits 0 "a trace is a CPU record" verify demo.tsv
says out "^demo exact 3000 instructions$"
mkdir trace
exits 0 "trace later frames, gzipped" trace demo --frame 66 --frames 2 --out trace/demo.tsv.gz
exits 0 "it is one too" verify trace/demo.tsv.gz
gzip -dc trace/demo.tsv.gz >trace.tsv
[ "$(grep -c '^# frame' trace.tsv)" = 2 ] && grep -q '^# frame 66$' trace.tsv && grep -q '^# frame 67$' trace.tsv
report $? "it has the requested frames"
exits 0 "the first instructions" trace demo --limit 64
grep -v '^#' out | cut -f 1-11 >trace.rows
exits 0 "the same from record" record demo --cpu --instructions 64 --out -
grep -v '^#' out >record.rows
same "trace and record agree" trace.rows record.rows
exits 0 "trace a frame of a play record" trace demo --seed 1 --frame 20
says out "^# frame 20$"
says out "[0-9a-f]{4}	[A-Z]{3}"
exits 2 "no frames" trace demo --frames -1
exits 2 "a seed that is none" trace demo --seed x
printf '\002' >jam.bin
head -c 4095 /dev/zero | tr '\0' '\002' >>jam.bin
exits 1 "a jam ends a trace" trace jam.bin --limit 1000
says err "jammed"

# ---- truth ----------------------------------------------------------------------------------------------------------

exits 0 "truth of RAM" truth demo --seed 1 --frame 100 --horizon 8
cp out truth.tsv
[ "$(wc -l <out)" = 1026 ] && [ "$(awk -F '\t' 'NF != 6' out | wc -l)" = 0 ]
report $? "a heading, a row for the run and one a bit, six columns"
[ "$(head -1 out)" = "byte	bit	pixels	ram_bytes	screen_crc	ram_crc" ]
report $? "the heading names them"
says out '^-	-	0	0	[0-9a-f]{8}	[0-9a-f]{8}$'
says out '^127	7	'
awk -F '\t' 'NR > 1 && $3 > 0 { seen = 1 } END { exit !seen }' out
report $? "some bits show"
exits 0 "truth with one thread, into a file" truth demo --seed 1 --frame 100 --horizon 8 --jobs 1 --out truth.tsv.gz
gzip -dc truth.tsv.gz >unpacked.tsv
same "the same table" truth.tsv unpacked.tsv
exits 0 "truth on a GPU, or what is missing, and the CPU" truth demo --seed 1 --frame 100 --horizon 8 --gpu
cp out gpu.tsv
same "the same table wherever" truth.tsv gpu.tsv
exits 0 "what a GPU does not do" truth demo --frame 30 --bits rom:@1F0.7 --gpu
says err "no bits of ROM; using the CPU"
exits 0 "truth at several horizons" truth demo --seed 1 --frame 100 --horizon 1,8 --wrt ram
awk -F '\t' -v OFS='\t' 'NR == 1 || $1 == 8 { print $2, $3, $4, $5, $6, $7 }' out >eighth.tsv
same "the last is the same" truth.tsv eighth.tsv
for group in rom input cpu pc tia riot state; do
  exits 0 "truth of $group" truth demo --frame 30 --wrt $group --score
  says out '	0$'
done
exits 0 "truth of several groups" truth demo --frame 30 --wrt cpu,ram
says out '^cpu:a	0	'
says out '^ram:0	0	'
exits 0 "truth of bits" truth demo --frame 30 --horizon 3 --bits '9C,grp[1].3,rom:@1F0.7,input:2.fire2,pc.12,a'
[ "$(wc -l <out)" = 22 ]
report $? "so many rows"
says out '^ram:28	7	'
says out '^tia:grp\[1\]	3	'
says out '^input:2.fire2	0	'
cp out written.tsv
exits 0 "the same bits with every prefix, and ROM by its address" truth demo --frame 30 --horizon 3 \
  --bits 'ram:9C,grp[1].3,rom:F1F0.7,input:2.fire2,pc.12,a'
same "the same table" written.tsv out
exits 0 "truth of bits together" truth demo --frame 30 --bits 80,81 --together
says out '^all	16	'
exits 0 "truth of pairs" truth demo --frame 30 --bits 80 --pairs
[ "$(wc -l <out)" = 30 ] && grep -q '^0	6	0	7	' out
report $? "a row a pair"
for bits in 7F 9C.8 9C.x ram:7F ram:a rom:1F0 rom:@1000 rom: rom:@ a.8 'grp[2]' 'grp[' input:1.left input:0.jump nothing '' '9C,' cartram:0; do
  exits 2 "no such bit: '$bits'" truth demo --frame 1 --bits "$bits"
  says err "there is no bit"
done
exits 2 "an unknown group" truth demo --wrt ram,rim
says err "not 'rim'"
exits 2 "a group that is empty here" truth demo --wrt cartram
says err "no bits of 'cartram'"
for horizon in 0 2,1 1,,2 x 70000 -1; do
  exits 2 "a bad horizon: $horizon" truth demo --horizon=$horizon
  says err "horizon"
done
exits 2 "both ways to say which" truth demo --wrt ram --bits 9C
exits 2 "two questions at once" truth demo --pairs --together
exits 1 "truth into nowhere" truth demo --frame 1 --out nowhere/x.tsv

# ---- smooth ---------------------------------------------------------------------------------------------------------

exits 0 "smooth" smooth demo --frame 50 --horizon 2 --output region:0,0,160,100 --bits 80,85,8B --samples 20
cp out smooth.tsv
[ "$(wc -l <out)" = 26 ] && [ "$(awk -F '\t' 'NF != 4' out | wc -l)" = 0 ]
report $? "a heading, a row for the output and one a bit, four columns"
tail -n +3 out | awk -F '\t' '{ size = $3 < 0 ? -$3 : $3; if (NR > 1 && size > last) exit 1; last = size }'
report $? "the largest first"
exits 0 "smooth with one thread" smooth demo --frame 50 --horizon 2 --output region:0,0,160,100 --bits 80,85,8B --samples 20 --jobs 1
same "the same table" smooth.tsv out
exits 0 "smooth by the score function, into a file" smooth demo --frame 50 --output ram:85.3 --bits 85 --method score \
  --samples 50 --top 3 --out smooth.tsv.gz
[ "$(gzip -dc smooth.tsv.gz | wc -l)" = 5 ]
report $? "it has the requested number of rows"
exits 0 "smooth at a corner" smooth demo --frame 50 --output ram:FA --bits FA --p 0 --samples 4
says out '^122	7	128	0$'
exits 0 "smooth counts pixels of a colour" smooth demo --frame 50 --output region:0,0,160,200=00 --bits 80 --samples 4
for output in pixel:1 pixel:1,2,3 pixel:160,0 pixel:0,250 region:0,0,0,1 region:1,2,3,4=100 ram:80=10 ram:7F ram:9C.8 ram: lives; do
  exits 2 "no such output: $output" smooth demo --frame 1 --output "$output"
  says err "output"
done
exits 0 "smooth of a pixel" smooth demo --frame 50 --pixel 80,100 --bits 80,85 --samples 4
cp out pixel.tsv
exits 0 "smooth of the region that it is" smooth demo --frame 50 --output region:80,100,1,1 --bits 80,85 --samples 4
same "a pixel is its column and its row" pixel.tsv out
exits 2 "the score of an unknown game" smooth random.bin --frame 1 --output score
says err "needs a game whose rules are known"
exits 2 "an odd number of samples for pairs" smooth demo --frame 1 --output ram:80 --samples 3
exits 2 "a corner with the score function" smooth demo --frame 1 --output ram:80 --method score --p 0
exits 2 "a probability that is none" smooth demo --frame 1 --output ram:80 --p 1.5
exits 2 "a machine that cannot be" smooth demo --frame 1 --output ram:80 --bits pos --p 0.5
says err "cannot be"
exits 2 "several horizons" smooth demo --frame 1 --output ram:80 --horizon 1,2
# ---- grad -----------------------------------------------------------------------------------------------------------

exits 0 "grad of a pixel" grad demo --frame 100 --pixel 80,100 --horizon 2 --out back
says out "^output +pixel:80,100 = [0-9]+$"
says out "^wrote +back/rom.png$"
for file in rom ram inputs; do
  png_is_whole back/$file.png
  report $? "$file.png is a PNG"
done
grep -q '^ROM: ' back/ranking.txt && grep -q '^RAM: ' back/ranking.txt
report $? "the ranking has ROM and RAM"
missing "no heat map backwards" back/heat.png
cat one/same.bin one/same.bin >double.bin
exits 0 "grad of an image" grad one/same.bin --scheme 4k --frame 10 --output screen --horizon 1 --out single
exits 0 "grad of an image that holds its bank twice" grad double.bin --scheme 4k --frame 10 --output screen --horizon 1 --out double
same "draws the bank once" single/rom.png double/rom.png
exits 0 "grad of an input" grad demo --frame 100 --input RIGHT@1 --horizon 3 --out forth
says out "^cause +RIGHT@1$"
png_is_whole forth/heat.png
report $? "heat.png is a PNG"
missing "no ROM map forwards" forth/rom.png
for what in "--output screen" "--output region:10,20,30,40" "--output ram:80" "--output ram:80.7" "--output score" \
  "--bit ram:81.0" "--bit 81.0" "--bit rom:F010.3" "--bit rom:@10.3" "--bit grp[1].0" "--input fire" "--output screen --method bit --scale red" \
  "--output screen --side more --wrt cpu,tia,riot" "--output screen --wrt pc,cartram" "--output screen --wrt state" "--actions NOOP*30,right*3 --output screen"; do
  # shellcheck disable=SC2086
  exits 0 "grad $what" grad demo $what --horizon 1 --out some
  python3 -m json.tool some/grad.json >/dev/null 2>err
  report $? "  writes JSON"
done
exits 0 "a script and the stream of NOOPs" grad demo --actions NOOP*50 --input right --out one
exits 0 "lead to the same" grad demo --frame 50 --input right --out two
same "JSON" one/grad.json two/grad.json
exits 2 "grad of nothing in particular" grad demo --out some
says err "give one cause, --input or --bit"
exits 2 "grad of two things" grad demo --output screen --input right
for what in "--output pixel:3,1000" "--output pixel:3" "--output ram:7F" "--output pixles" "--bit ram:9C" "--bit rom:@FFFFF.0" \
  "--input sideways" "--input right@8" "--output screen --wrt rom,rum" "--output screen --seed 1 --actions NOOP" \
  "--output screen --actions NOOP*x" "--output screen --actions JUMP" "--output screen --method guess"; do
  # shellcheck disable=SC2086
  exits 2 "grad $what" grad demo $what --out some
done
exits 2 "grad of an empty file" grad ./empty.bin --output screen --out some
says err "empty"
exits 2 "grad into a file" grad demo --output screen --out empty.bin
exits 1 "grad into nowhere" grad demo --output screen --out nowhere/some

# ---- score ----------------------------------------------------------------------------------------------------------

small=(--bits 8 --rom-bits 4 --pixels 1 --states 1)
exits 0 "score demo" score demo "${small[@]}" --horizons 1,3 --methods bit --out score.tsv
says out '^\| ram \| 3 \| `bit` \|'
says out '^\| left/right \| 3 \| `bit` \|'
says out '^\| vjp \| 1 \| `bit` \|'
cp score.tsv once.tsv
exits 0 "score it again" score demo "${small[@]}" --horizons 1,3 --methods bit --out score.tsv
same "nothing is done twice" score.tsv once.tsv
exits 0 "with another method" score demo "${small[@]}" --horizons 1,3 --methods bit,bit+fork --out score.tsv
[ "$(wc -l <score.tsv)" = 50 ]
report $? "it is added"
exits 0 "at once, by one thread" score demo "${small[@]}" --horizons 1,3 --methods bit,bit+fork --out other.tsv --jobs 1
sed -i 's/\t[^\t]*$//' score.tsv other.tsv # without what it cost
same "the same table" score.tsv other.tsv
exits 0 "the exact method" score demo "${small[@]}" --horizons 1,3 --methods exact --out exact.tsv
says out '^\| ram \| 3 \| `exact` \| [0-9.e+-]+ \| 1.000 \| 1.000 \| 1.000 \| 1.000 \| 1.000 \| 1.000 '
exits 0 "a table to summarize" score demo "${small[@]}" --horizons 1,3 --methods bit,bit+fork --out score.tsv --fresh
exits 0 "its summary" score --summary score.tsv
says out '^\| ram \| 3 \| `bit\+fork` \|'
exits 2 "other settings" score demo "${small[@]}" --bits 9 --horizons 1,3 --methods bit --out score.tsv
says err "was made with other settings"
exits 0 "other settings in a new table" score demo "${small[@]}" --bits 9 --horizons 1,3 --methods bit --out score.tsv --fresh
exits 2 "horizons backwards" score demo --horizons 3,1
exits 2 "an unknown method" score demo --methods bit,byte
exits 2 "a method twice" score demo "${small[@]}" --methods bit,naive,bit --out twice.tsv
says err "each once"
missing "makes no table" twice.tsv
"$diffvcs" score --help | sed -n 's/^ *diffvcs \(score demo\|score pong\) .*--out \([^ ]*\).*/\2/p' | sort >tables
[ "$(wc -l <tables)" = 2 ] && [ -z "$(uniq -d tables)" ]
report $? "the examples of score do not share a table of other settings"
exits 2 "all and one" score demo --all
printf 'no table\n' >none.tsv
exits 2 "a table that is none" score demo --out none.tsv
exits 2 "a summary of nothing" score --summary nothing.tsv
exits 2 "a game that is none" score no_such_game --bits 1 --roms directory --out other2.tsv
exits 1 "score into nowhere" score demo --bits 1 --out nowhere/score.tsv

# ---- joystick -------------------------------------------------------------------------------------------------------

exits 0 "help of joystick" joystick --help
says out "^examples:"
exits 2 "an unknown option of joystick" joystick --rom x
says err "did you mean --roms"
exits 2 "rows of joystick beyond 2^32" joystick demo --rows 4294967316:4294967476
says err '^diffvcs joystick: --rows takes'
exits 0 "joystick demo" joystick demo --frame 100 --horizon 3 --rows 20:180 --out stick
says out "^\\| RIGHT \\| 3 \\| [0-9]+ \\|"
says out "^\\| .bit\\+fork. \\|.* \\| [A-Z]+ [>=] [A-Z]+ [>=] [A-Z]+ [>=] [A-Z]+ \\|$"
[ "$(wc -l <stick/table.tsv)" = 49 ] && [ "$(awk -F '\t' 'NF != 11' stick/table.tsv | wc -l)" = 0 ]
report $? "4 controls, 3 frames, 4 methods"
png_is_whole stick/right-truth.png && png_is_whole stick/down-bit-fork.png
report $? "its maps are PNGs"
exits 0 "joystick held" joystick demo --actions NOOP*100 --horizon 2 --press 1 --held --out stick
for what in "--rows 5" "--rows 7:7" "--rows 9:1000" "--rows 1:2x" "--horizon 2 --press 2" "--actions JUMP" "--horizon 0"; do
  # shellcheck disable=SC2086
  exits 2 "joystick $what" joystick demo --actions NOOP $what --out stick
done
exits 2 "joystick of no game" joystick no_such_game --roms directory --out stick
exits 2 "joystick into a file" joystick demo --out empty.bin
exits 1 "joystick into nowhere" joystick demo --out nowhere/stick

# ---- edit -----------------------------------------------------------------------------------------------------------

exits 0 "a picture" run demo --frames 60 --screenshot wide.png --zoom 1
exits 2 "edit without a target" edit demo --region 0,0,8,8 --out edited
says err "are needed"
exits 2 "edit with a target of another size" edit demo --target wide.png --region 0,0,8,8 --out edited
says err "is 320x210 pixels, but the region is 8x8"
exits 2 "edit with a target that is none" edit demo --target empty.bin --region 0,0,8,8 --out edited
for region in 1,2,3 -1,0,8,8 0,0,0,8 156,0,8,8 0,300,8,8 0,0,8,8x; do
  exits 2 "edit of the region $region" edit demo --target wide.png --region $region --out edited
done
python3 "$here/draw_png.py" dots.png "#.#.#.#." ".#.#.#.#" "........" "........"
exits 2 "edit into a file" edit demo --target dots.png --region 0,0,8,4 --out empty.bin
exits 1 "edit into nowhere" edit demo --target dots.png --region 0,0,8,4 --out nowhere/edited
exits 2 "edit of one colour" edit demo --frame 60 --target dots.png --region 0,0,8,4 --out edited
exits 2 "edit to a colour that there is not" edit demo --frame 60 --target dots.png --region 0,0,8,4 --exact --out edited

# ---- steer ----------------------------------------------------------------------------------------------------------

exits 0 "steer demo" steer demo --actions NOOP*100 --goal ram:80=200 --horizon 10 --budget 500 --seeds 3 --searches all --out steer.tsv
says out "^\\| guided \\| [0-9.]+ \\|.* of 3 \\|"
[ "$(wc -l <steer.tsv)" = 28 ] && [ "$(awk -F '\t' 'NF != 5' steer.tsv | wc -l)" = 0 ]
report $? "3 seeds, 9 searches"
exits 0 "by one thread" steer demo --actions NOOP*100 --goal ram:80=200 --horizon 10 --budget 500 --seeds 3 --searches all --jobs 1 --out one.tsv
same "the same sequences" steer.tsv one.tsv
actions=$(awk -F '\t' 'END { print $5 }' steer.tsv)
exits 0 "which can be played" grad demo --actions "$actions" --output screen --horizon 1 --out some
exits 0 "steer to a score" steer demo --goal score --horizon 5 --budget 50 --seeds 2 --out steer.tsv
for goal in ram:80 ram:80=256 ram:80=x ram:80.3=1 ram:7F=1 pixel:1,1=3 screen points; do
  exits 2 "steer to $goal" steer demo --actions NOOP --goal $goal --out steer.tsv
done
says err "a goal is score or ram:9C=60"
exits 0 "steer an object" steer demo --actions NOOP*100 --goal "object:player 0 x=90,ram:8F=60" --budget 3000 --seeds 3 --out object.tsv
says out "^\\| horizon \\| 0 \\| 0 \\| 0 \\| 3 of 3 \\|"
exits 2 "steer an object that there is not" steer demo --goal "object:player 7 x=80" --out object.tsv
says err "demo has no 'player 7 x'; there are: player 0 x, player 1 x, .* and [0-9]+ more"
exits 2 "steer an object out of the picture" steer demo --goal "object:player 0 x=160" --out object.tsv
says err "player 0 x cannot be 160: the picture has the pixels 0 to 159"
exits 2 "steer an object where no value puts it" steer demo --goal "object:player 0 y=190" --out object.tsv
says err "player 0 y cannot be 190: no value of byte .8F puts it there"
head -c 4096 /dev/zero >unknown.bin
exits 2 "steer an object of an unknown cartridge" steer unknown.bin --goal "object:player 0 x=80" --out object.tsv
says err "no object of this cartridge is known"
exits 2 "an unknown search" steer demo --goal score --searches exact,best --out steer.tsv
exits 0 "the default search alone" steer demo --goal score --horizon 5 --budget 50 --seeds 1 --out steer.tsv
says out "^\\| horizon \\|"
exits 2 "steer nowhere in particular" steer demo --out steer.tsv
exits 2 "steer with too little" steer demo --goal score --horizon 60 --budget 59
exits 1 "steer into nowhere" steer demo --goal score --out nowhere/steer.tsv

# ---- annotate -------------------------------------------------------------------------------------------------------

brief=(--seeds 1 --depths 1)
exits 0 "annotate" annotate demo "${brief[@]}" --out notes
says out "^demo$"
exits 0 "annotate again does nothing" annotate demo "${brief[@]}" --out notes
[ ! -s out ]
report $? "and prints nothing"
exits 0 "annotate again with a page" annotate demo "${brief[@]}" --out notes --html notes
[ -s notes/demo.html ]
report $? "makes the page"
exits 0 "annotate again with an audit" annotate demo "${brief[@]}" --out notes --audit
says out "^audit demo"
rm notes/demo.json notes/demo.html
mkdir notes/demo.html
exits 1 "a page that cannot be written" annotate demo "${brief[@]}" --out notes --html notes
says err "demo.html"
missing "leaves the game undone" notes/demo.json
[ ! -s out ]
report $? "and does not name it"
mkdir notes/demo.json
exits 1 "JSON that cannot be written" annotate demo "${brief[@]}" --out notes --fresh
says err "demo.json"

# ---- Ctrl-C ---------------------------------------------------------------------------------------------------------

# exec_terminal COMMAND...: becomes the command, as a terminal runs it: what a shell runs in the background ignores SIGINT.
exec_terminal() { exec python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' "$@"; }

# interrupt NAME ARGUMENT...: sends SIGINT after a second; the program must end by itself, with status 1.
interrupt() {
  local name=$1
  shift
  exec_terminal "$diffvcs" "$@" >out 2>err &
  local pid=$!
  sleep 1
  kill -INT $pid
  wait $pid
  [ $? = 1 ]
  report $? "$name"
}
(
  trap '' INT
  exec "$diffvcs" run demo --frames 300000 >out 2>err
) &
pid=$!
sleep 0.5
kill -INT $pid
wait $pid && ! grep -q interrupted err && grep -q '^frames *300000' out
report $? "Ctrl-C that was ignored before the program began does not end it"
interrupt "an interrupted run" run demo --frames 1000000000 --seed 1 --video cut.gif --screenshot cut.png --zoom 1
says err "interrupted after [0-9]+ of 1000000000 frames"
says out "^state +[0-9a-f]{16}$"
gif_is_whole cut.gif
report $? "its video is whole"
png_is_whole cut.png
report $? "its picture is whole"
interrupt "an interrupted record" record demo --frames 1000000000 --stride 10 --seed 5 --out .
exits 0 "what it wrote is exact" verify demo.5.tsv.gz
interrupt "an interrupted trace" trace demo --frames 1000000000 --out trace/demo.tsv
grep -v '^#' trace/demo.tsv | head -2000 | tail -n +2 >rows
[ -s rows ] && [ "$(tail -c 1 trace/demo.tsv | od -An -tx1 | tr -d ' ')" = 0a ]
report $? "what it wrote ends with a whole row"
interrupt "an interrupted truth" truth demo --frame 60 --wrt rom --horizon 3000 --out cut.tsv
says err "interrupted: [0-9]+ of 32768 rows were written"
[ "$(awk -F '\t' 'NF != 6' cut.tsv | wc -l)" = 0 ] && [ -s cut.tsv ]
report $? "its rows are whole"
interrupt "an interrupted smooth" smooth demo --frame 60 --output ram:80 --bits 80 --samples 1000000 --out cut.tsv
says err "interrupted after [0-9]+ of 1000000 draws"
[ "$(awk -F '\t' 'NF != 4' cut.tsv | wc -l)" = 0 ] && [ -s cut.tsv ]
report $? "its table is whole"
awk -F '\t' -v OFS='\t' '$1 == 400 { $1 = 900000000 } { print }' demo.1.tsv >flipped/demo.1.tsv
interrupt "an interrupted verify" verify flipped/demo.1.tsv
says out "^demo.1 interrupted, equal up to frame 300$"
interrupt "an interrupted score" score demo --horizons 1,1000 --out score_cut.tsv
says err "interrupted: 0 of 1 games"
exits 0 "its table is whole" score --summary score_cut.tsv
interrupt "an interrupted joystick" joystick demo --actions NOOP*100000000 --out stick_cut
says err "interrupted: nothing was written"
[ ! -f dots.png ] ||
  interrupt "an interrupted edit" edit demo --actions NOOP*100000000 --target dots.png --region 0,0,8,4 --out edit_cut
interrupt "an interrupted steer" steer demo --goal score --horizon 60 --budget 1000000000 --out steer_cut.tsv
missing "it wrote nothing" steer_cut.tsv
no_drafts "no drafts are left behind"
missing "nothing was written into nowhere" nowhere

# ---- Real games -----------------------------------------------------------------------------------------------------

if [ -n "$roms" ] && [ -e "$roms/pong.bin" ] && [ -e "$roms/breakout.bin" ]; then
  exits 0 "info pong" info pong
  says out "^game +pong$"
  says out "^controllers +paddles"
  exits 0 "info by path" info "$roms/pong.bin" --json
  says out '"md5": "60e0ea3cbe0913d39803477945e9e5ec"'
  for profile in xitari ale; do
    mkdir -p real/$profile
    exits 0 "record games as $profile" record pong breakout --profile $profile --seed 2 --frames 500 --out real/$profile
    exits 0 "verify them, whose profile they name" verify real/$profile/pong.2.tsv.gz real/$profile/breakout.2.tsv.gz
    says out "^pong.2 exact 500 frames$"
  done
  mkdir -p real/named && gzip -dc real/xitari/pong.2.tsv.gz | sed '1s/xitari/ale/' >real/named/pong.2.tsv
  exits 1 "the record of another profile" verify real/named/pong.2.tsv
  sed -i '1s/ profile=ale//' real/named/pong.2.tsv
  exits 0 "a record without a profile is one of the reference" verify real/named/pong.2.tsv
  cp real/xitari/pong.2.tsv.gz real/breakout.2.tsv.gz
  exits 1 "the record of another game" verify real/breakout.2.tsv.gz
  says out "^breakout.2 differs at boot: RAM screen"
  exits 0 "episodes and scores" run pong --seed 1 --frames 4000
  says out "^episodes +1 over, one under way$"
  says out "^scores +-21 "
  grep '^state' out >state.plain
  exits 0 "the same, drawn" run pong --seed 1 --frames 4000 --screenshot pong.png
  grep '^state' out >state.drawn
  same "drawing does not change the state of pong" state.plain state.drawn
  exits 0 "an instruction record" record pong --cpu --instructions 100000 --out real
  exits 0 "is exact" verify real/pong.tsv.gz
  says out "^pong exact 100000 instructions$"
else
  lacks roms "real games (set DIFFVCS_ROMS to a directory with pong.bin and breakout.bin)"
fi

echo "1..$tests"
echo "test_cli: $((tests - failures)) of $tests ok"
[ "$failures" = 0 ]
