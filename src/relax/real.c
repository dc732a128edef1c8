/* real.c: the machine of real numbers (real.h): instructions with one or all opcodes, and frames. */
#include "real.h"

#include <math.h>
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
  r->ram = r->cells;
  r->cart_ram = r->ram + 128;
  r->rom = r->cells + r->state_cells;
  return r->cells && r->blended;
}

void vcs_reals_free(vcs_relax_t *relax) {
  if (!relax->reals) return;
  free(relax->reals->cells);
  free(relax->reals->blended);
  free(relax->reals);
}

static const struct {
  int slot, bit;
} flags[] = {{VCS_SLOT_N, 7}, {VCS_SLOT_V, 6}, {VCS_SLOT_D, 3}, {VCS_SLOT_I, 2}, {VCS_SLOT_Z, 1}, {VCS_SLOT_C, 0}};
enum { FLAGS = sizeof flags / sizeof *flags };

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

typedef struct {
  vcs_real_t reg[VCS_REGISTERS];
  vcs_real_write_t writes[VCS_REAL_WRITES];
  int write_count;
} outcome_t;

static vcs_real_t blend_register(const vcs_doing_t *doing, const softmax_t *s, const outcome_t *outcomes, int slot,
                                 vcs_real_t opcode) {
  double sum = 0, slope = 0;
  for (int k = 0; k < 256; k++) {
    sum += s->weight[k] * outcomes[k].reg[slot].value;
    slope += s->slope[k] * outcomes[k].reg[slot].value;
  }
  vcs_real_t real = vcs_real_new(doing->links, sum);
  for (int k = 0; k < 256; k++) vcs_real_from(doing->links, outcomes[k].reg[slot], s->weight[k]);
  vcs_real_from(doing->links, opcode, slope);
  return vcs_real_cast(doing, real);
}

/* Returns the last value that an instruction writes to a cell, or NULL. */
static const vcs_real_t *written(const outcome_t *outcome, int32_t cell) {
  const vcs_real_t *value = NULL;
  for (int i = 0; i < outcome->write_count; i++) {
    if (outcome->writes[i].cell == cell) value = &outcome->writes[i].value;
  }
  return value;
}

static void blend_cell(vcs_doing_t *doing, const softmax_t *s, const outcome_t *outcomes, int32_t cell,
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

static void evaluate_into(vcs_doing_t *doing, const vcs_real_t before[VCS_REGISTERS], int opcode, outcome_t *outcome) {
  memcpy(doing->reg, before, sizeof doing->reg);
  doing->write_count = 0;
  vcs_real_evaluate(doing, (uint8_t)opcode);
  memcpy(outcome->reg, doing->reg, sizeof outcome->reg);
  memcpy(outcome->writes, doing->writes, sizeof outcome->writes);
  outcome->write_count = doing->write_count;
}

/* The opcode of the rounded byte comes last and acts. */
static void blend(vcs_doing_t *doing, vcs_real_t opcode) {
  const int named = vcs_real_byte(opcode);
  outcome_t outcomes[256];
  softmax_t s;
  vcs_real_t before[VCS_REGISTERS];
  memcpy(before, doing->reg, sizeof before);
  softmax(&doing->relax->options, opcode.value, &s);
  doing->acts = false;
  for (int k = 0; k < 256; k++) {
    if (k != named) evaluate_into(doing, before, k, &outcomes[k]);
  }
  doing->acts = true;
  evaluate_into(doing, before, named, &outcomes[named]);
  for (int slot = 0; slot < VCS_REGISTERS; slot++)
    doing->reals->reg[slot] = blend_register(doing, &s, outcomes, slot, opcode);
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

/* Returns whether the frame is over. */
static bool instruction(vcs_relax_t *relax, vcs_links_t *links, vcs_video_t *video) {
  vcs_doing_t doing;
  doing.relax = relax;
  doing.reals = relax->reals;
  doing.links = links;
  doing.video = video;
  doing.acts = true;
  doing.at_once = relax->options.dispatch == VCS_DISPATCH_HARD;
  doing.pc = relax->m->pc;
  doing.write_count = doing.memo_count = 0;
  doing.frame_over = false;
  memcpy(doing.reg, relax->reals->reg, sizeof doing.reg);
  vcs_real_t opcode = vcs_real_read(&doing, doing.reg[VCS_SLOT_PC]);
  doing.reg[VCS_SLOT_PC] = vcs_real_wrapped(vcs_real_linear(links, 1, doing.reg[VCS_SLOT_PC], 1), 65536);
  if (doing.at_once) {
    vcs_real_evaluate(&doing, vcs_real_byte(opcode));
    memcpy(relax->reals->reg, doing.reg, sizeof doing.reg);
  } else {
    blend(&doing, opcode);
  }
  adopt_registers(relax);
  relax->report.instructions++;
  relax->m->instructions++;
  if (doing.frame_over) relax->m->partial = 0;
  return doing.frame_over;
}

void vcs_real_step(vcs_relax_t *relax, vcs_links_t *links, uint8_t *frames) {
  vcs_video_t video;
  vcs_video_start(&video, relax->cart, frames);
  if (!relax->m->jammed) instruction(relax, links, &video);
  if (relax->options.bus == VCS_BUS_REAL) vcs_tia_catch_up(relax->m, &video);
}

/* Begins a frame: times restart, and the fraction of a cycle is kept. */
void vcs_real_begin_frame(vcs_relax_t *relax) {
  vcs_real_t *time = &relax->reals->reg[VCS_SLOT_TIME];
  uint32_t before = relax->m->cycles;
  vcs_frame_begin(relax->cart, relax->m);
  time->value += (double)relax->m->cycles - before;
}

void vcs_real_frame(vcs_relax_t *relax, uint8_t *frames) {
  vcs_video_t video;
  vcs_video_start(&video, relax->cart, frames);
  vcs_real_begin_frame(relax);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !relax->m->jammed; i++) {
    if (instruction(relax, NULL, &video)) break;
  }
  vcs_tia_catch_up(relax->m, &video);
  vcs_frame_end(relax->cart, relax->m, frames);
}
