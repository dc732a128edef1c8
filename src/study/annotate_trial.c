/* annotate_trial.c: tries claims of positions in moments that were not used to find them (annotate_trial.h). */
#include "study/annotate_trial.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "host/parallel.h"
#include "study/annotate_probe.h"

/* Whether the map covers a range of places, as that of a position does. The map of a digit, whose box begins one pixel
 * further right for a 1, does not.
 */
static bool has_range(const vcs_role_t *role) {
  int places = 0;
  for (int v = 0; v < 256; v++) {
    bool seen = role->map[v] < 0;
    for (int k = 0; k < v && !seen; k++) seen = role->map[k] == role->map[v];
    places += !seen;
  }
  return places >= 12 && role->high - role->low >= 24;
}

enum { SAYS_NOTHING, WRONG, RIGHT };

typedef struct {
  const vcs_cart_t *cart;
  const vcs_plays_t *plays;
  const vcs_claim_t *claims;
  int count;
  uint8_t *verdicts; /* for each moment and claim */
  vcs_audit_t *audits;
  vcs_steps_t *steps;
  atomic_bool failed; /* set by any thread */
} trial_t;

/* The effect of changing a byte by one step in each of the next frames: how far objects move, if they move along the
 * axis of a role only; otherwise NOWHERE. A vertical move may be that of the upper or of the lower end only. */
enum { NOWHERE = INT16_MIN, WAYS = 1 + VCS_ENDS };
typedef struct {
  int moved[VCS_PROBE_FRAMES][WAYS];
  bool pure;  /* in one of the frames almost nothing else changes */
  bool tells; /* an object that is there changes */
} response_t;

/* Changes a byte by a step. The run without the change is in `b`. */
static void respond(const vcs_cart_t *cart, const vcs_moment_t *moment, const vcs_claim_t *claim, int step,
                    vcs_bench_t *b, response_t *response) {
  const bool vertical = claim->role.role == VCS_ROLE_Y;
  bool gone = false; /* the machine is equal to that of the run without the change, and stays equal */
  response->pure = response->tells = false;
  memcpy(&b->m, moment->machine, vcs_state_size(cart));
  b->m.ram[claim->byte] = (uint8_t)(b->m.ram[claim->byte] + step);
  for (int t = 0; t < VCS_PROBE_FRAMES; t++) {
    vcs_shown_diff_t d;
    int *moved = response->moved[t];
    for (int i = 0; i < WAYS; i++) moved[i] = NOWHERE;
    if (gone) continue;
    vcs_bench_frame(cart, b, &b->shown);
    vcs_shown_compare(&b->base[t], &b->shown, &d, NULL, 0);
    response->tells |= vcs_is_telling(&d);
    response->pure |= vcs_is_pure(&d, vertical);
    if (vcs_is_along(&d, vertical)) moved[0] = vcs_moved_by(&d, vertical);
    for (int number = 0; number < VCS_ENDS && vertical; number++) {
      if (!vcs_find_end(&d, number, &moved[1 + number])) moved[1 + number] = NOWHERE;
    }
    gone = memcmp(&b->m, &b->base_machine[t], vcs_state_size(cart)) == 0;
  }
}

/* Whether a response is the one that a role predicts; `common` is the part that all responses have in common, as in
 * `agrees`. */
static bool is_as_claimed(const vcs_role_t *role, int step, int common, const response_t *response) {
  if (role->encoding != VCS_ENCODING_LINEAR) return response->pure;
  for (int i = 0; i < VCS_PROBE_FRAMES * WAYS; i++) {
    const int moved = response->moved[i / WAYS][i % WAYS];
    if (moved != NOWHERE && vcs_is_slope(role->slope, step, moved - common)) return true;
  }
  return false;
}

/* Tries one claim in one moment. SAYS_NOTHING: hardly any change has an effect on an object that is there. RIGHT: the
 * object moves as the role predicts for at least half of the changes that have an effect. With a slope it is enough if
 * the object does so for changes in one of the two directions, because neighbours may be in the way in the other, or
 * for most changes after their common part is subtracted.
 */
static uint8_t try_claim(const vcs_cart_t *cart, const vcs_moment_t *moment, const vcs_claim_t *claim, vcs_bench_t *b) {
  enum { STEPS = 4 };
  response_t response[2][STEPS];
  int telling[2] = {0, 0};
  if (b->base_ram[0][claim->byte] == claim->role.absent) return SAYS_NOTHING;
  for (int i = 0; i < 2 * STEPS; i++) {
    const int down = i & 1, step = down ? -(1 << i / 2) : 1 << i / 2;
    respond(cart, moment, claim, step, b, &response[down][i / 2]);
    telling[down] += response[down][i / 2].tells;
  }
  const int all = telling[0] + telling[1];
  if (all < 3) return SAYS_NOTHING;
  for (int common = -VCS_COMMON_MOVE; common <= VCS_COMMON_MOVE; common++) {
    int right[2] = {0, 0};
    for (int i = 0; i < 2 * STEPS; i++) {
      const int down = i & 1, step = down ? -(1 << i / 2) : 1 << i / 2;
      right[down] += is_as_claimed(&claim->role, step, common, &response[down][i / 2]);
    }
    if (common) {
      if (right[0] + right[1] > STEPS && 4 * (right[0] + right[1]) >= 3 * all) return RIGHT;
      continue;
    }
    if (2 * (right[0] + right[1]) >= all) return RIGHT;
    for (int down = 0; down < 2 && claim->role.encoding == VCS_ENCODING_LINEAR; down++) {
      if (right[down] >= 2 && 2 * right[down] >= telling[down]) return RIGHT;
    }
  }
  return WRONG;
}

static bool try_moment(void *context, size_t item, int worker) {
  trial_t *trial = context;
  (void)worker;
  vcs_bench_t *b = malloc(sizeof *b);
  if (!b) {
    trial->failed = true;
    return false;
  }
  const vcs_moment_t *moment = &trial->plays->moments[item];
  vcs_bench_base(trial->cart, moment->machine, b);
  for (int i = 0; i < trial->count; i++)
    trial->verdicts[item * (size_t)trial->count + (size_t)i] = try_claim(trial->cart, moment, &trial->claims[i], b);
  free(b);
  return vcs_steps_add(trial->steps, 1);
}

static void count_verdict(vcs_audit_t *audit, uint8_t verdict) {
  audit->effective += verdict != SAYS_NOTHING;
  audit->right += verdict == RIGHT;
}

/* Tries a claim that few moments test in more moments of the plays, in which its byte has other values. */
static bool try_more(void *context, size_t item, int worker) {
  trial_t *trial = context;
  (void)worker;
  const vcs_moment_t *moments[VCS_MORE_MOMENTS];
  const vcs_claim_t *claim = &trial->claims[item];
  vcs_audit_t *audit = &trial->audits[item];
  if (audit->effective >= 2 * VCS_ENOUGH_STATES) return vcs_steps_add(trial->steps, 1);
  vcs_bench_t *b = malloc(sizeof *b);
  if (!b) {
    trial->failed = true;
    return false;
  }
  const int count = vcs_plays_vary(trial->plays, claim->byte, VCS_MORE_MOMENTS, moments);
  for (int i = 0; i < count; i++) {
    vcs_bench_base(trial->cart, moments[i]->machine, b);
    count_verdict(audit, try_claim(trial->cart, moments[i], claim, b));
  }
  free(b);
  return vcs_steps_add(trial->steps, 1);
}

/* Returns the value that means that there is no object: the byte has it in at least half of the moments in which the
 * claim is wrong, and seldom where the claim is right. -1: there is none. */
static int find_wrong_value(const trial_t *trial, int claim) {
  int wrong[256] = {0}, right[256] = {0}, all = 0, best = 0;
  for (int32_t k = 0; k < trial->plays->count; k++) {
    const uint8_t verdict = trial->verdicts[(size_t)k * (size_t)trial->count + (size_t)claim];
    const uint8_t value = vcs_moment_value(&trial->plays->moments[k], trial->claims[claim].byte);
    wrong[value] += verdict == WRONG;
    right[value] += verdict == RIGHT;
    all += verdict == WRONG;
  }
  for (int v = 1; v < 256; v++) {
    if (wrong[v] > wrong[best]) best = v;
  }
  return wrong[best] >= 2 && 2 * wrong[best] >= all && 2 * right[best] <= wrong[best] ? best : -1;
}

/* Tries all claims in all moments of some plays, and counts in the audits how often they are right. With `learns`, a
 * claim without a value that means that there is no object may get one. */
vcs_status_t vcs_try_claims(const vcs_cart_t *cart, const vcs_plays_t *plays, vcs_claim_t *claims, int count,
                            bool learns, const vcs_annotate_options_t *o, vcs_audit_t *audits, vcs_error_t *error) {
  vcs_steps_t steps;
  trial_t trial = {.cart = cart, .plays = plays, .claims = claims, .count = count, .audits = audits, .steps = &steps};
  if (!count) return VCS_OK;
  trial.verdicts = calloc((size_t)plays->count * (size_t)count + 1, 1);
  if (!trial.verdicts) return vcs_no_memory(error);
  vcs_steps_begin(&steps, &o->report, "positions", (uint64_t)plays->count + (uint64_t)count);
  vcs_parallel((size_t)plays->count, o->threads, try_moment, &trial);
  for (int i = 0; i < count; i++) {
    audits[i] = (vcs_audit_t){claims[i].byte, claims[i].role.role, 0, 0};
    if (learns && claims[i].role.absent < 0) claims[i].role.absent = find_wrong_value(&trial, i);
    for (int32_t k = 0; k < plays->count; k++) {
      if (vcs_moment_value(&plays->moments[k], claims[i].byte) == claims[i].role.absent) continue;
      count_verdict(&audits[i], trial.verdicts[(size_t)k * (size_t)count + (size_t)i]);
    }
  }
  if (!vcs_steps_stopped(&steps)) vcs_parallel((size_t)count, o->threads, try_more, &trial);
  const bool stopped = vcs_steps_stopped(&steps);
  vcs_steps_end(&steps);
  free(trial.verdicts);
  if (trial.failed) return vcs_no_memory(error);
  return stopped ? vcs_cancelled(error) : VCS_OK;
}

/* Whether fresh moments confirm a claim: it must be right in most informative fresh moments and in most of all moments.
 * The more moments there are, the larger is the fraction that must be right. A slope is evidence by itself, so a claim
 * without a slope needs a larger fraction, and a claim that hardly any fresh moment can test must have been right in
 * most states before. */
bool vcs_is_confirmed(const vcs_role_t *role, const vcs_audit_t *audit) {
  const float counted = (float)role->states / role->confidence + (float)audit->effective;
  const float all = (float)(role->states + audit->right) / counted;
  const int right = 100 * audit->right, fresh = audit->effective;
  if (role->encoding != VCS_ENCODING_LINEAR)
    return audit->right >= 2 && right >= (fresh < 12 ? 80 : 85) * fresh && all >= 0.85f && has_range(role);
  if (!fresh) return role->states >= 3 && role->confidence >= 0.65f;
  if (fresh < 4) return role->states + audit->right >= 4 && all >= 0.7f;
  if (fresh >= 12)
    return right >= 90 * fresh || (right >= 80 * fresh && all >= 0.75f) || (right >= 75 * fresh && all >= 0.8f);
  return right >= 70 * fresh && all >= 0.75f;
}
