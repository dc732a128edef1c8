/* annotate_position.c: finds the bytes that seem to be positions, by the votes of all states (annotate_position.h). */
#include "study/annotate_position.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

vcs_role_t vcs_new_role(int role) {
  vcs_role_t r = {.role = role, .kind = -1, .low = -1, .high = -1, .absent = -1};
  return r;
}

/* Returns a cautious estimate of the fraction of states that agree, if k of n do. */
float vcs_sureness(int k, int n) { return n ? (float)k / ((float)n + 0.5f) : 0; }

int vcs_commonest_kind(const int kinds[VCS_OBJECT_COUNT]) {
  int best = -1;
  for (int k = 0; k < VCS_OBJECT_COUNT; k++) {
    if (kinds[k] && (best < 0 || kinds[k] > kinds[best])) best = k;
  }
  return best;
}
/* Whether a state counts for a position: the byte moves an object that is there, or makes one appear at a place that
 * depends on the byte. A state in which the object is hidden does not count. */
static bool counts(const vcs_evidence_t *e, int vertical) {
  return e->active && ((e->present >= 4 && 4 * e->present > e->effective) || e->axis[vertical].votes >= 2);
}

static bool votes_for(const vcs_evidence_t *e, int vertical) {
  const vcs_axis_votes_t *a = &e->axis[vertical], *other = &e->axis[!vertical];
  return a->votes >= 2 && a->votes >= other->votes && 4 * a->votes >= e->present && !a->grows && !a->cut;
}

/* The evidence about a byte in one state. The states for all bytes come before the states for this byte. */
typedef struct {
  const vcs_evidence_t *e;
  const vcs_moment_t *moment;
  uint8_t value;
} sample_t;

static int samples(const vcs_survey_t *w, int byte) { return w->count + w->extra_count[byte]; }

static sample_t sample(const vcs_survey_t *w, int byte, int i) {
  const vcs_survey_extra_t *extra = i < w->count ? NULL : &w->extras[byte * VCS_MORE_MOMENTS + i - w->count];
  const vcs_moment_t *moment = extra ? extra->moment : w->states[i].moment;
  return (sample_t){extra ? &extra->evidence : &w->states[i].byte[byte], moment, vcs_moment_value(moment, byte)};
}

static int step_of(const sample_t *s, const vcs_axis_votes_t *axis, int probe) {
  return vcs_signed_step(axis->from, vcs_probe_value(s->value, probe));
}

/* Whether a state agrees with a slope. All displacements may have a common part that the byte does not cause, such as a
 * fall that begins because the object no longer stands on something: then more displacements must agree. */
static bool agrees(const sample_t *s, int vertical, float slope) {
  const vcs_axis_votes_t *axis = &s->e->axis[vertical];
  if (!counts(s->e, vertical) || axis->votes < 2 || axis->grows) return false;
  for (int common = -VCS_COMMON_MOVE; common <= VCS_COMMON_MOVE; common++) {
    int right = 0, wrong = 0;
    for (int p = 0; p < VCS_PROBES; p++) {
      const int step = step_of(s, axis, p);
      if (!axis->moved[p] || (axis->object >= 0 && abs(step) > 16)) continue;
      const bool fit = vcs_is_slope(slope, step, axis->moved[p] - common);
      right += fit;
      wrong += !fit;
    }
    if (common ? right >= 4 && right >= 3 * wrong : right > wrong) return true;
  }
  return false;
}

/* Returns the value that marks an empty entry of a list of objects: of the values that the byte has in at least a
 * quarter of the states in which it moves nothing, and seldom in the others, the one that is commonest in the plays.
 * -1: there is none. */
static int find_absent(const vcs_survey_t *w, int byte, int vertical) {
  int without[256] = {0}, with[256] = {0}, often[256] = {0}, best = -1, all = 0;
  for (int i = 0; i < samples(w, byte); i++) {
    const sample_t s = sample(w, byte, i);
    if (!counts(s.e, vertical)) continue;
    const bool votes = votes_for(s.e, vertical);
    int *n = votes ? with : without;
    n[s.value]++;
    all += !votes;
  }
  for (int32_t i = 0; i < w->plays.all; i++) often[vcs_moment_value(&w->plays.pool[i], byte)]++;
  for (int v = 0; v < 256; v++) {
    if (without[v] < 2 || 4 * without[v] < all || 2 * with[v] > without[v]) continue;
    if (best < 0 || often[v] > often[best]) best = v;
  }
  return best;
}

/* Whether enough states have the object without a change. Then states in which it only appears with other values do not
 * count, because it may appear at places that the program never uses. */
static bool has_residents(const vcs_survey_t *w, int byte, int vertical) {
  int votes = 0;
  for (int i = 0; i < samples(w, byte); i++) {
    const sample_t s = sample(w, byte, i);
    votes += s.e->axis[vertical].object >= 0 && counts(s.e, vertical) && votes_for(s.e, vertical);
  }
  return votes >= 3;
}

static bool is_left_out(const vcs_axis_votes_t *axis, bool residents) {
  return residents && axis->votes && axis->object < 0;
}

/* Counts the votes for one byte as a position along an axis. */
void vcs_judge_position(const vcs_survey_t *w, int byte, int vertical, vcs_role_t *role) {
  int votes = 0, active = 0, fits[VCS_SLOPES] = {0}, far_fits[VCS_SLOPES] = {0}, small = 0, fine = 0, coarse = 0,
      tens = 0, ones = 0;
  int kinds[VCS_OBJECT_COUNT] = {0};
  const bool residents = has_residents(w, byte, vertical);
  role->absent = find_absent(w, byte, vertical);
  for (int i = 0; i < samples(w, byte); i++) {
    const sample_t s = sample(w, byte, i);
    const vcs_axis_votes_t *axis = &s.e->axis[vertical];
    if (!counts(s.e, vertical) || s.value == role->absent || is_left_out(axis, residents)) continue;
    active++;
    if (!votes_for(s.e, vertical)) continue;
    votes++;
    kinds[axis->kind]++;
    for (int p = 0; p < VCS_PROBES; p++) {
      const int moved = axis->moved[p], step = step_of(&s, axis, p);
      if (!moved) continue;
      if (abs(step) <= 16) {
        small++;
        for (int k = 0; k < VCS_SLOPES; k++) {
          fits[k] += vcs_is_slope(vcs_slopes[k], step, moved);
          far_fits[k] += abs(step) == 16 && vcs_is_slope(vcs_slopes[k], step, moved);
        }
      }
      tens += abs(step) == 16;
      fine += abs(step) == 16 && abs(moved) == 1;
      ones += abs(step) == 1;
      coarse += abs(step) == 1 && abs(moved) >= 12 && abs(moved) <= 17;
    }
  }
  if (votes < 2) return;
  int best = 0;
  for (int k = 1; k < VCS_SLOPES; k++) {
    if (fits[k] > fits[best]) best = k;
  }
  role->encoding = VCS_ENCODING_TABLE;
  int agree = votes;
  if (small && 10 * fits[best] >= 6 * small && 2 * far_fits[best] >= tens) {
    role->encoding = VCS_ENCODING_LINEAR;
    role->slope = vcs_slopes[best];
    agree = 0;
    for (int i = 0; i < samples(w, byte); i++) {
      const sample_t s = sample(w, byte, i);
      agree +=
          s.value != role->absent && !is_left_out(&s.e->axis[vertical], residents) && agrees(&s, vertical, role->slope);
    }
  } else if (!vertical && tens && ones && 2 * fine > tens && 2 * coarse > ones) {
    role->encoding = VCS_ENCODING_HMOVE;
  }
  role->kind = vcs_commonest_kind(kinds);
  role->states = agree;
  role->confidence = vcs_sureness(agree, active);
}

/* Returns the best state for probing a byte: the object is there, and the state has the most votes. evidence NULL:
 * there is none. */
static sample_t best_sample(const vcs_survey_t *w, int byte, int vertical) {
  sample_t best = {NULL, NULL, 0};
  int most = 0;
  for (int i = 0; i < samples(w, byte); i++) {
    const sample_t s = sample(w, byte, i);
    const vcs_axis_votes_t *axis = &s.e->axis[vertical];
    if (axis->votes <= most || axis->grows || axis->object < 0) continue;
    most = axis->votes;
    best = s;
  }
  return best;
}

/* Returns the commonest place of value 0, by the states that agree. */
static float offset_of(const vcs_survey_t *w, int byte, int vertical, float slope) {
  float offsets[VCS_SEEDS_MAX * VCS_DEPTHS_MAX + VCS_MORE_MOMENTS], best = 0;
  int count = 0, most = 0;
  for (int i = 0; i < samples(w, byte); i++) {
    const vcs_axis_votes_t *axis = &sample(w, byte, i).e->axis[vertical];
    if (axis->votes >= 2) offsets[count++] = (float)axis->at - slope * (float)axis->from;
  }
  for (int i = 0; i < count; i++) {
    int near = 0;
    for (int k = 0; k < count; k++) near += fabsf(offsets[i] - offsets[k]) <= 1;
    if (near <= most) continue;
    most = near;
    best = offsets[i];
  }
  return best;
}

/* Sets the byte to all its values in one state and notes where its object is. */
void vcs_sweep_position(const vcs_survey_t *w, int byte, int vertical, vcs_bench_t *b, vcs_role_t *role) {
  const sample_t s = best_sample(w, byte, vertical);
  for (int v = 0; v < 256; v++) role->map[v] = -1;
  if (role->encoding == VCS_ENCODING_LINEAR) role->offset = offset_of(w, byte, vertical, role->slope);
  if (!s.e) return;
  const vcs_axis_votes_t *axis = &s.e->axis[vertical];
  vcs_bench_base(w->cart, s.moment->machine, b);
  for (int v = 0; v < 256; v++) {
    vcs_shown_diff_t d;
    int32_t place;
    memcpy(&b->m, s.moment->machine, vcs_state_size(w->cart));
    b->m.ram[byte] = (uint8_t)v;
    for (int k = 0; k < axis->t; k++) vcs_frame(w->cart, &b->m, NULL);
    vcs_bench_frame(w->cart, b, &b->shown);
    vcs_shown_compare(&b->base[axis->t], &b->shown, &d, &place, axis->object);
    if (place < 0) continue;
    const vcs_object_t *o = &b->shown.sprite[place];
    role->map[v] = vertical ? o->y : o->x;
    if (role->low < 0 || role->map[v] < role->low) role->low = role->map[v];
    if (role->map[v] > role->high) role->high = role->map[v];
  }
}

/* Whether more states may show that a byte is a position, because its object is seldom there in the states so far, or
 * the byte has had only one value in all plays.
 */
static bool is_undecided(const vcs_survey_t *w, int byte) {
  int active = 0, votes = 0;
  if (vcs_plays_habit(&w->plays, byte).changes == 0) return true;
  for (int vertical = 0; vertical < 2; vertical++) {
    vcs_role_t role = vcs_new_role(vertical ? VCS_ROLE_Y : VCS_ROLE_X);
    vcs_judge_position(w, byte, vertical, &role);
    if (role.states >= VCS_ENOUGH_STATES && role.confidence >= 0.8f && has_residents(w, byte, vertical)) return false;
  }
  for (int32_t i = 0; i < w->count; i++) {
    const vcs_evidence_t *e = &w->states[i].byte[byte];
    active += e->active;
    votes += votes_for(e, 0) || votes_for(e, 1);
  }
  return votes || active < VCS_ENOUGH_STATES;
}

bool vcs_probe_more(void *context, size_t item, int worker) {
  vcs_survey_t *w = context;
  const int byte = (int)item;
  const vcs_moment_t *moments[VCS_MORE_MOMENTS];
  (void)worker;
  vcs_bench_t *b = malloc(sizeof *b);
  if (!b) {
    w->failed = true;
    return false;
  }
  const int count = is_undecided(w, byte) ? vcs_plays_vary(&w->plays, byte, VCS_MORE_MOMENTS, moments) : 0;
  for (int i = 0; i < count; i++) {
    vcs_survey_extra_t *extra = &w->extras[byte * VCS_MORE_MOMENTS + i];
    extra->moment = moments[i];
    vcs_bench_base(w->cart, moments[i]->machine, b);
    vcs_probe_byte(w, moments[i], byte, &extra->evidence, b);
  }
  w->extra_count[byte] = count;
  free(b);
  return vcs_steps_add(w->steps, 1);
}

/* Whether two bytes move the same object in most of the states in which both move one. */
static bool is_same_object(const vcs_survey_t *w, int a, int a_vertical, int b, int b_vertical) {
  int both = 0, same = 0;
  for (int32_t i = 0; i < w->count; i++) {
    const vcs_axis_votes_t *one = &w->states[i].byte[a].axis[a_vertical], *two = &w->states[i].byte[b].axis[b_vertical];
    if (one->votes < 2 || two->votes < 2 || one->t != two->t || one->object < 0 || two->object < 0) continue;
    both++;
    same += one->object == two->object;
  }
  return both >= 2 && 2 * same > both;
}

/* Numbers the objects of each kind: bytes that move the same object get the same number. */
void vcs_number_objects(const vcs_survey_t *w, vcs_annotation_t *a) {
  int next[VCS_OBJECT_COUNT] = {0};
  for (int byte = 0; byte < VCS_RAM_SIZE; byte++) {
    for (int r = 0; r < a->ram[byte].count; r++) {
      vcs_role_t *role = &a->ram[byte].roles[r];
      if (role->role > VCS_ROLE_Y) continue;
      for (int other = 0; other < byte && !role->number; other++) {
        for (int k = 0; k < a->ram[other].count && !role->number; k++) {
          const vcs_role_t *their = &a->ram[other].roles[k];
          if (their->role > VCS_ROLE_Y || their->kind != role->kind) continue;
          if (is_same_object(w, byte, role->role == VCS_ROLE_Y, other, their->role == VCS_ROLE_Y))
            role->number = their->number;
        }
      }
      if (!role->number) role->number = ++next[role->kind];
    }
  }
}
