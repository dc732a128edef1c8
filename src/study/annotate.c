/* annotate.c: the roles of RAM bytes, from exact effects at many states (diffvcs/annotate.h).
 *
 * Three kinds of evidence:
 *
 *   probes     in each state each byte is set to other values, one at a time, and the next frames are compared with
 *              those of the run without the change: objects that move, change shape, colour, size or direction, appear
 *              or disappear (annotate_probe.h)
 *   play       how the byte changes while the game is played (annotate_play.h)
 *   program    bytes that are pushed on the stack; bytes that the rules of score and lives read
 *
 * A position is at first a claim (annotate_position.h), and becomes a role if fresh moments confirm it
 * (annotate_trial.h). This file derives the other roles from the evidence.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diffvcs/annotate.h"
#include "host/parallel.h"
#include "study/annotate_position.h"
#include "study/annotate_trial.h"
#include "study/internal.h"

enum { FRESH = 80 }; /* moments in which candidates for positions are tried */

static const char *const role_names[VCS_ROLES] = {"x",      "y",       "size",  "graphics",  "colour",
                                                  "score",  "lives",   "timer", "direction", "room",
                                                  "random", "scratch", "stack", "unused"};

const char *vcs_role_name(int role) { return role >= 0 && role < VCS_ROLES ? role_names[role] : NULL; }

static void add_role(vcs_byte_roles_t *roles, const vcs_role_t *role) {
  if (role->confidence <= 0) return;
  int at = roles->count;
  while (at > 0 && roles->roles[at - 1].confidence < role->confidence) at--;
  if (at >= VCS_BYTE_ROLES) return;
  if (roles->count < VCS_BYTE_ROLES) roles->count++;
  for (int i = roles->count - 1; i > at; i--) roles->roles[i] = roles->roles[i - 1];
  roles->roles[at] = *role;
}

static bool has_role(const vcs_byte_roles_t *roles, int role) {
  for (int i = 0; i < roles->count; i++) {
    if (roles->roles[i].role == role) return true;
  }
  return false;
}

/* The number of states that agree on each effect of a byte. */
typedef struct {
  int active, reshaped, recoloured, reflected, resized, big, background, digits, score, reward, lives, pushed, silent,
      overwritten, kinds[VCS_OBJECT_COUNT];
} tally_t;

static tally_t tally_of(const vcs_survey_t *w, int byte) {
  tally_t n = {0};
  for (int32_t i = 0; i < w->count; i++) {
    const vcs_evidence_t *e = &w->states[i].byte[byte];
    n.active += e->active;
    n.score += e->score > 0;
    n.reward += e->reward > 0;
    n.lives += e->lives > 0;
    n.pushed += e->pushed;
    n.overwritten += e->overwritten == VCS_PROBES;
    n.silent += !e->active && !e->others;
    if (!e->active) continue;
    n.reshaped += e->reshaped >= 2 && 2 * e->reshaped > e->effective;
    n.recoloured += (e->recoloured + e->background) >= 2 && 2 * (e->recoloured + e->background) > e->effective;
    n.background += e->background > e->recoloured;
    n.reflected += e->reflected > 0;
    n.resized += e->resized > 0;
    n.big += e->big >= 2 && 2 * e->big > e->effective;
    n.digits += e->digits;
    if (e->object >= 0) n.kinds[e->kind]++;
  }
  return n;
}

static void add_simple(vcs_byte_roles_t *roles, int role, int kind, int states, float confidence, float least) {
  vcs_role_t r = vcs_new_role(role);
  if (confidence < least || states < 1) return;
  r.kind = kind;
  r.states = states;
  r.confidence = confidence > 1 ? 1 : confidence;
  add_role(roles, &r);
}

/* Whether the rules of the game have a score, and not only rewards. */
static bool has_score(const vcs_survey_t *w) {
  for (int32_t i = 0; i < w->count; i++) {
    for (int byte = 0; byte < VCS_RAM_SIZE; byte++) {
      if (w->states[i].byte[byte].score) return true;
    }
  }
  return false;
}

/* Adds the roles that follow from effects on the picture, from the rules and from the plays. `scored`: the rules have a
 * score. */
static void judge_rest(const vcs_survey_t *w, int byte, bool scored, vcs_byte_roles_t *roles) {
  const tally_t n = tally_of(w, byte);
  const int score = scored ? n.score : n.reward;
  const vcs_habit_t h = vcs_plays_habit(&w->plays, byte);
  const int kind = vcs_commonest_kind(n.kinds);
  const bool position = has_role(roles, VCS_ROLE_X) || has_role(roles, VCS_ROLE_Y);
  const float often = (float)h.changes / (float)(h.frames ? h.frames : 1);
  const bool ticks = h.changes >= 6 && h.steady >= 0.8f && h.regular >= 0.7f && (h.step < 16 || h.step > 240);
  if (score >= 2) add_simple(roles, VCS_ROLE_SCORE, -1, score, vcs_sureness(score, score), 0);
  if (n.lives >= 2) add_simple(roles, VCS_ROLE_LIVES, -1, n.lives, vcs_sureness(n.lives, n.lives), 0);
  if (!position) {
    if (ticks) add_simple(roles, VCS_ROLE_TIMER, -1, w->count, h.steady * h.regular, 0.5f);
    if (n.digits && !ticks && !has_role(roles, VCS_ROLE_SCORE))
      add_simple(roles, VCS_ROLE_SCORE, kind, n.digits, vcs_sureness(n.digits, n.active), 0.5f);
    if (often > 0.4f && h.values > 100 && h.surprise > 5.5f)
      add_simple(roles, VCS_ROLE_RANDOM, -1, w->count, fminf(1, h.surprise / 8), 0.5f);
    add_simple(roles, VCS_ROLE_ROOM, -1, n.big, vcs_sureness(n.big, n.active), 0.6f);
    add_simple(roles, VCS_ROLE_GRAPHICS, kind, n.reshaped, vcs_sureness(n.reshaped, n.active), 0.4f);
    add_simple(roles, VCS_ROLE_COLOUR, n.background > n.recoloured / 2 ? -1 : kind, n.recoloured,
               vcs_sureness(n.recoloured, n.active), 0.5f);
  }
  add_simple(roles, VCS_ROLE_SIZE, kind, n.resized, vcs_sureness(n.resized, n.active), 0.4f);
  add_simple(roles, VCS_ROLE_DIRECTION, kind, n.reflected, vcs_sureness(n.reflected, n.active), 0.4f);
  if (n.pushed) add_simple(roles, VCS_ROLE_STACK, -1, n.pushed, vcs_sureness(n.pushed, w->count), 0.3f);
  if (n.silent == w->count && !n.pushed && !score && !n.lives) {
    if (n.overwritten == w->count) {
      add_simple(roles, VCS_ROLE_SCRATCH, -1, n.silent, vcs_sureness(n.silent, w->count), 0.5f);
    } else if (h.changes == 0) {
      add_simple(roles, VCS_ROLE_UNUSED, -1, n.silent, vcs_sureness(n.silent, w->count), 0.5f);
    } else if (n.overwritten * 2 > w->count) {
      add_simple(roles, VCS_ROLE_SCRATCH, -1, n.overwritten, vcs_sureness(n.overwritten, w->count), 0.5f);
    }
  }
}

/* Adds the role of a direction to bytes that are no positions and whose effect on positions grows from frame to
 * frame. */
static void judge_directions(const vcs_survey_t *w, vcs_annotation_t *a) {
  for (int byte = 0; byte < VCS_RAM_SIZE; byte++) {
    vcs_byte_roles_t *roles = &a->ram[byte];
    if (has_role(roles, VCS_ROLE_X) || has_role(roles, VCS_ROLE_Y) || has_role(roles, VCS_ROLE_TIMER) ||
        has_role(roles, VCS_ROLE_RANDOM) || has_role(roles, VCS_ROLE_DIRECTION))
      continue;
    int best = -1, most = 0, effective = 0;
    for (int i = 0; i < VCS_RAM_SIZE; i++) {
      if (!has_role(&a->ram[i], VCS_ROLE_X) && !has_role(&a->ram[i], VCS_ROLE_Y)) continue;
      int states = 0;
      for (int32_t k = 0; k < w->count; k++) states += w->states[k].byte[byte].drives[i] >= 2;
      if (states > most) {
        most = states;
        best = i;
      }
    }
    for (int32_t k = 0; k < w->count; k++) effective += w->states[k].byte[byte].others > 0;
    if (best < 0) continue;
    vcs_role_t r = vcs_new_role(VCS_ROLE_DIRECTION);
    for (int k = 0; k < a->ram[best].count; k++) {
      const vcs_role_t *their = &a->ram[best].roles[k];
      if (their->role > VCS_ROLE_Y) continue;
      r.kind = their->kind;
      r.number = their->number;
    }
    r.states = most;
    r.confidence = vcs_sureness(most, effective);
    if (most >= 3 && r.confidence >= 0.3f) add_role(roles, &r);
  }
}

/* Finds the bytes that seem to be positions, and keeps those that fresh moments confirm. */
static vcs_status_t judge_positions(const vcs_survey_t *w, const vcs_plays_t *fresh, const vcs_annotate_options_t *o,
                                    vcs_bench_t *b, vcs_annotation_t *a, vcs_error_t *error) {
  vcs_claim_t *claims = malloc(VCS_CLAIMS * sizeof *claims);
  vcs_audit_t audits[VCS_CLAIMS];
  int count = 0;
  if (!claims) return vcs_no_memory(error);
  for (int i = 0; i < VCS_CLAIMS; i++) {
    vcs_claim_t *claim = &claims[count];
    *claim = (vcs_claim_t){i / 2, vcs_new_role(i & 1 ? VCS_ROLE_Y : VCS_ROLE_X)};
    vcs_judge_position(w, i / 2, i & 1, &claim->role);
    if (claim->role.confidence < 0.3f) continue;
    vcs_sweep_position(w, i / 2, i & 1, b, &claim->role);
    count++;
  }
  const vcs_status_t status = vcs_try_claims(w->cart, fresh, claims, count, true, o, audits, error);
  for (int i = 0; i < count && status == VCS_OK; i++) {
    vcs_role_t *role = &claims[i].role;
    if (!vcs_is_confirmed(role, &audits[i])) continue;
    const float counted = (float)role->states / role->confidence + (float)audits[i].effective;
    role->states += audits[i].right;
    role->confidence = (float)role->states / counted;
    add_role(&a->ram[claims[i].byte], role);
  }
  free(claims);
  return status;
}

static void judge(const vcs_survey_t *w, vcs_annotation_t *a) {
  vcs_number_objects(w, a);
  const bool scored = has_score(w);
  for (int byte = 0; byte < VCS_RAM_SIZE; byte++) judge_rest(w, byte, scored, &a->ram[byte]);
  judge_directions(w, a);
  for (int byte = 0; byte < VCS_RAM_SIZE; byte++) {
    int changed[8] = {0}, held = 0;
    for (int32_t i = 0; i < w->count; i++) {
      for (int k = 0; k < 8; k++) changed[k] += w->states[i].controls[byte] >> k & 1;
    }
    for (int k = 0; k < 8; k++) held |= (2 * changed[k] > w->count) << k;
    for (int r = 0; r < a->ram[byte].count; r++) a->ram[byte].roles[r].controls = held;
  }
}

static void free_work(vcs_survey_t *w) {
  vcs_plays_free(&w->plays);
  free(w->states);
  free(w->extras);
}

/* Runs `probe` for a number of items, in parallel. */
static vcs_status_t probe_all(vcs_survey_t *w, const vcs_annotate_options_t *o, const char *what, int32_t count,
                              bool (*probe)(void *, size_t, int), vcs_error_t *error) {
  vcs_steps_t steps;
  vcs_steps_begin(&steps, &o->report, what, (uint64_t)count);
  w->steps = &steps;
  vcs_parallel((size_t)count, o->threads, probe, w);
  const bool stopped = vcs_steps_stopped(&steps);
  vcs_steps_end(&steps);
  if (w->failed) return vcs_no_memory(error);
  return stopped ? vcs_cancelled(error) : VCS_OK;
}

static vcs_status_t check_size(const vcs_annotate_options_t *o, vcs_error_t *error) {
  if (o->seeds >= 1 && o->seeds <= VCS_SEEDS_MAX && o->depths >= 1 && o->depths <= VCS_DEPTHS_MAX) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "seeds go from 1 to %d and depths from 1 to %d", VCS_SEEDS_MAX,
                        VCS_DEPTHS_MAX);
}

vcs_status_t vcs_annotate(const vcs_cart_t *cart, const char *game, const vcs_annotate_options_t *given,
                          vcs_annotation_t **out, vcs_error_t *error) {
  vcs_annotate_options_t o;
  vcs_survey_t w = {.cart = cart};
  vcs_plays_t fresh = {0};
  if (error) error->message[0] = 0;
  *out = NULL;
  vcs_status_t taken = VCS_OPTIONS_TAKE(vcs_annotate_options_t, &o, given, error);
  if (taken == VCS_OK) taken = vcs_threads_check(o.threads, error);
  if (taken) return taken;
  if (!o.seeds) o.seeds = 6;
  if (!o.depths) o.depths = 8;
  if (!o.seed) o.seed = 1;
  taken = check_size(&o, error);
  if (taken) return taken;
  vcs_annotation_t *a = calloc(1, sizeof *a);
  vcs_bench_t *b = malloc(sizeof *b);
  vcs_status_t status =
      a && b ? vcs_plays_choose(&w.plays, cart, o.seed, o.seeds, o.seeds * o.depths, error) : vcs_no_memory(error);
  if (status == VCS_OK) status = vcs_plays_disturb(&w.plays, cart, o.seed, error);
  if (status == VCS_OK) status = vcs_plays_choose(&fresh, cart, o.seed + 500, 3, FRESH, error);
  if (status == VCS_OK) status = vcs_plays_disturb(&fresh, cart, o.seed + 500, error);
  if (status == VCS_OK) {
    w.count = w.plays.count;
    w.states = calloc((size_t)w.count, sizeof *w.states);
    w.extras = calloc((size_t)VCS_RAM_SIZE * VCS_MORE_MOMENTS, sizeof *w.extras);
    if (!w.states || !w.extras) status = vcs_no_memory(error);
  }
  if (status == VCS_OK) {
    for (int32_t i = 0; i < w.count; i++) w.states[i].moment = &w.plays.moments[i];
    status = probe_all(&w, &o, "states", w.count, vcs_probe_state, error);
  }
  if (status == VCS_OK) status = probe_all(&w, &o, "bytes", VCS_RAM_SIZE, vcs_probe_more, error);
  if (status == VCS_OK) status = judge_positions(&w, &fresh, &o, b, a, error);
  if (status == VCS_OK) {
    snprintf(a->game, sizeof a->game, "%.63s", game);
    a->states = w.count;
    judge(&w, a);
    *out = a;
    a = NULL;
  }
  free_work(&w);
  vcs_plays_free(&fresh);
  free(a);
  free(b);
  return status;
}

void vcs_annotation_free(vcs_annotation_t *annotation) { free(annotation); }

vcs_status_t vcs_annotation_audit(const vcs_cart_t *cart, const vcs_annotation_t *annotation,
                                  const vcs_annotate_options_t *given, vcs_audit_t *audits, int32_t capacity,
                                  int32_t *count, vcs_error_t *error) {
  vcs_annotate_options_t o;
  vcs_plays_t plays = {0};
  if (error) error->message[0] = 0;
  vcs_status_t taken = VCS_OPTIONS_TAKE(vcs_annotate_options_t, &o, given, error);
  if (taken == VCS_OK) taken = vcs_threads_check(o.threads, error);
  if (taken) return taken;
  if (!o.seeds) o.seeds = 4;
  if (!o.depths) o.depths = 7;
  if (!o.seed) o.seed = 1001; /* other plays than those of vcs_annotate */
  *count = 0;
  taken = check_size(&o, error);
  if (taken) return taken;
  vcs_claim_t *claims = malloc(VCS_CLAIMS * sizeof *claims);
  vcs_status_t status = claims ? vcs_plays_stop(&plays, cart, o.seed, o.seeds, o.depths, error) : vcs_no_memory(error);
  if (status == VCS_OK) status = vcs_plays_disturb(&plays, cart, o.seed, error);
  int32_t n = 0;
  for (int i = 0; i < VCS_RAM_SIZE * VCS_BYTE_ROLES && status == VCS_OK; i++) {
    const int byte = i / VCS_BYTE_ROLES, r = i % VCS_BYTE_ROLES;
    if (r >= annotation->ram[byte].count || annotation->ram[byte].roles[r].role > VCS_ROLE_Y) continue;
    if (n < capacity && n < VCS_CLAIMS) claims[n++] = (vcs_claim_t){byte, annotation->ram[byte].roles[r]};
  }
  if (status == VCS_OK) status = vcs_try_claims(cart, &plays, claims, n, false, &o, audits, error);
  if (status == VCS_OK) *count = n;
  vcs_plays_free(&plays);
  free(claims);
  return status;
}
