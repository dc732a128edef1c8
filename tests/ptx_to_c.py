"""Translates the PTX of a kernel to C, so that what nvcc made of the GPU's code runs on a computer without a GPU.

    ptx_to_c.py IN.ptx OUT.c

Each function of the PTX becomes a C function over 64-bit words, instruction by instruction, and each kernel a function
`ptx_NAME(ptx_launch_t *)`. One thread runs at a time: a vote sees only its own predicate, and `ballot` answers the mask that the
caller chose. What differs between a processor and a GPU is checked in each access: its alignment, and that a pointer which the
compiler takes for one to local (or global) memory is one. Shifts by the width of a word or more give zero, as on a GPU. Local
memory starts at address 0 of its own window, and holds 0xA5 before it is written.
"""

import re
import sys

PRELUDE = r"""
#include "ptx_launch.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ptx_launch_t L;
static void fail(const char *where, const char *what, uint64_t address) {
  fprintf(stderr, "ptx: %s: %s (%#llx)\n", where, what, (unsigned long long)address);
  abort();
}
static int is_local(const L *l, uint64_t a) { return a - (uint64_t)l->window < PTX_LOCAL_BYTES; }
static uint64_t at(const L *l, const char *f, uint64_t a, unsigned size) {
  (void)l;
  if (a % size) fail(f, "misaligned address", a);
  return a;
}
static uint64_t at_global(const L *l, const char *f, uint64_t a, unsigned size) {
  if (is_local(l, a)) fail(f, "a local address is taken for a global one", a);
  return at(l, f, a, size);
}
static uint64_t at_local(const L *l, const char *f, uint64_t a, unsigned size) {
  if (a >= PTX_LOCAL_BYTES) fail(f, "not a local address", a);
  return at(l, f, a + (uint64_t)l->window, size);
}
static uint64_t to_global(const L *l, const char *f, uint64_t a) {
  if (is_local(l, a)) fail(f, "a local address is taken for a global one", a);
  return a;
}
static uint64_t to_local(const L *l, const char *f, uint64_t a) {
  if (!a) return 1ULL << 63; /* a null pointer, which the code may compare, but not follow */
  if (!is_local(l, a)) fail(f, "an address is taken for a local one", a);
  return a - (uint64_t)l->window;
}
static uint64_t enter(L *l, const char *f, unsigned size, unsigned align) {
  l->sp = (l->sp + align - 1) / align * align;
  const uint64_t depot = l->sp;
  l->sp += size;
  if (l->sp > PTX_LOCAL_BYTES) fail(f, "no local memory is left", l->sp);
  memset(l->window + depot, 0xA5, size);
  return depot;
}
#define SHL(type, bits, a, n) ((n) >= bits ? (type)0 : (type)((type)(a) << (n)))
#define SHR(type, bits, a, n) ((n) >= bits ? (type)0 : (type)((type)(a) >> (n)))
#define SAR(type, bits, a, n) ((type)((type)(a) >> ((n) >= bits ? bits - 1 : (n))))
static uint32_t prmt(uint32_t a, uint32_t b, uint32_t s) {
  const uint64_t both = (uint64_t)b << 32 | a;
  uint32_t out = 0;
  for (int i = 0; i < 4; i++) {
    const uint32_t k = s >> 4 * i & 15, byte = both >> 8 * (k & 7) & 255;
    out |= (k & 8 ? (byte & 128 ? 255u : 0) : byte) << 8 * i;
  }
  return out;
}
static uint64_t bfi(uint64_t a, uint64_t b, unsigned pos, unsigned len, unsigned bits) {
  for (unsigned i = 0; i < len && pos + i < bits; i++)
    b = (b & ~(1ULL << (pos + i))) | (a >> i & 1) << (pos + i);
  return b;
}
static inline double from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, 8);
  return value;
}
static uint32_t brev(uint32_t a) {
  uint32_t out = 0;
  for (int i = 0; i < 32; i++) out |= (a >> i & 1) << (31 - i);
  return out;
}
"""

KINDS = {"rd": "uint64_t", "rs": "uint16_t", "r": "uint32_t", "p": "uint8_t", "fd": "double", "f": "float"}


def ctype(word: str) -> str:
    if word == "pred":
        return "uint8_t"
    if word == "f64":
        return "double"
    return ("int" if word[0] == "s" else "uint") + word[1:] + "_t"


def bits(word: str) -> int:
    return int(word[1:])


def register(word: str) -> str:
    word = word.strip()
    if word in ("%SP", "%SPL"):
        return word[1:]
    if word.startswith("%") and "." in word:
        return "l->" + word[1:].replace(".", "_")
    if word.startswith("%"):
        return word[1:]
    if re.fullmatch(r"-?\d+", word):
        return word + ("ULL" if not word.startswith("-") else "LL")
    if word.startswith("0d"):
        return f"from_bits(0x{word[2:]}ULL)"
    return f"(uint64_t){word}"


class Function:
    def __init__(self, name: str, short: str) -> None:
        self.name, self.short, self.lines, self.params, self.returns = name, short, [], [], False
        self.registers: list[str] = []
        self.depot = ""
        self.is_kernel = False

    def address(self, text: str, space: str, size: int) -> str:
        base, _, offset = text.strip()[1:-1].partition("+")
        where = f"{register(base)} + ({int(offset or 0)})"
        check = {"global": "at_global", "local": "at_local"}.get(space, "at")
        return f'{check}(l, "{self.short}", {where}, {size})'

    def put(self, line: str) -> None:
        self.lines.append(line)

    def access(self, parts: list[str], operands: str) -> None:
        space = next((p for p in parts if p in ("global", "local", "param", "shared")), "")
        kind = parts[-1]
        width = next((int(p[1]) for p in parts if re.fullmatch(r"v[24]", p)), 1)
        size = width * bits(kind) // 8
        loads = parts[0] == "ld"
        if loads and width > 1:
            values, place = re.fullmatch(r"\{(.*)\},\s*(\[.*\])", operands).groups()
        elif loads:
            values, place = operands.rsplit(",", 1)
        elif width > 1:
            place, values = re.fullmatch(r"(\[.*?\]),\s*\{(.*)\}", operands).groups()
        else:
            place, values = operands.split(",", 1)
        inner = place.strip()[1:-1]
        name = inner.split("+")[0]
        if space == "param" and not name.startswith("%"):
            offset = int(inner.partition("+")[2] or 0)
            where = f"(uint64_t)({name}) + {offset}"
        else:
            where = self.address(place, space, size)
        self.put(f"{{ const uint64_t a_ = {where};")
        for i, value in enumerate(v.strip() for v in values.split(",")):
            cell = f"*({ctype(kind)} *)(a_ + {i * bits(kind) // 8})"
            if loads:
                if value != "_":
                    self.put(f"  {register(value)} = ({'int64_t' if kind[0] == 's' else 'uint64_t'}){cell};")
            else:
                self.put(f"  {cell} = ({ctype(kind)})({register(value)});")
        self.put("}")

    def instruction(self, text: str) -> None:
        text = re.sub(r"\s+", " ", text.strip())
        if not text or text.startswith((".pragma", ".reg .b32 temp")):
            return
        guard = re.match(r"@(!?)%(p\d+) ", text)
        if guard:
            self.put(f"if ({guard[1]}{guard[2]})")
            text = text[guard.end() :]
        name, _, rest = text.partition(" ")
        parts = name.split(".")
        op, kind = parts[0], parts[-1]
        if name == ".param":
            words = rest.split()
            self.put(f"_Alignas(16) uint8_t {words[-1].split('[')[0]}[64];")
            return
        if op in ("ld", "st"):
            self.access(parts, rest)
            return
        if op == "bra":
            self.put(f"goto {rest.replace('$', '')};")
            return
        if op == "ret":
            self.put("{ l->sp = sp_; return; }")
            return
        if op == "call":
            call = re.fullmatch(r"(?:\((\w+)\), )?(\w+)(?:, \((.*)\))?", rest.strip())
            passed = [w.strip() for w in (call[3] or "").split(",") if w.strip()]
            self.put(f"{call[2]}({', '.join(['l', call[1] or '0'] + passed)});")
            return
        if op == "bar":
            return
        if op == "vote":
            to, own, _ = (w.strip() for w in rest.split(","))
            self.put(f"{register(to)} = {'l->mask' if 'ballot' in parts else register(own)};")
            return
        if op == "mov" and "{" in rest:  # packs or unpacks two halves
            half = bits(kind) // 2
            packed = re.fullmatch(r"(\S+), \{(\S+), (\S+)\}", rest)
            if packed:
                self.put(f"{register(packed[1])} = (uint64_t){register(packed[3])} << {half} | {register(packed[2])};")
            else:
                low, high, value = re.fullmatch(r"\{(\S+), (\S+)\}, (\S+)", rest).groups()
                self.put(f"{register(low)} = {register(value)}; {register(high)} = {register(value)} >> {half};")
            return
        words = [w.strip() for w in rest.split(",")]
        to = register(words[0])
        if op == "mov" and words[1].startswith("__local_depot"):
            self.put(f'{to} = enter(l, "{self.short}", {self.depot});')
            return
        if name == "mov.b64" and (words[0].startswith("%fd") or words[1].startswith("%fd")):
            self.put(f"memcpy(&{to}, &{register(words[1])}, 8);")
            return
        a = [register(w) for w in words[1:]]
        self.put(f"{to} = {self.value(op, parts, kind, a)};")

    def value(self, op: str, parts: list[str], kind: str, a: list[str]) -> str:
        if op == "mov":
            return a[0]
        if op == "cvta":
            if "to" in parts:
                return f'to_{parts[2]}(l, "{self.short}", {a[0]})'
            return f"{a[0]} + (uint64_t)l->window"
        if op == "selp":
            return f"{a[2]} ? {a[0]} : {a[1]}"
        t = ctype(kind)
        if op == "cvt":
            if parts[1] == "rzi":
                return f"(int32_t)trunc({a[0]})"
            if parts[-2] == "f64":
                return f"(double)({t}){a[0]}"
            return f"({ctype(parts[-2])})({t}){a[0]}"
        if op == "setp":
            sign = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[parts[1]]
            return f"({t}){a[0]} {sign} ({t}){a[1]}"
        if op == "not":
            return f"!{a[0]}" if kind == "pred" else f"({t})~({t}){a[0]}"
        if op == "neg":
            return f"(u{t if t[0] == 'i' else t[1:]})(0 - (uint64_t){a[0]})"
        if op in ("add", "sub", "mul", "div") and kind == "f64":
            return f"{a[0]} {dict(add='+', sub='-', mul='*', div='/')[op]} {a[1]}"
        if op in ("add", "sub", "and", "or", "xor"):
            sign = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}[op]
            return f"(uint64_t){a[0]} {sign} (uint64_t){a[1]}"
        if op == "mul" and parts[1] == "wide":
            wide = ctype(kind[0] + str(2 * bits(kind)))
            return f"({wide})({t}){a[0]} * ({wide})({t}){a[1]}"
        if op == "mul" and parts[1] == "hi":
            wide = "unsigned __int128" if kind == "u64" else ctype(kind[0] + str(2 * bits(kind)))
            return f"({t})(({wide})({t}){a[0]} * ({wide})({t}){a[1]} >> {bits(kind)})"
        if op == "mul":
            return f"(uint64_t){a[0]} * (uint64_t){a[1]}"
        if op == "mad":
            return f"(uint64_t){a[0]} * (uint64_t){a[1]} + (uint64_t){a[2]}"
        if op == "rem":
            return f"({t}){a[0]} % ({t}){a[1]}"
        if op in ("min", "max"):
            return f"({t}){a[0]} {'<' if op == 'min' else '>'} ({t}){a[1]} ? {a[0]} : {a[1]}"
        if op in ("shl", "shr"):
            how = "SHL" if op == "shl" else "SAR" if kind[0] == "s" else "SHR"
            return f"{how}({t}, {bits(kind)}, {a[0]}, (uint32_t){a[1]})"
        if op == "shf" and parts[2] == "wrap":
            both, by = f"((uint64_t){a[1]} << 32 | {a[0]})", f"({a[2]} & 31)"
            return f"{both} << {by} >> 32" if parts[1] == "l" else f"{both} >> {by}"
        if op == "prmt":
            return f"prmt({a[0]}, {a[1]}, {a[2]})"
        if op == "bfi":
            return f"bfi({a[0]}, {a[1]}, {a[2]}, {a[3]}, {bits(kind)})"
        if op == "brev" and kind == "b32":
            return f"brev({a[0]})"
        if op == "bfind" and parts[1] == "shiftamt" and kind == "u32":
            return f"{a[0]} ? __builtin_clz({a[0]}) : ~0u"
        if op == "clz":
            return f"{a[0]} ? __builtin_clz{'ll' if kind == 'b64' else ''}({a[0]}) : {bits(kind)}"
        raise ValueError(f"no translation of {'.'.join(parts)}")


def translate(text: str) -> str:
    text = re.sub(r"//.*|^\s*\.(?:loc|file)\s.*", "", text, flags=re.M)
    out, functions = [PRELUDE], []
    for align, name, size, rows in re.findall(r"\.global \.align (\d+) \.b8 (\S+)\[(\d+)\] = \{(.*?)\};", text):
        out.append(f"static const uint8_t {name}[{size}] __attribute__((aligned({align}))) = {{{rows}}};")
    heads = re.finditer(
        r"^(?:\.visible )?\.(func|entry)\s+(?:\(\.param \S+ (\w+)\) )?(\w+)\(([^)]*)\)[^{;]*\{", text, re.M
    )
    for head in heads:
        function = Function(head[3], re.sub(r"^_ZN?\d*_(?:INTERNAL|GLOBAL_)_\w+?_cu_\w{8}\d*|^_Z\d*", "", head[3])[:40])
        function.is_kernel = head[1] == "entry"
        function.returns = bool(head[2])
        function.params = [re.sub(r"\[.*", "", p.split()[-1]) for p in head[4].split(",") if p.strip()]
        depth, end = 1, head.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        body(function, text[head.end() : end - 1])
        functions.append(function)
    for f in functions:
        out.append(f"static void {f.name}({signature(f)});")
    for f in functions:
        out.append(f"static void {f.name}({signature(f)}) {{\n  const uint64_t sp_ = l->sp; uint64_t SP = 0, SPL = 0;")
        out += f.registers
        out.append("  (void)sp_, (void)SP, (void)SPL, (void)func_retval0;")
        out += f.lines
        out.append("}")
    for f in functions:
        if f.is_kernel:
            passed = ", ".join(f"l->param[{i}]" for i in range(len(f.params)))
            short = re.search(r"\d+([a-z_]+_kernel)", f.name)[1]
            out.append(f"void ptx_{short}(ptx_launch_t *l) {{ {f.name}(l, 0, {passed}); }}")
    return "\n".join(out) + "\n"


def signature(f: Function) -> str:
    return ", ".join(["L *l", "uint8_t *func_retval0"] + [f"uint8_t *{p}" for p in f.params])


def body(f: Function, text: str) -> None:
    depot = re.search(r"\.local \.align (\d+) \.b8\s+\S+\[(\d+)\];", text)
    if depot:
        f.depot = f"{depot[2]}, {depot[1]}"
        text = text.replace(depot[0], "")
    for name, count in re.findall(r"\.reg \.\w+\s+%(\w+)<(\d+)>;", text):
        names = ", ".join(f"{name}{i} = 0" for i in range(int(count)))
        f.registers.append(f"  {KINDS[name]} {names};")
    text = re.sub(r"\.reg \.\w+\s+%\w+(?:<\d+>)?;", "", text)
    for piece in re.split(r"(;|^\$\w+:|(?<=\n)\s*[{}]\s*(?=\n))", text, flags=re.M):
        piece = piece.strip()
        if re.fullmatch(r"\$\w+:", piece):
            f.put(piece[1:] + " ;")
        elif piece in ("{", "}"):
            f.put(piece)
        elif piece != ";":
            f.instruction(piece)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        translated = translate(file.read())
    with open(sys.argv[2], "w") as file:
        file.write(translated)
