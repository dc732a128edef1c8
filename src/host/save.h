/* save.h: save files, byte by byte.
 *
 * A save file is a state with names, so that it outlives the program that wrote it. Numbers are little-endian.
 *
 *     0  8 bytes   "VCSSAVE\n"
 *     8  u32       version
 *    12  u32       fields in the table
 *    16  u32       bytes of all fields together
 *    20  u32       bytes of the payload
 *    24  u64       frame number
 *    32  32 bytes  SHA-256 of the cartridge's image
 *    64  16 bytes  profile              96  32 bytes  game in the table, or nothing
 *    80   8 bytes  bank scheme          88   8 bytes  television format          names, filled up with zeros
 *   128  table     a row a field: u8 bytes an element (1, 2, 4 or 8), u8 length of the name, u16 0, u32 elements, name
 *        payload   all fields in order, compressed (zlib)
 *        u64       XXH64 of everything before
 *
 * Fields are those of the machine (`m.pc`, from vcs_field), of the environment (`env.play`, from VCS_ENV_FIELDS) and
 * the two frames (`frame.0`, `frame.1`, as many rows as the picture has). A version reads files of earlier ones: a
 * field they do not have is zero. It refuses a field it does not know, one of another size, and of its own version also
 * a missing one; then values the machine cannot have. So a file either describes a complete state or is refused.
 */
#ifndef VCS_HOST_SAVE_H
#define VCS_HOST_SAVE_H

#include <stdbool.h>

#include "diffvcs/diffvcs.h"

enum { VCS_SAVE_VERSION = 2, VCS_SAVE_HEADER = 128 };

/* Whether a machine could have these values where it uses them as an index, a shift or a count: whether running it is
 * safe. */
bool vcs_machine_is_possible(const vcs_cart_t *cart, const vcs_t *m);

#endif
