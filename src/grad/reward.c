/* reward.c: derivatives of the rewards of a run's frames.
 *
 * A reward is what the rules of a game (host/game_rules.h) make of the RAM after a frame and of what they remember. It
 * is differentiated like everything else: a bit of RAM is flipped and the rules are evaluated again. What they remember
 * is mostly the score of the frame before, so a bit after a frame has a part in two rewards, that frame's and, with the
 * other sign, the next one's; the sum of all rewards then depends on the last RAM alone. Only bytes that the rules look
 * at are flipped.
 *
 * Stop: what rules remember for longer than a frame.
 */
#include "reward.h"

#include <stdlib.h>
#include <string.h>

#include "host/files.h"

vcs_status_t vcs_rewards_open(vcs_rewards_t *rewards, const vcs_run_t *run, const vcs_grad_outputs_t *outputs,
                              vcs_error_t *error) {
  memset(rewards, 0, sizeof *rewards);
  if (!outputs->rewards) return VCS_OK;
  const vcs_env_t *env = outputs->env;
  if (!env || !env->game || env->cart != run->cart) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "rewards need an environment with the run's cartridge, of a game whose rules are known");
  }
  rewards->plays = malloc(((size_t)run->frames + 1) * sizeof *rewards->plays);
  rewards->beside = malloc(vcs_state_size(run->cart));
  rewards->bits = calloc(8 * vcs_state_size(run->cart), sizeof *rewards->bits);
  if (!rewards->plays || !rewards->beside || !rewards->bits) {
    vcs_rewards_close(rewards);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  rewards->env = env;
  rewards->plays[0] = env->play;
  vcs_rule_looks(&env->code->step, rewards->looks);
  if (!run->cart->ram_size) memset(rewards->looks + 128, 0, 128);
  return VCS_OK;
}

void vcs_rewards_close(vcs_rewards_t *rewards) {
  free(rewards->plays);
  free(rewards->beside);
  free(rewards->bits);
  memset(rewards, 0, sizeof *rewards);
}

void vcs_rewards_play(const vcs_rewards_t *rewards, int32_t frame, const vcs_t *m) {
  if (!rewards->env) return;
  rewards->plays[frame + 1] = rewards->plays[frame];
  vcs_game_code_step(rewards->env->code, &rewards->plays[frame + 1], m->ram, m->cart_ram);
}

/* The rewards of a frame and of the next. */
typedef struct {
  int32_t of[2];
} pair_t;

static pair_t ask_rules(const vcs_rewards_t *rewards, int32_t frame, const vcs_t *m, const vcs_t *next) {
  pair_t pair = {{0, 0}};
  vcs_play_t play = rewards->plays[frame];
  vcs_game_code_step(rewards->env->code, &play, m->ram, m->cart_ram);
  pair.of[0] = play.reward;
  if (!next) return pair;
  vcs_game_code_step(rewards->env->code, &play, next->ram, next->cart_ram);
  pair.of[1] = play.reward;
  return pair;
}

void vcs_rewards_link(const vcs_rewards_t *rewards, bool reverse, int32_t frame, vcs_t *m, const vcs_t *next,
                      float *of) {
  const pair_t was = ask_rules(rewards, frame, m, next);
  const int frames = next ? 2 : 1;
  for (size_t index = 0; index < sizeof rewards->looks; index++) {
    if (!rewards->looks[index]) continue;
    uint8_t *byte = index < 128 ? &m->ram[index] : &m->cart_ram[index - 128];
    float *bits = rewards->bits + 8 * (size_t)(byte - (uint8_t *)m);
    for (int bit = 0; bit < 8; bit++) {
      if (!reverse && bits[bit] == 0) continue;
      const float sign = *byte >> bit & 1 ? -1.0F : 1.0F;
      *byte ^= (uint8_t)(1 << bit);
      const pair_t is = ask_rules(rewards, frame, m, next);
      *byte ^= (uint8_t)(1 << bit);
      for (int i = 0; i < frames; i++) {
        const float by = sign * (float)(is.of[i] - was.of[i]);
        if (reverse) {
          bits[bit] += by * of[i];
        } else {
          of[i] += by * bits[bit];
        }
      }
    }
  }
}
