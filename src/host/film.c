/* film.c: frames that are drawn late or not at all; film.h says why that is exact. */
#include "host/film.h"

#include <string.h>

enum { COVERED_ENOUGH = 2 };

static uint8_t *before_at(const vcs_film_t *film, const vcs_cart_t *cart, int32_t which) {
  return film->before + (size_t)(which % VCS_FILM_BEFORE) * vcs_state_size(cart);
}

const uint8_t *vcs_film_before(const vcs_film_t *film, const vcs_cart_t *cart, int back) {
  return before_at(film, cart, film->before_next + VCS_FILM_BEFORE - 1 - back);
}

/* A frame that has been run already; `aside` draws it into the first buffer, whose turn it may not be. */
static const uint8_t *run_again(vcs_film_t *film, const vcs_cart_t *cart, const void *before, uint8_t *frames,
                                bool aside) {
  memcpy(film->spare, before, vcs_state_size(cart));
  if (aside) film->spare->front = 1;
  vcs_frame(cart, film->spare, frames);
  return vcs_picture(film->spare, frames);
}

const uint8_t *vcs_film_again(vcs_film_t *film, const vcs_cart_t *cart, const void *before, uint8_t *frames) {
  return run_again(film, cart, before, frames, false);
}

/* The beam went from the first row of the picture to its last. */
static bool covers(const vcs_cart_t *cart, const vcs_t *m) {
  return !m->partial && m->first_line == cart->top_line &&
         m->seen_clock == VCS_LINE_CLOCKS * (cart->top_line + cart->height);
}

void vcs_film_blacken(const vcs_cart_t *cart, uint8_t *frames, int32_t first_row) {
  const size_t first = (size_t)VCS_WIDTH * (size_t)first_row;
  for (size_t i = 0; i < 2; i++) memset(frames + i * VCS_FRAME_BYTES + first, 0, vcs_film_size(cart) - first);
}

void vcs_film_clear(vcs_film_t *film, const vcs_cart_t *cart) {
  film->covered = 0;
  if (film->look == VCS_LOOK_NEVER) return;
  vcs_film_blacken(cart, film->frames, 0);
  film->exact = true;
}

void vcs_film_redraw(vcs_film_t *film, const vcs_cart_t *cart) {
  for (int back = VCS_FILM_BEFORE - 1; back >= 0; back--) {
    film->picture = vcs_film_again(film, cart, vcs_film_before(film, cart, back), film->frames);
  }
  film->exact = film->drawn = true;
}

uint8_t *vcs_film_begin(vcs_film_t *film, const vcs_cart_t *cart, vcs_t *m) {
  if (film->look == VCS_LOOK_NEVER) {
    film->exact = false;
    film->covered = 0;
  } else if (!film->exact && film->covered < COVERED_ENOUGH) {
    vcs_film_redraw(film, cart); /* somebody looks again */
  }
  memcpy(before_at(film, cart, film->before_next), m, vcs_state_size(cart));
  film->before_next = (film->before_next + 1) % VCS_FILM_BEFORE;
  film->drawn = film->exact || film->look == VCS_LOOK_NOW;
  film->aside = film->drawn && film->single && !film->exact;
  if (film->aside) { /* the frame before has ended, so the buffers are about to be exchanged */
    film->turn = m->front ^ 1;
    m->front = 1;
  }
  return film->drawn ? film->frames : NULL;
}

void vcs_film_end(vcs_film_t *film, const vcs_cart_t *cart, vcs_t *m) {
  if (film->drawn) film->picture = vcs_picture(m, film->frames);
  if (film->aside) m->front = film->turn;
  if (!covers(cart, m)) {
    film->covered = 0;
    if (film->look != VCS_LOOK_NEVER && !film->exact) vcs_film_redraw(film, cart);
    return;
  }
  if (film->covered < COVERED_ENOUGH) film->covered++;
  if (film->covered == COVERED_ENOUGH && !film->pinned) film->exact = false;
}

void vcs_film_show(vcs_film_t *film, const vcs_cart_t *cart) {
  if (film->drawn || film->look == VCS_LOOK_NEVER) return;
  film->picture = run_again(film, cart, vcs_film_before(film, cart, 0), film->frames, film->single);
  film->drawn = true;
}

void vcs_film_move(vcs_film_t *film, const vcs_cart_t *cart, uint8_t *frames) {
  const size_t size = vcs_film_size(cart);
  if (film->exact) {
    const ptrdiff_t shown = film->picture - film->frames;
    for (size_t i = 0; i < 2; i++) memcpy(frames + i * VCS_FRAME_BYTES, film->frames + i * VCS_FRAME_BYTES, size);
    film->picture = frames + shown;
  } else if (film->single && film->drawn) {
    film->picture = memcpy(frames, film->picture, size);
  }
  film->frames = frames;
}
