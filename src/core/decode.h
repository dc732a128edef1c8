/* decode.h: decodes every instruction of the image once, when the cartridge is loaded.
 *
 * For each byte of the image a vcs_code_t describes the instruction that begins there: a row of the loop in run.h, and
 * an operand. Each opcode has two rows. The first is the common and cheap case of its addressing mode, the second the
 * other case; the decoder chooses where the bytes alone decide it.
 *
 *   mode            first way                                     second way
 *   zero page       RAM, operand: offset in RAM                   a chip
 *   absolute        read: ROM of the same bank, operand: offset   anything, over the bus
 *     indexed       the same for all values of the index          the same
 *   branch          lands in its own page                         lands in another page of its bank
 *   (pointer),Y     the window is one bank                        it is not; the pointer is in RAM both times
 *
 * Instructions that are not worth a row of their own are VCS_ROW_STEP: cpu.h executes them over the bus. So are
 * instructions with a byte at a hot spot or in a RAM port, instructions that cross the end of their bank, and branches
 * out of it. A decoded program therefore stays in its bank without any check.
 *
 * A bank is the piece of the image that one bank number selects (bank_size of cart.h), or A13 with FE. All of it is in
 * the window at once, so its code can be decoded without knowing the rest of the window. Which of its bytes are at hot
 * spots depends on where it is mapped. The decoder assumes the place where the scheme usually maps that bank
 * (vcs_decode_home). vcs_find_bank, which finds the decoded code around a program counter, fails when the bank is
 * mapped elsewhere and has hot pages there.
 *
 * A store to a register of the TIA in page zero has a row for that register (VCS_TIA_ROWS).
 *
 * Wait loops have rows too. The decoder recognises them by their last instruction, the branch back:
 *
 *   wait:   LDA INTIM   (LDX, LDY, BIT)     until the timer has run down       VCS_ROW_WAIT + a window of timer values
 *           BNE wait    (BPL, BMI)
 *   delay:  DEX         (DEY)               until the register has run down    VCS_ROW_DELAY + 2 * (BPL) + (DEY)
 *           BNE delay   (BPL)
 */
#ifndef VCS_CORE_DECODE_H
#define VCS_CORE_DECODE_H

#include "cart.h"
#include "cpu_ops.h"
#include "tia.h"

/* The registers of the TIA that are written most often. A store to one of them in page zero has a row of its own, which
 * saves the bus and the switch over registers: half the cost of a write. */
/* clang-format off */
#define VCS_TIA_ROWS(X)                                                                                           \
  X(NUSIZ0) X(NUSIZ1) X(COLUP0_W) X(COLUP1_W) X(COLUPF_W) X(COLUBK_W) X(CTRLPF) X(REFP0) X(REFP1) X(PF0) X(PF1)   \
  X(PF2) X(GRP0) X(GRP1) X(ENAM0) X(ENAM1) X(ENABL) X(HMP0) X(HMP1) X(HMM0) X(HMM1) X(HMBL)     \
  X(RESP0) X(RESP1) X(RESM0) X(RESM1) X(RESBL) X(HMOVE) X(HMCLR) X(VDELP0) X(VDELP1)
/* clang-format on */

#define VCS_TIA_ROW_NAMES(name) VCS_ROW_STY_##name, VCS_ROW_STA_##name, VCS_ROW_STX_##name,

enum {
  VCS_ROW_SECOND = 0x100, /* the second way of row - VCS_ROW_SECOND */
  VCS_ROW_STEP = 0x200,
  VCS_ROW_HOT,   /* the same; here because its opcode is at a hot spot or in a RAM port */
  VCS_ROW_WSYNC, /* STA, STX or STY to WSYNC in page zero; operand: its opcode */
  VCS_ROW_WAIT_BNE,
  VCS_ROW_WAIT_BPL,
  VCS_ROW_WAIT_BMI,
  VCS_ROW_DELAY_DEX_BNE,
  VCS_ROW_DELAY_DEY_BNE,
  VCS_ROW_DELAY_DEX_BPL,
  VCS_ROW_DELAY_DEY_BPL,
  VCS_TIA_ROWS(VCS_TIA_ROW_NAMES) /* by register, and its store */
  VCS_ROWS
};

/* The number of bytes that are decoded: whole banks. Bytes after them are data of a coprocessor. */
VCS_FN uint32_t vcs_decode_size(const vcs_cart_t *cart) {
  return cart->rom_size & ~(vcs_scheme_row(cart->scheme)->bank_size - 1u);
}

/* The window offset at which the bank at `base` in the image is expected to be mapped. */
VCS_FN uint32_t vcs_decode_home(const vcs_cart_t *cart, uint32_t base) {
  const vcs_scheme_row_t *row = vcs_scheme_row(cart->scheme);
  if (row->bank_size == 4096) return 0;
  bool last = base + row->bank_size == cart->rom_size;
  return last ? 4096u - row->bank_size : 0;
}

/* Whether the window always shows one bank and nothing else. */
VCS_FN bool vcs_decode_whole(const vcs_cart_t *cart) {
  int kind = vcs_scheme_row(cart->scheme)->kind;
  return kind == VCS_CART_FULL || kind == VCS_CART_DPC || kind == VCS_CART_LOW || kind == VCS_CART_SB;
}

/* Whether reads from `addr` to `addr` + `reach` all find ROM of the bank at `base`, which the instruction is in. */
VCS_FN bool vcs_decode_own_rom(const vcs_cart_t *cart, uint32_t base, uint16_t addr, uint32_t reach) {
  uint32_t size = vcs_scheme_row(cart->scheme)->bank_size, offset = addr & 0xFFFu;
  bool own = cart->scheme == VCS_SCHEME_FE ? vcs_cart_fe_bank(addr) == base : vcs_decode_whole(cart);
  return own && addr & 0x1000 && (offset & (size - 1)) + reach < size && vcs_cart_is_rom(cart, offset, offset + reach);
}

/* A read of the timer or of its flag (riot.h). */
VCS_FN bool vcs_decode_reads_timer(const uint8_t *bytes) {
  bool reads = bytes[0] == 0xAD || bytes[0] == 0xAE || bytes[0] == 0xAC || bytes[0] == 0x2C; /* LDA LDX LDY BIT */
  return reads && ((bytes[1] | bytes[2] << 8) & 0x1284) == 0x284;
}

/* Returns the row of a branch back to the instruction before it: that of a wait loop if the two are one, otherwise the
 * branch's own. `branch` is its opcode, `body` the bytes it goes back to. */
VCS_FN uint16_t vcs_decode_loop(const vcs_cart_t *cart, const uint8_t *body, int length, uint8_t branch) {
  enum { BPL = 0x10, BMI = 0x30, BNE = 0xD0, BIT = 0x2C, DEX = 0xCA, DEY = 0x88 };
  if (length == 1 && (body[0] == DEX || body[0] == DEY) && (branch == BNE || branch == BPL)) {
    return (uint16_t)(VCS_ROW_DELAY_DEX_BNE + 2 * (branch == BPL) + (body[0] == DEY));
  }
  if (length == 3 && vcs_decode_reads_timer(body) && !cart->snoops) {
    bool flag = body[1] & 1; /* INSTAT: only its sign has a meaning, and it is clear while the timer runs */
    if (branch == BNE && body[0] != BIT && !flag) return VCS_ROW_WAIT_BNE;
    if (branch == BPL) return VCS_ROW_WAIT_BPL;
    if (branch == BMI && !flag) return VCS_ROW_WAIT_BMI;
  }
  return branch;
}

/* Returns the row of a store to a register of the TIA: one of its own for STY, STA and STX to a frequent register. */
VCS_FN uint16_t vcs_decode_tia_store(uint8_t opcode, unsigned r) {
#define VCS_TIA_ROW_CASE(name) \
  case VCS_##name:             \
    return (uint16_t)(VCS_ROW_STY_##name + (opcode - VCS_STY_ZP));
  if (opcode >= VCS_STY_ZP && opcode <= VCS_STX_ZP) {
    switch (r) {
      VCS_TIA_ROWS(VCS_TIA_ROW_CASE)
      default:
        break;
    }
  }
  return (uint16_t)(opcode + VCS_ROW_SECOND);
}

/* Decodes the instruction that begins at an offset in the image. */
VCS_FN vcs_code_t vcs_decode(const vcs_cart_t *cart, uint32_t at) {
  enum { SAX = 0x87 };
  uint32_t size = vcs_scheme_row(cart->scheme)->bank_size, offset = at & (size - 1);
  const uint8_t *bytes = cart->rom + at;
  vcs_opcode_t op = vcs_opcode(bytes[0]);
  uint32_t length = vcs_mode_length(op.mode);
  uint32_t home = vcs_decode_home(cart, at - offset) + offset;
  vcs_code_t code = {VCS_ROW_STEP, 0};
  if (!vcs_cart_is_rom(cart, home, home)) code.row = VCS_ROW_HOT;
  if (offset + length >= size || !vcs_cart_is_rom(cart, home, home + length - 1)) return code;

  uint16_t operand = length == 1 ? 0 : length == 2 ? bytes[1] : (uint16_t)(bytes[1] | bytes[2] << 8);
  uint16_t first = bytes[0], second = (uint16_t)(bytes[0] + VCS_ROW_SECOND);
  uint32_t reach = op.mode == VCS_MODE_ABX || op.mode == VCS_MODE_ABY ? 255 : 0;
  code.row = first;
  code.operand = operand;
  switch (op.mode) {
    case VCS_MODE_ZP:
      if (operand & 0x80) {
        code.operand = operand & 0x7F;
      } else if (op.access == VCS_ACCESS_WRITE && (operand & 63) == 2) {
        code.row = bytes[0] == SAX || cart->snoops ? VCS_ROW_STEP : VCS_ROW_WSYNC;
        code.operand = bytes[0];
      } else if (op.access == VCS_ACCESS_WRITE && !cart->snoops) {
        code.row = vcs_decode_tia_store(bytes[0], operand & 63);
      } else {
        code.row = op.access == VCS_ACCESS_MODIFY ? (uint16_t)VCS_ROW_STEP : second;
      }
      break;
    case VCS_MODE_ABS:
    case VCS_MODE_ABX:
    case VCS_MODE_ABY:
      if (op.access == VCS_ACCESS_MODIFY) {
        code.row = VCS_ROW_STEP;
      } else if (op.access == VCS_ACCESS_READ) {
        if (vcs_decode_own_rom(cart, at - offset, operand, reach)) {
          code.operand = operand & (uint16_t)(size - 1);
        } else {
          code.row = second;
        }
      }
      break;
    case VCS_MODE_IZX:
      if (op.access != VCS_ACCESS_READ) code.row = VCS_ROW_STEP;
      break;
    case VCS_MODE_IZY:
      if (op.access == VCS_ACCESS_READ && !vcs_decode_whole(cart)) code.row = second;
      if (op.access == VCS_ACCESS_MODIFY || operand < 0x80 || operand == 0xFF) code.row = VCS_ROW_STEP;
      code.operand = operand & 0x7F;
      break;
    case VCS_MODE_IND:
      if (operand < 0x80 || operand >= 0xFF) code.row = VCS_ROW_STEP;
      code.operand = operand & 0x7F;
      break;
    case VCS_MODE_REL: {
      int32_t to = (int32_t)offset + 2 + (int8_t)operand;
      code.operand = (uint16_t)(2 + (int8_t)operand); /* from the branch itself */
      if (to < 0 || to >= (int32_t)size) {
        code.row = VCS_ROW_STEP;
      } else if ((to ^ (int32_t)(offset + 2)) & 0xFF00) {
        code.row = second;
      } else if (to < (int32_t)offset && vcs_cart_is_rom(cart, home - (offset - (uint32_t)to), home)) {
        code.row = vcs_decode_loop(cart, bytes - (offset - (uint32_t)to), (int)offset - to, bytes[0]);
      }
      break;
    }
    default:
      if (op.name[0] == 'J' || bytes[0] == VCS_BRK || bytes[0] == VCS_RTI) code.row = VCS_ROW_STEP; /* JAM too */
      break;
  }
  return code;
}

/* Decodes the whole image into an array with one vcs_code_t for each byte, and returns the array. */
VCS_FN const vcs_code_t *vcs_decode_image(const vcs_cart_t *cart, vcs_code_t *code) {
  for (uint32_t at = 0; at < vcs_decode_size(cart); at++) code[at] = vcs_decode(cart, at);
  return code;
}

/* ---- Finding it ----------------------------------------------------------------------------------------------- */

/* A bank as it is mapped now: at addresses `start` to `start` + `size`, with its bytes and its code. */
typedef struct {
  const vcs_code_t *code;
  const uint8_t *rom;
  uint16_t start, size;
} vcs_bank_t;

/* Finds the bank around pc. Returns false when there is none, or it is mapped otherwise than it was decoded. */
VCS_SLOW_FN bool vcs_find_bank(const vcs_cart_t *cart, const vcs_t *m, uint16_t pc, vcs_bank_t *bank) {
  uint32_t size = vcs_scheme_row(cart->scheme)->bank_size, window = pc & 0xFFFu & ~(size - 1);
  uint32_t base = m->bank[window >> 10];
  if (!(pc & 0x1000) || !cart->code || base & (size - 1) || base + size > vcs_decode_size(cart)) return false;
  for (uint32_t i = 1; i < size >> 10; i++) {
    if (m->bank[(window >> 10) + i] != base + (i << 10)) return false;
  }
  if (window != vcs_decode_home(cart, base) && cart->hot_pages >> (window >> 6) & ((1ull << (size >> 6)) - 1))
    return false;
  if (cart->scheme == VCS_SCHEME_FE) base = vcs_cart_fe_bank(pc);
  bank->code = cart->code + base;
  bank->rom = cart->rom + base;
  bank->start = (uint16_t)(pc & ~(size - 1));
  bank->size = (uint16_t)size;
  return true;
}

#endif
