/* slice.h: a frame's instructions, and which of them a result was computed by.
 *
 * The dynamic slice of an instruction is itself, the instructions that last wrote what it reads, and so on back to the
 * beginning of the frame. It follows data (registers, flags, memory, pointers, index registers), not the decisions of
 * branches; it stops at the chips, at the beginning of the frame and at cartridge RAM, whose ports have two addresses.
 */
#ifndef VCS_STUDY_SLICE_H
#define VCS_STUDY_SLICE_H

#include "study/touch.h"

typedef struct {
  uint16_t pc;
  uint8_t opcode;
  uint8_t a, x, y;   /* before it */
  int32_t clock;     /* of the frame, when it begins */
  int32_t end_clock; /* when it ends, which is when it reads and writes */
  vcs_touched_t touched;
  char text[32];
  bool slice;
} vcs_slice_row_t;

typedef struct {
  vcs_slice_row_t *rows;
  int count;
  bool read[0x10000]; /* plain addresses the slice reads that nothing in it had written: where it comes from */
} vcs_slice_t;

/* One frame from `m`, which is left behind it. On success vcs_slice_free is due. */
vcs_status_t vcs_slice_record(const vcs_cart_t *cart, vcs_t *m, const vcs_controls_t *controls, vcs_slice_t *slice,
                              vcs_error_t *error);
void vcs_slice_free(vcs_slice_t *slice);

/* Marks the slice of the rows that are marked already. */
void vcs_slice_close(vcs_slice_t *slice);

#endif
