/* asleep.c: frames on a TIA that sleeps (core/tia_asleep.h), with or without a picture. */
#include "host/asleep.h"

#include "host/asleep_run.h"

bool vcs_asleep_frame(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_rows_t rows;
  return frame_asleep(cart, m, frames, frames ? &rows : NULL);
}
