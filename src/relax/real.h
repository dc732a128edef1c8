/* real.h: the machine of real numbers.
 *
 *   registers, flags, time, RAM, cartridge RAM, ROM   real numbers (vcs_reals_t)
 *   TIA, RIOT ports and timer, banks                  integers, in relax->m; values written to them are rounded
 *
 * vcs_real_evaluate evaluates an instruction: it computes the new registers and written cells without changing the
 * state, for one opcode or for all 256 (real.c blends them). Only the opcode of the rounded byte `acts`: its accesses
 * reach the chips and switch banks. All other opcodes read chips without side effects.
 */
#ifndef VCS_RELAX_REAL_H
#define VCS_RELAX_REAL_H

#include "core/bus.h"
#include "links.h"
#include "relaxed.h"

enum { VCS_REGISTERS = VCS_SLOT_RAM };

struct vcs_reals {
  vcs_real_t reg[VCS_REGISTERS]; /* by VCS_SLOT_... */
  vcs_real_t *ram, *cart_ram, *rom;
  vcs_real_t *cells; /* all three arrays, consecutive */
  size_t cell_count, state_cells;
  uint8_t *blended; /* cells already processed while opcodes are blended */
};

/* A cell that an instruction writes, as an index into `cells`. */
typedef struct {
  int32_t cell;
  vcs_real_t value;
} vcs_real_write_t;

enum { VCS_REAL_WRITES = 3, VCS_REAL_MEMO = 64 };

/* An instruction in progress. */
typedef struct {
  vcs_relax_t *relax;
  vcs_reals_t *reals;
  vcs_links_t *links;
  vcs_video_t *video;
  bool acts;
  bool at_once; /* it is the only opcode: cells are written at once, and it can read them again */
  uint16_t pc;  /* of the instruction */

  /* Results. */
  vcs_real_t reg[VCS_REGISTERS];
  vcs_real_write_t writes[VCS_REAL_WRITES];
  int write_count;
  bool frame_over;

  /* Cache of reads of this instruction: 256 opcodes read mostly the same cells. */
  struct {
    int32_t cell;
    double position;
    int32_t variable;
    vcs_real_t value;
  } memo[VCS_REAL_MEMO];
  int memo_count;
} vcs_doing_t;

/* ---- Accesses (real_bus.c) ------------------------------------------------------------------------------------- */

/* Casts a softened number according to the options. */
vcs_real_t vcs_real_cast(const vcs_doing_t *doing, vcs_real_t real);

uint16_t vcs_real_address(vcs_real_t address); /* rounded, 16 bits */
uint8_t vcs_real_byte(vcs_real_t real);        /* rounded, 0 to 255 */
vcs_real_t vcs_real_read(vcs_doing_t *doing, vcs_real_t address);
void vcs_real_write(vcs_doing_t *doing, vcs_real_t address, vcs_real_t value, bool stalls);

/* Wraps a number that counting has moved out of its range, according to its rounded value. */
vcs_real_t vcs_real_wrapped(vcs_real_t real, double range);

vcs_real_t vcs_real_clamped(vcs_real_t real, double most); /* to 0 .. most; there it is a constant */

/* ---- Instructions (real_ops.c) --------------------------------------------------------------------------------- */

/* Evaluates an instruction: doing->reg has the registers before it, with the counter after the opcode, and then those
 * after it. */
void vcs_real_evaluate(vcs_doing_t *doing, uint8_t opcode);

/* ---- The machine (real.c) -------------------------------------------------------------------------------------- */

bool vcs_reals_start(vcs_relax_t *relax); /* false: out of memory */
void vcs_reals_free(vcs_relax_t *relax);
void vcs_reals_load(vcs_relax_t *relax);       /* from relax->m */
void vcs_reals_load_image(vcs_relax_t *relax); /* from the cartridge */
void vcs_reals_adopt(vcs_relax_t *relax);      /* relax->m from the real numbers, rounded */
void vcs_reals_adopt_cell(vcs_relax_t *relax, int32_t cell);
void vcs_real_step(vcs_relax_t *relax, vcs_links_t *links, uint8_t *frames);
void vcs_real_begin_frame(vcs_relax_t *relax);
void vcs_real_frame(vcs_relax_t *relax, uint8_t *frames);

#endif
