/* rows.h: the picture of a frame whose TIA sleeps (tia_asleep.h).
 *
 * While the CPU runs, nothing is drawn. When something that shows is about to change, all rows that have ended by then
 * are painted, with the registers as they still are:
 *
 *   line 50   |  blank  |=============================|      no change since line 49: a copy of the row above
 *   line 51   |  GRP0   |=============================|      the masks of what has changed, then the whole row
 *   line 52   |  GRP0   |========| PF1 |==============|      PF's mask is its old one up to the change and its new one
 *                                                            from there on; the row is painted once, at its end
 *   line 53   |         |===| COLUBK |================|      a colour: the row is painted up to it, then goes on
 *
 * Masks are those that collisions need too (vcs_video_t: line, stale). HMOVE's blanks are kept by row. This is only for
 * frames that are drawn from top to bottom. A frame that stops in the picture shows things that depend on where it
 * stops, and is run again by a TIA that draws (tia_beam.h).
 *
 * A recorder of objects (objects.h) sees each row or piece of a row that is painted, but not those that are copies of
 * the row above them, and each object before it changes in the middle of a row.
 */
#ifndef VCS_CORE_ROWS_H
#define VCS_CORE_ROWS_H

#include "objects.h"
#include "tia_video.h"

enum { VCS_ROWS_MOST = VCS_FRAME_BYTES / VCS_WIDTH + 1 };

typedef struct vcs_rows {
  int32_t clock;                    /* clock of the frame of the first pixel of the row that is being painted */
  int32_t number;                   /* ... its number in the picture */
  uint8_t *row;                     /* ... its bytes */
  uint8_t x;                        /* ... the pixel up to which it is painted */
  uint8_t dirty;                    /* objects, or VCS_LOOK, that are not as in the row above it */
  uint8_t split;                    /* objects that have changed in this row, and ... */
  uint8_t cut[VCS_OBJECTS];         /* ... up to this pixel are as in `before` */
  vcs_pixels_t before[VCS_OBJECTS]; /* what they lit */
  uint8_t comb[VCS_ROWS_MOST];      /* by row: the first pixel that HMOVE blanks, VCS_COMB_PIXELS: none */
  vcs_recorder_t *recorder;         /* of objects, NULL: none */
  void (*cut_row)(struct vcs_rows *rows, const vcs_t *m, vcs_video_t *video, unsigned on, unsigned changed,
                  int32_t clock); /* vcs_rows_cut, or the same with a recorder */
} vcs_rows_t;

/* What an object lights in the row: up to its cut as before, then as it is now. */
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

/* Makes the mask of an object if it is stale; `on` are the objects that are on. */
VCS_FN void vcs_rows_make(const vcs_t *m, vcs_video_t *video, unsigned on, int object) {
  if (!(video->stale >> object & 1)) return;
  if (on >> object & 1) {
    vcs_line_make(m, video, object);
  } else {
    vcs_pixels_t none = {{0, 0, 0}};
    vcs_line_set(video, object, none);
    video->stale &= (uint8_t) ~(1u << object);
  }
}

/* Adds the pixels of two objects as a layer, unless they have no pixels. */
VCS_FN int vcs_rows_layer(vcs_layer_t *layer, int layers, const vcs_pixels_t *const *line, unsigned lit, int a, int b,
                          uint8_t colour, vcs_pixels_t *both) {
  if (!(lit & (1u << a | 1u << b))) return layers;
  layer[layers].colour = colour;
  if (lit >> a & lit >> b & 1) {
    for (int w = 0; w < 3; w++) both->word[w] = line[a]->word[w] | line[b]->word[w];
    layer[layers].word = both->word;
  } else {
    layer[layers].word = line[lit >> a & 1 ? a : b]->word;
  }
  return layers + 1;
}

/* Paints a whole row: the objects' priorities (vcs_line_colours) as layers. */
VCS_FN void vcs_rows_paint_layers(const vcs_t *m, const vcs_pixels_t *const *line, unsigned lit, uint8_t *row) {
  vcs_layer_t layer[3];
  const vcs_pixels_t *with_score[VCS_OBJECTS];
  vcs_pixels_t both[3], scored[2];
  int layers = 0;
  bool front = m->ctrlpf & 4;
  if (VCS_UNLIKELY(m->ctrlpf & 2) && (!front || vcs_objects_on(m) == 1u << VCS_PF)) {
    for (int w = 0; w < 3; w++) {
      uint64_t left = ~vcs_from(80, w), pf = lit >> VCS_PF & 1 ? line[VCS_PF]->word[w] : 0;
      scored[0].word[w] = (lit >> VCS_P0 & 1 ? line[VCS_P0]->word[w] : 0) | (pf & left);
      scored[1].word[w] = (lit >> VCS_P1 & 1 ? line[VCS_P1]->word[w] : 0) | (pf & ~left);
    }
    for (int i = 0; i < VCS_OBJECTS; i++) with_score[i] = line[i];
    with_score[VCS_P0] = &scored[0];
    with_score[VCS_P1] = &scored[1];
    line = with_score;
    lit = (lit | 1u << VCS_P0 | 1u << VCS_P1) & ~(1u << VCS_PF);
    front = false;
  }
  if (!front) layers = vcs_rows_layer(layer, layers, line, lit, VCS_PF, VCS_BL, m->colu[VCS_COLUPF], &both[0]);
  layers = vcs_rows_layer(layer, layers, line, lit, VCS_P1, VCS_M1, m->colu[VCS_COLUP1], &both[1]);
  layers = vcs_rows_layer(layer, layers, line, lit, VCS_P0, VCS_M0, m->colu[VCS_COLUP0], &both[2]);
  if (front) layers = vcs_rows_layer(layer, layers, line, lit, VCS_PF, VCS_BL, m->colu[VCS_COLUPF], &both[0]);
  vcs_paint_layers(layer, layers, m->colu[VCS_COLUBK], row);
}

/* Records the objects of pixels [from, x) of the row. */
VCS_SLOW_FN void vcs_rows_record(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *const *line, unsigned on,
                                 int from, int x) {
  vcs_recorder_t *r = rows->recorder;
  int blank = rows->comb[rows->number];
  if (x - from == VCS_WIDTH) {
    vcs_record_row(m, r, rows->number, on, rows->dirty | rows->split, line, blank, VCS_COMB_PIXELS);
  } else {
    vcs_record_piece(m, r, rows->number, from, x, on, line, blank, VCS_COMB_PIXELS);
  }
  if (x == VCS_WIDTH) vcs_record_row_end(r);
}

/* Paints the row from where it is painted up to pixel x. This and the next two are compiled once without and once with
 * a recorder, so that pictures without one do not pay for it. */
VCS_HOT_FN void vcs_rows_paint_with(bool recording, vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on,
                                    int x) {
  vcs_pixels_t joined[VCS_OBJECTS];
  uint8_t painted[VCS_WIDTH], *row = rows->row;
  const vcs_pixels_t *line[VCS_OBJECTS];
  int from = rows->x;
  unsigned lit = on | rows->split;
  rows->x = (uint8_t)x;
  for (int i = 0; i < VCS_OBJECTS; i++) line[i] = &video->line[i];
  if (m->vblank & 2) {
    vcs_fill(row + from, 0, x - from);
    if (recording) vcs_rows_record(rows, m, line, 0, from, x);
    return;
  }
  for (unsigned stale = lit & video->stale; stale; stale &= stale - 1) {
    vcs_rows_make(m, video, on, VCS_LOWEST(stale));
  }
  for (unsigned split = rows->split; split; split &= split - 1) {
    int i = VCS_LOWEST(split);
    vcs_rows_join(rows, &video->line[i], i, &joined[i]);
    line[i] = &joined[i];
  }
  if (recording) vcs_rows_record(rows, m, line, lit, from, x);
  if (x - from == VCS_WIDTH) {
    vcs_rows_paint_layers(m, line, lit, row);
  } else {
    vcs_rows_paint_layers(m, line, lit, painted);
    __builtin_memcpy(row + from, painted + from, (size_t)(x - from));
  }
}

VCS_SLOW_FN void vcs_rows_paint(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, int x) {
  vcs_rows_paint_with(false, rows, m, video, on, x);
}
VCS_SLOW_FN void vcs_rows_paint_recorded(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, int x) {
  vcs_rows_paint_with(true, rows, m, video, on, x);
}

/* Ends all rows that have ended by a clock of the frame. */
VCS_HOT_FN void vcs_rows_end_with(bool recording, vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on,
                                  int32_t clock) {
  for (; clock >= rows->clock + VCS_WIDTH; rows->clock += VCS_LINE_CLOCKS) {
    int comb = rows->comb[rows->number];
    if (rows->dirty | rows->split | rows->x || (rows->number > 0 && comb > rows->comb[rows->number - 1])) {
      bool in_pieces = rows->x > 0;
      if (recording) {
        vcs_rows_paint_recorded(rows, m, video, on, VCS_WIDTH);
      } else {
        vcs_rows_paint(rows, m, video, on, VCS_WIDTH);
      }
      rows->dirty = (uint8_t)(rows->split | (in_pieces ? VCS_LOOK : 0));
      rows->split = rows->x = 0;
    } else {
      __builtin_memcpy(rows->row, rows->row - VCS_WIDTH, VCS_WIDTH);
      if (recording && comb != rows->comb[rows->number - 1] && !(m->vblank & 2)) {
        const vcs_pixels_t *line[VCS_OBJECTS];
        for (int i = 0; i < VCS_OBJECTS; i++) line[i] = &video->line[i];
        vcs_rows_record(rows, m, line, on, 0, VCS_WIDTH);
      }
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

VCS_SLOW_FN void vcs_rows_end(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, int32_t clock) {
  vcs_rows_end_with(false, rows, m, video, on, clock);
}
VCS_SLOW_FN void vcs_rows_end_recorded(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on,
                                       int32_t clock) {
  vcs_rows_end_with(true, rows, m, video, on, clock);
}

/* Objects, or VCS_LOOK, are about to change behind the first pixel of the row. */
VCS_HOT_FN void vcs_rows_cut_with(bool recording, vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on,
                                  unsigned changed, int32_t clock) {
  if (clock >= rows->clock + VCS_WIDTH) {
    if (recording) {
      vcs_rows_end_recorded(rows, m, video, on, clock);
    } else {
      vcs_rows_end(rows, m, video, on, clock);
    }
  }
  rows->dirty |= (uint8_t)changed;
  if (clock <= rows->clock) return;
  int x = clock - rows->clock;
  if (changed & VCS_LOOK || (m->ctrlpf & 6) == 6) { /* whether the score shows depends on what is on */
    if (x <= rows->x) return;
    if (recording) {
      vcs_rows_paint_recorded(rows, m, video, on, x);
    } else {
      vcs_rows_paint(rows, m, video, on, x);
    }
    return;
  }
  for (; changed; changed &= changed - 1) {
    int i = VCS_LOWEST(changed);
    vcs_rows_make(m, video, on, i);
    if (recording) vcs_record_stance(m, rows->recorder, i, x);
    if (!(rows->split >> i & 1)) {
      rows->before[i] = video->line[i];
      rows->split |= (uint8_t)(1u << i);
    } else if (rows->cut[i] != x) {
      vcs_rows_join(rows, &video->line[i], i, &rows->before[i]);
    }
    rows->cut[i] = (uint8_t)x;
  }
}

VCS_SLOW_FN void vcs_rows_cut(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, unsigned changed,
                              int32_t clock) {
  vcs_rows_cut_with(false, rows, m, video, on, changed, clock);
}
VCS_SLOW_FN void vcs_rows_cut_recorded(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on,
                                       unsigned changed, int32_t clock) {
  vcs_rows_cut_with(true, rows, m, video, on, changed, clock);
}

VCS_FN void vcs_rows_start(vcs_rows_t *rows, const vcs_t *m, uint8_t *frames, vcs_recorder_t *recorder) {
  rows->recorder = recorder;
  rows->cut_row = recorder ? vcs_rows_cut_recorded : vcs_rows_cut;
  rows->number = m->line - m->first_line;
  rows->clock = VCS_LINE_CLOCKS * m->line + VCS_HBLANK_CLOCKS;
  rows->row = frames + m->front * VCS_FRAME_BYTES + VCS_WIDTH * rows->number;
  rows->x = rows->split = 0;
  rows->dirty = VCS_ALL_OBJECTS | VCS_LOOK;
  vcs_fill(rows->comb, VCS_COMB_PIXELS, VCS_ROWS_MOST);
}

/* The picture is complete up to a clock of the frame. */
VCS_FN void vcs_rows_finish(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, int32_t clock) {
  if (!rows->recorder) {
    vcs_rows_end(rows, m, video, on, clock);
    return;
  }
  vcs_rows_end_recorded(rows, m, video, on, clock);
  vcs_recorder_finish(rows->recorder, rows->number);
}

/* Objects, or VCS_LOOK, are about to change at a clock of the frame. */
VCS_FN void vcs_rows_change(vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, unsigned changed,
                            int32_t clock) {
  if (clock > rows->clock) {
    rows->cut_row(rows, m, video, on, changed, clock);
  } else {
    rows->dirty |= (uint8_t)changed;
  }
}

/* HMOVE blanks pixels of a row from x on. */
VCS_FN void vcs_rows_comb(vcs_rows_t *rows, int32_t number, int x) {
  if (number < VCS_ROWS_MOST) rows->comb[number] = (uint8_t)(x < 0 ? 0 : x);
}

#endif
