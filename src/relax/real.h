/* real.h: the machine of real numbers.
 *
 *   registers, flags, time, RAM, cartridge RAM, ROM   real numbers (vcs_reals_t)
 *   registers of TIA and RIOT, pins, pixels           real numbers, too (real_tia.c, real_line.c, real_riot.c)
 *   banks, and every decision                         integers, in relax->m, which is the machine rounded
 *
 * An instruction is evaluated by vcs_real_evaluate: from the numbers as they are, what the registers would be and which
 * cells would be written, nothing being changed. That can be done for one opcode or for all 256 (real.c blends). Only
 * one of them, the opcode of the rounded byte, `acts`: its accesses change the chips and switch banks. Each of the
 * other opcodes runs beside a copy of the integer machine. Its accesses change the chips and banks of the copy, which
 * is then dropped.
 */
#ifndef VCS_RELAX_REAL_H
#define VCS_RELAX_REAL_H

#include "core/bus.h"
#include "links.h"
#include "relaxed.h"

enum { VCS_REGISTERS = VCS_SLOT_TIME + 1 }; /* of the CPU */

/* The TIA's registers as the picture needs them, from a write on: every bit and every code of a register by itself. A
 * code (the copies of NUSIZ, a width, the priority of CTRLPF) is one number for each of its values, 1 for the one that
 * the register holds. */
typedef struct {
  vcs_real_t colour[4], shown[2][8], playfield[20], missile[2], ball, mirrored, pos[5], blank;
  vcs_real_t copies[2][8], width[2][4], ball_width[4], priority[4];
  uint8_t may_light;                      /* objects that have a bit or a derivative */
  uint8_t first_copy_off[2], stars_shape; /* as in vcs_t */
  bool only_playfield;

  /* When the write reaches the picture, in clocks of the frame: one cycle sooner, as rounded, one cycle later; and how
   * far the time of the write is beyond its rounded cycle. */
  int32_t sooner, clock, later;
  vcs_real_t time;
  double past;
} vcs_look_t;

/* The beam. `looks` are those of the piece that is not drawn yet, the present one last. */
typedef struct {
  vcs_look_t *looks;
  int count, capacity;
  int32_t line, line_clock, seen; /* drawn up to here; the clock of the frame of the last access */
  bool comb; /* eight pixels after an HMOVE are due to be blanked, from this clock of the frame on: */
  int32_t comb_clock;
  uint8_t stars, stars_phase;
  vcs_real_t *pictures[2]; /* by m->front */
  bool failed;             /* out of memory */
} vcs_beam_t;

struct vcs_reals {
  vcs_real_t reg[VCS_SLOT_RAM]; /* by VCS_SLOT_... */
  vcs_beam_t beam;
  vcs_real_t *ram, *cart_ram, *rom;
  vcs_real_t *cells; /* all three arrays, consecutive */
  size_t cell_count, state_cells;
  uint8_t *frames;  /* two buffers of the integer machine's, for calls that give none */
  uint8_t *blended; /* cells that are done, while opcodes are blended */
  vcs_t *copy;      /* of the integer machine, for opcodes that do not act */
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
  vcs_real_t bus;
  bool acts;
  uint16_t latches; /* the integer machine's collisions before the instruction */
  bool at_once;     /* it is the only opcode: cells are written at once, and it can read them again */
  uint16_t pc;      /* of the instruction */

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

/* ---- Chips (real_riot.c, real_tia.c, real_line.c) --------------------------------------------------------------- */

/* What a register would read now, the integer machine having been read already if the instruction acts. */
vcs_real_t vcs_real_riot_read(vcs_doing_t *doing, uint16_t addr);
vcs_real_t vcs_real_tia_read(vcs_doing_t *doing, uint16_t addr);

/* A write that the integer machine has just made. `before` is what these fields were before it. */
typedef struct {
  int32_t seen;
  uint8_t resmp[2], vblank;
} vcs_tia_before_t;
void vcs_real_riot_write(vcs_doing_t *doing, uint16_t addr, vcs_real_t value);
void vcs_real_tia_write(vcs_doing_t *doing, unsigned reg, vcs_real_t value, const vcs_tia_before_t *before);

/* The number of one bit of a byte. */
vcs_real_t vcs_real_bit(vcs_links_t *links, vcs_real_t byte, int bit);

bool vcs_beam_start(vcs_reals_t *reals);
void vcs_beam_free(vcs_reals_t *reals);
/* Goes to where relax->m is; the look is made from the registers. */
void vcs_beam_load(vcs_relax_t *relax, vcs_links_t *links);
void vcs_beam_forget_pictures(vcs_reals_t *reals); /* both black */

/* relax->m has just begun a frame; and it stops here, and has drawn these two buffers. */
void vcs_beam_begin_frame(vcs_relax_t *relax);
void vcs_beam_finish(vcs_relax_t *relax, const uint8_t *frames);

/* Draws up to a clock of the frame. */
void vcs_beam_draw(vcs_relax_t *relax, vcs_links_t *links, int32_t clock);

/* The registers from a look's parts, after a write to a register or, with VCS_LOOK_ALL, to any. */
enum { VCS_LOOK_ALL = 64 };
void vcs_look_update(const vcs_reals_t *reals, vcs_links_t *links, vcs_look_t *look, unsigned reg);

/* Copies what is not a number from the integer machine: first copies, stars, and whether only the playfield is on. */
void vcs_look_take_flags(vcs_beam_t *beam, vcs_look_t *look, const vcs_t *m);

/* A new look, the same as the present one so far. NULL: no memory. */
vcs_look_t *vcs_beam_push(vcs_beam_t *beam);

/* ---- Instructions (real_ops.c) --------------------------------------------------------------------------------- */

/* Evaluates an instruction: doing->reg has the registers before it, with the counter after the opcode, and then those
 * after it. */
void vcs_real_evaluate(vcs_doing_t *doing, uint8_t opcode);

/* What an instruction does: the registers after it, and the cells that it writes. */
typedef struct {
  vcs_real_t reg[VCS_REGISTERS];
  vcs_real_write_t writes[VCS_REAL_WRITES];
  int write_count;
} vcs_outcome_t;

/* What an opcode would do in the place of the one at the counter. That one is read, and nothing else happens. */
void vcs_real_consider(vcs_relax_t *relax, int opcode, vcs_outcome_t *outcome);

/* ---- The machine (real.c) -------------------------------------------------------------------------------------- */

bool vcs_reals_start(vcs_relax_t *relax); /* false: out of memory */
void vcs_reals_free(vcs_relax_t *relax);
void vcs_reals_load(vcs_relax_t *relax);       /* from relax->m */
void vcs_reals_load_pins(vcs_relax_t *relax);  /* from the controls of the integer machine */
void vcs_reals_load_image(vcs_relax_t *relax); /* from the cartridge */
void vcs_reals_adopt(vcs_relax_t *relax);      /* relax->m from the real numbers, rounded */
double vcs_real_most(size_t slot);             /* the largest value of a slot */
void vcs_reals_adopt_cell(vcs_relax_t *relax, int32_t cell);
void vcs_real_step(vcs_relax_t *relax, vcs_links_t *links, uint8_t *frames);
void vcs_real_frame(vcs_relax_t *relax, vcs_links_t *links, uint8_t *frames);

#endif
