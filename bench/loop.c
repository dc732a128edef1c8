/* loop.c: our side of the benchmark in C, so that it measures the machine and not the calling language.
 *
 *   bench_step   one frame: act, copy the picture (unless it is NULL), reset when the game is over. Python calls
 *                it once a frame, as it calls ale-py.
 *   bench_loop   the same for a whole array of actions, without Python between the frames.
 *   bench_count  the same, counting the 6507's instructions of the given frames (without those of resets).
 */
#include <diffvcs/diffvcs.h>

#include <string.h>

VCS_API int32_t bench_step(vcs_env_t *env, int action, uint8_t *screen);
VCS_API int64_t bench_loop(vcs_env_t *env, const uint8_t *actions, int64_t count, uint8_t *screen);
VCS_API uint64_t bench_count(vcs_env_t *env, const uint8_t *actions, int64_t count, uint8_t *screen);

int32_t bench_step(vcs_env_t *env, int action, uint8_t *screen) {
  const int32_t reward = vcs_env_act(env, action, VCS_NOOP);
  if (screen) vcs_env_screen_indices(env, screen);
  if (vcs_env_over(env)) vcs_env_reset(env);
  return reward;
}

int64_t bench_loop(vcs_env_t *env, const uint8_t *actions, int64_t count, uint8_t *screen) {
  int64_t rewards = 0;
  for (int64_t i = 0; i < count; i++) rewards += bench_step(env, actions[i], screen);
  return rewards;
}

/* The machine's counter of instructions; it wraps, so only differences count. */
static uint32_t instructions(const vcs_env_t *env, size_t offset) {
  uint32_t value;
  memcpy(&value, (const char *)vcs_env_machine((vcs_env_t *)env) + offset, sizeof value);
  return value;
}

uint64_t bench_count(vcs_env_t *env, const uint8_t *actions, int64_t count, uint8_t *screen) {
  const vcs_field_t *field;
  uint64_t sum = 0;
  for (int i = 0; (field = vcs_field(i)); i++) {
    if (strcmp(field->name, "instructions") == 0) break;
  }
  if (!field) return 0;
  for (int64_t i = 0; i < count; i++) {
    const uint32_t before = instructions(env, field->offset);
    vcs_env_act(env, actions[i], VCS_NOOP);
    sum += (uint32_t)(instructions(env, field->offset) - before);
    if (screen) vcs_env_screen_indices(env, screen);
    if (vcs_env_over(env)) vcs_env_reset(env);
  }
  return sum;
}
