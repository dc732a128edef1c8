/* annotate.c: the roles of RAM bytes, from exact effects at many states (annotate.h).
 *
 * Three kinds of evidence:
 *
 *   probes     in each state each byte is set to PROBES other values, one at a time: each bit flipped, and small steps
 *              in the other direction. FRAMES frames are run, and each is compared with the same frame of the run
 *              without the change: objects that moved, changed shape, colour, size or direction, came or went
 *   play       how the byte changes by itself while the game is played
 *   program    what is pushed on the stack; what the rules of score and lives read
 *
 * A probe that moves objects along one axis only is a vote for a position. What separates a position from everything
 * else is agreement: the same slope over probes and states, and a displacement that stays the same in the next frames
 * (a velocity's grows). The controls that are held in a state go on being held during its probes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diffvcs/annotate.h"
#include "host/games.h"
#include "host/parallel.h"
#include "study/annotate_play.h"
#include "study/annotate_compare.h"
#include "study/internal.h"

enum {
  BYTES = VCS_RAM_SIZE,
  PROBES = 12,
  QUIET = 4,  /* probes without any effect after which the remaining ones are left out */
  FRAMES = 4, /* games draw some objects only in every second to fourth frame */
  LATER = 8,  /* frames after which positions are compared for velocities */
  DEPTHS_MAX = 16,
  SEEDS_MAX = 64,
  FRESH = 80, /* moments in which candidates for positions are tried */
  MORE = 24,  /* further moments for a byte whose object is seldom there */
  ENOUGH = 8, /* states that decide about a position */
  COMMON = 3, /* pixels that displacements may have in common */
};

static const char *const role_names[VCS_ROLES] = {"x",      "y",       "size",  "graphics",  "colour",
                                                  "score",  "lives",   "timer", "direction", "room",
                                                  "random", "scratch", "stack", "unused"};

const char *vcs_role_name(int role) { return role >= 0 && role < VCS_ROLES ? role_names[role] : NULL; }

/* ---- States ------------------------------------------------------------------------------------------------------ */

/* The votes of one state for a position along an axis. */
typedef struct {
  uint8_t votes;         /* probes that move objects along this axis only, at frame t */
  uint8_t t;             /* the frame */
  uint8_t kind;          /* of the object */
  uint8_t grows;         /* the displacement grows from frame to frame */
  uint8_t cut;           /* only one end of the object moved: it may lie behind an edge, or be longer or shorter */
  uint8_t from;          /* the value to which displacements refer, ... */
  int16_t at;            /* ... and the object's place with it */
  int16_t object;        /* in the picture of that frame without the change; -1: it only comes with other values */
  int16_t moved[PROBES]; /* displacement, 0: no vote */
} axis_t;

/* What probing one byte in one state showed. */
typedef struct {
  uint8_t active;    /* some probe changes the picture */
  uint8_t present;   /* probes that change an object which is there without them */
  uint8_t effective; /* probes that change the picture */
  axis_t axis[2];    /* x, y */
  uint8_t reshaped, recoloured, reflected, resized, big, background; /* probes that do that and nothing else */
  int16_t object;                                                    /* that these change */
  uint8_t kind, t;
  uint8_t digits;               /* its two nibbles change two places beside each other */
  uint8_t overwritten;          /* probes after which the byte is as without the change, a frame later */
  uint8_t others;               /* probes that change other bytes of RAM */
  uint8_t score, reward, lives; /* the rules read it */
  uint8_t pushed;               /* it was on the stack */
  uint8_t drives[BYTES];        /* positions that it changes more and more: number of probes */
} evidence_t;

typedef struct {
  const vcs_moment_t *moment;
  evidence_t byte[BYTES];
  uint8_t controls[BYTES]; /* VCS_HELD_... that change the byte within four frames */
} state_t;

/* One byte in one more state. */
typedef struct {
  const vcs_moment_t *moment;
  evidence_t evidence;
} extra_t;

typedef struct {
  const vcs_cart_t *cart;
  vcs_plays_t plays;
  int32_t count;
  state_t *states; /* the moments of the plays */
  extra_t *extras; /* MORE for each byte, the first extra_count[byte] of them used */
  int32_t extra_count[BYTES];
  vcs_steps_t *steps;
  bool failed;
} work_t;

/* The value of probe p of a byte that has the value v: a flipped bit, or a step in the direction that the flip of the
 * bit does not take. Probes 0 to QUIET - 1 decide whether the byte does anything. */
static uint8_t probe_value(uint8_t v, int p) {
  static const uint8_t step[PROBES] = {1, 16, 128, 4, 2, 8, 32, 64, 1, 4, 16, 2};
  return (uint8_t)(p < 8 ? v ^ step[p] : v & step[p] ? v + step[p] : v - step[p]);
}

static int signed_step(uint8_t from, uint8_t to) { return (int8_t)(uint8_t)(to - from); }

/* Buffers of one thread. */
typedef struct {
  vcs_t m;
  vcs_t base_machine[FRAMES]; /* after each frame */
  uint8_t base_frames[FRAMES][VCS_FRAME_BYTES], frames[2 * VCS_FRAME_BYTES];
  uint8_t base_ram[LATER + 1][BYTES];
  vcs_object_t objects[VCS_OBJECTS_MAX];
  vcs_shown_t base[FRAMES], shown;
  vcs_shown_diff_t diff[PROBES][FRAMES];
} bench_t;

static void run_frame(const vcs_cart_t *cart, bench_t *b, vcs_shown_t *shown) {
  const int32_t count = vcs_frame_objects(cart, &b->m, b->frames, b->objects, VCS_OBJECTS_MAX);
  vcs_shown_take(b->objects, count < VCS_OBJECTS_MAX ? count : VCS_OBJECTS_MAX, shown);
}

static void run_base(const vcs_cart_t *cart, const uint8_t *machine, bench_t *b) {
  memcpy(&b->m, machine, vcs_state_size(cart));
  memset(b->frames, 0, sizeof b->frames);
  for (int t = 0; t < LATER; t++) {
    memcpy(b->base_ram[t], b->m.ram, BYTES);
    if (t < FRAMES) {
      run_frame(cart, b, &b->base[t]);
      memcpy(b->base_frames[t], vcs_picture(&b->m, b->frames), (size_t)VCS_WIDTH * (size_t)cart->height);
      memcpy(&b->base_machine[t], &b->m, vcs_state_size(cart));
    } else {
      vcs_frame(cart, &b->m, NULL);
    }
  }
  memcpy(b->base_ram[LATER], b->m.ram, BYTES);
}

/* Whether a change moved objects along one axis only. Other objects may be gone: a program that draws many objects with
 * few sprites leaves some out when one comes into the way. */
static bool is_along(const vcs_shown_diff_t *d, int vertical) {
  const int along = vertical ? d->moved_y : d->moved_x, across = vertical ? d->moved_x : d->moved_y;
  return along > 0 && across == 0 && d->moved_both == 0 && d->reshaped <= along && d->came <= 1 + along;
}

/* The same, and nothing else to speak of. */
static bool is_pure(const vcs_shown_diff_t *d, int vertical) {
  const int along = vertical ? d->moved_y : d->moved_x;
  return is_along(d, vertical) && d->came + d->went <= 1 + along;
}

/* Whether something happened to objects that were there, other than that a part of them went behind an edge, that two
 * of them came together and are one object now, or that a line more or less was drawn above them. */
static bool is_telling(const vcs_shown_diff_t *d) {
  if (d->shifted) return false;
  return d->moved_x + d->moved_y + d->moved_both + d->reshaped + d->recoloured > 0 || d->went > d->cut;
}

static int moved_by(const vcs_shown_diff_t *d, int vertical) { return vertical ? d->dy : d->dx; }

/* How far probe p has moved objects along an axis only, in frame t; false: it has not. Probe PROBES is the run without
 * a change. */
static bool find_move(const bench_t *b, int vertical, int p, int t, int *moved) {
  *moved = p < PROBES ? moved_by(&b->diff[p][t], vertical) : 0;
  return p == PROBES || is_along(&b->diff[p][t], vertical);
}

/* Whether the probes' displacements differ from each other more and more after frame `at`, as those of a velocity do.
 * What happens to all of them, such as a fall that begins, is no difference. */
static bool is_growing(const bench_t *b, int vertical, int at) {
  int along = 0, grows = 0, stays = 0;
  for (int p = 0; p < PROBES; p++) along += is_along(&b->diff[p][at], vertical);
  const int probes = along < 3 ? PROBES + 1 : PROBES;
  for (int p = 0; p < probes; p++) {
    for (int q = p + 1; q < probes; q++) {
      int was_p, was_q, is_p, is_q;
      if (!find_move(b, vertical, p, at, &was_p) || !find_move(b, vertical, q, at, &was_q)) continue;
      for (int t = FRAMES - 1; t > at; t--) {
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
static void judge_axis(const bench_t *b, int vertical, uint8_t value, axis_t *axis) {
  int best = 0, at = -1;
  for (int t = 0; t < FRAMES; t++) {
    int votes = 0;
    for (int p = 0; p < PROBES; p++) votes += is_along(&b->diff[p][t], vertical);
    if (votes > best + 2 || (votes > best && best < 3)) {
      best = votes;
      at = t;
    }
  }
  axis->object = -1;
  if (at < 0) return;
  for (int p = 0; p < PROBES; p++) {
    const vcs_shown_diff_t *d = &b->diff[p][at];
    if (!is_along(d, vertical)) continue;
    axis->moved[p] = (int16_t)moved_by(d, vertical);
    if (axis->object < 0) axis->object = d->moved;
  }
  int least = INT16_MAX, most = INT16_MIN;
  for (int p = 0; p < PROBES; p++) {
    if (axis->moved[p] && axis->moved[p] < least) least = axis->moved[p];
    if (axis->moved[p] && axis->moved[p] > most) most = axis->moved[p];
  }
  if (best >= 3 && least == most) { /* something moves, but by how much does not depend on the byte */
    *axis = (axis_t){.object = -1};
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

static const float slopes[] = {1, -1, 2, -2, 0.5f, -0.5f, 4, -4, 3, -3, 8, -8};
enum { SLOPES = sizeof slopes / sizeof *slopes };

/* Whether a displacement is what a slope makes of a step; positions wrap around at the width of the line. */
static bool is_slope(float slope, int step, int moved) {
  const float expected = slope * (float)step, off = fabsf(expected - (float)moved);
  return off <= 1 || fabsf(off - VCS_WIDTH) <= 1;
}

/* An end of an object that a change made longer or shorter, by its number: the upper and the lower end of the first
 * object, then those of the second. NULL: there is none, or the change moved objects, too. *moved: by how many rows. */
enum { ENDS = 2 * VCS_SHOWN_ENDS };
static const vcs_shown_end_t *find_end(const vcs_shown_diff_t *d, int number, int *moved) {
  if (number / 2 >= d->ended || d->moved_x + d->moved_y + d->moved_both || d->came + d->went > 1) return NULL;
  const vcs_shown_end_t *end = &d->end[number / 2];
  *moved = number & 1 ? end->lower : end->upper;
  return *moved ? end : NULL;
}

/* A program may draw from the row that a byte says up to a row that depends on something else, or an edge may cover the
 * lower part of an object: then the one end tells which slope the byte has. */
static void judge_ends(const bench_t *b, uint8_t value, axis_t *axis) {
  for (int i = 0; i < 2 * FRAMES * SLOPES; i++) {
    const int t = i / 2 % FRAMES;
    const float slope = slopes[i / 2 / FRAMES];
    int fits = 0, all = 0, both = 0, far = 0, object = -1;
    int16_t moves[PROBES] = {0};
    for (int p = 0; p < PROBES; p++) {
      const int step = signed_step(value, probe_value(value, p));
      bool ends = false;
      for (int number = i & 1; number < ENDS; number += 2) {
        int moved;
        const vcs_shown_end_t *end = find_end(&b->diff[p][t], number, &moved);
        if (!end || abs(step) > 16) continue;
        ends = true;
        if (!is_slope(slope, step, moved) || moves[p]) continue;
        moves[p] = (int16_t)moved;
        fits++;
        far += abs(moved) >= 4;
        both += end->upper && end->lower;
        object = end->object;
      }
      all += ends;
    }
    if (fits < 4 || far < 2 || fits <= axis->votes || 3 * fits < 2 * all) continue;
    *axis = (axis_t){.votes = (uint8_t)fits,
                     .t = (uint8_t)t,
                     .kind = b->base[t].sprite[object].kind,
                     .cut = 2 * both < fits,
                     .from = value,
                     .at = b->base[t].sprite[object].y,
                     .object = (int16_t)object};
    memcpy(axis->moved, moves, sizeof moves);
  }
}

/* Whether a probe did nothing but make one object come. */
static bool is_arrival(const vcs_shown_diff_t *d) {
  return d->came == 1 && d->went == 0 && d->moved_x + d->moved_y + d->moved_both == 0;
}

/* How many arrivals lie along an axis from the one of probe `first`; *fits: how many of these have the commonest slope.
 */
static int count_arrivals(const bench_t *b, int vertical, int t, int first, uint8_t value, int *fits, axis_t *axis) {
  const vcs_shown_diff_t *reference = &b->diff[first][t];
  int votes = 0, across = 0, slope_fits[SLOPES] = {0};
  *fits = 0;
  *axis = (axis_t){.t = (uint8_t)t,
                   .kind = reference->new_kind,
                   .from = probe_value(value, first),
                   .at = vertical ? reference->new_y : reference->new_x,
                   .object = -1};
  for (int p = 0; p < PROBES; p++) {
    const vcs_shown_diff_t *d = &b->diff[p][t];
    const int dx = d->new_x - reference->new_x, dy = d->new_y - reference->new_y;
    if (p == first || !is_arrival(d) || d->new_kind != reference->new_kind) continue;
    axis->moved[p] = (int16_t)(vertical ? dy : dx);
    votes += axis->moved[p] && !(vertical ? dx : dy);
    across += (vertical ? dx : dy) != 0;
    for (int k = 0; k < SLOPES; k++) {
      slope_fits[k] += is_slope(slopes[k], signed_step(axis->from, probe_value(value, p)), axis->moved[p]);
      if (slope_fits[k] > *fits) *fits = slope_fits[k];
    }
  }
  axis->votes = (uint8_t)votes;
  return votes <= 3 * across ? 0 : votes;
}

/* An object that is absent appears when the byte has other values. Where it appears shows the axis, relative to the
 * reference place that explains most of the appearances. */
static void judge_arrivals(const bench_t *b, int vertical, uint8_t value, axis_t *axis) {
  for (int t = 0; t < FRAMES; t++) {
    int most = -1;
    axis_t best = {0};
    for (int first = 0; first < PROBES; first++) {
      int fits;
      axis_t seen;
      if (!is_arrival(&b->diff[first][t]) || count_arrivals(b, vertical, t, first, value, &fits, &seen) < 3 ||
          fits <= most)
        continue;
      most = fits;
      best = seen;
    }
    if (best.votes > axis->votes) *axis = best;
  }
}

/* Whether the flips of the low nibble and those of the high nibble change two places beside each other, of the same
 * height, and nothing else: two digits. */
static bool shows_digits(const bench_t *b, int t) {
  vcs_shown_diff_t half[2] = {{.left = INT16_MAX, .top = INT16_MAX, .right = -1, .bottom = -1},
                              {.left = INT16_MAX, .top = INT16_MAX, .right = -1, .bottom = -1}};
  int seen[2] = {0, 0};
  for (int p = 0; p < 8; p++) {
    const vcs_shown_diff_t *d = &b->diff[p][t];
    const int high = probe_value(0, p) >= 16;
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

/* Counts what the probes of a byte did. */
static void judge_byte(const bench_t *b, int height, uint8_t value, evidence_t *e) {
  e->object = -1;
  for (int p = 0; p < PROBES; p++) {
    bool any = false, there = false;
    for (int t = 0; t < FRAMES; t++) {
      any |= b->diff[p][t].pixels > 0;
      there |= is_telling(&b->diff[p][t]) || b->diff[p][t].field;
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
  for (int t = 0; t < FRAMES && !e->digits; t++) e->digits = shows_digits(b, t);
  for (int p = 0; p < PROBES; p++) {
    for (int t = 0; t < FRAMES; t++) { /* the first frame that shows anything */
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

static void probe_byte(const work_t *w, const vcs_moment_t *moment, int byte, evidence_t *e, bench_t *b) {
  const vcs_cart_t *cart = w->cart;
  const uint8_t value = b->base_ram[0][byte];
  const size_t size = vcs_state_size(cart), offset = offsetof(vcs_t, ram) + (size_t)byte;
  memset(b->diff, 0, sizeof b->diff);
  for (int p = 0; p < PROBES; p++) {
    for (int t = 0; t < FRAMES; t++) b->diff[p][t].object = b->diff[p][t].moved = -1;
  }
  bool quiet = true;
  for (int p = 0; p < PROBES; p++) {
    if (p == QUIET && quiet) {
      if (e->overwritten == QUIET) e->overwritten = PROBES;
      break;
    }
    memcpy(&b->m, moment->machine, size);
    ((uint8_t *)&b->m)[offset] = probe_value(value, p);
    int8_t early[BYTES] = {0};
    bool gone = false; /* the machine is as without the change, and stays so */
    for (int t = 0; t < FRAMES && !gone; t++) {
      run_frame(cart, b, &b->shown);
      const uint8_t *picture = vcs_picture(&b->m, b->frames);
      vcs_shown_diff_t *d = &b->diff[p][t];
      if (t == 0) {
        e->overwritten += b->m.ram[byte] == b->base_ram[1][byte];
      }
      if (t == 1) {
        for (int i = 0; i < BYTES; i++) early[i] = (int8_t)(b->m.ram[i] - b->base_ram[2][i]);
      }
      if (memcmp(picture, b->base_frames[t], (size_t)VCS_WIDTH * (size_t)cart->height) != 0) {
        quiet = false;
        vcs_shown_compare(&b->base[t], &b->shown, d, NULL, 0);
        vcs_shown_pixels(b->base_frames[t], picture, cart->height, d);
      }
      gone = memcmp(&b->m, &b->base_machine[t], size) == 0;
    }
    if (gone) continue;
    bool others = false;
    for (int i = 0; i < BYTES && !others; i++) others = i != byte && b->m.ram[i] != b->base_ram[FRAMES][i];
    e->others += others;
    if (!others) continue;
    quiet = false;
    if (p >= QUIET) continue; /* a few probes are enough to see a velocity */
    for (int t = FRAMES; t < LATER; t++) vcs_frame(cart, &b->m, NULL);
    for (int i = 0; i < BYTES; i++) {
      const int late = (int8_t)(b->m.ram[i] - b->base_ram[LATER][i]);
      if (i != byte && late && abs(late) > abs(early[i]) && abs(late) <= 64 &&
          (early[i] == 0 || (early[i] > 0) == (late > 0)))
        e->drives[i]++;
    }
  }
  judge_byte(b, cart->height, value, e);
  if (!w->plays.code) return;
  vcs_play_t base = moment->play; /* what the rules make of RAM with and without the change */
  uint8_t ram[BYTES];
  memcpy(ram, b->base_ram[0], BYTES);
  vcs_game_code_step(w->plays.code, &base, ram, b->m.cart_ram);
  for (int p = 0; p < PROBES; p++) {
    vcs_play_t play = moment->play;
    ram[byte] = probe_value(value, p);
    vcs_game_code_step(w->plays.code, &play, ram, b->m.cart_ram);
    e->score += play.score != base.score;
    e->reward += play.reward != base.reward;
    e->lives += play.lives != base.lives && play.over == base.over;
  }
}

/* Marks the bytes that one frame pushes on the stack. */
static void find_pushes(const vcs_cart_t *cart, state_t *s, bench_t *b) {
  vcs_step_t step = {0};
  memcpy(&b->m, s->moment->machine, vcs_state_size(cart));
  vcs_frame_begin(cart, &b->m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !b->m.jammed && !step.frame_over; i++) {
    const uint8_t before = b->m.sp;
    vcs_step(cart, &b->m, NULL, &step);
    const uint8_t pushes = step.opcode == 0x20                          ? 2
                           : step.opcode == 0x48 || step.opcode == 0x08 ? 1
                           : step.opcode == 0                           ? 3
                                                                        : 0;
    for (uint8_t k = 0; k < pushes; k++) {
      const uint8_t at = (uint8_t)(before - k);
      if (at >= 0x80) s->byte[at - 0x80].pushed = 1;
    }
  }
}

/* Finds the bytes that each control changes within four frames, against the same frames without any. */
static void find_controls(const vcs_cart_t *cart, state_t *s, bench_t *b) {
  static const uint8_t held[] = {0, VCS_HELD_UP, VCS_HELD_DOWN, VCS_HELD_LEFT, VCS_HELD_RIGHT, VCS_HELD_FIRE};
  uint8_t idle[BYTES];
  for (size_t i = 0; i < sizeof held; i++) {
    memcpy(&b->m, s->moment->machine, vcs_state_size(cart));
    vcs_controls_t controls = {.held = {held[i], 0}};
    for (int k = 0; k < 4; k++) controls.paddle[k] = b->m.paddle[k];
    vcs_control(cart, &b->m, &controls);
    for (int t = 0; t < 4; t++) vcs_frame(cart, &b->m, NULL);
    for (int k = 0; k < BYTES; k++) {
      if (i == 0) {
        idle[k] = b->m.ram[k];
      } else if (b->m.ram[k] != idle[k]) {
        s->controls[k] |= held[i];
      }
    }
  }
}

static bool probe_state(void *context, size_t item, int worker) {
  work_t *w = context;
  (void)worker;
  bench_t *b = malloc(sizeof *b);
  state_t *s = &w->states[item];
  if (!b) {
    w->failed = true;
    return false;
  }
  run_base(w->cart, s->moment->machine, b);
  for (int byte = 0; byte < BYTES; byte++) probe_byte(w, s->moment, byte, &s->byte[byte], b);
  find_pushes(w->cart, s, b);
  find_controls(w->cart, s, b);
  free(b);
  return vcs_steps_add(w->steps, 1);
}

/* ---- Roles ------------------------------------------------------------------------------------------------------- */

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

static vcs_role_t new_role(int role) {
  vcs_role_t r = {.role = role, .kind = -1, .low = -1, .high = -1, .absent = -1};
  return r;
}

/* k of n states agree: a cautious estimate of the part that will. */
static float sureness(int k, int n) { return n ? (float)k / ((float)n + 0.5f) : 0; }

static int commonest(const int kinds[VCS_OBJECT_COUNT]) {
  int best = -1;
  for (int k = 0; k < VCS_OBJECT_COUNT; k++) {
    if (kinds[k] && (best < 0 || kinds[k] > kinds[best])) best = k;
  }
  return best;
}

/* Whether a state counts for a position: its byte moves an object that is there, or makes one come at a place that
 * depends on it. A state in which the object is hidden says nothing. */
static bool counts(const evidence_t *e, int vertical) {
  return e->active && ((e->present >= 4 && 4 * e->present > e->effective) || e->axis[vertical].votes >= 2);
}

static bool votes_for(const evidence_t *e, int vertical) {
  const axis_t *a = &e->axis[vertical], *other = &e->axis[!vertical];
  return a->votes >= 2 && a->votes >= other->votes && 4 * a->votes >= e->present && !a->grows && !a->cut;
}

static uint8_t value_in(const vcs_moment_t *moment, int byte) {
  return ((const vcs_t *)(const void *)moment->machine)->ram[byte];
}

/* What is known about a byte in one state; the states of all bytes come before those of this byte. */
typedef struct {
  const evidence_t *e;
  const vcs_moment_t *moment;
  uint8_t value;
} sample_t;

static int samples(const work_t *w, int byte) { return w->count + w->extra_count[byte]; }

static sample_t sample(const work_t *w, int byte, int i) {
  const extra_t *extra = i < w->count ? NULL : &w->extras[byte * MORE + i - w->count];
  const vcs_moment_t *moment = extra ? extra->moment : w->states[i].moment;
  return (sample_t){extra ? &extra->evidence : &w->states[i].byte[byte], moment, value_in(moment, byte)};
}

static int step_of(const sample_t *s, const axis_t *axis, int probe) {
  return signed_step(axis->from, probe_value(s->value, probe));
}

/* Whether a state agrees on a slope. All displacements may have something in common that is not the byte's doing, such
 * as a fall that begins because the object no longer stands on something: then more of them must agree. */
static bool agrees(const sample_t *s, int vertical, float slope) {
  const axis_t *axis = &s->e->axis[vertical];
  if (!counts(s->e, vertical) || axis->votes < 2 || axis->grows) return false;
  for (int common = -COMMON; common <= COMMON; common++) {
    int right = 0, wrong = 0;
    for (int p = 0; p < PROBES; p++) {
      const int step = step_of(s, axis, p);
      if (!axis->moved[p] || (axis->object >= 0 && abs(step) > 16)) continue;
      const bool fit = is_slope(slope, step, axis->moved[p] - common);
      right += fit;
      wrong += !fit;
    }
    if (common ? right >= 4 && right >= 3 * wrong : right > wrong) return true;
  }
  return false;
}

/* A slot that is empty often has one particular value: of the values that the byte has in at least a quarter of the
 * states in which it is no position, and seldom when it is one, the one that it has most often in the plays. -1: there
 * is none. */
static int find_absent(const work_t *w, int byte, int vertical) {
  int without[256] = {0}, with[256] = {0}, often[256] = {0}, best = -1, all = 0;
  for (int i = 0; i < samples(w, byte); i++) {
    const sample_t s = sample(w, byte, i);
    if (!counts(s.e, vertical)) continue;
    const bool votes = votes_for(s.e, vertical);
    int *n = votes ? with : without;
    n[s.value]++;
    all += !votes;
  }
  for (int32_t i = 0; i < w->plays.all; i++) often[value_in(&w->plays.pool[i], byte)]++;
  for (int v = 0; v < 256; v++) {
    if (without[v] < 2 || 4 * without[v] < all || 2 * with[v] > without[v]) continue;
    if (best < 0 || often[v] > often[best]) best = v;
  }
  return best;
}

/* Whether the objects that are there say enough, so that those that only come with other values need not count: they
 * may come at places that the program never uses. */
static bool has_residents(const work_t *w, int byte, int vertical) {
  int votes = 0;
  for (int i = 0; i < samples(w, byte); i++) {
    const sample_t s = sample(w, byte, i);
    votes += s.e->axis[vertical].object >= 0 && counts(s.e, vertical) && votes_for(s.e, vertical);
  }
  return votes >= 3;
}

static bool is_left_out(const axis_t *axis, bool residents) { return residents && axis->votes && axis->object < 0; }

/* The votes of one byte for a position along an axis. */
static void judge_position(const work_t *w, int byte, int vertical, vcs_role_t *role) {
  int votes = 0, active = 0, fits[SLOPES] = {0}, far_fits[SLOPES] = {0}, small = 0, fine = 0, coarse = 0, tens = 0,
      ones = 0;
  int kinds[VCS_OBJECT_COUNT] = {0};
  const bool residents = has_residents(w, byte, vertical);
  role->absent = find_absent(w, byte, vertical);
  for (int i = 0; i < samples(w, byte); i++) {
    const sample_t s = sample(w, byte, i);
    const axis_t *axis = &s.e->axis[vertical];
    if (!counts(s.e, vertical) || s.value == role->absent || is_left_out(axis, residents)) continue;
    active++;
    if (!votes_for(s.e, vertical)) continue;
    votes++;
    kinds[axis->kind]++;
    for (int p = 0; p < PROBES; p++) {
      const int moved = axis->moved[p], step = step_of(&s, axis, p);
      if (!moved) continue;
      if (abs(step) <= 16) {
        small++;
        for (int k = 0; k < SLOPES; k++) {
          fits[k] += is_slope(slopes[k], step, moved);
          far_fits[k] += abs(step) == 16 && is_slope(slopes[k], step, moved);
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
  for (int k = 1; k < SLOPES; k++) {
    if (fits[k] > fits[best]) best = k;
  }
  role->encoding = VCS_ENCODING_TABLE;
  int agree = votes;
  if (small && 10 * fits[best] >= 6 * small && 2 * far_fits[best] >= tens) {
    role->encoding = VCS_ENCODING_LINEAR;
    role->slope = slopes[best];
    agree = 0;
    for (int i = 0; i < samples(w, byte); i++) {
      const sample_t s = sample(w, byte, i);
      agree +=
          s.value != role->absent && !is_left_out(&s.e->axis[vertical], residents) && agrees(&s, vertical, role->slope);
    }
  } else if (!vertical && tens && ones && 2 * fine > tens && 2 * coarse > ones) {
    role->encoding = VCS_ENCODING_HMOVE;
  }
  role->kind = commonest(kinds);
  role->states = agree;
  role->confidence = sureness(agree, active);
}

/* The state in which a byte is probed best: the most votes, with the object there; evidence NULL: there is none. */
static sample_t best_sample(const work_t *w, int byte, int vertical) {
  sample_t best = {NULL, NULL, 0};
  int most = 0;
  for (int i = 0; i < samples(w, byte); i++) {
    const sample_t s = sample(w, byte, i);
    const axis_t *axis = &s.e->axis[vertical];
    if (axis->votes <= most || axis->grows || axis->object < 0) continue;
    most = axis->votes;
    best = s;
  }
  return best;
}

/* The commonest place of value 0 in the states that agree. */
static float offset_of(const work_t *w, int byte, int vertical, float slope) {
  float offsets[SEEDS_MAX * DEPTHS_MAX + MORE], best = 0;
  int count = 0, most = 0;
  for (int i = 0; i < samples(w, byte); i++) {
    const axis_t *axis = &sample(w, byte, i).e->axis[vertical];
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
static void sweep(const work_t *w, int byte, int vertical, bench_t *b, vcs_role_t *role) {
  const sample_t s = best_sample(w, byte, vertical);
  for (int v = 0; v < 256; v++) role->map[v] = -1;
  if (role->encoding == VCS_ENCODING_LINEAR) role->offset = offset_of(w, byte, vertical, role->slope);
  if (!s.e) return;
  const axis_t *axis = &s.e->axis[vertical];
  run_base(w->cart, s.moment->machine, b);
  for (int v = 0; v < 256; v++) {
    vcs_shown_diff_t d;
    int32_t place;
    memcpy(&b->m, s.moment->machine, vcs_state_size(w->cart));
    b->m.ram[byte] = (uint8_t)v;
    for (int k = 0; k < axis->t; k++) vcs_frame(w->cart, &b->m, NULL);
    run_frame(w->cart, b, &b->shown);
    vcs_shown_compare(&b->base[axis->t], &b->shown, &d, &place, axis->object);
    if (place < 0) continue;
    const vcs_object_t *o = &b->shown.sprite[place];
    role->map[v] = vertical ? o->y : o->x;
    if (role->low < 0 || role->map[v] < role->low) role->low = role->map[v];
    if (role->map[v] > role->high) role->high = role->map[v];
  }
}

/* Whether more states may show that a byte is a position: those so far do not decide, because its object is seldom
 * there.
 */
static bool is_undecided(const work_t *w, int byte) {
  int active = 0, votes = 0;
  if (vcs_plays_habit(&w->plays, byte).changes == 0) return false;
  for (int vertical = 0; vertical < 2; vertical++) {
    vcs_role_t role = new_role(vertical ? VCS_ROLE_Y : VCS_ROLE_X);
    judge_position(w, byte, vertical, &role);
    if (role.states >= ENOUGH && role.confidence >= 0.8f && has_residents(w, byte, vertical)) return false;
  }
  for (int32_t i = 0; i < w->count; i++) {
    const evidence_t *e = &w->states[i].byte[byte];
    active += e->active;
    votes += votes_for(e, 0) || votes_for(e, 1);
  }
  return votes || active < ENOUGH;
}

static bool probe_more(void *context, size_t item, int worker) {
  work_t *w = context;
  const int byte = (int)item;
  const vcs_moment_t *moments[MORE];
  (void)worker;
  bench_t *b = malloc(sizeof *b);
  if (!b) {
    w->failed = true;
    return false;
  }
  const int count = is_undecided(w, byte) ? vcs_plays_vary(&w->plays, byte, MORE, moments) : 0;
  for (int i = 0; i < count; i++) {
    extra_t *extra = &w->extras[byte * MORE + i];
    extra->moment = moments[i];
    run_base(w->cart, moments[i]->machine, b);
    probe_byte(w, moments[i], byte, &extra->evidence, b);
  }
  w->extra_count[byte] = count;
  free(b);
  return vcs_steps_add(w->steps, 1);
}

/* Whether two bytes move the same object in most of the states in which both move one. */
static bool is_same_object(const work_t *w, int a, int a_vertical, int b, int b_vertical) {
  int both = 0, same = 0;
  for (int32_t i = 0; i < w->count; i++) {
    const axis_t *one = &w->states[i].byte[a].axis[a_vertical], *two = &w->states[i].byte[b].axis[b_vertical];
    if (one->votes < 2 || two->votes < 2 || one->t != two->t || one->object < 0 || two->object < 0) continue;
    both++;
    same += one->object == two->object;
  }
  return both >= 2 && 2 * same > both;
}

/* Numbers the objects of each kind: bytes that move the same one get the same number. */
static void number_objects(const work_t *w, vcs_annotation_t *a) {
  int next[VCS_OBJECT_COUNT] = {0};
  for (int byte = 0; byte < BYTES; byte++) {
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

/* ---- Fresh states ------------------------------------------------------------------------------------------------ */

/* Whether the map goes over a range, as a position's does; a digit whose box begins one pixel later for a 1 does not.
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

/* A claim: a byte is a position. Trying it in a moment gives a verdict. */
typedef struct {
  int byte;
  vcs_role_t role;
} claim_t;
enum { CLAIMS = 2 * BYTES };
enum { SAYS_NOTHING, WRONG, RIGHT };

typedef struct {
  const vcs_cart_t *cart;
  const vcs_plays_t *plays;
  const claim_t *claims;
  int count;
  uint8_t *verdicts; /* for each moment and claim */
  vcs_audit_t *audits;
  bool failed;
} trial_t;

/* What changing a byte by one step does in each of the next frames: how far objects move along the axis of a role and
 * in no other way. NOWHERE: they do not. A vertical move may be that of the upper or of the lower end only. */
enum { NOWHERE = INT16_MIN, WAYS = 1 + ENDS };
typedef struct {
  int moved[FRAMES][WAYS];
  bool pure;  /* nothing else to speak of happens, in one of the frames */
  bool tells; /* it does anything to an object that is there */
} response_t;

/* Changes a byte by a step. The run without the change is in `b`. */
static void respond(const vcs_cart_t *cart, const vcs_moment_t *moment, const claim_t *claim, int step, bench_t *b,
                    response_t *response) {
  const bool vertical = claim->role.role == VCS_ROLE_Y;
  bool gone = false; /* the machine is as without the change, and stays so */
  response->pure = response->tells = false;
  memcpy(&b->m, moment->machine, vcs_state_size(cart));
  b->m.ram[claim->byte] = (uint8_t)(b->m.ram[claim->byte] + step);
  for (int t = 0; t < FRAMES; t++) {
    vcs_shown_diff_t d;
    int *moved = response->moved[t];
    for (int i = 0; i < WAYS; i++) moved[i] = NOWHERE;
    if (gone) continue;
    run_frame(cart, b, &b->shown);
    vcs_shown_compare(&b->base[t], &b->shown, &d, NULL, 0);
    response->tells |= is_telling(&d);
    response->pure |= is_pure(&d, vertical);
    if (is_along(&d, vertical)) moved[0] = moved_by(&d, vertical);
    for (int number = 0; number < ENDS && vertical; number++) {
      if (!find_end(&d, number, &moved[1 + number])) moved[1 + number] = NOWHERE;
    }
    gone = memcmp(&b->m, &b->base_machine[t], vcs_state_size(cart)) == 0;
  }
}

/* Whether a response is what a role says; `common` as in `agrees`. */
static bool is_as_claimed(const vcs_role_t *role, int step, int common, const response_t *response) {
  if (role->encoding != VCS_ENCODING_LINEAR) return response->pure;
  for (int i = 0; i < FRAMES * WAYS; i++) {
    const int moved = response->moved[i / WAYS][i % WAYS];
    if (moved != NOWHERE && is_slope(role->slope, step, moved - common)) return true;
  }
  return false;
}

/* One claim in one moment: SAYS_NOTHING if hardly anything happens to an object that is there. RIGHT if the object
 * moves as the role says for at least half of the changes that do anything; with a slope, in one of the two directions,
 * because neighbours may be in the way in the other one, or for most changes up to something that they have in common.
 */
static uint8_t try_claim(const vcs_cart_t *cart, const vcs_moment_t *moment, const claim_t *claim, bench_t *b) {
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
  for (int common = -COMMON; common <= COMMON; common++) {
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
  bench_t *b = malloc(sizeof *b);
  if (!b) {
    trial->failed = true;
    return false;
  }
  const vcs_moment_t *moment = &trial->plays->moments[item];
  run_base(trial->cart, moment->machine, b);
  for (int i = 0; i < trial->count; i++)
    trial->verdicts[item * (size_t)trial->count + (size_t)i] = try_claim(trial->cart, moment, &trial->claims[i], b);
  free(b);
  return true;
}

static void count_verdict(vcs_audit_t *audit, uint8_t verdict) {
  audit->effective += verdict != SAYS_NOTHING;
  audit->right += verdict == RIGHT;
}

/* Tries a claim that few moments test in more moments of the plays, in which its byte has other values. */
static bool try_more(void *context, size_t item, int worker) {
  trial_t *trial = context;
  (void)worker;
  const vcs_moment_t *moments[MORE];
  const claim_t *claim = &trial->claims[item];
  vcs_audit_t *audit = &trial->audits[item];
  if (audit->effective >= ENOUGH) return true;
  bench_t *b = malloc(sizeof *b);
  if (!b) {
    trial->failed = true;
    return false;
  }
  const int count = vcs_plays_vary(trial->plays, claim->byte, MORE, moments);
  for (int i = 0; i < count; i++) {
    run_base(trial->cart, moments[i]->machine, b);
    count_verdict(audit, try_claim(trial->cart, moments[i], claim, b));
  }
  free(b);
  return true;
}

/* Tries all claims in all moments of some plays. Audits say how often they are right. */
static vcs_status_t try_claims(const vcs_cart_t *cart, const vcs_plays_t *plays, const claim_t *claims, int count,
                               int32_t threads, vcs_audit_t *audits, vcs_error_t *error) {
  trial_t trial = {.cart = cart, .plays = plays, .claims = claims, .count = count, .audits = audits};
  trial.verdicts = calloc((size_t)plays->count * (size_t)count + 1, 1);
  if (!trial.verdicts) return vcs_no_memory(error);
  if (count) vcs_parallel((size_t)plays->count, threads, try_moment, &trial);
  for (int i = 0; i < count; i++) {
    audits[i] = (vcs_audit_t){claims[i].byte, claims[i].role.role, 0, 0};
    for (int32_t k = 0; k < plays->count; k++)
      count_verdict(&audits[i], trial.verdicts[(size_t)k * (size_t)count + (size_t)i]);
  }
  if (count) vcs_parallel((size_t)count, threads, try_more, &trial);
  free(trial.verdicts);
  return trial.failed ? vcs_no_memory(error) : VCS_OK;
}

/* Whether fresh moments confirm a claim: most of those that say anything, and most of all moments. The more of them
 * there are, the more of them must be right. A slope is evidence by itself, so a claim without one must be surer, and a
 * claim that no fresh moment can test must have been sure. */
static bool is_confirmed(const vcs_role_t *role, const vcs_audit_t *audit) {
  const float counted = (float)role->states / role->confidence + (float)audit->effective;
  const float all = (float)(role->states + audit->right) / counted;
  const int right = 100 * audit->right, fresh = audit->effective;
  if (role->encoding != VCS_ENCODING_LINEAR)
    return audit->right >= 2 && right >= (fresh < 12 ? 80 : 85) * fresh && all >= 0.85f && has_range(role);
  if (!fresh) return role->states >= 3 && role->confidence >= 0.65f;
  if (fresh >= 12) return right >= 90 * fresh || (right >= 80 * fresh && all >= 0.75f);
  return right >= 70 * fresh && all >= 0.75f;
}

/* How many states agree on an effect of a byte, by one of its counts. */
typedef struct {
  int active, reshaped, recoloured, reflected, resized, big, background, digits, score, reward, lives, pushed, silent,
      overwritten, kinds[VCS_OBJECT_COUNT];
} tally_t;

static tally_t tally_of(const work_t *w, int byte) {
  tally_t n = {0};
  for (int32_t i = 0; i < w->count; i++) {
    const evidence_t *e = &w->states[i].byte[byte];
    n.active += e->active;
    n.score += e->score > 0;
    n.reward += e->reward > 0;
    n.lives += e->lives > 0;
    n.pushed += e->pushed;
    n.overwritten += e->overwritten == PROBES;
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
  vcs_role_t r = new_role(role);
  if (confidence < least || states < 1) return;
  r.kind = kind;
  r.states = states;
  r.confidence = confidence > 1 ? 1 : confidence;
  add_role(roles, &r);
}

/* Whether the rules of the game know a score, and not only rewards. */
static bool has_score(const work_t *w) {
  for (int32_t i = 0; i < w->count; i++) {
    for (int byte = 0; byte < BYTES; byte++) {
      if (w->states[i].byte[byte].score) return true;
    }
  }
  return false;
}

/* The roles that effects on the picture, the rules and the play show. `scored`: the rules know a score. */
static void judge_rest(const work_t *w, int byte, bool scored, vcs_byte_roles_t *roles) {
  const tally_t n = tally_of(w, byte);
  const int score = scored ? n.score : n.reward;
  const vcs_habit_t h = vcs_plays_habit(&w->plays, byte);
  const int kind = commonest(n.kinds);
  const bool position = has_role(roles, VCS_ROLE_X) || has_role(roles, VCS_ROLE_Y);
  const float often = (float)h.changes / (float)(h.frames ? h.frames : 1);
  const bool ticks = h.changes >= 6 && h.steady >= 0.8f && h.regular >= 0.7f && (h.step < 16 || h.step > 240);
  if (score >= 2) add_simple(roles, VCS_ROLE_SCORE, -1, score, sureness(score, score), 0);
  if (n.lives >= 2) add_simple(roles, VCS_ROLE_LIVES, -1, n.lives, sureness(n.lives, n.lives), 0);
  if (!position) {
    if (ticks) add_simple(roles, VCS_ROLE_TIMER, -1, w->count, h.steady * h.regular, 0.5f);
    if (n.digits && !ticks && !has_role(roles, VCS_ROLE_SCORE))
      add_simple(roles, VCS_ROLE_SCORE, kind, n.digits, sureness(n.digits, n.active), 0.5f);
    if (often > 0.4f && h.values > 100 && h.surprise > 5.5f)
      add_simple(roles, VCS_ROLE_RANDOM, -1, w->count, fminf(1, h.surprise / 8), 0.5f);
    add_simple(roles, VCS_ROLE_ROOM, -1, n.big, sureness(n.big, n.active), 0.6f);
    add_simple(roles, VCS_ROLE_GRAPHICS, kind, n.reshaped, sureness(n.reshaped, n.active), 0.4f);
    add_simple(roles, VCS_ROLE_COLOUR, n.background > n.recoloured / 2 ? -1 : kind, n.recoloured,
               sureness(n.recoloured, n.active), 0.5f);
  }
  add_simple(roles, VCS_ROLE_SIZE, kind, n.resized, sureness(n.resized, n.active), 0.4f);
  add_simple(roles, VCS_ROLE_DIRECTION, kind, n.reflected, sureness(n.reflected, n.active), 0.4f);
  if (n.pushed) add_simple(roles, VCS_ROLE_STACK, -1, n.pushed, sureness(n.pushed, w->count), 0.3f);
  if (n.silent == w->count && !n.pushed && !score && !n.lives) {
    if (n.overwritten == w->count) {
      add_simple(roles, VCS_ROLE_SCRATCH, -1, n.silent, sureness(n.silent, w->count), 0.5f);
    } else if (h.changes == 0) {
      add_simple(roles, VCS_ROLE_UNUSED, -1, n.silent, sureness(n.silent, w->count), 0.5f);
    } else if (n.overwritten * 2 > w->count) {
      add_simple(roles, VCS_ROLE_SCRATCH, -1, n.overwritten, sureness(n.overwritten, w->count), 0.5f);
    }
  }
}

/* A byte that is no position and changes positions more and more is a velocity or a direction. */
static void judge_directions(const work_t *w, vcs_annotation_t *a) {
  for (int byte = 0; byte < BYTES; byte++) {
    vcs_byte_roles_t *roles = &a->ram[byte];
    if (has_role(roles, VCS_ROLE_X) || has_role(roles, VCS_ROLE_Y) || has_role(roles, VCS_ROLE_TIMER) ||
        has_role(roles, VCS_ROLE_RANDOM) || has_role(roles, VCS_ROLE_DIRECTION))
      continue;
    int best = -1, most = 0, effective = 0;
    for (int i = 0; i < BYTES; i++) {
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
    vcs_role_t r = new_role(VCS_ROLE_DIRECTION);
    for (int k = 0; k < a->ram[best].count; k++) {
      const vcs_role_t *their = &a->ram[best].roles[k];
      if (their->role > VCS_ROLE_Y) continue;
      r.kind = their->kind;
      r.number = their->number;
    }
    r.states = most;
    r.confidence = sureness(most, effective);
    if (most >= 3 && r.confidence >= 0.3f) add_role(roles, &r);
  }
}

/* Finds the bytes that seem to be positions, and keeps those that fresh moments confirm. */
static vcs_status_t judge_positions(const work_t *w, const vcs_plays_t *fresh, int32_t threads, bench_t *b,
                                    vcs_annotation_t *a, vcs_error_t *error) {
  claim_t *claims = malloc(CLAIMS * sizeof *claims);
  vcs_audit_t audits[CLAIMS];
  int count = 0;
  if (!claims) return vcs_no_memory(error);
  for (int i = 0; i < CLAIMS; i++) {
    claim_t *claim = &claims[count];
    *claim = (claim_t){i / 2, new_role(i & 1 ? VCS_ROLE_Y : VCS_ROLE_X)};
    judge_position(w, i / 2, i & 1, &claim->role);
    if (claim->role.confidence < 0.3f) continue;
    sweep(w, i / 2, i & 1, b, &claim->role);
    count++;
  }
  const vcs_status_t status = try_claims(w->cart, fresh, claims, count, threads, audits, error);
  for (int i = 0; i < count && status == VCS_OK; i++) {
    vcs_role_t *role = &claims[i].role;
    if (!is_confirmed(role, &audits[i])) continue;
    const float counted = (float)role->states / role->confidence + (float)audits[i].effective;
    role->states += audits[i].right;
    role->confidence = (float)role->states / counted;
    add_role(&a->ram[claims[i].byte], role);
  }
  free(claims);
  return status;
}

static void judge(const work_t *w, vcs_annotation_t *a) {
  number_objects(w, a);
  const bool scored = has_score(w);
  for (int byte = 0; byte < BYTES; byte++) judge_rest(w, byte, scored, &a->ram[byte]);
  judge_directions(w, a);
  for (int byte = 0; byte < BYTES; byte++) {
    int changed[8] = {0}, held = 0;
    for (int32_t i = 0; i < w->count; i++) {
      for (int k = 0; k < 8; k++) changed[k] += w->states[i].controls[byte] >> k & 1;
    }
    for (int k = 0; k < 8; k++) held |= (2 * changed[k] > w->count) << k;
    for (int r = 0; r < a->ram[byte].count; r++) a->ram[byte].roles[r].controls = held;
  }
}

static void free_work(work_t *w) {
  vcs_plays_free(&w->plays);
  free(w->states);
  free(w->extras);
}

/* Runs `probe` for a number of items, in parallel. */
static vcs_status_t probe_all(work_t *w, const vcs_annotate_options_t *o, const char *what, int32_t count,
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

vcs_status_t vcs_annotate(const vcs_cart_t *cart, const char *game, const vcs_annotate_options_t *given,
                          vcs_annotation_t **out, vcs_error_t *error) {
  vcs_annotate_options_t o;
  work_t w = {.cart = cart};
  vcs_plays_t fresh = {0};
  if (error) error->message[0] = 0;
  *out = NULL;
  vcs_status_t taken = VCS_OPTIONS_TAKE(vcs_annotate_options_t, &o, given, error);
  if (taken) return taken;
  if (!o.seeds) o.seeds = 6;
  if (!o.depths) o.depths = 8;
  if (!o.seed) o.seed = 1;
  if (o.seeds < 1 || o.seeds > SEEDS_MAX || o.depths < 1 || o.depths > DEPTHS_MAX)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "seeds go from 1 to %d and depths from 1 to %d", SEEDS_MAX,
                          DEPTHS_MAX);
  vcs_annotation_t *a = calloc(1, sizeof *a);
  bench_t *b = malloc(sizeof *b);
  vcs_status_t status =
      a && b ? vcs_plays_choose(&w.plays, cart, o.seed, o.seeds, o.seeds * o.depths, error) : vcs_no_memory(error);
  if (status == VCS_OK) status = vcs_plays_choose(&fresh, cart, o.seed + 500, 3, FRESH, error);
  if (status == VCS_OK) {
    w.count = w.plays.count;
    w.states = calloc((size_t)w.count, sizeof *w.states);
    w.extras = calloc((size_t)BYTES * MORE, sizeof *w.extras);
    if (!w.states || !w.extras) status = vcs_no_memory(error);
  }
  if (status == VCS_OK) {
    for (int32_t i = 0; i < w.count; i++) w.states[i].moment = &w.plays.moments[i];
    status = probe_all(&w, &o, "states", w.count, probe_state, error);
  }
  if (status == VCS_OK) status = probe_all(&w, &o, "bytes", BYTES, probe_more, error);
  if (status == VCS_OK) status = judge_positions(&w, &fresh, o.threads, b, a, error);
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
  if (taken) return taken;
  if (!o.seeds) o.seeds = 4;
  if (!o.depths) o.depths = 7;
  if (!o.seed) o.seed = 1001; /* plays that vcs_annotate does not make */
  *count = 0;
  claim_t *claims = malloc(CLAIMS * sizeof *claims);
  vcs_status_t status = claims ? vcs_plays_stop(&plays, cart, o.seed, o.seeds, o.depths, error) : vcs_no_memory(error);
  int32_t n = 0;
  for (int i = 0; i < BYTES * VCS_BYTE_ROLES && status == VCS_OK; i++) {
    const int byte = i / VCS_BYTE_ROLES, r = i % VCS_BYTE_ROLES;
    if (r >= annotation->ram[byte].count || annotation->ram[byte].roles[r].role > VCS_ROLE_Y) continue;
    if (n < capacity && n < CLAIMS) claims[n++] = (claim_t){byte, annotation->ram[byte].roles[r]};
  }
  if (status == VCS_OK) status = try_claims(cart, &plays, claims, n, o.threads, audits, error);
  if (status == VCS_OK) *count = n;
  vcs_plays_free(&plays);
  free(claims);
  return status;
}
