/* carts.h: the cartridges that C tests load: an image, the demonstration cartridge, a game of DIFFVCS_ROMS.
 *
 * Include it after cmocka.h. An image that does not load fails the test. */
#ifndef TESTS_CARTS_H
#define TESTS_CARTS_H

#include <stdlib.h>

#include "diffvcs/study.h"
#include "host/files.h"
#include "need.h"

static inline vcs_cart_t *load_as(const void *image, size_t size, vcs_profile_t profile, const char *name) {
  const vcs_cart_options_t options = {.profile = profile, .name = name};
  vcs_cart_t *cart = NULL;
  vcs_error_t error;
  if (vcs_cart_load(image, size, &options, &cart, &error)) fail_msg("%s: %s", name ? name : "image", error.message);
  return cart;
}

static inline vcs_cart_t *load_demo_as(vcs_profile_t profile, const char *name) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  return load_as(image, size, profile, name);
}

/* Reads the image of a game, if DIFFVCS_ROMS names a folder. The caller frees it. NULL: there is none. */
static inline uint8_t *read_game(const char *name, size_t *size) {
  char path[VCS_PATH_SIZE];
  uint8_t *image;
  if (!rom_folder() || vcs_rom_find(name, NULL, path, sizeof path, NULL)) return NULL;
  assert_int_equal(vcs_file_read(path, 1 << 20, &image, size, NULL), VCS_OK);
  return image;
}

/* NULL: there is no such image. */
static inline vcs_cart_t *load_game_as(const char *name, vcs_profile_t profile) {
  size_t size;
  uint8_t *image = read_game(name, &size);
  vcs_cart_t *cart = image ? load_as(image, size, profile, name) : NULL;
  free(image);
  return cart;
}

/* Loads the games whose images exist to carts[count] and after it; a missing image is a skip. Returns the new count. */
static inline int load_games(const char *const *names, size_t name_count, vcs_cart_t **carts, int count) {
  for (size_t i = 0; i < name_count; i++) {
    carts[count] = load_game_as(names[i], VCS_PROFILE_ALE);
    if (carts[count]) {
      count++;
    } else {
      NEED_PART("roms", names[i]);
    }
  }
  return count;
}

static inline void free_carts(vcs_cart_t *const *carts, int count) {
  for (int i = 0; i < count; i++) vcs_cart_free(carts[i]);
}

#endif
