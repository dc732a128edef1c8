/* tia_video.h: from TIA registers to pixels and collisions.
 *
 * A line has 160 pixels; here it is three 64-bit words, leftmost pixel in bit 0 of word 0. Each of the six objects
 * is a mask of the pixels it lights. A piece of a line, between two register changes, is then plain mask algebra:
 * collisions are ANDs, priority is AND NOT, and colours are spread to bytes only when somebody wants the picture.
 *
 *   word 0            word 1            word 2
 *   0              63 64            127 128  159
 *   +---------------+-----------------+-------+
 *   | P0 ..##..     |   ..##..        |       |    copies of an object that passes pixel 159 go on at pixel 0
 *
 * Order of objects everywhere: P0, P1, M0, M1, BL (as in pos[] and hm[]), then PF.
 *
 * A mask is made when it is first needed after a change, and kept: a register write marks the objects it moves as stale
 * (tia.h), a word at a time is made afresh. The masks are not part of the machine, they can always be made again; they
 * live in vcs_video_t, which is set up anew whenever the CPU is started.
 */
#ifndef VCS_CORE_TIA_VIDEO_H
#define VCS_CORE_TIA_VIDEO_H

#include "bits.h"
#include "state.h"

enum { VCS_P0, VCS_P1, VCS_M0, VCS_M1, VCS_BL, VCS_PF, VCS_OBJECTS };
enum { VCS_COLUBK, VCS_COLUPF, VCS_COLUP0, VCS_COLUP1 };

/* What goes with a machine while it runs: where it draws, and its masks. */
typedef struct {
  uint64_t mask[3][VCS_OBJECTS]; /* by word of the line */
  uint64_t meet[3];              /* where two objects or more are */
  uint64_t colour[3][4];         /* where each colour shows; only made when somebody looks */
  uint32_t stale;                /* bit 8 * word + object: that mask is out of date */
  uint8_t *frames;               /* two frame buffers, or NULL when nobody looks */
  int32_t start, stop;           /* the clocks of the frame that are in the picture */
  int32_t limit;                 /* the clock of the frame from which the next write ends it */
} vcs_video_t;

VCS_FN void vcs_video_start(vcs_video_t *video, const vcs_cart_t *cart, uint8_t *frames) {
  video->frames = frames;
  video->stale = 0x3F3F3F;
  video->start = VCS_LINE_CLOCKS * cart->top_line;
  video->stop = video->start + VCS_LINE_CLOCKS * cart->height;
  video->limit = VCS_LINE_CLOCKS * (cart->max_lines + 1);
}

/* Objects (a set of 1 << VCS_P0 ...) whose pixels may have changed. */
VCS_FN void vcs_video_touch(vcs_video_t *video, unsigned objects) { video->stale |= objects * 0x010101u; }

/* NUSIZ bits 0-2: where the copies are (in units of 16 pixels after the first, 0: none), and the stretch. */
typedef struct {
  uint8_t second, third, stretch;
} vcs_copies_t;

VCS_TABLE(vcs_copies_t, vcs_copies, 8,
          {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {1, 2, 1}, {4, 0, 1}, {0, 0, 2}, {2, 4, 1}, {0, 0, 4}})

VCS_FN bool vcs_has_copies(unsigned nusiz) { return 0x5E >> (nusiz & 7) & 1; } /* 1, 2, 3, 4, 6 */

/* Each bit of b as 2, or 4, neighbouring pixels. */
VCS_FN uint64_t vcs_stretch2(uint64_t b) {
  b = (b | b << 4) & 0x0F0F;
  b = (b | b << 2) & 0x3333;
  b = (b | b << 1) & 0x5555;
  return b | b << 1;
}

VCS_FN uint64_t vcs_stretch4(uint64_t b) {
  b = (b | b << 24) & 0x000000FF000000FFULL;
  b = (b | b << 12) & 0x000F000F000F000FULL;
  b = (b | b << 6) & 0x0303030303030303ULL;
  b = (b | b << 3) & 0x1111111111111111ULL;
  return b * 15;
}

/* A shape (at most 33 pixels wide) starting at pixel `pos`, as seen in the 64 pixels from `x` on. */
VCS_FN uint64_t vcs_place(uint64_t shape, int pos, int x) {
  if (pos >= 160) pos -= 160;
  int d = pos - x;
  uint64_t seen = (unsigned)d < 64 ? shape << d : (unsigned)-d < 64 ? shape >> -d : 0;
  if (VCS_UNLIKELY(pos > 160 - 33) && x == 0) seen |= shape >> (160 - pos); /* what passed the right edge */
  return seen;
}

/* The pixels of an object's copies in the 64 pixels from x on. */
VCS_FN uint64_t vcs_place_copies(uint64_t shape, int pos, unsigned nusiz, unsigned first_off, int x) {
  uint64_t seen = first_off ? 0 : vcs_place(shape, pos, x);
  if (vcs_has_copies(nusiz)) {
    vcs_copies_t copies = vcs_copies(nusiz & 7);
    seen |= vcs_place(shape, pos + 16 * copies.second, x);
    if (copies.third) seen |= vcs_place(shape, pos + 16 * copies.third, x);
  }
  return seen;
}

/* The eight bits a player shows now: delayed or not, mirrored or not, leftmost pixel in bit 0. */
VCS_FN uint8_t vcs_player_bits(const vcs_t *m, int player) {
  uint8_t grp = m->vdelp[player] ? m->grp_old[player] : m->grp[player];
  return m->reflect[player] ? grp : vcs_reverse(grp);
}

/* Stretched players start one pixel late. */
VCS_FN uint64_t vcs_player_shape(uint8_t bits, unsigned nusiz) {
  if (VCS_LIKELY((nusiz & 5) != 5)) return bits;
  return ((nusiz & 7) == 5 ? vcs_stretch2(bits) : vcs_stretch4(bits)) << 1;
}

VCS_FN bool vcs_missile_on(const vcs_t *m, int missile) { return m->enam[missile] && !m->resmp[missile]; }
VCS_FN bool vcs_ball_on(const vcs_t *m) { return m->vdelbl ? m->enabl_old : m->enabl; }

VCS_FN uint64_t vcs_width_shape(unsigned code) { return (1ULL << (1 << (code & 3))) - 1; }

/* Missile 0 can be wider than set, or off, on lines of the star field effect (tia.h). */
VCS_FN uint64_t vcs_missile_shape(const vcs_t *m, int missile) {
  unsigned width = m->nusiz[missile] >> 4;
  if (missile == 0 && VCS_UNLIKELY(m->stars_shape)) return m->stars_shape == 1 ? vcs_width_shape(width | 1) : 0;
  return vcs_width_shape(width);
}

/* The playfield's 40 bits on a line, leftmost first: PF0 high nibble upwards, PF1 downwards, PF2 upwards. */
VCS_FN uint64_t vcs_playfield_bits(const vcs_t *m) {
  uint32_t left = m->pf[0] >> 4 | (uint32_t)vcs_reverse(m->pf[1]) << 4 | (uint32_t)m->pf[2] << 12;
  if (!m->pf_mirrored) return left | (uint64_t)left << 20;
  uint32_t right =
      (uint32_t)vcs_reverse(m->pf[2]) | (uint32_t)m->pf[1] << 8 | (uint32_t)(vcs_reverse(m->pf[0]) & 15) << 16;
  return left | (uint64_t)right << 20;
}

/* The objects that are on at all: those that can light a pixel with the right position. */
VCS_FN unsigned vcs_objects_on(const vcs_t *m) {
  unsigned on = 0;
  if (m->vdelp[0] ? m->grp_old[0] : m->grp[0]) on |= 1 << VCS_P0;
  if (m->vdelp[1] ? m->grp_old[1] : m->grp[1]) on |= 1 << VCS_P1;
  if (vcs_missile_on(m, 0)) on |= 1 << VCS_M0;
  if (vcs_missile_on(m, 1)) on |= 1 << VCS_M1;
  if (vcs_ball_on(m)) on |= 1 << VCS_BL;
  if (m->pf[0] >> 4 | m->pf[1] | m->pf[2]) on |= 1 << VCS_PF;
  return on;
}

/* The pixels of one object in the 64 from x = 0, 64 or 128 on. */
VCS_FN uint64_t vcs_object_mask(const vcs_t *m, int object, int x) {
  int side = object & 1;
  switch (object) {
    case VCS_P0:
    case VCS_P1:
      if (!(m->vdelp[side] ? m->grp_old[side] : m->grp[side])) return 0;
      return vcs_place_copies(vcs_player_shape(vcs_player_bits(m, side), m->nusiz[side]), m->pos[object],
                              m->nusiz[side], m->first_copy_off[side], x);
    case VCS_M0:
    case VCS_M1:
      if (!vcs_missile_on(m, side)) return 0;
      return vcs_place_copies(vcs_missile_shape(m, side), m->pos[object], m->nusiz[side], 0, x);
    case VCS_BL:
      return vcs_ball_on(m) ? vcs_place(vcs_width_shape(m->ctrlpf >> 4), m->pos[VCS_BL], x) : 0;
    default:
      return vcs_stretch4(vcs_playfield_bits(m) >> (x / 4) & 0xFFFF);
  }
}

/* Collision latches: bit 2r is D7 and bit 2r+1 is D6 of collision register r. */
VCS_FN uint16_t vcs_line_collisions(const uint64_t k[VCS_OBJECTS]) {
  return (uint16_t)((k[VCS_M0] & k[VCS_P1] ? 1u << 0 : 0) | (k[VCS_M0] & k[VCS_P0] ? 1u << 1 : 0) |
                    (k[VCS_M1] & k[VCS_P0] ? 1u << 2 : 0) | (k[VCS_M1] & k[VCS_P1] ? 1u << 3 : 0) |
                    (k[VCS_P0] & k[VCS_PF] ? 1u << 4 : 0) | (k[VCS_P0] & k[VCS_BL] ? 1u << 5 : 0) |
                    (k[VCS_P1] & k[VCS_PF] ? 1u << 6 : 0) | (k[VCS_P1] & k[VCS_BL] ? 1u << 7 : 0) |
                    (k[VCS_M0] & k[VCS_PF] ? 1u << 8 : 0) | (k[VCS_M0] & k[VCS_BL] ? 1u << 9 : 0) |
                    (k[VCS_M1] & k[VCS_PF] ? 1u << 10 : 0) | (k[VCS_M1] & k[VCS_BL] ? 1u << 11 : 0) |
                    (k[VCS_BL] & k[VCS_PF] ? 1u << 12 : 0) | (k[VCS_P0] & k[VCS_P1] ? 1u << 14 : 0) |
                    (k[VCS_M0] & k[VCS_M1] ? 1u << 15 : 0));
}

/* Which pixels show COLUPF, COLUP0 and COLUP1 (the rest show COLUBK).
 *
 * Plain:     P0 M0 > P1 M1 > PF BL.     Playfield priority (CTRLPF bit 2): PF BL > P0 M0 > P1 M1.
 * Score (bit 1): the playfield takes COLUP0 on the left half, where it also has player 0's priority, and COLUP1 on
 * the right. Playfield priority overrides score, except where nothing but the playfield is on: there the reference
 * shows the score colours. */
VCS_FN void vcs_line_colours(const vcs_t *m, int x, const uint64_t k[VCS_OBJECTS], uint64_t colour[4]) {
  uint64_t p0 = k[VCS_P0] | k[VCS_M0], p1 = k[VCS_P1] | k[VCS_M1], pf = k[VCS_PF], bl = k[VCS_BL];
  bool front = m->ctrlpf & 4, score = m->ctrlpf & 2;
  if (score && (!front || vcs_objects_on(m) == 1u << VCS_PF)) {
    uint64_t left = x < 64 ? ~0ULL : x < 128 ? 0xFFFF : 0; /* pixels below 80 */
    colour[VCS_COLUP0] = p0 | (pf & left);
    colour[VCS_COLUP1] = (p1 | (pf & ~left)) & ~colour[VCS_COLUP0];
    colour[VCS_COLUPF] = bl & ~(colour[VCS_COLUP0] | colour[VCS_COLUP1]);
  } else if (front) {
    colour[VCS_COLUPF] = pf | bl;
    colour[VCS_COLUP0] = p0 & ~colour[VCS_COLUPF];
    colour[VCS_COLUP1] = p1 & ~(colour[VCS_COLUPF] | p0);
  } else {
    colour[VCS_COLUP0] = p0;
    colour[VCS_COLUP1] = p1 & ~p0;
    colour[VCS_COLUPF] = (pf | bl) & ~(p0 | p1);
  }
  colour[VCS_COLUBK] = ~(colour[VCS_COLUPF] | colour[VCS_COLUP0] | colour[VCS_COLUP1]);
}

/* Makes a word of the line afresh where it is stale. */
VCS_SLOW_FN void vcs_line_refresh(const vcs_t *m, vcs_video_t *video, int word) {
  unsigned stale = video->stale >> 8 * word & 0x3F;
  uint64_t *k = video->mask[word];
  for (; stale; stale &= stale - 1) {
    int i = VCS_LOWEST(stale);
    k[i] = vcs_object_mask(m, i, 64 * word);
  }
  uint64_t once = k[0], twice = 0;
  for (int i = 1; i < VCS_OBJECTS; i++) {
    twice |= once & k[i];
    once |= k[i];
  }
  video->meet[word] = twice;
  if (video->frames) vcs_line_colours(m, 64 * word, k, video->colour[word]);
  video->stale &= ~(0x3Fu << 8 * word);
}

/* Each bit of b as a byte of 0x00 or 0xFF. */
#define VCS_SPREAD_1(b)                                                                                             \
  (((b)&1 ? 0xFFULL : 0) | ((b)&2 ? 0xFFULL << 8 : 0) | ((b)&4 ? 0xFFULL << 16 : 0) | ((b)&8 ? 0xFFULL << 24 : 0) | \
   ((b)&16 ? 0xFFULL << 32 : 0) | ((b)&32 ? 0xFFULL << 40 : 0) | ((b)&64 ? 0xFFULL << 48 : 0) |                     \
   ((b)&128 ? 0xFFULL << 56 : 0))
#define VCS_SPREAD_4(b) VCS_SPREAD_1(b), VCS_SPREAD_1((b) + 1), VCS_SPREAD_1((b) + 2), VCS_SPREAD_1((b) + 3)
#define VCS_SPREAD_16(b) VCS_SPREAD_4(b), VCS_SPREAD_4((b) + 4), VCS_SPREAD_4((b) + 8), VCS_SPREAD_4((b) + 12)
#define VCS_SPREAD_64(b) VCS_SPREAD_16(b), VCS_SPREAD_16((b) + 16), VCS_SPREAD_16((b) + 32), VCS_SPREAD_16((b) + 48)
VCS_TABLE(uint64_t, vcs_spread_bytes, 256,
          {VCS_SPREAD_64(0), VCS_SPREAD_64(64), VCS_SPREAD_64(128), VCS_SPREAD_64(192)})

VCS_FN void vcs_fill(uint8_t *bytes, uint8_t value, int count) {
#if defined(__CUDA_ARCH__)
  for (int i = 0; i < count; i++) bytes[i] = value;
#else
  __builtin_memset(bytes, value, (size_t)count);
#endif
}

/* Writes pixels [x0, x1) of the row, which lie in the 64 pixels from x on. */
VCS_FN void vcs_line_paint(const vcs_t *m, const uint64_t colour[4], int x, int x0, int x1, uint8_t *row) {
  uint64_t piece = (~0ULL >> (64 - (x1 - x0))) << (x0 - x);
  if (!(~colour[VCS_COLUBK] & piece)) {
    vcs_fill(row + x0, m->colu[VCS_COLUBK], x1 - x0);
    return;
  }
  uint64_t bk = m->colu[VCS_COLUBK] * 0x0101010101010101ULL;
  uint64_t pf = m->colu[VCS_COLUPF] * 0x0101010101010101ULL ^ bk;
  uint64_t p0 = m->colu[VCS_COLUP0] * 0x0101010101010101ULL ^ bk;
  uint64_t p1 = m->colu[VCS_COLUP1] * 0x0101010101010101ULL ^ bk;
  int from = x0 - x, to = x1 - x;
  for (int g = from & ~7; g < to; g += 8) {
    uint64_t eight = bk ^ (pf & vcs_spread_bytes(colour[VCS_COLUPF] >> g & 0xFF)) ^
                     (p0 & vcs_spread_bytes(colour[VCS_COLUP0] >> g & 0xFF)) ^
                     (p1 & vcs_spread_bytes(colour[VCS_COLUP1] >> g & 0xFF));
    uint8_t *at = row + x + g;
    if (g >= from && g + 8 <= to) {
      __builtin_memcpy(at, &eight, 8);
    } else { /* keep what is outside the piece */
      uint64_t old, inside = vcs_spread_bytes(piece >> g & 0xFF);
      __builtin_memcpy(&old, at, 8);
      eight = (eight & inside) | (old & ~inside);
      __builtin_memcpy(at, &eight, 8);
    }
  }
}

/* The pieces the reference paints four pixels at a time it may paint up to three pixels too far. The beam paints
 * over them when it goes on; where a frame stops in mid-line they stay. It does so only for some combinations of
 * objects that are on, and only where none of them has a place in the whole group of four. */
VCS_FN bool vcs_paints_ahead(unsigned on, bool score) {
  enum { P0 = 1 << VCS_P0, P1 = 1 << VCS_P1, M0 = 1 << VCS_M0, M1 = 1 << VCS_M1, BL = 1 << VCS_BL, PF = 1 << VCS_PF };
  switch (on) {
    case PF:
    case P0:
    case P1:
    case P0 | P1:
    case M0:
    case M1:
    case BL:
    case M0 | M1:
    case BL | M0:
    case BL | M1:
    case BL | P1:
      return true;
    case PF | P0:
    case PF | P1:
    case PF | BL:
      return !score;
    default:
      return false;
  }
}

VCS_SLOW_FN void vcs_line_paint_ahead(const vcs_t *m, vcs_video_t *video, unsigned on, int x0, int x1, uint8_t *row) {
  int group = x1 & ~3, x = group & ~63;
  if (group < x0 || !vcs_paints_ahead(on, m->ctrlpf & 2)) return;
  uint64_t four = 15ULL << (group - x);
  for (int p = 0; p < 2; p++) {
    uint64_t whole = vcs_player_shape(0xFF, m->nusiz[p]); /* where the player could be, whatever its graphics */
    if (on & 1u << (VCS_P0 + p) &&
        vcs_place_copies(whole, m->pos[VCS_P0 + p], m->nusiz[p], m->first_copy_off[p], x) & four) {
      return;
    }
  }
  int word = x >> 6;
  if (video->stale >> 8 * word & 0x3F) vcs_line_refresh(m, video, word);
  const uint64_t *k = video->mask[word];
  if ((k[VCS_M0] | k[VCS_M1] | k[VCS_BL]) & four) return;
  vcs_line_paint(m, video->colour[word], x, x1, group + 4, row);
}

/* Draws pixels [x0, x1) of the current line: latches collisions, and paints into `row` unless it is NULL. */
VCS_FN void vcs_line_draw(vcs_t *m, vcs_video_t *video, int x0, int x1, uint8_t *row) {
  if (m->vblank & 2) {
    if (row) vcs_fill(row + x0, 0, x1 - x0);
    return;
  }
  for (int word = x0 >> 6; 64 * word < x1; word++) {
    int x = 64 * word, first = x0 > x ? x0 : x, last = x1 < x + 64 ? x1 : x + 64;
    if (video->stale >> 8 * word & 0x3F) vcs_line_refresh(m, video, word);
    if (row) vcs_line_paint(m, video->colour[word], x, first, last, row);
    uint64_t meet = video->meet[word] & (~0ULL >> (64 - (last - first))) << (first - x);
    if (VCS_UNLIKELY(meet)) {
      uint64_t met[VCS_OBJECTS];
      for (int i = 0; i < VCS_OBJECTS; i++) met[i] = video->mask[word][i] & meet;
      m->collisions |= vcs_line_collisions(met);
    }
  }
}

#endif
