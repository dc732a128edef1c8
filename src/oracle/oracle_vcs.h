/* oracle_vcs.h: a second console around the second 6502 (oracle_6502.h) and the second TIA (oracle_tia.h).
 *
 * It is the other port of PXC2 (docs/paper.md): a whole VCS that runs commercial cartridges and shares no function and
 * no table with src/core. From there it takes data only: the registers of a machine to start from, the image, where the
 * television's picture begins, and the pins that the controllers drive. It was written from the data sheets and from
 * docs/tia.md, in the plainest way:
 *
 *   time       counts cycles for ever; a frame remembers when it began
 *   RIOT       the timer is its start value minus the intervals that have passed (MCS6532 data sheet)
 *   cartridge  2K, 4K, F8, F6, F4, their Superchip versions, E0, FE (K. Horton, "Cart Information")
 *   frame      from one VSYNC to the next; no more than 25,000 instructions at a time
 *
 * Two agreeing implementations can still share a misunderstanding. What neither can hide is a slip in the other: masks,
 * lazy drawing, decoded instructions and skipped wait loops are all on one side only.
 */
#ifndef ORACLE_VCS_H
#define ORACLE_VCS_H

#include "oracle/oracle_6502.h"
#include "oracle/oracle_tia.h"

enum { ORACLE_FRAME_INSTRUCTIONS = 25000 };

typedef struct {
  oracle_t cpu; /* first: the board finds its console by it */
  oracle_tv_t tv;

  /* RIOT */
  unsigned timer, interval, offset; /* the value that was set, cycles between two steps, steps beside the intervals */
  uint32_t timer_set;               /* cycle in which it was set */
  bool expired_read;                /* it was read after it ran out */
  uint8_t swcha, swchb;

  /* Controllers: fire pins, and the cycles that a pot takes to charge; 0: shorted, -1: nothing connected */
  bool fire[2];
  int64_t charge[4];
  bool dumped;       /* capacitors are held to ground, ... */
  uint32_t undumped; /* ... or charge since this cycle */

  /* Cartridge */
  const uint8_t *image;
  unsigned image_size;
  const char *scheme;
  unsigned bank[4]; /* offset in the image of each 1 KiB of the window */
  uint8_t extra[128];

  /* Frames */
  uint32_t began, line_began; /* cycle in which the frame began, and its first line */
  unsigned max_lines, height;
  uint32_t vsync_at; /* cycle of the last VSYNC, ... */
  bool vsync;        /* ... which is held, */
  bool over;         /* and has ended the frame */
  bool unfinished, greyed, colour_loss, odd;
  uint8_t shown[2][ORACLE_LINES_MOST][160]; /* two pictures in turn */
  int front;
} oracle_vcs_t;

/* ---- The cartridge ---------------------------------------------------------------------------------------------- */

static inline bool oracle_scheme_is(const oracle_vcs_t *v, const char *name) {
  return strncmp(v->scheme, name, strlen(name)) == 0;
}

static inline bool oracle_has_extra(const oracle_vcs_t *v) { return strlen(v->scheme) == 4; } /* F8SC, F6SC, F4SC */

/* A read or a write of a hot spot selects a bank. */
static inline void oracle_touch(oracle_vcs_t *v, unsigned offset) {
  unsigned first = oracle_scheme_is(v, "F8") ? 0xFF8 : oracle_scheme_is(v, "F6") ? 0xFF6 : 0xFF4;
  if (v->scheme[0] == 'F' && v->scheme[1] != 'E' && offset >= first && offset < first + v->image_size / 4096) {
    for (unsigned i = 0; i < 4; i++) v->bank[i] = 4096 * (offset - first) + 1024 * i;
  }
  if (oracle_scheme_is(v, "E0") && offset >= 0xFE0 && offset < 0xFF8) v->bank[(offset - 0xFE0) / 8] = offset % 8 * 1024;
}

static inline uint8_t oracle_cart_read(oracle_vcs_t *v, unsigned addr) {
  unsigned offset = addr % 4096;
  oracle_touch(v, offset);
  if (oracle_scheme_is(v, "FE")) return v->image[(addr & 0x2000 ? 0 : 4096) + offset];
  if (oracle_has_extra(v) && offset >= 128 && offset < 256) return v->extra[offset - 128];
  return v->image[v->bank[offset / 1024] + offset % 1024];
}

static inline void oracle_cart_write(oracle_vcs_t *v, unsigned addr, uint8_t value) {
  unsigned offset = addr % 4096;
  if (oracle_has_extra(v) && offset < 128) v->extra[offset] = value;
  if (!oracle_scheme_is(v, "F4SC")) oracle_touch(v, offset);
}

/* ---- The RIOT --------------------------------------------------------------------------------------------------- */

/* The timer steps in the cycle after it is set, and then once an interval. When it has run out it steps every cycle
 * until it is read, and from then on once an interval again. */
static inline unsigned oracle_intervals(const oracle_vcs_t *v) {
  return (v->cpu.cycles - 1 - v->timer_set) / v->interval;
}

static inline uint8_t oracle_intim(oracle_vcs_t *v) {
  uint32_t runs_out = v->timer_set + 1 + v->timer * v->interval;
  if (oracle_intervals(v) >= v->timer && !v->expired_read && v->cpu.cycles != runs_out) {
    v->expired_read = true;
    v->offset = v->cpu.cycles - runs_out + 1;
  }
  return (uint8_t)(v->timer - oracle_intervals(v) - v->offset);
}

static inline uint8_t oracle_riot_read(oracle_vcs_t *v, unsigned addr) {
  switch (addr % 8) {
    case 0:
      return v->swcha;
    case 1:
      return v->cpu.ddra;
    case 2:
      return v->swchb;
    case 3:
      return 0;
    case 4:
    case 6:
      return oracle_intim(v);
    default:
      return oracle_intervals(v) >= v->timer && !v->expired_read ? 128 : 0;
  }
}

static inline void oracle_riot_write(oracle_vcs_t *v, unsigned addr, uint8_t value) {
  static const unsigned intervals[4] = {1, 8, 64, 1024};
  if (addr % 8 == 1) v->cpu.ddra = value;
  if (addr % 8 < 4 || !(addr & 16)) return;
  v->timer = value;
  v->interval = intervals[addr % 4];
  v->timer_set = v->cpu.cycles;
  v->offset = 1;
  v->expired_read = false;
}

/* ---- The TIA ---------------------------------------------------------------------------------------------------- */

static inline int oracle_line_cycles(const oracle_vcs_t *v) { return (int)(v->cpu.cycles - v->line_began); }

/* A capacitor charges from the cycle in which VBLANK releases it; the reference forgets one that was full before the
 * frame began. */
static inline bool oracle_pot(const oracle_vcs_t *v, int pot) {
  if (v->charge[pot] <= 0) return v->charge[pot] == 0;
  int64_t full = (int64_t)(int32_t)(v->undumped - v->began) + v->charge[pot];
  return !v->dumped && full >= 0 && (int64_t)(v->cpu.cycles - v->began) > full;
}

static inline uint8_t oracle_tia_read(oracle_vcs_t *v, unsigned addr) {
  unsigned r = addr % 16, high = 0, low = v->cpu.bus % 64;
  oracle_draw(&v->tv, 3 * oracle_line_cycles(v));
  if (r < 8) {
    high = (unsigned)v->tv.t.collisions >> 2 * r & 1;
    low += ((unsigned)v->tv.t.collisions >> (2 * r + 1) & 1) * 64;
  } else if (r < 12) {
    high = oracle_pot(v, (int)r - 8);
  } else if (r < 14) {
    high = v->fire[r - 12];
  }
  return (uint8_t)(128 * high + low);
}

/* VSYNC ends the frame if it was held for a line. */
static inline void oracle_vsync(oracle_vcs_t *v, uint8_t value) {
  v->tv.t.vsync = value;
  if (value & 2) {
    v->vsync = true;
    v->vsync_at = v->cpu.cycles;
  } else if (v->vsync && v->cpu.cycles - v->vsync_at >= 76) {
    v->vsync = false;
    v->over = true;
  }
}

/* Bit 7 of VBLANK. */
static inline void oracle_dump(oracle_vcs_t *v, uint8_t value) {
  if (value >= 128 && v->tv.t.vblank < 128) v->dumped = true;
  if (value < 128 && v->tv.t.vblank >= 128) {
    v->dumped = false;
    v->undumped = v->cpu.cycles;
  }
}

static inline void oracle_chip_write(oracle_vcs_t *v, unsigned addr, uint8_t value) {
  static const int colour[4] = {2, 3, 1, 0}; /* COLUP0, COLUP1, COLUPF, COLUBK in colu[] */
  int r = (int)(addr % 64), cycles = oracle_line_cycles(v);
  if (r == 0x02 && !v->cpu.last_was_read) r = 0x03; /* WSYNC halts a CPU that is about to read, not one that writes */
  if (r == 0x00) oracle_vsync(v, value);
  if (r == 0x01) oracle_dump(v, value);
  oracle_tia_write(&v->tv, cycles, r, value);
  if (r >= 0x06 && r <= 0x09 && v->colour_loss && v->odd) v->tv.t.colu[colour[r - 0x06]] |= 1;
  if (cycles >= 76 * (int)(v->max_lines + 1)) v->over = true;
  if (r == 0x02) {
    while (oracle_line_cycles(v) % 76 != 0) v->cpu.cycles++;
  }
}

/* ---- The bus ---------------------------------------------------------------------------------------------------- */

static inline uint8_t oracle_board_read(oracle_t *o, unsigned addr) {
  oracle_vcs_t *v = (oracle_vcs_t *)(void *)o;
  if (addr & 0x1000) return oracle_cart_read(v, addr);
  if (!(addr & 0x80)) return oracle_tia_read(v, addr);
  return addr & 0x200 ? oracle_riot_read(v, addr) : o->ram[addr % 128];
}

static inline void oracle_board_write(oracle_t *o, unsigned addr, uint8_t value) {
  oracle_vcs_t *v = (oracle_vcs_t *)(void *)o;
  if (addr & 0x1000)
    oracle_cart_write(v, addr, value);
  else if (!(addr & 0x80))
    oracle_chip_write(v, addr, value);
  else if (addr & 0x200)
    oracle_riot_write(v, addr, value);
  else
    o->ram[addr % 128] = value;
}

static const oracle_board_t oracle_board = {oracle_board_read, oracle_board_write};

/* ---- Frames ----------------------------------------------------------------------------------------------------- */

static inline int oracle_scanline(const oracle_vcs_t *v) { return oracle_line_cycles(v) / 76; }

/* The frame's first line is the one that the CPU is in. */
static inline void oracle_begin_frame(oracle_vcs_t *v) {
  uint32_t line_began = v->cpu.cycles - (uint32_t)(oracle_line_cycles(v) % 76);
  v->tv.hmove -= 3 * (int)(line_began - v->line_began);
  v->began = v->cpu.cycles;
  v->line_began = line_began;
  v->front = 1 - v->front;
  memcpy(v->tv.picture, v->shown[v->front], sizeof v->tv.picture);
  v->tv.drawn = 228 * v->tv.top;
  v->greyed = false;
  for (int i = 0; i < 4 && v->colour_loss; i++) v->tv.t.colu[i] = (uint8_t)(v->tv.t.colu[i] / 2 * 2 + v->odd);
}

static inline void oracle_grey(oracle_vcs_t *v) {
  int row = oracle_scanline(v) - v->tv.top;
  for (row = row < 0 ? 0 : row; row < v->tv.lines; row++) {
    for (int x = 0; x < 160; x++) v->tv.picture[row][x] = v->tv.picture[row][x] % 16 / 2;
  }
}

/* One frame. A frame that does not end goes on in the next call. */
static inline void oracle_frame(oracle_vcs_t *v) {
  if (!v->unfinished) oracle_begin_frame(v);
  v->over = false;
  for (int i = 0; i < ORACLE_FRAME_INSTRUCTIONS && !v->over && !v->cpu.jammed; i++) oracle_step(&v->cpu);
  v->unfinished = !v->over;
  if (v->over) v->odd = oracle_scanline(v) % 2;
  if (v->unfinished && !v->greyed) {
    oracle_grey(v);
    v->greyed = true;
  }
  memcpy(v->shown[v->front], v->tv.picture, sizeof v->tv.picture);
}

#endif
