/* oracle_6502.h: a second 6502, slow and plain, which tests compare the first one with.
 *
 * It shares no code and no table with src/core. The opcode matrix is spelled as text, sixteen rows of sixteen
 * instructions as a programmer writes them; base cycles follow from rules by addressing mode and kind of access, with
 * the exceptions listed by name; flags are computed bit by bit, decimal arithmetic digit by digit.
 *
 * It is a model of the reference's CPU, which differs from the chip: all cycles of an instruction but those of a
 * taken branch or a crossed page are charged when its opcode is fetched, reads and writes happen once and only where
 * they matter, apart from the look at the stack before a pull and in JSR. Decimal mode has its own rules (below).
 *
 * The bus around it is a VCS with a 4 KiB cartridge, idle controllers, nothing on the screen and a timer that shows
 * ORACLE_INTIM. The oracle records what it writes; the last byte that crossed the bus shows in the bits that the TIA
 * does not drive. WSYNC waits for the end of a 76-cycle line, counted from cycle 0. With a `board` the bus is that of a
 * whole console instead (oracle_vcs.h).
 */
#ifndef ORACLE_6502_H
#define ORACLE_6502_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { ORACLE_INTIM = 0x55 };

/* i: (zp,X)  j: (zp),Y  z: zp  x: zp,X  y: zp,Y  #: immediate  a: abs  X: abs,X  Y: abs,Y  n: (abs)  r: branch  -: none
 */
static const char *const oracle_matrix[16] = {
    /*   0      1      2      3      4      5      6      7      8      9      A      B      C      D      E      F */
    "BRK- ORAi JAM- SLOi NOPz ORAz ASLz SLOz PHP- ORA# ASL- ANC# NOPa ORAa ASLa SLOa",
    "BPLr ORAj JAM- SLOj NOPx ORAx ASLx SLOx CLC- ORAY NOP- SLOY NOPX ORAX ASLX SLOX",
    "JSR- ANDi JAM- RLAi BITz ANDz ROLz RLAz PLP- AND# ROL- ANC# BITa ANDa ROLa RLAa",
    "BMIr ANDj JAM- RLAj NOPx ANDx ROLx RLAx SEC- ANDY NOP- RLAY NOPX ANDX ROLX RLAX",
    "RTI- EORi JAM- SREi NOPz EORz LSRz SREz PHA- EOR# LSR- ASR# JMPa EORa LSRa SREa",
    "BVCr EORj JAM- SREj NOPx EORx LSRx SREx CLI- EORY NOP- SREY NOPX EORX LSRX SREX",
    "RTS- ADCi JAM- RRAi NOPz ADCz RORz RRAz PLA- ADC# ROR- ARR# JMPn ADCa RORa RRAa",
    "BVSr ADCj JAM- RRAj NOPx ADCx RORx RRAx SEI- ADCY NOP- RRAY NOPX ADCX RORX RRAX",
    "NOP# STAi NOP# SAXi STYz STAz STXz SAXz DEY- NOP# TXA- ANE# STYa STAa STXa SAXa",
    "BCCr STAj JAM- SHAj STYx STAx STXy SAXy TYA- STAY TXS- SHSY SHYX STAX SHXY SHAY",
    "LDY# LDAi LDX# LAXi LDYz LDAz LDXz LAXz TAY- LDA# TAX- LXA# LDYa LDAa LDXa LAXa",
    "BCSr LDAj JAM- LAXj LDYx LDAx LDXy LAXy CLV- LDAY TSX- LASY LDYX LDAX LDXY LAXY",
    "CPY# CMPi NOP# DCPi CPYz CMPz DECz DCPz INY- CMP# DEX- SBX# CPYa CMPa DECa DCPa",
    "BNEr CMPj JAM- DCPj NOPx CMPx DECx DCPx CLD- CMPY NOP- DCPY NOPX CMPX DECX DCPX",
    "CPX# SBCi NOP# ISBi CPXz SBCz INCz ISBz INX- SBC# NOP- SBC# CPXa SBCa INCa ISBa",
    "BEQr SBCj JAM- ISBj NOPx SBCx INCx ISBx SED- SBCY NOP- ISBY NOPX SBCX INCX ISBX",
};

typedef struct oracle oracle_t;

/* What else is on the bus: called for every access, instead of the small VCS above. */
typedef struct {
  uint8_t (*read)(oracle_t *o, unsigned addr);
  void (*write)(oracle_t *o, unsigned addr, uint8_t value);
} oracle_board_t;

struct oracle {
  uint8_t a, x, y, sp;
  bool n, v, d, i, z, c;
  uint16_t pc;
  uint32_t cycles;
  uint8_t ram[128];
  const uint8_t *rom; /* 4 KiB */
  uint8_t switches, ddra, bus;
  bool jammed, last_was_read;
  bool chips; /* a chip other than RAM was read or written in this instruction */
  int writes; /* in this instruction */
  uint16_t write_addr[4];
  uint8_t write_value[4];
  const oracle_board_t *board; /* NULL: the small VCS */
};

/* ---- The bus ------------------------------------------------------------------------------------------------ */

static inline uint8_t oracle_read(oracle_t *o, unsigned addr) {
  uint8_t value;
  if (!(addr & 0x1000) && (addr & 0x280) != 0x80) o->chips = true;
  if (o->board) {
    value = o->board->read(o, addr);
  } else if (addr & 0x1000) {
    value = o->rom[addr % 0x1000];
  } else if (!(addr & 0x80)) { /* TIA: only the fire buttons are high; six bits are not driven */
    bool fire = addr % 16 == 12 || addr % 16 == 13;
    value = (uint8_t)((fire ? 128 : 0) + o->bus % 64);
  } else if (!(addr & 0x200)) {
    value = o->ram[addr % 128];
  } else {
    const uint8_t ports[8] = {0xFF, o->ddra, o->switches, 0, ORACLE_INTIM, 0, ORACLE_INTIM, 0};
    value = ports[addr % 8];
  }
  o->bus = value;
  o->last_was_read = true;
  return value;
}

static inline void oracle_write(oracle_t *o, unsigned addr, unsigned value) {
  o->write_addr[o->writes] = (uint16_t)addr;
  o->write_value[o->writes++] = (uint8_t)value;
  if (o->board) {
    o->board->write(o, addr, (uint8_t)value);
  } else if (!(addr & 0x1000)) {
    if ((addr & 0x280) == 0x80) o->ram[addr % 128] = (uint8_t)value;
    if ((addr & 0x280) != 0x80) o->chips = true;
    if (!(addr & 0x80) && addr % 64 == 2 && o->last_was_read) {
      while (o->cycles % 76 != 0) o->cycles++;
    }
  }
  o->bus = (uint8_t)value;
  o->last_was_read = false;
}

static inline void oracle_push(oracle_t *o, unsigned value) {
  oracle_write(o, 0x100u + o->sp, value);
  o->sp = o->sp == 0 ? 255 : o->sp - 1;
}

static inline uint8_t oracle_pull(oracle_t *o) {
  o->sp = o->sp == 255 ? 0 : o->sp + 1;
  return oracle_read(o, 0x100u + o->sp);
}

static inline uint8_t oracle_fetch(oracle_t *o) {
  uint8_t value = oracle_read(o, o->pc);
  o->pc = o->pc == 0xFFFF ? 0 : o->pc + 1;
  return value;
}

/* ---- Flags -------------------------------------------------------------------------------------------------- */

static inline uint8_t oracle_p(const oracle_t *o) { /* bits 5 and 4 are always set */
  return (uint8_t)(o->n * 128 + o->v * 64 + 32 + 16 + o->d * 8 + o->i * 4 + o->z * 2 + o->c);
}

static inline void oracle_set_p(oracle_t *o, uint8_t p) {
  o->n = p / 128 % 2;
  o->v = p / 64 % 2;
  o->d = p / 8 % 2;
  o->i = p / 4 % 2;
  o->z = p / 2 % 2;
  o->c = p % 2;
}

static inline uint8_t oracle_nz(oracle_t *o, unsigned value) {
  value %= 256;
  o->n = value > 127;
  o->z = value == 0;
  return (uint8_t)value;
}

/* ---- Arithmetic --------------------------------------------------------------------------------------------- */

/* A byte as the number its digits spell; a digit may be up to 15. */
static inline int oracle_number(unsigned byte) { return (int)(byte / 16) * 10 + (int)(byte % 16); }

/* A number from 0 to 255 as two decimal digits; hundreds are lost. */
static inline unsigned oracle_digits(int number) {
  int ones = 0, tens = 0;
  while (number-- > 0) {
    if (++ones == 10) ones = 0, tens = (tens + 1) % 10;
  }
  return (unsigned)(tens * 16 + ones);
}

/* Overflow in decimal mode: the result's sign differs from both the accumulator's and the operand's. */
static inline bool oracle_decimal_overflow(unsigned a, unsigned b, unsigned r) {
  return a / 128 != r / 128 && b / 128 != r / 128;
}

static inline void oracle_adc(oracle_t *o, unsigned b) {
  unsigned a = o->a;
  if (o->d) { /* the sum is kept in a byte before it is spelled out, the carry looks at the whole */
    int sum = oracle_number(a) + oracle_number(b) + o->c;
    o->c = sum >= 100;
    o->a = oracle_nz(o, oracle_digits(sum % 256));
    o->v = oracle_decimal_overflow(a, b, o->a);
    return;
  }
  unsigned sum = 0, carry = o->c; /* a ripple-carry adder */
  bool into_sign = false;
  for (unsigned bit = 0; bit < 8; bit++) {
    unsigned p = a >> bit & 1, q = b >> bit & 1;
    if (bit == 7) into_sign = carry;
    sum |= (p ^ q ^ carry) << bit;
    carry = p + q + carry >= 2;
  }
  o->c = carry;
  o->v = into_sign != carry;
  o->a = oracle_nz(o, sum);
}

/* Decimal: a negative difference is put right by one hundred. Where that is not enough (digits above 9), the
 * reference falls off its table of digits into the one before it, which reads bytes as numbers. */
static inline void oracle_sbc(oracle_t *o, unsigned b) {
  unsigned a = o->a;
  if (!o->d) {
    oracle_adc(o, b ^ 255);
    return;
  }
  int borrow = o->c ? 0 : 1;
  int difference = oracle_number(a) - oracle_number(b) - borrow;
  o->c = (int)a - (int)b - borrow >= 0;
  if (difference < 0) difference += 100;
  unsigned r = difference >= 0 ? oracle_digits(difference) : (unsigned)oracle_number((unsigned)(256 + difference));
  o->a = oracle_nz(o, r);
  o->v = oracle_decimal_overflow(a, b, r);
}

static inline void oracle_compare(oracle_t *o, unsigned reg, unsigned b) {
  o->c = reg >= b;
  o->z = reg == b;
  o->n = (reg + 256 - b) % 256 >= 128;
}

/* Shifts and rotates by name; the bit that falls out goes to the carry. */
static inline uint8_t oracle_shift(oracle_t *o, const char *name, unsigned b) {
  bool left = name[2] == 'L', rotate = name[0] == 'R';
  unsigned in = rotate && o->c, r = left ? b * 2 + in : b / 2 + in * 128;
  o->c = left ? b >= 128 : b % 2;
  return oracle_nz(o, r);
}

/* AND with the operand, rotate right; in decimal mode each digit of 5 or more (before the shift) is corrected by 6. */
static inline void oracle_arr(oracle_t *o, unsigned b) {
  unsigned both = o->a & b, r = both / 2 + o->c * 128;
  o->n = o->c;
  o->z = r == 0;
  if (!o->d) {
    o->c = r / 64 % 2;
    o->v = r / 64 % 2 != r / 32 % 2;
  } else {
    unsigned low = both % 16, high = both / 16;
    o->v = both / 64 % 2 != r / 64 % 2;
    if (low + low % 2 > 5) r = r / 16 * 16 + (r + 6) % 16;
    o->c = high + high % 2 > 5;
    if (o->c) r += 96;
  }
  o->a = (uint8_t)r;
}

/* ---- What each instruction does ----------------------------------------------------------------------------- */

static inline bool oracle_is(const char *name, const char *list) {
  for (; *list; list += list[3] ? 4 : 3) {
    if (strncmp(name, list, 3) == 0) return true;
  }
  return false;
}

static inline bool oracle_stores(const char *name) { return oracle_is(name, "STA STX STY SAX SHA SHX SHY SHS"); }
static inline bool oracle_modifies(const char *name, char mode) {
  return mode != '-' && oracle_is(name, "ASL LSR ROL ROR INC DEC SLO RLA SRE RRA DCP ISB");
}

/* Cycles charged with the opcode. */
static inline unsigned oracle_base_cycles(uint8_t code, const char *name, char mode) {
  if (code == 0xA7) return 4; /* LAX zp: 3 on the chip */
  if (oracle_is(name, "BRK")) return 7;
  if (oracle_is(name, "JSR RTS RTI")) return 6;
  if (oracle_is(name, "PLA PLP")) return 4;
  if (oracle_is(name, "PHA PHP")) return 3;
  if (oracle_is(name, "JMP")) return mode == 'n' ? 5 : 3;
  if (mode == '-' || mode == '#' || mode == 'r') return 2;
  /* The bytes of the instruction, the bytes of a pointer, an addition within page zero, and the access itself; the
   * carry into a high byte costs a cycle where it cannot be skipped; modifying takes two more. */
  unsigned cycles = strchr("aXY", mode) ? 3 : 2;
  if (mode == 'i' || mode == 'j') cycles += 2;
  if (mode == 'i' || mode == 'x' || mode == 'y') cycles += 1;
  cycles += 1;
  bool modifies = oracle_modifies(name, mode);
  if (strchr("XYj", mode) && (oracle_stores(name) || modifies)) cycles += 1;
  return cycles + (modifies ? 2 : 0);
}

/* Instructions that take a byte. */
static inline void oracle_take(oracle_t *o, const char *name, uint8_t b) {
  if (oracle_is(name, "LDA")) o->a = oracle_nz(o, b);
  if (oracle_is(name, "LDX")) o->x = oracle_nz(o, b);
  if (oracle_is(name, "LDY")) o->y = oracle_nz(o, b);
  if (oracle_is(name, "LAX")) o->a = o->x = oracle_nz(o, b);
  if (oracle_is(name, "ORA")) o->a = oracle_nz(o, o->a | b);
  if (oracle_is(name, "AND")) o->a = oracle_nz(o, o->a & b);
  if (oracle_is(name, "EOR")) o->a = oracle_nz(o, o->a ^ b);
  if (oracle_is(name, "ADC")) oracle_adc(o, b);
  if (oracle_is(name, "SBC")) oracle_sbc(o, b);
  if (oracle_is(name, "CMP")) oracle_compare(o, o->a, b);
  if (oracle_is(name, "CPX")) oracle_compare(o, o->x, b);
  if (oracle_is(name, "CPY")) oracle_compare(o, o->y, b);
  if (oracle_is(name, "BIT")) o->n = b / 128, o->v = b / 64 % 2, o->z = (o->a & b) == 0;
  if (oracle_is(name, "ANC")) o->a = oracle_nz(o, o->a & b), o->c = o->n;
  if (oracle_is(name, "ASR")) o->a = oracle_shift(o, "LSR", o->a & b);
  if (oracle_is(name, "ARR")) oracle_arr(o, b);
  if (oracle_is(name, "LXA")) o->a = o->x = oracle_nz(o, (o->a | 0xEE) & b);
  if (oracle_is(name, "ANE")) o->a = oracle_nz(o, (o->a | 0xEE) & o->x & b);
  if (oracle_is(name, "LAS")) o->a = o->x = o->sp = oracle_nz(o, o->sp & b);
  if (oracle_is(name, "SBX")) {
    unsigned both = o->a & o->x;
    o->c = both >= b;
    o->x = oracle_nz(o, both + 256 - b);
  }
}

static inline uint8_t oracle_stored(oracle_t *o, const char *name, unsigned addr) {
  unsigned page_after = (addr / 256 + 1) % 256;
  if (oracle_is(name, "STA")) return o->a;
  if (oracle_is(name, "STX")) return o->x;
  if (oracle_is(name, "STY")) return o->y;
  if (oracle_is(name, "SAX")) return o->a & o->x;
  if (oracle_is(name, "SHX")) return (uint8_t)(o->x & page_after);
  if (oracle_is(name, "SHY")) return (uint8_t)(o->y & page_after);
  if (oracle_is(name, "SHS")) o->sp = o->a & o->x;
  return (uint8_t)(o->a & o->x & page_after); /* SHA, SHS */
}

static inline uint8_t oracle_modified(oracle_t *o, const char *name, uint8_t b) {
  if (oracle_is(name, "INC")) return oracle_nz(o, b + 1u);
  if (oracle_is(name, "DEC")) return oracle_nz(o, b + 255u);
  static const char pairs[6][2][4] = {{"SLO", "ASL"}, {"RLA", "ROL"}, {"SRE", "LSR"},
                                      {"RRA", "ROR"}, {"DCP", "DEC"}, {"ISB", "INC"}};
  static const char then[6][4] = {"ORA", "AND", "EOR", "ADC", "CMP", "SBC"};
  for (int k = 0; k < 6; k++) {
    if (!oracle_is(name, pairs[k][0])) continue;
    uint8_t first = oracle_modified(o, pairs[k][1], b);
    oracle_take(o, then[k], first);
    return first;
  }
  return oracle_shift(o, name, b);
}

static inline void oracle_branch(oracle_t *o, const char *name) {
  unsigned offset = oracle_fetch(o);
  bool taken = oracle_is(name, "BPL")   ? !o->n
               : oracle_is(name, "BMI") ? o->n
               : oracle_is(name, "BVC") ? !o->v
               : oracle_is(name, "BVS") ? o->v
               : oracle_is(name, "BCC") ? !o->c
               : oracle_is(name, "BCS") ? o->c
               : oracle_is(name, "BNE") ? !o->z
                                        : o->z;
  if (!taken) return;
  unsigned target = (o->pc + offset + (offset >= 128 ? 0xFF00u : 0)) % 0x10000;
  o->cycles += target / 256 == o->pc / 256u ? 1 : 2;
  o->pc = (uint16_t)target;
}

static inline void oracle_alone(oracle_t *o, const char *name) {
  if (oracle_is(name, "JAM")) o->jammed = true;
  if (oracle_is(name, "ASL LSR ROL ROR")) o->a = oracle_shift(o, name, o->a);
  if (oracle_is(name, "CLC SEC")) o->c = name[0] == 'S';
  if (oracle_is(name, "CLI SEI")) o->i = name[0] == 'S';
  if (oracle_is(name, "CLD SED")) o->d = name[0] == 'S';
  if (oracle_is(name, "CLV")) o->v = false;
  if (oracle_is(name, "INX")) o->x = oracle_nz(o, o->x + 1u);
  if (oracle_is(name, "INY")) o->y = oracle_nz(o, o->y + 1u);
  if (oracle_is(name, "DEX")) o->x = oracle_nz(o, o->x + 255u);
  if (oracle_is(name, "DEY")) o->y = oracle_nz(o, o->y + 255u);
  if (oracle_is(name, "TAX")) o->x = oracle_nz(o, o->a);
  if (oracle_is(name, "TAY")) o->y = oracle_nz(o, o->a);
  if (oracle_is(name, "TXA")) o->a = oracle_nz(o, o->x);
  if (oracle_is(name, "TYA")) o->a = oracle_nz(o, o->y);
  if (oracle_is(name, "TSX")) o->x = oracle_nz(o, o->sp);
  if (oracle_is(name, "TXS")) o->sp = o->x;
  if (oracle_is(name, "PHA")) oracle_push(o, o->a);
  if (oracle_is(name, "PHP")) oracle_push(o, oracle_p(o));
  if (oracle_is(name, "PLA PLP RTS RTI")) oracle_read(o, 0x100u + o->sp);
  if (oracle_is(name, "PLA")) o->a = oracle_nz(o, oracle_pull(o));
  if (oracle_is(name, "PLP RTI")) oracle_set_p(o, oracle_pull(o));
  if (oracle_is(name, "RTS RTI")) {
    o->pc = oracle_pull(o);
    o->pc = (uint16_t)(o->pc + oracle_pull(o) * 256u);
  }
  if (oracle_is(name, "RTS")) oracle_fetch(o);
  if (oracle_is(name, "JSR")) { /* the high byte of the target is read after the pushes */
    uint8_t low = oracle_fetch(o);
    oracle_read(o, 0x100u + o->sp);
    oracle_push(o, o->pc / 256u);
    oracle_push(o, o->pc % 256u);
    o->pc = (uint16_t)(low + oracle_read(o, o->pc) * 256u);
  }
  if (oracle_is(name, "BRK")) {
    oracle_fetch(o);
    oracle_push(o, o->pc / 256u);
    oracle_push(o, o->pc % 256u);
    oracle_push(o, oracle_p(o));
    o->i = true;
    o->pc = oracle_read(o, 0xFFFE);
    o->pc = (uint16_t)(o->pc + oracle_read(o, 0xFFFF) * 256u);
  }
}

/* The address an instruction works on; `crossed` is whether indexing changed its page. */
static inline unsigned oracle_address(oracle_t *o, char mode, bool *crossed) {
  unsigned first = mode == '#' ? 0 : oracle_fetch(o), base;
  *crossed = false;
  switch (mode) {
    case '#':
      base = o->pc;
      o->pc = base == 0xFFFF ? 0 : (uint16_t)(base + 1);
      return base;
    case 'z':
      return first;
    case 'x':
      return (first + o->x) % 256;
    case 'y':
      return (first + o->y) % 256;
    case 'i': /* the pointer's second byte may lie at $0100: a TIA register, as $0000 would be */
      first = (first + o->x) % 256;
      base = oracle_read(o, first);
      return base + oracle_read(o, first + 1) * 256u;
    case 'j':
      base = oracle_read(o, first);
      base += oracle_read(o, first + 1) * 256u;
      break;
    default:
      base = first + oracle_fetch(o) * 256u;
      break;
  }
  if (mode == 'n') { /* the high byte comes from the same page */
    unsigned low = oracle_read(o, base);
    return low + oracle_read(o, base % 256 == 255 ? base - 255 : base + 1) * 256u;
  }
  unsigned index = mode == 'X' ? o->x : mode == 'Y' || mode == 'j' ? o->y : 0;
  *crossed = base % 256 + index > 255;
  return (base + index) % 0x10000;
}

/* One instruction. */
static inline uint8_t oracle_step(oracle_t *o) {
  o->writes = 0;
  o->chips = false;
  uint8_t code = oracle_fetch(o);
  const char *name = oracle_matrix[code / 16] + code % 16 * 5;
  char mode = name[3];
  o->cycles += oracle_base_cycles(code, name, mode);
  if (mode == '-') {
    oracle_alone(o, name);
  } else if (mode == 'r') {
    oracle_branch(o, name);
  } else {
    bool crossed;
    unsigned addr = oracle_address(o, mode, &crossed);
    if (oracle_is(name, "JMP")) {
      o->pc = (uint16_t)addr;
    } else if (oracle_stores(name)) {
      uint8_t value = oracle_stored(o, name, addr);
      oracle_write(o, addr, value);
    } else if (oracle_modifies(name, mode)) {
      uint8_t value = oracle_modified(o, name, oracle_read(o, addr));
      oracle_write(o, addr, value);
    } else {
      if (crossed) o->cycles++;
      oracle_take(o, name, oracle_read(o, addr));
    }
  }
  return code;
}

#endif
