/* rows.h: paints the picture of a frame whose TIA sleeps (tia_asleep.h).
 *
 * While the CPU runs, nothing is drawn. Before a change that shows, all rows that the beam has finished are painted,
 * with the registers as they are before the change:
 *
 *   line 50   |  blank  |=============================|      no change since line 49: a copy of the row above
 *   line 51   |  GRP0   |=============================|      new masks of the objects that changed, then the whole row
 *   line 52   |  GRP0   |========| GRP1 |=============|      P1's mask is its old one up to the change and its new one
 *                                                            from there on; the row is painted once, at its end
 *   line 53   |  PF1    |=====| PF1 |=================|      PF1's bits that the beam has passed keep their values
 *   line 54   |         |===| COLUBK |================|      a colour: the row is painted up to the change
 *
 * Most changes need none of this. A move or a new colour of an object that is off does not show. A player, missile or
 * ball that changes before the beam reaches it has its new state in the whole row: nothing is cut or painted. Most
 * writes of GRPx and COLUPx are of this kind.
 *
 * A change of the playfield shows from its next bit on; a bit is four pixels. So a row only keeps the bits that the
 * beam has passed in its two halves (`field`), and makes one mask of them at its end.
 *
 * Collisions use the same masks (vcs_video_t: line, stale). The pixels that HMOVE blanks are kept by row (`comb`). Only
 * frames that are drawn from top to bottom are painted this way. If a frame stops while the beam is in the picture, its
 * picture depends on the clock at which it stops; such a frame is run again by the TIA that draws (tia_beam.h).
 *
 * The functions that paint are compiled a second time with a recorder of objects (src/host/record_rows.c). It receives
 * each row or piece of a row that is painted, each copied row in which HMOVE blanks other pixels than in the row above,
 * and each object before it changes in the middle of a row. Frames without a recorder pay nothing for it.
 */
#ifndef VCS_CORE_ROWS_H
#define VCS_CORE_ROWS_H

#include "tia_video.h"

#ifndef VCS_ROW_PAINTED /* a file that records objects defines all of these */
#define VCS_ROW_PAINTED(rows, m, line, layers, on, from, x)
#define VCS_ROW_DARK(rows, m, video, on, from, x)
#define VCS_ROW_COPIED(rows, m, line, on)
#define VCS_ROW_LOOK(rows, m, changed)
#define VCS_ROW_CUT(rows, m, object, x)
#endif

enum { VCS_ROWS_MOST = VCS_FRAME_BYTES / VCS_WIDTH + 1 };

typedef struct vcs_rows {
  int32_t clock;                    /* clock of the frame at the first pixel of the present row */
  int32_t number;                   /* number of that row in the picture */
  uint8_t *row;                     /* its bytes */
  uint8_t x;                        /* the pixel up to which it is painted */
  uint8_t dirty;                    /* objects, or VCS_LOOK, that differ from the row above it */
  uint8_t split;                    /* objects that have changed in this row: ... */
  uint8_t cut[VCS_OBJECTS];         /* ... up to this pixel they light ... */
  vcs_pixels_t before[VCS_OBJECTS]; /* ... these pixels */
  uint64_t field;                   /* bits of PF0 to PF2 that the row has shown, in its left and right half, ... */
  uint64_t kept;                    /* ... valid in the bits of this mask */
  uint8_t comb[VCS_ROWS_MOST];      /* by row: the first pixel that HMOVE blanks, VCS_COMB_PIXELS: none */
  struct vcs_recorder *recorder;    /* of objects, or NULL, ... */
  struct vcs_row_log *log;          /* ... or a log of the rows for a recorder, or NULL */
  void (*cut_row)(struct vcs_rows *rows, const vcs_t *m, vcs_video_t *video, unsigned on, unsigned changed,
                  int x); /* vcs_rows_cut, ... */
  void (*end_rows)(struct vcs_rows *rows, const vcs_t *m, vcs_video_t *video, unsigned on,
                   int32_t clock); /* ... and vcs_rows_end, or their variants by AVX-512 or with a recorder */
} vcs_rows_t;

/* The functions that paint rows are compiled twice, so that the painter by AVX-512 can be inlined into the function
 * that ends rows. */
typedef enum { VCS_ROWS_PLAIN, VCS_ROWS_WIDE } vcs_rows_kind_t;

/* Copies one word at a time: a load of two words would wait for earlier stores of single words. */
VCS_FN void vcs_rows_copy(vcs_pixels_t *to, const vcs_pixels_t *from) {
  to->word[0] = from->word[0];
  to->word[1] = from->word[1];
  to->word[2] = from->word[2];
}

/* Joins the pixels of an object in the row: those of `before` up to its cut, then those of `now`. */
VCS_FN void vcs_rows_join(const vcs_rows_t *rows, const vcs_pixels_t *now, int object, vcs_pixels_t *pixels) {
  const vcs_pixels_t *before = &rows->before[object];
  int x = rows->cut[object];
  uint64_t after = ~0ULL << (x & 63);
  if (x < 64) {
    pixels->word[0] = (before->word[0] & ~after) | (now->word[0] & after);
    pixels->word[1] = now->word[1];
    pixels->word[2] = now->word[2];
  } else if (x < 128) {
    pixels->word[0] = before->word[0];
    pixels->word[1] = (before->word[1] & ~after) | (now->word[1] & after);
    pixels->word[2] = now->word[2];
  } else {
    pixels->word[0] = before->word[0];
    pixels->word[1] = before->word[1];
    pixels->word[2] = (before->word[2] & ~after) | (now->word[2] & after);
  }
}

/* Pixels from the first one of an object to its last one, for players and missiles by NUSIZ. */
VCS_TABLE(uint8_t, vcs_object_reach, 8, {8, 24, 40, 40, 72, 17, 72, 33})

/* By NUSIZ: a shape times this factor is the shape with its copies, except a copy 64 pixels further right. */
VCS_TABLE(uint64_t, vcs_copies_near, 8, {1, 0x10001, 0x100000001, 0x100010001, 1, 1, 0x100000001, 1})

/* Places a player and all its copies at once; none of them passes the right edge. */
VCS_HOT_FN void vcs_rows_place_player(const vcs_t *m, uint64_t word[3], unsigned player) {
  const unsigned nusiz = m->nusiz[player] & 7, w = m->pos[player] >> 6, s = m->pos[player] & 63;
  const uint64_t shape = vcs_player_shape(vcs_player_bits(m, (int)player), nusiz);
  const uint64_t copies = shape * (vcs_copies_near(nusiz) - (m->first_copy_off[player] != 0));
  const uint64_t over = copies >> 1 >> (63 - s);
  word[0] = word[1] = word[2] = 0;
  word[w] = copies << s;
  if (over) word[w + 1] = over;
  if ((nusiz & 5) == 4) {
    word[w + 1] |= shape << s;
    if (w == 0) word[2] |= shape >> 1 >> (63 - s);
  }
}

/* Makes the mask of an object that is on. The TIA that sleeps keeps no halves of objects and no set of lit objects. */
VCS_SLOW_FN void vcs_rows_make_mask(const vcs_t *m, vcs_video_t *video, int object) {
  video->stale &= (uint8_t) ~(1u << object);
  if (object <= VCS_P1 && m->pos[object] + vcs_object_reach(m->nusiz[object] & 7) <= VCS_WIDTH) {
    vcs_rows_place_player(m, video->line[object].word, (unsigned)object);
  } else {
    video->line[object] = vcs_object_pixels(m, object);
  }
}

/* Makes the mask of an object if it is stale; `on` are the objects that are on. */
VCS_FN void vcs_rows_make(const vcs_t *m, vcs_video_t *video, unsigned on, int object) {
  if (!(video->stale >> object & 1)) return;
  if (on >> object & 1) {
    vcs_rows_make_mask(m, video, object);
  } else {
    uint64_t *word = video->line[object].word;
    word[0] = word[1] = word[2] = 0;
    video->stale &= (uint8_t) ~(1u << object);
  }
}

/* Returns PF0 to PF2, once for each half of the row. */
VCS_FN uint64_t vcs_rows_field_now(const vcs_t *m) {
  return (m->pf[0] | (uint64_t)m->pf[1] << 8 | (uint64_t)m->pf[2] << 16) * 0x1000001;
}

/* Finds the pixels of the playfield in the row, if `split` does not have the playfield. */
VCS_FN void vcs_rows_field(const vcs_rows_t *rows, const vcs_t *m, vcs_pixels_t *pixels) {
  const uint64_t field = rows->field | (vcs_rows_field_now(m) & ~rows->kept);
  const uint8_t left[3] = {(uint8_t)field, (uint8_t)(field >> 8), (uint8_t)(field >> 16)};
  const uint8_t right[3] = {(uint8_t)(field >> 24), (uint8_t)(field >> 32), (uint8_t)(field >> 40)};
  vcs_place_playfield(left, right, m->pf_mirrored, pixels->word);
}

/* Joins the pixels of two objects. */
VCS_HOT_FN void vcs_rows_both(uint64_t both[3], const vcs_pixels_t *a, const vcs_pixels_t *b) {
  both[0] = a->word[0] | b->word[0];
  both[1] = a->word[1] | b->word[1];
  both[2] = a->word[2] | b->word[2];
}

/* Makes layers of the objects by their priorities (vcs_line_colours). */
VCS_HOT_FN void vcs_rows_layers(const vcs_t *m, const vcs_pixels_t line[VCS_OBJECTS], vcs_layers_t *layers) {
  enum { PF, P1, P0 };
  layers->background = m->colu[VCS_COLUBK];
  layers->colour[PF] = m->colu[VCS_COLUPF];
  layers->colour[P1] = m->colu[VCS_COLUP1];
  layers->colour[P0] = m->colu[VCS_COLUP0];
  layers->first_on_top = m->ctrlpf & 4;
  vcs_rows_both(layers->word[PF], &line[VCS_PF], &line[VCS_BL]);
  vcs_rows_both(layers->word[P1], &line[VCS_P1], &line[VCS_M1]);
  vcs_rows_both(layers->word[P0], &line[VCS_P0], &line[VCS_M0]);
  if (VCS_UNLIKELY(m->ctrlpf & 2) && (!(m->ctrlpf & 4) || vcs_objects_on(m) == 1u << VCS_PF)) { /* score */
    layers->first_on_top = false;
    for (int w = 0; w < 3; w++) {
      layers->word[PF][w] = line[VCS_BL].word[w];
      layers->word[P1][w] |= line[VCS_PF].word[w] & vcs_from(80, w);
      layers->word[P0][w] |= line[VCS_PF].word[w] & ~vcs_from(80, w);
    }
  }
}

VCS_HOT_FN void vcs_rows_paint_layers(vcs_rows_kind_t kind, const vcs_layers_t *layers, int from, int to,
                                      uint8_t *row) {
#if VCS_PAINT_WIDEST
  if (kind == VCS_ROWS_WIDE) {
    vcs_paint_layers_by_64(layers, from, to, row);
    return;
  }
#endif
  (void)kind;
  vcs_paint_layers(layers, from, to, row);
}

/* Makes the masks of the row. For objects that have changed in the row, stores their present masks in `now`. */
VCS_HOT_FN void vcs_rows_gather(const vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on,
                                vcs_pixels_t now[VCS_OBJECTS]) {
  if (rows->kept) {
    vcs_rows_field(rows, m, &video->line[VCS_PF]);
    video->stale &= (uint8_t) ~(1u << VCS_PF);
  }
  for (unsigned off = video->stale & ~on; off; off &= off - 1) {
    uint64_t *word = video->line[VCS_LOWEST(off)].word;
    word[0] = word[1] = word[2] = 0;
  }
  for (unsigned stale = video->stale & on; stale; stale &= stale - 1) vcs_rows_make_mask(m, video, VCS_LOWEST(stale));
  video->stale = 0;
  for (unsigned split = rows->split; split; split &= split - 1) {
    int i = VCS_LOWEST(split);
    vcs_rows_copy(&now[i], &video->line[i]);
    vcs_rows_join(rows, &now[i], i, &video->line[i]);
  }
}

/* After painting: gives objects that have changed in the row their present masks back. */
VCS_HOT_FN void vcs_rows_let_go(const vcs_rows_t *rows, vcs_video_t *video, const vcs_pixels_t now[VCS_OBJECTS]) {
  for (unsigned split = rows->split; split; split &= split - 1) {
    int i = VCS_LOWEST(split);
    vcs_rows_copy(&video->line[i], &now[i]);
  }
  if (rows->kept) video->stale |= 1u << VCS_PF; /* its mask is that of this row only */
}

/* Paints the pixels of the row before x that are not painted yet. */
VCS_HOT_FN void vcs_rows_paint_with(vcs_rows_kind_t kind, vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video,
                                    unsigned on, int x) {
  vcs_pixels_t now[VCS_OBJECTS];
  vcs_layers_t layers;
  const int from = rows->x;
  rows->x = (uint8_t)x;
  if (m->vblank & 2) {
    vcs_fill(rows->row + from, 0, x - from);
    VCS_ROW_DARK(rows, m, video, on, from, x);
    return;
  }
  vcs_rows_gather(rows, m, video, on, now);
  vcs_rows_layers(m, video->line, &layers);
  VCS_ROW_PAINTED(rows, m, video->line, &layers, on, from, x);
  vcs_rows_paint_layers(kind, &layers, from, x, rows->row);
  vcs_rows_let_go(rows, video, now);
}

/* Paints all rows that the beam has finished at a clock of the frame. */
VCS_HOT_FN void vcs_rows_end_with(vcs_rows_kind_t kind, vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video,
                                  unsigned on, int32_t clock) {
  for (; clock >= rows->clock + VCS_WIDTH; rows->clock += VCS_LINE_CLOCKS) {
    int comb = rows->comb[rows->number];
    if (rows->dirty | rows->split | rows->x || (rows->number > 0 && comb > rows->comb[rows->number - 1])) {
      bool in_pieces = rows->x > 0;
      vcs_rows_paint_with(kind, rows, m, video, on, VCS_WIDTH);
      rows->dirty = (uint8_t)(rows->split | (rows->kept ? 1u << VCS_PF : 0) | (in_pieces ? VCS_LOOK : 0));
      rows->field = rows->kept = 0;
      rows->split = rows->x = 0;
    } else {
      __builtin_memcpy(rows->row, rows->row - VCS_WIDTH, VCS_WIDTH);
      VCS_ROW_COPIED(rows, m, video->line, on);
    }
    if (comb == 0) {
      __builtin_memset(rows->row, 0, VCS_COMB_PIXELS);
    } else if (comb < VCS_COMB_PIXELS) {
      vcs_fill(rows->row + comb, 0, VCS_COMB_PIXELS - comb);
    }
    rows->number++;
    rows->row += VCS_WIDTH;
  }
}

/* Paints the pixels of the row before x, because colours or priorities change at x. */
VCS_HOT_FN void vcs_rows_paint_up_to(vcs_rows_kind_t kind, vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video,
                                     unsigned on, unsigned changed, int x) {
  (void)changed;
  VCS_ROW_LOOK(rows, m, changed);
  if (x > rows->x) vcs_rows_paint_with(kind, rows, m, video, on, x);
}

/* Keeps the masks of objects up to pixel x of the row, before they change there. */
VCS_HOT_FN void vcs_rows_split(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, unsigned changed,
                               int x) {
  for (; changed; changed &= changed - 1) {
    int i = VCS_LOWEST(changed);
    vcs_rows_make(m, video, on, i);
    VCS_ROW_CUT(rows, m, i, x);
    if (!(rows->split >> i & 1)) {
      vcs_rows_copy(&rows->before[i], &video->line[i]);
      if (i == VCS_PF && rows->kept) {
        vcs_rows_field(rows, m, &rows->before[i]);
        rows->field = rows->kept = 0;
      }
      rows->split |= (uint8_t)(1u << i);
    } else if (rows->cut[i] != x) {
      vcs_rows_join(rows, &video->line[i], i, &rows->before[i]);
    }
    rows->cut[i] = (uint8_t)x;
  }
}

#define VCS_ROWS_KIND(name, kind, attributes)                                                                        \
  attributes VCS_SLOW_FN void vcs_rows_end##name(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on,  \
                                                 int32_t clock) {                                                    \
    vcs_rows_end_with(kind, rows, m, video, on, clock);                                                              \
  }                                                                                                                  \
  attributes VCS_SLOW_FN void vcs_rows_look##name(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, \
                                                  unsigned changed, int x) {                                         \
    vcs_rows_paint_up_to(kind, rows, m, video, on, changed, x);                                                      \
  }                                                                                                                  \
  VCS_SLOW_FN void vcs_rows_cut##name(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on,             \
                                      unsigned changed, int x) {                                                     \
    if (changed & VCS_LOOK || (m->ctrlpf & 6) == 6) { /* the score may come or go with an object */                  \
      vcs_rows_look##name(rows, m, video, on, changed, x);                                                           \
    } else {                                                                                                         \
      vcs_rows_split(rows, m, video, on, changed, x);                                                                \
    }                                                                                                                \
  }
VCS_ROWS_KIND(, VCS_ROWS_PLAIN, )
#if VCS_PAINT_WIDEST
VCS_ROWS_KIND(_wide, VCS_ROWS_WIDE, VCS_AVX512)
#endif

VCS_FN void vcs_rows_choose(vcs_rows_t *rows) {
  rows->cut_row = vcs_rows_cut;
  rows->end_rows = vcs_rows_end;
#if VCS_PAINT_WIDEST
  if (VCS_LIKELY(__builtin_cpu_supports("avx512bw"))) {
    rows->cut_row = vcs_rows_cut_wide;
    rows->end_rows = vcs_rows_end_wide;
  }
#endif
}

VCS_FN void vcs_rows_start(vcs_rows_t *rows, const vcs_t *m, uint8_t *frames) {
  rows->recorder = NULL;
  rows->log = NULL;
  vcs_rows_choose(rows);
  rows->number = m->line - m->first_line;
  rows->clock = VCS_LINE_CLOCKS * m->line + VCS_HBLANK_CLOCKS;
  rows->row = frames + m->front * VCS_FRAME_BYTES + VCS_WIDTH * rows->number;
  rows->field = rows->kept = 0;
  rows->x = rows->split = 0;
  rows->dirty = VCS_ALL_OBJECTS | VCS_LOOK;
  vcs_fill(rows->comb, VCS_COMB_PIXELS, VCS_ROWS_MOST);
}

/* Called before objects, or VCS_LOOK, change at a clock of the frame. */
VCS_HOT_FN void vcs_rows_change(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, unsigned changed,
                                int32_t clock) {
  if (clock >= rows->clock + VCS_WIDTH) rows->end_rows(rows, m, video, on, clock);
  rows->dirty |= (uint8_t)changed;
  if (clock > rows->clock) rows->cut_row(rows, m, video, on, changed, clock - rows->clock);
}

/* Whether the beam, at pixel x, has not reached an object, whatever its graphics. */
VCS_HOT_FN bool vcs_is_ahead(const vcs_t *m, unsigned object, int x) {
  const int reach = object == VCS_BL ? 8 : vcs_object_reach(m->nusiz[object & 1] & 7);
  return m->pos[object] >= x && m->pos[object] + reach <= VCS_WIDTH;
}

/* The same for a change of an object's graphics alone. If the beam has not reached the object, nothing is cut. */
VCS_HOT_FN void vcs_rows_change_shape(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on,
                                      unsigned object, int32_t clock) {
  if (clock >= rows->clock + VCS_WIDTH) rows->end_rows(rows, m, video, on, clock);
  rows->dirty |= (uint8_t)(1u << object);
  const int x = clock - rows->clock;
  if (x <= 0 || (vcs_is_ahead(m, object, x) && (m->ctrlpf & 6) != 6)) return;
  rows->cut_row(rows, m, video, on, 1u << object, x);
}

/* By colour register: the objects that have this colour. The background's has none. */
VCS_TABLE(uint8_t, vcs_coloured, 4,
          {0, 1 << VCS_PF | 1 << VCS_BL, 1 << VCS_P0 | 1 << VCS_M0, 1 << VCS_P1 | 1 << VCS_M1})

/* Called before a colour changes at a clock of the frame. Nothing is done if none of its objects has been on in the
 * row; nothing is cut if only a player has, and the beam has not reached it. */
VCS_HOT_FN void vcs_rows_recolour(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, unsigned colour,
                                  int32_t clock) {
  const unsigned objects = vcs_coloured(colour), player = colour & 1;
  const unsigned seen = (on | rows->split | (rows->kept ? 1u << VCS_PF : 0)) & objects;
  if (objects && !(m->ctrlpf & 2)) {
    if (!seen) return;
    const int x = clock - rows->clock;
    if (seen == 1u << player && !(rows->split >> player & 1) && x < VCS_WIDTH && vcs_is_ahead(m, player, x)) {
      rows->dirty |= VCS_LOOK;
      return;
    }
  }
  vcs_rows_change(rows, m, video, on, VCS_LOOK, clock);
}

/* Bits of PF0 to PF2 that the beam has passed at pixel 4 * x: in the left half, in the right half and there mirrored. A
 * byte begins at pixel 4 * first, with its lowest bit (bit 4 of PF0) or with its highest. */
#define VCS_SHOWN(x, first, most) ((x) < (first) ? 0 : (x) - (first) > (most) ? (most) : (x) - (first))
#define VCS_PASSED_UP(x, first, most) (0xFF << (8 - (most)) & ((1 << (8 - (most) + VCS_SHOWN(x, first, most))) - 1))
#define VCS_PASSED_DOWN(x, first, most) (0xFF00 >> VCS_SHOWN(x, first, most) & 0xFF)
#define VCS_PASSED_4(how, x, ...) \
  how(x, __VA_ARGS__), how((x) + 1, __VA_ARGS__), how((x) + 2, __VA_ARGS__), how((x) + 3, __VA_ARGS__)
#define VCS_PASSED_20(how, x, ...)                                                                                     \
  VCS_PASSED_4(how, x, __VA_ARGS__), VCS_PASSED_4(how, (x) + 4, __VA_ARGS__), VCS_PASSED_4(how, (x) + 8, __VA_ARGS__), \
      VCS_PASSED_4(how, (x) + 12, __VA_ARGS__), VCS_PASSED_4(how, (x) + 16, __VA_ARGS__)
#define VCS_PASSED(how, ...) VCS_PASSED_20(how, 0, __VA_ARGS__), VCS_PASSED_20(how, 20, __VA_ARGS__)
enum { VCS_FIELD_BITS = VCS_WIDTH / 4 };
VCS_TABLE(uint8_t, vcs_field_passed, 9 * VCS_FIELD_BITS,
          {VCS_PASSED(VCS_PASSED_UP, 0, 4), VCS_PASSED(VCS_PASSED_DOWN, 4, 8), VCS_PASSED(VCS_PASSED_UP, 12, 8),
           VCS_PASSED(VCS_PASSED_UP, 20, 4), VCS_PASSED(VCS_PASSED_DOWN, 24, 8), VCS_PASSED(VCS_PASSED_UP, 32, 8),
           VCS_PASSED(VCS_PASSED_DOWN, 36, 4), VCS_PASSED(VCS_PASSED_UP, 28, 8), VCS_PASSED(VCS_PASSED_DOWN, 20, 8)})

/* Keeps the bits that the beam has passed, before byte i of the playfield changes at pixel x of the row (x > 0).
 * Returns false, and does nothing, where keeping bits is not enough: the row has ended, the change is within a bit, the
 * playfield is split, or the score's colours depend on the objects that are on. */
VCS_HOT_FN bool vcs_rows_keep_field(vcs_rows_t *rows, const vcs_t *m, unsigned i, int x) {
  if (x >= VCS_WIDTH || x & 3 || rows->split >> VCS_PF & 1 || (m->ctrlpf & 6) == 6) return false;
  const uint64_t left = vcs_field_passed(VCS_FIELD_BITS * i + (unsigned)x / 4);
  const uint64_t right = vcs_field_passed(VCS_FIELD_BITS * ((m->pf_mirrored ? 6 : 3) + i) + (unsigned)x / 4);
  const uint64_t passed = (left << 8 * i | right << (24 + 8 * i)) & ~rows->kept;
  rows->field |= m->pf[i] * 0x0101010101010101ULL & passed;
  rows->kept |= passed;
  rows->dirty |= 1u << VCS_PF;
  return true;
}

/* Called before byte i of the playfield changes at a clock of the frame. */
VCS_FN void vcs_rows_change_field(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, unsigned i,
                                  int32_t clock) {
  if (clock >= rows->clock + VCS_WIDTH) rows->end_rows(rows, m, video, on, clock);
  if (clock <= rows->clock) {
    rows->dirty |= 1u << VCS_PF;
  } else if (!vcs_rows_keep_field(rows, m, i, clock - rows->clock)) {
    rows->dirty |= 1u << VCS_PF;
    rows->cut_row(rows, m, video, on, 1u << VCS_PF, clock - rows->clock);
  }
}

/* Notes that HMOVE blanks the first pixels of a row from x on. */
VCS_FN void vcs_rows_comb(vcs_rows_t *rows, int32_t number, int x) {
  if (number < VCS_ROWS_MOST) rows->comb[number] = (uint8_t)(x < 0 ? 0 : x);
}

#endif
