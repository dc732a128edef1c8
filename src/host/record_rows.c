/* record_rows.c: the functions of core/rows.h that paint, compiled a second time. Here they also pass each row to a
 * recorder of objects (core/objects.h), or to a log of rows (row_log.h), which replay_rows.c passes to the recorder
 * later.
 *
 * A frame whose objects are recorded runs on the TIA that sleeps, like any other frame (asleep.c); only the functions
 * that end rows and cut rows (vcs_rows_t: end_rows, cut_row) are those of this file.
 *
 * If a colour changes in the middle of a row, the row is painted in pieces. At the end of the row each object has one
 * mask for all pieces, also if it has changed in the row, so lit pixels are collected only then. Only a store that
 * changes an object and the look at once, such as one to CTRLPF, makes masks that differ between pieces: then the
 * pixels of a piece are collected at its end.
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

void vcs_row_log_make(vcs_row_log_t *log) {
  for (unsigned on = 0; on <= VCS_ALL_OBJECTS; on++) {
    vcs_registers_t *counting = log->counting[on];
    for (int i = 0; i < VCS_OBJECTS; i++) {
      counting->looks |= on >> i & 1 ? vcs_registers_of((unsigned)i).looks : 0;
      counting->places |= on >> i & 1 ? vcs_registers_of((unsigned)i).places : 0;
    }
    counting[1] = counting[0];
    if (on >> VCS_PF & 1) counting[1].looks |= VCS_SCORE_LOOKS;
  }
}

/* Returns CTRLPF without a bit that has no effect: if score mode and priority are both set, the objects that are on
 * decide which of the two acts (vcs_is_scored). */
VCS_HOT_FN unsigned ctrlpf_of(const vcs_t *m) {
  if (VCS_LIKELY((m->ctrlpf & 6) != 6)) return m->ctrlpf;
  return m->ctrlpf & (vcs_is_scored(m, m->ctrlpf) ? ~4u : ~2u);
}

/* Returns the registers on which the look of the objects `on` depends; all other bits are 0. */
VCS_HOT_FN vcs_registers_t registers_of(const vcs_t *m, const vcs_row_log_t *log, unsigned on) {
  const vcs_registers_t *counting = &log->counting[on][m->ctrlpf >> 1 & 1];
  vcs_registers_t now;
  __builtin_memcpy(&now.looks, (const uint8_t *)m + offsetof(vcs_t, nusiz), sizeof now.looks);
  if (VCS_UNLIKELY((m->ctrlpf & 6) == 6))
    now.looks = (now.looks & ~VCS_REGISTER(ctrlpf, 0)) | (uint64_t)ctrlpf_of(m) << VCS_REGISTER_AT(ctrlpf, 0);
  __builtin_memcpy(&now.places, (const uint8_t *)m + offsetof(vcs_t, pos), sizeof now.places);
  now.places &= (1ULL << VCS_REFLECT_1_AT) - 1; /* the five positions, without the byte behind them */
  now.places |= (uint64_t)m->reflect[1] << VCS_REFLECT_1_AT;
  now.looks &= counting->looks;
  now.places &= counting->places;
  return now;
}

/* Returns the objects that may be lit in the row: those that are on, and those that have changed in it. */
VCS_HOT_FN unsigned may_be_lit(const vcs_rows_t *rows, unsigned on) {
  return on | rows->split | (rows->kept ? 1u << VCS_PF : 0);
}

/* Sixteen bytes at once. */
typedef uint64_t words_t __attribute__((vector_size(16)));
VCS_HOT_FN words_t words_at(const void *bytes) {
  words_t words;
  __builtin_memcpy(&words, bytes, sizeof words);
  return words;
}

/* Returns a vector that is 0 if the masks of two consecutive objects are equal to two others. */
VCS_HOT_FN words_t other_pixels(const vcs_pixels_t *two, const vcs_pixels_t *others) {
  const uint64_t *a = two->word, *b = others->word;
  return (words_at(a) ^ words_at(b)) | (words_at(a + 2) ^ words_at(b + 2)) | (words_at(a + 4) ^ words_at(b + 4));
}

/* Whether an event differs from the row or piece that is painted. Players, ball and playfield are compared even if they
 * are off, because finding those that are on is more work; missiles, which are mostly off, only if one is on. */
VCS_HOT_FN bool differs(const vcs_event_t *event, uint64_t head, const vcs_registers_t *now, const vcs_pixels_t *line,
                        unsigned on) {
  words_t any = (words_at(now) ^ words_at(&event->registers)) | other_pixels(&event->line[VCS_P0], &line[VCS_P0]) |
                other_pixels(&event->line[VCS_BL], &line[VCS_BL]);
  if (VCS_UNLIKELY((event->on | on) & (1 << VCS_M0 | 1 << VCS_M1)))
    any |= other_pixels(&event->line[VCS_M0], &line[VCS_M0]);
  return ((event->head ^ head) | any[0] | any[1]) != 0;
}

/* Writes the row or piece that is painted to an event. */
VCS_HOT_FN void write_event(vcs_event_t *event, uint64_t head, const vcs_registers_t *now, const vcs_pixels_t *line,
                            unsigned on) {
  event->head = head;
  event->on = on;
  event->registers = *now;
  __builtin_memcpy(event->line, line, sizeof event->line);
}

/* Whether an object has moved in the row that ends; if none has, the cuts of the row are dropped. Sets *same to whether
 * the row has the same cuts as its entry. */
VCS_SLOW_FN bool has_moved(vcs_row_log_t *log, const vcs_t *m, vcs_row_cuts_t *cuts, bool *same) {
  const int count = log->cuts - log->cuts_before;
  const vcs_cut_t *cut = &log->cut[log->cuts_before];
  bool moved = false;
  for (int i = 0; i < count; i++)
    moved |= cut[i].pos != m->pos[cut[i].kind] || cut[i].nusiz != vcs_nusiz_of(m, cut[i].kind);
  if (!moved) {
    log->cuts = log->cuts_before;
    return false;
  }
  *same = cuts->count == count && count <= VCS_EVENT_CUTS;
  for (int i = 0; i < count && i < VCS_EVENT_CUTS; i++) {
    uint32_t now;
    __builtin_memcpy(&now, &cut[i], sizeof now);
    *same &= cuts->cut[i] == now;
    cuts->cut[i] = now;
  }
  cuts->first = (int16_t)log->cuts_before;
  cuts->count = (int16_t)count;
  log->cuts_before = log->cuts;
  return true;
}

/* Writes the entry of a row that has changed. `other`: its pieces or cuts have changed. */
VCS_SLOW_FN void change_row(vcs_row_log_t *log, int y, uint64_t head, bool other, const vcs_registers_t *now,
                            const vcs_pixels_t *line, unsigned on) {
  write_event(&log->row[y], head, now, line, on);
  vcs_row_set_add(&log->changed, y);
  if (other) vcs_row_set_add(&log->other, y);
}

/* Logs a row that ends. `other`: its pieces have changed. */
VCS_HOT_FN void log_row(vcs_row_log_t *log, const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line,
                        unsigned on, int pieces, bool other) {
  const int y = rows->number;
  bool same = true, moves = false;
  if (VCS_UNLIKELY(log->cuts != log->cuts_before)) moves = has_moved(log, m, &log->row_cuts[y], &same);
  const uint64_t head = vcs_event_head(rows->comb[y], moves, pieces);
  const vcs_registers_t now = registers_of(m, log, on);
  vcs_row_set_add(&log->painted, y);
  other |= !same;
  if (other || differs(&log->row[y], head, &now, line, on)) change_row(log, y, head, other, &now, line, on);
}

/* Logs the masks of a piece as an event. Returns the bits of the piece's word that have the number of the event. */
VCS_SLOW_FN uint64_t log_event(vcs_row_log_t *log, const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line,
                               unsigned on) {
  if (log->events == VCS_LOG_EVENTS) {
    log->lost = true;
    return 0;
  }
  vcs_event_t *event = &log->event[log->events++];
  const uint64_t head = vcs_event_head(rows->comb[rows->number], false, rows->number);
  const vcs_registers_t now = registers_of(m, log, on);
  if (differs(event, head, &now, line, on)) {
    write_event(event, head, &now, line, on);
    log->unlike = 1;
  }
  return (uint64_t)(unsigned)log->events << VCS_PIECE_EVENT;
}

/* Logs a piece of a row, and with the last piece the row. A piece that differs from the one before it only in the
 * background is joined to it; a row in which this leaves one piece is logged as painted at once. */
VCS_SLOW_FN void log_piece(vcs_row_log_t *log, const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line,
                           int from, int x, uint64_t how, unsigned on) {
  uint64_t *piece = &log->piece[rows->number][log->pieces];
  on = may_be_lit(rows, on);
  const vcs_registers_t registers = registers_of(m, log, on);
  const uint64_t colours = registers.looks >> VCS_REGISTER_AT(colu, VCS_COLUPF) & 0xFFFFFF;
  uint64_t now = (uint64_t)(unsigned)from | colours << VCS_PIECE_COLOURS |
                 (uint64_t)(ctrlpf_of(m) & 0x36) << VCS_PIECE_CTRLPF | how;
  const bool last = x == VCS_WIDTH, first = log->pieces == 0;
  const uint64_t other = first ? 0 : now ^ piece[-1];
  if (!last && !first && !how && !(other & VCS_PIECE_LOOKS)) return;
  if (last && log->pieces == 1 && other <= VCS_PIECE_FIRST) {
    log->pieces = 0;
  } else if (log->pieces < VCS_ROW_PIECES) {
    if (!last && (how || other >> VCS_PIECE_CTRLPF & 0xFF))
      now |= (uint64_t)(unsigned)x << VCS_PIECE_TO | log_event(log, rows, m, line, on);
    log->unlike |= *piece ^ now;
    *piece = now;
    log->pieces++;
  } else {
    log->lost = true;
  }
  if (!last) return;
  log_row(log, rows, m, line, on, log->pieces, log->unlike != 0);
  log->pieces = 0;
  log->unlike = 0;
}

VCS_SLOW_FN void log_cut(vcs_row_log_t *log, const vcs_t *m, int kind, int x) {
  const vcs_cut_t now = {(uint8_t)kind, m->pos[kind], vcs_nusiz_of(m, kind), (uint8_t)x, log->pieces};
  vcs_cut_t *last = log->cuts > log->cuts_before ? &log->cut[log->cuts - 1] : NULL; /* of this row */
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

/* Records pixels [from, x) of the row, which are painted. */
VCS_HOT_FN void painted(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line, const vcs_layers_t *layers,
                        unsigned on, int from, int x) {
  if (VCS_UNLIKELY(!rows->log)) {
    record(rows, m, line, layers, from, x);
  } else if (x - from == VCS_WIDTH) {
    log_row(rows->log, rows, m, line, may_be_lit(rows, on), 0, false);
  } else {
    log_piece(rows->log, rows, m, line, from, x, rows->log->collects && x < VCS_WIDTH ? VCS_PIECE_COLLECT : 0, on);
  }
}

/* Records pixels [from, x) of the row, which are blank. */
VCS_SLOW_FN void darkened(const vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, int from, int x) {
  static const vcs_pixels_t nothing[VCS_OBJECTS];
  vcs_pixels_t now[VCS_OBJECTS];
  const bool piece = x - from < VCS_WIDTH;
  if (piece) vcs_rows_gather(rows, m, video, on, now);
  if (!rows->log) {
    record_dark(rows, m, video->line, from, x);
  } else if (piece) {
    log_piece(rows->log, rows, m, video->line, from, x, VCS_PIECE_DARK, on);
  } else {
    log_row(rows->log, rows, m, nothing, 0, 0, false);
  }
  if (piece) vcs_rows_let_go(rows, video, now);
}

/* Records a row that is a copy of the row above it, if HMOVE blanks other pixels of it. */
VCS_HOT_FN void copied(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line, unsigned on) {
  const int y = rows->number;
  if (rows->comb[y] == rows->comb[y - 1] || m->vblank & 2) return;
  if (rows->log) {
    log_row(rows->log, rows, m, line, may_be_lit(rows, on), 0, false);
  } else {
    vcs_record_row(m, rows->recorder, y, VCS_ALL_OBJECTS, 0, line, NULL, rows->comb[y]);
  }
}

/* Notes, before the look changes, whether an object changes at the same pixel. */
VCS_HOT_FN void looks(const vcs_rows_t *rows, const vcs_t *m, unsigned changed) {
  bool *changing = rows->log ? &rows->log->collects : &rows->recorder->changing;
  *changing = (changed & VCS_ALL_OBJECTS) != 0 || (m->ctrlpf & 6) == 6;
}

/* Notes the stance of an object before it changes at pixel x. */
VCS_HOT_FN void cut(const vcs_rows_t *rows, const vcs_t *m, int object, int x) {
  if (object == VCS_PF) return;
  if (rows->log) {
    log_cut(rows->log, m, object, x);
  } else {
    vcs_record_stance(m, rows->recorder, object, x);
  }
}

void vcs_record_rows(vcs_rows_t *rows, vcs_recorder_t *recorder, vcs_row_log_t *log) {
  rows->recorder = recorder;
  rows->log = log;
  vcs_rows_choose(rows);
}
