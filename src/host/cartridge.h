/* cartridge.h: a loaded cartridge as the host keeps it: the part the machine needs, what is known about it, its image.
 */
#ifndef VCS_HOST_CARTRIDGE_H
#define VCS_HOST_CARTRIDGE_H

#include <stdatomic.h>

#include "core/state.h"
#include "host/games.h"

typedef struct {
  vcs_cart_t cart; /* first: a vcs_cart_t of the API is always one of these */
  vcs_cart_info_t info;
  const vcs_game_t *game; /* NULL: unknown, no rewards, never over */
  _Atomic(void *) boot;   /* see vcs_cart_keep_boot */
  uint8_t rom[];
} vcs_cartridge_t;

static inline const vcs_cartridge_t *vcs_cartridge(const vcs_cart_t *cart) { return (const vcs_cartridge_t *)cart; }

/* The state (save.c) of an environment with this cartridge right after loading, so that only the first one has to boot:
 * vcs_cart_keep_boot gives it to the cartridge, which frees it; the first one counts. Any thread may call these. */
void vcs_cart_keep_boot(const vcs_cart_t *cart, void *state);
const void *vcs_cart_boot(const vcs_cart_t *cart);

#endif
