/* record_rows.c: the functions of core/rows.h that paint, compiled once more. Each row also goes to a recorder of
 * objects (core/objects.h), or to a log of rows (row_log.h) that replay_rows.c hands to the recorder later.
 *
 * A frame whose objects are recorded runs on the same TIA that sleeps as any other (asleep.c); only what ends its rows
 * and what cuts them comes from here.
 *
 * A row is painted in pieces where colours change. An object that changes in it has one mask for the whole row when it
 * is complete, so that what is lit is collected only then. Only an object that changes together with the look (CTRLPF)
 * has another one for each piece.
 */
#include "core/objects.h"

struct vcs_rows;
VCS_HOT_FN void painted(const struct vcs_rows *rows, const vcs_t *m, const vcs_pixels_t *line,
                        const vcs_layers_t *layers, unsigned on, int from, int x);
VCS_SLOW_FN void darkened(const struct vcs_rows *rows, const vcs_t *m, vcs_video_t *video, unsigned on, int from,
                          int x);
VCS_HOT_FN void copied(const struct vcs_rows *rows, const vcs_t *m, const vcs_pixels_t *line, unsigned on);
VCS_HOT_FN void looks(const struct vcs_rows *rows, const vcs_t *m, unsigned changed);
VCS_HOT_FN void cut(const struct vcs_rows *rows, const vcs_t *m, int object, int x);
#define VCS_ROW_PAINTED(rows, m, line, layers, on, from, x) painted(rows, m, line, layers, on, from, x)
#define VCS_ROW_DARK(rows, m, video, on, from, x) darkened(rows, m, video, on, from, x)
#define VCS_ROW_COPIED(rows, m, line, on) copied(rows, m, line, on)
#define VCS_ROW_LOOK(rows, m, changed) looks(rows, m, changed)
#define VCS_ROW_CUT(rows, m, object, x) cut(rows, m, object, x)
#include "core/rows.h"

#include "host/asleep.h"
#include "host/row_log.h"

/* ---- The log ------------------------------------------------------------------------------------------------------
 */

/* The registers on which the objects of a row depend: those that say what is on, and those of what is on. Where an
 * object that is off would be, and its colour, do not count. */
#define COUNT(field, index) counting[offsetof(vcs_t, field) - VCS_LOOKS_FROM + (size_t)(index)] = 0xFF
static void count_registers(uint8_t counting[VCS_EVENT_LOOKS], unsigned on) {
  for (int i = 0; i < 2; i++) {
    COUNT(grp, i);
    COUNT(grp_old, i);
    COUNT(enam, i);
    COUNT(vdelp, i);
    COUNT(resmp, i);
    if (on >> i & 5) { /* a player and its missile */
      COUNT(nusiz, i);
      COUNT(colu, VCS_COLUP0 + i);
      COUNT(reflect, i);
      COUNT(first_copy_off, i);
    }
  }
  for (int i = 0; i < 3; i++) COUNT(pf, i);
  for (int i = 0; i < VCS_PF; i++) {
    if (on >> i & 1) COUNT(pos, i);
  }
  if (on >> VCS_BL) COUNT(colu, VCS_COLUPF);
  COUNT(ctrlpf, 0);
  COUNT(enabl, 0);
  COUNT(enabl_old, 0);
  COUNT(vdelbl, 0);
  COUNT(pf_mirrored, 0);
  COUNT(stars_shape, 0);
}

void vcs_row_log_make(vcs_row_log_t *log) {
  for (unsigned on = 0; on <= VCS_ALL_OBJECTS; on++) count_registers(log->counting[on], on);
}

/* Sixteen bytes at once. */
typedef uint64_t words_t __attribute__((vector_size(16)));
VCS_HOT_FN words_t words_at(const uint8_t *bytes) {
  words_t words;
  __builtin_memcpy(&words, bytes, sizeof words);
  return words;
}

/* Whether an event is another one than what is painted now. `split` objects have masks that do not follow from their
 * registers. */
VCS_HOT_FN bool differs(const vcs_event_t *event, uint64_t head, const vcs_rows_t *rows, const vcs_t *m,
                        const vcs_pixels_t *line, unsigned on) {
  on |= rows->split | (rows->kept ? 1u << VCS_PF : 0) | (m->ctrlpf & 2 ? VCS_ALL_OBJECTS : 0); /* the score's colours */
  const uint8_t *counting = rows->log->counting[on];
  const uint8_t *looks = (const uint8_t *)m + VCS_LOOKS_FROM;
  const int last = VCS_LOOKS_SIZE - 16;
  const words_t other = ((words_at(looks) ^ words_at(event->looks)) & words_at(counting)) |
                        ((words_at(looks + 16) ^ words_at(event->looks + 16)) & words_at(counting + 16)) |
                        ((words_at(looks + last) ^ words_at(event->looks + last)) & words_at(counting + last));
  uint64_t any = other[0] | other[1] | (event->head ^ head) | (event->field ^ rows->field) | (event->kept ^ rows->kept);
  for (unsigned split = rows->split; split; split &= split - 1) {
    const int i = VCS_LOWEST(split);
    for (int w = 0; w < 3; w++) any |= event->line[i].word[w] ^ line[i].word[w];
  }
  return any != 0;
}

/* Writes what is painted now into an event of row y. */
VCS_SLOW_FN void write_event(vcs_row_log_t *log, vcs_event_t *event, int y, uint64_t head, const vcs_rows_t *rows,
                             const vcs_t *m, const vcs_pixels_t *line) {
  vcs_row_set_add(&log->changed, y);
  event->head = head;
  event->field = rows->field;
  event->kept = rows->kept;
  __builtin_memcpy(event->looks, (const uint8_t *)m + VCS_LOOKS_FROM, VCS_LOOKS_SIZE);
  for (int i = 0; i < VCS_OBJECTS; i++) vcs_rows_copy(&event->line[i], &line[i]);
}

/* Whether an object has been elsewhere in the row that ends; if not, its cuts need not be known. `event` is that of a
 * row that is painted at once; *same: its cuts are the same. */
VCS_SLOW_FN bool has_moved(vcs_row_log_t *log, const vcs_t *m, vcs_event_t *event, bool *same) {
  const int count = log->cuts - log->stirred;
  bool moved = false;
  for (int i = 0; i < count; i++) {
    const vcs_cut_t *at = &log->cut[log->stirred + i];
    moved |= at->pos != m->pos[at->kind] || at->nusiz != vcs_nusiz_of(m, at->kind);
  }
  *same = !moved || (event && event->cuts == count && count <= VCS_EVENT_CUTS);
  for (int i = 0; moved && event && i < count && i < VCS_EVENT_CUTS; i++) {
    uint32_t now;
    __builtin_memcpy(&now, &log->cut[log->stirred + i], sizeof now);
    *same &= event->cut[i] == now;
    event->cut[i] = now;
  }
  if (moved && event) event->cuts = (uint8_t)(count < 255 ? count : 255);
  if (!moved) log->cuts = log->stirred;
  log->stirred = log->cuts;
  return moved;
}

/* A row that is painted at once. */
VCS_HOT_FN void log_row(vcs_row_log_t *log, const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line,
                        unsigned how, unsigned on, unsigned changed) {
  const int y = rows->number;
  vcs_event_t *event = &log->row[y];
  bool same = true;
  if (VCS_UNLIKELY(log->cuts != log->stirred) && has_moved(log, m, event, &same)) how |= VCS_EVENT_MOVES;
  const uint64_t head = vcs_event_head(y, 0, VCS_WIDTH, rows->comb[y], how, rows->split);
  vcs_row_set_add(&log->painted, y);
  event->changed = (uint8_t)changed;
  if (!same || differs(event, head, rows, m, line, on)) write_event(log, event, y, head, rows, m, line);
}

/* A piece of a row, and with its last one the row. */
VCS_SLOW_FN void log_piece(vcs_row_log_t *log, const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line,
                           int from, int x, unsigned how, unsigned on) {
  const int y = rows->number;
  if (log->pieces == VCS_LOG_PIECES) {
    log->lost = true;
    return;
  }
  vcs_event_t *event = &log->piece[log->pieces++];
  const uint64_t head = vcs_event_head(y, from, x, rows->comb[y], how, rows->split);
  if (differs(event, head, rows, m, line, on)) write_event(log, event, y, head, rows, m, line);
  if (x < VCS_WIDTH) return;
  vcs_event_t *row = &log->row[y];
  bool same = true;
  const bool moves = log->cuts != log->stirred && has_moved(log, m, NULL, &same);
  const uint64_t whole = vcs_event_pieces(y, log->first, log->pieces, moves);
  if (!same || row->head != whole) vcs_row_set_add(&log->changed, y);
  row->head = whole;
  vcs_row_set_add(&log->painted, y);
  log->first = log->pieces;
}

VCS_SLOW_FN void log_cut(vcs_row_log_t *log, const vcs_t *m, int kind, int y, int x) {
  const vcs_cut_t now = {(uint8_t)kind, m->pos[kind], vcs_nusiz_of(m, kind),
                         (uint8_t)x,    (int16_t)y,   (int16_t)log->pieces};
  vcs_cut_t *last = log->cuts > log->stirred ? &log->cut[log->cuts - 1] : NULL; /* of this row */
  if (last && last->kind == now.kind && last->pos == now.pos && last->nusiz == now.nusiz && last->piece == now.piece) {
    last->x = now.x;
  } else if (log->cuts < VCS_LOG_CUTS) {
    log->cut[log->cuts++] = now;
  } else {
    log->lost = true;
  }
}

/* ---- The recorder ---------------------------------------------------------------------------------------------------
 */

VCS_SLOW_FN void record(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line, const vcs_layers_t *layers,
                        int from, int x) {
  vcs_recorder_t *r = rows->recorder;
  const int y = rows->number, blank = rows->comb[y];
  if (x - from == VCS_WIDTH) {
    vcs_record_row(m, r, y, VCS_ALL_OBJECTS, rows->dirty | rows->split, line, layers, blank);
  } else {
    vcs_record_piece(m, r, y, from, VCS_ALL_OBJECTS, line, blank);
    if (x == VCS_WIDTH || r->changing) vcs_row_collect(m, r, r->row.collected, x, VCS_ALL_OBJECTS, line, layers, blank);
  }
  if (x == VCS_WIDTH) vcs_record_row_end(m, r);
}

VCS_SLOW_FN void record_dark(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line, int from, int x) {
  vcs_recorder_t *r = rows->recorder;
  const int y = rows->number, blank = rows->comb[y];
  if (x - from == VCS_WIDTH) {
    vcs_record_row(m, r, y, 0, VCS_ALL_OBJECTS, line, NULL, blank);
  } else {
    vcs_record_dark_piece(m, r, y, from, x, line, blank);
  }
  if (x == VCS_WIDTH) vcs_record_row_end(m, r);
}

/* ---- What core/rows.h calls -----------------------------------------------------------------------------------------
 */

/* Pixels [from, x) of the row are painted. */
VCS_HOT_FN void painted(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line, const vcs_layers_t *layers,
                        unsigned on, int from, int x) {
  if (VCS_UNLIKELY(!rows->log)) {
    record(rows, m, line, layers, from, x);
  } else if (x - from == VCS_WIDTH) {
    log_row(rows->log, rows, m, line, 0, on, rows->dirty | rows->split);
  } else {
    log_piece(rows->log, rows, m, line, from, x, x == VCS_WIDTH || rows->log->collects ? VCS_EVENT_COLLECT : 0, on);
  }
}

/* They are blank. */
VCS_SLOW_FN void darkened(const vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, int from, int x) {
  vcs_pixels_t now[VCS_OBJECTS];
  const bool piece = x - from < VCS_WIDTH;
  if (piece) vcs_rows_gather(rows, m, video, on, now);
  if (!rows->log) {
    record_dark(rows, m, video->line, from, x);
  } else if (piece) {
    log_piece(rows->log, rows, m, video->line, from, x, VCS_EVENT_DARK, on);
  } else {
    log_row(rows->log, rows, m, video->line, VCS_EVENT_DARK, on, VCS_ALL_OBJECTS);
  }
  if (piece) vcs_rows_let_go(rows, video, now);
}

/* The row is a copy of the row above it. */
VCS_HOT_FN void copied(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line, unsigned on) {
  const int y = rows->number;
  if (rows->comb[y] == rows->comb[y - 1] || m->vblank & 2) return;
  if (rows->log) {
    log_row(rows->log, rows, m, line, 0, on, 0);
  } else {
    vcs_record_row(m, rows->recorder, y, VCS_ALL_OBJECTS, 0, line, NULL, rows->comb[y]);
  }
}

/* The look is about to change, or objects together with it. */
VCS_HOT_FN void looks(const vcs_rows_t *rows, const vcs_t *m, unsigned changed) {
  bool *changing = rows->log ? &rows->log->collects : &rows->recorder->changing;
  *changing = (changed & VCS_ALL_OBJECTS) != 0 || (m->ctrlpf & 6) == 6;
}

/* An object is about to change at pixel x. */
VCS_HOT_FN void cut(const vcs_rows_t *rows, const vcs_t *m, int object, int x) {
  if (object == VCS_PF) return;
  if (rows->log) {
    log_cut(rows->log, m, object, rows->number, x);
  } else {
    vcs_record_stance(m, rows->recorder, object, x);
  }
}

void vcs_record_rows(vcs_rows_t *rows, vcs_recorder_t *recorder, vcs_row_log_t *log) {
  rows->recorder = recorder;
  rows->log = log;
  vcs_rows_choose(rows);
}
