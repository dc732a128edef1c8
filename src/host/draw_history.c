/* draw_history.c: frames that are drawn late or not at all; draw_history.h explains why that is exact. */
#include "host/draw_history.h"

#include <string.h>

enum { COVERED_ENOUGH = 2 };

static uint8_t *before_at(const vcs_draw_history_t *history, const vcs_cart_t *cart, int32_t which) {
  return history->before + (size_t)(which % VCS_DRAW_HISTORY_BEFORE) * vcs_state_size(cart);
}

const uint8_t *vcs_draw_history_before(const vcs_draw_history_t *history, const vcs_cart_t *cart, int back) {
  return before_at(history, cart, history->before_next + VCS_DRAW_HISTORY_BEFORE - 1 - back);
}

/* Runs a frame again with drawing; `aside` draws it into the first buffer out of turn. */
static const uint8_t *run_again(vcs_draw_history_t *history, const vcs_cart_t *cart, const void *before,
                                uint8_t *frames, bool aside) {
  memcpy(history->spare, before, vcs_state_size(cart));
  if (aside) history->spare->front = 1;
  vcs_frame(cart, history->spare, frames);
  return vcs_picture(history->spare, frames);
}

const uint8_t *vcs_draw_history_again(vcs_draw_history_t *history, const vcs_cart_t *cart, const void *before,
                                      uint8_t *frames) {
  return run_again(history, cart, before, frames, false);
}

/* Whether the beam covered the picture from its first row to its last. */
static bool covers(const vcs_cart_t *cart, const vcs_t *m) {
  return !m->partial && m->first_line == cart->top_line &&
         m->seen_clock == VCS_LINE_CLOCKS * (cart->top_line + cart->height);
}

void vcs_draw_history_blacken(const vcs_cart_t *cart, uint8_t *frames, int32_t first_row) {
  const size_t first = (size_t)VCS_WIDTH * (size_t)first_row;
  for (size_t i = 0; i < 2; i++) memset(frames + i * VCS_FRAME_BYTES + first, 0, vcs_draw_history_size(cart) - first);
}

void vcs_draw_history_clear(vcs_draw_history_t *history, const vcs_cart_t *cart) {
  history->covered = 0;
  if (history->look == VCS_LOOK_NEVER) return;
  vcs_draw_history_blacken(cart, history->frames, 0);
  history->exact = true;
}

void vcs_draw_history_redraw(vcs_draw_history_t *history, const vcs_cart_t *cart) {
  for (int back = VCS_DRAW_HISTORY_BEFORE - 1; back >= 0; back--) {
    history->picture =
        vcs_draw_history_again(history, cart, vcs_draw_history_before(history, cart, back), history->frames);
  }
  history->exact = history->drawn = true;
}

uint8_t *vcs_draw_history_begin(vcs_draw_history_t *history, const vcs_cart_t *cart, vcs_t *m) {
  if (history->look == VCS_LOOK_NEVER) {
    history->exact = false;
    history->covered = 0;
  } else if (!history->exact && history->covered < COVERED_ENOUGH) {
    vcs_draw_history_redraw(history, cart); /* drawing is on again */
  }
  memcpy(before_at(history, cart, history->before_next), m, vcs_state_size(cart));
  history->before_next = (history->before_next + 1) % VCS_DRAW_HISTORY_BEFORE;
  history->drawn = history->exact || history->look == VCS_LOOK_NOW;
  history->aside = history->drawn && history->single && !history->exact;
  if (history->aside) { /* the previous frame has ended, so the buffers will be exchanged */
    history->turn = m->front ^ 1;
    m->front = 1;
  }
  return history->drawn ? history->frames : NULL;
}

void vcs_draw_history_end(vcs_draw_history_t *history, const vcs_cart_t *cart, vcs_t *m) {
  if (history->drawn) history->picture = vcs_picture(m, history->frames);
  if (history->aside) m->front = history->turn;
  if (!covers(cart, m)) {
    history->covered = 0;
    if (history->look != VCS_LOOK_NEVER && !history->exact) vcs_draw_history_redraw(history, cart);
    return;
  }
  if (history->covered < COVERED_ENOUGH) history->covered++;
  if (history->covered == COVERED_ENOUGH && !history->pinned) history->exact = false;
}

void vcs_draw_history_show(vcs_draw_history_t *history, const vcs_cart_t *cart) {
  if (history->drawn || history->look == VCS_LOOK_NEVER) return;
  history->picture =
      run_again(history, cart, vcs_draw_history_before(history, cart, 0), history->frames, history->single);
  history->drawn = true;
}

void vcs_draw_history_move(vcs_draw_history_t *history, const vcs_cart_t *cart, uint8_t *frames) {
  const size_t size = vcs_draw_history_size(cart);
  if (history->exact) {
    const ptrdiff_t shown = history->picture - history->frames;
    for (size_t i = 0; i < 2; i++) memcpy(frames + i * VCS_FRAME_BYTES, history->frames + i * VCS_FRAME_BYTES, size);
    history->picture = frames + shown;
  } else if (history->single && history->drawn) {
    history->picture = memcpy(frames, history->picture, size);
  }
  history->frames = frames;
}
