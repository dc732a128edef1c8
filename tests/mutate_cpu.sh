#!/usr/bin/env bash
# mutate_cpu.sh: do the CPU tests notice when the CPU is wrong?
#
#   tests/mutate_cpu.sh [rows | text [PART/PARTS]]     both, unless one is named; a minute, and fifteen of processor time
#
# `text` is divided into as many parts as there are processors; text 1/4 tests every fourth mutant, from the second on.
# Not part of `make test`. Nothing in the source tree is changed: it is copied to a temporary folder, and the core
# headers are made wrong there.
#
# rows   One build with a hook in the macro that expands a row of cpu_ops.h; test_cpu's other main (-DVCS_MUTANTS) then
#        makes every opcode wrong by itself: one cycle more, one less, and each of the six flags left alone where it
#        should be set, or cleared where it should be left alone. 256 x 8 mutants.
# text   One build for every place in the operations of cpu.h and bits.h where an edit from the list below applies: a
#        statement that sets a flag is dropped, a condition turned round, a bit number or constant moved by one.
#        The mutant is killed when test_cpu fails, or when it does not compile or finish.
#
# Prints `N mutants, N killed` for both, each survivor with its line, and fails if there is one. Survivors that cannot
# be noticed, because the edit does not change what the function computes, are listed in `equivalent` with the reason.
# CC chooses the compiler.
set -u
cc=${CC:-cc}
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
root="$work/tree"
flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -O0 -w)
status=0

mkdir -p "$work/mutant" "$work/objects" "$root/tests"
cp -r "$source/src" "$source/include" "$root/"
cp "$source/tests/test_cpu.c" "$source/tests/board.h" "$source/tests/noise.h" "$root/tests/"
cp -r "$root/src/core" "$work/mutant/core"

# Everything that does not contain the CPU is compiled once.
for file in "$root"/src/host/*.c; do
  case "$(basename "$file")" in machine.c | asleep.c) continue ;; esac
  "$cc" "${flags[@]}" -I"$root/include" -I"$root/src" -c "$file" -o "$work/objects/$(basename "$file" .c).o" || exit 2
done
ar rcs "$work/host.a" "$work"/objects/*.o

build_machine() {
  for file in machine asleep; do
    "$cc" "${flags[@]}" -I"$root/include" -I"$work/mutant" -I"$root/src" -c "$root/src/host/$file.c" -o "$work/$file.o" \
      2> /dev/null || return 1
  done
}

link_test() { # object, program
  "$cc" "$1" "$work/machine.o" "$work/asleep.o" "$work/host.a" -lz -lpng -lpthread -lm -lcmocka -o "$2" 2> /dev/null
}

# ---- rows -----------------------------------------------------------------------------------------------------------
mutate_rows() {
  # cost becomes cost + 1 or - 1 for the mutant's code; after the operation its flags are spoilt
  cat > "$work/hook.sed" << 'END'
s|^#define VCS_CASE(code, operation, mode, access, cost).*|extern int vcs_mutant_code, vcs_mutant_what;\
#include "mutant.h"\
&|
s|^    cpu->time += VCS_COST(cost); .*|    vcs_mutant_begin(cpu, code);\\\
    cpu->time += VCS_COST(cost + vcs_mutant_cycles(code));\\|
s|^    VCS_CASE_##access(operation, mode) break;|    VCS_CASE_##access(operation, mode)\\\
    vcs_mutant_end(cpu, code);\\\
    break;|
END
  sed -i -f "$work/hook.sed" "$work/mutant/core/cpu.h"
  cat > "$work/mutant/core/mutant.h" << 'END'
static vcs_cpu_t vcs_mutant_before;
static inline void vcs_mutant_begin(const vcs_cpu_t *cpu, int code) {
  if (vcs_mutant_code == code) vcs_mutant_before = *cpu;
}
static inline int vcs_mutant_cycles(int code) {
  return vcs_mutant_code != code ? 0 : vcs_mutant_what == '+' ? 1 : vcs_mutant_what == '-' ? -1 : 0;
}
static inline void vcs_mutant_end(vcs_cpu_t *cpu, int code) {
  if (vcs_mutant_code != code) return;
  switch (vcs_mutant_what) {
    case 'n': vcs_cpu_set_nz(cpu, vcs_mutant_before.nz & 0x8080 ? 0x80 : 0, !vcs_cpu_is_zero(cpu)); break;
    case 'v': cpu->v = vcs_mutant_before.v; break;
    case 'd': cpu->d = vcs_mutant_before.d; break;
    case 'i': cpu->i = vcs_mutant_before.i; break;
    case 'z': vcs_cpu_set_nz(cpu, cpu->nz & 0x8080 ? 0x80 : 0, (vcs_mutant_before.nz & 0xFF) != 0); break;
    case 'c': cpu->c = vcs_mutant_before.c; break;
    case 'N': vcs_cpu_set_nz(cpu, 0, !vcs_cpu_is_zero(cpu)); break;
    case 'V': cpu->v = 0; break;
    case 'D': cpu->d = 0; break;
    case 'I': cpu->i = 0; break;
    case 'Z': vcs_cpu_set_nz(cpu, cpu->nz & 0x8080 ? 0x80 : 0, 1); break;
    case 'C': cpu->c = 0; break;
    default: break;
  }
}
END
  grep -q vcs_mutant_cycles "$work/mutant/core/cpu.h" && grep -q vcs_mutant_end "$work/mutant/core/cpu.h" || {
    echo "rows: cpu.h has changed, the hook found no place" >&2
    return 2
  }
  "$cc" "${flags[@]}" -O1 -DVCS_MUTANTS -I"$root/include" -I"$root/src" -c "$root/tests/test_cpu.c" -o "$work/rows.o" || return 2
  build_machine && link_test "$work/rows.o" "$work/rows" || {
    echo "rows: the hooked headers do not compile" >&2
    return 2
  }
  printf 'rows: '
  "$work/rows"
  result=$?
  rm -r "$work/mutant/core"
  cp -r "$root/src/core" "$work/mutant/core"
  return $result
}

# ---- text -----------------------------------------------------------------------------------------------------------
# One edit a line, as sed's s command; each is applied to each line of the operations where it changes something.
edits() {
  cat << 'END'
s/cpu->nz = [^;]*;//
s/vcs_cpu_set_nz([^;]*);//
s/cpu->v = [^;]*;//
s/cpu->c = [^;]*;//
s/cpu->[di] = [^;]*;//
s/r\.z = value;/r.z = 1;/
s/r\.v = v;/r.v = 0;/
s/r\.c = c;/r.c = 0;/
s/vcs_cpu_nzcv(cpu, vcs/vcs_cpu_nzc(cpu, vcs/
s/vcs_cpu_nzc(cpu, \(vcs_alu_.*\)); }/(\1).value; }/
s/{ vcs_cpu_nzc(cpu, \(vcs_alu_.*\)); }/{ (void)(\1); }/
s/vcs_cpu_nz(cpu, /(void)(/
s/result\.c = 1/result.c = 0/
s/ >> 7/ >> 6/
s/ >> 6/ >> 5/
s/ >> 5/ >> 4/
s/ >> 1/ >> 2/
s/ >> 3/ >> 4/
s/ >> 2/ >> 3/
s/ << 7/ << 6/
s/ << 1/ << 2/
s/ >> 8/ >> 7/
s/ >= / > /
s/ > / >= /
s/ < 0/ <= 0/
s/ != 0/ == 0/
s/ == 0/ != 0/
s/return !/return /
s/return \(cpu->[vc]\)/return !\1/
s/return \(vcs_cpu_is\)/return !\1/
s/ + carry/ - carry/
s/ + 1)/ + 2)/
s/++b/b/
s/--b/b/
s/++cpu->[xy]/cpu->x/
s/--cpu->[xy]/cpu->x/
s/~b/b/
s/ & b/ | b/
s/ &= b/ |= b/
s/ |= b/ \&= b/
s/ ^= b/ |= b/
s/0xEE/0xEF/
s/ & 0x0F/ \& 0x07/
s/ & 0xF0/ \& 0x70/
s/ 0x05/ 0x04/
s/ 0x50/ 0x40/
s/ 0x06/ 0x05/
s/ 0x60/ 0x50/
s/ 99/ 98/
s/+= 100/+= 99/
s/\* 10 /* 16 /
s/% 100/% 110/
s/256 + /255 + /
s/(1 - carry)/carry/
s/ & 0xFF)/)/
s/ - b)/ + b)/
s/= 0; }$/= 1; }/
s/= 1; }$/= 0; }/
s/, true); }/, false); }/
s/, true);$/, false);/
s/, false);$/, true);/
s/vcs_cpu_touch_stack(VCS_HERE);//
s/++cpu->sp/cpu->sp++/
s/cpu->sp--/--cpu->sp/
s/cpu->i = 1;//
s/vcs_cpu_fetch(VCS_HERE);$//
s/0xFFFE, 0xFFFF/0xFFFC, 0xFFFD/
s/ ? 2 : 1/ ? 1 : 1/
s/ ? 2 : 1/ ? 2 : 2/
s/cpu->time += VCS_CYCLES(1)/(void)0/
s/(VCS_HERE, true);  /(VCS_HERE, false); /
s/(VCS_HERE, false);  /(VCS_HERE, true); /
s/(uint8_t)(pointer + 1)/(pointer + 1)/
s/(uint8_t)(vcs_cpu_fetch(VCS_HERE) + cpu->\([xy]\))/(vcs_cpu_fetch(VCS_HERE) + cpu->\1)/
s/jammed = true/jammed = false/
s/cpu->a & cpu->x/cpu->a/
s/cpu->sp = cpu->a/cpu->sp = cpu->x/
s/cpu->a = cpu->x = /cpu->a = /
s/, cpu->a))/, cpu->x))/
s/, cpu->x))/, cpu->y))/
s/, cpu->y))/, cpu->a))/
s/, cpu->c)/, 0)/
s/, cpu->d)/, 0)/
END
}

# Edits that change nothing: the edit, a piece of the line, and why.
equivalent() {
  cat << 'END'
s/ > / >= /@@(both & 0x0F) + (both & 0x01) > 0x05@@the sum is even
s/ > / >= /@@(both & 0xF0) + (both & 0x10) > 0x50@@the sum is a multiple of 32
s/ 0x05/ 0x04/@@(both & 0x0F) + (both & 0x01) > 0x05@@the sum is even
s/ 0x50/ 0x40/@@(both & 0xF0) + (both & 0x10) > 0x50@@the sum is a multiple of 32
s/ < 0/ <= 0/@@if (difference < 0) difference += 100;@@100 is written as 00
s/ < 0/ <= 0/@@uint8_t r = difference < 0 ?@@0 is the same number in both spellings
s/, false);$/, true);/@@#define VCS_CASE_JUMP(@@the modes of JMP have no index, nothing is crossed
s/(uint8_t)(vcs_cpu_fetch(VCS_HERE) + cpu->\([xy]\))/(vcs_cpu_fetch(VCS_HERE) + cpu->\1)/@@uint8_t pointer =@@a byte
END
}

is_equivalent() { # edit, line
  equivalent | edit="$1" line="$2" awk -F@@ '
    $1 == ENVIRON["edit"] && index(ENVIRON["line"], $2) { found = 1 }
    END { exit !found }'
}

survives() {
  build_machine && link_test "$work/rows.o" "$work/rows" && timeout 60 "$work/rows" look > /dev/null 2>&1 &&
    link_test "$work/test_cpu.o" "$work/test_cpu" && timeout 60 "$work/test_cpu" > /dev/null 2>&1
}

mutate_text() { # part, parts
  mutants=0 killed=0 number=0
  # a first look with the comparison alone, which is over at the first difference, then the whole test
  "$cc" "${flags[@]}" -O1 -DVCS_MUTANTS -I"$root/include" -I"$root/src" -c "$root/tests/test_cpu.c" -o "$work/rows.o" || return 2
  "$cc" "${flags[@]}" -O1 -I"$root/include" -I"$root/src" -c "$root/tests/test_cpu.c" -o "$work/test_cpu.o" || return 2
  survives || {
    echo "text: the tests fail without a mutation" >&2
    return 2
  }
  edits > "$work/edits"
  for file in bits.h cpu.h; do
    original="$root/src/core/$file"
    # the operations: from the first function to the end of the last
    if [ $file = bits.h ]; then
      first=$(grep -n 'VCS_FN vcs_alu_t vcs_alu_result' "$original" | cut -d: -f1)
      last=$(grep -n 'Bit order reversed' "$original" | cut -d: -f1)
    else
      first=$(grep -n 'vcs_cpu_status(const' "$original" | cut -d: -f1)
      last=$(grep -n 'Executes one instruction' "$original" | cut -d: -f1)
    fi
    while IFS= read -r edit; do
      # the lines that the edit changes, comments aside
      sed "$edit" "$original" |
        awk -v first="$first" -v last="$last" '
          NR == FNR { old[FNR] = $0; next }
          FNR >= first && FNR < last && old[FNR] != $0 && old[FNR] !~ /^ *(\/\*|\*)/ { print FNR }
        ' "$original" - > "$work/places"
      while IFS= read -r line; do
        text=$(sed -n "${line}{s/^ *//;p;}" "$original")
        is_equivalent "$edit" "$text" && continue
        number=$((number + 1))
        [ $((number % $2)) = "$1" ] || continue
        sed "${line}$edit" "$original" > "$work/mutant/core/$file"
        mutants=$((mutants + 1))
        if survives; then
          printf 'survived: %s:%s: %s: %s\n' "$file" "$line" "$edit" "$text"
        else
          killed=$((killed + 1))
        fi
      done < "$work/places"
    done < "$work/edits"
    cp "$original" "$work/mutant/core/$file"
  done
  echo "text: $mutants mutants, $killed killed"
  [ $mutants -gt 0 ] && [ $mutants -eq $killed ]
}

all_parts() {
  local parts jobs=() part result=0
  parts=$(nproc)
  for ((part = 0; part < parts; part++)); do
    "$source/tests/mutate_cpu.sh" text "$part/$parts" &
    jobs+=($!)
  done
  for part in "${jobs[@]}"; do wait "$part" || result=1; done
  return $result
}

case "${1:-both}" in
  rows) mutate_rows || status=1 ;;
  text)
    if [ $# -gt 1 ]; then mutate_text "${2%/*}" "${2#*/}" || status=1; else all_parts || status=1; fi
    ;;
  both)
    mutate_rows || status=1
    all_parts || status=1
    ;;
  *)
    echo "usage: $0 [rows | text [PART/PARTS]]" >&2
    exit 2
    ;;
esac
exit $status
