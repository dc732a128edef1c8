/* pieces.h: the picture of a frame whose TIA sleeps (tia_asleep.h).
 *
 * While the CPU runs, nothing is drawn. When something that shows is about to change, the registers as they were are
 * kept with the clock up to which they hold: a piece. Changes between which the beam shows no pixel are one. Some
 * dozen pieces at a time are painted, in one go:
 *
 *   line 50   |  blank  |=============================|      no change since line 49: a copy of the row above
 *   line 51   |  GRP0   |=============================|      one piece: the masks of what has changed, then the row
 *   line 52   |  GRP0   |========| PF1 |==============|      PF's mask is its old one up to the change and its new one
 *                                                            from there on; the row is painted once, at its end
 *   line 53   |         |===| COLUBK |================|      a colour: the row is painted up to it, then goes on
 *
 * HMOVE's blanks are kept by line. This is only for frames that are drawn from top to bottom. A frame that stops in the
 * picture shows things that depend on where it stops, and is run again by a TIA that draws (tia_beam.h).
 */
#ifndef VCS_CORE_PIECES_H
#define VCS_CORE_PIECES_H

#include "tia_video.h"

enum { VCS_PIECES = 48, VCS_PIECES_ROWS = VCS_FRAME_BYTES / VCS_WIDTH + 1 };

typedef struct {
  int32_t clock;                 /* of the frame: its end */
  uint8_t changed;               /* objects, or VCS_LOOK, that are not as in the piece before it */
  uint8_t looks[VCS_LOOKS_SIZE]; /* the registers */
} vcs_piece_t;

typedef struct {
  vcs_piece_t piece[VCS_PIECES];
  int32_t count;
  int32_t shown_from; /* up to this clock the piece that is going on has no pixel */
  uint8_t changed;    /* `changed` of the piece that is going on */

  /* The line that is being painted */
  int32_t row;              /* in the picture */
  int32_t row_clock;        /* clock of the frame of its first pixel */
  uint8_t begin;            /* the pixel with which the next piece begins */
  uint8_t x;                /* the pixel up to which it is painted */
  uint8_t dirty;            /* objects, or VCS_LOOK, that are not as in the row above it */
  uint8_t stale;            /* objects whose `now` is not made */
  uint8_t split;            /* objects that have changed in this line: ... */
  uint8_t cut[VCS_OBJECTS]; /* ... as in `now` from this pixel on, and up to it as in `before` */
  vcs_pixels_t now[VCS_OBJECTS], before[VCS_OBJECTS];
  vcs_t *shown;                  /* the registers of the last piece */
  uint8_t *top;                  /* row 0 of the picture */
  uint8_t comb[VCS_PIECES_ROWS]; /* by row: the first pixel that HMOVE blanks, 8: none */
} vcs_pieces_t;

/* `scratch` is a machine of which only the registers of the picture are used. */
VCS_FN void vcs_pieces_start(vcs_pieces_t *p, vcs_t *scratch, const vcs_t *m, uint8_t *frames) {
  p->count = 0;
  p->row = m->line - m->first_line;
  p->row_clock = p->shown_from = VCS_LINE_CLOCKS * m->line + VCS_HBLANK_CLOCKS;
  p->changed = p->dirty = VCS_ALL_OBJECTS | VCS_LOOK;
  p->begin = p->x = p->stale = p->split = 0;
  p->shown = scratch;
  p->top = frames + m->front * VCS_FRAME_BYTES;
  vcs_fill(p->comb, 8, VCS_PIECES_ROWS);
}

/* What an object lights in the line: up to its cut as before, then as it is now. */
VCS_FN vcs_pixels_t vcs_pieces_join(const vcs_pieces_t *p, int object) {
  const vcs_pixels_t *now = &p->now[object];
  vcs_pixels_t pixels = p->before[object];
  int x = p->cut[object], w = x >> 6;
  uint64_t after = ~0ULL << (x & 63);
  pixels.word[w] = (pixels.word[w] & ~after) | (now->word[w] & after);
  if (w < 2) pixels.word[2] = now->word[2];
  if (w < 1) pixels.word[1] = now->word[1];
  return pixels;
}

VCS_FN void vcs_pieces_make(vcs_pieces_t *p) {
  unsigned on = vcs_objects_on(p->shown);
  for (unsigned stale = p->stale; stale; stale &= stale - 1) {
    int i = VCS_LOWEST(stale);
    if (on >> i & 1) {
      p->now[i] = vcs_object_pixels(p->shown, i);
    } else {
      p->now[i].word[0] = p->now[i].word[1] = p->now[i].word[2] = 0;
    }
  }
  p->stale = 0;
}

/* Adds the pixels of two objects as a layer, unless they are dark. */
VCS_FN int vcs_pieces_layer(vcs_layer_t *layer, int layers, const vcs_pixels_t *a, const vcs_pixels_t *b,
                            uint8_t colour) {
  vcs_layer_t *to = &layer[layers];
  for (int w = 0; w < 3; w++) to->word[w] = a->word[w] | b->word[w];
  to->colour = colour;
  return layers + ((to->word[0] | to->word[1] | to->word[2]) != 0);
}

/* Paints a whole row: the objects' priorities (vcs_line_colours) as layers. */
VCS_FN void vcs_pieces_paint_row(const vcs_t *m, const vcs_pixels_t line[VCS_OBJECTS], uint8_t *row) {
  static const vcs_pixels_t dark = {{0, 0, 0}};
  vcs_layer_t layer[3];
  const vcs_pixels_t *p0 = &line[VCS_P0], *p1 = &line[VCS_P1], *pf = &line[VCS_PF];
  vcs_pixels_t scored[2];
  int layers = 0;
  bool front = m->ctrlpf & 4;
  if (VCS_UNLIKELY(m->ctrlpf & 2) && (!front || vcs_objects_on(m) == 1u << VCS_PF)) {
    for (int w = 0; w < 3; w++) {
      uint64_t left = ~vcs_from(80, w);
      scored[0].word[w] = p0->word[w] | (pf->word[w] & left);
      scored[1].word[w] = p1->word[w] | (pf->word[w] & ~left);
    }
    p0 = &scored[0], p1 = &scored[1], pf = &dark, front = false;
  }
  if (!front) layers = vcs_pieces_layer(layer, layers, pf, &line[VCS_BL], m->colu[VCS_COLUPF]);
  layers = vcs_pieces_layer(layer, layers, p1, &line[VCS_M1], m->colu[VCS_COLUP1]);
  layers = vcs_pieces_layer(layer, layers, p0, &line[VCS_M0], m->colu[VCS_COLUP0]);
  if (front) layers = vcs_pieces_layer(layer, layers, pf, &line[VCS_BL], m->colu[VCS_COLUPF]);
  vcs_paint_layers(layer, layers, m->colu[VCS_COLUBK], row);
}

/* Paints the line from where it is painted up to pixel x. */
VCS_SLOW_FN void vcs_pieces_paint_to(vcs_pieces_t *p, int x, uint8_t *row) {
  vcs_pixels_t joined[VCS_OBJECTS];
  uint8_t painted[VCS_WIDTH];
  const vcs_pixels_t *line = p->now;
  int from = p->x;
  p->x = (uint8_t)x;
  if (p->shown->vblank & 2) {
    vcs_fill(row + from, 0, x - from);
    return;
  }
  if (p->stale) vcs_pieces_make(p);
  if (p->split) {
    for (int i = 0; i < VCS_OBJECTS; i++) joined[i] = p->now[i];
    for (unsigned split = p->split; split; split &= split - 1) {
      int i = VCS_LOWEST(split);
      joined[i] = vcs_pieces_join(p, i);
    }
    line = joined;
  }
  if (x - from == VCS_WIDTH) {
    vcs_pieces_paint_row(p->shown, line, row);
  } else {
    vcs_pieces_paint_row(p->shown, line, painted);
    __builtin_memcpy(row + from, painted + from, (size_t)(x - from));
  }
}

/* The registers are about to change at pixel x of the line. */
VCS_FN void vcs_pieces_cut(vcs_pieces_t *p, unsigned changed, int x, uint8_t *row) {
  if (changed & VCS_LOOK || (p->shown->ctrlpf & 6) == 6) { /* whether the score shows depends on what is on */
    if (x > p->x) vcs_pieces_paint_to(p, x, row);
  } else {
    for (unsigned left = changed & ~p->split; left; left &= left - 1) {
      int i = VCS_LOWEST(left);
      if (p->stale >> i & 1) p->now[i] = vcs_object_pixels(p->shown, i);
      p->before[i] = p->now[i];
    }
    for (unsigned left = changed & p->split; left; left &= left - 1) {
      int i = VCS_LOWEST(left);
      if (p->cut[i] == x) continue;
      if (p->stale >> i & 1) p->now[i] = vcs_object_pixels(p->shown, i);
      p->before[i] = vcs_pieces_join(p, i);
    }
    for (unsigned left = changed; left; left &= left - 1) p->cut[VCS_LOWEST(left)] = (uint8_t)x;
    p->split |= (uint8_t)changed;
  }
}

/* Ends the line. */
VCS_FN void vcs_pieces_end_line(vcs_pieces_t *p) {
  uint8_t *row = p->top + VCS_WIDTH * p->row;
  int comb = p->comb[p->row];
  if (p->dirty | p->split | p->x || (p->row > 0 && comb > p->comb[p->row - 1])) {
    bool in_pieces = p->x > 0;
    vcs_pieces_paint_to(p, VCS_WIDTH, row);
    p->dirty = (uint8_t)(p->split | (in_pieces ? VCS_LOOK : 0));
    p->split = p->x = 0;
  } else {
    __builtin_memcpy(row, row - VCS_WIDTH, VCS_WIDTH);
  }
  if (comb < 8) vcs_fill(row + comb, 0, 8 - comb);
  p->row++;
  p->row_clock += VCS_LINE_CLOCKS;
  p->begin = 0;
}

/* Paints the pieces that are kept. */
VCS_SLOW_FN void vcs_pieces_flush(vcs_pieces_t *p) {
  for (int i = 0; i < p->count; i++) {
    const vcs_piece_t *piece = &p->piece[i];
    if (p->begin) vcs_pieces_cut(p, piece->changed, p->begin, p->top + VCS_WIDTH * p->row);
    __builtin_memcpy((uint8_t *)p->shown + VCS_LOOKS_FROM, piece->looks, VCS_LOOKS_SIZE);
    p->stale |= piece->changed & VCS_ALL_OBJECTS;
    p->dirty |= piece->changed;
    while (piece->clock >= p->row_clock + VCS_WIDTH) vcs_pieces_end_line(p);
    if (piece->clock > p->row_clock) p->begin = (uint8_t)(piece->clock - p->row_clock);
  }
  p->count = 0;
}

/* Something is about to change at a clock of the frame. */
VCS_FN void vcs_pieces_keep(vcs_pieces_t *p, const vcs_t *m, unsigned changed, int32_t clock) {
  if (clock > p->shown_from) {
    int32_t hpos = clock % VCS_LINE_CLOCKS;
    if (p->count == VCS_PIECES) vcs_pieces_flush(p);
    vcs_piece_t *piece = &p->piece[p->count++];
    piece->clock = clock;
    piece->changed = p->changed;
    __builtin_memcpy(piece->looks, (const uint8_t *)m + VCS_LOOKS_FROM, VCS_LOOKS_SIZE);
    p->changed = 0;
    p->shown_from = hpos < VCS_HBLANK_CLOCKS ? clock - hpos + VCS_HBLANK_CLOCKS : clock;
  }
  p->changed |= (uint8_t)changed;
}

/* HMOVE blanks pixels of a row from x on. */
VCS_FN void vcs_pieces_comb(vcs_pieces_t *p, int32_t row, int x) {
  if (row < VCS_PIECES_ROWS) p->comb[row] = (uint8_t)(x < 0 ? 0 : x);
}

/* The picture ends. */
VCS_FN void vcs_pieces_end(vcs_pieces_t *p, const vcs_t *m, int32_t clock) {
  vcs_pieces_keep(p, m, 0, clock);
  vcs_pieces_flush(p);
}

#endif
