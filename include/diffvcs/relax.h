/* diffvcs/relax.h: the fully relaxed machine.
 *
 * Three decisions of the machine are softened, and the exact value is never restored (docs/relaxed.md):
 *
 *   reads      sum_i w_i r_i, w_i ~ exp(-|i - a| / T), over the cells of ROM, RAM or cartridge RAM near the address a
 *   branches   pc = (1 - g) (next) + g (next + offset), g = sigma(alpha z), z = s (2 flag - 1)
 *   dispatch   sum_k w_k (result of opcode k), w = softmax(logits / T), over all 256 opcodes
 *
 * With the cast VCS_CAST_ROUND every read, every program counter and every blend is rounded to an integer, ties to
 * even: the machine has integers again and diverges from the exact one at the first value that rounds wrongly.
 * With VCS_CAST_NONE registers, flags, RAM and time stay real numbers, operations are multilinear interpolations of
 * the exact ones, and only the chips (TIA, RIOT, bank switches, the decoder of write addresses) round. vcs_relax_jvp
 * and vcs_relax_vjp differentiate this map.
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

/* Creates a relaxed machine in the state after vcs_boot; the cartridge must outlive it. alpha and T must be positive.
 * On failure *relax is NULL. */
VCS_API vcs_status_t vcs_relax_create(const vcs_cart_t *cart, const vcs_relax_options_t *options, vcs_relax_t **relax,
                                      vcs_error_t *error);
VCS_API void vcs_relax_free(vcs_relax_t *relax);

/* Copies the state of a machine and resets the report. */
VCS_API void vcs_relax_load(vcs_relax_t *relax, const vcs_t *m);

/* Sets the initial state of the paper's tables: RAM 0, PC at the reset vector (read exactly), SP $FD, P $34. */
VCS_API void vcs_relax_load_reduced(vcs_relax_t *relax);

/* Returns the machine with every real number rounded. */
VCS_API const vcs_t *vcs_relax_machine(const vcs_relax_t *relax);

/* Like vcs_control, vcs_step and vcs_frame. The reduced bus has no frames: vcs_relax_frame does nothing there. */
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

/* Slots of the state as numbers: registers, flags, time, RAM, cartridge RAM; then, for inputs only, the image. */
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
  VCS_SLOT_TIME, /* cycles since the frame began */
  VCS_SLOT_RAM   /* 128 cells; then the cartridge's RAM; then the image */
};
VCS_API size_t vcs_relax_state_slots(const vcs_relax_t *relax);
VCS_API size_t vcs_relax_input_slots(const vcs_relax_t *relax);

/* Read and write all input slots. Writing clamps registers and cells to 0..255 and flags to 0..1, does not change the
 * chips, and rounds with VCS_CAST_ROUND. A written image is kept until the next load; with VCS_CAST_ROUND and
 * VCS_DISPATCH_HARD the machine reads the cartridge's own image. */
VCS_API void vcs_relax_values(vcs_relax_t *relax, double *values);
VCS_API void vcs_relax_set_values(vcs_relax_t *relax, const double *values);

/* Run the next `steps` instructions without drawing and differentiate them: d_state += J d_input, and d_input += J^T
 * d_state, with vcs_relax_state_slots and vcs_relax_input_slots entries. A frame that ends is followed by the next. At
 * a kink of the map (an integer operand, a read exactly at a cell) the derivative is the mean of the two one-sided
 * derivatives. Casts have the derivative of the identity; chips carry no derivative. */
VCS_API vcs_status_t vcs_relax_jvp(vcs_relax_t *relax, int32_t steps, const double *d_input, double *d_state,
                                   vcs_error_t *error);
VCS_API vcs_status_t vcs_relax_vjp(vcs_relax_t *relax, int32_t steps, double *d_input, const double *d_state,
                                   vcs_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
