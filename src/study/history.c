/* history.c: a machine's past, kept as controls and checkpoints (study.h).
 *
 * A frame of the past is reached from the last checkpoint before it, by running the frames in between with the controls
 * that they had. Invariant: checkpoints[0], if there is one, is the machine before frame controls_first, and there are
 * controls for every frame from there to `end`.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/env.h"
#include "study/internal.h"

typedef struct {
  int64_t frame;
  uint8_t *bytes; /* the machine, then both pictures as far as they are shown */
} checkpoint_t;

enum { ROOM_MAX = 1 << 20 };                    /* checkpoints */
static const int64_t FRAME_MAX = INT64_MAX / 2; /* so that later ones do not overflow */

struct vcs_history {
  const vcs_cart_t *cart;
  size_t state_size, picture_size;
  int interval;              /* frames between two checkpoints */
  int room;                  /* checkpoints at most */
  bool changed;              /* the machine was changed by hand: the next frame needs a checkpoint */
  checkpoint_t *checkpoints; /* count, oldest first */
  int count;
  vcs_controls_t *controls;    /* by frame, from controls_first on */
  int64_t controls_first, end; /* the first frame, and the one after the last */
  size_t controls_room;
};

vcs_status_t vcs_history_create(const vcs_cart_t *cart, int64_t first, int interval, int room, vcs_history_t **history,
                                vcs_error_t *error) {
  *history = NULL;
  if (interval < 1 || room < 2 || room > ROOM_MAX)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "a history needs room for 2 to %d checkpoints, and frames between them", (int)ROOM_MAX);
  if (first < 0 || first > FRAME_MAX)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the first frame is %lld, but goes from 0 to %lld", (long long)first,
                          (long long)FRAME_MAX);
  vcs_history_t *made = calloc(1, sizeof *made);
  checkpoint_t *checkpoints = calloc((size_t)room, sizeof *checkpoints);
  if (!made || !checkpoints) {
    free(made);
    free(checkpoints);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for the history");
  }
  *made = (vcs_history_t){.cart = cart,
                          .state_size = vcs_state_size(cart),
                          .picture_size = (size_t)VCS_WIDTH * (size_t)vcs_cart_info(cart)->height,
                          .interval = interval,
                          .room = room,
                          .checkpoints = checkpoints,
                          .controls_first = first,
                          .end = first};
  *history = made;
  return VCS_OK;
}

void vcs_history_free(vcs_history_t *history) {
  if (!history) return;
  for (int i = 0; i < history->room; i++) free(history->checkpoints[i].bytes);
  free(history->checkpoints);
  free(history->controls);
  free(history);
}

static void copy_pictures(const vcs_history_t *history, uint8_t *to, size_t to_step, const uint8_t *from,
                          size_t from_step) {
  for (int i = 0; i < 2; i++) memcpy(to + (size_t)i * to_step, from + (size_t)i * from_step, history->picture_size);
}

/* Adds a checkpoint. If there is no room, the oldest one is dropped, with the controls that led from it, and its memory
 * is reused. */
static bool add_checkpoint(vcs_history_t *history, const vcs_t *m, const uint8_t *frames) {
  if (history->count == history->room) {
    checkpoint_t oldest = history->checkpoints[0];
    history->count--;
    memmove(history->checkpoints, history->checkpoints + 1, (size_t)history->count * sizeof oldest);
    history->checkpoints[history->count] = oldest;
    const int64_t first = history->checkpoints[0].frame;
    memmove(history->controls, history->controls + (first - history->controls_first),
            (size_t)(history->end - first) * sizeof *history->controls);
    history->controls_first = first;
  }
  checkpoint_t *checkpoint = &history->checkpoints[history->count];
  if (!checkpoint->bytes) checkpoint->bytes = malloc(history->state_size + 2 * history->picture_size);
  if (!checkpoint->bytes) return false;
  checkpoint->frame = history->end;
  memcpy(checkpoint->bytes, m, history->state_size);
  copy_pictures(history, checkpoint->bytes + history->state_size, history->picture_size, frames, VCS_FRAME_BYTES);
  history->count++;
  return true;
}

static bool add_controls(vcs_history_t *history, const vcs_controls_t *controls) {
  const size_t count = (size_t)(history->end - history->controls_first);
  if (count == history->controls_room) {
    const size_t room = count ? 2 * count : 1024;
    vcs_controls_t *grown = realloc(history->controls, room * sizeof *grown);
    if (!grown) return false;
    history->controls = grown;
    history->controls_room = room;
  }
  history->controls[count] = *controls;
  return true;
}

vcs_status_t vcs_history_add(vcs_history_t *history, const vcs_t *m, const uint8_t *frames,
                             const vcs_controls_t *controls, vcs_error_t *error) {
  const bool due = history->changed || history->count == 0 ||
                   history->end >= history->checkpoints[history->count - 1].frame + history->interval;
  if ((due && !add_checkpoint(history, m, frames)) || !add_controls(history, controls)) {
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for the history; give it less room");
  }
  history->changed = false;
  history->end++;
  return VCS_OK;
}

void vcs_history_changed(vcs_history_t *history) { history->changed = true; }

int64_t vcs_history_first(const vcs_history_t *history) { return history->controls_first; }

int64_t vcs_history_end(const vcs_history_t *history) { return history->end; }

const vcs_controls_t *vcs_history_controls(const vcs_history_t *history, int64_t frame) {
  return &history->controls[frame - history->controls_first];
}

void vcs_history_go(const vcs_history_t *history, int64_t frame, vcs_t *m, uint8_t *frames) {
  int i = history->count - 1;
  while (i > 0 && history->checkpoints[i].frame > frame) i--;
  const checkpoint_t *checkpoint = &history->checkpoints[i];
  memcpy(m, checkpoint->bytes, history->state_size);
  copy_pictures(history, frames, VCS_FRAME_BYTES, checkpoint->bytes + history->state_size, history->picture_size);
  for (int64_t f = checkpoint->frame; f < frame; f++) {
    vcs_control(history->cart, m, vcs_history_controls(history, f));
    vcs_frame(history->cart, m, frames);
  }
}

void vcs_history_cut(vcs_history_t *history, int64_t frame) {
  if (frame < history->controls_first) frame = history->controls_first; /* nothing older can be forgotten */
  while (history->count > 0 && history->checkpoints[history->count - 1].frame >= frame) history->count--;
  if (frame < history->end) history->end = frame;
}

vcs_status_t vcs_history_setup(const vcs_history_t *history, const vcs_cart_t *cart, int64_t frame, int32_t horizon,
                               vcs_setup_t *setup, vcs_error_t *error) {
  const int64_t first = vcs_history_first(history);
  *setup = (vcs_setup_t){.cart = cart, .frame = frame};
  if (frame > vcs_history_end(history))
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the history ends with frame %lld, before frame %lld",
                          (long long)vcs_history_end(history), (long long)frame);
  if (frame <= first || horizon < 1) return vcs_error_fill(error, VCS_NOT_FOUND, "no frame has been played yet");
  if (frame - horizon < first) horizon = (int32_t)(frame - first);
  vcs_status_t status = vcs_env_create(cart, &setup->env, error);
  setup->controls = calloc((size_t)horizon, sizeof *setup->controls);
  if (status == VCS_OK && !setup->controls) status = vcs_no_memory(error);
  if (status) {
    vcs_setup_free(setup);
    return status;
  }
  vcs_controls_t none[1];
  vcs_run_idle(setup->env, 1, none, &setup->run); /* makes the environment draw its frame buffers */
  vcs_history_go(history, frame - horizon, setup->env->m, setup->env->draw_history.frames);
  for (int32_t i = 0; i < horizon; i++) {
    setup->controls[i] = *vcs_history_controls(history, frame - horizon + i);
  }
  setup->run = (vcs_run_t){cart, setup->env->m, setup->env->draw_history.frames, setup->controls, horizon};
  return VCS_OK;
}
