/* test_concurrent.c: flips that share one walk have the results of flips that are run again, byte for byte.
 *
 * vcs_truth finds every row twice, by the walk and by running each flip again, and the two must be equal: outcomes,
 * counts, scores, both CRCs; so must maps. The machines of the walk are compared, too: after every frame, the
 * machine that the walk would rebuild for a flip that is waiting must be equal to one that has been run with that flip.
 *
 *   test_concurrent                  our cartridges, fuzzed ones, and a few games whose images are in DIFFVCS_ROMS
 *   test_concurrent games [NAME...]  every game there: all bits of RAM, horizons 1, 2, 4, 8, 15; inputs of every frame;
 *                                    every bit of the state; 512 bits of ROM; pairs
 *   test_concurrent fuzz FLIPS SEED  random flips of random places on random programs of all bank schemes
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "brief.h"
#include "carts.h"
#include "core/splitmix.h"
#include "grad/concurrent.h"
#include "host/progress.h"
#include "ragged.h"
#include "need.h"

static uint64_t random_state = 1;

static uint32_t below(uint32_t n) { return (uint32_t)(vcs_splitmix64(&random_state) % n); }

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Fixtures -----------------------------------------------------------------------------------------------------
 */

enum { FRAMES_MOST = 15 };
static const int32_t horizons[] = {1, 2, 4, 8, 15};
enum { HORIZONS = sizeof horizons / sizeof *horizons };

typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_t *start;
  uint8_t *frames;
  vcs_controls_t controls[FRAMES_MOST];
  vcs_run_t run;
  double walk_seconds, rerun_seconds;
  uint64_t rows, flips;
  uint64_t walks, refused; /* walks, and those that left the base at a frame that cannot be recorded */
} fixture_t;

/* A game some way into a random play. */
static bool open_fixture(fixture_t *fixture, const void *image, size_t size, const vcs_cart_options_t *options,
                         int played) {
  *fixture = (fixture_t){0};
  if (vcs_cart_load(image, size, options, &fixture->cart, NULL)) return false;
  fixture->start = calloc(1, vcs_state_size(fixture->cart));
  fixture->frames = calloc(2, VCS_FRAME_BYTES);
  assert_non_null(fixture->start);
  assert_non_null(fixture->frames);
  if (vcs_env_create(fixture->cart, &fixture->env, NULL)) fixture->env = NULL;
  if (fixture->env && fixture->env->game) {
    for (int i = 0; i < played; i++) vcs_env_act_on(fixture->env, (int)below(VCS_ACTIONS), VCS_NOOP);
    vcs_run_idle(fixture->env, FRAMES_MOST, fixture->controls, &fixture->run);
  } else {
    if (fixture->env) vcs_env_free(fixture->env);
    fixture->env = NULL;
    vcs_boot(fixture->cart, fixture->start, fixture->frames);
    for (int i = 0; i < played; i++) {
      vcs_controls_t held = {.held = {(uint8_t)below(32), (uint8_t)below(32)}, .console = (uint8_t)(below(16) == 0)};
      vcs_control(fixture->cart, fixture->start, &held);
      vcs_frame(fixture->cart, fixture->start, fixture->frames);
    }
    fixture->run = (vcs_run_t){fixture->cart, fixture->start, fixture->frames, fixture->controls, FRAMES_MOST};
  }
  for (int i = 0; i < FRAMES_MOST; i++) fixture->controls[i].held[0] = (uint8_t)(i / 4 % 2 ? below(32) : 0);
  return true;
}

static void close_fixture(fixture_t *fixture) {
  vcs_env_free(fixture->env);
  free(fixture->start);
  free(fixture->frames);
  vcs_cart_free(fixture->cart);
}

static bool open_game(fixture_t *fixture, const char *name, int played) {
  size_t size;
  uint8_t *image = read_game(name, &size);
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .name = name};
  const bool opened = image && open_fixture(fixture, image, size, &options, played);
  free(image);
  return opened;
}

/* ---- Two engines, one truth -------------------------------------------------------------------------------------- */

static bool same_row(const vcs_truth_t *one, const vcs_truth_t *other) {
  return one->outcome == other->outcome && one->pixels == other->pixels && one->ram_bytes == other->ram_bytes &&
         one->score == other->score && one->screen_crc == other->screen_crc && one->ram_crc == other->ram_crc;
}

static void tell(const char *what, const vcs_place_t *place, int horizon, const vcs_truth_t *walked,
                 const vcs_truth_t *again) {
  fprintf(stderr,
          "%s: kind %d index %u bit %d frame %d, horizon %d: walk %d %d %d %d %08x %08x, again %d %d %d %d %08x %08x\n",
          what, place->kind, place->index, place->bit, place->frame, horizon, walked->outcome, walked->pixels,
          walked->ram_bytes, walked->score, walked->screen_crc, walked->ram_crc, again->outcome, again->pixels,
          again->ram_bytes, again->score, again->screen_crc, again->ram_crc);
}

typedef enum { SINGLES, SETS, PAIRS } shape_t;

static vcs_status_t ask(fixture_t *fixture, shape_t shape, int engine, int threads, const vcs_place_t *places,
                        size_t count, size_t together, const size_t (*pairs)[2], size_t items, vcs_truth_t *rows,
                        double *took) {
  const vcs_truth_options_t options = {
      .horizons = horizons, .horizon_count = HORIZONS, .env = fixture->env, .threads = threads, .engine = engine};
  const vcs_truth_results_t results = {.rows = rows};
  size_t *ends = malloc((items + 1) * sizeof *ends);
  for (size_t i = 0; i < items; i++) ends[i] = (i + 1) * together;
  const double begin = seconds();
  vcs_status_t status = shape == SINGLES ? vcs_truth(&fixture->run, &options, places, count, &results, NULL)
                        : shape == SETS
                            ? vcs_truth_sets(&fixture->run, &options, places, ends, items, &results, NULL)
                            : vcs_truth_pairs(&fixture->run, &options, places, count, pairs, items, &results, NULL);
  *took += seconds() - begin;
  free(ends);
  return status;
}

/* The number of rows that differ. */
static size_t differ(fixture_t *fixture, const char *what, shape_t shape, const vcs_place_t *places, size_t count,
                     size_t together, const size_t (*pairs)[2], size_t items) {
  vcs_truth_t *walked = calloc(items * HORIZONS, sizeof *walked), *again = calloc(items * HORIZONS, sizeof *again);
  size_t different = 0;
  assert_non_null(walked);
  assert_non_null(again);
  const vcs_status_t first =
      ask(fixture, shape, VCS_TRUTH_WALK, 1, places, count, together, pairs, items, walked, &fixture->walk_seconds);
  const vcs_status_t second =
      ask(fixture, shape, VCS_TRUTH_RERUN, 1, places, count, together, pairs, items, again, &fixture->rerun_seconds);
  assert_int_equal(first, second);
  for (size_t i = 0; first == VCS_OK && i < items * HORIZONS; i++) {
    if (same_row(&walked[i], &again[i])) continue;
    const size_t item = i / HORIZONS;
    if (different++ < 4) {
      tell(what, &places[shape == PAIRS ? pairs[item][0] : item * together], horizons[i % HORIZONS], &walked[i],
           &again[i]);
    }
  }
  fixture->rows += items * HORIZONS;
  fixture->flips += items;
  free(walked);
  free(again);
  return different;
}

static size_t differ_singles(fixture_t *fixture, const char *what, const vcs_place_t *places, size_t count) {
  return differ(fixture, what, SINGLES, places, count, 1, NULL, count);
}

/* ---- The walk's own machines ------------------------------------------------------------------------------------- */

typedef struct {
  const fixture_t *fixture;
  const vcs_place_t *places;
  vcs_t **machines; /* really run */
  int32_t *frames;
  uint8_t *rom;
  vcs_cart_t cart;
  size_t different, compared;
} inspector_t;

static void ignore(void *context, size_t flip, int horizon, const vcs_sight_t *sight) {
  (void)context, (void)flip, (void)horizon, (void)sight;
}

/* What the next frame sees of a machine (rerun.c). */
static void bare(const vcs_cart_t *cart, vcs_t *m) {
  vcs_frame_begin(cart, m);
  m->instructions = m->frames = m->rng_draws = 0;
  m->bus = 0;
  if (!m->timer_was_read) m->timer_read_cycle = 0;
  if (!cart->colour_loss) m->scanlines = 0;
  memset(m->audio, 0, sizeof m->audio);
  memset(m->audio_divider, 0, sizeof m->audio_divider);
  memset(m->audio_five, 0, sizeof m->audio_five);
  memset(m->audio_four, 0, sizeof m->audio_four);
}

static void inspect(void *context, size_t flip, int32_t frames, const vcs_t *rebuilt, uint16_t collisions) {
  inspector_t *inspector = context;
  const fixture_t *fixture = inspector->fixture;
  const vcs_place_t *place = &inspector->places[flip];
  const size_t size = vcs_state_size(fixture->cart);
  vcs_t *m = inspector->machines[flip];
  if (frames < inspector->frames[flip]) return; /* the flip is walked once more */
  if (place->kind == VCS_PLACE_ROM) inspector->rom[place->index] ^= (uint8_t)(1 << place->bit);
  for (; inspector->frames[flip] < frames; inspector->frames[flip]++) {
    vcs_controls_t controls = fixture->controls[inspector->frames[flip]];
    if (place->kind == VCS_PLACE_INPUT && place->frame == inspector->frames[flip]) {
      vcs_place_flip_input(&controls, place);
    }
    vcs_control(&inspector->cart, m, &controls);
    vcs_frame(&inspector->cart, m, NULL);
  }
  if (place->kind == VCS_PLACE_ROM) inspector->rom[place->index] ^= (uint8_t)(1 << place->bit);
  vcs_t *one = malloc(size), *other = malloc(size);
  memcpy(one, m, size);
  memcpy(other, rebuilt, size);
  bare(fixture->cart, one);
  bare(fixture->cart, other);
  one->collisions &= collisions;
  other->collisions &= collisions;
  inspector->compared++;
  for (size_t i = 0; i < size; i++) {
    if (((uint8_t *)one)[i] == ((uint8_t *)other)[i]) continue;
    if (inspector->different++ < 8) {
      fprintf(stderr, "machine: kind %d index %u bit %d frame %d, after %d frames byte %zu is %02x, not %02x\n",
              place->kind, place->index, place->bit, place->frame, frames, i, ((uint8_t *)other)[i],
              ((uint8_t *)one)[i]);
    }
    break;
  }
  free(one);
  free(other);
}

/* The number of machines that are not what they should be. */
static size_t inspect_machines(fixture_t *fixture, const vcs_place_t *places, size_t count) {
  static const int32_t end = FRAMES_MOST;
  const size_t size = vcs_state_size(fixture->cart);
  const vcs_view_t view = {.horizons = &end, .horizon_count = 1, .env = fixture->env, .pictures = true, .rom = true};
  vcs_base_t base;
  vcs_runner_t runner;
  bool possible, *each = calloc(count, sizeof *each);
  inspector_t inspector = {.fixture = fixture, .places = places, .cart = *fixture->cart};
  inspector.machines = calloc(count, sizeof *inspector.machines);
  inspector.frames = calloc(count, sizeof *inspector.frames);
  inspector.rom = malloc(fixture->cart->rom_size);
  memcpy(inspector.rom, fixture->cart->rom, fixture->cart->rom_size);
  inspector.cart.rom = inspector.rom;
  inspector.cart.code = NULL;
  vcs_flip_t *flips = calloc(count, sizeof *flips);
  assert_int_equal(vcs_base_create(&base, &fixture->run, &view, NULL), VCS_OK);
  assert_int_equal(vcs_base_record(&base, &possible, NULL), VCS_OK);
  assert_int_equal(vcs_runner_create(&runner, &base, NULL), VCS_OK);
  vcs_concurrent_t *walk = vcs_concurrent_create(&base);
  assert_non_null(walk);
  for (size_t i = 0; i < count; i++) {
    flips[i] = (vcs_flip_t){&places[i], 1};
    inspector.machines[i] = malloc(size);
    memcpy(inspector.machines[i], fixture->run.start, size);
    if (places[i].kind == VCS_PLACE_STATE) {
      ((uint8_t *)inspector.machines[i])[places[i].index] ^= (uint8_t)(1 << places[i].bit);
    }
  }
  const vcs_concurrent_callbacks_t callbacks = {.see = ignore, .context = &inspector, .inspect = inspect};
  for (size_t i = 0; possible && i < count; i += VCS_CONCURRENT_MOST) {
    const size_t left = count - i;
    inspector_t part = inspector;
    part.places += i;
    part.machines += i;
    part.frames += i;
    vcs_concurrent_callbacks_t here = callbacks;
    here.context = &part;
    vcs_concurrent_walk(walk, &base, &runner, flips + i, left < VCS_CONCURRENT_MOST ? left : VCS_CONCURRENT_MOST, &here,
                        each);
    inspector.different = part.different;
    inspector.compared = part.compared;
  }
  fixture->walks += vcs_concurrent_counts(walk)->walks;
  fixture->refused += vcs_concurrent_counts(walk)->refused;
  for (size_t i = 0; i < count; i++) free(inspector.machines[i]);
  vcs_concurrent_free(walk);
  vcs_runner_free(&runner);
  vcs_base_free(&base);
  free(inspector.machines);
  free(inspector.frames);
  free(inspector.rom);
  free(flips);
  free(each);
  return inspector.different;
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

static vcs_place_t any_place(const fixture_t *fixture) {
  const uint8_t bit = (uint8_t)below(8);
  const uint32_t size = (uint32_t)vcs_state_size(fixture->cart), ram = (uint32_t)offsetof(vcs_t, ram);
  const vcs_place_t kinds[] = {
      {VCS_PLACE_STATE, bit, 0, ram + below(128)},
      {VCS_PLACE_STATE, bit, 0, below(size)},
      {VCS_PLACE_STATE, bit, 0, below((uint32_t)offsetof(vcs_t, cart_ram))},
      {VCS_PLACE_ROM, bit, 0, below(fixture->cart->rom_size)},
      {VCS_PLACE_INPUT, 0, (uint16_t)below(FRAMES_MOST), below(VCS_INPUTS)},
  };
  return kinds[below(5)];
}

/* Bytes of ROM near where the program is, as well as anywhere. */
static void rom_places(const fixture_t *fixture, vcs_place_t *places, size_t count) {
  const uint32_t size = fixture->cart->rom_size;
  for (size_t i = 0; i < count; i++) {
    places[i] = (vcs_place_t){VCS_PLACE_ROM, (uint8_t)below(8), 0, below(size)};
  }
}

static size_t ram_places(vcs_place_t *places) {
  for (uint32_t i = 0; i < 1024; i++) {
    places[i] = (vcs_place_t){VCS_PLACE_STATE, (uint8_t)(i % 8), 0, (uint32_t)offsetof(vcs_t, ram) + i / 8};
  }
  return 1024;
}

static size_t input_places(vcs_place_t *places) {
  size_t count = 0;
  for (uint16_t frame = 0; frame < FRAMES_MOST; frame++) {
    for (uint32_t input = 0; input < VCS_INPUTS; input++) {
      places[count++] = (vcs_place_t){VCS_PLACE_INPUT, 0, frame, input};
    }
  }
  return count;
}

static size_t state_places(vcs_place_t *places) {
  size_t count = 0;
  for (uint32_t i = 0; i < offsetof(vcs_t, cart_ram); i++) {
    for (uint8_t bit = 0; bit < 8; bit++) places[count++] = (vcs_place_t){VCS_PLACE_STATE, bit, 0, i};
  }
  return count;
}

enum { PLACES_MOST = 8 * 4096 };

/* ---- Sweeps ------------------------------------------------------------------------------------------------------ */

static size_t sweep_game(fixture_t *fixture) {
  static vcs_place_t places[PLACES_MOST];
  size_t different = differ_singles(fixture, "ram", places, ram_places(places));
  different += differ_singles(fixture, "input", places, input_places(places));
  different += differ_singles(fixture, "state", places, state_places(places));
  rom_places(fixture, places, 512);
  different += differ_singles(fixture, "rom", places, 512);
  enum { TWO = 256 };
  for (size_t i = 0; i < 2 * TWO; i++) places[i] = any_place(fixture);
  different += differ(fixture, "sets", SETS, places, 2 * TWO, 2, NULL, TWO);
  size_t pairs[TWO][2], pair_count = 0;
  for (size_t i = 0; i < 64; i++) places[i] = any_place(fixture);
  while (pair_count < TWO) {
    const size_t a = below(64), b = below(64);
    if (a == b) continue;
    pairs[pair_count][0] = a, pairs[pair_count++][1] = b;
  }
  different += differ(fixture, "pairs", PAIRS, places, 64, 1, (const size_t(*)[2])pairs, TWO);
  return different;
}

static int by_name(const void *one, const void *other) {
  return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static size_t list_games(char *names[], size_t most) {
  const char *folder = rom_folder();
  DIR *directory = folder ? opendir(folder) : NULL;
  size_t count = 0;
  for (struct dirent *entry; directory && (entry = readdir(directory)) && count < most;) {
    const size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 4, ".bin") != 0) continue;
    names[count] = calloc(1, length);
    memcpy(names[count++], entry->d_name, length - 4);
  }
  if (directory) closedir(directory);
  qsort(names, count, sizeof *names, by_name);
  return count;
}

static int sweep_games(int argc, char **argv) {
  static char *names[256];
  size_t different = 0, count = argc ? (size_t)argc : list_games(names, 256), done = 0;
  for (size_t i = 0; i < count; i++) {
    const char *name = argc ? argv[i] : names[i];
    fixture_t fixture;
    random_state = 1 + i;
    if (!open_game(&fixture, name, 300 + (int)below(300))) {
      fprintf(stderr, "%s: not found\n", name);
      continue;
    }
    const size_t here = sweep_game(&fixture);
    printf("%s: %llu flips, %llu rows, %zu differ; %.2f s in walks, %.2f s run again\n", name,
           (unsigned long long)fixture.flips, (unsigned long long)fixture.rows, here, fixture.walk_seconds,
           fixture.rerun_seconds);
    fflush(stdout);
    different += here;
    done++;
    close_fixture(&fixture);
  }
  printf("%zu games, %zu rows differ\n", done, different);
  return done == 0 ? need_exit("test_concurrent games", "roms", "no ROM images (set DIFFVCS_ROMS)") : different != 0;
}

/* ---- Programs that are no games ---------------------------------------------------------------------------------- */

static const size_t sizes[VCS_SCHEME_COUNT] = {4096, 2048,  4096, 8192, 16384, 32768, 8192, 16384, 32768, 8192,
                                               8192, 10240, 8192, 8192, 16384, 12288, 8192, 2048,  8192,  131072};

/* Lines of the picture with something to see in each, and between frames a call into noise that comes back now and
 * then; most programs end their frames in time, as games do. */
static void make_image(uint8_t *image, size_t size) {
  static const uint8_t loop[] = {0xA9, 0x02, 0x85, 0x00,                         /* LDA #2, STA VSYNC */
                                 0x85, 0x02, 0x85, 0x02, 0x85, 0x02,             /* STA WSYNC three times */
                                 0xA9, 0x00, 0x85, 0x00, 0x85, 0x01,             /* LDA #0, STA VSYNC, STA VBLANK */
                                 0xA2, 0xFF, 0x9A, 0xA2, 0xF0,                   /* LDX #FF, TXS, LDX #F0 */
                                 0x85, 0x02, 0xB5, 0x80, 0x95, 0x10, 0x85, 0x1B, /* line: WSYNC, LDA 80,X, STA 10,X */
                                 0xB5, 0x81, 0x85, 0x0D, 0xCA, 0xE0, 0x10,       /* LDA 81,X, STA PF0, DEX, CPX #10 */
                                 0xD0, 0xEF,                                     /* BNE line */
                                 0x20, 0x80, 0xF1, 0x4C, 0x00, 0xF1};            /* JSR $F180, JMP $F100 */
  static const uint8_t bodies[][8] = {
      {0xA5, 0x00, 0x85, 0x01, 0xEA}, {0xE6, 0x02, 0xC6, 0x03, 0xEA}, {0xB5, 0x00, 0x95, 0x01, 0xE8},
      {0xA5, 0x30, 0x85, 0x84, 0xEA}, {0xB1, 0x80, 0x85, 0x81, 0xC8}, {0xAD, 0x84, 0x02, 0x85, 0x82},
      {0x8D, 0x96, 0x02, 0xEA, 0xEA}, {0xAD, 0x80, 0x02, 0x45, 0x85}, {0xF0, 0x01, 0xE8, 0x10, 0x01},
      {0x65, 0x86, 0x85, 0x87, 0x4A}, {0x48, 0x8A, 0x68, 0xEA, 0xEA}, {0x85, 0x2A, 0x85, 0x10, 0xEA},
      {0x85, 0x1B, 0x86, 0x1C, 0x84}, {0xD0, 0x02, 0xA9, 0x55, 0x2A}, {0xAD, 0xF9, 0xFF, 0xEA, 0xEA},
      {0x24, 0x02, 0x10, 0x01, 0xE8}, {0x24, 0x07, 0x70, 0x01, 0xC8}, {0x85, 0x2C, 0x85, 0x1B, 0x88},
  };
  for (size_t i = 0; i < size; i++) image[i] = (uint8_t)below(256);
  for (size_t bank = 0; bank + 2048 <= size; bank += size < 4096 ? 2048 : 4096) {
    const size_t length = size - bank < 4096 ? 2048 : 4096;
    uint8_t *at = image + bank + 0x180, *end = image + bank + 0x180 + 5 * (20 + below(150));
    memcpy(image + bank + 0x100, loop, sizeof loop);
    for (; at + 5 <= end && at + 16 < image + bank + length; at += 5) {
      memcpy(at, bodies[below(sizeof bodies / sizeof *bodies)], 5);
      if (below(2)) at[1 + below(3)] ^= (uint8_t)(1u << below(8));
    }
    *at = 0x60; /* RTS */
    for (size_t i = 6; i > 0; i -= 2) {
      image[bank + length - i] = 0;
      image[bank + length - i + 1] = 0xF1;
    }
  }
}

/* Flips that were compared, the rows and machines that differ, and walks: a program that jams or executes the TIA's
 * addresses is left to running again, and there must be few of them. */
typedef struct {
  size_t flips, different;
  uint64_t walks, refused;
} fuzzed_t;

static fuzzed_t fuzz(size_t flips) {
  fuzzed_t found = {0};
  while (found.flips < flips) {
    enum { COUNT = 200 };
    const int scheme = 1 + (int)below(VCS_SCHEME_COUNT - 1);
    const size_t size = sizes[scheme];
    uint8_t *image = malloc(size);
    vcs_place_t places[COUNT];
    fixture_t fixture;
    make_image(image, size);
    const vcs_cart_options_t options = {.profile = below(2) ? VCS_PROFILE_ALE : VCS_PROFILE_XITARI,
                                        .scheme = (vcs_scheme_t)scheme,
                                        .format = below(4) ? VCS_FORMAT_NTSC : VCS_FORMAT_PAL};
    if (open_fixture(&fixture, image, size, &options, (int)below(6))) {
      for (size_t i = 0; i < COUNT; i++) places[i] = any_place(&fixture);
      const size_t singles = differ_singles(&fixture, "fuzz", places, COUNT);
      const size_t sets = differ(&fixture, "fuzz sets", SETS, places, COUNT, 2, NULL, COUNT / 2);
      const size_t machines = inspect_machines(&fixture, places, COUNT);
      if (singles || sets || machines)
        fprintf(stderr, "scheme %d: %zu, %zu, %zu differ\n", scheme, singles, sets, machines);
      found.different += singles + sets + machines;
      found.flips += COUNT + COUNT / 2;
      found.walks += fixture.walks;
      found.refused += fixture.refused;
      close_fixture(&fixture);
    }
    free(image);
  }
  return found;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static bool open_own(fixture_t *fixture, bool ragged, int played) {
  uint8_t image[4096];
  size_t size = sizeof image;
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .format = VCS_FORMAT_NTSC};
  ragged_image(image);
  const uint8_t *from = ragged ? image : vcs_demo_image(&size);
  return open_fixture(fixture, from, size, &options, played);
}

static void test_walk_equals_running_again(void **context) {
  (void)context;
  enum { COUNT = 2000 };
  static vcs_place_t places[COUNT];
  for (int ragged = 0; ragged < 2; ragged++) {
    fixture_t fixture;
    random_state = 5;
    assert_true(open_own(&fixture, ragged, 33));
    const size_t count = (size_t)trials(COUNT, 200);
    for (size_t i = 0; i < count; i++) places[i] = any_place(&fixture);
    assert_int_equal(differ_singles(&fixture, "own", places, count), 0);
    assert_int_equal(differ(&fixture, "own sets", SETS, places, count, 4, NULL, count / 4), 0);
    close_fixture(&fixture);
  }
}

static void test_walk_rebuilds_machines(void **context) {
  (void)context;
  enum { COUNT = 1500 };
  static vcs_place_t places[COUNT];
  fixture_t fixture;
  random_state = 6;
  assert_true(open_own(&fixture, false, 50));
  const size_t count = (size_t)trials(COUNT, 200);
  for (size_t i = 0; i < count; i++) places[i] = any_place(&fixture);
  assert_int_equal(inspect_machines(&fixture, places, count), 0);
  assert_true(fixture.walks > 0);
  assert_int_equal(fixture.refused, 0);
  close_fixture(&fixture);
}

static void test_walk_on_programs_that_are_no_games(void **context) {
  (void)context;
  random_state = 7;
  const fuzzed_t found = fuzz((size_t)trials(12000, 1500));
  assert_int_equal(found.different, 0);
  assert_int_equal(found.refused, 0); /* with this seed */
}

/* Programs of a few lines, each with something that the walk once missed. Their last jump goes to the frame's begin. */
static const struct {
  const char *what;
  uint8_t code[104];
} programs[] = {
    {"PLA with SP = $FF reads undriven bits of the TIA from the byte of RAM at $FF",
     {0x78, 0xD8, 0xA2, 0xFF, 0x9A, 0xA9, 0x00, 0x95, 0x80, 0xCA, 0xD0, 0xFB,             /* clears RAM */
      0xA9, 0x15, 0x85, 0xFF,                                                             /* LDA #$15, STA $FF */
      0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0xA9, 0x00, 0x85, 0x02, 0x85, 0x00, /* frame: VSYNC */
      0xA2, 0xFF, 0x9A, 0x68, 0x85, 0x90,                                                 /* TXS, PLA, STA $90 */
      0xA0, 0xFF, 0x85, 0x02, 0x88, 0xD0, 0xFB, 0x4C, 0x10, 0xF0}},                       /* 255 lines, JMP frame */
    {"a loop of $80 turns, whose time WSYNC absorbs, takes a frame beyond the limit of instructions",
     {0x78, 0xD8, 0xA2, 0xFF, 0x9A, 0xA9, 0x00, 0x85, 0x80,             /* STA $80 */
      0xA6, 0x80, 0xF0, 0x03, 0xCA, 0xD0, 0xFD, 0x85, 0x02,             /* frame: LDX $80, DEX, BNE, WSYNC */
      0xA9, 0x0E, 0x85, 0x09,                                           /* STA COLUBK */
      0xA0, 0x7B, 0xA2, 0x64, 0xCA, 0xD0, 0xFD, 0x88, 0xD0, 0xF8,       /* 123 times 100 turns */
      0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, /* 24,992 instructions in all */
      0xEA, 0xEA, 0xEA, 0xE6, 0x91, 0x85, 0x02, 0x4C, 0x09, 0xF0}},     /* INC $91, WSYNC, JMP frame */
    {"a flip that follows with another Y reads collisions in every line, until it costs too much",
     {0x78, 0xD8, 0xA2, 0xFF, 0x9A, 0xA9, 0x00, 0x95, 0x80, 0xCA, 0xD0, 0xFB,             /* clears RAM */
      0x85, 0x02, 0xA9, 0x00, 0x85, 0x80, 0xA2, 0x05, 0xCA, 0xD0, 0xFD, 0x85, 0x10,       /* RESP0 */
      0xA9, 0x10, 0x85, 0x0D, 0xA9, 0x0E, 0x85, 0x06, 0x85, 0x08,                         /* PF0, colours */
      0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0x85, 0x02,                         /* frame: VSYNC */
      0xA9, 0x00, 0x85, 0x00, 0x85, 0x01, 0xA4, 0x80, 0xA2, 0xFF,                         /* LDY $80, LDX #255 */
      0x85, 0x02, 0xA5, 0x80, 0x85, 0x1B, 0xA9, 0x00, 0xE0, 0x64, 0xD0, 0x02, 0xA9, 0xFF, /* line: GRP0 = $80 */
      0x85, 0x0F, 0x85, 0x0E, 0x85, 0x2C,                                                 /* PF1, PF2, CXCLR */
      0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA,                   /* the beam passes P0 */
      0x24, 0x02, 0x10, 0x02, 0xE6, 0x92,                                                 /* BIT CXP0FB, INC $92 */
      0xCA, 0xD0, 0xD8, 0xA9, 0x00, 0x85, 0x1B, 0x85, 0x02, 0x4C, 0x23, 0xF0}},           /* JMP frame */
    {"a latch of collisions is read in one frame of eight, and never cleared",
     {0x78, 0xD8, 0xA2, 0xFF, 0x9A, 0xA9, 0x00, 0x95, 0x80, 0xCA, 0xD0, 0xFB,             /* clears RAM */
      0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0xA9, 0x00, 0x85, 0x02, 0x85, 0x00, /* frame: VSYNC */
      0xE6, 0x80, 0xA5, 0x80, 0x29, 0x07, 0xD0, 0x06, 0xA5, 0x00, 0x29, 0xC0, 0x85, 0x90, /* CXM0P to $90 */
      0xA0, 0xFF, 0x85, 0x02, 0x88, 0xD0, 0xFB, 0x4C, 0x0C, 0xF0}},                       /* 255 lines, JMP frame */
};

static void test_walk_of_small_programs(void **context) {
  (void)context;
  static vcs_place_t places[PLACES_MOST];
  uint8_t image[4096] = {0};
  for (size_t i = 4092; i < 4096; i++) image[i] = i & 1 ? 0xF0 : 0;
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    memcpy(image, programs[i].code, sizeof programs[i].code);
    for (int played = 20; played < 28; played++) {
      const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .format = VCS_FORMAT_NTSC};
      fixture_t fixture;
      random_state = 5;
      assert_true(open_fixture(&fixture, image, sizeof image, &options, played));
      assert_int_equal(differ_singles(&fixture, programs[i].what, places, state_places(places)), 0);
      close_fixture(&fixture);
    }
  }
}

static void test_walk_of_games(void **context) {
  (void)context;
  static const char *const names[] = {"pong", "space_invaders", "seaquest", "montezuma_revenge"};
  static vcs_place_t places[1024 + 64];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    fixture_t fixture;
    random_state = 8;
    if (!open_game(&fixture, names[i], 300)) {
      NEED_PART("roms", names[i]);
      continue;
    }
    const size_t count = ram_places(places) + 64;
    for (size_t k = 1024; k < count; k++) places[k] = any_place(&fixture);
    const size_t step = (size_t)trials(1, 8);
    size_t kept = 0;
    for (size_t k = 0; k < count; k += step) places[kept++] = places[k];
    assert_int_equal(differ_singles(&fixture, names[i], places, kept), 0);
    close_fixture(&fixture);
  }
}

static void test_walk_does_not_depend_on_threads(void **context) {
  (void)context;
  enum { COUNT = 300 };
  vcs_place_t places[COUNT];
  static vcs_truth_t rows[4][COUNT * HORIZONS];
  fixture_t fixture;
  double took = 0;
  random_state = 9;
  assert_true(open_own(&fixture, false, 40));
  for (size_t i = 0; i < COUNT; i++) places[i] = any_place(&fixture);
  for (int threads = 1; threads <= 4; threads++) {
    assert_int_equal(
        ask(&fixture, SINGLES, VCS_TRUTH_WALK, threads, places, COUNT, 1, NULL, COUNT, rows[threads - 1], &took),
        VCS_OK);
    for (size_t i = 0; i < COUNT * HORIZONS; i++) assert_true(same_row(&rows[0][i], &rows[threads - 1][i]));
  }
  close_fixture(&fixture);
}

/* A call that is stopped lists nothing and adds nothing. */
static void test_an_interrupted_jacobian_is_cancelled(void **context) {
  (void)context;
  enum { COUNT = 50, ROOM = 1 << 16 };
  vcs_place_t places[COUNT];
  static vcs_jacobian_entry_t entries[ROOM];
  uint8_t outcomes[COUNT];
  float adjoints[COUNT] = {0}, ram[1024];
  fixture_t fixture;
  size_t count = 1;
  const vcs_stop_flag_t stop = 1;
  random_state = 11;
  assert_true(open_own(&fixture, false, 40));
  for (size_t i = 0; i < COUNT; i++) places[i] = any_place(&fixture);
  for (int i = 0; i < 1024; i++) ram[i] = 1;
  const vcs_jacobian_options_t options = {.of = VCS_OF_RAM, .threads = 1};
  const vcs_jacobian_outputs_t outputs = {.ram = ram};
  const vcs_stop_flag_t *before = vcs_interrupt_watch(&stop);
  const vcs_status_t listed =
      vcs_jacobian(&fixture.run, &options, places, NULL, COUNT, entries, ROOM, &count, outcomes, NULL);
  const vcs_status_t added = vcs_jacobian_vjp(&fixture.run, &options, places, COUNT, &outputs, adjoints, NULL);
  vcs_interrupt_watch(before);
  assert_int_equal(listed, VCS_CANCELLED);
  assert_int_equal(added, VCS_CANCELLED);
  assert_int_equal(count, 0);
  for (size_t i = 0; i < COUNT; i++) assert_true(adjoints[i] == 0 && outcomes[i] != VCS_TRUTH_RAN);
  close_fixture(&fixture);
}

/* Entries are exactly what rows count; products are those of the maps; too little room is reported. */
static void test_jacobian_has_what_rows_and_maps_have(void **context) {
  (void)context;
  enum { COUNT = 150 };
  vcs_place_t places[COUNT];
  fixture_t fixture;
  float values[768];
  random_state = 10;
  assert_true(open_own(&fixture, false, 60));
  for (size_t i = 0; i < COUNT; i++) places[i] = any_place(&fixture);
  const int32_t channels = vcs_pixel_values(fixture.cart, VCS_VALUES_RGB, values);
  const size_t pixels = (size_t)(VCS_WIDTH * fixture.cart->frame_height), map = pixels * (size_t)channels;
  vcs_truth_t *rows = calloc((size_t)COUNT * HORIZONS, sizeof *rows);
  float *screen = calloc(COUNT * HORIZONS * map, sizeof *screen), *ram = calloc(COUNT * HORIZONS * 1024, sizeof *ram);
  const vcs_truth_options_t truth = {
      .horizons = horizons, .horizon_count = HORIZONS, .values = values, .channels = channels, .threads = 2};
  const vcs_truth_results_t results = {.rows = rows, .pixels = screen, .ram = ram};
  assert_int_equal(vcs_truth(&fixture.run, &truth, places, COUNT, &results, NULL), VCS_OK);
  vcs_jacobian_options_t options = {.of = VCS_OF_SCREEN | VCS_OF_RAM,
                                    .horizons = horizons,
                                    .horizon_count = HORIZONS,
                                    .values = values,
                                    .channels = channels};
  uint8_t outcomes[COUNT];
  vcs_error_t error;
  size_t needed = 0, count = 0;
  assert_int_equal(vcs_jacobian(&fixture.run, &options, places, NULL, COUNT, NULL, 0, &needed, NULL, &error),
                   VCS_BAD_ARGUMENT);
  assert_true(needed > 100 && strlen(error.message) > 0);
  vcs_jacobian_entry_t *entries = calloc(needed, sizeof *entries);
  assert_int_equal(vcs_jacobian(&fixture.run, &options, places, NULL, COUNT, entries, needed, &count, outcomes, &error),
                   VCS_OK);
  assert_int_equal(count, needed);
  int32_t(*seen)[2] = calloc((size_t)COUNT * HORIZONS, sizeof *seen);
  for (size_t i = 0; i < count; i++) {
    const vcs_jacobian_entry_t *e = &entries[i], *last = e - 1;
    seen[e->flip * HORIZONS + e->horizon][e->of == VCS_OF_RAM]++;
    assert_true(e->base != e->flipped);
    if (i == 0 || e->flip != last->flip) continue;
    assert_true(e->horizon > last->horizon ||
                (e->horizon == last->horizon && (e->of > last->of || (e->of == last->of && e->index > last->index))));
  }
  for (size_t i = 0; i < (size_t)COUNT * HORIZONS; i++) {
    assert_int_equal(seen[i][0], rows[i].pixels);
    assert_int_equal(seen[i][1], rows[i].ram_bytes);
    assert_int_equal(outcomes[i / HORIZONS], rows[i].outcome);
  }
  float tangents[COUNT], adjoints[COUNT] = {0};
  float *jv_screen = calloc(HORIZONS * map, sizeof *jv_screen), *jv_ram = calloc(HORIZONS * 1024, sizeof *jv_ram);
  for (size_t i = 0; i < COUNT; i++) tangents[i] = (float)below(7) - 3;
  const vcs_jacobian_outputs_t outputs = {.pixels = jv_screen, .ram = jv_ram};
  assert_int_equal(vcs_jacobian_jvp(&fixture.run, &options, places, COUNT, tangents, &outputs, &error), VCS_OK);
  for (size_t k = 0; k < HORIZONS * map; k++) {
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) sum += (double)tangents[i] * (double)screen[i * HORIZONS * map + k];
    assert_true(jv_screen[k] == (float)sum);
    jv_screen[k] = (float)below(5) - 2;
  }
  for (size_t k = 0; k < (size_t)HORIZONS * 1024; k++) {
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) sum += (double)tangents[i] * (double)ram[i * HORIZONS * 1024 + k];
    assert_true(jv_ram[k] == (float)sum);
    jv_ram[k] = (float)below(5) - 2;
  }
  assert_int_equal(vcs_jacobian_vjp(&fixture.run, &options, places, COUNT, &outputs, adjoints, &error), VCS_OK);
  for (size_t i = 0; i < COUNT; i++) {
    double sum = 0;
    for (size_t k = 0; k < HORIZONS * map; k++) sum += (double)jv_screen[k] * (double)screen[i * HORIZONS * map + k];
    for (size_t k = 0; k < (size_t)HORIZONS * 1024; k++) {
      sum += (double)jv_ram[k] * (double)ram[i * HORIZONS * 1024 + k];
    }
    assert_true(adjoints[i] == (float)sum);
  }
  options.of = VCS_OF_SCORE;
  assert_int_equal(vcs_jacobian(&fixture.run, &options, places, NULL, COUNT, entries, needed, &count, NULL, &error),
                   VCS_BAD_ARGUMENT);
  free(rows), free(screen), free(ram), free(entries), free(seen), free(jv_screen), free(jv_ram);
  close_fixture(&fixture);
}

/* ---- Collisions that a program looks at ---------------------------------------------------------------------------
 */

/* Which of the bits 7 (1) and 6 (2) matter that the code reads from $02. */
static unsigned bits_of(const uint8_t *bytes, size_t count) {
  static uint8_t rom[0x1000];
  static const uint32_t banks[] = {0, 0x400, 0x800, 0xC00};
  const vcs_cart_t cart = {.rom = rom, .rom_size = sizeof rom};
  vcs_latch_bits_t known[VCS_LATCH_BITS] = {{{0}, 0, 0}};
  memset(rom, 0x60, sizeof rom); /* RTS: whatever is not overwritten by then may matter */
  memcpy(rom, bytes, count);
  return vcs_latch_bits(known, &cart, banks, 0xF000);
}
#define BITS_OF(...) bits_of((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

static void test_bits_of_latches_that_matter(void **state) {
  (void)state;
  assert_int_equal(BITS_OF(0xA5, 0x02), 3);                                                 /* LDA, RTS */
  assert_int_equal(BITS_OF(0xA5, 0x02, 0xA9, 0x00), 0);                                     /* ... LDA #0 */
  assert_int_equal(BITS_OF(0xA5, 0x02, 0x85, 0x80, 0xA9, 0x00), 3);                         /* LDA, STA */
  assert_int_equal(BITS_OF(0xA5, 0x02, 0x30, 0x02, 0xA9, 0x00, 0xA9, 0x01), 1);             /* LDA, BMI */
  assert_int_equal(BITS_OF(0xA5, 0x02, 0x29, 0x40, 0xF0, 0x02, 0xA9, 0x00, 0xA9, 0x01), 2); /* LDA, AND #$40, BEQ */
  assert_int_equal(BITS_OF(0xA5, 0x02, 0x0A, 0xA9, 0x00), 1);                               /* LDA, ASL: carry stays */
  assert_int_equal(BITS_OF(0xA5, 0x02, 0x0A, 0xA9, 0x00, 0x18), 0);                         /* ... CLC */
  assert_int_equal(BITS_OF(0x24, 0x02, 0x50, 0x00, 0x24, 0x80), 2);                         /* BIT, BVC, BIT */
  assert_int_equal(BITS_OF(0x24, 0x02, 0xA9, 0x00), 2);                                     /* BIT: V stays */
  assert_int_equal(BITS_OF(0x24, 0x02, 0x90, 0x03, 0x24, 0x80, 0x60, 0x08), 3);             /* BIT, BCC: PHP there */
  assert_int_equal(BITS_OF(0xA6, 0x02, 0xB5, 0x80, 0xA2, 0x00, 0xA9, 0x00), 3);             /* LDX, LDA zp,X */
  assert_int_equal(BITS_OF(0xA6, 0x02, 0xCA, 0x10, 0xFD), 3);                               /* LDX, DEX */
  assert_int_equal(BITS_OF(0xC5, 0x02, 0xA9, 0x00, 0x18), 3);                               /* CMP */
  assert_int_equal(BITS_OF(0xA5, 0x02, 0x4C, 0x00, 0xF0), 0);                               /* LDA, JMP to itself */
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "games") == 0) return sweep_games(argc - 2, argv + 2);
  if (argc > 3 && strcmp(argv[1], "fuzz") == 0) {
    random_state = strtoull(argv[3], NULL, 10);
    const fuzzed_t found = fuzz(strtoull(argv[2], NULL, 10));
    printf("%zu flips, %zu differ; %" PRIu64 " of %" PRIu64 " walks left to running again\n", found.flips,
           found.different, found.refused, found.walks);
    return found.different != 0 || 20 * found.refused > found.walks;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_walk_equals_running_again),
      cmocka_unit_test(test_walk_rebuilds_machines),
      cmocka_unit_test(test_walk_on_programs_that_are_no_games),
      cmocka_unit_test(test_walk_of_small_programs),
      cmocka_unit_test(test_walk_of_games),
      cmocka_unit_test(test_walk_does_not_depend_on_threads),
      cmocka_unit_test(test_an_interrupted_jacobian_is_cancelled),
      cmocka_unit_test(test_jacobian_has_what_rows_and_maps_have),
      cmocka_unit_test(test_bits_of_latches_that_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
