/* sweep.h: a walk over a tape that carries derivatives, in either direction.
 *
 * There is one Jacobian. A primitive (an ALU operation, an address, a piece of a line) is a set of links (input slot,
 * output slot, coefficient). Forward mode (JVP) adds coefficient * input to the output, reverse mode (VJP) adds
 * coefficient * output to the input: vcs_link does both, and most of chips.c, line.c and fork.c is written once with
 * it. Three parts have faster code for reverse mode only, about 1,500 lines: instructions (instruction_reverse.c),
 * addresses (address_reverse.c), and whole pictures (line_sums.c). test_linear.c, test_line.c and test_grad.c bind them
 * to the links.
 *
 * A byte has sixteen slots. Slots 0 to 7 are its bits: the byte with one of them flipped. Slots 8 to 15 are its
 * carries: the byte moved by the same power of two, but the way the bit cannot go by itself. A bit that is 0 can go up;
 * down by as much means a borrow, and changes several bits at once.
 *
 *      0x37 -> 0x36   bit 0                  0x37 -> 0x38   carry 0: bits 0, 1, 2 and 3 together
 *
 * Without carries INC would move four bits of 0x37 that are each differentiated as if the other bits stood still, and a
 * position of 56 instead of 55 would be a sum of positions 54, 53, 51 and 63. With them every move of a byte by a power
 * of two is one difference; other moves are expressed bit by bit. Slots count upwards: a positive one means that
 * the byte grows. (Slot 15 is idle: to move by 128 is to flip bit 7, up or down.)
 *
 * Some fields are numbers: positions, times (VCS_NUMBER_FIELDS). Their derivative is in slot 0 of their first byte.
 * That of `cycles` is the derivative with respect to time: the effect of everything later happening one cycle later.
 * ROM has slots for its bits only.
 *
 * `live` marks every byte of the state that may have a nonzero slot. An instruction without a live byte costs a few
 * tests.
 */
#ifndef VCS_GRAD_SWEEP_H
#define VCS_GRAD_SWEEP_H

#include "diffvcs/grad.h"
#include "tape.h"

/* The choices of a forward walk that a reverse walk along the same direction makes again (directional.c). */
#define VCS_COUNT_NUMBERS(name, count) +(count)
enum { VCS_NUMBERS = 0 VCS_NUMBER_FIELDS(VCS_COUNT_NUMBERS) };
typedef struct {
  int32_t row, fork;   /* the fork whose column was added before the row; -1: the row's own result */
  uint16_t place;      /* a byte of the state, or a lane */
  uint8_t bits, flips; /* bits whose two moves were cancelled; those of them where the remainder flips the bit */
} vcs_cancelled_move_t;

/* A primitive that was evaluated with all of its inputs moved: the tangent of an input, or the difference of an output.
 */
typedef struct {
  int32_t row, place; /* a line of the picture; or VCS_ROW_INPUTS, VCS_ROW_OUTPUTS */
  uint32_t slot;      /* VCS_SLOTS * offset + slot in the state, VCS_OF_ROM | 8 * place + bit, VCS_OF_DATA | slot */
  float value;
} vcs_kept_move_t;
enum { VCS_ROW_INPUTS = 1 << 20, VCS_ROW_OUTPUTS };
enum { VCS_OF_ROM = 1 << 30, VCS_OF_DATA = 1 << 29 };

typedef struct {
  float *numbers; /* [row][VCS_NUMBERS]: the tangents before it */
  vcs_cancelled_move_t *cancelled;
  vcs_kept_move_t *moves;
  int32_t rows, count, capacity, move_count, move_capacity;
  bool failed; /* out of memory */
} vcs_directional_t;

/* Sets of objects. */
enum {
  VCS_ON_P0 = 1 << VCS_P0,
  VCS_ON_P1 = 1 << VCS_P1,
  VCS_ON_M0 = 1 << VCS_M0,
  VCS_ON_M1 = 1 << VCS_M1,
  VCS_ON_BL = 1 << VCS_BL,
  VCS_ON_PF = 1 << VCS_PF,
  VCS_ON_MOVABLE = VCS_ON_PF - 1
};

/* What line_sums.c keeps from piece to piece; initially 0. */
enum { VCS_LINE_ROUND = VCS_WIDTH + 80 }; /* a line, and what goes on behind its right edge */
typedef struct {
  float row[VCS_LINE_ROUND]; /* a piece's adjoints; between pieces it is 0 */
  float steps[4][16];        /* of each colour: what moving its index as each slot says adds to the scalar ... */
  uint8_t index[4], known;   /* ... from this index, if it is known */
} vcs_line_kept_t;

typedef struct {
  const vcs_cart_t *cart;
  const vcs_tape_t *tape;
  const float *scale; /* the scalar a palette index stands for */
  float *state, *rom; /* the slots; rom may be NULL */
  float *pixels;      /* of this frame, or NULL */
  uint8_t *live;      /* by byte of the state */
  uint8_t *lit;       /* walking backwards, by row of the picture: it has pixels that are not zero */
  const float *sums;  /* walking backwards by `ste`: those of each row up to each pixel, if they are made; or NULL */
  int32_t lit_from;   /* the clock at which the first of these rows begins */
  vcs_t *m;           /* contents at the row the walk is at: RAM and cartridge RAM; the rest is looked up */
  vcs_t *scratch;     /* a machine whose TIA registers are tried out */
  uint16_t *latched;  /* collisions at the beginning of each event's span; made when first needed */
  int32_t event, snapshot;        /* the next ones at or after the row */
  int32_t row;                    /* the walk is at */
  vcs_directional_t *directional; /* choices: a forward walk records them, a reverse walk uses them; or NULL */
  vcs_side_rule_t rule;
  bool reverse;
  bool have_latched;
  vcs_line_kept_t line;
} vcs_sweep_t;

#define VCS_OFFSET(field) offsetof(vcs_t, field)

#if !defined(VCS_SLOTS) /* a device that needs no carries has room for fewer (src/cuda) */
#define VCS_SLOTS 16
#endif

VCS_FN float *vcs_slots(const vcs_sweep_t *s, size_t offset) { return s->state + VCS_SLOTS * offset; }

/* The latch of collision number `bit`, which are two bytes. */
VCS_FN float *vcs_latch(const vcs_sweep_t *s, int bit) {
  return vcs_slots(s, VCS_OFFSET(collisions) + (size_t)(bit >> 3)) + (bit & 7);
}

VCS_FN void vcs_link(const vcs_sweep_t *s, float *in, float *out, float coefficient) {
  if (s->reverse) {
    *in += coefficient * *out;
  } else {
    *out += coefficient * *in;
  }
}

/* Whether any of some slots is not zero (neither +0 nor -0). */
VCS_FN bool vcs_any(const float *slots, int count) {
  uint32_t bits = 0;
  for (int i = 0; i < count; i++) {
    union {
      float slot;
      uint32_t bits;
    } word = {slots[i]};
    bits |= word.bits;
  }
  return bits << 1;
}

/* +1 where a bit is 0 and would become 1, -1 where it is 1. */
VCS_FN float vcs_sign(unsigned byte, int bit) { return byte >> bit & 1 ? -1.0F : 1.0F; }

/* The byte that a slot stands for, and whether it is above or below. */
VCS_FN uint8_t vcs_moved(uint8_t byte, int slot) {
  unsigned step = 1u << (slot & 7);
  if (slot < 8) return byte ^ (uint8_t)step;
  return (uint8_t)(byte & step ? byte + step : byte - step);
}
VCS_FN float vcs_direction(uint8_t byte, int slot) {
  return slot < 8 ? vcs_sign(byte, slot) : -vcs_sign(byte, slot & 7);
}

/* How a number is differenced: moved by `up` with weight `more`, and by -`down` with weight `less`. Walking forwards
 * along the tangent it moves as far as the tangent says, to the nearest whole step: three clocks are then three clocks,
 * and not three times one. */
typedef struct {
  float more, less;
  int up, down;
} vcs_sides_t;

enum { VCS_STEP_MAX = 64 };

VCS_FN vcs_sides_t vcs_sides(const vcs_sweep_t *s, float tangent) {
  vcs_sides_t sides = {0, 0, 1, 1};
  if (s->rule == VCS_SIDE_TANGENT) {
    float size = tangent < 0 ? -tangent : tangent;
    int step = size >= VCS_STEP_MAX ? VCS_STEP_MAX : size > 1 ? (int)(size + 0.5F) : 1; /* 1 also if it overflowed */
    sides.up = sides.down = step;
    if (tangent < 0) {
      sides.less = -1.0F / (float)step;
    } else {
      sides.more = 1.0F / (float)step;
    }
  } else {
    sides.more = s->rule == VCS_SIDE_MORE ? 1 : s->rule == VCS_SIDE_LESS ? 0 : 0.5F;
    sides.less = sides.more - 1;
  }
  return sides;
}

/* The same for the beginning of a stretch of time whose end is moved by `sides`. Along the tangent only the length of
 * the stretch counts: moving both by the same moves nothing. */
VCS_FN vcs_sides_t vcs_sides_of_beginning(const vcs_sweep_t *s, vcs_sides_t sides) {
  vcs_sides_t opposite = {-sides.less, -sides.more, sides.down, sides.up};
  return s->rule == VCS_SIDE_TANGENT ? opposite : sides;
}

/* Links an input to the bits that move between two bytes. */
VCS_FN void vcs_link_bits(const vcs_sweep_t *s, float *in, float *out, uint8_t was, uint8_t is, float weight) {
  for (unsigned moved = was ^ is; moved; moved &= moved - 1) {
    int bit = VCS_LOWEST(moved);
    vcs_link(s, in, out + bit, weight * vcs_sign(was, bit));
  }
}

/* The carry that turns one byte into the other, or -1; bytes count modulo `top` + 1. */
VCS_FN int vcs_carry_between(uint8_t was, uint8_t is, uint8_t top) {
  unsigned moved = was ^ is, up = (unsigned)(is - was) & top, down = (unsigned)(was - is) & top;
  if (!(moved & (moved - 1))) return -1; /* one bit: no carry */
  if (!(up & (up - 1)) && was & up) return VCS_LOWEST(up);
  if (!(down & (down - 1)) && !(was & down)) return VCS_LOWEST(down);
  return -1;
}

/* Links an input, whose change by one turns byte `was` into `is`, to the byte's slots. */
VCS_FN void vcs_link_byte(const vcs_sweep_t *s, float *in, float *out, uint8_t was, uint8_t is, float weight) {
  if (was == is) return;
  int carry = vcs_carry_between(was, is, 0xFF);
  if (carry < 0) {
    vcs_link_bits(s, in, out, was, is, weight);
  } else {
    vcs_link(s, in, out + 8 + carry, weight * vcs_direction(was, 8 + carry));
  }
}

/* Whether a byte of the state has carries: registers and memory that games count with. */
VCS_FN bool vcs_has_carries(size_t offset) {
  return (offset >= VCS_OFFSET(a) && offset <= VCS_OFFSET(sp)) ||
         (offset >= VCS_OFFSET(ram) && offset <= VCS_OFFSET(timer)) ||
         (offset >= VCS_OFFSET(colu) && offset < VCS_OFFSET(colu) + 4) || offset >= VCS_OFFSET(cart_ram);
}

/* ---- Whole moves ------------------------------------------------------------------------------------------------
 *
 * Along a direction the tangents of a byte may say where it moves to as a whole: a bit by its own sign, a carry or a
 * number by so many steps. Primitives are then evaluated once, with all of their inputs moved together, instead of once
 * for each slot. As a linear map the result is one column, which all slots that moved share equally.
 */

/* Moves a byte of the state, which was `was`, as the tangent of one of its slots says. False: that is no whole move. A
 * tangent against the direction of its slot is none: to first order it is minus the effect of the move. */
VCS_FN bool vcs_move_by(size_t offset, int slot, float tangent, uint8_t was, uint8_t *byte) {
  if (!(tangent >= -255 && tangent <= 255) || tangent != (float)(int)tangent) return false;
  if (offset >= VCS_OFFSET(pos) && offset < VCS_OFFSET(pos) + 5) {
    *byte = (uint8_t)((*byte + 2 * VCS_WIDTH + (int)tangent) % VCS_WIDTH);
    return true;
  }
  const bool nibble = offset >= VCS_OFFSET(hm) && offset < VCS_OFFSET(hm) + 5,
             counts = nibble || vcs_has_carries(offset);
  if (tangent * vcs_direction(was, slot) < 1 || (slot > 7 && !counts)) return false;
  const uint8_t moved = (uint8_t)(*byte + (int)tangent * (1 << (slot & 7)));
  *byte = nibble ? moved & 15 : counts ? moved : *byte ^ (uint8_t)(1 << slot);
  return true;
}

/* The same for all of its slots. Adds to *moves how many there are; one of several steps counts as two. */
VCS_FN bool vcs_move_along(size_t offset, const float *slots, int count, uint8_t *byte, int *moves) {
  const uint8_t was = *byte;
  for (int slot = 0; slot < count; slot++) {
    if (slots[slot] == 0) continue;
    if (!vcs_move_by(offset, slot, slots[slot], was, byte)) return false;
    *moves += slots[slot] == 1 || slots[slot] == -1 ? 1 : 2;
  }
  return true;
}

/* ---- Choices (directional.c) ------------------------------------------------------------------------------------ */

/* Makes room for the choices on a tape of `rows` rows. Returns false when memory runs out. */
bool vcs_directional_begin(vcs_directional_t *choices, int32_t rows);
void vcs_directional_free(vcs_directional_t *choices);

/* Tells the walk the row it is about to process; after the last row, the number of rows. A forward walk along a
 * direction keeps the tangents of all numbers here. */
VCS_EXTERN void vcs_directional_at(vcs_sweep_t *s, int32_t row);

/* Returns the tangent of the number at an offset, for vcs_sides. A reverse walk along a direction returns the tangent
 * that the forward walk kept; of a field that is not a number it knows none, and returns 0. */
VCS_EXTERN float vcs_tangent(const vcs_sweep_t *s, size_t offset);

/* With VCS_SIDE_TANGENT, moves of a byte up and down by the same power of two become one move: their sum, in the
 * direction of its sign. A DEC that an INC undoes is then no move at all. */
VCS_EXTERN void vcs_cancel_moves(const vcs_sweep_t *s, int32_t fork, size_t place, uint8_t byte,
                                 float slots[VCS_SLOTS]);

/* Keeps a move of the primitive at s->row. */
VCS_EXTERN void vcs_keep_move(const vcs_sweep_t *s, int32_t place, uint32_t slot, float value);

/* Walking backwards: those of the primitive at s->row, which are given once; *count is how many. */
VCS_EXTERN const vcs_kept_move_t *vcs_kept_moves(const vcs_sweep_t *s, int32_t place, int32_t *count);

/* Whether a line of the picture has any at s->row. */
VCS_EXTERN bool vcs_lines_moved(const vcs_sweep_t *s);

/* ---- The picture (line.c) ------------------------------------------------------------------------------------- */

/* The span an event ends: pixels and collisions as they depend on the TIA's registers. */
VCS_EXTERN void vcs_sweep_span(vcs_sweep_t *s, const vcs_event_t *event);

/* The register write of event number `index` one cycle later or earlier: the pixels between. */
VCS_EXTERN void vcs_sweep_shift(vcs_sweep_t *s, int32_t index);

/* The TIA as an event found it, brought to the line of `clock`, in s->scratch. */
VCS_EXTERN void vcs_sweep_tia(vcs_sweep_t *s, const vcs_event_t *event, int32_t clock);

/* ---- Registers and ports (chips.c) ---------------------------------------------------------------------------- */

/* A write to the TIA: the bits of V (adjoints if walking backwards) and the registers. */
VCS_EXTERN void vcs_sweep_tia_write(vcs_sweep_t *s, const vcs_event_t *event, float v[VCS_SLOTS]);

/* A byte read from the TIA or the RIOT, into V. */
VCS_EXTERN void vcs_sweep_chip_read(vcs_sweep_t *s, const vcs_row_t *row, uint16_t addr, uint32_t cycles,
                                    float v[VCS_SLOTS]);

/* The byte that a read of a chip's register would find; `bus` is what was on the bus before. False: it is not known. */
VCS_EXTERN bool vcs_sweep_chip_byte(vcs_sweep_t *s, uint16_t addr, uint32_t cycles, uint8_t bus, uint8_t *byte);

/* A write to the RIOT. */
VCS_EXTERN void vcs_sweep_riot_write(vcs_sweep_t *s, const vcs_row_t *row, uint16_t addr, float v[VCS_SLOTS]);

/* ---- Instructions (instruction.c) ----------------------------------------------------------------------------- */

VCS_EXTERN void vcs_sweep_row(vcs_sweep_t *s, int32_t index);

/* ---- The other side of a branch (fork.c) ------------------------------------------------------------------------ */

/* What is different where the two sides of a branch meet again: the branch's column of the Jacobian, apart from the
 * sign of its flag. `slot` is VCS_SLOTS * offset + slot in the state, or, above VCS_FORK_PIXEL, a pixel of the frame.
 */
enum { VCS_FORK_PIXEL = 1 << 30 };
typedef struct {
  uint32_t slot;
  float by;
} vcs_difference_t;

typedef struct {
  int32_t row, meets;   /* the branch, and the row before which the sides have met; -1: they have not */
  int32_t first, count; /* of the differences */
  int32_t next, before; /* other forks that meet at the same row, or -1 */
  float pending;        /* its product with the tangent or adjoint */
  float share;          /* along a direction: how much of its flag's tangent that is */
  bool idle;            /* ... its flag does not move */
  bool inside;          /* its branch is in a region (region.c), and has no part in products where that is crossed */
  bool refused;         /* it begins a chain that explodes, and has no part in products (vcs_forks_probe) */
} vcs_fork_t;

typedef struct vcs_forks vcs_forks_t;

vcs_forks_t *vcs_forks_create(const vcs_cart_t *cart, int32_t window);
void vcs_forks_free(vcs_forks_t *forks);

/* Another run: nothing is counted yet. */
void vcs_forks_restart(vcs_forks_t *forks);

/* A new tape: nothing is known of its forks. `picture` is what the frame shows, `scratch` room for another; `along`
 * a direction there are regions, too. False: no memory. */
bool vcs_forks_begin(vcs_forks_t *forks, const vcs_tape_t *tape, const uint8_t *frames, bool along);

/* Before a walk forwards over the tape; after it, whether memory ran out. */
void vcs_forks_walk(vcs_forks_t *forks, const vcs_sweep_t *s);
bool vcs_forks_failed(const vcs_forks_t *forks);

/* Whether the walk backwards that follows is a probe: forks that turn too many later ones are refused from then on, in
 * both directions. */
void vcs_forks_probe(vcs_forks_t *forks, bool probing);

/* Back over the same tape, along the direction of the walk forwards that has just ended. */
void vcs_forks_turn(vcs_forks_t *forks);

/* Before a row is walked forwards, or after it was walked backwards: what forks have to do there. */
void vcs_forks_row(vcs_forks_t *forks, vcs_sweep_t *s, int32_t row);

/* Crosses the region that begins at a row, or walking backwards the one that ends there, and returns the row to go on
 * with; without a region that is the row itself. */
int32_t vcs_regions_cross(vcs_forks_t *forks, vcs_sweep_t *s, int32_t row);

void vcs_forks_report(const vcs_forks_t *forks, vcs_grad_report_t *report);

#endif
