/* draw_history.h: which frames are drawn, and into which buffer.
 *
 * A machine has two frame buffers, and rows that the beam does not reach show the frame two before. Most frames cover
 * the picture, and then the picture depends only on the machine before the frame. So frames that are not shown are not
 * drawn, and while all frames cover the picture one buffer, which environments can share, is enough. A draw history
 * makes that exact for every program:
 *
 *   before[3]   the machines before each of the last three frames
 *   covered     the number of consecutive frames that covered the picture, up to two
 *   exact       old rows may become visible: every frame is drawn, alternating between the two buffers
 *
 * When a frame does not cover the picture, and the frames below it were not drawn, the last three frames are run again:
 * two fill both buffers, the third draws over them. From then on the history is exact, until two consecutive frames
 * cover the picture. A reset clears both buffers, so a history begins exact.
 */
#ifndef VCS_HOST_DRAW_HISTORY_H
#define VCS_HOST_DRAW_HISTORY_H

#include <stdbool.h>

#include "core/state.h"

enum { VCS_DRAW_HISTORY_BEFORE = 3 };

/* Whether the next frames are drawn: never, maybe later (later frames may be shown), or now. */
typedef enum { VCS_LOOK_NEVER, VCS_LOOK_LATER, VCS_LOOK_NOW } vcs_look_t;

typedef struct {
  uint8_t *before;        /* ring of VCS_DRAW_HISTORY_BEFORE machines */
  vcs_t *spare;           /* machine for rerunning frames */
  uint8_t *frames;        /* two frame buffers; the second is only used if needed */
  const uint8_t *picture; /* last drawn frame */
  vcs_look_t look;
  int32_t covered, before_next;
  bool exact;
  bool pinned;  /* stays exact, because both buffers are needed */
  bool single;  /* uses one buffer while it is not exact */
  bool drawn;   /* whether the last frame was drawn */
  bool aside;   /* whether this frame is drawn into the first buffer out of turn */
  uint8_t turn; /* the buffer whose turn it is, if `aside` */
} vcs_draw_history_t;

/* The part of a history that a state contains, besides before[] and the frames. */
typedef struct {
  int32_t covered, before_next, exact;
} vcs_draw_history_mark_t;

/* Called after a console reset: clears both buffers. */
void vcs_draw_history_clear(vcs_draw_history_t *history, const vcs_cart_t *cart);

/* Called before and after a frame. Run the frame with the result of vcs_draw_history_begin: the buffers, or NULL. */
uint8_t *vcs_draw_history_begin(vcs_draw_history_t *history, const vcs_cart_t *cart, vcs_t *m);
void vcs_draw_history_end(vcs_draw_history_t *history, const vcs_cart_t *cart, vcs_t *m);

/* Makes `picture` the last frame, which is run again if it was not drawn, unless drawing is off. */
void vcs_draw_history_show(vcs_draw_history_t *history, const vcs_cart_t *cart);

/* Makes the history exact by running the last three frames again. */
void vcs_draw_history_redraw(vcs_draw_history_t *history, const vcs_cart_t *cart);

/* Moves to other buffers and copies the contents. */
void vcs_draw_history_move(vcs_draw_history_t *history, const vcs_cart_t *cart, uint8_t *frames);

/* Returns the machine before the last frame but `back`; reruns the frame from there into `frames` and returns its
 * picture.
 */
const uint8_t *vcs_draw_history_before(const vcs_draw_history_t *history, const vcs_cart_t *cart, int back);
const uint8_t *vcs_draw_history_again(vcs_draw_history_t *history, const vcs_cart_t *cart, const void *before,
                                      uint8_t *frames);

/* Clears the rows of both buffers from this one on. */
void vcs_draw_history_blacken(const vcs_cart_t *cart, uint8_t *frames, int32_t first_row);

/* Returns the size of a picture. */
static inline size_t vcs_draw_history_size(const vcs_cart_t *cart) {
  return (size_t)VCS_WIDTH * (size_t)cart->frame_height;
}

#endif
