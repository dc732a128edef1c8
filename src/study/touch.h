/* touch.h: what an instruction is about to read and write, worked out from its opcode, operand and registers.
 *
 * Pointers and the stack count, the fetching of the instruction itself does not. Addresses are plain ones
 * (vcs_address_plain): mirrors are gone.
 */
#ifndef VCS_STUDY_TOUCH_H
#define VCS_STUDY_TOUCH_H

#include <stdbool.h>

#include "diffvcs/diffvcs.h"

enum { VCS_TOUCHED_MAX = 8 };

typedef struct {
  uint16_t address[VCS_TOUCHED_MAX]; /* plain */
  uint16_t full[VCS_TOUCHED_MAX];    /* as it is on the bus */
  bool writes[VCS_TOUCHED_MAX];
  int count;
} vcs_touched_t;

vcs_touched_t vcs_about_to_touch(const vcs_cart_t *cart, const vcs_t *m);

#endif
