/* real.c: the machine of real numbers (real.h): instructions with one or all opcodes, and frames. */
#include "real.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"

/* ---- Numbers and integers -------------------------------------------------------------------------------------- */

bool vcs_reals_start(vcs_relax_t *relax) {
  const vcs_cart_t *cart = relax->cart;
  vcs_reals_t *r = calloc(1, sizeof *r);
  if (!r) return false;
  relax->reals = r;
  r->state_cells = 128 + cart->ram_size;
  r->cell_count = r->state_cells + cart->rom_size;
  r->cells = calloc(r->cell_count, sizeof *r->cells);
  r->blended = calloc(r->state_cells, 1);
  r->copy = calloc(1, vcs_state_size(cart));
  r->frames = calloc(2, VCS_FRAME_BYTES);
  r->ram = r->cells;
  r->cart_ram = r->ram + 128;
  r->rom = r->cells + r->state_cells;
  return r->cells && r->blended && r->copy && r->frames && vcs_beam_start(r);
}

void vcs_reals_free(vcs_relax_t *relax) {
  if (!relax->reals) return;
  free(relax->reals->cells);
  free(relax->reals->blended);
  free(relax->reals->copy);
  free(relax->reals->frames);
  vcs_beam_free(relax->reals);
  free(relax->reals);
}

static const struct {
  int slot, bit;
} flags[] = {{VCS_SLOT_N, 7}, {VCS_SLOT_V, 6}, {VCS_SLOT_D, 3}, {VCS_SLOT_I, 2}, {VCS_SLOT_Z, 1}, {VCS_SLOT_C, 0}};
enum { FLAGS = sizeof flags / sizeof *flags };

/* The registers of the chips: numbers of vcs_t, and what one unit of a number is there. */
enum { BYTE, WORD, TIME, BITS };
static const struct {
  int slot, count;
  size_t offset;
  int kind;
  int unit;
  double most;
} chips[] = {
#define CHIP(slot, count, field, kind, unit, most) \
  { VCS_SLOT_##slot, count, offsetof(vcs_t, field), kind, unit, most }
    CHIP(BUS, 1, bus, BYTE, 1, 255),
    CHIP(SWCHA, 8, swcha, BITS, 1, 1),
    CHIP(SWCHB, 8, swchb, BITS, 1, 1),
    CHIP(FIRE, 2, fire, BYTE, 1, 1),
    CHIP(DDRA, 1, ddra, BYTE, 1, 255),
    CHIP(TIMER, 1, timer, BYTE, 1, 255),
    CHIP(TIMER_CYCLE, 1, timer_cycle, TIME, 1, INT32_MAX),
    CHIP(DUMP_CYCLE, 1, dump_cycle, TIME, 1, INT32_MAX),
    CHIP(VSYNC, 1, vsync, BYTE, 1, 255),
    CHIP(VBLANK, 1, vblank, BYTE, 1, 255),
    CHIP(NUSIZ, 2, nusiz, BYTE, 1, 255),
    CHIP(COLU, 4, colu, BYTE, 1, 255),
    CHIP(CTRLPF, 1, ctrlpf, BYTE, 1, 255),
    CHIP(REFLECT, 2, reflect, BYTE, 8, 1),
    CHIP(PF, 3, pf, BYTE, 1, 255),
    CHIP(GRP, 2, grp, BYTE, 1, 255),
    CHIP(GRP_OLD, 2, grp_old, BYTE, 1, 255),
    CHIP(ENAM, 2, enam, BYTE, 2, 1),
    CHIP(ENABL, 1, enabl, BYTE, 2, 1),
    CHIP(ENABL_OLD, 1, enabl_old, BYTE, 2, 1),
    CHIP(HM, 5, hm, BYTE, 1, 15),
    CHIP(VDELP, 2, vdelp, BYTE, 1, 1),
    CHIP(VDELBL, 1, vdelbl, BYTE, 1, 1),
    CHIP(RESMP, 2, resmp, BYTE, 2, 1),
    CHIP(POS, 5, pos, BYTE, 1, 0x1.3ffffffffffffp7), /* the largest number below 160 */
    CHIP(MIRRORED, 1, pf_mirrored, BYTE, 1, 1),
    CHIP(COLLISIONS, 16, collisions, WORD, 1, 1),
    CHIP(AUDIO, 6, audio, BYTE, 1, 255),
#undef CHIP
};
enum { CHIPS = sizeof chips / sizeof *chips };

double vcs_real_most(size_t slot) {
  if (slot >= VCS_SLOT_N && slot <= VCS_SLOT_C) return 1;
  if (slot == VCS_SLOT_PC) return 65535;
  if (slot == VCS_SLOT_TIME) return (1 << 29) - 1; /* as of a machine (save.c): three clocks each fit in 32 bits */
  for (int i = 0; i < CHIPS; i++) {
    if ((int)slot >= chips[i].slot && (int)slot < chips[i].slot + chips[i].count) return chips[i].most;
  }
  return 255;
}

static void load_chips(vcs_relax_t *relax) {
  for (int i = 0; i < CHIPS; i++) {
    const uint8_t *field = (const uint8_t *)relax->m + chips[i].offset;
    for (int k = 0; k < chips[i].count; k++) {
      double value = 0;
      int32_t time;
      memcpy(&time, chips[i].kind == TIME ? field : (const uint8_t *)&relax->m->cycles, sizeof time);
      const int units = chips[i].kind == BYTE ? field[k] / chips[i].unit : 0;
      if (chips[i].kind == BYTE) value = units;
      if (chips[i].kind == BITS) value = *field >> k & 1;
      if (chips[i].kind == WORD) value = relax->m->collisions >> k & 1;
      if (chips[i].kind == TIME) value = time;
      relax->reals->reg[chips[i].slot + k] = vcs_real_constant(value);
    }
  }
}

void vcs_reals_load_pins(vcs_relax_t *relax) {
  const vcs_t *m = relax->m;
  for (int i = 0; i < 8; i++) {
    relax->reals->reg[VCS_SLOT_SWCHA + i] = vcs_real_constant(m->swcha >> i & 1);
    relax->reals->reg[VCS_SLOT_SWCHB + i] = vcs_real_constant(m->swchb >> i & 1);
  }
  for (int i = 0; i < 2; i++) relax->reals->reg[VCS_SLOT_FIRE + i] = vcs_real_constant(m->fire[i]);
}

static void adopt_chips(vcs_relax_t *relax) {
  const vcs_real_t *reg = relax->reals->reg;
  for (int i = 0; i < CHIPS; i++) {
    uint8_t *field = (uint8_t *)relax->m + chips[i].offset;
    uint16_t bits = 0;
    for (int k = 0; k < chips[i].count; k++) {
      int32_t value = (int32_t)nearbyint(reg[chips[i].slot + k].value);
      if (chips[i].slot == VCS_SLOT_POS) value %= VCS_WIDTH; /* 160 is the first pixel again */
      bits |= (uint16_t)((value & 1) << k);
      if (chips[i].kind == BYTE) field[k] = (uint8_t)(chips[i].unit * value);
      if (chips[i].kind == TIME) memcpy(field, &value, sizeof value);
    }
    if (chips[i].kind == BITS) *field = (uint8_t)bits;
    if (chips[i].kind == WORD) relax->m->collisions = bits;
  }
}

void vcs_reals_load(vcs_relax_t *relax) {
  vcs_reals_t *r = relax->reals;
  const vcs_t *m = relax->m;
  r->reg[VCS_SLOT_A] = vcs_real_constant(m->a);
  r->reg[VCS_SLOT_X] = vcs_real_constant(m->x);
  r->reg[VCS_SLOT_Y] = vcs_real_constant(m->y);
  r->reg[VCS_SLOT_SP] = vcs_real_constant(m->sp);
  r->reg[VCS_SLOT_PC] = vcs_real_constant(m->pc);
  r->reg[VCS_SLOT_TIME] = vcs_real_constant(m->cycles);
  for (int i = 0; i < FLAGS; i++) r->reg[flags[i].slot] = vcs_real_constant(m->p >> flags[i].bit & 1);
  for (int i = 0; i < 128; i++) r->ram[i] = vcs_real_constant(m->ram[i]);
  for (uint32_t i = 0; i < relax->cart->ram_size; i++) r->cart_ram[i] = vcs_real_constant(m->cart_ram[i]);
  load_chips(relax);
  vcs_beam_load(relax, NULL);
}

void vcs_reals_load_image(vcs_relax_t *relax) {
  for (uint32_t i = 0; i < relax->cart->rom_size; i++) relax->reals->rom[i] = vcs_real_constant(relax->cart->rom[i]);
}

static void adopt_registers(vcs_relax_t *relax) {
  const vcs_real_t *reg = relax->reals->reg;
  vcs_t *m = relax->m;
  m->a = vcs_real_byte(reg[VCS_SLOT_A]);
  m->x = vcs_real_byte(reg[VCS_SLOT_X]);
  m->y = vcs_real_byte(reg[VCS_SLOT_Y]);
  m->sp = vcs_real_byte(reg[VCS_SLOT_SP]);
  m->pc = vcs_real_address(reg[VCS_SLOT_PC]);
  m->cycles = (uint32_t)(int64_t)nearbyint(reg[VCS_SLOT_TIME].value);
  m->p = VCS_FLAG_1 | VCS_FLAG_B;
  for (int i = 0; i < FLAGS; i++) m->p |= (uint8_t)((reg[flags[i].slot].value > 0.5) << flags[i].bit);
}

void vcs_reals_adopt_cell(vcs_relax_t *relax, int32_t cell) {
  uint8_t byte = vcs_real_byte(relax->reals->cells[cell]);
  if (cell < 128)
    relax->m->ram[cell] = byte;
  else
    relax->m->cart_ram[cell - 128] = byte;
}

void vcs_reals_adopt(vcs_relax_t *relax) {
  adopt_registers(relax);
  adopt_chips(relax);
  vcs_beam_load(relax, NULL);
  for (int32_t i = 0; i < (int32_t)relax->reals->state_cells; i++) vcs_reals_adopt_cell(relax, i);
}

/* ---- All opcodes ----------------------------------------------------------------------------------------------- */

/* Computes the weight of every opcode and its derivative with respect to the opcode's byte, which is zero for one-hot
 * logits. */
typedef struct {
  double weight[256], slope[256];
} softmax_t;

static void softmax(const vcs_relax_options_t *options, double byte, softmax_t *s) {
  const bool distance = options->dispatch == VCS_DISPATCH_DISTANCE;
  const int named = (int)nearbyint(byte);
  double total = 0, mean = 0, logit_slope[256];
  for (int k = 0; k < 256; k++) {
    double below = distance ? fabs(k - byte) - fabs(named - byte) : k != named;
    logit_slope[k] = distance ? ((k > byte) - (k < byte)) / options->temperature : 0;
    s->weight[k] = exp(-below / options->temperature);
    total += s->weight[k];
  }
  for (int k = 0; k < 256; k++) {
    s->weight[k] /= total;
    mean += s->weight[k] * logit_slope[k];
  }
  for (int k = 0; k < 256; k++) s->slope[k] = s->weight[k] * (logit_slope[k] - mean);
}

/* `before` is the register before the instruction: the opcodes that leave it alone share one link to it. */
static vcs_real_t blend_register(const vcs_doing_t *doing, const softmax_t *s, const vcs_outcome_t *outcomes, int slot,
                                 vcs_real_t before, vcs_real_t opcode) {
  double sum = 0, slope = 0, unchanged = 0;
  for (int k = 0; k < 256; k++) {
    sum += s->weight[k] * outcomes[k].reg[slot].value;
    slope += s->slope[k] * outcomes[k].reg[slot].value;
  }
  vcs_real_t real = vcs_real_new(doing->links, sum);
  for (int k = 0; k < 256 && doing->links; k++) {
    if (outcomes[k].reg[slot].variable == before.variable)
      unchanged += s->weight[k];
    else
      vcs_real_from(doing->links, outcomes[k].reg[slot], s->weight[k]);
  }
  vcs_real_from(doing->links, before, unchanged);
  vcs_real_from(doing->links, opcode, slope);
  return vcs_real_cast(doing, real);
}

/* Returns the last value that an instruction writes to a cell, or NULL. */
static const vcs_real_t *written(const vcs_outcome_t *outcome, int32_t cell) {
  const vcs_real_t *value = NULL;
  for (int i = 0; i < outcome->write_count; i++) {
    if (outcome->writes[i].cell == cell) value = &outcome->writes[i].value;
  }
  return value;
}

static void blend_cell(vcs_doing_t *doing, const softmax_t *s, const vcs_outcome_t *outcomes, int32_t cell,
                       vcs_real_t opcode) {
  vcs_real_t old = doing->reals->cells[cell];
  double sum = old.value, slope = 0, left = 1;
  for (int k = 0; k < 256; k++) {
    const vcs_real_t *value = written(&outcomes[k], cell);
    if (!value) continue;
    sum += s->weight[k] * (value->value - old.value);
    slope += s->slope[k] * (value->value - old.value);
    left -= s->weight[k];
  }
  vcs_real_t real = vcs_real_new(doing->links, sum);
  for (int k = 0; k < 256 && doing->links; k++) {
    const vcs_real_t *value = written(&outcomes[k], cell);
    if (value) vcs_real_from(doing->links, *value, s->weight[k]);
  }
  vcs_real_from(doing->links, old, left);
  vcs_real_from(doing->links, opcode, slope);
  doing->reals->cells[cell] = vcs_real_cast(doing, real);
  vcs_reals_adopt_cell(doing->relax, cell);
}

/* `byte` is the opcode that was read, which is still on the bus. */
static void evaluate_into(vcs_doing_t *doing, const vcs_real_t before[VCS_REGISTERS], vcs_real_t byte, int opcode,
                          vcs_outcome_t *outcome) {
  memcpy(doing->reg, before, sizeof doing->reg);
  doing->bus = byte;
  doing->write_count = 0;
  vcs_real_evaluate(doing, (uint8_t)opcode);
  memcpy(outcome->reg, doing->reg, sizeof outcome->reg);
  memcpy(outcome->writes, doing->writes, sizeof outcome->writes);
  outcome->write_count = doing->write_count;
}

/* An opcode that does not act, as if its byte had been read. */
static void evaluate_beside(vcs_doing_t *doing, const vcs_real_t before[VCS_REGISTERS], int opcode,
                            vcs_outcome_t *outcome) {
  vcs_relax_t *relax = doing->relax;
  vcs_t *m = relax->m;
  vcs_video_t *video = doing->video, undrawn = *video;
  const bool frame_over = doing->frame_over;
  undrawn.frames = NULL;
  memcpy(doing->reals->copy, m, vcs_state_size(relax->cart));
  relax->m = doing->reals->copy;
  relax->m->bus = (uint8_t)opcode;
  doing->video = &undrawn;
  doing->acts = false;
  evaluate_into(doing, before, vcs_real_constant(opcode), opcode, outcome);
  doing->acts = true;
  doing->video = video;
  doing->frame_over = frame_over;
  relax->m = m;
}

/* The opcode of the rounded byte comes last and acts. */
static void blend(vcs_doing_t *doing, vcs_real_t opcode) {
  const int named = vcs_real_byte(opcode);
  vcs_outcome_t outcomes[256];
  softmax_t s;
  vcs_real_t before[VCS_REGISTERS];
  memcpy(before, doing->reg, sizeof before);
  softmax(&doing->relax->options, opcode.value, &s);
  for (int k = 0; k < 256; k++) {
    if (k != named) evaluate_beside(doing, before, k, &outcomes[k]);
  }
  evaluate_into(doing, before, opcode, named, &outcomes[named]);
  for (int slot = 0; slot < VCS_REGISTERS; slot++)
    doing->reals->reg[slot] = blend_register(doing, &s, outcomes, slot, before[slot], opcode);
  for (int k = 0; k < 256; k++) {
    for (int i = 0; i < outcomes[k].write_count; i++) {
      int32_t cell = outcomes[k].writes[i].cell;
      if (!doing->reals->blended[cell]) blend_cell(doing, &s, outcomes, cell, opcode);
      doing->reals->blended[cell] = 1;
    }
  }
  for (int k = 0; k < 256; k++) {
    for (int i = 0; i < outcomes[k].write_count; i++) doing->reals->blended[outcomes[k].writes[i].cell] = 0;
  }
}

/* ---- Running --------------------------------------------------------------------------------------------------- */

/* Begins an instruction: its opcode is read, and the counter goes on. */
static vcs_real_t begin(vcs_doing_t *doing, vcs_relax_t *relax, vcs_links_t *links, vcs_video_t *video) {
  doing->relax = relax;
  doing->reals = relax->reals;
  doing->links = links;
  doing->video = video;
  doing->bus = relax->reals->reg[VCS_SLOT_BUS];
  doing->acts = true;
  doing->latches = relax->m->collisions;
  doing->at_once = relax->options.dispatch == VCS_DISPATCH_HARD;
  doing->pc = relax->m->pc;
  doing->write_count = doing->memo_count = 0;
  doing->frame_over = false;
  memcpy(doing->reg, relax->reals->reg, sizeof doing->reg);
  vcs_real_t opcode = vcs_real_read(doing, doing->reg[VCS_SLOT_PC]);
  doing->reg[VCS_SLOT_PC] = vcs_real_wrapped(vcs_real_linear(links, 1, doing->reg[VCS_SLOT_PC], 1), 65536);
  return opcode;
}

/* Returns whether the frame is over. */
static bool instruction(vcs_relax_t *relax, vcs_links_t *links, vcs_video_t *video) {
  vcs_doing_t doing;
  vcs_real_t opcode = begin(&doing, relax, links, video);
  if (doing.at_once) {
    vcs_real_evaluate(&doing, vcs_real_byte(opcode));
    memcpy(relax->reals->reg, doing.reg, sizeof doing.reg);
  } else {
    blend(&doing, opcode);
  }
  relax->reals->reg[VCS_SLOT_BUS] = doing.bus;
  adopt_registers(relax);
  relax->report.instructions++;
  relax->m->instructions++;
  if (doing.frame_over) relax->m->partial = 0;
  return doing.frame_over;
}

void vcs_real_consider(vcs_relax_t *relax, int opcode, vcs_outcome_t *outcome) {
  vcs_doing_t doing;
  vcs_video_t video;
  vcs_real_t before[VCS_REGISTERS];
  vcs_video_start(&video, relax->cart, NULL);
  begin(&doing, relax, NULL, &video);
  doing.at_once = false;
  memcpy(before, doing.reg, sizeof before);
  evaluate_beside(&doing, before, opcode, outcome);
}

/* A frame begins: times restart, and fractions of a cycle stay. */
static void begin_frame(vcs_relax_t *relax) {
  static const int times[] = {VCS_SLOT_TIME, VCS_SLOT_TIMER_CYCLE, VCS_SLOT_DUMP_CYCLE};
  vcs_t *m = relax->m;
  const bool begins = !m->partial;
  const uint32_t before = m->cycles;
  vcs_frame_begin(relax->cart, m);
  for (int i = 0; i < 3; i++) relax->reals->reg[times[i]].value += (double)m->cycles - before;
  if (begins) vcs_beam_begin_frame(relax);
}

/* The integer machine has stopped in mid-frame or at its end, all drawn. */
static void end_frame(vcs_relax_t *relax, vcs_links_t *links, uint8_t *frames) {
  vcs_beam_draw(relax, links, relax->m->seen_clock);
  vcs_beam_finish(relax, frames);
  vcs_frame_end(relax->cart, relax->m, frames);
}

/* A frame begins if none is under way. */
void vcs_real_step(vcs_relax_t *relax, vcs_links_t *links, uint8_t *frames) {
  const bool whole = relax->options.bus == VCS_BUS_REAL;
  vcs_video_t video;
  vcs_video_start(&video, relax->cart, frames);
  if (whole) begin_frame(relax);
  if (!relax->m->jammed) instruction(relax, links, &video);
  if (!whole) return;
  vcs_tia_catch_up(relax->m, &video);
  if (relax->m->partial)
    vcs_beam_draw(relax, links, relax->m->seen_clock);
  else
    end_frame(relax, links, frames);
}

void vcs_real_frame(vcs_relax_t *relax, vcs_links_t *links, uint8_t *frames) {
  vcs_video_t video;
  if (!frames) frames = relax->reals->frames;
  vcs_video_start(&video, relax->cart, frames);
  begin_frame(relax);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !relax->m->jammed && !(links && links->failed); i++) {
    if (instruction(relax, links, &video)) break;
  }
  vcs_tia_catch_up(relax->m, &video);
  end_frame(relax, links, frames);
}
