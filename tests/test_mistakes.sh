#!/bin/bash
# test_mistakes: typical mistakes on the command line. Each is a line of the table: exit status, words that the message must have
# (an extended regular expression), and the command line. The message is on stderr, begins with the name of the program, and
# has at most a few lines; no file is left behind; and no command ends by a signal. $DIFFVCS is the program; tests/CMakeLists.txt runs
# this for every build, the one with sanitizers included.
diffvcs=${DIFFVCS:?set DIFFVCS to the path of the program}
tmp=$(mktemp -d) || exit 1
alone=$(mktemp -d) || exit 1 # a copy of the program, away from the .venv beside the build, where ROM images may be
trap 'rm -rf "$tmp" "$alone"' EXIT
cp "$diffvcs" "$alone/diffvcs" || exit 1
diffvcs=$alone/diffvcs
PATH=/usr/bin:/bin
cd "$tmp" || exit 1
mkdir empty
printf x >tiny.bin
: >nothing.bin
printf 'no picture' >text.png
printf 'no patch' >text.ips
printf 'JUMP\n' >moves.txt
printf '\n' >blank.txt
unset DIFFVCS_ROMS ALE_ROMS_DIR
lines=0
failures=0

# STATUS ; WORDS ; ARGUMENTS
while IFS=';' read -r status words arguments; do
  [ -n "$status" ] || continue
  lines=$((lines + 1))
  before=$(find . | sort)
  # shellcheck disable=SC2086
  eval "\"\$diffvcs\" $arguments" >out 2>err </dev/null
  got=$?
  rm -f out.kept && mv out out.kept
  problem=
  [ "$got" = "$status" ] || problem="exit status $got, not $status"
  grep -Eq -- "$words" err || problem="$problem; the answer has no /$words/"
  grep -q "^diffvcs" err || problem="$problem; the answer does not begin with the program's name"
  [ "$(wc -l <err)" -le 10 ] || problem="$problem; the answer has $(wc -l <err) lines"
  [ "$(find . ! -name out.kept ! -name err ! -name out | sort)" = "$(echo "$before" | grep -v -e '/out.kept$' -e '/err$' -e '/out$')" ] || problem="$problem; something was left behind"
  if [ -n "$problem" ]; then
    failures=$((failures + 1))
    echo "not ok $lines - diffvcs $arguments: $problem"
    sed 's/^/#   /' err
  else
    echo "ok $lines - diffvcs $arguments"
  fi
done <<'TABLE'
2;no command 'rnu'. did you mean run;rnu demo
2;'diffvcs --help' lists them;frobnicate
2;did you mean diffvcs play pong, or diffvcs run pong;pong
2;did you mean diffvcs play demo;demo --frames 10
2;did you mean diffvcs play ./tiny.bin;./tiny.bin
2;ROM is missing;run
2;no option --frame.*did you mean --frames;run demo --frame 10
2;no option --rom. did you mean --roms;run pong --rom empty
2;options are spelled out;run demo -f 10
2;--frames takes a whole number, not 'ten';run demo --frames ten
2;--frames must be 0 to .*, not -1;run demo --frames -1
2;--frames needs a value;run demo --frames
2;--jobs must be 0 to 4096, not -5;truth demo --jobs -5
2;--jobs must be 0 to 4096, not -5;score demo --jobs -5
2;--jobs must be 0 to 4096, not -5;steer demo --goal score --jobs -5
2;--jobs must be 0 to 4096, not -5;annotate demo --jobs -5
2;--jobs must be 0 to 4096, not -5;record demo --jobs -5
2;--jobs must be 0 to 4096, not -5;verify a.tsv --jobs -5
2;--jobs must be 0 to 4096, not -5;smooth demo --output ram:80 --jobs -5
2;--jobs must be 0 to 4096, not -5;paper --jobs -5
2;'pong' is one argument too many;run demo pong
2;--profile must be one of ale.xitari.fixed, not 'stella';run demo --profile stella
2;no ROM image 'ponk'. did you mean pong;run ponk
2;pip install ale-py;run pong --roms empty
2;directory of ROM images './nowhere' does not exist;run pong --roms ./nowhere
2;directory of ROM images './nowhere' does not exist;run demo --roms ./nowhere
2;directory of ROM images '/dev/null' is not a directory;run demo --roms /dev/null
2;cannot read ./nowhere.ips: No such file;run demo --patch ./nowhere.ips
2;no such ROM image: roms/pong.bin;info roms/pong.bin
2;empty is a directory;info ./empty
2;empty;info ./nothing.bin
2;scheme|size|bytes;info ./tiny.bin --scheme F8
2;name must end with .png;run demo --frames 1 --screenshot shot.jpg
2;name must end with .mp4 or .gif;run demo --frames 1 --video video.avi
2;name must end with .wav;run demo --frames 1 --wav sound.mp3
1;cannot write nowhere/shot.png: No such file;run demo --frames 1 --screenshot nowhere/shot.png
2;JUMP;run demo --actions moves.txt
2;has no actions;run demo --actions blank.txt
2;--seed and --actions;run demo --seed 1 --actions moves.txt
2;cannot read text.ips|text.ips.*patch;run demo --patch text.ips
2;RECORD is missing;verify
2;GAME;record
2;there is no bit '7F';truth demo --bits 7F
2;not 'rim';truth demo --wrt rim
2;--wrt and --bits both choose bits;truth demo --wrt ram --bits 9C
2;--horizon takes a number of frames;truth demo --horizon 0
2;no option --frames. did you mean --frame;truth demo --frames 10
2;give one cause;grad demo
2;give one cause;grad demo --input right --pixel 1,1
2;an input is one of up, down;grad demo --input rigth
2;the run has the frames 0 to 7;grad demo --input right@8
2;'9C' is 8 bits. one bit is written as ram:9C.3;grad demo --bit 9C
2;there is no bit 'rom:1F0.7'.*rom:@1F0.4 .an offset;truth demo --bits rom:1F0.7
2;an output is pixel:X,Y;grad demo --output pixels
2;outside the picture: X .the column. is 0 to 159;grad demo --pixel 160,3
2;--wrt takes ram, rom, input;grad demo --output screen --wrt rams
2;--out must be a directory;grad demo --pixel 3,3 --out text.png
1;cannot make the directory nowhere/maps;grad demo --pixel 3,3 --out nowhere/maps
2;choose one output;explain demo
2;choose one output;explain demo --pixel 1,1 --score
2;an output is pixel:X,Y;explain demo --pixel 80
2;--object takes P0, P1;explain demo --object P9
2;fewer than 8 frames before it;explain demo --pixel 1,1 --frame 3
2;--target .a drawing. and one of;edit demo
2;cannot read heart.png;edit demo --target heart.png --pixel 1,1
2;text.png;edit demo --target text.png --pixel 1,1
2;--pixel takes X,Y;edit demo --target text.png --pixel 1
2;--goal is needed;steer demo
2;a goal is score or ram:9C=60;steer demo --goal win
2;demo has no 'ball z'. there are: player 0 x;steer demo --goal "object:ball z=3"
2;--methods takes some of naive;score demo --methods bits
2;GAME is missing: which games;score
2;did you mean|there are;paper --only tabel --out paper
2;ale-py|space_invaders;paper --only joystick --out paper --roms empty
2;no ROM image 'ponk'. did you mean pong;record ponk --out records/
2;no ROM image 'ponk'. did you mean pong;record demo ponk --out records
2;--out must be a directory;record demo demo --out text.png
2;GAME is missing;annotate --out notes --html pages
2;no ROM image 'ponk';annotate ponk --out notes --html pages
2;the run has the frames 0 to 7;joystick demo --press 8 --out stick
2;no option --frames;steer demo --goal score --frames 60
TABLE
echo "test_mistakes: $lines mistakes, $failures failed"
[ "$lines" -ge 40 ] && [ "$failures" = 0 ]
