/* diffvcs/cuda.h: device batches, what batches on a GPU are made of.
 *
 * A device batch is many environments on one device: machines, rewards, lives, endings, new episodes and the pictures
 * that agents see all stay in the device's memory. Actions come from there and results go there, so that a learner on
 * the same device never waits for the host. vcs_batch_create with a device is the usual way to one; this is the same
 * with all that a device batch has beyond a batch: frames as they are drawn, random play, endless games, a stream for
 * each call, machines to look at. docs/cuda.md tells how it is built and what it costs.
 *
 * Conventions as in diffvcs.h, devices too. "Device memory" is that of the fleet's device; VCS_CPU and VCS_CPU_AS_GPU
 * are the same here.
 */
#ifndef DIFFVCS_CUDA_H
#define DIFFVCS_CUDA_H

#include "diffvcs.h"
#include "grad.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vcs_device_batch vcs_device_batch_t;

/* What an observation is. */
enum {
  VCS_DEVICE_BATCH_SHOWS_NOTHING, /* emulation only: RAM, rewards, lives, endings */
  VCS_DEVICE_BATCH_SHOWS_FRAMES,  /* the last frame, height x 160 palette indices; every frame is drawn */
  VCS_DEVICE_BATCH_SHOWS_SMALL    /* 4 x 84 x 84 bytes of gray, oldest first, as vcs_batch_step gives them */
};

/* What an action is a number of. */
enum {
  VCS_DEVICE_BATCH_ACTIONS_ALL,     /* ALE's 18 (vcs_action_t); what a game does not allow does nothing */
  VCS_DEVICE_BATCH_ACTIONS_MINIMAL, /* those that matter in the env's game, as in a batch */
  VCS_DEVICE_BATCH_ACTIONS_LEGAL    /* those that it allows; then fire_reset looks at these */
};

/* Plain data; vcs_device_batch_defaults fills it. */
typedef struct {
  int32_t envs;                    /* how many environments, from 1 on; default 1 */
  int32_t device;                  /* VCS_GPU, the first */
  int32_t frame_skip;              /* 4 */
  int32_t noop_max;                /* 30: episodes begin with 0 to 29 frames of nothing; at most 1000 */
  int32_t max_episode_frames;      /* 108000; 0: no limit */
  float repeat_action_probability; /* 0 */
  uint8_t shows;                   /* VCS_DEVICE_BATCH_SHOWS_SMALL */
  uint8_t max_pool;                /* 1: a small picture is the maximum of the last two frames; 0: the last one */
  uint8_t reward_clipping;         /* 1: rewards from -1 to 1 */
  uint8_t fire_reset;              /* 1: episodes begin with FIRE if it is one of the actions */
  uint8_t episodic_life;           /* 0; 1: losing a life ends an episode */
  uint8_t life_loss_info;          /* 0; 1: losing a life is reported as terminated, but the episode goes on */
  uint8_t actions;                 /* VCS_DEVICE_BATCH_ACTIONS_ALL */
  uint8_t endless;      /* 0; 1: endings are reported, but machines go on: who wants another episode restores */
  uint64_t reserved[8]; /* 0 */
} vcs_device_batch_options_t;
VCS_API void vcs_device_batch_defaults(vcs_device_batch_options_t *options);

/* Any mix of cartridges, which must outlive the fleet. `envs` has options->envs entries, of which the seeds are not
 * used; NULL: the envs are dealt out in as many equal parts as there are cartridges, one behind the other. Machines of
 * one cartridge run fastest side by side. Starts, where episodes begin, are made here, on the host: one for each number
 * of no-ops. On failure *batch is NULL. */
VCS_API vcs_status_t vcs_device_batch_create(const vcs_cart_t *const *carts, int32_t cart_count,
                                             const vcs_batch_env_t *envs, const vcs_device_batch_options_t *options,
                                             vcs_device_batch_t **batch, vcs_error_t *error);
VCS_API void vcs_device_batch_free(vcs_device_batch_t *batch);
VCS_API const vcs_device_batch_options_t *vcs_device_batch_options(const vcs_device_batch_t *batch);

/* Bytes of an observation (of the highest frame, if cartridges differ), and bytes of device memory held by a env. */
VCS_API size_t vcs_device_batch_observation_size(const vcs_device_batch_t *batch);
VCS_API size_t vcs_device_batch_env_bytes(const vcs_device_batch_t *batch);

/* All envs begin an episode; env i has the generator of this seed and its number. Results are as in a batch, in
 * device memory, with an entry a env; final_observations and sound must be NULL. Small observations are kept in the
 * caller's buffer from step to step: every call gets the same one, and the caller leaves its content alone.
 *
 * A stream is a cudaStream_t, NULL the default one; calls only queue their work there. vcs_device_batch_wait waits for
 * it. */
VCS_API vcs_status_t vcs_device_batch_reset(vcs_device_batch_t *batch, uint64_t seed,
                                            const vcs_batch_results_t *results, void *stream, vcs_error_t *error);

/* One step: `actions` has one for each env, in device memory; what is out of range does nothing. NULL: each env
 * chooses one of its game's minimal set. Sticky actions repeat frame by frame. When an episode ends, the rest of the
 * step is not run, `terminated` or `truncated` says so, and the next one begins at once, from a start: observation,
 * lives and numbers are the new episode's. */
VCS_API vcs_status_t vcs_device_batch_step(vcs_device_batch_t *batch, const int32_t *actions,
                                           const vcs_batch_results_t *results, void *stream, vcs_error_t *error);
VCS_API vcs_status_t vcs_device_batch_wait(vcs_device_batch_t *batch, void *stream, vcs_error_t *error);

/* States of envs: all that a later step depends on, in device memory, vcs_device_batch_env_bytes each, and a multiple
 * of 16 bytes from the buffer's beginning. `ids` is in device memory too (NULL: the first `count` envs). A state may go
 * to any envs with the same cartridge, mode and difficulty of a device batch with the same carts and options; the stack
 * of small observations is the caller's. Ids out of range are passed over. */
VCS_API vcs_status_t vcs_device_batch_copy(const vcs_device_batch_t *batch, const int32_t *ids, int32_t count,
                                           void *states, void *stream, vcs_error_t *error);
VCS_API vcs_status_t vcs_device_batch_restore(vcs_device_batch_t *batch, const int32_t *ids, int32_t count,
                                              const void *states, void *stream, vcs_error_t *error);

/* The machine of a env, to and from host memory (vcs_state_size bytes): for looking inside and for tests. Waits for
 * everything that was queued. */
VCS_API vcs_status_t vcs_device_batch_machine(const vcs_device_batch_t *batch, int32_t env, vcs_t *machine,
                                              vcs_error_t *error);
VCS_API vcs_status_t vcs_device_batch_set_machine(vcs_device_batch_t *batch, int32_t env, const vcs_t *machine,
                                                  vcs_error_t *error);

/* ---- Derivatives ------------------------------------------------------------------------------------------------ */

/* vcs_batch_jvp and vcs_batch_vjp (grad.h) for the envs of a device batch. It has one workspace: its products follow
 * each other, on one stream or waited for. */
VCS_API size_t vcs_device_batch_grad_bytes(const vcs_device_batch_t *batch, const vcs_batch_grad_options_t *options);
VCS_API vcs_status_t vcs_device_batch_jvp(vcs_device_batch_t *batch, const vcs_controls_t *controls,
                                          const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                          const vcs_batch_outputs_t *outputs, int64_t *instructions, void *stream,
                                          vcs_error_t *error);
VCS_API vcs_status_t vcs_device_batch_vjp(vcs_device_batch_t *batch, const vcs_controls_t *controls,
                                          const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                          const vcs_batch_outputs_t *outputs, int64_t *instructions, void *stream,
                                          vcs_error_t *error);

/* vcs_truth on a device: each place flipped by itself, all of them at once, what they do counted there. Rows and maps
 * are those of vcs_truth, in host memory. Places in the state and inputs; with ROM places or an env: VCS_BAD_ARGUMENT,
 * the CPU does those. */
VCS_API vcs_status_t vcs_device_batch_truth(int32_t device, const vcs_run_t *run, const vcs_truth_options_t *options,
                                            const vcs_place_t *places, size_t count, const vcs_truth_results_t *results,
                                            vcs_error_t *error);

/* The same for several runs at once, of one cartridge and with equally many frames: the rows and maps of a run, and its
 * `base`, lie behind those of the run before. */
VCS_API vcs_status_t vcs_device_batch_truths(int32_t device, const vcs_run_t *runs, size_t run_count,
                                             const vcs_truth_options_t *options, const vcs_place_t *places,
                                             size_t count, const vcs_truth_results_t *results, vcs_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
