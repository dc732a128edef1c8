/* diffvcs/cuda.h: device batches, the implementation of batches on a GPU.
 *
 * A device batch is many environments on one device: machines, rewards, lives, endings, new episodes and observations
 * stay in the device's memory. Actions are read there and results are written there, so a learner on the same device
 * never waits for the host. Usually vcs_batch_create with a device creates it; this API adds whole frames as
 * observations, random play, endless games, a stream for each call, and access to machines. docs/cuda.md describes the
 * implementation and its cost.
 *
 * The conventions and devices are those of diffvcs.h. "Device memory" is the memory of the batch's device. VCS_CPU and
 * VCS_CPU_AS_GPU are the same here.
 */
#ifndef DIFFVCS_CUDA_H
#define DIFFVCS_CUDA_H

#include "diffvcs.h"
#include "grad.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vcs_device_batch vcs_device_batch_t;

/* Kinds of observations. */
enum {
  VCS_DEVICE_BATCH_SHOWS_NOTHING, /* none: RAM, rewards, lives and endings only */
  VCS_DEVICE_BATCH_SHOWS_FRAMES,  /* the last frame, height x 160 palette indices; every frame is drawn */
  VCS_DEVICE_BATCH_SHOWS_SMALL    /* small pictures (4 x 84 x 84 gray bytes), oldest first, as from vcs_batch_step */
};

/* Meaning of action numbers. */
enum {
  VCS_DEVICE_BATCH_ACTIONS_ALL,     /* ALE's 18 actions (vcs_action_t); illegal actions are NOOP */
  VCS_DEVICE_BATCH_ACTIONS_MINIMAL, /* indices into the game's minimal set, as in a batch */
  VCS_DEVICE_BATCH_ACTIONS_LEGAL    /* indices into the game's legal set, which fire_reset then uses too */
};

/* Options of a device batch. Plain data; vcs_device_batch_defaults fills it with the defaults given here. */
typedef struct {
  int32_t envs;                    /* 1: number of environments, at least 1 */
  int32_t device;                  /* VCS_GPU, the first GPU */
  int32_t frame_skip;              /* 4: frames per step */
  int32_t noop_max;                /* 30: episodes begin with 0 to noop_max - 1 NOOP frames; at most 1000 */
  int32_t max_episode_frames;      /* 108000: truncates an episode; 0 means no limit */
  float repeat_action_probability; /* 0: probability of sticky actions */
  uint8_t shows;                   /* VCS_DEVICE_BATCH_SHOWS_SMALL */
  uint8_t max_pool;                /* 1: a small picture is the maximum of the last two frames; 0: the last frame */
  uint8_t reward_clipping;         /* 1: rewards are clamped to -1 .. 1 */
  uint8_t fire_reset;              /* 1: episodes begin with FIRE if it is one of the actions */
  uint8_t episodic_life;           /* 0; 1: a lost life ends the episode */
  uint8_t life_loss_info;          /* 0; 1: a lost life is reported as terminated, but the episode continues */
  uint8_t actions;                 /* VCS_DEVICE_BATCH_ACTIONS_ALL */
  uint8_t endless;    /* 0; 1: endings are reported, but machines continue; the caller restores states instead */
  uint64_t players;   /* 0 and 1: one player; 2 and 4: so many, as in vcs_batch_options_t */
  uint64_t autoreset; /* VCS_AUTORESET_SAME_STEP; with `endless` no episode ends */
  int32_t width, height, stack; /* 0, 0, 0: pixels of small pictures, and their number; 0 means 84, 84 and 4 */
  int32_t rgb;                  /* 0: one gray byte per pixel; 1: three bytes */
  uint64_t reserved[4];         /* 0 */
} vcs_device_batch_options_t;
VCS_API void vcs_device_batch_defaults(vcs_device_batch_options_t *options);

/* Creates a device batch. The cartridges may be any mix and must outlive the batch. `envs` has options->envs entries,
 * whose seeds are not used, with at most 4096 combinations of cartridge, mode and difficulty; with NULL the
 * environments are divided into cart_count consecutive parts. Neighbouring environments should play the same cartridge.
 * This call computes the starts of episodes on the host, one for each number of no-ops. On failure *batch is NULL. */
VCS_API vcs_status_t vcs_device_batch_create(const vcs_cart_t *const *carts, int32_t cart_count,
                                             const vcs_batch_env_t *envs, const vcs_device_batch_options_t *options,
                                             vcs_device_batch_t **batch, vcs_error_t *error);
VCS_API void vcs_device_batch_free(vcs_device_batch_t *batch);
VCS_API const vcs_device_batch_options_t *vcs_device_batch_options(const vcs_device_batch_t *batch);

/* Return the bytes of an observation (of the highest frame, if cartridges differ), and the bytes of device memory per
 * environment, which is also the size of a state. */
VCS_API size_t vcs_device_batch_observation_size(const vcs_device_batch_t *batch);
VCS_API size_t vcs_device_batch_env_bytes(const vcs_device_batch_t *batch);

/* Starts an episode in every environment; `seed` and the environment's index seed its generator. The results are those
 * of a batch, in device memory, with one entry per environment; sound must be NULL, and so must final_observations
 * without small observations. The caller's buffer holds the stacks of small observations: pass the same buffer to every
 * call and do not modify it.
 *
 * `stream` is a cudaStream_t, NULL for the default stream; calls queue their work there, and vcs_device_batch_wait
 * waits for it. */
VCS_API vcs_status_t vcs_device_batch_reset(vcs_device_batch_t *batch, uint64_t seed,
                                            const vcs_batch_results_t *results, void *stream, vcs_error_t *error);

/* Runs one step. `actions` has one action per environment, in device memory; an action out of range is NOOP. With NULL
 * each environment draws an action from its game's minimal set. Sticky actions are drawn for each frame. When an
 * episode ends, the rest of the step is skipped, `terminated` or `truncated` is 1, and the next episode begins from a
 * start: at once, so that observation, lives and frame numbers are those of the new episode, or as `autoreset` says. */
VCS_API vcs_status_t vcs_device_batch_step(vcs_device_batch_t *batch, const int32_t *actions,
                                           const vcs_batch_results_t *results, void *stream, vcs_error_t *error);
VCS_API vcs_status_t vcs_device_batch_wait(vcs_device_batch_t *batch, void *stream, vcs_error_t *error);

/* Copy and restore `count` states of environments: everything that a later step depends on except the caller's stack of
 * small observations. States are in device memory, vcs_device_batch_env_bytes each, aligned to 16 bytes. `ids` is in
 * device memory too; with NULL the first `count` environments are meant, and ids out of range are skipped. A state fits
 * environments with the same cartridge, mode and difficulty in a device batch with the same cartridges and options. */
VCS_API vcs_status_t vcs_device_batch_copy(const vcs_device_batch_t *batch, const int32_t *ids, int32_t count,
                                           void *states, void *stream, vcs_error_t *error);
VCS_API vcs_status_t vcs_device_batch_restore(vcs_device_batch_t *batch, const int32_t *ids, int32_t count,
                                              const void *states, void *stream, vcs_error_t *error);

/* Read and write the machine of an environment, vcs_state_size bytes in host memory, after waiting for all queued
 * work. */
VCS_API vcs_status_t vcs_device_batch_machine(const vcs_device_batch_t *batch, int32_t env, vcs_t *machine,
                                              vcs_error_t *error);
VCS_API vcs_status_t vcs_device_batch_set_machine(vcs_device_batch_t *batch, int32_t env, const vcs_t *machine,
                                                  vcs_error_t *error);

/* ---- Derivatives ------------------------------------------------------------------------------------------------ */

/* vcs_batch_jvp, vcs_batch_vjp and vcs_batch_grad_bytes (grad.h) for a device batch. A device batch has one workspace:
 * issue its products on one stream, or wait between them. */
VCS_API size_t vcs_device_batch_grad_bytes(const vcs_device_batch_t *batch, const vcs_batch_grad_options_t *options);
VCS_API vcs_status_t vcs_device_batch_jvp(vcs_device_batch_t *batch, const vcs_controls_t *controls,
                                          const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                          const vcs_batch_outputs_t *outputs, int64_t *instructions, void *stream,
                                          vcs_error_t *error);
VCS_API vcs_status_t vcs_device_batch_vjp(vcs_device_batch_t *batch, const vcs_controls_t *controls,
                                          const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                          const vcs_batch_outputs_t *outputs, int64_t *instructions, void *stream,
                                          vcs_error_t *error);

/* vcs_truth on a device: runs all flips at once and compares them there. Rows and maps are those of vcs_truth, in host
 * memory. Places must be in the state or inputs; ROM places or options->env give VCS_BAD_ARGUMENT (use the CPU). */
VCS_API vcs_status_t vcs_device_batch_truth(int32_t device, const vcs_run_t *run, const vcs_truth_options_t *options,
                                            const vcs_place_t *places, size_t count, const vcs_truth_results_t *results,
                                            vcs_error_t *error);

/* The same for several runs of one cartridge with the same number of frames: results have a leading dimension of
 * run_count. */
VCS_API vcs_status_t vcs_device_batch_truths(int32_t device, const vcs_run_t *runs, size_t run_count,
                                             const vcs_truth_options_t *options, const vcs_place_t *places,
                                             size_t count, const vcs_truth_results_t *results, vcs_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
