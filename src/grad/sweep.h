/* sweep.h: a walk over a tape that carries derivatives, in either direction.
 *
 * There is one Jacobian and one piece of code for both its products. A primitive (an ALU operation, an address, a piece
 * of a line) is a set of links (input slot, output slot, coefficient); walking forwards a link adds coefficient * input
 * to the output (JVP), walking backwards it adds coefficient * output to the input (VJP).
 *
 * A slot is a float for every bit of the state: bit b of the byte at offset o of vcs_t is slot 8 * o + b; of ROM
 * likewise. Some fields are numbers, not bits: positions, times. Their derivative is in slot 0 of their first byte, and
 * `cycles` is time itself: what everything later would gain if it happened one cycle later.
 *
 * `live` says for every byte of the state whether any of its slots may be other than zero; an instruction that meets
 * no live byte costs a few tests.
 */
#ifndef VCS_GRAD_SWEEP_H
#define VCS_GRAD_SWEEP_H

#include "diffvcs/grad.h"
#include "tape.h"

typedef struct {
  const vcs_cart_t *cart;
  const vcs_tape_t *tape;
  const float *scale;  /* the scalar a palette index stands for */
  float *state, *rom;  /* the slots; rom may be NULL */
  float *pixels;       /* of this frame, or NULL */
  uint8_t *live;       /* by byte of the state */
  uint8_t *lit;        /* walking backwards, by row of the picture: it has pixels that are not zero */
  vcs_t *m;            /* contents at the row the walk is at: RAM and cartridge RAM; the rest is looked up */
  vcs_t *scratch;      /* a machine whose TIA registers are tried out */
  uint16_t *latched;   /* collisions at the beginning of each event's span; made when first needed */
  int32_t event, side; /* the next ones at or after the row */
  vcs_side_rule_t rule;
  bool reverse;
  bool have_latched;
} vcs_sweep_t;

#define VCS_OFFSET(field) offsetof(vcs_t, field)

VCS_FN float *vcs_slots(const vcs_sweep_t *s, size_t offset) { return s->state + 8 * offset; }

VCS_FN void vcs_link(const vcs_sweep_t *s, float *in, float *out, float coefficient) {
  if (s->reverse) {
    *in += coefficient * *out;
  } else {
    *out += coefficient * *in;
  }
}

/* +1 where a bit is 0 and would become 1, -1 where it is 1. */
VCS_FN float vcs_sign(unsigned byte, int bit) { return byte >> bit & 1 ? -1.0F : 1.0F; }

/* Which side of a number's one-sided differences counts: weights of the effect of one more and of one less. */
typedef struct {
  float more, less;
} vcs_sides_t;

VCS_FN vcs_sides_t vcs_sides(const vcs_sweep_t *s, float tangent) {
  static const vcs_sides_t sides[] = {{0.5F, -0.5F}, {1, 0}, {0, -1}};
  if (s->rule == VCS_SIDE_TANGENT) return tangent < 0 ? sides[2] : sides[1];
  return sides[s->rule == VCS_SIDE_MORE ? 1 : s->rule == VCS_SIDE_LESS ? 2 : 0];
}

/* Links from the bits that move between two bytes: byte `was` becomes `is` when the input changes by one. */
VCS_FN void vcs_link_byte(const vcs_sweep_t *s, float *in, float *out, uint8_t was, uint8_t is, float weight) {
  for (unsigned moved = was ^ is; moved; moved &= moved - 1) {
    int bit = VCS_LOWEST(moved);
    vcs_link(s, in, out + bit, weight * vcs_sign(was, bit));
  }
}

/* ---- The picture (line.c) ------------------------------------------------------------------------------------- */

/* The span an event ends: pixels and collisions as they depend on the TIA's registers. */
void vcs_sweep_span(vcs_sweep_t *s, const vcs_event_t *event);

/* The register write of event number `event` one cycle later or earlier: the pixels between. */
void vcs_sweep_shift(vcs_sweep_t *s, int32_t event);

/* The TIA as an event found it, brought to the line of `clock`, in s->scratch. */
void vcs_sweep_tia(vcs_sweep_t *s, const vcs_event_t *event, int32_t clock);

/* ---- Registers and ports (chips.c) ---------------------------------------------------------------------------- */

/* A write to the TIA: the bits of V (adjoints if walking backwards) and the registers. */
void vcs_sweep_tia_write(vcs_sweep_t *s, const vcs_event_t *event, float v[8]);

/* A byte read from the TIA or the RIOT, into V. */
void vcs_sweep_chip_read(vcs_sweep_t *s, const vcs_row_t *row, uint16_t addr, uint32_t cycles, float v[8]);

/* A write to the RIOT. */
void vcs_sweep_riot_write(vcs_sweep_t *s, const vcs_row_t *row, uint16_t addr, float v[8]);

/* ---- Instructions (instruction.c) ----------------------------------------------------------------------------- */

void vcs_sweep_row(vcs_sweep_t *s, int32_t row);

#endif
