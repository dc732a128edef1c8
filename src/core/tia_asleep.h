/* tia_asleep.h: the TIA that sleeps: it does nothing for a line, and for a store only if the register changes.
 *
 * tia.h calls the same functions whether this file or tia_beam.h defines them. A file that defines VCS_TIA_ASLEEP
 * before it includes tia.h uses the functions of this file (src/host/asleep_run.h). Collisions need no lines: for each
 * object, `since` is the time of the last change of its shape or place:
 *
 *   P0   ....|=======GRP0=3C========|=====GRP0=7E====        compared from `since` of P1 to `now`: one AND,
 *   P1   ..........|==================GRP1=18========        before the first of the two objects changes
 *                  since                            now
 *
 * Before an object changes, it is compared with every other object that is on and whose collision with it is not
 * latched, over the clocks since the later of their last changes. In a line's time or more the beam passes every pixel;
 * in less time it passes a piece of one line or of two. Two objects that would not meet whatever the graphics of the
 * players are (`apart`) are not compared again until one of them moves or changes its size. So a register that does not
 * change costs nothing, a line costs nothing, and collisions that CXCLR clears before a program reads them are never
 * computed. If there is a picture, the rows that the beam has finished are painted before a change that shows (rows.h).
 *
 * So most stores of a frame do two things: they note their time (`last`), because `seen_clock` is the clock of the last
 * access, and they store the register. The rows of run.h do both for accesses before the time `wake`; later accesses
 * are executed by tia.h. `wake` is the earliest of these times: the end of the picture, and after it the frame's last
 * line; the end of a line at which a register changes by itself (vcs_tia_ending); and the first access after an HMOVE,
 * because its time is part of the machine.
 */
#ifndef VCS_CORE_TIA_ASLEEP_H
#define VCS_CORE_TIA_ASLEEP_H

#include "rows.h"

typedef struct {
  vcs_video_t video;           /* first member: the core has a pointer to it */
  vcs_rows_t *rows;            /* the picture, or NULL without one */
  uint64_t wake;               /* accesses from this time on are executed at once, ... */
  uint64_t later;              /* ... or from this time on, if `wake` is only for the first access after an HMOVE */
  uint64_t last;               /* the time of the last access, which is not recorded in m yet, or 0 */
  uint64_t line_end;           /* the end of a line, for WSYNC, with all bits of the count set; 0: not known */
  uint64_t blank_end;          /* from this time on the blank of the last HMOVE is over */
  uint64_t start_time;         /* the time at which the picture starts */
  uint64_t hmove_from;         /* from this time on an HMOVE is in the picture and needs no special case; never: ~0 */
  int32_t blanked;             /* the blank_clock of the machine for which blank_end is known, or VCS_NEVER */
  int32_t ending;              /* clock of the frame at which a register changes by itself, VCS_NEVER: none does */
  uint64_t since[VCS_OBJECTS]; /* the moment of an object's last change */
  vcs_pixels_t reach[2];       /* the players' pixels if all bits of their graphics were set */
  uint16_t apart;              /* pairs (a set of latches) that cannot meet where they are, whatever the graphics */
  uint8_t unreached;           /* players that have moved since `reach` was made */
  uint8_t on;                  /* objects that are on (vcs_objects_on) */
  uint8_t last_register;       /* register of the last access */
} vcs_asleep_t;

/* A moment is the time of an access, with its register in the low byte, or a clock of the frame above VCS_AT_CLOCK. */
enum { VCS_AT_CLOCK = 0xFF };
VCS_FN uint64_t vcs_moment(uint64_t time, unsigned r) { return (time & ~0xFFull) | r; }
VCS_FN uint64_t vcs_moment_last(const vcs_asleep_t *asleep) { return vcs_moment(asleep->last, asleep->last_register); }
VCS_FN uint64_t vcs_moment_of(int32_t clock) { return (uint64_t)(uint32_t)clock << 8 | VCS_AT_CLOCK; }

#define VCS_NEVER 0x7FFFFFFF

VCS_FN vcs_asleep_t *vcs_asleep(vcs_video_t *video) { return (vcs_asleep_t *)(void *)video; }

/* The pixels that the beam passes in the clocks [from, to) of the frame, less than a line. */
VCS_FN void vcs_asleep_piece(int32_t from, int32_t to, uint64_t piece[3]) {
  int start = from % VCS_LINE_CLOCKS, end = start + (int)(to - from);
  for (int w = 0; w < 3; w++) {
    piece[w] = vcs_from(start - VCS_HBLANK_CLOCKS, w) & ~vcs_from(end - VCS_HBLANK_CLOCKS, w);
    piece[w] |= ~vcs_from(end - VCS_LINE_CLOCKS - VCS_HBLANK_CLOCKS, w);
  }
}

/* Return the clock of the frame of a noted access, and the clock from which on it shows. */
VCS_FN int32_t vcs_moment_now(const vcs_t *m, uint64_t moment) {
  return vcs_wrap_minus((int32_t)((uint32_t)(moment >> VCS_CYCLES_SHIFT) * 3), m->frame_clock);
}
VCS_FN int32_t vcs_moment_target(const vcs_t *m, uint64_t moment) {
  int32_t now = vcs_moment_now(m, moment);
  return vcs_wrap_minus(now, -vcs_tia_delay(moment & 63, now));
}

/* The clock from which on it shows, limited to the picture. */
VCS_FN int32_t vcs_moment_clock(const vcs_t *m, const vcs_video_t *video, uint64_t moment) {
  if ((uint8_t)moment == VCS_AT_CLOCK) return (int32_t)(uint32_t)(moment >> 8);
  int32_t at = vcs_moment_target(m, moment);
  return at < video->start ? video->start : at > video->stop ? video->stop : at;
}

/* Returns the clock since which neither object of a pair has changed. */
VCS_FN int32_t vcs_asleep_since(const vcs_t *m, const vcs_video_t *video, const uint64_t since[], vcs_pair_t pair) {
  int32_t a = vcs_moment_clock(m, video, since[pair.a]), b = vcs_moment_clock(m, video, since[pair.b]);
  return a > b ? a : b;
}

/* Returns the pixels that an object can light at its place: its mask, or for a player all bits of its graphics set. */
VCS_FN const uint64_t *vcs_asleep_reach(const vcs_t *m, vcs_video_t *video, unsigned object) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  if (object > VCS_P1) {
    if (video->stale >> object & 1) vcs_rows_make_mask(m, video, (int)object);
    return video->line[object].word;
  }
  if (asleep->unreached >> object & 1) {
    asleep->reach[object] = vcs_player_pixels(m, (int)object, 0xFF);
    asleep->unreached &= (uint8_t) ~(1u << object);
  }
  return asleep->reach[object].word;
}

/* Latches those of the collisions `pairs` that have happened before the moment `end`. Objects that change at that very
 * moment are left out: their registers may not be stored yet. */
VCS_SLOW_FN void vcs_asleep_collide(vcs_t *m, vcs_video_t *video, unsigned pairs, uint64_t end) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  const uint64_t *since = asleep->since;
  for (; pairs; pairs &= pairs - 1) {
    int latch = VCS_LOWEST(pairs);
    vcs_pair_t pair = vcs_pair((unsigned)latch);
    if (since[pair.a] == end || since[pair.b] == end) continue;
    const uint64_t *a = vcs_asleep_reach(m, video, pair.a), *b = vcs_asleep_reach(m, video, pair.b);
    uint64_t both[3] = {a[0] & b[0], a[1] & b[1], a[2] & b[2]};
    if (!(both[0] | both[1] | both[2])) {
      asleep->apart |= (uint16_t)(1u << latch);
      continue;
    }
    if (video->stale >> pair.a & 1) vcs_rows_make_mask(m, video, pair.a);
    if (video->stale >> pair.b & 1) vcs_rows_make_mask(m, video, pair.b);
    a = video->line[pair.a].word, b = video->line[pair.b].word;
    for (int w = 0; w < 3; w++) both[w] = a[w] & b[w];
    if (!(both[0] | both[1] | both[2])) continue;
    int32_t from = vcs_asleep_since(m, video, since, pair), to = vcs_moment_clock(m, video, end);
    if (from >= to) continue;
    if (to - from < VCS_LINE_CLOCKS) {
      uint64_t piece[3];
      vcs_asleep_piece(from, to, piece);
      if (!((both[0] & piece[0]) | (both[1] & piece[1]) | (both[2] & piece[2]))) continue;
    }
    m->collisions |= (uint16_t)(1u << latch);
  }
}

/* Returns the collisions that some objects may have and that are not latched. */
VCS_FN unsigned vcs_asleep_chances(const vcs_t *m, const vcs_asleep_t *asleep, unsigned objects) {
  unsigned known = m->collisions | asleep->apart | vcs_pairs(VCS_ALL_OBJECTS & ~objects);
  return vcs_pairs(asleep->on) & ~known;
}

/* Latches the collisions of objects before they change. */
VCS_FN void vcs_asleep_collide_these(vcs_t *m, vcs_video_t *video, unsigned objects, uint64_t end) {
  unsigned pairs = vcs_asleep_chances(m, vcs_asleep(video), objects);
  if (pairs && !(m->vblank & 2)) vcs_asleep_collide(m, video, pairs, end);
}

/* Called before an object changes its graphics, or turns on or off, but does not move, by the last noted access, to
 * register r (a constant). The access is in the picture, so its clock needs no limits. */
VCS_HOT_FN void vcs_asleep_change_shape(vcs_t *m, vcs_video_t *video, unsigned object, unsigned r) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  const uint64_t at = vcs_moment(asleep->last, r);
  vcs_asleep_collide_these(m, video, 1u << object, at);
  if (asleep->rows) {
    const int32_t now = vcs_moment_now(m, at);
    vcs_rows_change_shape(asleep->rows, m, video, asleep->on, object, now + vcs_tia_delay(r, now));
  }
  video->stale |= (uint8_t)(1u << object);
  asleep->since[object] = at;
}

/* Called after objects have moved or changed their size: they may meet others now. */
VCS_FN void vcs_asleep_part(vcs_asleep_t *asleep, unsigned objects) {
  asleep->apart &= vcs_pairs(VCS_ALL_OBJECTS & ~objects);
  asleep->unreached |= objects & (1u << VCS_P0 | 1u << VCS_P1);
}

/* Called before objects, or VCS_LOOK, change in any way. */
VCS_FN void vcs_asleep_change(vcs_t *m, vcs_video_t *video, unsigned changed, uint64_t at) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  unsigned objects = changed & VCS_ALL_OBJECTS;
  vcs_asleep_collide_these(m, video, objects, at);
  if (asleep->rows) vcs_rows_change(asleep->rows, m, video, asleep->on, changed, vcs_moment_clock(m, video, at));
  vcs_asleep_part(asleep, objects);
  video->stale |= (uint8_t)objects;
  for (; objects; objects &= objects - 1) asleep->since[VCS_LOWEST(objects)] = at;
}

/* The same for a change that turns no object on or off, at a moment and its clock. Objects that are off neither show
 * nor collide, before and after it. */
VCS_HOT_FN void vcs_asleep_move_at(vcs_t *m, vcs_video_t *video, unsigned changed, uint64_t at, int32_t clock) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  unsigned objects = changed & asleep->on;
  if (objects) vcs_asleep_collide_these(m, video, objects, at);
  if (asleep->rows) { /* an object that is off may have been on in a row that is not painted yet */
    const unsigned shown = changed & (asleep->on | asleep->rows->split | VCS_LOOK);
    if (shown) vcs_rows_change(asleep->rows, m, video, asleep->on, shown, clock);
  }
  vcs_asleep_part(asleep, changed & VCS_ALL_OBJECTS);
  video->stale |= (uint8_t)objects;
  for (; objects; objects &= objects - 1) asleep->since[VCS_LOWEST(objects)] = at;
}

/* The same by the last noted access, to register r. */
VCS_HOT_FN void vcs_asleep_move(vcs_t *m, vcs_video_t *video, unsigned changed, unsigned r) {
  const uint64_t at = vcs_moment(vcs_asleep(video)->last, r);
  const int32_t now = vcs_moment_now(m, at);
  vcs_asleep_move_at(m, video, changed, at, now + vcs_tia_delay(r, now));
}

/* Returns the line that contains clock `at` or ends at it. */
VCS_FN int32_t vcs_asleep_line_of(const vcs_t *m, int32_t at) {
  int32_t line = (at - 1) / VCS_LINE_CLOCKS;
  return line > m->line ? line : m->line;
}

/* Returns the clock at which the blank after an HMOVE is over: it covers the first eight pixels of a line, of the
 * present one if the beam has not passed them. */
VCS_FN int32_t vcs_asleep_blank_end(const vcs_t *m, const vcs_video_t *video) {
  int32_t from = m->blank_clock > video->start ? m->blank_clock : video->start;
  int32_t line = from / VCS_LINE_CLOCKS + (from % VCS_LINE_CLOCKS >= VCS_COMB_END);
  return VCS_LINE_CLOCKS * line + VCS_COMB_END;
}

VCS_FN void vcs_asleep_unblank(vcs_t *m, const vcs_video_t *video) {
  int32_t end = vcs_asleep_blank_end(m, video);
  if (!m->hmove_blank || m->seen_clock < end) return;
  m->hmove_blank = 0;
  if (m->blank_first >= end - VCS_COMB_END + VCS_LINE_CLOCKS) m->blank_first = 0;
}

/* Returns the time of the cycle that contains clock `at` of the frame. */
VCS_FN uint64_t vcs_asleep_time(const vcs_t *m, int32_t at) {
  int64_t clock = (int64_t)at + m->frame_clock;
  return clock <= 0 ? 0 : VCS_CYCLES(clock / 3);
}

/* After an access that tia.h has executed: finds the objects that are on, and the time at which to wake. A write shows
 * up to VCS_DELAY_MOST clocks later; only RESPx can make the next access earlier than the last clock that was seen. */
enum { VCS_DELAY_MOST = 8 };
VCS_FN void vcs_tia_settle(const vcs_t *m, vcs_video_t *video) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  const bool over = m->seen_clock >= video->stop; /* below the picture nothing shows */
  bool ahead = m->seen_clock > video->start && m->seen_clock > vcs_tia_since_frame(m) + VCS_DELAY_MOST;
  asleep->ending = vcs_tia_ending(m) ? VCS_LINE_CLOCKS * (vcs_asleep_line_of(m, m->seen_clock) + 1) : VCS_NEVER;
  int32_t late = over ? video->limit : video->late, end = asleep->ending < late ? asleep->ending : late;
  asleep->later = ahead ? 0 : vcs_asleep_time(m, end - VCS_DELAY_MOST);
  asleep->wake = m->hmove_blank && !m->blank_first && !over ? 0 : asleep->later;
  if (!m->hmove_blank) {
    asleep->blank_end = 0;
    asleep->blanked = VCS_NEVER;
  } else if (asleep->blanked != m->blank_clock) {
    asleep->blanked = m->blank_clock;
    int32_t at = vcs_asleep_blank_end(m, video), line = at / VCS_LINE_CLOCKS;
    asleep->blank_end = vcs_asleep_time(m, at + 2);
    if (asleep->rows) {
      vcs_rows_comb(asleep->rows, line - m->first_line, m->blank_clock - VCS_LINE_CLOCKS * line - VCS_HBLANK_CLOCKS);
    }
  }
  asleep->hmove_from = over || asleep->ending != VCS_NEVER || m->stars_shape ? ~0ULL
                       : asleep->blank_end > asleep->start_time              ? asleep->blank_end
                                                                             : asleep->start_time;
  asleep->on = (uint8_t)vcs_objects_on(m);
  if (over && asleep->rows) {
    asleep->rows->end_rows(asleep->rows, m, video, asleep->on, m->seen_clock);
    asleep->rows = NULL;
  }
}

VCS_FN void vcs_asleep_start(const vcs_t *m, vcs_asleep_t *asleep, const vcs_cart_t *cart, uint8_t *frames,
                             vcs_rows_t *rows) {
  vcs_video_start(&asleep->video, cart, frames);
  asleep->rows = rows;
  asleep->last = 0;
  asleep->line_end = 0;
  asleep->blanked = VCS_NEVER;
  asleep->start_time = vcs_asleep_time(m, asleep->video.start + 2);
  asleep->apart = 0;
  asleep->unreached = 1u << VCS_P0 | 1u << VCS_P1;
  for (int i = 0; i < VCS_OBJECTS; i++) asleep->since[i] = vcs_moment_of(VCS_LINE_CLOCKS * m->line + m->line_clock);
  vcs_tia_settle(m, &asleep->video);
}

/* Records the noted access in the machine; it is not the first one after an HMOVE. m->seen_before, the clock of the
 * access before it, is right again after one more access at another clock. The access that ends a frame is always at
 * another clock: before an instruction that may make two accesses at one clock, the loop and vcs_tia_recall_earlier
 * record the last access of the instructions before it. */
VCS_FN void vcs_tia_recall(vcs_t *m, vcs_video_t *video) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  int32_t first = m->blank_first;
  if (!asleep->last) return;
  vcs_tia_record(m, video, vcs_moment_target(m, vcs_moment_last(asleep)));
  asleep->last = 0;
  m->blank_first = first;
}

/* Records the noted access, unless it was at the same clock as the next one, which is at `time`. */
VCS_FN void vcs_tia_recall_earlier(vcs_t *m, vcs_video_t *video, uint64_t time) {
  if ((vcs_asleep(video)->last ^ time) >> VCS_CYCLES_SHIFT) vcs_tia_recall(m, video);
}

/* Makes the changes of registers at the ends of lines before the last access. */
VCS_SLOW_FN void vcs_asleep_end_lines(vcs_t *m, vcs_video_t *video) {
  int32_t at = vcs_asleep(video)->ending;
  unsigned objects;
  for (; m->seen_clock > at && (objects = vcs_tia_ending(m)); at += VCS_LINE_CLOCKS) {
    vcs_asleep_move_at(m, video, objects, vcs_moment_of(at), at);
    vcs_tia_renew(m);
  }
}

/* Executes an access at clock `target` of the frame. */
VCS_FN void vcs_tia_see(vcs_t *m, vcs_video_t *video, int32_t target) {
  vcs_tia_recall(m, video);
  vcs_tia_record(m, video, target);
  if (VCS_UNLIKELY(m->seen_clock > vcs_asleep(video)->ending)) vcs_asleep_end_lines(m, video);
}

/* Notes an access. */
VCS_HOT_FN void vcs_asleep_note(vcs_asleep_t *asleep, uint64_t time, unsigned r) {
  asleep->last = time;
  asleep->last_register = (uint8_t)r;
}

/* Handles an access at or after `wake`. True: the access need only be noted; if it is the first after an HMOVE, its
 * clock has been recorded. False: tia.h must execute it. */
VCS_SLOW_FN bool vcs_asleep_after_hmove(vcs_t *m, vcs_asleep_t *asleep, uint64_t time, unsigned r) {
  if (time >= asleep->later) return false;
  int32_t at = vcs_moment_target(m, vcs_moment(time, r));
  if (at <= asleep->video.start || at <= m->blank_clock) return true; /* nothing new is seen */
  m->blank_first = at;
  asleep->wake = asleep->later;
  return true;
}

/* Whether an access need only be noted. */
VCS_HOT_FN bool vcs_asleep_sleeps(vcs_t *m, vcs_asleep_t *asleep, uint64_t time, unsigned r) {
  return VCS_LIKELY(time < asleep->wake) || vcs_asleep_after_hmove(m, asleep, time, r);
}

/* Handles a read, which shows at once, like WSYNC. */
enum { VCS_NOTED_READ = 0x02 };
VCS_FN void vcs_tia_glance(vcs_t *m, vcs_video_t *video) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  uint64_t time = VCS_CYCLES(m->cycles);
  vcs_tia_recall_earlier(m, video, time);
  if (vcs_asleep_sleeps(m, asleep, time, VCS_NOTED_READ)) {
    vcs_asleep_note(asleep, time, VCS_NOTED_READ);
  } else {
    vcs_tia_see(m, video, vcs_tia_since_frame(m));
    vcs_tia_settle(m, video);
  }
}

VCS_FN void vcs_tia_strobe(vcs_t *m, vcs_video_t *video, unsigned objects) {
  vcs_asleep_change(m, video, objects, vcs_moment_of(m->seen_clock));
}

VCS_FN void vcs_tia_change_shown(vcs_t *m, vcs_video_t *video, unsigned objects) {
  vcs_asleep_change(m, video, objects, vcs_moment_of(m->seen_clock));
}

VCS_FN void vcs_tia_change_look(const vcs_t *m, vcs_video_t *video) {
  vcs_rows_t *rows = vcs_asleep(video)->rows;
  if (rows) vcs_rows_change(rows, m, video, vcs_asleep(video)->on, VCS_LOOK, m->seen_clock);
}

/* Called when collisions up to the last access have been found, or are not needed. */
VCS_FN void vcs_tia_forget(vcs_t *m, vcs_video_t *video) {
  for (int i = 0; i < VCS_OBJECTS; i++) vcs_asleep(video)->since[i] = vcs_moment_of(m->seen_clock);
}

VCS_SLOW_FN void vcs_asleep_collide_all(vcs_t *m, vcs_video_t *video) {
  if (!(m->vblank & 2)) {
    unsigned pairs = vcs_pairs(vcs_asleep(video)->on) & ~(m->collisions | vcs_asleep(video)->apart);
    if (pairs) vcs_asleep_collide(m, video, pairs, vcs_moment_of(m->seen_clock));
  }
  vcs_tia_forget(m, video);
  vcs_asleep_unblank(m, video);
}

VCS_FN void vcs_tia_draw_seen(vcs_t *m, vcs_video_t *video) {
  vcs_tia_change_look(m, video);
  vcs_asleep_collide_all(m, video);
}

VCS_FN void vcs_tia_close_lines(vcs_t *m, vcs_video_t *video, int32_t target) {
  (void)target;
  vcs_asleep_unblank(m, video);
}

VCS_SLOW_FN void vcs_tia_catch_up(vcs_t *m, vcs_video_t *video) {
  vcs_tia_recall(m, video);
  vcs_asleep_collide_all(m, video);
  if (m->seen_clock <= VCS_LINE_CLOCKS * m->line + m->line_clock) return;
  m->line = vcs_asleep_line_of(m, m->seen_clock);
  m->line_clock = m->seen_clock - VCS_LINE_CLOCKS * m->line;
}

#endif
