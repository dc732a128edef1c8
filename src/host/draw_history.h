/* draw_history.h: which frames are drawn, and what they are drawn over.
 *
 * A machine has two frame buffers, and rows that the beam does not reach show the frame two before. Most frames cover
 * the picture, and then nothing of an old frame is left: the picture follows from the machine as it was before the
 * frame. So frames that nobody will look at are not drawn, and while all frames cover the picture one buffer is enough,
 * which may be anybody's. A film makes that exact for every program:
 *
 *   before[3]   the machine as it was before each of the last three frames
 *   covered     how many frames in a row covered the picture, up to two
 *   exact       old rows may be seen again: every frame is drawn, each into its own of the two buffers
 *
 * When a frame does not cover the picture, and what it leaves uncovered was not drawn, the last three frames are run
 * again: two fill both buffers, the third is drawn over them. From there on the film is exact, until two frames in a
 * row cover the picture. A reset blackens both buffers, so it begins exact.
 */
#ifndef VCS_HOST_DRAW_HISTORY_H
#define VCS_HOST_DRAW_HISTORY_H

#include <stdbool.h>

#include "core/state.h"

enum { VCS_DRAW_HISTORY_BEFORE = 3 };

/* What becomes of the next frames: nobody will look at them or at any that follow (until this changes); somebody may
 * look at later ones; somebody looks at them. */
typedef enum { VCS_LOOK_NEVER, VCS_LOOK_LATER, VCS_LOOK_NOW } vcs_look_t;

typedef struct {
  uint8_t *before;        /* VCS_DRAW_HISTORY_BEFORE machines, a ring */
  vcs_t *spare;           /* a machine for frames that are run again */
  uint8_t *frames;        /* two frame buffers, of which the second is only touched if needed */
  const uint8_t *picture; /* the last frame that was drawn */
  vcs_look_t look;
  int32_t covered, before_next;
  bool exact;
  bool pinned;  /* stays exact: somebody needs both buffers */
  bool single;  /* uses one buffer while it is not exact */
  bool drawn;   /* the last frame was drawn */
  bool aside;   /* this frame goes into the first buffer, whose turn it may not be */
  uint8_t turn; /* the buffer whose turn it is then */
} vcs_draw_history_t;

/* What a state keeps of a history, beside before[] and the frames. */
typedef struct {
  int32_t covered, before_next, exact;
} vcs_draw_history_mark_t;

/* The console was reset: both buffers are black. */
void vcs_draw_history_clear(vcs_draw_history_t *history, const vcs_cart_t *cart);

/* Before and after a frame. The frame is to be run with what vcs_draw_history_begin returns: the buffers, or NULL. */
uint8_t *vcs_draw_history_begin(vcs_draw_history_t *history, const vcs_cart_t *cart, vcs_t *m);
void vcs_draw_history_end(vcs_draw_history_t *history, const vcs_cart_t *cart, vcs_t *m);

/* Makes `picture` the last frame, if somebody may look: it is run again if it was not drawn. */
void vcs_draw_history_show(vcs_draw_history_t *history, const vcs_cart_t *cart);

/* Makes the film exact, by running the last three frames again. */
void vcs_draw_history_redraw(vcs_draw_history_t *history, const vcs_cart_t *cart);

/* Moves to other buffers with what is in them. */
void vcs_draw_history_move(vcs_draw_history_t *history, const vcs_cart_t *cart, uint8_t *frames);

/* The machine before the last frame but `back`; a frame run again from there, into `frames`. Returns its picture. */
const uint8_t *vcs_draw_history_before(const vcs_draw_history_t *history, const vcs_cart_t *cart, int back);
const uint8_t *vcs_draw_history_again(vcs_draw_history_t *history, const vcs_cart_t *cart, const void *before,
                                      uint8_t *frames);

/* Makes black the rows of both buffers from this one on. */
void vcs_draw_history_blacken(const vcs_cart_t *cart, uint8_t *frames, int32_t first_row);

/* Bytes of a picture. */
static inline size_t vcs_draw_history_size(const vcs_cart_t *cart) {
  return (size_t)VCS_WIDTH * (size_t)cart->frame_height;
}

#endif
