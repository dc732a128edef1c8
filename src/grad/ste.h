/* ste.h: straight-through derivatives: one number for a byte.
 *
 * The run itself is the machine's, bit for bit; only the derivative is relaxed. A byte is a number from 0 to 255, a
 * flag a number from 0 to 1, and each operation has the slope that its relaxation has at the values that were met:
 * docs/ste.md has the rules. The walk is that of sweep.h, over the same tape and the same slots, with a byte's number
 * in slot 0 of the byte; flags, pins and collision latches keep a slot for every bit, positions and times are numbers
 * as they are there. `live` of the sweep is not used. In reverse mode a set of lanes with adjoints takes its place: a
 * row that sets none of them is skipped.
 *
 *   ste.c         instructions, and the way from bits to numbers and back at both ends of a run
 *   ste_chips.c   registers and ports
 *   ste_line.c    the picture
 *
 * The naive derivative, that of the integer program as written, is the same walk with the relaxations' slopes zero.
 */
#ifndef VCS_GRAD_STE_H
#define VCS_GRAD_STE_H

#include <math.h>

#include "sweep.h"

/* What objects light and where colours show, made afresh when a register has changed. */
typedef struct {
  vcs_pixels_t line[VCS_OBJECTS];
  uint64_t colour[3][4];
  uint64_t lit[3], twice[3]; /* by any object, and by more than one */
  uint8_t on;                /* objects that light anything */
  uint8_t stale;             /* objects whose masks are out of date */
  uint8_t coloured;          /* words whose colours and lit pixels are up to date */
} vcs_masks_t;

/* Slopes that a relaxation chooses; all zero in the naive derivative. */
typedef struct {
  float lift;  /* of a bit along its byte: a byte's change is spread evenly over its bits */
  float zero;  /* of Z along the value, where that is 0 or 1 */
  float half;  /* of a shift to the right along the byte */
  float gate;  /* of a branch along its flag */
  float place; /* of what happens at a place or a time: 1 */
  float temperature;
} vcs_ste_rules_t;

VCS_FN vcs_ste_rules_t vcs_ste_rules(vcs_method_t method, float alpha, float temperature) {
  const vcs_ste_rules_t naive = {0};
  if (method == VCS_METHOD_NAIVE) return naive;
  const float open = 1 / (1 + expf(-alpha));
  const vcs_ste_rules_t ste = {1.0F / 255, -1, 0.5F, 2 * alpha * open * (1 - open), 1, temperature};
  return ste;
}

/* What an instruction reads and sets. Those before VCS_STE_INPUTS can be read; M is the byte from or to the bus. */
enum {
  VCS_STE_A,
  VCS_STE_X,
  VCS_STE_Y,
  VCS_STE_S,
  VCS_STE_M,
  VCS_STE_C,
  VCS_STE_INPUTS = 8,
  VCS_STE_N = VCS_STE_INPUTS,
  VCS_STE_Z,
  VCS_STE_V,
  VCS_STE_D,
  VCS_STE_I,
  VCS_STE_LANES
};

typedef struct {
  vcs_sweep_t *s;
  vcs_ste_rules_t rules;
  float lane[VCS_STE_LANES];
  unsigned has_adjoint; /* walking backwards: the lanes that may have adjoints, as a set */
  float *time;
  const vcs_t *side; /* banks, timer and ports at the row of the walk; without cartridge RAM */
  /* the line at the event of the walk */
  vcs_masks_t masks;
  uint64_t could[3][VCS_OBJECTS]; /* and of what they would light with all their bits set */
  uint64_t reach[3][VCS_OBJECTS]; /* and one pixel further on both sides */
  unsigned could_stale;           /* objects for which that is out of date */
  const vcs_event_t *loaded;      /* the event whose registers are in the sweep's scratch, at the line there, or NULL */
  const float *sums;              /* of the adjoints of a picture row, up to each pixel */
#if !defined(__CUDACC__)
  float own_sums[VCS_WIDTH + 1]; /* ... which are made here; on a device, beforehand */
#endif
  int32_t sums_of;   /* that row, or -1 */
  vcs_sides_t sides; /* of numbers, walking backwards */
#if !defined(__CUDACC__)
  float slope[256]; /* of the scalar of a palette index along the luminance; on a device, computed when needed */
#endif
} vcs_ste_t;

/* The slots of a run's beginning, or end, from a number for every bit to one for every byte, and back. */
VCS_EXTERN void vcs_ste_fold(vcs_sweep_t *s, size_t size);
VCS_EXTERN void vcs_ste_unfold(vcs_sweep_t *s, size_t size);

/* Walks over the frame on the sweep's tape, in the sweep's direction. */
VCS_EXTERN void vcs_ste_frame(vcs_sweep_t *s, const vcs_grad_options_t *options);

/* The register write of an event; its byte is lane M (ste_chips.c). */
VCS_EXTERN void vcs_ste_tia_write(vcs_ste_t *ste, const vcs_event_t *event);
VCS_EXTERN void vcs_ste_riot_write(vcs_ste_t *ste, uint16_t addr);

/* A byte from the TIA or the RIOT into lane M. */
VCS_EXTERN void vcs_ste_chip_read(vcs_ste_t *ste, const vcs_row_t *row);

/* The picture before an event of the tape (ste_line.c), and its write one cycle later or earlier. The walk passes every
 * event through vcs_ste_shift, which notes what it changes. */
VCS_EXTERN void vcs_ste_line_begin(vcs_ste_t *ste);
VCS_EXTERN void vcs_ste_line_forget(vcs_ste_t *ste);
VCS_EXTERN void vcs_ste_span(vcs_ste_t *ste, const vcs_event_t *event);
VCS_EXTERN void vcs_ste_shift(vcs_ste_t *ste, const vcs_event_t *event);

#endif
