/* diffvcs/relax.h: the fully relaxed machine.
 *
 * Three decisions of the machine are softened, and the exact value is never restored (docs/relaxed.md):
 *
 *   reads      sum_i w_i r_i, w_i ~ exp(-|i - a| / T), over the cells of ROM, RAM or cartridge RAM near the address a
 *   branches   pc = (1 - g) (next) + g (next + offset), g = sigma(alpha z), z = s (2 flag - 1)
 *   dispatch   sum_k w_k (result of opcode k), w = softmax(logits / T), over all 256 opcodes
 *
 * With the cast VCS_CAST_ROUND every read, every program counter and every blend is rounded to an integer, ties to
 * even: the machine has integers only, and differs from the exact one from the first value that rounds wrongly on.
 * With VCS_CAST_NONE registers, flags, RAM, time, the registers of TIA and RIOT, and pixels are real numbers, and
 * operations are the multilinear interpolation of the exact ones. Only decisions round: which cell or register is
 * accessed, which bank is selected, on which line and in which frame something happens (docs/relaxed.md).
 * That map has derivatives: vcs_relax_jvp, vcs_relax_vjp, and the same for whole frames with their pictures.
 *
 * The conventions are those of diffvcs.h.
 */
#ifndef DIFFVCS_RELAX_H
#define DIFFVCS_RELAX_H

#include "diffvcs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Options --------------------------------------------------------------------------------------------------- */

typedef enum { VCS_CAST_ROUND, VCS_CAST_NONE } vcs_cast_t;

/* Dispatch of an opcode. All except HARD evaluate all 256 opcodes for every instruction. */
typedef enum {
  VCS_DISPATCH_HARD,    /* only the opcode that was read, rounded, as in the paper's tables */
  VCS_DISPATCH_ONE_HOT, /* softmax of logits that are 1 for that opcode and 0 for all other opcodes */
  VCS_DISPATCH_DISTANCE /* softmax of -|k - opcode|, as for reads */
} vcs_dispatch_t;

typedef enum {
  VCS_BUS_REAL,   /* the whole machine */
  VCS_BUS_REDUCED /* the paper's: 128 cells, addr & $7F, below $1000; no chips and no banks */
} vcs_bus_t;

typedef struct {
  double alpha, temperature; /* sharpness of branches; temperature of reads and dispatch */
  int32_t window;            /* number of cells on each side of the address; 0: the whole array */
  uint8_t wrap;     /* 1: the ends of an array are neighbours; 0: cells beyond the ends are omitted from both sums */
  uint8_t single;   /* 1: weights, sums and branches in float; 0: in double */
  uint8_t cast;     /* vcs_cast_t */
  uint8_t dispatch; /* vcs_dispatch_t */
  uint8_t bus;      /* vcs_bus_t */
  uint64_t reserved[8]; /* 0 */
} vcs_relax_options_t;

/* Fills in the defaults: alpha 6, T 0.14, the whole array, no wrap, double, VCS_CAST_ROUND, VCS_DISPATCH_HARD,
 * VCS_BUS_REAL. */
VCS_API void vcs_relax_defaults(vcs_relax_options_t *options);

/* ---- The machine ----------------------------------------------------------------------------------------------- */

typedef struct vcs_relax vcs_relax_t;

/* Creates a relaxed machine in the state after vcs_boot; the cartridge must outlive it. alpha and T must be positive
 * and finite as floats. On failure *relax is NULL. */
VCS_API vcs_status_t vcs_relax_create(const vcs_cart_t *cart, const vcs_relax_options_t *options, vcs_relax_t **relax,
                                      vcs_error_t *error);
VCS_API void vcs_relax_free(vcs_relax_t *relax);

/* Copies the state of a machine and resets the report. */
VCS_API void vcs_relax_load(vcs_relax_t *relax, const vcs_t *m);

/* Sets the initial state of the paper's tables: RAM 0, PC at the reset vector (read exactly), SP $FD, P $34. */
VCS_API void vcs_relax_load_reduced(vcs_relax_t *relax);

/* Returns the machine with every real number rounded. */
VCS_API const vcs_t *vcs_relax_machine(const vcs_relax_t *relax);

/* Like vcs_control, vcs_step and vcs_frame. A step begins a frame if none is under way, and ends a frame whose last
 * instruction it is. The reduced bus has no frames: vcs_relax_frame does nothing there. */
VCS_API void vcs_relax_control(vcs_relax_t *relax, const vcs_controls_t *controls);
VCS_API void vcs_relax_step(vcs_relax_t *relax, uint8_t *frames);
VCS_API void vcs_relax_frame(vcs_relax_t *relax, uint8_t *frames);

/* ---- Report ------------------------------------------------------------------------------------------- */

/* A value that was relaxed and cast: a read, or the program counter after a branch. */
typedef struct {
  const uint8_t *cells; /* array of a read, as integers, or NULL for a branch */
  int32_t size, index;  /* size of the array, and index of the cell that is read */
  uint16_t pc;          /* address of the instruction */
  uint16_t address;     /* address of the read, or exact target of the branch */
  int16_t offset;       /* offset of a branch */
  uint8_t taken;        /* whether a branch is taken */
  uint16_t exact;       /* exact value */
  double relaxed;       /* relaxed value before the cast */
} vcs_relax_value_t;

/* Sets a function that is called for every relaxed value, right or wrong; NULL for none. */
typedef void (*vcs_relax_watch_t)(void *context, const vcs_relax_value_t *value);
VCS_API void vcs_relax_watch(vcs_relax_t *relax, vcs_relax_watch_t watch, void *context);

/* Counts since the last load. A value is wrong if it rounds to another value than the exact one for the current state.
 */
typedef struct {
  uint64_t instructions, reads, branches, wrong_reads, wrong_branches;
  uint64_t
      first_wrong_instruction;   /* index of the first instruction with a wrong value, from 0; valid if there is one */
  vcs_relax_value_t first_wrong; /* that value; `cells` must not be dereferenced */
} vcs_relax_report_t;
VCS_API const vcs_relax_report_t *vcs_relax_report(const vcs_relax_t *relax);

/* Returns one relaxed read of cells[index] before the cast, with the options' arithmetic. */
VCS_API double vcs_relax_read(const vcs_relax_t *relax, const uint8_t *cells, int32_t size, int32_t index);

/* Returns the program counter after a relaxed branch, before the cast; `next` is the address of the next instruction.
 */
VCS_API double vcs_relax_branch(const vcs_relax_t *relax, uint16_t next, int offset, int taken);

/* ---- Values and derivatives ------------------------------------------------------------------------------------ */

/* The state as numbers: registers, flags, time, chips, RAM, cartridge RAM; then, for inputs only, the image. Times are
 * CPU cycles since the frame began. A register of one bit is a number from 0 to 1. Slots: */
enum {
  VCS_SLOT_A,
  VCS_SLOT_X,
  VCS_SLOT_Y,
  VCS_SLOT_SP,
  VCS_SLOT_N,
  VCS_SLOT_V,
  VCS_SLOT_D,
  VCS_SLOT_I,
  VCS_SLOT_Z,
  VCS_SLOT_C,
  VCS_SLOT_PC,
  VCS_SLOT_TIME,
  VCS_SLOT_BUS,                        /* the last byte on the data bus */
  VCS_SLOT_SWCHA,                      /* 8 pins of the joysticks, lowest bit first; 0: pressed */
  VCS_SLOT_SWCHB = VCS_SLOT_SWCHA + 8, /* 8 console switches, lowest bit first */
  VCS_SLOT_FIRE = VCS_SLOT_SWCHB + 8,  /* 2 fire pins, 0: pressed */
  VCS_SLOT_DDRA = VCS_SLOT_FIRE + 2,   /* port A's direction */
  VCS_SLOT_TIMER,                      /* what the timer was set to, ... */
  VCS_SLOT_TIMER_CYCLE,                /* ... and when */
  VCS_SLOT_DUMP_CYCLE,                 /* when the paddles' capacitors began to charge */
  VCS_SLOT_VSYNC,                      /* the TIA's registers */
  VCS_SLOT_VBLANK,
  VCS_SLOT_NUSIZ,                     /* 2 */
  VCS_SLOT_COLU = VCS_SLOT_NUSIZ + 2, /* 4: background, playfield, players 0 and 1 */
  VCS_SLOT_CTRLPF = VCS_SLOT_COLU + 4,
  VCS_SLOT_REFLECT,                     /* 2 */
  VCS_SLOT_PF = VCS_SLOT_REFLECT + 2,   /* 3 */
  VCS_SLOT_GRP = VCS_SLOT_PF + 3,       /* 2 */
  VCS_SLOT_GRP_OLD = VCS_SLOT_GRP + 2,  /* 2: as the other player's write latched them */
  VCS_SLOT_ENAM = VCS_SLOT_GRP_OLD + 2, /* 2 */
  VCS_SLOT_ENABL = VCS_SLOT_ENAM + 2,
  VCS_SLOT_ENABL_OLD,
  VCS_SLOT_HM,                      /* 5 motion values, 0 to 15: P0, P1, M0, M1, ball */
  VCS_SLOT_VDELP = VCS_SLOT_HM + 5, /* 2 */
  VCS_SLOT_VDELBL = VCS_SLOT_VDELP + 2,
  VCS_SLOT_RESMP,                            /* 2 */
  VCS_SLOT_POS = VCS_SLOT_RESMP + 2,         /* 5 first pixels: P0, P1, M0, M1, ball */
  VCS_SLOT_MIRRORED = VCS_SLOT_POS + 5,      /* the playfield's right half, as latched */
  VCS_SLOT_COLLISIONS,                       /* 16 latches: two for each of CXM0P to CXPPMM, bit 7 first */
  VCS_SLOT_AUDIO = VCS_SLOT_COLLISIONS + 16, /* 6: AUDC0, AUDC1, AUDF0, AUDF1, AUDV0, AUDV1 */
  VCS_SLOT_RAM = VCS_SLOT_AUDIO + 6          /* 128; then the cartridge's RAM; then the image */
};
VCS_API size_t vcs_relax_state_slots(const vcs_relax_t *relax);
VCS_API size_t vcs_relax_input_slots(const vcs_relax_t *relax);

/* All input slots. Setting keeps every number in its range (registers and cells in 0..255, flags and bits in 0..1,
 * positions from 0 to below 160); with VCS_CAST_ROUND it rounds. The image stays as it is set until the next load; a
 * machine that is rounded and dispatched hard reads the cartridge's own. */
VCS_API void vcs_relax_values(vcs_relax_t *relax, double *values);
VCS_API void vcs_relax_set_values(vcs_relax_t *relax, const double *values);

/* The picture of the current frame as real numbers, frame_height x 160 palette indices, as far as the beam has drawn
 * it. A machine that is rounded and dispatched hard has no such picture outside the calls for derivatives. */
VCS_API void vcs_relax_picture(const vcs_relax_t *relax, double *pixels);

/* The derivative of the next `steps` instructions: d_state += J d_input, and d_input += J^T d_state. The machine goes
 * on by these steps, as vcs_relax_step does; a frame that ends is followed by the next. Where the map has a kink (an
 * integer operand, a read exactly at a cell) the derivative is the mean of the two one-sided ones. Casts count as the
 * identity. */
VCS_API vcs_status_t vcs_relax_jvp(vcs_relax_t *relax, int32_t steps, const double *d_input, double *d_state,
                                   vcs_error_t *error);
VCS_API vcs_status_t vcs_relax_vjp(vcs_relax_t *relax, int32_t steps, double *d_input, const double *d_state,
                                   vcs_error_t *error);

/* The same with the picture as it is afterwards: d_pixels (frame_height x 160, or NULL). Pixels that are not drawn on
 * the way are constants. With VCS_RELAX_FRAME for `steps` it is the next frame, as vcs_relax_frame runs it. */
enum { VCS_RELAX_FRAME = -1 };
VCS_API vcs_status_t vcs_relax_jvp_picture(vcs_relax_t *relax, int32_t steps, const double *d_input, double *d_state,
                                           double *d_pixels, vcs_error_t *error);
VCS_API vcs_status_t vcs_relax_vjp_picture(vcs_relax_t *relax, int32_t steps, double *d_input, const double *d_state,
                                           const double *d_pixels, vcs_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
