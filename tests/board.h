/* board.h: a 4 KiB cartridge whose image a test can change after it is loaded.
 *
 * plug_in loads an image of NOPs that starts at $F000, and unplug frees it: a group's setup and teardown. A test copies
 * *loaded and points the copy at `rom`. Include it after cmocka.h. */
#ifndef TESTS_BOARD_H
#define TESTS_BOARD_H

#include <stdint.h>
#include <string.h>

#include "diffvcs/diffvcs.h"

enum { ROM_SIZE = 4096 };
static uint8_t rom[ROM_SIZE];
static vcs_cart_t *loaded;

static inline void erase_rom(void) {
  memset(rom, 0xEA, ROM_SIZE);
  rom[0xFFD] = 0xF0;
}

static inline int plug_in(void **state) {
  (void)state;
  const vcs_cart_options_t options = {
      .profile = VCS_PROFILE_XITARI, .scheme = VCS_SCHEME_4K, .format = VCS_FORMAT_NTSC};
  erase_rom();
  return vcs_cart_load(rom, ROM_SIZE, &options, &loaded, NULL) == VCS_OK ? 0 : -1;
}

static inline int unplug(void **state) {
  (void)state;
  vcs_cart_free(loaded);
  return 0;
}

#endif
