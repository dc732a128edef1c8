/* annotate_play.c: makes random plays and chooses the moments of them that are studied (annotate_play.h).
 *
 * A byte has no effect while its object is not there: the second missile, the sixth asteroid, the bear that comes in
 * the third minute. So the plays are long, some of them press the button often, and rare moments are preferred: a
 * moment has traits, which are the bytes that have just changed and the bytes with an unusual value, and it is worth
 * more if few chosen moments have these traits.
 */
#include "study/annotate_play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/splitmix.h"
#include "host/progress.h"
#include "study/internal.h"

enum {
  PLAY_FRAMES = 12000,
  STRIDE = 17,  /* frames between moments that may be chosen; odd, because games draw things in turns */
  RECENT = 16,  /* frames after a change in which a byte "has just changed" */
  ENOUGH = 8,   /* moments with each trait: more are worth nothing */
  TRAITS = 256, /* of a moment: 128 bytes that have just changed, 128 that have an unusual value */
  STYLES = 3,
  SELDOM = 100,         /* changes in all plays */
  VARIETY = 24,         /* evenly spaced moments with one value */
  VALUES = 2,           /* values to which each byte is set, ... */
  UNUSUAL_FRAMES = 204, /* ... and frames that are played after it */
};

/* ---- Players ----------------------------------------------------------------------------------------------------- */

/* Three styles: the records' stream of actions, actions that are held longer, and a button that is pressed again and
 * again. */
typedef struct {
  vcs_stream_t stream;
  uint64_t random;
  int style, hold, action;
} player_t;

static void player_start(player_t *p, uint64_t seed, int style) {
  *p = (player_t){.random = seed, .style = style};
  vcs_stream_start(&p->stream, seed);
}

static int player_next(player_t *p, int frame) {
  if (p->style == 0) return vcs_stream_next(&p->stream);
  if (p->hold-- <= 0) {
    const uint64_t z = vcs_splitmix64(&p->random);
    p->action = (int)(z % 9);
    if (p->action) p->action++; /* NOOP, or one of eight directions */
    p->hold = 4 + (int)((z >> 32) % (p->style == 1 ? 40 : 16));
    if (p->style == 1 && (z >> 16 & 1)) return p->action = p->action ? p->action + 8 : VCS_FIRE;
  }
  if (p->style == 2 && (frame & 4)) return p->action ? p->action + 8 : VCS_FIRE;
  return p->action;
}

/* ---- Plays ------------------------------------------------------------------------------------------------------- */

/* Adds the present moment to a list, which has space for it. */
static vcs_status_t keep(vcs_moment_t *list, int32_t *count, const vcs_env_t *env, int set, vcs_error_t *error) {
  const size_t size = vcs_state_size(vcs_env_cart(env));
  uint8_t *machine = malloc((size + 7) & ~(size_t)7);
  if (!machine) return vcs_no_memory(error);
  memcpy(machine, env->m, size);
  list[(*count)++] = (vcs_moment_t){machine, env->play, (int16_t)set, false};
  return VCS_OK;
}

/* Counts the bytes that a frame has changed, and keeps the moment after it for bytes that have changed seldom so far.
 */
static vcs_status_t keep_changes(vcs_plays_t *p, const uint8_t *before, const vcs_env_t *env, vcs_error_t *error) {
  for (int byte = 0; byte < VCS_RAM_SIZE; byte++) {
    if (env->m->ram[byte] == before[byte]) continue;
    p->changed[byte].changes++;
    if (p->changed[byte].count == VCS_CHANGES_KEPT) continue;
    const vcs_status_t status = keep(p->changed[byte].moment, &p->changed[byte].count, env, -1, error);
    if (status) return status;
  }
  return VCS_OK;
}

static int depth_at(int k) { return 40 + 80 * k + 60 * k * k; }

/* Whether a play stops at a frame. */
static bool stops(int play, int frame, int depths) {
  if (!depths) return frame % STRIDE == STRIDE - 1;
  for (int k = 0; k < depths; k++) {
    if (frame == depth_at(k) + 7 * play % 5) return true;
  }
  return false;
}

/* Plays, and keeps the moments at `depths` times, or with 0 one in STRIDE. */
static vcs_status_t make_plays(vcs_plays_t *p, const vcs_cart_t *cart, uint64_t seed, int plays, int frames, int depths,
                               vcs_error_t *error) {
  const size_t most = (size_t)plays * (size_t)(depths ? depths : frames / STRIDE + 1);
  vcs_env_t *env;
  vcs_status_t status = vcs_env_create(cart, &env, error);
  if (status) return status;
  *p = (vcs_plays_t){.code = env->code, .plays = plays, .frames = frames};
  p->pool = calloc(most, sizeof *p->pool);
  p->ram = malloc((size_t)plays * (size_t)frames * VCS_RAM_SIZE);
  p->changed = calloc(VCS_RAM_SIZE, sizeof *p->changed);
  if (!p->pool || !p->ram || !p->changed) status = vcs_no_memory(error);
  vcs_env_set_drawing(env, 0);
  for (int play = 0; play < plays && status == VCS_OK; play++) {
    player_t player;
    player_start(&player, seed + (uint64_t)play, depths ? 0 : play % STYLES);
    vcs_env_reset(env);
    for (int i = 0; i < frames && status == VCS_OK; i++) {
      uint8_t before[VCS_RAM_SIZE];
      if (vcs_env_over(env)) vcs_env_reset(env);
      memcpy(before, env->m->ram, VCS_RAM_SIZE);
      vcs_env_act_on(env, player_next(&player, i), VCS_NOOP);
      memcpy(p->ram + ((size_t)play * (size_t)frames + (size_t)i) * VCS_RAM_SIZE, env->m->ram, VCS_RAM_SIZE);
      status = vcs_interrupted() ? vcs_cancelled(error) : keep_changes(p, before, env, error);
      if (stops(play, i, depths) && status == VCS_OK) status = keep(p->pool, &p->all, env, -1, error);
    }
  }
  vcs_env_free(env);
  return status;
}

/* Makes the marked moments of the pool the chosen ones. */
static vcs_status_t list_chosen(vcs_plays_t *p, vcs_error_t *error) {
  p->moments = calloc((size_t)p->all, sizeof *p->moments);
  if (!p->moments) return vcs_no_memory(error);
  for (int32_t i = 0; i < p->all; i++) {
    if (p->pool[i].chosen) p->moments[p->count++] = p->pool[i];
  }
  return VCS_OK;
}

vcs_status_t vcs_plays_stop(vcs_plays_t *p, const vcs_cart_t *cart, uint64_t seed, int plays, int depths,
                            vcs_error_t *error) {
  const vcs_status_t status = make_plays(p, cart, seed, plays, depth_at(depths - 1) + 6, depths, error);
  if (status) return status;
  for (int32_t i = 0; i < p->all; i++) p->pool[i].chosen = true;
  return list_chosen(p, error);
}

vcs_status_t vcs_plays_disturb(vcs_plays_t *p, const vcs_cart_t *cart, uint64_t seed, vcs_error_t *error) {
  vcs_env_t *env;
  vcs_status_t status = vcs_env_create(cart, &env, error);
  if (status) return status;
  p->unusual = calloc((size_t)VCS_RAM_SIZE * VALUES * (UNUSUAL_FRAMES / STRIDE), sizeof *p->unusual);
  if (!p->unusual) status = vcs_no_memory(error);
  vcs_env_set_drawing(env, 0);
  vcs_env_reset(env);
  for (int i = 0; i < VCS_RAM_SIZE * VALUES && status == VCS_OK; i++) {
    const int byte = i / VALUES;
    const uint64_t z = vcs_splitmix64(&seed);
    const vcs_moment_t *moment = &p->pool[z % (uint64_t)p->all];
    player_t player;
    player_start(&player, z, i % STYLES);
    memcpy(env->m, moment->machine, vcs_state_size(cart));
    env->play = moment->play;
    env->m->ram[byte] = (uint8_t)(i % VALUES ? z >> 32 : env->m->ram[byte] + 1 + (z >> 40) % 16);
    if (vcs_interrupted()) status = vcs_cancelled(error);
    for (int frame = 0; frame < UNUSUAL_FRAMES && status == VCS_OK && !vcs_env_over(env); frame++) {
      vcs_env_act_on(env, player_next(&player, frame), VCS_NOOP);
      if (stops(0, frame, 0)) status = keep(p->unusual, &p->unusual_count, env, byte, error);
    }
  }
  vcs_env_free(env);
  return status;
}

static void free_moments(vcs_moment_t *list, int32_t count) {
  for (int32_t i = 0; i < count; i++) free(list[i].machine);
  free(list);
}

void vcs_plays_free(vcs_plays_t *p) {
  free_moments(p->pool, p->all);
  free_moments(p->unusual, p->unusual_count);
  for (int byte = 0; p->changed && byte < VCS_RAM_SIZE; byte++) {
    for (int32_t i = 0; i < p->changed[byte].count; i++) free(p->changed[byte].moment[i].machine);
  }
  free(p->changed);
  free(p->moments);
  free(p->ram);
}

/* ---- Choice of moments ------------------------------------------------------------------------------------------- */

/* The commonest value of each byte. */
static void find_usual(const vcs_plays_t *p, uint8_t usual[VCS_RAM_SIZE]) {
  const size_t frames = (size_t)p->plays * (size_t)p->frames;
  for (int byte = 0; byte < VCS_RAM_SIZE; byte++) {
    uint32_t counts[256] = {0};
    for (size_t i = 0; i < frames; i++) counts[p->ram[i * VCS_RAM_SIZE + (size_t)byte]]++;
    usual[byte] = 0;
    for (int v = 1; v < 256; v++) {
      if (counts[v] > counts[usual[byte]]) usual[byte] = (uint8_t)v;
    }
  }
}

/* The traits of the moment after frame `at` of all plays. */
static void find_traits(const vcs_plays_t *p, size_t at, const uint8_t usual[VCS_RAM_SIZE], uint8_t traits[TRAITS]) {
  const uint8_t *ram = p->ram + at * VCS_RAM_SIZE;
  for (int byte = 0; byte < VCS_RAM_SIZE; byte++) {
    traits[byte] = 0;
    for (int back = 1; back <= RECENT && !traits[byte]; back++)
      traits[byte] = ram[byte - back * VCS_RAM_SIZE] != ram[byte];
    traits[VCS_RAM_SIZE + byte] = ram[byte] != usual[byte];
  }
}

static void take(const uint8_t *traits, int counts[TRAITS]) {
  for (int k = 0; k < TRAITS; k++) counts[k] += traits[k];
}

/* Marks `count` of the moments: first evenly spaced ones, then repeatedly the one whose traits add most. */
static void mark(vcs_plays_t *p, const uint8_t *traits, int count) {
  int counts[TRAITS] = {0}, even = count / 2;
  for (int i = 0; i < even; i++) {
    const int at = (int)((int64_t)(2 * i + 1) * p->all / (2 * even));
    p->pool[at].chosen = true;
    take(traits + (size_t)at * TRAITS, counts);
  }
  for (int n = even; n < count && !vcs_interrupted(); n++) {
    float worth[TRAITS], most = -1;
    int best = 0;
    for (int k = 0; k < TRAITS; k++) worth[k] = counts[k] < ENOUGH ? 1 / (float)((counts[k] + 1) * (counts[k] + 1)) : 0;
    for (int i = 0; i < p->all; i++) {
      float gain = 0;
      if (p->pool[i].chosen) continue;
      for (int k = 0; k < TRAITS; k++) gain += traits[(size_t)i * TRAITS + (size_t)k] ? worth[k] : 0;
      if (gain <= most) continue;
      most = gain;
      best = i;
    }
    p->pool[best].chosen = true;
    take(traits + (size_t)best * TRAITS, counts);
  }
}

vcs_status_t vcs_plays_choose(vcs_plays_t *p, const vcs_cart_t *cart, uint64_t seed, int plays, int count,
                              vcs_error_t *error) {
  vcs_status_t status = make_plays(p, cart, seed, plays, PLAY_FRAMES, 0, error);
  if (status) return status;
  uint8_t usual[VCS_RAM_SIZE], *traits = calloc((size_t)p->all, TRAITS);
  if (!traits) return vcs_no_memory(error);
  const int each = p->all / plays;
  find_usual(p, usual);
  for (int i = 0; i < p->all; i++) {
    const size_t frame = (size_t)(i / each) * PLAY_FRAMES + (size_t)(i % each) * STRIDE + STRIDE - 1;
    find_traits(p, frame, usual, traits + (size_t)i * TRAITS);
  }
  mark(p, traits, count < p->all ? count : p->all);
  free(traits);
  return list_chosen(p, error);
}

uint8_t vcs_moment_value(const vcs_moment_t *moment, int byte) {
  return ((const vcs_t *)(const void *)moment->machine)->ram[byte];
}

/* Whether a moment can be chosen for a byte: it is not chosen yet, and the byte was not set before it. */
static bool is_left(const vcs_moment_t *moment, int byte) { return !moment->chosen && moment->set != byte; }

/* Returns the moment with number `rank` among the moments of a list that have a value and can be chosen. */
static const vcs_moment_t *find_moment(const vcs_moment_t *list, int32_t count, int byte, int value, int rank) {
  for (int32_t i = 0; i < count; i++) {
    if (is_left(&list[i], byte) && vcs_moment_value(&list[i], byte) == value && rank-- == 0) return &list[i];
  }
  return NULL;
}

/* Counts by value of a byte the moments of a list that can still be chosen. */
static void count_left(const vcs_moment_t *list, int32_t count, int byte, int having[256]) {
  for (int v = 0; v < 256; v++) having[v] = 0;
  for (int32_t i = 0; i < count; i++) having[vcs_moment_value(&list[i], byte)] += is_left(&list[i], byte);
}

/* Chooses up to `count` moments of a list, one for each value that has more than `level` moments. Sets *any to whether
 * there is such a value. */
static int vary(const vcs_moment_t *list, int32_t all, int byte, const int having[256], int level, int count,
                const vcs_moment_t **moments, bool *any) {
  int values[256], left = 0;
  for (int v = 0; v < 256; v++) {
    if (having[v] > level) values[left++] = v;
  }
  const int take = left < count ? left : count;
  for (int i = 0; i < take; i++) {
    const int v = values[i * left / take], levels = having[v] < VARIETY ? having[v] : VARIETY;
    moments[i] = find_moment(list, all, byte, v, (int)((int64_t)(level % levels) * having[v] / levels));
  }
  *any |= left > 0;
  return take;
}

int vcs_plays_vary(const vcs_plays_t *p, int byte, int count, const vcs_moment_t **moments) {
  int usual[256], unusual[256], most = 0, found = 0;
  count_left(p->pool, p->all, byte, usual);
  count_left(p->unusual, p->unusual_count, byte, unusual);
  for (int v = 1; v < 256; v++) {
    if (usual[v] > usual[most]) most = v;
  }
  for (int v = 0; v < 256; v++) {
    if (usual[v]) unusual[v] = 0; /* the plays have this value, too */
  }
  usual[most] = 0;
  for (int32_t i = 0; i < p->changed[byte].count && p->changed[byte].changes <= SELDOM && found < count; i++) {
    if (vcs_moment_value(&p->changed[byte].moment[i], byte) != most) moments[found++] = &p->changed[byte].moment[i];
  }
  bool any = true;
  for (int level = 0; found < count && any; level++) {
    any = false;
    found += vary(p->pool, p->all, byte, usual, level, count - found, moments + found, &any);
    found += vary(p->unusual, p->unusual_count, byte, unusual, level, count - found, moments + found, &any);
  }
  return found;
}

/* ---- Habits ------------------------------------------------------------------------------------------------------ */

vcs_habit_t vcs_plays_habit(const vcs_plays_t *p, int byte) {
  vcs_habit_t h = {0};
  int steps[256] = {0}, intervals[256] = {0};
  bool seen[256] = {false};
  for (int play = 0; play < p->plays; play++) {
    const uint8_t *ram = p->ram + (size_t)play * (size_t)p->frames * VCS_RAM_SIZE + byte;
    int last = 0;
    for (int i = 0; i < p->frames; i++) {
      const uint8_t now = ram[(size_t)i * VCS_RAM_SIZE];
      if (!seen[now]) h.values++;
      seen[now] = true;
      h.frames++;
      if (i == 0) continue;
      const uint8_t step = (uint8_t)(now - ram[(size_t)(i - 1) * VCS_RAM_SIZE]);
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
