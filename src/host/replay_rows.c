/* replay_rows.c: hands the logged rows of a frame (row_log.h) to a recorder of objects (core/objects.h).
 *
 * Only rows that have changed since the last frame that was listed are worked out, and the one that follows each of
 * them: from there on objects are lit as they were, so their streaks begin and end as they did, up to the next row that
 * has changed. These streaks are copied.
 */
#include "host/recording.h"

/* ---- Rows that are worked out ---------------------------------------------------------------------------------------
 */

static void replay_event(vcs_row_log_t *log, vcs_recorder_t *r, const vcs_event_t *event) {
  vcs_t *m = &log->m;
  const uint64_t head = event->head;
  const int y = (int)(head & 0xFFFF), from = VCS_EVENT_BYTE(head, VCS_EVENT_FROM);
  const int x = VCS_EVENT_BYTE(head, VCS_EVENT_TO), blank = VCS_EVENT_BYTE(head, VCS_EVENT_BLANK);
  const unsigned how = (unsigned)VCS_EVENT_BYTE(head, VCS_EVENT_HOW);
  __builtin_memcpy((uint8_t *)m + VCS_LOOKS_FROM, event->looks, VCS_LOOKS_SIZE);
  if (x - from == VCS_WIDTH) {
    vcs_record_row(m, r, y, how & VCS_EVENT_DARK ? 0 : VCS_ALL_OBJECTS, event->changed, event->line, NULL, blank);
  } else if (how & VCS_EVENT_DARK) {
    vcs_record_dark_piece(m, r, y, from, x, event->line, blank);
  } else {
    vcs_record_piece(m, r, y, from, VCS_ALL_OBJECTS, event->line, blank);
    if (how & VCS_EVENT_COLLECT) vcs_row_collect(m, r, r->row.collected, x, VCS_ALL_OBJECTS, event->line, NULL, blank);
  }
  if (x == VCS_WIDTH) vcs_record_row_end(m, r);
}

/* The cuts of row y before its piece of this number; `cut` is the number of the first one that is left. */
static int32_t replay_cuts(vcs_row_log_t *log, vcs_recorder_t *r, int32_t cut, int y, int piece) {
  while (cut < log->cuts && log->cut[cut].y < y) cut++;
  for (; cut < log->cuts && log->cut[cut].y == y && log->cut[cut].piece <= piece; cut++) {
    const vcs_cut_t *at = &log->cut[cut];
    log->m.pos[at->kind] = at->pos;
    if (at->kind == VCS_BL) {
      log->m.ctrlpf = at->nusiz;
    } else {
      log->m.nusiz[at->kind & 1] = at->nusiz;
    }
    vcs_record_stance(&log->m, r, at->kind, at->x);
  }
  return cut;
}

/* Returns the number of the first cut that is left. */
static int32_t replay_row(vcs_row_log_t *log, vcs_recorder_t *r, int32_t cut, int y) {
  const uint64_t head = log->row[y].head;
  if (!(VCS_EVENT_BYTE(head, VCS_EVENT_HOW) & VCS_EVENT_IN_PIECES)) {
    cut = replay_cuts(log, r, cut, y, VCS_LOG_PIECES);
    replay_event(log, r, &log->row[y]);
    return cut;
  }
  const int end = (int)(head >> VCS_EVENT_END);
  for (int piece = (int)(head >> VCS_EVENT_FIRST & 0xFFFF); piece < end; piece++) {
    cut = replay_cuts(log, r, cut, y, piece);
    replay_event(log, r, &log->piece[piece]);
  }
  return cut;
}

/* ---- Rows that are as they were -------------------------------------------------------------------------------------
 */

/* Copies the streaks of a kind that begin in rows [y, end), from number `from` of the last frame on. The streak before
 * them ends as it did there. Returns the number of the streak after them. */
static int copy_streaks(vcs_recorder_t *r, const vcs_log_t *last, int kind, int from, int y, int end) {
  const vcs_streak_t *entry = last->entry[kind];
  const int count = last->count[kind];
  const unsigned bit = 1u << kind;
  while (from < count && vcs_streak_y(&entry[from]) < y) from++;
  if (r->on & bit) {
    const int to = vcs_streak_y(&entry[from - 1]) + vcs_streak_rows(&entry[from - 1]);
    if (to >= end) return from;
    vcs_streak_end(r, kind, to);
  }
  for (; from < count && vcs_streak_y(&entry[from]) < end; from++) {
    vcs_streak_t *streak = r->streak[kind];
    const int rows = vcs_streak_rows(&entry[from]);
    *streak = entry[from];
    streak->span &= VCS_SPAN & ~0xFFFF0000ULL;
    if (streak->look & VCS_HUES) {
      vcs_hues_copy(&r->hues, &last->hues[(streak->look & 0xFF) - 1]);
      streak->look = VCS_HUES;
    }
    if (vcs_streak_y(streak) + rows >= end) {
      r->on |= (uint8_t)bit;
      if (streak->span & VCS_PARTLY) r->partly |= (uint8_t)bit;
      return from + 1;
    }
    streak->span |= (uint64_t)(unsigned)(from + 1) << VCS_LAST_AT;
    vcs_streak_done(r, kind, rows);
  }
  return from;
}

/* Rows [y, end) are as in the last frame, and so is the row before them. The recorder knows nothing of the last one but
 * its streaks. */
static void copy_rows(vcs_recorder_t *r, int16_t next[VCS_OBJECTS], int y, int end) {
  const vcs_log_t *last = &r->memory->log[!r->turn];
  for (int kind = 0; kind < VCS_OBJECTS; kind++) next[kind] = (int16_t)copy_streaks(r, last, kind, next[kind], y, end);
  r->unknown = VCS_ALL_OBJECTS;
  r->common = ~0ULL;
}

/* ---- The frame ------------------------------------------------------------------------------------------------------
 */

/* The first row of a set from y on, or `end`. */
static int next_row(const vcs_row_set_t *set, int y, int end) {
  int w = y >> 6;
  if (y >= end) return end;
  uint64_t left = set->word[w] >> (y & 63) << (y & 63);
  while (!left && ++w < VCS_ROW_WORDS) left = set->word[w];
  if (!left) return end;
  y = 64 * w + VCS_LOWEST_64(left);
  return y < end ? y : end;
}

void vcs_recording_replay(vcs_recording_t *recording) {
  vcs_row_log_t *log = &recording->rows;
  vcs_recorder_t *r = &recording->recorder;
  const int height = recording->height;
  const bool known = log->valid && r->memory->log[!r->turn].complete;
  vcs_row_set_t other, any; /* rows that are not as they were, and those in which something begins or ends */
  int16_t next[VCS_OBJECTS] = {0};
  int32_t cut = 0;
  bool synced = known;
  for (int w = 0; w < VCS_ROW_WORDS; w++) {
    other.word[w] = log->changed.word[w] | (log->painted.word[w] ^ log->listed.word[w]);
    any.word[w] = other.word[w] | log->painted.word[w];
  }
  if (known && next_row(&other, 0, height) == height) {
    vcs_recorder_take_last(r);
    return;
  }
  for (int y = 0; y < height; y++) {
    if (synced) {
      const int end = next_row(&other, y, height);
      if (end > y) copy_rows(r, next, y, end);
      y = end;
    } else {
      y = next_row(&any, y, height);
    }
    if (y == height) break;
    if (vcs_row_set_has(&log->painted, y)) cut = replay_row(log, r, cut, y);
    synced = known && !vcs_row_set_has(&other, y);
  }
  vcs_recorder_finish(&log->m, r, height);
  log->listed = log->painted;
  for (int w = 0; w < VCS_ROW_WORDS; w++) log->changed.word[w] = 0;
}
