/* Objects against the picture: every pixel that an object shows lies in a box of that object, and every box is drawn.
 *
 * Two references tell what is drawn. The masks: this file compiles the core with its own hook, which notes for every
 * pixel which objects are lit there. The picture: a machine that runs beside the true one, instruction by instruction,
 * with all objects removed and the collisions of the true one, shows the background; where the two pictures differ
 * there is an object. The hook also records objects, as the machine does for frames that its sleeping TIA cannot draw:
 * both lists must have the same objects. And an environment that records its frames must list what a frame by itself
 * does.
 *
 * Without arguments: the demo and some games. `test_objects games FRAMES`: every game whose image is found. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/state.h"

static void note(const vcs_t *m, void *video, int first, int to, bool same);
#define VCS_LINE_DRAWN(m, video, first, to, same) note(m, video, first, to, same)
#include "core/record_beam.h"

typedef struct {
  vcs_recorded_video_t recorded; /* first: the core has a pointer to it */
  uint8_t lit[VCS_FRAME_BYTES];  /* a bit for each object */
  vcs_recorder_t recorder;
  vcs_object_t list[VCS_OBJECTS_MAX];
} noted_t;

#include "diffvcs/objects.h"
#include "diffvcs/study.h"
#include "host/env.h"
#include "brief.h"
#include "kernel.h"
#include "need.h"

/* Notes the lit pixels, except those that HMOVE blanks. */
static void note(const vcs_t *m, void *drawn, int first, int to, bool same) {
  noted_t *pixels = drawn;
  vcs_video_t *video = drawn;
  const int y = m->line - m->first_line;
  const int blank = m->hmove_blank ? vcs_tia_blank_from(m, first, to) : (int)VCS_COMB_END;
  vcs_record_line(m, video, first, to, same);
  if (m->vblank & 2) return;
  for (int clock = first; clock < to; clock++) {
    const int x = clock - VCS_HBLANK_CLOCKS;
    for (int i = 0; i < VCS_OBJECTS && (clock < blank || clock >= VCS_COMB_END); i++) {
      if ((video->lit >> i & 1) && (video->line[i].word[x >> 6] >> (x & 63) & 1))
        pixels->lit[VCS_WIDTH * y + x] |= (uint8_t)(1 << i);
    }
  }
}

typedef struct {
  uint64_t frames, objects, pixels, boxes_undrawn, pixels_outside, pictures;
} count_t;

static uint8_t picture[2 * VCS_FRAME_BYTES], other[2 * VCS_FRAME_BYTES], background[2 * VCS_FRAME_BYTES];
static vcs_object_t objects[VCS_OBJECTS_MAX];
static noted_t noted;

static void cover(const vcs_object_t *o, uint8_t *covered) {
  for (int y = o->y; y < o->y + o->h; y++) {
    for (int x = o->x; x < o->x + o->w; x++) covered[VCS_WIDTH * y + x] |= (uint8_t)(1 << o->kind);
  }
}

/* The box of what is seen, counted in the picture: it has the object's colour somewhere. */
static bool is_drawn(const vcs_object_t *o, const uint8_t *shown) {
  if (o->seen <= 0 || o->seen_w <= 0 || o->seen_h <= 0) return false;
  for (int y = o->seen_y; y < o->seen_y + o->seen_h; y++) {
    for (int x = o->seen_x; x < o->seen_x + o->seen_w; x++) {
      if (shown[VCS_WIDTH * y + x] == o->colour && (noted.lit[VCS_WIDTH * y + x] >> o->kind & 1)) return true;
    }
  }
  return false;
}

/* Whether the list that the hook has recorded has an object. */
static bool is_noted(const vcs_object_t *o) {
  for (int32_t i = 0; i < noted.recorder.count; i++) {
    if (memcmp(&noted.list[i], o, sizeof *o) == 0) return true;
  }
  return false;
}

/* Runs a frame three times and compares; `m` is the machine before it. */
static void check_frame(const vcs_cart_t *cart, const vcs_t *before, count_t *count) {
  static vcs_t a, b;
  const size_t size = vcs_state_size(cart);
  static uint8_t covered[VCS_FRAME_BYTES];
  memcpy(&a, before, size);
  memcpy(&b, before, size);
  vcs_frame(cart, &a, picture);
  const int32_t found = vcs_frame_objects(cart, &b, other, objects, VCS_OBJECTS_MAX);
  assert_memory_equal(&a, &b, size);
  if (found > VCS_OBJECTS_MAX) fail_msg("%d objects", (int)found);
  memcpy(&b, before, size);
  memset(noted.lit, 0, sizeof noted.lit);
  noted.recorded.recorder = &noted.recorder;
  vcs_video_start(&noted.recorded.video, cart, other);
  vcs_recorder_make(&noted.recorder, NULL);
  vcs_recorder_start(&noted.recorder);
  vcs_console_start_frame(cart, &b);
  vcs_cpu_run(cart, &b, &noted.recorded.video, VCS_FRAME_INSTRUCTIONS);
  vcs_console_finish_frame(cart, &b, &noted.recorded.video);
  vcs_record_beam_finish(&b, &noted.recorder);
  vcs_recorder_list(&noted.recorder, noted.list, VCS_OBJECTS_MAX);
  assert_int_equal(found, noted.recorder.count);
  memset(covered, 0, sizeof covered);
  const uint8_t *shown = vcs_picture(&a, picture);
  for (int32_t i = 0; i < found; i++) {
    const vcs_object_t *o = &objects[i];
    assert_true(o->x >= 0 && o->y >= 0 && o->w > 0 && o->h > 0 && o->x + o->w <= VCS_WIDTH &&
                o->y + o->h <= cart->height);
    assert_true(is_noted(o));
    cover(o, covered);
    if (!is_drawn(o, shown)) count->boxes_undrawn++;
  }
  for (int i = 0; i < VCS_WIDTH * cart->height; i++) {
    if (!noted.lit[i]) continue;
    count->pixels++;
    /* an object that is nowhere seen is not listed: then another one is in front of it */
    if (!(noted.lit[i] & covered[i])) count->pixels_outside++;
  }
  count->frames++;
  count->objects += (uint64_t)found;
}

/* The same by the picture alone. */
static void check_picture(const vcs_cart_t *cart, const vcs_t *before, count_t *count) {
  static vcs_t a, b;
  static uint8_t covered[VCS_FRAME_BYTES];
  const size_t size = vcs_state_size(cart);
  memcpy(&a, before, size);
  const int32_t found = vcs_frame_objects(cart, &a, NULL, objects, VCS_OBJECTS_MAX);
  memset(covered, 0, sizeof covered);
  for (int32_t i = 0; i < found; i++) cover(&objects[i], covered);
  memcpy(&a, before, size);
  memcpy(&b, before, size);
  memcpy(background, picture, sizeof background);
  vcs_step_t step = {0}, beside = {0};
  vcs_frame_begin(cart, &a);
  vcs_frame_begin(cart, &b);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !a.jammed && !step.frame_over; i++) {
    b.grp[0] = b.grp_old[0] = b.grp[1] = b.grp_old[1] = 0;
    b.enam[0] = b.enam[1] = b.enabl = b.enabl_old = b.pf[0] = b.pf[1] = b.pf[2] = 0;
    vcs_step(cart, &a, picture, &step);
    vcs_step(cart, &b, background, &beside);
    if (a.pc != b.pc) return; /* it has read a collision: the pictures have nothing to do with each other */
    b.collisions = a.collisions;
  }
  vcs_frame_end(cart, &a, picture);
  vcs_frame_end(cart, &b, background);
  const uint8_t *with = vcs_picture(&a, picture), *without = vcs_picture(&b, background);
  for (int i = 0; i < VCS_WIDTH * cart->height; i++) {
    if (with[i] == without[i]) continue;
    count->pixels++;
    if (!covered[i]) count->pixels_outside++;
  }
  count->pictures++;
}

static count_t check_game(const vcs_cart_t *cart, int frames, int pictures) {
  vcs_env_t *env;
  vcs_stream_t stream;
  count_t count = {0};
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  vcs_env_set_drawing(env, 0);
  vcs_stream_start(&stream, 1);
  memset(picture, 0, sizeof picture);
  memset(other, 0, sizeof other);
  for (int i = 0; i < frames; i++) {
    if (vcs_env_over(env)) vcs_env_reset(env);
    vcs_env_act_on(env, vcs_stream_next(&stream), VCS_NOOP);
    check_frame(cart, env->m, &count);
    if (pictures && i % (frames / pictures) == 0) check_picture(cart, env->m, &count);
  }
  vcs_env_free(env);
  return count;
}

static vcs_cart_t *load(const char *name) {
  vcs_rom_t rom;
  const vcs_rom_options_t options = {0};
  return vcs_rom_open(name, &options, &rom, NULL) == VCS_OK ? rom.cart : NULL;
}

static const char *const games[] = {"demo",     "pong",  "breakout",  "space_invaders", "asteroids",
                                    "pitfall2", "qbert", "riverraid", "cosmic_ark",     "video_checkers"};

static void test_boxes_are_the_picture(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof games / sizeof *games; i++) {
    vcs_cart_t *cart = load(games[i]);
    if (!cart && i > 0) continue;
    assert_non_null(cart);
    const count_t count = check_game(cart, 120, 4);
    if (count.pixels_outside || count.boxes_undrawn)
      fail_msg("%s: %d pixels outside, %d boxes not drawn", games[i], (int)count.pixels_outside,
               (int)count.boxes_undrawn);
    assert_true(count.objects > 0 && count.pictures > 0);
    vcs_cart_free(cart);
  }
}

/* Identity: an object that moves keeps its id, also over a frame in which it is not drawn; another one gets its own. */
static void test_an_object_keeps_its_id(void **state) {
  (void)state;
  static vcs_tracks_t tracks;
  uint32_t id = 0, still = 0;
  for (int t = 0; t < 40; t++) {
    vcs_object_t now[2] = {
        {.x = 20, .y = 30, .w = 8, .h = 10, .kind = VCS_OBJECT_PLAYER_1, .pattern = 7},
        {.x = (int16_t)(10 + 3 * t), .y = 80, .w = 8, .h = 10, .kind = VCS_OBJECT_PLAYER_0, .pattern = 9}};
    const int drawn = t % 2 == 0 ? 2 : 1;
    vcs_objects_track(&tracks, now, drawn);
    if (t == 0) {
      still = now[0].id;
      id = now[1].id;
      assert_true(id && still && id != still);
    }
    assert_int_equal(now[0].id, still);
    if (drawn == 2) assert_int_equal(now[1].id, id);
  }
  vcs_object_t far[1] = {{.x = 20, .y = 150, .w = 8, .h = 10, .kind = VCS_OBJECT_PLAYER_0, .pattern = 9}};
  vcs_objects_track(&tracks, far, 1);
  assert_true(far[0].id != id && far[0].id != still);
}

/* An environment's objects are those of its last frame, recorded or run again. What is recorded takes over what was the
 * same in the last frame that was listed, which is not always the one before; what is run again knows of no other
 * frame. Returns the number of objects. */
static uint64_t compare_recorded(const vcs_cart_t *cart, int frames) {
  vcs_env_t *env, *twin;
  vcs_stream_t stream;
  static vcs_object_t again[VCS_OBJECTS_MAX];
  uint64_t all = 0;
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  assert_int_equal(vcs_env_create(cart, &twin, NULL), VCS_OK);
  vcs_env_set_objects(env, 1);
  vcs_stream_start(&stream, 1);
  for (int i = 0; i < frames; i++) {
    const int action = vcs_stream_next(&stream);
    if (vcs_env_over(env)) {
      vcs_env_reset(env);
      vcs_env_reset(twin);
    }
    vcs_env_act_on(env, action, VCS_NOOP);
    vcs_env_act_on(twin, action, VCS_NOOP);
    if (i % 7 == 2 || i % 7 == 5 || i % 7 == 6) continue;
    const int32_t count = vcs_env_objects(env, objects, VCS_OBJECTS_MAX);
    assert_int_equal(count, vcs_env_objects(twin, again, VCS_OBJECTS_MAX));
    assert_memory_equal(objects, again, sizeof *objects * (size_t)count);
    assert_memory_equal(vcs_env_screen(env), vcs_env_screen(twin), (size_t)VCS_WIDTH * (size_t)cart->height);
    all += (uint64_t)count;
  }
  vcs_env_free(env);
  vcs_env_free(twin);
  return all;
}

static void test_recorded_and_run_again_are_the_same(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof games / sizeof *games; i++) {
    vcs_cart_t *cart = load(games[i]);
    if (!cart && i > 0) continue;
    assert_non_null(cart);
    assert_true(compare_recorded(cart, 200) > 0);
    vcs_cart_free(cart);
  }
}

/* Programs that draw at random change objects in every way that there is: off, mirrored, moved, recoloured, in any
 * order and at any time of a line. */
static void test_objects_of_random_kernels(void **state) {
  (void)state;
  uint64_t all = 0;
  for (int seed = 0; seed < trials(500, 30); seed++) {
    const vcs_cart_options_t options = {
        .scheme = VCS_SCHEME_4K, .format = seed % 5 ? VCS_FORMAT_NTSC : VCS_FORMAT_PAL, .profile = VCS_PROFILE_ALE};
    vcs_cart_t *cart;
    random_state = (uint64_t)seed;
    make_program();
    assert_int_equal(vcs_cart_load(image, IMAGE_SIZE, &options, &cart, NULL), VCS_OK);
    all += compare_recorded(cart, 12);
    const count_t count = check_game(cart, 4, 1);
    if (count.pixels_outside || count.boxes_undrawn)
      fail_msg("program %d: %d pixels outside, %d boxes not drawn", seed, (int)count.pixels_outside,
               (int)count.boxes_undrawn);
    vcs_cart_free(cart);
  }
  assert_true(all > 1000);
}

static int every_game(int frames) {
  const char *folder = rom_folder();
  DIR *directory = folder ? opendir(folder) : NULL;
  if (!directory) return need_exit("test_objects games", "roms", "DIFFVCS_ROMS names no folder");
  struct dirent *entry;
  bool good = true;
  int games = 0;
  count_t all = {0};
  while ((entry = readdir(directory))) {
    const char *end = strrchr(entry->d_name, '.');
    char path[4096];
    if (!end || strcmp(end, ".bin") != 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    vcs_cart_t *cart = load(path);
    if (!cart) continue;
    const count_t count = check_game(cart, frames, frames / 100 + 1);
    compare_recorded(cart, frames);
    printf("%-24s frames %llu objects %.1f a frame, pixels outside %llu, boxes not drawn %llu, pictures %llu\n",
           entry->d_name, (unsigned long long)count.frames, (double)count.objects / (double)count.frames,
           (unsigned long long)count.pixels_outside, (unsigned long long)count.boxes_undrawn,
           (unsigned long long)count.pictures);
    fflush(stdout);
    good &= !count.pixels_outside && !count.boxes_undrawn;
    all.frames += count.frames;
    all.objects += count.objects;
    games++;
    vcs_cart_free(cart);
  }
  closedir(directory);
  printf("%d games, %llu frames, %llu objects\n", games, (unsigned long long)all.frames,
         (unsigned long long)all.objects);
  return good && games ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "games") == 0) return every_game(atoi(argv[2]));
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_boxes_are_the_picture),
      cmocka_unit_test(test_an_object_keeps_its_id),
      cmocka_unit_test(test_recorded_and_run_again_are_the_same),
      cmocka_unit_test(test_objects_of_random_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
