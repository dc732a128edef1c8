/* cart.h: the cartridge, and how it shows more than 4 KiB through a 4 KiB window.
 *
 * The 6507 has 13 address lines. With A12 high the cartridge answers, so a program sees 4 KiB at a time:
 *
 *    $1000        $1400        $1800        $1C00        $1FFF
 *      |  slice 0   |  slice 1   |  slice 2   |  slice 3   |     m->bank[i]: offset of slice i in the image
 *      +------------+------------+------------+----------#-+
 *   F8 |                 one of 2 banks of 4 KiB         8 |     $1FF8, $1FF9: touch one to select it
 *   E0 |  one of 8  |  one of 8  |  one of 8  |  no. 7   E |     $1FE0, $1FE8, $1FF0 + number
 *   3F |  one of n banks of 2 KiB| the last 2 KiB          |     number written to $00-$3F, beside the TIA
 *   E7 |  one of 7, or RAM w / r |w|r| the last 2 KiB    E |     $1FE0 + number, $1FE8 + RAM page
 *   CV |  RAM read  | RAM write  |     the only 2 KiB      |
 *   SC |w|r                                              8 |     128 bytes of RAM, over the banks of F8, F6, F4
 *  DPC |R|W                                              8 |     registers of a coprocessor, over the banks of F8
 *      +------------+------------+------------+------------+
 *
 * Touching means reading or writing: a cartridge has no read/write line (hence two ports, w and r, for each byte of
 * RAM), and the value that a read of a hot spot returns already comes from the new bank.
 *
 * The window is divided into 64 pages of 64 bytes. cart->hot_pages marks those where a read can be anything else than
 * rom[bank[slice] + offset]; all other reads take that path and nothing else (vcs_cart_read). Which addresses of a hot
 * page are plain ROM all the same, vcs_cart_is_rom says. Writes always go through
 * vcs_cart_write, because DPC and 3F notice writes anywhere. Schemes with hot spots below $1000 (3F, 3E, UA, 0840, SB)
 * set cart->snoops, and the bus shows them those accesses.
 *
 * A scheme is a row of the table in vcs_scheme_row; only what a row cannot say is code.
 *
 * Sources: K. Horton, "Cart Information" (sizes.txt); US patent 4,644,495 (DPC); for SB and 0840, which xitari and
 * ale-py do not have, the description in Stella.
 * Where real boards, references and documents disagree, the references win, and the comment says so: xitari and ale-py
 * are what recorded behaviour is measured against. Proofs are in tests/test_cart.c, under the names given here.
 */
#ifndef VCS_CORE_CART_H
#define VCS_CORE_CART_H

#include <string.h>

#include "riot_random.h"
#include "state.h"

/* ---- The table ---------------------------------------------------------------------------------------------- */

enum {
  VCS_CART_FULL, /* the window is one bank (of 4 KiB, or 2 KiB twice), selected by hot spots in a row, if by any */
  VCS_CART_DPC,  /* the same with a coprocessor */
  VCS_CART_E0,   /* four slices */
  VCS_CART_FE,   /* A13 selects */
  VCS_CART_3F,   /* two halves, the upper one fixed */
  VCS_CART_3E,   /* the same with RAM */
  VCS_CART_E7,   /* the same with RAM and hot spots in the window */
  VCS_CART_LOW,  /* one bank, hot spots below $1000 */
  VCS_CART_SB    /* one bank, a whole region of them */
};

enum { VCS_CART_LAST = 255 }; /* start bank: the last one of the image */

typedef struct {
  char name[6];
  uint8_t kind;
  uint8_t snoops;          /* the bus must show it accesses below $1000 */
  uint8_t start_bank;      /* where a reset begins */
  uint8_t hot_spots;       /* how many hot spots there are in the window, from first_spot on */
  uint8_t write_deaf;      /* they react to reads only */
  uint16_t first_spot;     /* offset in the window; 0: no hot spots there */
  uint16_t hot_below;      /* offsets below this need more than a plain read */
  uint16_t bank_size;      /* of what one number selects */
  uint16_t ram_size;       /* bytes of cartridge RAM */
  uint16_t ram_write_port; /* offset in the window */
  uint16_t ram_read_port;  /* offset in the window */
  uint32_t size_min;       /* an image has size_min, size_min + size_step, ... or size_max bytes */
  uint32_t size_step;
  uint32_t size_max;
} vcs_scheme_row_t;

VCS_FN const vcs_scheme_row_t *vcs_scheme_row(int scheme) {
  /* A table inside a function exists on the host and on the device alike. */
  /* clang-format off */
#define ROW(name, kind, ...) {name, VCS_CART_##kind, __VA_ARGS__}
#define LAST VCS_CART_LAST
  static const vcs_scheme_row_t rows[VCS_SCHEME_COUNT] = {
    /*  name    kind sn start spots deaf first  below   bank  RAM    write  read   sizes */
    ROW("AUTO", FULL, 0, 0,    0,   0,   0,     0,      4096, 0,     0,     0,     0,      1,      0),
    ROW("2K",   FULL, 0, 0,    0,   0,   0,     0,      2048, 0,     0,     0,     2048,   2048,   4096),
    ROW("4K",   FULL, 0, 0,    0,   0,   0,     0,      4096, 0,     0,     0,     4096,   4096,   8192),
    ROW("F8",   FULL, 0, 1,    2,   0,   0xFF8, 0,      4096, 0,     0,     0,     8192,   1,      8192),
    ROW("F6",   FULL, 0, 0,    4,   0,   0xFF6, 0,      4096, 0,     0,     0,     16384,  1,      16384),
    ROW("F4",   FULL, 0, 0,    8,   0,   0xFF4, 0,      4096, 0,     0,     0,     32768,  1,      32768),
    ROW("F8SC", FULL, 0, 1,    2,   0,   0xFF8, 0x100,  4096, 128,   0x000, 0x080, 8192,   1,      8192),
    ROW("F6SC", FULL, 0, 0,    4,   0,   0xFF6, 0x100,  4096, 128,   0x000, 0x080, 16384,  1,      16384),
    ROW("F4SC", FULL, 0, 0,    8,   1,   0xFF4, 0x100,  4096, 128,   0x000, 0x080, 32768,  1,      32768),
    ROW("E0",   E0,   0, 0,    24,  0,   0xFE0, 0,      1024, 0,     0,     0,     8192,   1,      8192),
    ROW("FE",   FE,   0, 0,    0,   0,   0,     0x1000, 4096, 0,     0,     0,     8192,   1,      8192),
    ROW("DPC",  DPC,  0, 1,    2,   0,   0xFF8, 0x080,  4096, 0,     0,     0,     10240,  1,      10496),
    ROW("3F",   3F,   1, 0,    0,   0,   0,     0,      2048, 0,     0,     0,     2048,   2048,   524288),
    ROW("3E",   3E,   1, 0,    0,   0,   0,     0x800,  2048, 32768, 0x400, 0x000, 2048,   2048,   524288),
    ROW("E7",   E7,   0, 0,    12,  0,   0xFE0, 0xA00,  2048, 2048,  0x000, 0x400, 16384,  1,      16384),
    ROW("FA",   FULL, 0, 2,    3,   0,   0xFF8, 0x200,  4096, 256,   0x000, 0x100, 12288,  1,      12288),
    ROW("UA",   LOW,  1, 0,    0,   0,   0,     0,      4096, 0,     0,     0,     8192,   1,      8192),
    ROW("CV",   FULL, 0, LAST, 0,   0,   0,     0x800,  2048, 1024,  0x400, 0x000, 2048,   2048,   4096),
    ROW("0840", LOW,  1, 0,    0,   0,   0,     0,      4096, 0,     0,     0,     8192,   1,      8192),
    ROW("SB",   SB,   1, LAST, 0,   0,   0,     0,      4096, 0,     0,     0,     131072, 131072, 262144),
  };
#undef ROW
#undef LAST
  /* clang-format on */
  return &rows[scheme];
}

/* cart->hot_pages of a scheme. */
VCS_FN uint64_t vcs_scheme_hot_pages(int scheme) {
  const vcs_scheme_row_t *row = vcs_scheme_row(scheme);
  uint32_t below = row->hot_below >> 6;
  return (below == 64 ? ~0ull : (1ull << below) - 1) | (row->first_spot ? 1ull << (row->first_spot >> 6) : 0);
}

/* Whether reads of all addresses from one offset in the window to another find a byte of the image, and do nothing
 * else. With FE that is so everywhere, and A13 chooses the bank. The random number of DPC notices a read of any address
 * of a page with hot spots. */
VCS_FN bool vcs_cart_is_rom(const vcs_cart_t *cart, uint32_t from, uint32_t to) {
  const vcs_scheme_row_t *row = vcs_scheme_row(cart->scheme);
  uint32_t first = row->first_spot, end = first + row->hot_spots;
  if (to >= 4096) return false;
  if (row->kind == VCS_CART_FE) return true;
  if (row->kind == VCS_CART_DPC) {
    first &= ~63u;
    end = first + 64;
  }
  return from >= row->hot_below && (to < first || from >= end);
}

/* FE: the offset in the image of the bank that an address chooses. */
VCS_FN uint32_t vcs_cart_fe_bank(uint16_t addr) { return addr & 0x2000 ? 0 : 4096; }

/* ---- The private registers of the schemes ------------------------------------------------------------------- */

/* 3E and E7, in cart_byte: which page of RAM, and whether RAM is mapped instead of ROM. */
enum { VCS_CART_RAM_PAGE, VCS_CART_RAM_ON };

/* DPC: eight data fetchers in cart_byte (top, bottom, flag; the counters are cart_word); in cart_clock the fraction of
 * a music clock (an IEEE double in two words, since the reference accumulates one), the cycle of the last music clock,
 * the random number, and which of the fetchers 5 to 7 make music (bits 0 to 2). */
enum { VCS_DPC_TOP = 0, VCS_DPC_BOTTOM = 8, VCS_DPC_FLAG = 16 };
enum { VCS_DPC_FRACTION = 0, VCS_DPC_CYCLE = 2, VCS_DPC_RANDOM_AND_MUSIC = 3 };
enum { VCS_DPC_MUSIC_SHIFT = 8, VCS_DPC_DISPLAY_ROM = 8192 };

/* ---- Where a byte lives ------------------------------------------------------------------------------------- */

/* What a read at an address of the window finds, with the banks as they are now: a value >= 0 is an offset in the
 * image; ~value is an offset in cart_ram; VCS_CART_REGISTER is a register of the DPC. Reading a write port of RAM finds
 * the image underneath and leaves the RAM alone, in both references, except in 3E, where it finds the RAM. */
enum { VCS_CART_REGISTER = INT32_MIN };

VCS_FN int32_t vcs_cart_read_place(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  const vcs_scheme_row_t *row = vcs_scheme_row(cart->scheme);
  uint32_t offset = addr & 0xFFFu;
  switch (row->kind) {
    case VCS_CART_FULL:
      if (offset - row->ram_read_port < row->ram_size) return ~(int32_t)(offset - row->ram_read_port);
      break;
    case VCS_CART_DPC:
      if (offset < 0x40) return VCS_CART_REGISTER;
      break;
    case VCS_CART_FE:
      return (int32_t)(vcs_cart_fe_bank(addr) + offset);
    case VCS_CART_3E:
      if (offset < 0x800 && m->cart_byte[VCS_CART_RAM_ON])
        return ~(int32_t)(m->cart_byte[VCS_CART_RAM_PAGE] * 1024u + (offset & 0x3FF));
      break;
    case VCS_CART_E7:
      if (offset - 0x400 < 0x400 && m->cart_byte[VCS_CART_RAM_ON]) return ~(int32_t)(offset & 0x3FF);
      if (offset - 0x900 < 0x100) return ~(int32_t)(1024u + m->cart_byte[VCS_CART_RAM_PAGE] * 256u + (offset & 0xFF));
      break;
    default:
      break;
  }
  return (int32_t)(m->bank[offset >> 10] + (offset & 0x3FF));
}

/* The offset in cart_ram that a write at an address of the window changes, or -1. */
VCS_FN int32_t vcs_cart_write_place(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  const vcs_scheme_row_t *row = vcs_scheme_row(cart->scheme);
  uint32_t offset = addr & 0xFFFu;
  switch (row->kind) {
    case VCS_CART_FULL:
      if (offset - row->ram_write_port < row->ram_size) return (int32_t)(offset - row->ram_write_port);
      break;
    case VCS_CART_3E:
      if (offset - 0x400 < 0x400 && m->cart_byte[VCS_CART_RAM_ON])
        return (int32_t)(m->cart_byte[VCS_CART_RAM_PAGE] * 1024u + (offset & 0x3FF));
      break;
    case VCS_CART_E7:
      if (offset < 0x400 && m->cart_byte[VCS_CART_RAM_ON]) return (int32_t)offset;
      if (offset - 0x800 < 0x100) return (int32_t)(1024u + m->cart_byte[VCS_CART_RAM_PAGE] * 256u + (offset & 0xFF));
      break;
    default:
      break;
  }
  return -1;
}

/* ---- Switching ---------------------------------------------------------------------------------------------- */

/* The whole window shows bank n; a bank of 2 KiB shows twice. */
VCS_FN void vcs_cart_select(const vcs_scheme_row_t *row, vcs_t *m, uint32_t n) {
  for (uint32_t i = 0; i < 4; ++i) m->bank[i] = n * row->bank_size + ((i << 10) & (row->bank_size - 1u));
}

/* The lower half of the window shows 2 KiB bank n, counted round the image. */
VCS_FN void vcs_cart_select_lower(const vcs_cart_t *cart, vcs_t *m, uint32_t n) {
  uint32_t base = n % (cart->rom_size / 2048u) * 2048u;
  m->bank[0] = base;
  m->bank[1] = base + 1024u;
  m->cart_byte[VCS_CART_RAM_ON] = 0;
}

/* An address of the window is touched: switch if it is a hot spot. */
VCS_FN void vcs_cart_touch(const vcs_cart_t *cart, vcs_t *m, uint16_t addr) {
  const vcs_scheme_row_t *row = vcs_scheme_row(cart->scheme);
  uint32_t spot = (addr & 0xFFFu) - row->first_spot;
  switch (row->kind) {
    case VCS_CART_FULL:
    case VCS_CART_DPC:
      if (spot < row->hot_spots) vcs_cart_select(row, m, spot);
      break;
    case VCS_CART_E0:
      if (spot < row->hot_spots) m->bank[spot >> 3] = (spot & 7) << 10;
      break;
    case VCS_CART_E7: /* number 7 is RAM; its write port reads as the last 2 KiB */
      if (spot < 8) {
        vcs_cart_select_lower(cart, m, spot);
        m->cart_byte[VCS_CART_RAM_ON] = spot == 7;
      } else if (spot < row->hot_spots) {
        m->cart_byte[VCS_CART_RAM_PAGE] = (uint8_t)(spot & 3);
      }
      break;
    default:
      break;
  }
}

/* ---- DPC ---------------------------------------------------------------------------------------------------- */

/* The coprocessor of Pitfall II (US patent 4,644,495, "Video memory system", D. Crane, 1987). Eight data fetchers walk
 * down through 2 KiB of display ROM. A fetcher has an 11-bit counter, two comparators for the counter's low byte, and a
 * flag: the flag is set where the low byte equals `top` and cleared where it equals `bottom`, so it frames a sprite in
 * a column of data. Fetchers 5 to 7 can count a clock of their own instead of reads; their flags are then three square
 * waves.
 *
 *   read   $00-$03 random   $04-$07 sound   $08+i data   $10+i data AND flag   $38+i flag    (then the counter steps)
 *   write  $40+i top   $48+i bottom   $50+i counter low   $58+i counter high and music   $70-$77 reset random
 *
 * The registers of a fetcher lie in three arrays of the machine. The functions below take them out as one struct and
 * put it back. */
typedef struct {
  uint16_t counter;
  uint8_t top, bottom, flag;
  bool music; /* counts the music clock; false for fetchers 0 to 4 */
} vcs_dpc_fetcher_t;

VCS_FN uint32_t vcs_dpc_music_bit(uint32_t i) { return i < 5 ? 0 : 1u << (VCS_DPC_MUSIC_SHIFT + i - 5); }

VCS_FN vcs_dpc_fetcher_t vcs_dpc_fetcher(const vcs_t *m, uint32_t i) {
  vcs_dpc_fetcher_t fetcher;
  fetcher.counter = m->cart_word[i];
  fetcher.top = m->cart_byte[VCS_DPC_TOP + i];
  fetcher.bottom = m->cart_byte[VCS_DPC_BOTTOM + i];
  fetcher.flag = m->cart_byte[VCS_DPC_FLAG + i];
  fetcher.music = m->cart_clock[VCS_DPC_RANDOM_AND_MUSIC] & vcs_dpc_music_bit(i);
  return fetcher;
}

VCS_FN void vcs_dpc_set_fetcher(vcs_t *m, uint32_t i, vcs_dpc_fetcher_t fetcher) {
  uint32_t *modes = &m->cart_clock[VCS_DPC_RANDOM_AND_MUSIC], bit = vcs_dpc_music_bit(i);
  m->cart_word[i] = fetcher.counter;
  m->cart_byte[VCS_DPC_TOP + i] = fetcher.top;
  m->cart_byte[VCS_DPC_BOTTOM + i] = fetcher.bottom;
  m->cart_byte[VCS_DPC_FLAG + i] = fetcher.flag;
  *modes = fetcher.music ? *modes | bit : *modes & ~bit;
}

/* The random number is an eight-bit shift register; the new bit is 1 when an even number of bits 7, 5, 4, 3 is set.
 * The chip clocks it with every access. The references clock it with accesses that are not plain reads of ROM, and so
 * do we. */
VCS_FN void vcs_dpc_clock_random(vcs_t *m) {
  uint32_t state = m->cart_clock[VCS_DPC_RANDOM_AND_MUSIC], r = state & 0xFF;
  uint32_t bit = ~((r >> 7) ^ (r >> 5) ^ (r >> 4) ^ (r >> 3)) & 1;
  m->cart_clock[VCS_DPC_RANDOM_AND_MUSIC] = (state & ~0xFFu) | ((r << 1 | bit) & 0xFF);
}

/* Returns the clocks that the music oscillator has made since the last call: 15750 in 1193191.67 CPU cycles. The
 * fraction of a clock that remains is part of the state, as a double, and recorded sound depends on its rounding: the
 * product, the quotient and the sum are rounded one after the other. */
VCS_FN int32_t vcs_dpc_music_clocks(vcs_t *m) {
  const double frequency = 15750.0, cycles_per_second = 1193191.66666667;
  double passed = (double)(int32_t)(m->cycles - m->cart_clock[VCS_DPC_CYCLE]), clocks;
  memcpy(&clocks, &m->cart_clock[VCS_DPC_FRACTION], sizeof clocks);
  clocks = frequency * passed / cycles_per_second + clocks;
  int32_t whole = (int32_t)clocks;
  clocks -= (double)whole;
  memcpy(&m->cart_clock[VCS_DPC_FRACTION], &clocks, sizeof clocks);
  m->cart_clock[VCS_DPC_CYCLE] = m->cycles;
  return whole;
}

/* A fetcher that makes music, some clocks later. Its low byte counts top, top - 1, ..., 0, top, ...: a period of top +
 * 1 clocks. The wave is high above `bottom`. A counter above `top` counts down into the period and leaves the flag. */
VCS_FN vcs_dpc_fetcher_t vcs_dpc_wave(vcs_dpc_fetcher_t fetcher, uint32_t clocks) {
  uint32_t low = fetcher.counter & 0xFF, period = fetcher.top + 1u, steps = clocks % period;
  low = fetcher.top ? low + (low < steps ? period : 0) - steps : 0;
  bool high = low > fetcher.bottom;
  if (!high || low < period) fetcher.flag = high ? 0xFF : 0x00;
  fetcher.counter = (uint16_t)((fetcher.counter & 0x700) | low);
  return fetcher;
}

/* Brings the music up to the present. */
VCS_SLOW_FN void vcs_dpc_clock_music(vcs_t *m) {
  int32_t clocks = vcs_dpc_music_clocks(m);
  for (uint32_t i = 5; clocks > 0 && i < 8; i++) {
    vcs_dpc_fetcher_t fetcher = vcs_dpc_fetcher(m, i);
    if (fetcher.music) vcs_dpc_set_fetcher(m, i, vcs_dpc_wave(fetcher, (uint32_t)clocks));
  }
}

/* The sound of the three waves together. */
VCS_FN uint8_t vcs_dpc_amplitude(const vcs_t *m) {
  static const uint8_t amplitudes[8] = {0x0, 0x4, 0x5, 0x9, 0x6, 0xA, 0xB, 0xF};
  uint32_t waves = 0;
  for (uint32_t i = 5; i < 8; i++) {
    vcs_dpc_fetcher_t fetcher = vcs_dpc_fetcher(m, i);
    if (fetcher.music && fetcher.flag) waves |= 1u << (i - 5);
  }
  return amplitudes[waves];
}

/* The value of the register at an offset below $40. */
VCS_FN uint8_t vcs_dpc_register(const vcs_cart_t *cart, const vcs_t *m, uint32_t offset) {
  vcs_dpc_fetcher_t fetcher = vcs_dpc_fetcher(m, offset & 7);
  uint8_t data = cart->rom[VCS_DPC_DISPLAY_ROM + 2047 - (fetcher.counter & 0x7FF)];
  if (offset < 0x04) return (uint8_t)m->cart_clock[VCS_DPC_RANDOM_AND_MUSIC];
  if (offset < 0x08) return vcs_dpc_amplitude(m);
  if (offset < 0x10) return data;
  if (offset < 0x18) return data & fetcher.flag;
  return offset < 0x38 ? 0 : fetcher.flag;
}

/* The comparators of a fetcher set or clear its flag when it is addressed. */
VCS_FN void vcs_dpc_compare(vcs_t *m, uint32_t i) {
  vcs_dpc_fetcher_t fetcher = vcs_dpc_fetcher(m, i);
  uint8_t low = (uint8_t)fetcher.counter;
  bool at_top = low == fetcher.top;
  if (at_top || low == fetcher.bottom) m->cart_byte[VCS_DPC_FLAG + i] = at_top ? 0xFF : 0x00;
}

/* A read of a register makes its fetcher go on to the next byte, unless that counts the music clock. */
VCS_FN void vcs_dpc_next(vcs_t *m, uint32_t i) {
  if (!vcs_dpc_fetcher(m, i).music) m->cart_word[i] = (uint16_t)((m->cart_word[i] - 1) & 0x7FF);
}

VCS_SLOW_FN uint8_t vcs_dpc_read(const vcs_cart_t *cart, vcs_t *m, uint16_t addr) {
  uint32_t offset = addr & 0xFFFu;
  vcs_dpc_clock_random(m);
  if (offset >= 0x40) {
    vcs_cart_touch(cart, m, addr);
    return cart->rom[m->bank[offset >> 10] + (offset & 0x3FF)];
  }
  vcs_dpc_compare(m, offset & 7);
  if (offset >> 2 == 1) vcs_dpc_clock_music(m);
  uint8_t value = vcs_dpc_register(cart, m, offset);
  vcs_dpc_next(m, offset & 7);
  return value;
}

VCS_SLOW_FN void vcs_dpc_write(const vcs_cart_t *cart, vcs_t *m, uint16_t addr, uint8_t value) {
  uint32_t offset = addr & 0xFFFu, i = offset & 7;
  vcs_dpc_fetcher_t fetcher = vcs_dpc_fetcher(m, i);
  vcs_dpc_clock_random(m);
  if (offset < 0x40 || offset >= 0x80) {
    vcs_cart_touch(cart, m, addr);
  } else if (offset < 0x48) {
    fetcher.top = value;
    fetcher.flag = 0x00;
  } else if (offset < 0x50) {
    fetcher.bottom = value;
  } else if (offset < 0x58) { /* a fetcher that makes music starts at its top, whatever is written */
    fetcher.counter = (uint16_t)((fetcher.counter & 0x700) | (fetcher.music ? fetcher.top : value));
  } else if (offset < 0x60) {
    fetcher.counter = (uint16_t)((value & 7) << 8 | (fetcher.counter & 0xFF));
    fetcher.music = i >= 5 && value & 0x10;
  } else if (offset >= 0x70 && offset < 0x78) {
    m->cart_clock[VCS_DPC_RANDOM_AND_MUSIC] = (m->cart_clock[VCS_DPC_RANDOM_AND_MUSIC] & ~0xFFu) | 1;
  }
  vcs_dpc_set_fetcher(m, i, fetcher);
}

/* ---- Power-on and reset ------------------------------------------------------------------------------------- */

VCS_FN void vcs_cart_start_banks(const vcs_cart_t *cart, vcs_t *m) {
  const vcs_scheme_row_t *row = vcs_scheme_row(cart->scheme);
  switch (row->kind) {
    case VCS_CART_E0: /* the last four */
      for (uint32_t i = 0; i < 4; ++i) m->bank[i] = (4 + i) << 10;
      break;
    case VCS_CART_3F:
    case VCS_CART_3E:
    case VCS_CART_E7:
      vcs_cart_select_lower(cart, m, 0);
      m->bank[2] = cart->rom_size - 2048u;
      m->bank[3] = cart->rom_size - 1024u;
      m->cart_byte[VCS_CART_RAM_PAGE] = 0;
      break;
    default:
      vcs_cart_select(row, m, row->start_bank == VCS_CART_LAST ? cart->rom_size / row->bank_size - 1 : row->start_bank);
      break;
  }
}

/* Cartridge RAM at power-on. A CV image of 4 KiB carries it in its first 1 KiB. */
VCS_SLOW_FN void vcs_cart_fill_ram(const vcs_cart_t *cart, vcs_t *m) {
  if (cart->scheme == VCS_SCHEME_CV && cart->rom_size > 2048)
    memcpy(m->cart_ram, cart->rom, cart->ram_size);
  else
    vcs_random_fill(cart, m, m->cart_ram, (int)cart->ram_size);
}

/* Power-on, once, when the machine is made. xitari fills cartridge RAM here and never again. */
VCS_FN void vcs_cart_init(const vcs_cart_t *cart, vcs_t *m) {
  memset(m->cart_byte, 0, sizeof m->cart_byte);
  memset(m->cart_word, 0, sizeof m->cart_word);
  memset(m->cart_clock, 0, sizeof m->cart_clock);
  memset(m->cart_ram, 0, cart->ram_size);
  if (cart->scheme == VCS_SCHEME_DPC) m->cart_clock[VCS_DPC_RANDOM_AND_MUSIC] = 1;
  if (cart->ram_size && !cart->random_ram) vcs_cart_fill_ram(cart, m);
  vcs_cart_start_banks(cart, m);
}

/* System reset: the banks. RAM and the registers of the DPC survive, but ale-py fills RAM anew at every reset, after
 * the RIOT has drawn its timer. */
VCS_FN void vcs_cart_reset(const vcs_cart_t *cart, vcs_t *m) {
  if (cart->ram_size && cart->random_ram) vcs_cart_fill_ram(cart, m);
  if (cart->scheme == VCS_SCHEME_DPC) {
    m->cart_clock[VCS_DPC_CYCLE] = m->cycles;
    m->cart_clock[VCS_DPC_FRACTION] = m->cart_clock[VCS_DPC_FRACTION + 1] = 0;
  }
  vcs_cart_start_banks(cart, m);
}

/* m->cycles is about to return to zero: at the start of a frame, and at a system reset (before vcs_cart_reset). */
VCS_FN void vcs_cart_rebase_cycles(const vcs_cart_t *cart, vcs_t *m) {
  if (cart->scheme == VCS_SCHEME_DPC) m->cart_clock[VCS_DPC_CYCLE] -= m->cycles;
}

/* ---- Accesses to the window --------------------------------------------------------------------------------- */

/* What is at an address now; nothing changes. At a hot spot that is the byte in the present bank, not in the one that
 * a read would switch to. */
VCS_FN uint8_t vcs_cart_peek(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  int32_t place = vcs_cart_read_place(cart, m, addr);
  if (place == VCS_CART_REGISTER) return vcs_dpc_register(cart, m, addr & 0x3Fu);
  return place < 0 ? m->cart_ram[~place] : cart->rom[place];
}

VCS_SLOW_FN uint8_t vcs_cart_read_hot(const vcs_cart_t *cart, vcs_t *m, uint16_t addr) {
  if (cart->scheme == VCS_SCHEME_DPC) return vcs_dpc_read(cart, m, addr);
  vcs_cart_touch(cart, m, addr);
  return vcs_cart_peek(cart, m, addr);
}

VCS_FN uint8_t vcs_cart_read(const vcs_cart_t *cart, vcs_t *m, uint16_t addr) {
  if (VCS_UNLIKELY(cart->hot_pages >> ((addr >> 6) & 63) & 1)) return vcs_cart_read_hot(cart, m, addr);
  return cart->rom[m->bank[(addr >> 10) & 3] + (addr & 0x3FFu)];
}

/* A number is written to the bank register of 3F or 3E; `addr` is its address without A12. */
VCS_FN void vcs_cart_write_number(const vcs_cart_t *cart, vcs_t *m, uint16_t addr, uint8_t value) {
  if (cart->scheme == VCS_SCHEME_3F ? addr <= 0x3F : addr == 0x3F) {
    vcs_cart_select_lower(cart, m, value);
  } else if (cart->scheme == VCS_SCHEME_3E && addr == 0x3E) {
    m->cart_byte[VCS_CART_RAM_PAGE] = value & 31;
    m->cart_byte[VCS_CART_RAM_ON] = 1;
  }
}

/* A write to the window. True: the TIA sees the write too, at addr & $FFF. That, and that $103E and $103F work like
 * $3E and $3F, is so for 3F and 3E in both references, though hardly on a board. F4SC's hot spots are deaf to writes in
 * both references, unlike those of F8SC and F6SC (test_cart_f4sc_hot_spots_ignore_writes). */
VCS_SLOW_FN bool vcs_cart_write(const vcs_cart_t *cart, vcs_t *m, uint16_t addr, uint8_t value) {
  const vcs_scheme_row_t *row = vcs_scheme_row(cart->scheme);
  int32_t place = vcs_cart_write_place(cart, m, addr);
  if (place >= 0) {
    m->cart_ram[place] = value;
  } else if (row->kind == VCS_CART_DPC) {
    vcs_dpc_write(cart, m, addr, value);
  } else if (row->kind == VCS_CART_3F || row->kind == VCS_CART_3E) {
    vcs_cart_write_number(cart, m, addr & 0xFFF, value);
    return true;
  } else if (!row->write_deaf) {
    vcs_cart_touch(cart, m, addr);
  }
  return false;
}

/* ---- Accesses below $1000, for schemes that snoop ------------------------------------------------------------ */

/* UA, 0840 and SB: the address alone selects. On the boards these hot spots are mirrored as far as their decoders do
 * not look; UA's is exact in the references, 0840 and SB look at A12, A11 and the low bits. The bus keeps accesses to
 * RIOT RAM to itself, so of those hot spots the ones that are also mirrors of RAM ($0880, ...) do not switch. */
VCS_FN void vcs_cart_snoop_address(const vcs_cart_t *cart, vcs_t *m, uint16_t addr) {
  const vcs_scheme_row_t *row = vcs_scheme_row(cart->scheme);
  if (row->kind == VCS_CART_SB) {
    if ((addr & 0x1800) == 0x0800) vcs_cart_select(row, m, addr & (cart->rom_size / 4096u - 1));
  } else if (row->kind == VCS_CART_LOW) {
    bool ua = cart->scheme == VCS_SCHEME_UA;
    uint32_t seen = addr & (ua ? 0x1FFFu : 0x1840u);
    if (seen == (ua ? 0x0220u : 0x0800u)) vcs_cart_select(row, m, 0);
    if (seen == (ua ? 0x0240u : 0x0840u)) vcs_cart_select(row, m, 1);
  }
}

/* A read with A12 low. True: *value is what is read, and no chip is. With 3F and 3E the references let the cartridge
 * answer reads of $00-$3F, as if they were reads of $1000-$103F; a program sees the TIA at $40-$7F and in the other
 * mirrors (test_cart_3f_answers_reads_of_page_zero). */
VCS_SLOW_FN bool vcs_cart_snoop_read(const vcs_cart_t *cart, vcs_t *m, uint16_t addr, uint8_t *value) {
  if (cart->scheme == VCS_SCHEME_3F || cart->scheme == VCS_SCHEME_3E) {
    if ((addr & 0x1FFF) > 0x3F) return false;
    *value = vcs_cart_peek(cart, m, addr);
    return true;
  }
  vcs_cart_snoop_address(cart, m, addr);
  return false;
}

/* A write with A12 low. The chip is written as well. */
VCS_SLOW_FN void vcs_cart_snoop_write(const vcs_cart_t *cart, vcs_t *m, uint16_t addr, uint8_t value) {
  if (cart->scheme == VCS_SCHEME_3F || cart->scheme == VCS_SCHEME_3E)
    vcs_cart_write_number(cart, m, addr & 0x1FFF, value);
  else
    vcs_cart_snoop_address(cart, m, addr);
}

#endif
