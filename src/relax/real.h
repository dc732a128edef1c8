/* real.h: the machine of real numbers.
 *
 *   registers, flags, time, RAM, cartridge RAM, ROM   real numbers (vcs_reals_t)
 *   TIA, RIOT ports and timer, banks                  integers, in relax->m; what goes to them is rounded
 *
 * An instruction is evaluated by vcs_real_evaluate: from the numbers as they are, what the registers would be and which
 * cells would be written, nothing being changed. That can be done for one opcode or for all 256 (real.c blends). Only
 * one of them, the opcode that the rounded byte names, `acts`: its accesses reach the chips and switch banks. The
 * others look at chips without touching them.
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
  vcs_real_t *cells; /* the three of them, one behind the other */
  size_t cell_count, state_cells;
  uint8_t *blended; /* cells that are done, while opcodes are blended */
};

/* A cell that an instruction writes, counted through `cells`. */
typedef struct {
  int32_t cell;
  vcs_real_t value;
} vcs_real_write_t;

enum { VCS_REAL_WRITES = 3, VCS_REAL_MEMO = 64 };

/* An instruction under way. */
typedef struct {
  vcs_relax_t *relax;
  vcs_reals_t *reals;
  vcs_links_t *links;
  vcs_video_t *video;
  bool acts;
  bool at_once; /* it is the only opcode: cells are written while it goes on, and it can read what it wrote */
  uint16_t pc;  /* of the instruction */

  /* What it makes. */
  vcs_real_t reg[VCS_REGISTERS];
  vcs_real_write_t writes[VCS_REAL_WRITES];
  int write_count;
  bool frame_over;

  /* Reads of this instruction: 256 opcodes look at much the same cells. */
  struct {
    int32_t cell;
    double position;
    int32_t variable;
    vcs_real_t value;
  } memo[VCS_REAL_MEMO];
  int memo_count;
} vcs_doing_t;

/* ---- Accesses (real_bus.c) ------------------------------------------------------------------------------------- */

/* The cast: what the options make of a number that was softened. */
vcs_real_t vcs_real_cast(const vcs_doing_t *doing, vcs_real_t real);

uint16_t vcs_real_address(vcs_real_t address); /* rounded, 16 bits */
uint8_t vcs_real_byte(vcs_real_t real);        /* rounded, 0 to 255 */
vcs_real_t vcs_real_read(vcs_doing_t *doing, vcs_real_t address);
void vcs_real_write(vcs_doing_t *doing, vcs_real_t address, vcs_real_t value, bool stalls);

/* A number that went past its range by counting is brought back round it, by what it rounds to. */
vcs_real_t vcs_real_wrapped(vcs_real_t real, double range);

vcs_real_t vcs_real_clamped(vcs_real_t real, double most); /* to 0 .. most; there it is a constant */

/* ---- Instructions (real_ops.c) --------------------------------------------------------------------------------- */

/* doing->reg is what the registers are, with the counter behind the opcode; afterwards what they would be. */
void vcs_real_evaluate(vcs_doing_t *doing, uint8_t opcode);

/* ---- The machine (real.c) -------------------------------------------------------------------------------------- */

bool vcs_reals_start(vcs_relax_t *relax); /* false: no memory */
void vcs_reals_free(vcs_relax_t *relax);
void vcs_reals_load(vcs_relax_t *relax);       /* from relax->m */
void vcs_reals_load_image(vcs_relax_t *relax); /* from the cartridge */
void vcs_reals_adopt(vcs_relax_t *relax);      /* relax->m from the real numbers, rounded */
void vcs_reals_adopt_cell(vcs_relax_t *relax, int32_t cell);
void vcs_real_step(vcs_relax_t *relax, vcs_links_t *links, uint8_t *frames);
void vcs_real_begin_frame(vcs_relax_t *relax);
void vcs_real_frame(vcs_relax_t *relax, uint8_t *frames);

#endif
