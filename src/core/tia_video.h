/* tia_video.h: from TIA registers to pixels and collisions.
 *
 * A line has 160 pixels; here it is three 64-bit words, leftmost pixel in bit 0 of word 0. Each of the six objects
 * is a mask of the pixels it lights. A piece of a line, between two register changes, is then plain mask algebra:
 * collisions are ANDs, priority is AND NOT, and colours become bytes only when the picture is drawn.
 *
 *   word 0            word 1            word 2
 *   0              63 64            127 128  159
 *   +---------------+-----------------+-------+
 *   | P0 ..##..     |   ..##..        |       |    copies of an object that passes pixel 159 go on at pixel 0
 *
 * Order of objects everywhere: P0, P1, M0, M1, BL (as in pos[] and hm[]), then PF.
 *
 * A line is drawn once, when it is over. An object's mask is made when it is first needed after a change, and kept: a
 * register write marks the objects it changes as stale (tia.h). A change in mid-line splits the object: its mask keeps
 * what it was to the left of the cut, and the registers at the end of the line make the rest. So a write costs at most
 * the mask of one object, and a line without changes costs nothing:
 *
 *   GRP0 written at x:   line[P0]  ..##..#|.......     to the left of the cut as it was
 *                        now[P0]   ..#.##.|.#.##..     with the new graphics; the next line begins with it
 *
 * Collisions are computed only for pairs of objects that are lit, not yet latched, and not both the same as in the line
 * before. Without a picture and without such a pair, masks are not made. With a picture, a line in which nothing has
 * changed is a copy of the row above it, and other lines are painted (paint.h). A change of colour or priority in
 * mid-line draws the piece up to it at once.
 *
 * None of this is part of the machine: it is in vcs_video_t, which can always be made again. It is set up whenever the
 * CPU is started; when the CPU stops, the current piece is drawn first (vcs_tia_catch_up).
 */
#ifndef VCS_CORE_TIA_VIDEO_H
#define VCS_CORE_TIA_VIDEO_H

#include "bits.h"
#include "paint.h"
#include "state.h"

enum { VCS_P0, VCS_P1, VCS_M0, VCS_M1, VCS_BL, VCS_PF, VCS_OBJECTS };

/* The comb that HMOVE makes: the line's first eight pixels stay blank, up to this clock. */
enum { VCS_COMB_PIXELS = 8, VCS_COMB_END = VCS_HBLANK_CLOCKS + VCS_COMB_PIXELS };

/* 160 pixels, leftmost in bit 0 of word 0; the upper half of the last word is empty. */
typedef struct {
  uint64_t word[3];
} vcs_pixels_t;

/* The registers that make the picture are neighbours in vcs_t. */
enum {
  VCS_LOOKS_FROM = offsetof(vcs_t, vblank),
  VCS_LOOKS_SIZE = offsetof(vcs_t, vsync) + VCS_TIA_BYTES - VCS_LOOKS_FROM, /* all but vsync */
};

/* What a running machine needs beside its state: where it draws, and the line that it is drawing. */
typedef struct {
  vcs_pixels_t line[VCS_OBJECTS]; /* what each object lights in this line, as far as registers are known */
  vcs_pixels_t now[VCS_OBJECTS];  /* what a split object would light with the present registers all along the line */
  uint8_t cut[VCS_OBJECTS];       /* a split object has its present registers from this pixel on */
  uint8_t split;                  /* objects that changed in mid-line */
  uint8_t stale;                  /* objects whose registers have changed since line[] was made */
  uint8_t lit;                    /* objects that light a pixel of line[] */
  uint8_t changed;                /* objects, or VCS_LOOK, that are not as they were in the last whole line */
  uint8_t before[VCS_LOOKS_SIZE]; /* the registers before the last change in mid-line, ... */
  int32_t before_clock;           /* ... and its clock; only with a picture */
  int32_t free_clock;  /* changes up to this clock of the frame need no cut: nothing of the line is shown yet */
  uint8_t *frames;     /* two frame buffers, or NULL without a picture */
  int32_t start, stop; /* the clocks of the frame that are in the picture */
  int32_t limit;       /* the clock of the frame from which the next write ends it */
  int32_t late;        /* `stop` or `limit`, whichever comes first */
  bool hmove_blanks, colour_loss; /* as in vcs_cart_t */
} vcs_video_t;

enum { VCS_ALL_OBJECTS = (1 << VCS_OBJECTS) - 1, VCS_LOOK = 1 << VCS_OBJECTS };

VCS_FN void vcs_video_start(vcs_video_t *video, const vcs_cart_t *cart, uint8_t *frames) {
  video->frames = frames;
  video->stale = VCS_ALL_OBJECTS;
  video->changed = VCS_ALL_OBJECTS | VCS_LOOK;
  video->split = video->lit = 0;
  video->before_clock = video->free_clock = -1;
  for (int i = 0; i < VCS_LOOKS_SIZE; i++) video->before[i] = 0;
  video->start = VCS_LINE_CLOCKS * cart->top_line;
  video->stop = video->start + VCS_LINE_CLOCKS * cart->height;
  video->limit = VCS_LINE_CLOCKS * (cart->max_lines + 1);
  video->late = video->stop < video->limit ? video->stop : video->limit;
  video->hmove_blanks = cart->hmove_blanks;
  video->colour_loss = cart->colour_loss;
}

/* Objects (a set of 1 << VCS_P0 ...) whose pixels may have changed. */
VCS_FN void vcs_video_touch(vcs_video_t *video, unsigned objects) {
  video->stale |= (uint8_t)objects;
  video->changed |= (uint8_t)objects;
}

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

/* Adds a shape (at most 33 pixels wide) that starts at pixel `pos`. What passes the right edge lies above pixel 159
 * until vcs_object_pixels folds it back; the fourth word only takes the zeros behind it. */
VCS_FN void vcs_place(uint64_t k[4], uint64_t shape, unsigned pos) {
  if (pos >= VCS_WIDTH) pos -= VCS_WIDTH;
  k[pos >> 6] |= shape << (pos & 63);
  k[(pos >> 6) + 1] |= shape >> 1 >> (63 - (pos & 63));
}

/* The pixels of an object's copies. */
VCS_FN void vcs_place_copies(uint64_t k[4], uint64_t shape, unsigned pos, unsigned nusiz, unsigned first_off) {
  if (VCS_LIKELY(!first_off)) vcs_place(k, shape, pos);
  if (vcs_has_copies(nusiz)) {
    vcs_copies_t copies = vcs_copies(nusiz & 7);
    vcs_place(k, shape, pos + 16u * copies.second);
    if (copies.third) vcs_place(k, shape, pos + 16u * copies.third);
  }
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

/* Each bit of a byte as four neighbouring pixels; a byte of the playfield is 32 of them. */
#define VCS_FOUR_1(b)                                                                                                  \
  (((b)&1 ? 0xFu : 0) | ((b)&2 ? 0xF0u : 0) | ((b)&4 ? 0xF00u : 0) | ((b)&8 ? 0xF000u : 0) | ((b)&16 ? 0xF0000u : 0) | \
   ((b)&32 ? 0xF00000u : 0) | ((b)&64 ? 0xF000000u : 0) | ((b)&128 ? 0xF0000000u : 0))
#define VCS_FOUR_4(b) VCS_FOUR_1(b), VCS_FOUR_1((b) + 1), VCS_FOUR_1((b) + 2), VCS_FOUR_1((b) + 3)
#define VCS_FOUR_16(b) VCS_FOUR_4(b), VCS_FOUR_4((b) + 4), VCS_FOUR_4((b) + 8), VCS_FOUR_4((b) + 12)
#define VCS_FOUR_64(b) VCS_FOUR_16(b), VCS_FOUR_16((b) + 16), VCS_FOUR_16((b) + 32), VCS_FOUR_16((b) + 48)
VCS_TABLE(uint32_t, vcs_fours, 256, {VCS_FOUR_64(0), VCS_FOUR_64(64), VCS_FOUR_64(128), VCS_FOUR_64(192)})

/* The playfield: PF0's high nibble upwards (16 pixels), PF1 downwards (32), PF2 upwards (32); then the same again, or
 * backwards. The two halves can show different bytes. */
VCS_FN void vcs_place_playfield(const uint8_t left[3], const uint8_t right[3], bool mirrored, uint64_t k[3]) {
  uint64_t pf2 = vcs_fours(left[2]);
  k[0] = vcs_fours(left[0] >> 4) | (uint64_t)vcs_fours(vcs_reverse(left[1])) << 16 | pf2 << 48;
  if (!mirrored) {
    k[1] = pf2 >> 16 | (uint64_t)vcs_fours(right[0] >> 4) << 16 | (uint64_t)vcs_fours(vcs_reverse(right[1])) << 32;
    k[2] = vcs_fours(right[2]);
  } else {
    uint64_t pf1 = vcs_fours(right[1]);
    k[1] = pf2 >> 16 | (uint64_t)vcs_fours(vcs_reverse(right[2])) << 16 | pf1 << 48;
    k[2] = pf1 >> 16 | (uint64_t)vcs_fours(vcs_reverse(right[0]) & 15) << 16;
  }
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

/* A line of three words from four, whose pixels behind the last one go on at the first. */
VCS_FN vcs_pixels_t vcs_fold(const uint64_t k[4]) {
  vcs_pixels_t pixels = {{k[0] | k[2] >> 32, k[1], k[2] & 0xFFFFFFFF}};
  return pixels;
}

/* The pixels of a player that shows these bits (vcs_player_bits). */
VCS_FN vcs_pixels_t vcs_player_pixels(const vcs_t *m, int player, uint8_t bits) {
  uint64_t k[4] = {0, 0, 0, 0};
  vcs_place_copies(k, vcs_player_shape(bits, m->nusiz[player]), m->pos[VCS_P0 + player], m->nusiz[player],
                   m->first_copy_off[player]);
  return vcs_fold(k);
}

/* The pixels of one object with the present registers. */
VCS_FN vcs_pixels_t vcs_object_pixels(const vcs_t *m, int object) {
  uint64_t k[4] = {0, 0, 0, 0};
  int side = object & 1;
  switch (object) {
    case VCS_P0:
    case VCS_P1:
      return vcs_player_pixels(m, side, vcs_player_bits(m, side));
    case VCS_M0:
    case VCS_M1:
      if (vcs_missile_on(m, side)) {
        vcs_place_copies(k, vcs_missile_shape(m, side), m->pos[object], m->nusiz[side], 0);
      }
      break;
    case VCS_BL:
      if (vcs_ball_on(m)) vcs_place(k, vcs_width_shape(m->ctrlpf >> 4), m->pos[VCS_BL]);
      break;
    default:
      vcs_place_playfield(m->pf, m->pf, m->pf_mirrored, k);
      break;
  }
  return vcs_fold(k);
}

/* The pixels from `x` on, in a word of the line. */
VCS_FN uint64_t vcs_from(int x, int word) {
  int n = x - 64 * word;
  return n <= 0 ? ~0ULL : n >= 64 ? 0 : ~0ULL << n;
}

VCS_FN void vcs_line_set(vcs_video_t *video, int object, vcs_pixels_t pixels) {
  unsigned bit = 1u << object, any = pixels.word[0] | pixels.word[1] | pixels.word[2] ? bit : 0;
  video->line[object] = pixels;
  video->lit = (uint8_t)((video->lit & ~bit) | any);
}

/* Of a split object: the old pixels up to its cut, the new ones from there on. */
VCS_FN vcs_pixels_t vcs_line_join(const vcs_video_t *video, int object, vcs_pixels_t pixels) {
  const vcs_pixels_t *old = &video->line[object];
  int x = video->cut[object], w = x >> 6;
  uint64_t after = ~0ULL << (x & 63);
  pixels.word[w] = (old->word[w] & ~after) | (pixels.word[w] & after);
  if (w > 0) pixels.word[0] = old->word[0];
  if (w > 1) pixels.word[1] = old->word[1];
  return pixels;
}

/* Makes an object's part of the line that has the present registers. */
VCS_SLOW_FN void vcs_line_make(const vcs_t *m, vcs_video_t *video, int object) {
  vcs_pixels_t pixels = vcs_object_pixels(m, object);
  if (video->split >> object & 1) {
    video->now[object] = pixels;
    pixels = vcs_line_join(video, object, pixels);
  }
  vcs_line_set(video, object, pixels);
  video->stale &= (uint8_t) ~(1u << object);
}

/* Clears an object's mask. The caller knows that no picture is drawn and that its registers allow no collision that is
 * not yet latched. */
VCS_FN void vcs_line_clear(vcs_video_t *video, int object) {
  vcs_pixels_t pixels = {{0, 0, 0}};
  if (video->split >> object & 1) pixels = vcs_line_join(video, object, pixels);
  vcs_line_set(video, object, pixels);
}

/* Collision latches: bit 2r is D7 and bit 2r+1 is D6 of collision register r. A row is X(set, object, object, latch).
 */
/* clang-format off */
enum { VCS_UNUSED = VCS_OBJECTS }; /* latch 13 has no objects */
#define VCS_COLLISIONS(X, set)                                                                       \
  X(set, M0, P1, 0)  X(set, M0, P0, 1)  X(set, M1, P0, 2)   X(set, M1, P1, 3)                        \
  X(set, P0, PF, 4)  X(set, P0, BL, 5)  X(set, P1, PF, 6)   X(set, P1, BL, 7)                        \
  X(set, M0, PF, 8)  X(set, M0, BL, 9)  X(set, M1, PF, 10)  X(set, M1, BL, 11)                       \
  X(set, BL, PF, 12) X(set, UNUSED, UNUSED, 13)             X(set, P0, P1, 14)   X(set, M0, M1, 15)
/* clang-format on */

/* The two objects of a latch. */
typedef struct {
  uint8_t a, b;
} vcs_pair_t;
#define VCS_PAIR(set, a, b, latch) {VCS_##a, VCS_##b},
VCS_TABLE(vcs_pair_t, vcs_pair, 16, {VCS_COLLISIONS(VCS_PAIR, )})

/* The latches of the pairs within a set of objects. */
#define VCS_WITHIN(set, a, b, latch) | ((set) >> VCS_##a & (set) >> VCS_##b & 1) << (latch)
#define VCS_PAIRS_1(set) 0 VCS_COLLISIONS(VCS_WITHIN, set)
#define VCS_PAIRS_4(set) VCS_PAIRS_1(set), VCS_PAIRS_1((set) + 1), VCS_PAIRS_1((set) + 2), VCS_PAIRS_1((set) + 3)
#define VCS_PAIRS_16(set) VCS_PAIRS_4(set), VCS_PAIRS_4((set) + 4), VCS_PAIRS_4((set) + 8), VCS_PAIRS_4((set) + 12)
VCS_TABLE(uint16_t, vcs_pairs, 64, {VCS_PAIRS_16(0), VCS_PAIRS_16(16), VCS_PAIRS_16(32), VCS_PAIRS_16(48)})

/* The collisions that objects may have in this line, as far as registers are known, and that are not yet latched. */
VCS_FN unsigned vcs_line_chances(const vcs_t *m, const vcs_video_t *video) {
  unsigned lit = video->lit & (~video->stale | video->split);
  return vcs_pairs(lit | (vcs_objects_on(m) & video->stale)) & ~m->collisions;
}

/* Objects are about to change at pixel x of the line: what they have been so far stays to the left of it. */
VCS_FN void vcs_line_cut(const vcs_t *m, vcs_video_t *video, unsigned objects, int x) {
  for (; objects; objects &= objects - 1) {
    int i = VCS_LOWEST(objects);
    unsigned bit = 1u << i;
    if (video->split & bit && video->cut[i] == x) continue; /* what was changed at this very pixel never showed */
    if (video->stale & bit) {
      if (video->frames || vcs_line_chances(m, video) & ~vcs_pairs(VCS_ALL_OBJECTS & ~bit)) {
        vcs_line_make(m, video, i);
      } else {
        vcs_line_clear(video, i);
      }
    }
#ifdef VCS_LINE_CUT
    VCS_LINE_CUT(m, video, i, x); /* of a file that records objects (record_beam.h) */
#endif
    video->split |= (uint8_t)bit;
    video->cut[i] = (uint8_t)x;
  }
}

/* The next line begins with the present registers. */
VCS_FN void vcs_line_next(vcs_video_t *video) {
  for (unsigned split = video->split; split; split &= split - 1) {
    int i = VCS_LOWEST(split);
    if (!(video->stale >> i & 1)) vcs_line_set(video, i, video->now[i]);
  }
  video->changed |= video->split;
  video->split = 0;
}

VCS_FN void vcs_line_refresh(const vcs_t *m, vcs_video_t *video) {
  for (unsigned stale = video->stale; stale; stale &= stale - 1) vcs_line_make(m, video, VCS_LOWEST(stale));
}

/* Latches the collisions in a piece of the line. Two objects that are as they were in the last whole line have had
 * theirs there. */
VCS_FN void vcs_line_collide(vcs_t *m, const vcs_video_t *video, const uint64_t piece[3]) {
  unsigned pairs = vcs_pairs(video->lit) & ~vcs_pairs(VCS_ALL_OBJECTS & ~video->changed) & ~m->collisions;
  for (; pairs; pairs &= pairs - 1) {
    int latch = VCS_LOWEST(pairs);
    vcs_pair_t pair = vcs_pair((unsigned)latch);
    const uint64_t *a = video->line[pair.a].word, *b = video->line[pair.b].word;
    if ((a[0] & b[0] & piece[0]) | (a[1] & b[1] & piece[1]) | (a[2] & b[2] & piece[2])) {
      m->collisions |= (uint16_t)(1u << latch);
    }
  }
}

/* Which pixels show COLUPF, COLUP0 and COLUP1 (the rest show COLUBK).
 *
 * Plain:     P0 M0 > P1 M1 > PF BL.     Playfield priority (CTRLPF bit 2): PF BL > P0 M0 > P1 M1.
 * Score (bit 1): the playfield takes COLUP0 on the left half, where it also has player 0's priority, and COLUP1 on
 * the right. Playfield priority overrides score, except where nothing but the playfield is on: there the reference
 * shows the score colours. */
VCS_FN void vcs_line_colours(const vcs_t *m, int w, const vcs_pixels_t line[VCS_OBJECTS], uint64_t colour[4]) {
  uint64_t p0 = line[VCS_P0].word[w] | line[VCS_M0].word[w], p1 = line[VCS_P1].word[w] | line[VCS_M1].word[w];
  uint64_t pf = line[VCS_PF].word[w], bl = line[VCS_BL].word[w];
  bool front = m->ctrlpf & 4, score = m->ctrlpf & 2;
  if (score && (!front || vcs_objects_on(m) == 1u << VCS_PF)) {
    uint64_t left = ~vcs_from(80, w);
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

/* Paints a piece of the line. */
VCS_FN void vcs_line_paint(const vcs_t *m, const vcs_video_t *video, const uint64_t piece[3], uint8_t *row) {
  uint64_t colour[3][4];
  for (int w = 0; w < 3; w++) vcs_line_colours(m, w, video->line, colour[w]);
  vcs_paint(colour, piece, m->colu, row);
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

VCS_SLOW_FN void vcs_line_paint_ahead(const vcs_t *m, unsigned on, int x0, int x1, uint8_t *row) {
  int group = x1 & ~3, w = group >> 6;
  if (group < x0 || !vcs_paints_ahead(on, m->ctrlpf & 2)) return;
  uint64_t four = 15ULL << (group & 63), colour[3][4], ahead[3] = {0, 0, 0};
  vcs_pixels_t line[VCS_OBJECTS];
  for (int i = 0; i < VCS_OBJECTS; i++) line[i] = vcs_object_pixels(m, i);
  for (int p = 0; p < 2; p++) { /* where the player could be, whatever its graphics */
    uint64_t k[4] = {0, 0, 0, 0};
    if (!(on & 1u << (VCS_P0 + p))) continue;
    vcs_place_copies(k, vcs_player_shape(0xFF, m->nusiz[p]), m->pos[VCS_P0 + p], m->nusiz[p], m->first_copy_off[p]);
    k[0] |= k[2] >> 32;
    if (k[w] & four) return;
  }
  if ((line[VCS_M0].word[w] | line[VCS_M1].word[w] | line[VCS_BL].word[w]) & four) return;
  vcs_line_colours(m, w, line, colour[w]);
  ahead[w] = four & vcs_from(x1, w);
  vcs_paint(colour, ahead, m->colu, row);
}

/* Draws the whole of the current line: latches collisions, and paints into `row` unless it is NULL. */
VCS_FN void vcs_line_draw_whole(vcs_t *m, vcs_video_t *video, uint8_t *row) {
  static const uint64_t whole[3] = {~0ULL, ~0ULL, ~0ULL};
  if (!video->changed) {
    if (row) __builtin_memcpy(row, row - VCS_WIDTH, VCS_WIDTH);
    return;
  }
  if (row || vcs_line_chances(m, video) & ~vcs_pairs(VCS_ALL_OBJECTS & ~video->changed)) {
    vcs_line_refresh(m, video);
    vcs_line_collide(m, video, whole);
    if (row) vcs_line_paint(m, video, whole, row);
  }
  video->changed = 0;
}

/* The same for pixels [x0, x1). */
VCS_FN void vcs_line_draw_piece(vcs_t *m, vcs_video_t *video, int x0, int x1, uint8_t *row) {
  uint64_t piece[3];
#if !defined(__CUDA_ARCH__) /* there a lane that returns waits for those that draw, and all pay for the test */
  if (!row && !vcs_line_chances(m, video)) return;
#endif
  for (int w = 0; w < 3; w++) piece[w] = vcs_from(x0, w) & ~vcs_from(x1, w);
  vcs_line_refresh(m, video);
  vcs_line_collide(m, video, piece);
  if (row) vcs_line_paint(m, video, piece, row);
}

VCS_FN void vcs_line_draw(vcs_t *m, vcs_video_t *video, int x0, int x1, uint8_t *row) {
  row = VCS_ALIGNED_ROW(row);
  if (m->vblank & 2) {
    if (row) vcs_fill(row + x0, 0, x1 - x0);
    video->changed = VCS_ALL_OBJECTS | VCS_LOOK;
  } else if (x1 - x0 == VCS_WIDTH) {
    vcs_line_draw_whole(m, video, row);
  } else {
    vcs_line_draw_piece(m, video, x0, x1, row);
  }
}

#endif
