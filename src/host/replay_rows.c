/* replay_rows.c: passes the logged rows of a frame (row_log.h) to a recorder of objects (core/objects.h).
 *
 * Where an object differs from the last frame that was listed, it is worked out in that row and in the row that is
 * painted next. In the rows that follow, its streaks begin and end as in that frame, up to the next row in which it
 * differs: they are copied. Each object is worked out or copied independently of the other objects:
 *
 *   painted row   changed      P0            PF
 *       10           .         copied        copied
 *       11           P0        worked out    copied
 *       12           P0        worked out    copied
 *       13           .         worked out    copied
 *       14           PF        copied        worked out
 *       15           .         copied        worked out
 *
 * If objects of different colours overlap in a row that has changed, all objects of the row count as changed. A row in
 * which an object moves, or that is painted in pieces, is always worked out with all of its objects.
 */
#include "host/recording.h"

/* ---- Rows that are worked out ---------------------------------------------------------------------------------------
 */

static void set_registers(vcs_t *m, const vcs_registers_t *registers) {
  __builtin_memcpy((uint8_t *)m + offsetof(vcs_t, nusiz), &registers->looks, sizeof registers->looks);
  __builtin_memcpy(m->pos, &registers->places, sizeof m->pos);
  m->reflect[1] = (uint8_t)(registers->places >> VCS_REFLECT_1_AT);
}

/* Passes the cuts of row y before its piece number `piece` to the recorder, from cut number `cut` on. Returns the
 * number of the next cut. */
static int replay_cuts(vcs_row_log_t *log, vcs_recorder_t *r, int y, int cut, int piece) {
  const vcs_row_cuts_t *cuts = &log->row_cuts[y];
  for (; cut < cuts->first + cuts->count && log->cut[cut].piece <= piece; cut++) {
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

/* Passes a row that was painted in pieces to the recorder. */
static void replay_pieces(vcs_row_log_t *log, vcs_recorder_t *r, int y) {
  vcs_t *m = &log->m;
  const vcs_event_t *row = &log->row[y];
  const int count = vcs_event_pieces(row);
  int cut = log->row_cuts[y].first;
  for (int i = 0; i < count; i++) {
    const uint64_t piece = log->piece[y][i];
    const int number = (int)(piece >> VCS_PIECE_EVENT), from = (int)(piece & 0xFF);
    const int x = i == count - 1 ? (int)VCS_WIDTH : (int)(piece >> VCS_PIECE_TO & 0xFF);
    const vcs_event_t *event = number ? &log->event[number - 1] : row;
    const uint32_t colours = (uint32_t)(piece >> VCS_PIECE_COLOURS) << 8;
    if (row->head & VCS_EVENT_MOVES) cut = replay_cuts(log, r, y, cut, i);
    set_registers(m, &event->registers);
    __builtin_memcpy(m->colu, &colours, sizeof colours);
    m->ctrlpf = (uint8_t)(piece >> VCS_PIECE_CTRLPF);
    if (piece & VCS_PIECE_DARK) {
      vcs_record_dark_piece(m, r, y, from, x, event->line, vcs_event_blank(event));
      continue;
    }
    vcs_record_piece(m, r, y, from, VCS_ALL_OBJECTS, event->line, vcs_event_blank(event));
    if (x == VCS_WIDTH || piece & VCS_PIECE_COLLECT)
      vcs_row_collect(m, r, r->row.collected, x, VCS_ALL_OBJECTS, event->line, NULL, vcs_event_blank(event));
  }
  vcs_record_row_end(m, r);
}

/* ---- Streaks that are copied ----------------------------------------------------------------------------------------
 */

/* Copies the streaks of a kind that begin in rows [y, end) of the last frame; they have the number `from` or a higher
 * one. A streak that has begun before row y ends where it ended in the last frame. Returns the number of the next
 * streak. */
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

/* ---- Objects in a row -----------------------------------------------------------------------------------------------
 */

/* Returns vcs_look_of, or vcs_field_look, of an object from logged registers. */
static uint64_t look_of(const vcs_registers_t *registers, int kind) {
  const uint64_t looks = registers->looks, places = registers->places;
  const unsigned ctrlpf = vcs_registers_ctrlpf(registers), side = (unsigned)kind & 1;
  const uint64_t colour = looks >> VCS_REGISTER_AT(colu, VCS_COLUPF) & 0xFF;
  const uint64_t player = looks >> (VCS_REGISTER_AT(colu, VCS_COLUP0) + 8 * side) & 0xFF;
  if (kind == VCS_PF) {
    if (VCS_LIKELY(!(ctrlpf & 2))) return vcs_field_look((unsigned)colour, (unsigned)colour);
    return vcs_field_look((unsigned)(looks >> VCS_REGISTER_AT(colu, VCS_COLUP0)) & 0xFF,
                          (unsigned)(looks >> VCS_REGISTER_AT(colu, VCS_COLUP1)) & 0xFF);
  }
  const uint64_t pos = places >> 8 * kind & 0xFF;
  if (kind == VCS_BL) return pos | (ctrlpf & 0x30) << 8 | colour << 24;
  const uint64_t nusiz = looks >> 8 * side & 0xFF;
  if (kind > VCS_P1) return pos | (nusiz & 0x37) << 8 | player << 24;
  const uint64_t reflect = side ? places >> VCS_REFLECT_1_AT : looks >> VCS_REGISTER_AT(reflect, 0);
  return pos | (nusiz & 7) << 8 | player << 24 | (uint64_t)(reflect != 0) << 32;
}

/* Whether objects of different colours overlap in a row, so that one may cover a part of another. */
static bool do_meet(const vcs_event_t *event) {
  const unsigned on = (unsigned)event->on;
  const vcs_pixels_t *line = event->line;
  uint64_t any = 0;
  if (VCS_UNLIKELY(vcs_registers_ctrlpf(&event->registers) & 2)) return true; /* score mode has the players' colours */
  if (((on & 5) != 0) + ((on & 10) != 0) + ((on & 0x30) != 0) < 2) return false;
  for (int w = 0; w < 3; w++) {
    const uint64_t p0 = line[VCS_P0].word[w] | line[VCS_M0].word[w], p1 = line[VCS_P1].word[w] | line[VCS_M1].word[w];
    any |= (p0 & p1) | ((p0 | p1) & (line[VCS_PF].word[w] | line[VCS_BL].word[w]));
  }
  return any != 0;
}

/* Returns the objects that differ from those of row y when it was last listed, and stores the row as the one that is
 * listed now. */
static unsigned altered_in(vcs_row_log_t *log, int y) {
  const vcs_event_t *now = &log->row[y];
  vcs_event_t *was = &log->listed_row[y];
  const uint64_t looks = now->registers.looks ^ was->registers.looks;
  const uint64_t places = now->registers.places ^ was->registers.places;
  const bool met = log->meets[y], meet = do_meet(now);
  unsigned altered =
      met || meet || now->head != was->head || vcs_row_set_has(&log->other, y) ? (unsigned)VCS_ALL_OBJECTS : 0;
  for (unsigned left = (unsigned)(now->on | was->on) & ~altered; left; left &= left - 1) {
    const int i = VCS_LOWEST(left);
    const vcs_registers_t registers = vcs_registers_of((unsigned)i);
    const uint64_t *a = now->line[i].word, *b = was->line[i].word;
    const uint64_t any =
        (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (looks & registers.looks) | (places & registers.places);
    altered |= (unsigned)(any != 0) << i;
  }
  *was = *now;
  log->meets[y] = meet;
  return altered;
}

/* ---- Rows -----------------------------------------------------------------------------------------------------------
 */

/* Passes the objects `kinds` of row y to the recorder. The row was painted at once, and no object moves in it. */
static void replay_objects(vcs_row_log_t *log, vcs_recorder_t *r, int y, unsigned kinds) {
  const vcs_event_t *event = &log->row[y];
  const int blank = vcs_event_blank(event);
  const uint64_t comb[3] = {vcs_from(blank, 0) & ~vcs_from(VCS_COMB_PIXELS, 0), 0, 0};
  vcs_cover_t cover;
  bool covers = log->meets[y];
  if (VCS_UNLIKELY(covers)) {
    set_registers(&log->m, &event->registers);
    covers = vcs_find_cover(&log->m, log->m.ctrlpf, (unsigned)event->on, event->line, NULL, blank, &cover);
  }
  for (unsigned left = kinds & ((unsigned)event->on | r->on); left; left &= left - 1) {
    const int i = VCS_LOWEST(left);
    const uint64_t *lit = event->line[i].word, *hidden = lit[0] & comb[0] ? comb : NULL;
    if (!(lit[0] | lit[1] | lit[2])) {
      if (r->on >> i & 1) vcs_streak_end(r, i, y);
      continue;
    }
    if (VCS_UNLIKELY(covers)) {
      hidden = vcs_cover_of(&cover, i);
      if (!((lit[0] & hidden[0]) | (lit[1] & hidden[1]) | (lit[2] & hidden[2]))) hidden = NULL;
    }
    const uint64_t look = look_of(&event->registers, i);
    if (hidden) {
      vcs_streak_row_covered(r, i, look, y, lit, hidden);
    } else {
      vcs_streak_row(r, i, look, y, lit);
    }
  }
}

/* Whether a row can only be worked out with all of its objects. */
static bool is_joint(const vcs_event_t *event) {
  return event->head >> VCS_EVENT_PIECES || event->head & VCS_EVENT_MOVES;
}

/* Passes row y to the recorder: the objects `kinds`, or all objects if the row can only be worked out with all of
 * them. */
static void replay_row(vcs_row_log_t *log, vcs_recorder_t *r, int y, unsigned kinds) {
  const vcs_event_t *event = &log->row[y];
  if (VCS_LIKELY(!is_joint(event))) {
    replay_objects(log, r, y, kinds);
  } else if (vcs_event_pieces(event)) {
    replay_pieces(log, r, y);
  } else {
    replay_cuts(log, r, y, log->row_cuts[y].first, VCS_ROW_PIECES);
    set_registers(&log->m, &event->registers);
    vcs_record_row(&log->m, r, y, VCS_ALL_OBJECTS, VCS_ALL_OBJECTS, event->line, NULL, vcs_event_blank(event));
    vcs_record_row_end(&log->m, r);
  }
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
  const vcs_log_t *last = &r->memory->log[!r->turn];
  const int height = recording->height;
  const bool known = log->valid && last->complete;
  vcs_row_set_t other, any;                     /* rows that differ from the listed frame; these and all painted rows */
  int next[VCS_OBJECTS] = {0};                  /* by object: number of its next streak in the last frame, ... */
  int from[VCS_OBJECTS] = {0};                  /* ... and the row from which on it is copied, ... */
  unsigned kinds = known ? 0 : VCS_ALL_OBJECTS; /* ... unless it is one of these, which are worked out */
  unsigned seen = 0;                            /* objects that have streaks in the last frame */
  for (int w = 0; w < VCS_ROW_WORDS; w++) {
    other.word[w] = log->changed.word[w] | (log->painted.word[w] ^ log->listed.word[w]);
    any.word[w] = other.word[w] | log->painted.word[w];
  }
  if (known && next_row(&other, 0, height) == height) {
    vcs_recorder_take_last(r);
    return;
  }
  for (int i = 0; i < VCS_OBJECTS; i++) seen |= (unsigned)(!known || last->count[i] > 0) << i;
  for (int y = 0; (y = next_row(kinds ? &any : &other, y, height)) < height; y++) {
    const bool painted = vcs_row_set_has(&log->painted, y), listed = vcs_row_set_has(&log->listed, y);
    unsigned altered = known ? 0 : VCS_ALL_OBJECTS;
    if (vcs_row_set_has(&log->changed, y)) altered |= altered_in(log, y);
    if (!painted && !listed) continue; /* painted only in a frame between the listed one and this one */
    if (painted != listed) altered = VCS_ALL_OBJECTS;
    unsigned now = VCS_ALL_OBJECTS;
    if (!painted || !is_joint(&log->row[y])) {
      altered &= seen | (painted ? (unsigned)log->row[y].on : kinds); /* the others are off in both frames */
      now = kinds | altered;
    }
    for (unsigned left = now & ~kinds; left; left &= left - 1) {
      const int kind = VCS_LOWEST(left);
      if (from[kind] < y) next[kind] = copy_streaks(r, last, kind, next[kind], from[kind], y);
    }
    if (painted) replay_row(log, r, y, now);
    for (unsigned left = now & ~altered; left; left &= left - 1) from[VCS_LOWEST(left)] = y + 1;
    kinds = altered;
  }
  for (unsigned left = VCS_ALL_OBJECTS & ~kinds; left; left &= left - 1) {
    const int kind = VCS_LOWEST(left);
    if (from[kind] < height) copy_streaks(r, last, kind, next[kind], from[kind], height);
  }
  vcs_recorder_finish(&log->m, r, height);
  log->listed = log->painted;
  for (int w = 0; w < VCS_ROW_WORDS; w++) log->changed.word[w] = log->other.word[w] = 0;
}
