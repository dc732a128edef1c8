/* history.h: a machine's past, to go back to.
 *
 * A machine is a function of where it started and what was held in each frame. So the past is kept as the hands of
 * every frame and, every so many frames, a checkpoint: the machine and both of its pictures. Going back to a frame
 * takes the last checkpoint before it and runs on from there; what comes out is the very state, picture included. When
 * there are more checkpoints than there is room for, the oldest goes, and with it the frames that only it could reach.
 */
#ifndef VCS_HOST_HISTORY_H
#define VCS_HOST_HISTORY_H

#include "diffvcs/diffvcs.h"

typedef struct vcs_history vcs_history_t;

/* An empty past whose first frame will be number `first`. A checkpoint every `interval` frames, at most `room` of them
 * (2 or more). The cartridge must outlive it. */
vcs_status_t vcs_history_create(const vcs_cart_t *cart, int64_t first, int interval, int room, vcs_history_t **history,
                                vcs_error_t *error);
void vcs_history_free(vcs_history_t *history);

/* A frame begins: the machine and its frame buffers before vcs_control, and what will be held. */
vcs_status_t vcs_history_add(vcs_history_t *history, const vcs_t *m, const uint8_t *frames,
                             const vcs_controls_t *controls, vcs_error_t *error);

/* The machine was changed by hand (a switch of the console, say): the next frame that is added gets a checkpoint. */
void vcs_history_changed(vcs_history_t *history);

/* The frames that can be gone back to: from `first` up to but not including `end`, the number of the next one. */
int64_t vcs_history_first(const vcs_history_t *history);
int64_t vcs_history_end(const vcs_history_t *history);

/* The machine and its frame buffers as they were before that frame, and what was held in it. */
void vcs_history_go(const vcs_history_t *history, int64_t frame, vcs_t *m, uint8_t *frames);
const vcs_controls_t *vcs_history_controls(const vcs_history_t *history, int64_t frame);

/* Forgets that frame and all later ones: the future will be another. */
void vcs_history_cut(vcs_history_t *history, int64_t frame);

#endif
