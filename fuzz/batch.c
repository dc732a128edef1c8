/* batch.c: options of batches, and calls in any order.
 *
 * The input is decoded into an options struct, field by field, and then into calls: reset, step, send, receive, save
 * and restore, each with ids and actions that may be wrong. Results have exactly the sizes that the batch states. */
#include "fuzz.h"

enum { ENVS_MAX = 6 };

/* A number of this many bytes, or one at the edge of a range. */
static int32_t edge(input_t *input, int32_t usual) {
  static const int32_t edges[] = {0, 1, -1, INT32_MAX, INT32_MIN, 256, 4096, 1 << 24};
  const unsigned kind = (unsigned)take(input, 1);
  if (kind < 8) return edges[kind];
  return kind < 64 ? (int32_t)kind - 8 : usual;
}

static void decode(input_t *input, vcs_batch_options_t *o) {
  vcs_batch_defaults(o);
  o->envs = edge(input, 2);
  if (o->envs > ENVS_MAX && o->envs < 1 << 24) o->envs = 1 + o->envs % ENVS_MAX;
  o->batch_size = edge(input, 0);
  o->threads = edge(input, 1);
  if (o->threads > 4) o->threads = 4;
  o->device = edge(input, 0);
  o->width = edge(input, 20);
  o->height = edge(input, 20);
  o->stack = edge(input, 2);
  o->frame_skip = edge(input, 1);
  if (o->frame_skip > 8) o->frame_skip = 8; /* more is allowed, and takes long */
  o->noop_max = edge(input, 1);
  if (o->noop_max > 8) o->noop_max = 8;
  o->max_episode_frames = edge(input, 10);
  const unsigned probability = (unsigned)take(input, 1);
  o->repeat_action_probability = probability < 250    ? (float)probability / 200.0F
                                 : probability == 250 ? -1.0F
                                                      : 1.0F / 0.0F;
  uint8_t *const flags[] = {&o->autoreset,       &o->rgb,
                            &o->max_pool,        &o->fire_reset,
                            &o->episodic_life,   &o->life_loss_info,
                            &o->reward_clipping, &o->full_action_space,
                            &o->stack_in_place,  &o->sound};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) *flags[i] = (uint8_t)take(input, 1) % 4;
  o->reserved[0] = take(input, 1) == 255;
}

typedef struct {
  vcs_batch_results_t r;
  int32_t numbers[5][ENVS_MAX];
  uint8_t ends[2][ENVS_MAX], ram[ENVS_MAX * 128];
} arrays_t;

static void call(vcs_batch_t *batch, input_t *input, const vcs_batch_results_t *results) {
  int32_t ids[ENVS_MAX], numbers[ENVS_MAX];
  float strengths[ENVS_MAX];
  vcs_error_t error = {""};
  const unsigned kind = (unsigned)take(input, 1);
  const int32_t count = (int32_t)(take(input, 1) % (ENVS_MAX + 1));
  for (int i = 0; i < ENVS_MAX; i++) {
    ids[i] = (int8_t)take(input, 1);
    numbers[i] = (int8_t)take(input, 1) % 20;
    strengths[i] = (float)(numbers[i]) / 10.0F;
  }
  const int32_t *some = kind & 8 ? ids : NULL;
  const float *force = kind & 16 ? strengths : NULL;
  switch (kind % 7) {
    case 0:
      accepted(vcs_batch_reset(batch, some, kind & 32 ? numbers : NULL, count, results, &error), &error);
      break;
    case 1:
      accepted(vcs_batch_step(batch, numbers, force, results, &error), &error);
      break;
    case 2:
      accepted(vcs_batch_send(batch, numbers, force, &error), &error);
      break;
    case 3:
      accepted(vcs_batch_send_to(batch, some, count, numbers, force, &error), &error);
      break;
    case 4:
      accepted(vcs_batch_send_reset(batch, some, NULL, count, &error), &error);
      break;
    case 5:
      if (vcs_batch_next(batch) > 0) accepted(vcs_batch_receive(batch, results, &error), &error);
      break;
    default:
      vcs_batch_ram(batch, ids[0]);
      vcs_batch_actions(batch, ids[1], (int32_t[VCS_ACTIONS]){0});
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input_t input = {data, size};
  const vcs_cart_t *cart = demo_cart();
  vcs_batch_options_t options;
  vcs_batch_t *batch = NULL;
  vcs_error_t error = {""};
  arrays_t *arrays = calloc(1, sizeof *arrays);
  check(arrays);
  decode(&input, &options);
  if (accepted(vcs_batch_create(&cart, 1, NULL, &options, &batch, &error), &error)) {
    const vcs_batch_options_t *made = vcs_batch_options(batch);
    const size_t bytes = vcs_batch_observation_size(batch) * (size_t)made->batch_size;
    check(made->envs <= ENVS_MAX && made->batch_size >= 1 && made->batch_size <= made->envs);
    uint8_t *observations = calloc(1, bytes ? bytes : 1), *last = calloc(1, bytes ? bytes : 1);
    check(observations && last);
    arrays->r = (vcs_batch_results_t){.observations = observations,
                                      .final_observations = last,
                                      .env_ids = arrays->numbers[0],
                                      .rewards = arrays->numbers[1],
                                      .lives = arrays->numbers[2],
                                      .frame_numbers = arrays->numbers[3],
                                      .episode_frame_numbers = arrays->numbers[4],
                                      .terminated = arrays->ends[0],
                                      .truncated = arrays->ends[1],
                                      .ram = arrays->ram};
    for (int calls = 0; calls < 12 && input.size; calls++) call(batch, &input, &arrays->r);
    vcs_batch_free(batch);
    free(observations);
    free(last);
  } else {
    check(!batch);
  }
  free(arrays);
  return 0;
}
