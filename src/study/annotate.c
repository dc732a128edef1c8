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
#include "host/env.h"
#include "host/game_rules.h"
#include "host/games.h"
#include "host/parallel.h"
#include "study/internal.h"

enum {
  BYTES = 128,
  PROBES = 12,
  QUIET = 4, /* probes without any effect after which the others are left out */
  FRAMES = 3,
  SPRITES = 96, /* objects other than blocks of the playfield that are compared */
  LATER = 8,    /* frames after which positions are compared for velocities */
  DEPTHS_MAX = 16,
  SEEDS_MAX = 64,
};

static const char *const role_names[VCS_ROLES] = {"x",      "y",       "size",  "graphics",  "colour",
                                                  "score",  "lives",   "timer", "direction", "room",
                                                  "random", "scratch", "stack", "unused"};

const char *vcs_role_name(int role) { return role >= 0 && role < VCS_ROLES ? role_names[role] : NULL; }

/* ---- One picture beside another ---------------------------------------------------------------------------------- */

typedef struct {
  int32_t count, blocks;
  vcs_object_t sprite[SPRITES];
  uint32_t field; /* digest of the playfield */
} scene_t;

/* What a change did to one frame. */
typedef struct {
  int16_t moved_x, moved_y, moved_both, reshaped, recoloured, reflected, resized, came, went;
  int16_t dx, dy;      /* of the first object that moved */
  int16_t object;      /* index of the first object in the scene without the change that differs, or -1 */
  int16_t moved;       /* the same for one that moved */
  int32_t pixels;      /* that differ */
  int16_t left, right; /* columns and rows of the pixels that differ, inclusive */
  int16_t top, bottom;
  int16_t new_x, new_y; /* of the first object that came */
  uint8_t new_kind;
  uint8_t field; /* the playfield differs */
} diff_t;

static void take_scene(const vcs_object_t *objects, int32_t count, scene_t *scene) {
  scene->count = scene->blocks = 0;
  scene->field = 0;
  for (int32_t i = 0; i < count; i++) {
    const vcs_object_t *o = &objects[i];
    if (o->kind == VCS_OBJECT_PLAYFIELD) {
      scene->blocks++;
      scene->field =
          (scene->field ^ (uint32_t)(o->x * 3 + o->y * 1009 + o->w * 40503 + o->h * 7919 + o->colour)) * 0x01000193u;
    } else if (scene->count < SPRITES) {
      scene->sprite[scene->count++] = *o;
    }
  }
}

static bool is_same_shape(const vcs_object_t *a, const vcs_object_t *b) {
  return a->kind == b->kind && a->pattern == b->pattern && a->w == b->w && a->h == b->h && a->reflected == b->reflected;
}

static bool is_same_place(const vcs_object_t *a, const vcs_object_t *b) { return a->x == b->x && a->y == b->y; }

/* A row of what happened to the object `was`, which is now `is`. */
static void note_pair(const vcs_object_t *was, const vcs_object_t *is, int index, diff_t *d) {
  const int dx = is->x - was->x, bottom = is->y + is->h - was->y - was->h;
  int dy = is->y - was->y;
  if (d->object < 0) d->object = (int16_t)index;
  if (was->reflected != is->reflected) d->reflected++;
  if (is->size != was->size) d->resized++;
  if (is_same_shape(was, is)) {
    if (dx && dy) {
      d->moved_both++;
    } else if (dx) {
      d->moved_x++;
    } else if (dy) {
      d->moved_y++;
    } else if (was->colour != is->colour || was->colours != is->colours) {
      d->recoloured++;
      return;
    }
  } else if (dx == 0 && was->w == is->w && (dy || bottom) && (!dy || !bottom || (dy > 0) == (bottom > 0))) {
    d->moved_y++; /* partly behind the edge of its zone: the free end tells how far */
    if (abs(bottom) > abs(dy)) dy = bottom;
  } else {
    d->reshaped++;
    return;
  }
  if (d->moved < 0) {
    d->moved = (int16_t)index;
    d->dx = (int16_t)dx;
    d->dy = (int16_t)dy;
  }
}

/* Pairs the objects of two scenes. Objects that are equal in both are done first. Then equal shapes are paired in their
 * order, top to bottom and left to right, so that a row of equal sprites that moves is paired rightly; then what has
 * the same kind. */
static void compare_scenes(const scene_t *was, const scene_t *is, diff_t *d, int32_t *place_of, int want) {
  bool used_was[SPRITES] = {false}, used_is[SPRITES] = {false};
  memset(d, 0, sizeof *d);
  d->object = d->moved = -1;
  d->field = was->field != is->field;
  if (place_of) *place_of = -1;
  for (int32_t i = 0, k = 0; i < was->count; i++) {
    const vcs_object_t *a = &was->sprite[i];
    for (k = 0; k < is->count; k++) {
      const vcs_object_t *b = &is->sprite[k];
      if (used_is[k] || !is_same_place(a, b) || !is_same_shape(a, b) || a->colour != b->colour ||
          a->colours != b->colours)
        continue;
      used_was[i] = used_is[k] = true;
      if (place_of && i == want) *place_of = k;
      break;
    }
  }
  for (int pass = 0; pass < 3; pass++) {
    for (int32_t i = 0; i < was->count; i++) {
      int32_t best = -1;
      int least = 1 << 20;
      if (used_was[i]) continue;
      for (int32_t k = 0; k < is->count; k++) {
        const vcs_object_t *a = &was->sprite[i], *b = &is->sprite[k];
        if (used_is[k] || a->kind != b->kind) continue;
        const bool shape = is_same_shape(a, b);
        const int far = abs(a->x - b->x) + abs(a->y - b->y);
        if (pass == 0 && !(is_same_place(a, b))) continue; /* changed in place */
        if (pass == 1 && !shape) continue;
        if (pass == 2 && far > 60) continue;
        if (pass == 1) { /* the first one in order */
          best = k;
          break;
        }
        if (far < least) {
          least = far;
          best = k;
        }
      }
      if (best < 0) continue;
      used_was[i] = used_is[best] = true;
      note_pair(&was->sprite[i], &is->sprite[best], i, d);
      if (place_of && i == want) *place_of = best;
    }
  }
  for (int32_t i = 0; i < was->count; i++) {
    if (used_was[i]) continue;
    d->went++;
    if (d->object < 0) d->object = (int16_t)i;
  }
  for (int32_t k = 0; k < is->count; k++) {
    if (used_is[k]) continue;
    if (d->came++) continue;
    d->new_x = is->sprite[k].x;
    d->new_y = is->sprite[k].y;
    d->new_kind = is->sprite[k].kind;
  }
}

static void compare_pixels(const uint8_t *was, const uint8_t *is, int height, diff_t *d) {
  d->left = d->top = INT16_MAX;
  d->right = d->bottom = -1;
  for (int y = 0; y < height; y++) {
    const uint8_t *a = was + VCS_WIDTH * y, *b = is + VCS_WIDTH * y;
    if (memcmp(a, b, VCS_WIDTH) == 0) continue;
    if (d->bottom < 0) d->top = (int16_t)y;
    d->bottom = (int16_t)y;
    for (int x = 0; x < VCS_WIDTH; x++) {
      if (a[x] == b[x]) continue;
      d->pixels++;
      if (x < d->left) d->left = (int16_t)x;
      if (x > d->right) d->right = (int16_t)x;
    }
  }
}

/* ---- States ------------------------------------------------------------------------------------------------------ */

/* The votes of one state for a position along an axis. */
typedef struct {
  uint8_t votes;         /* probes that move objects along this axis only, at frame t */
  uint8_t t;             /* the frame */
  uint8_t kind;          /* of the object */
  uint8_t grows;         /* the displacement grows from frame to frame */
  uint8_t from;          /* the value to which displacements refer, ... */
  int16_t at;            /* ... and the object's place with it */
  int16_t object;        /* in the scene of that frame without the change; -1: it only comes with other values */
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
  uint8_t digits;        /* its two nibbles change two places beside each other */
  uint8_t overwritten;   /* probes after which the byte is as without the change, a frame later */
  uint8_t others;        /* probes that change other bytes of RAM */
  uint8_t score, lives;  /* the rules read it */
  uint8_t pushed;        /* it was on the stack */
  uint8_t drives[BYTES]; /* positions that it changes more and more: number of probes */
} evidence_t;

typedef struct {
  uint8_t *machine;
  vcs_play_t play;
  evidence_t byte[BYTES];
  uint8_t controls[BYTES]; /* VCS_HELD_... that change the byte within four frames */
  scene_t scene[FRAMES + 1];
} state_t;

typedef struct {
  const vcs_cart_t *cart;
  const vcs_game_code_t *code;
  int32_t count;
  state_t *states;
  uint8_t *play;     /* RAM in every frame of every play */
  int32_t *play_end; /* frames of each play */
  int32_t plays, frames_max;
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
  uint8_t base_frames[FRAMES][VCS_FRAME_BYTES], frames[2 * VCS_FRAME_BYTES];
  uint8_t base_ram[LATER + 1][BYTES];
  vcs_object_t objects[VCS_OBJECTS_MAX];
  scene_t base[FRAMES], scene;
  diff_t diff[PROBES][FRAMES];
} bench_t;

static void run_frame(const vcs_cart_t *cart, bench_t *b, scene_t *scene) {
  const int32_t count = vcs_frame_objects(cart, &b->m, b->frames, b->objects, VCS_OBJECTS_MAX);
  take_scene(b->objects, count < VCS_OBJECTS_MAX ? count : VCS_OBJECTS_MAX, scene);
}

static void run_base(const vcs_cart_t *cart, const uint8_t *machine, bench_t *b) {
  memcpy(&b->m, machine, vcs_state_size(cart));
  memset(b->frames, 0, sizeof b->frames);
  for (int t = 0; t < LATER; t++) {
    memcpy(b->base_ram[t], b->m.ram, BYTES);
    if (t < FRAMES) {
      run_frame(cart, b, &b->base[t]);
      memcpy(b->base_frames[t], vcs_picture(&b->m, b->frames), (size_t)VCS_WIDTH * (size_t)cart->height);
    } else {
      vcs_frame(cart, &b->m, NULL);
    }
  }
  memcpy(b->base_ram[LATER], b->m.ram, BYTES);
}

/* Whether the probe moved objects along x only, or y only, and nothing else to speak of. */
static bool is_pure(int along, int across, const diff_t *d) {
  return along > 0 && across == 0 && d->moved_both == 0 && d->reshaped <= along && d->came + d->went <= 1 + along;
}
static bool is_pure_x(const diff_t *d) { return is_pure(d->moved_x, d->moved_y, d); }
static bool is_pure_y(const diff_t *d) { return is_pure(d->moved_y, d->moved_x, d); }

/* Finds the first frame at which several probes agree on an axis. */
static void judge_axis(const bench_t *b, int vertical, uint8_t value, axis_t *axis) {
  bool (*pure)(const diff_t *) = vertical ? is_pure_y : is_pure_x;
  int best = 0, at = -1;
  for (int t = 0; t < FRAMES; t++) {
    int votes = 0;
    for (int p = 0; p < PROBES; p++) votes += pure(&b->diff[p][t]);
    if (votes > best + 2 || (votes > best && best < 3)) {
      best = votes;
      at = t;
    }
  }
  axis->object = -1;
  if (at < 0) return;
  int grows = 0, stays = 0;
  for (int p = 0; p < PROBES; p++) {
    const diff_t *d = &b->diff[p][at];
    if (!pure(d)) continue;
    const int now = vertical ? d->dy : d->dx;
    axis->moved[p] = (int16_t)now;
    if (axis->object < 0) axis->object = d->moved;
    for (int t = FRAMES - 1; t > at; t--) {
      const diff_t *later = &b->diff[p][t];
      const int then = vertical ? later->dy : later->dx;
      if (!pure(later)) continue;
      if ((now > 0) == (then > 0) && abs(then) > abs(now)) {
        grows++;
      } else {
        stays++;
      }
      break;
    }
  }
  const vcs_object_t *o = &b->base[at].sprite[axis->object];
  axis->votes = (uint8_t)best;
  axis->t = (uint8_t)at;
  axis->kind = o->kind;
  axis->grows = grows > stays;
  axis->from = value;
  axis->at = vertical ? o->y : o->x;
}

/* An object that is not there comes when a byte has other values: where it comes tells which axis, compared with the
 * first probe that makes it come. */
static void judge_arrivals(const bench_t *b, int vertical, uint8_t value, axis_t *axis) {
  for (int t = 0; t < FRAMES; t++) {
    int first = -1, votes = 0, across = 0;
    int16_t moved[PROBES] = {0};
    for (int p = 0; p < PROBES; p++) {
      const diff_t *d = &b->diff[p][t];
      if (d->came != 1 || d->went || d->moved_x + d->moved_y + d->moved_both > 0) continue;
      if (first < 0) {
        first = p;
        continue;
      }
      const diff_t *reference = &b->diff[first][t];
      const int dx = d->new_x - reference->new_x, dy = d->new_y - reference->new_y;
      if (d->new_kind != reference->new_kind) continue;
      moved[p] = (int16_t)(vertical ? dy : dx);
      votes += moved[p] && !(vertical ? dx : dy);
      across += (vertical ? dx : dy) != 0;
    }
    if (votes < 3 || votes <= 3 * across || votes <= axis->votes) continue;
    const diff_t *reference = &b->diff[first][t];
    *axis = (axis_t){.votes = (uint8_t)votes,
                     .t = (uint8_t)t,
                     .kind = reference->new_kind,
                     .from = probe_value(value, first),
                     .at = vertical ? reference->new_y : reference->new_x,
                     .object = -1};
    memcpy(axis->moved, moved, sizeof moved);
  }
}

/* Whether the flips of the low nibble and those of the high nibble change two places beside each other, of the same
 * height, and nothing else: two digits. */
static bool shows_digits(const bench_t *b, int t) {
  diff_t half[2] = {{.left = INT16_MAX, .top = INT16_MAX, .right = -1, .bottom = -1},
                    {.left = INT16_MAX, .top = INT16_MAX, .right = -1, .bottom = -1}};
  int seen[2] = {0, 0};
  for (int p = 0; p < 8; p++) {
    const diff_t *d = &b->diff[p][t];
    const int high = probe_value(0, p) >= 16;
    diff_t *h = &half[high];
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
      there |= b->diff[p][t].object >= 0 || b->diff[p][t].field;
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
  for (int t = 0; t < FRAMES && !e->digits; t++) e->digits = shows_digits(b, t);
  for (int p = 0; p < PROBES; p++) {
    for (int t = 0; t < FRAMES; t++) { /* the first frame that shows anything */
      const diff_t *d = &b->diff[p][t];
      if (!d->pixels) continue;
      const int moved = d->moved_x + d->moved_y + d->moved_both;
      if (d->pixels > VCS_WIDTH * height / 4) e->big++;
      if (!moved && !d->came && !d->went && !d->field && !d->reshaped && !d->recoloured) e->background++;
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

static void probe_byte(work_t *w, state_t *s, int byte, bench_t *b) {
  const vcs_cart_t *cart = w->cart;
  evidence_t *e = &s->byte[byte];
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
    memcpy(&b->m, s->machine, size);
    ((uint8_t *)&b->m)[offset] = probe_value(value, p);
    int8_t early[BYTES] = {0};
    for (int t = 0; t < FRAMES; t++) {
      run_frame(cart, b, &b->scene);
      const uint8_t *picture = vcs_picture(&b->m, b->frames);
      diff_t *d = &b->diff[p][t];
      if (t == 0) {
        e->overwritten += b->m.ram[byte] == b->base_ram[1][byte];
      }
      if (t == 1) {
        for (int i = 0; i < BYTES; i++) early[i] = (int8_t)(b->m.ram[i] - b->base_ram[2][i]);
      }
      if (memcmp(picture, b->base_frames[t], (size_t)VCS_WIDTH * (size_t)cart->height) == 0) continue;
      quiet = false;
      compare_scenes(&b->base[t], &b->scene, d, NULL, 0);
      compare_pixels(b->base_frames[t], picture, cart->height, d);
    }
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
  if (!w->code) return;
  vcs_play_t base = s->play; /* what the rules make of RAM with and without the change */
  uint8_t ram[BYTES];
  memcpy(ram, b->base_ram[0], BYTES);
  vcs_game_code_step(w->code, &base, ram, b->m.cart_ram);
  for (int p = 0; p < PROBES; p++) {
    vcs_play_t play = s->play;
    ram[byte] = probe_value(value, p);
    vcs_game_code_step(w->code, &play, ram, b->m.cart_ram);
    e->score += play.score != base.score;
    e->lives += play.lives != base.lives && play.over == base.over;
  }
}

/* Marks the bytes that one frame pushes on the stack. */
static void find_pushes(const vcs_cart_t *cart, state_t *s, bench_t *b) {
  vcs_step_t step = {0};
  memcpy(&b->m, s->machine, vcs_state_size(cart));
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
    memcpy(&b->m, s->machine, vcs_state_size(cart));
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
  run_base(w->cart, s->machine, b);
  for (int t = 0; t < FRAMES; t++) s->scene[t] = b->base[t];
  for (int byte = 0; byte < BYTES; byte++) probe_byte(w, s, byte, b);
  find_pushes(w->cart, s, b);
  find_controls(w->cart, s, b);
  free(b);
  return vcs_steps_add(w->steps, 1);
}

/* ---- Play -------------------------------------------------------------------------------------------------------- */

/* The frames at which a play stops: near each other in the beginning, then further apart. */
static int depth_at(int k) { return 40 + 80 * k + 60 * k * k; }

static vcs_status_t play(work_t *w, uint64_t first_seed, int seeds, int depths, vcs_error_t *error) {
  const size_t size = (vcs_state_size(w->cart) + 7) & ~(size_t)7;
  vcs_env_t *env;
  vcs_status_t status = vcs_env_create(w->cart, &env, error);
  if (status) return status;
  w->code = env->code;
  w->plays = seeds;
  w->frames_max = depth_at(depths - 1) + 6;
  w->states = calloc((size_t)(seeds * depths), sizeof *w->states);
  w->play = malloc((size_t)seeds * (size_t)w->frames_max * BYTES);
  if (!w->states || !w->play) status = vcs_no_memory(error);
  vcs_env_set_drawing(env, 0);
  for (int seed = 0; seed < seeds && status == VCS_OK; seed++) {
    vcs_stream_t stream;
    vcs_stream_start(&stream, first_seed + (uint64_t)seed);
    vcs_env_reset(env);
    for (int i = 0, k = 0; i < w->frames_max; i++) {
      if (vcs_env_over(env)) vcs_env_reset(env);
      vcs_env_act_on(env, vcs_stream_next(&stream), VCS_NOOP);
      memcpy(w->play + ((size_t)seed * (size_t)w->frames_max + (size_t)i) * BYTES, env->m->ram, BYTES);
      if (k >= depths || i != depth_at(k) + 7 * seed % 5) continue;
      k++;
      state_t *s = &w->states[w->count];
      s->machine = malloc(size);
      if (!s->machine) {
        status = vcs_no_memory(error);
        break;
      }
      memcpy(s->machine, env->m, vcs_state_size(w->cart));
      s->play = env->play;
      w->count++;
    }
  }
  vcs_env_free(env);
  return status;
}

static void free_work(work_t *w) {
  for (int32_t i = 0; i < w->count && w->states; i++) free(w->states[i].machine);
  free(w->states);
  free(w->play);
}

/* How a byte changes while the game is played. */
typedef struct {
  int frames, changes, values;
  float steady;  /* part of the changes that have the commonest step */
  float regular; /* part of the changes that come after the commonest interval */
  int step, interval;
  float surprise; /* entropy of its steps, in bits */
} habit_t;

static habit_t habit_of(const work_t *w, int byte) {
  habit_t h = {0};
  int steps[256] = {0}, intervals[256] = {0};
  bool seen[256] = {false};
  for (int play = 0; play < w->plays; play++) {
    const uint8_t *ram = w->play + (size_t)play * (size_t)w->frames_max * BYTES + byte;
    int last = 0;
    for (int i = 0; i < w->frames_max; i++) {
      const uint8_t now = ram[(size_t)i * BYTES];
      if (!seen[now]) h.values++;
      seen[now] = true;
      h.frames++;
      if (i == 0) continue;
      const uint8_t step = (uint8_t)(now - ram[(size_t)(i - 1) * BYTES]);
      if (!step) continue;
      h.changes++;
      steps[step]++;
      intervals[i - last < 255 ? i - last : 255]++;
      last = i;
    }
  }
  if (!h.changes) return h;
  for (int i = 1; i < 256; i++) {
    if (steps[i] > steps[h.step]) h.step = i;
    if (intervals[i] > intervals[h.interval]) h.interval = i;
    const float p = (float)steps[i] / (float)h.changes;
    if (p > 0) h.surprise -= p * log2f(p);
  }
  h.steady = (float)steps[h.step] / (float)h.changes;
  h.regular = (float)intervals[h.interval] / (float)h.changes;
  return h;
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
  vcs_role_t r = {.role = role, .kind = -1, .low = -1, .high = -1};
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

static const float slopes[] = {1, -1, 2, -2, 0.5f, -0.5f, 4, -4, 3, -3, 8, -8};
enum { SLOPES = sizeof slopes / sizeof *slopes };

/* Whether a displacement is what a slope makes of a step; positions wrap around at the width of the line. */
static bool is_slope(float slope, int step, int moved) {
  const float expected = slope * (float)step, off = fabsf(expected - (float)moved);
  return off <= 1 || fabsf(off - VCS_WIDTH) <= 1;
}

/* Whether a state counts for a position: its byte moves an object that is there, or makes one come at a place that
 * depends on it. A state in which the object is hidden says nothing. */
static bool counts(const evidence_t *e, int vertical) {
  return e->active && ((e->present >= 4 && 4 * e->present > e->effective) || e->axis[vertical].votes >= 2);
}

static bool votes_for(const evidence_t *e, int vertical) {
  const axis_t *a = &e->axis[vertical], *other = &e->axis[!vertical];
  return a->votes >= 2 && a->votes >= other->votes && 5 * a->votes >= 2 * e->effective && !a->grows;
}

static int step_of(const state_t *s, int byte, const axis_t *axis, int probe) {
  const uint8_t value = ((const vcs_t *)(const void *)s->machine)->ram[byte];
  return signed_step(axis->from, probe_value(value, probe));
}

/* Whether a state agrees on a slope. */
static bool agrees(const state_t *s, int byte, int vertical, float slope) {
  const evidence_t *e = &s->byte[byte];
  const axis_t *axis = &e->axis[vertical];
  int right = 0, wrong = 0;
  if (!counts(e, vertical) || axis->votes < 2 || axis->grows) return false;
  for (int p = 0; p < PROBES; p++) {
    const int step = step_of(s, byte, axis, p);
    if (!axis->moved[p] || abs(step) > 16) continue;
    const bool fit = is_slope(slope, step, axis->moved[p]);
    right += fit;
    wrong += !fit;
  }
  return right > wrong;
}

/* The votes of one byte for a position along an axis. */
static void judge_position(const work_t *w, int byte, int vertical, vcs_role_t *role, int *agreed, int *counted) {
  int votes = 0, active = 0, fits[SLOPES] = {0}, far_fits[SLOPES] = {0}, small = 0, fine = 0, coarse = 0, tens = 0,
      ones = 0;
  int kinds[VCS_OBJECT_COUNT] = {0};
  for (int32_t i = 0; i < w->count; i++) {
    const evidence_t *e = &w->states[i].byte[byte];
    const axis_t *axis = &e->axis[vertical];
    if (!counts(e, vertical)) continue;
    active++;
    if (!votes_for(e, vertical)) continue;
    votes++;
    kinds[axis->kind]++;
    for (int p = 0; p < PROBES; p++) {
      const int moved = axis->moved[p], step = step_of(&w->states[i], byte, axis, p);
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
    for (int32_t i = 0; i < w->count; i++) agree += agrees(&w->states[i], byte, vertical, role->slope);
  } else if (!vertical && tens && ones && 2 * fine > tens && 2 * coarse > ones) {
    role->encoding = VCS_ENCODING_HMOVE;
  }
  role->kind = commonest(kinds);
  role->states = agree;
  role->confidence = sureness(agree, active);
  *agreed = agree;
  *counted = active;
}

/* The state in which a byte is probed best: the most votes, with the object there. */
static const state_t *best_state(const work_t *w, int byte, int vertical) {
  const state_t *best = NULL;
  int most = 0;
  for (int32_t i = 0; i < w->count; i++) {
    const axis_t *axis = &w->states[i].byte[byte].axis[vertical];
    if (axis->votes <= most || axis->grows || axis->object < 0) continue;
    most = axis->votes;
    best = &w->states[i];
  }
  return best;
}

/* The commonest place of value 0 in the states that agree. */
static float offset_of(const work_t *w, int byte, int vertical, float slope) {
  float offsets[SEEDS_MAX * DEPTHS_MAX], best = 0;
  int count = 0, most = 0;
  for (int32_t i = 0; i < w->count; i++) {
    const axis_t *axis = &w->states[i].byte[byte].axis[vertical];
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
  const state_t *s = best_state(w, byte, vertical);
  for (int v = 0; v < 256; v++) role->map[v] = -1;
  if (role->encoding == VCS_ENCODING_LINEAR) role->offset = offset_of(w, byte, vertical, role->slope);
  if (!s) return;
  const axis_t *axis = &s->byte[byte].axis[vertical];
  for (int v = 0; v < 256; v++) {
    diff_t d;
    int32_t place;
    memcpy(&b->m, s->machine, vcs_state_size(w->cart));
    b->m.ram[byte] = (uint8_t)v;
    for (int k = 0; k < axis->t; k++) vcs_frame(w->cart, &b->m, NULL);
    run_frame(w->cart, b, &b->scene);
    compare_scenes(&s->scene[axis->t], &b->scene, &d, &place, axis->object);
    if (place < 0) continue;
    const vcs_object_t *o = &b->scene.sprite[place];
    role->map[v] = vertical ? o->y : o->x;
    if (role->low < 0 || role->map[v] < role->low) role->low = role->map[v];
    if (role->map[v] > role->high) role->high = role->map[v];
  }
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

/* Keeps the candidates that most fresh states confirm, of those that say anything. A candidate that no fresh state can
 * test must have been sure before. */
static void confirm(work_t *fresh, int byte, bench_t *b, vcs_role_t *role, int agreed, int counted) {
  const int vertical = role->role == VCS_ROLE_Y;
  int right = 0, effective = 0;
  for (int32_t i = 0; i < fresh->count; i++) {
    state_t *s = &fresh->states[i];
    run_base(fresh->cart, s->machine, b);
    memset(&s->byte[byte], 0, sizeof s->byte[byte]);
    probe_byte(fresh, s, byte, b);
    if (!counts(&s->byte[byte], vertical)) continue;
    effective++;
    right += role->encoding == VCS_ENCODING_LINEAR ? agrees(s, byte, vertical, role->slope)
                                                   : votes_for(&s->byte[byte], vertical);
  }
  const int least = role->encoding == VCS_ENCODING_LINEAR ? 60 : 85; /* percent: a slope is evidence by itself */
  const bool linear = role->encoding == VCS_ENCODING_LINEAR, ranges = has_range(role);
  const bool good = effective ? 100 * right >= least * effective && (linear || (right >= 2 && ranges))
                              : linear && agreed >= 3 && 4 * agreed >= 3 * counted;
  if (agreed > counted) agreed = counted;
  role->states = agreed + right;
  role->confidence = good ? sureness(agreed + right, counted + effective) : 0;
}

/* How many states agree on an effect of a byte, by one of its counts. */
typedef struct {
  int active, positions, reshaped, recoloured, reflected, resized, big, background, digits, score, lives, pushed,
      silent, overwritten, kinds[VCS_OBJECT_COUNT];
} tally_t;

static tally_t tally_of(const work_t *w, int byte) {
  tally_t n = {0};
  for (int32_t i = 0; i < w->count; i++) {
    const evidence_t *e = &w->states[i].byte[byte];
    n.active += e->active;
    n.score += e->score > 0;
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

/* The roles that effects on the picture, the rules and the play show. */
static void judge_rest(const work_t *w, int byte, vcs_byte_roles_t *roles) {
  const tally_t n = tally_of(w, byte);
  const habit_t h = habit_of(w, byte);
  const int kind = commonest(n.kinds);
  const bool position = has_role(roles, VCS_ROLE_X) || has_role(roles, VCS_ROLE_Y);
  const float often = (float)h.changes / (float)(h.frames ? h.frames : 1);
  const bool ticks = h.changes >= 6 && h.steady >= 0.8f && h.regular >= 0.7f && (h.step < 16 || h.step > 240);
  add_simple(roles, VCS_ROLE_SCORE, -1, n.score, sureness(n.score, w->count), 0.3f);
  add_simple(roles, VCS_ROLE_LIVES, -1, n.lives, sureness(n.lives, w->count), 0.3f);
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
  if (n.silent == w->count && !n.pushed && !n.score && !n.lives) {
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
    if (most >= 3 && r.confidence >= 0.4f) add_role(roles, &r);
  }
}

static void judge(const work_t *w, work_t *fresh, bench_t *b, vcs_annotation_t *a) {
  for (int byte = 0; byte < BYTES; byte++) {
    vcs_byte_roles_t *roles = &a->ram[byte];
    for (int vertical = 0; vertical < 2; vertical++) {
      vcs_role_t role = new_role(vertical ? VCS_ROLE_Y : VCS_ROLE_X);
      int agreed = 0, counted = 0;
      judge_position(w, byte, vertical, &role, &agreed, &counted);
      if (role.confidence < 0.3f) continue;
      sweep(w, byte, vertical, b, &role);
      confirm(fresh, byte, b, &role, agreed, counted);
      add_role(roles, &role);
    }
  }
  number_objects(w, a);
  for (int byte = 0; byte < BYTES; byte++) judge_rest(w, byte, &a->ram[byte]);
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

vcs_status_t vcs_annotate(const vcs_cart_t *cart, const char *game, const vcs_annotate_options_t *given,
                          vcs_annotation_t **out, vcs_error_t *error) {
  vcs_annotate_options_t o;
  work_t w = {.cart = cart}, fresh = {.cart = cart};
  if (error) error->message[0] = 0;
  *out = NULL;
  vcs_status_t taken = VCS_OPTIONS_TAKE(vcs_annotate_options_t, &o, given, error);
  if (taken) return taken;
  if (!o.seeds) o.seeds = 5;
  if (!o.depths) o.depths = 6;
  if (!o.seed) o.seed = 1;
  if (o.seeds < 1 || o.seeds > SEEDS_MAX || o.depths < 1 || o.depths > DEPTHS_MAX)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "seeds go from 1 to %d and depths from 1 to %d", SEEDS_MAX,
                          DEPTHS_MAX);
  vcs_annotation_t *a = calloc(1, sizeof *a);
  bench_t *b = malloc(sizeof *b);
  vcs_status_t status = a && b ? play(&w, o.seed, o.seeds, o.depths, error) : vcs_no_memory(error);
  if (status == VCS_OK) status = play(&fresh, o.seed + 500, 3, 5, error);
  if (status == VCS_OK) {
    vcs_steps_t steps;
    vcs_steps_begin(&steps, &o.report, "states", (uint64_t)w.count);
    w.steps = &steps;
    vcs_parallel((size_t)w.count, o.threads, probe_state, &w);
    if (vcs_steps_stopped(&steps)) status = vcs_cancelled(error);
    if (w.failed) status = vcs_no_memory(error);
    vcs_steps_end(&steps);
  }
  if (status == VCS_OK) {
    snprintf(a->game, sizeof a->game, "%.63s", game);
    a->states = w.count;
    judge(&w, &fresh, b, a);
    *out = a;
    a = NULL;
  }
  free_work(&w);
  free_work(&fresh);
  free(a);
  free(b);
  return status;
}

void vcs_annotation_free(vcs_annotation_t *annotation) { free(annotation); }

/* ---- Audit --------------------------------------------------------------------------------------------------------
 */

/* One byte in one state: 0 nothing happens to an object that is there, 1 something else, 2 the object moves as the role
 * says. The run without the change is in `b`. */
static int try_role(const vcs_cart_t *cart, const state_t *s, int byte, const vcs_role_t *role, bench_t *b) {
  const bool vertical = role->role == VCS_ROLE_Y;
  static const int steps[] = {1, -1, 2, -2, 4, -4, 8, -8};
  int right = 0, effective = 0;
  const uint8_t value = b->base_ram[0][byte];
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    bool good = false, any = false;
    memcpy(&b->m, s->machine, vcs_state_size(cart));
    b->m.ram[byte] = (uint8_t)(value + steps[i]);
    for (int t = 0; t < FRAMES && !good; t++) {
      diff_t d;
      run_frame(cart, b, &b->scene);
      compare_scenes(&b->base[t], &b->scene, &d, NULL, 0);
      any |= d.object >= 0;
      good = vertical ? is_pure_y(&d) : is_pure_x(&d);
      if (role->encoding == VCS_ENCODING_LINEAR) good &= is_slope(role->slope, steps[i], vertical ? d.dy : d.dx);
    }
    effective += any;
    right += good;
  }
  return effective < 3 ? 0 : 2 * right >= effective ? 2 : 1;
}

vcs_status_t vcs_annotation_audit(const vcs_cart_t *cart, const vcs_annotation_t *annotation,
                                  const vcs_annotate_options_t *given, vcs_audit_t *audits, int32_t capacity,
                                  int32_t *count, vcs_error_t *error) {
  vcs_annotate_options_t o;
  work_t w = {.cart = cart};
  if (error) error->message[0] = 0;
  vcs_status_t taken = VCS_OPTIONS_TAKE(vcs_annotate_options_t, &o, given, error);
  if (taken) return taken;
  if (!o.seeds) o.seeds = 4;
  if (!o.depths) o.depths = 7;
  if (!o.seed) o.seed = 1001; /* plays that vcs_annotate does not make */
  *count = 0;
  bench_t *b = malloc(sizeof *b);
  vcs_status_t status = b ? play(&w, o.seed, o.seeds, o.depths, error) : vcs_no_memory(error);
  for (int32_t i = 0; i < w.count && status == VCS_OK; i++) {
    int32_t n = 0;
    run_base(cart, w.states[i].machine, b);
    for (int byte = 0; byte < BYTES; byte++) {
      for (int r = 0; r < annotation->ram[byte].count; r++) {
        const vcs_role_t *role = &annotation->ram[byte].roles[r];
        if (role->role > VCS_ROLE_Y || n >= capacity) continue;
        if (i == 0) audits[n] = (vcs_audit_t){byte, role->role, 0, 0};
        const int verdict = try_role(cart, &w.states[i], byte, role, b);
        audits[n].effective += verdict > 0;
        audits[n].right += verdict == 2;
        n++;
      }
    }
    *count = n;
  }
  free_work(&w);
  free(b);
  return status;
}
