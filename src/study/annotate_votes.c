/* annotate_votes.c: counts the votes of the probes of one byte in one state (annotate_probe.h).
 *
 * A probe that moves objects along one axis only is a vote for a position. A byte is a position if its votes agree:
 * probes and states have the same slope, and the displacement stays the same in the next frames (that of a velocity
 * grows).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/annotate_probe.h"

/* The value of probe p of a byte that has the value v: a flipped bit, or a step in the direction that the flip of the
 * bit does not take. The first four decide whether the byte has any effect. */
uint8_t vcs_probe_value(uint8_t v, int p) {
  static const uint8_t step[VCS_PROBES] = {1, 16, 128, 4, 2, 8, 32, 64, 1, 4, 16, 2};
  return (uint8_t)(p < 8 ? v ^ step[p] : v & step[p] ? v + step[p] : v - step[p]);
}

int vcs_signed_step(uint8_t from, uint8_t to) { return (int8_t)(uint8_t)(to - from); }

/* Whether a change moved objects along one axis only. Other objects may disappear: a program that draws many objects
 * with few sprites leaves some out if two are in the same rows. */
bool vcs_is_along(const vcs_shown_diff_t *d, int vertical) {
  const int along = vertical ? d->moved_y : d->moved_x, across = vertical ? d->moved_x : d->moved_y;
  return along > 0 && across == 0 && d->moved_both == 0 && d->reshaped <= along && d->came <= 1 + along;
}

/* The same, and almost nothing else changed. */
bool vcs_is_pure(const vcs_shown_diff_t *d, int vertical) {
  const int along = vertical ? d->moved_y : d->moved_x;
  return vcs_is_along(d, vertical) && d->came + d->went <= 1 + along;
}

/* Whether objects that were there changed, except by moving partly behind an edge, by touching each other, so that two
 * are one object, or by a line more or less above them. */
bool vcs_is_telling(const vcs_shown_diff_t *d) {
  if (d->shifted) return false;
  return d->moved_x + d->moved_y + d->moved_both + d->reshaped + d->recoloured > 0 || d->went > d->cut;
}

int vcs_moved_by(const vcs_shown_diff_t *d, int vertical) { return vertical ? d->dy : d->dx; }

/* Finds how far probe p has moved objects in frame t, if along one axis only; false: it has not. Probe VCS_PROBES is
 * the run without a change. */
static bool find_move(const vcs_bench_t *b, int vertical, int p, int t, int *moved) {
  *moved = p < VCS_PROBES ? vcs_moved_by(&b->diff[p][t], vertical) : 0;
  return p == VCS_PROBES || vcs_is_along(&b->diff[p][t], vertical);
}

/* Whether the differences between the probes' displacements grow after frame `at`, as those of a velocity do. A
 * displacement that all probes have in common, such as a fall that begins, does not count. */
static bool is_growing(const vcs_bench_t *b, int vertical, int at) {
  int along = 0, grows = 0, stays = 0;
  for (int p = 0; p < VCS_PROBES; p++) along += vcs_is_along(&b->diff[p][at], vertical);
  const int probes = along < 3 ? VCS_PROBES + 1 : VCS_PROBES;
  for (int p = 0; p < probes; p++) {
    for (int q = p + 1; q < probes; q++) {
      int was_p, was_q, is_p, is_q;
      if (!find_move(b, vertical, p, at, &was_p) || !find_move(b, vertical, q, at, &was_q)) continue;
      for (int t = VCS_PROBE_FRAMES - 1; t > at; t--) {
        if (!find_move(b, vertical, p, t, &is_p) || !find_move(b, vertical, q, t, &is_q)) continue;
        const int was = was_p - was_q, is = is_p - is_q;
        if ((was > 0) == (is > 0) && abs(is) > abs(was)) {
          grows++;
        } else {
          stays++;
        }
        break;
      }
    }
  }
  return grows > stays;
}

/* Finds the first frame at which several probes agree on an axis. */
static void judge_axis(const vcs_bench_t *b, int vertical, uint8_t value, vcs_axis_votes_t *axis) {
  int best = 0, at = -1;
  for (int t = 0; t < VCS_PROBE_FRAMES; t++) {
    int votes = 0;
    for (int p = 0; p < VCS_PROBES; p++) votes += vcs_is_along(&b->diff[p][t], vertical);
    if (votes > best + 2 || (votes > best && best < 3)) {
      best = votes;
      at = t;
    }
  }
  axis->object = -1;
  if (at < 0) return;
  for (int p = 0; p < VCS_PROBES; p++) {
    const vcs_shown_diff_t *d = &b->diff[p][at];
    if (!vcs_is_along(d, vertical)) continue;
    axis->moved[p] = (int16_t)vcs_moved_by(d, vertical);
    if (axis->object < 0) axis->object = d->moved;
  }
  int least = INT16_MAX, most = INT16_MIN;
  for (int p = 0; p < VCS_PROBES; p++) {
    if (axis->moved[p] && axis->moved[p] < least) least = axis->moved[p];
    if (axis->moved[p] && axis->moved[p] > most) most = axis->moved[p];
  }
  if (best >= 3 && least == most) { /* an object moves, but its displacement does not depend on the byte */
    *axis = (vcs_axis_votes_t){.object = -1};
    return;
  }
  const vcs_object_t *o = &b->base[at].sprite[axis->object];
  axis->votes = (uint8_t)best;
  axis->t = (uint8_t)at;
  axis->kind = o->kind;
  axis->grows = is_growing(b, vertical, at);
  axis->from = value;
  axis->at = vertical ? o->y : o->x;
}

const float vcs_slopes[VCS_SLOPES] = {1, -1, 2, -2, 0.5f, -0.5f, 4, -4, 3, -3, 8, -8};

/* Whether a displacement is the product of slope and step; positions wrap around at the width of the line. */
bool vcs_is_slope(float slope, int step, int moved) {
  const float expected = slope * (float)step, off = fabsf(expected - (float)moved);
  return off <= 1 || fabsf(off - VCS_WIDTH) <= 1;
}

/* Returns an end of an object that a change made longer or shorter, by its number: the upper and the lower end of the
 * first object, then those of the second. NULL: there is none, or the change moved objects, too. Sets *moved to the
 * number of rows by which the end moved. */
const vcs_shown_end_t *vcs_find_end(const vcs_shown_diff_t *d, int number, int *moved) {
  if (number / 2 >= d->ended || d->moved_x + d->moved_y + d->moved_both || d->came + d->went > 1) return NULL;
  const vcs_shown_end_t *end = &d->end[number / 2];
  *moved = number & 1 ? end->lower : end->upper;
  return *moved ? end : NULL;
}

/* Counts votes from the ends of objects. A program may draw from the row in a byte up to a row that depends on
 * something else, or an edge may cover the lower part of an object: then only one end moves, by the slope of the
 * byte. */
static void judge_ends(const vcs_bench_t *b, uint8_t value, vcs_axis_votes_t *axis) {
  for (int i = 0; i < 2 * VCS_PROBE_FRAMES * VCS_SLOPES; i++) {
    const int t = i / 2 % VCS_PROBE_FRAMES;
    const float slope = vcs_slopes[i / 2 / VCS_PROBE_FRAMES];
    int fits = 0, all = 0, both = 0, far = 0, object = -1;
    int16_t moves[VCS_PROBES] = {0};
    for (int p = 0; p < VCS_PROBES; p++) {
      const int step = vcs_signed_step(value, vcs_probe_value(value, p));
      bool ends = false;
      for (int number = i & 1; number < VCS_ENDS; number += 2) {
        int moved;
        const vcs_shown_end_t *end = vcs_find_end(&b->diff[p][t], number, &moved);
        if (!end || abs(step) > 16) continue;
        ends = true;
        if (!vcs_is_slope(slope, step, moved) || moves[p]) continue;
        moves[p] = (int16_t)moved;
        fits++;
        far += abs(moved) >= 4;
        both += end->upper && end->lower;
        object = end->object;
      }
      all += ends;
    }
    if (fits < 4 || far < 2 || fits <= axis->votes || 3 * fits < 2 * all) continue;
    *axis = (vcs_axis_votes_t){.votes = (uint8_t)fits,
                               .t = (uint8_t)t,
                               .kind = b->base[t].sprite[object].kind,
                               .cut = 2 * both < fits,
                               .from = value,
                               .at = b->base[t].sprite[object].y,
                               .object = (int16_t)object};
    memcpy(axis->moved, moves, sizeof moves);
  }
}

/* Whether the only effect of a probe is that one object appears. */
static bool is_arrival(const vcs_shown_diff_t *d) {
  return d->came == 1 && d->went == 0 && d->moved_x + d->moved_y + d->moved_both == 0;
}

/* Returns the number of objects that appear along an axis from that of probe `first`, and sets *fits to the number of
 * these that have the commonest slope.
 */
static int count_arrivals(const vcs_bench_t *b, int vertical, int t, int first, uint8_t value, int *fits,
                          vcs_axis_votes_t *axis) {
  const vcs_shown_diff_t *reference = &b->diff[first][t];
  int votes = 0, across = 0, slope_fits[VCS_SLOPES] = {0};
  *fits = 0;
  *axis = (vcs_axis_votes_t){.t = (uint8_t)t,
                             .kind = reference->new_kind,
                             .from = vcs_probe_value(value, first),
                             .at = vertical ? reference->new_y : reference->new_x,
                             .object = -1};
  for (int p = 0; p < VCS_PROBES; p++) {
    const vcs_shown_diff_t *d = &b->diff[p][t];
    const int dx = d->new_x - reference->new_x, dy = d->new_y - reference->new_y;
    if (p == first || !is_arrival(d) || d->new_kind != reference->new_kind) continue;
    axis->moved[p] = (int16_t)(vertical ? dy : dx);
    votes += axis->moved[p] && !(vertical ? dx : dy);
    across += (vertical ? dx : dy) != 0;
    for (int k = 0; k < VCS_SLOPES; k++) {
      slope_fits[k] +=
          vcs_is_slope(vcs_slopes[k], vcs_signed_step(axis->from, vcs_probe_value(value, p)), axis->moved[p]);
      if (slope_fits[k] > *fits) *fits = slope_fits[k];
    }
  }
  axis->votes = (uint8_t)votes;
  return votes <= 3 * across ? 0 : votes;
}

/* Counts votes from objects that appear only with other values of the byte. Their places show the axis, relative to the
 * reference place that explains most of them. */
static void judge_arrivals(const vcs_bench_t *b, int vertical, uint8_t value, vcs_axis_votes_t *axis) {
  for (int t = 0; t < VCS_PROBE_FRAMES; t++) {
    int most = -1;
    vcs_axis_votes_t best = {0};
    for (int first = 0; first < VCS_PROBES; first++) {
      int fits;
      vcs_axis_votes_t seen;
      if (!is_arrival(&b->diff[first][t]) || count_arrivals(b, vertical, t, first, value, &fits, &seen) < 3 ||
          fits <= most)
        continue;
      most = fits;
      best = seen;
    }
    if (best.votes > axis->votes) *axis = best;
  }
}

/* Whether the flips of the low nibble and those of the high nibble change two adjacent places of the same height, and
 * nothing else: two digits. */
static bool shows_digits(const vcs_bench_t *b, int t) {
  vcs_shown_diff_t half[2] = {{.left = INT16_MAX, .top = INT16_MAX, .right = -1, .bottom = -1},
                              {.left = INT16_MAX, .top = INT16_MAX, .right = -1, .bottom = -1}};
  int seen[2] = {0, 0};
  for (int p = 0; p < 8; p++) {
    const vcs_shown_diff_t *d = &b->diff[p][t];
    const int high = vcs_probe_value(0, p) >= 16;
    vcs_shown_diff_t *h = &half[high];
    if (!d->pixels) continue;
    seen[high]++;
    if (d->left < h->left) h->left = d->left;
    if (d->right > h->right) h->right = d->right;
    if (d->top < h->top) h->top = d->top;
    if (d->bottom > h->bottom) h->bottom = d->bottom;
  }
  if (seen[0] < 3 || seen[1] < 3) return false;
  const int rows = half[0].bottom - half[0].top;
  return half[1].right < half[0].left && rows < 24 && half[0].right - half[0].left < 20 &&
         half[1].right - half[1].left < 20 && abs(half[0].top - half[1].top) <= 3 &&
         abs(half[0].bottom - half[1].bottom) <= 3;
}

/* Counts the effects of the probes of a byte. */
void vcs_judge_byte(const vcs_bench_t *b, int height, uint8_t value, vcs_evidence_t *e) {
  e->object = -1;
  for (int p = 0; p < VCS_PROBES; p++) {
    bool any = false, there = false;
    for (int t = 0; t < VCS_PROBE_FRAMES; t++) {
      any |= b->diff[p][t].pixels > 0;
      there |= vcs_is_telling(&b->diff[p][t]) || b->diff[p][t].field;
    }
    e->effective += any;
    e->present += there;
  }
  e->active = e->effective > 0;
  if (!e->active) return;
  for (int vertical = 0; vertical < 2; vertical++) {
    judge_axis(b, vertical, value, &e->axis[vertical]);
    judge_arrivals(b, vertical, value, &e->axis[vertical]);
  }
  if (e->axis[1].votes < 3) judge_ends(b, value, &e->axis[1]);
  for (int t = 0; t < VCS_PROBE_FRAMES && !e->digits; t++) e->digits = shows_digits(b, t);
  for (int p = 0; p < VCS_PROBES; p++) {
    for (int t = 0; t < VCS_PROBE_FRAMES; t++) { /* the first frame with an effect */
      const vcs_shown_diff_t *d = &b->diff[p][t];
      if (!d->pixels) continue;
      const int moved = d->moved_x + d->moved_y + d->moved_both;
      if (d->pixels > VCS_WIDTH * height / 4) e->big++;
      if (!moved && !d->came && !d->went && !d->field && !d->reshaped && !d->recoloured && !d->cut) e->background++;
      if (!moved && d->recoloured && !d->reshaped && !d->came && !d->went) e->recoloured++;
      if (d->reflected) e->reflected++;
      if (d->resized) e->resized++;
      if (!moved && d->reshaped && d->came + d->went <= 1) e->reshaped++;
      if (!moved && d->object >= 0 && e->object < 0) {
        e->object = d->object;
        e->kind = b->base[t].sprite[d->object].kind;
        e->t = (uint8_t)t;
      }
      break;
    }
  }
}
