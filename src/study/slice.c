/* slice.c: the instructions of a frame that a result was computed from (study.h). */
#include <stdlib.h>
#include <string.h>

#include "core/cpu_ops.h"
#include "core/state.h"
#include "host/files.h"
#include "study/expression.h"

/* What operations read and write: registers A, X, Y and S, flags N, V, D, Z and C, and M, the memory they touch. */
static const struct {
  char name[5];
  const char *reads, *writes;
} operations[] = {
    {"LDA", "M", "ANZ"},       {"LDX", "M", "XNZ"},      {"LDY", "M", "YNZ"},       {"STA", "A", "M"},
    {"STX", "X", "M"},         {"STY", "Y", "M"},        {"SAX", "AX", "M"},        {"LAX", "M", "AXNZ"},
    {"ADC", "AMCD", "ANVZC"},  {"SBC", "AMCD", "ANVZC"}, {"AND", "AM", "ANZ"},      {"ORA", "AM", "ANZ"},
    {"EOR", "AM", "ANZ"},      {"CMP", "AM", "NZC"},     {"CPX", "XM", "NZC"},      {"CPY", "YM", "NZC"},
    {"BIT", "AM", "NVZ"},      {"INC", "M", "MNZ"},      {"DEC", "M", "MNZ"},       {"ASL", "M", "MNZC"},
    {"LSR", "M", "MNZC"},      {"ROL", "MC", "MNZC"},    {"ROR", "MC", "MNZC"},     {"ASLA", "A", "ANZC"},
    {"LSRA", "A", "ANZC"},     {"ROLA", "AC", "ANZC"},   {"RORA", "AC", "ANZC"},    {"SLO", "AM", "MANZC"},
    {"RLA", "AMC", "MANZC"},   {"SRE", "AM", "MANZC"},   {"RRA", "AMCD", "MANVZC"}, {"DCP", "AM", "MNZC"},
    {"ISB", "AMCD", "MANVZC"}, {"INX", "X", "XNZ"},      {"INY", "Y", "YNZ"},       {"DEX", "X", "XNZ"},
    {"DEY", "Y", "YNZ"},       {"TAX", "A", "XNZ"},      {"TAY", "A", "YNZ"},       {"TXA", "X", "ANZ"},
    {"TYA", "Y", "ANZ"},       {"TSX", "S", "XNZ"},      {"TXS", "X", "S"},         {"PHA", "AS", "MS"},
    {"PHP", "NVDZCS", "MS"},   {"PLA", "MS", "ANZS"},    {"PLP", "MS", "NVDZCS"},   {"JSR", "S", "MS"},
    {"RTS", "MS", "S"},        {"RTI", "MS", "NVDZCS"},  {"BRK", "NVDZCS", "MS"},   {"BPL", "N", ""},
    {"BMI", "N", ""},          {"BVC", "V", ""},         {"BVS", "V", ""},          {"BCC", "C", ""},
    {"BCS", "C", ""},          {"BNE", "Z", ""},         {"BEQ", "Z", ""},          {"CLC", "", "C"},
    {"SEC", "", "C"},          {"CLD", "", "D"},         {"SED", "", "D"},          {"CLV", "", "V"},
    {"ANC", "AM", "ANZC"},     {"ASR", "AM", "ANZC"},    {"ARR", "AMCD", "ANVZC"},  {"ANE", "AXM", "ANZ"},
    {"LXA", "AM", "AXNZ"},     {"SBX", "AXM", "XNZC"},   {"LAS", "MS", "AXSNZ"},    {"SHA", "AX", "M"},
    {"SHX", "X", "M"},         {"SHY", "Y", "M"},        {"SHS", "AX", "MS"},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static int operation_of(uint8_t opcode) {
  const vcs_opcode_t op = vcs_opcode(opcode);
  int i = 0;
  while (i < OPERATIONS && strcmp(operations[i].name, op.name) != 0) i++;
  return i; /* OPERATIONS: it computes nothing (NOP, JMP, JAM, CLI, SEI) */
}

static const char *index_of(uint8_t opcode) {
  switch (vcs_opcode(opcode).mode) {
    case VCS_MODE_ZPX:
    case VCS_MODE_ABX:
    case VCS_MODE_IZX:
      return "X";
    case VCS_MODE_ZPY:
    case VCS_MODE_ABY:
    case VCS_MODE_IZY:
      return "Y";
    default:
      return "";
  }
}

/* ---- Recording ---------------------------------------------------------------------------------------------- */

vcs_status_t vcs_slice_record(const vcs_cart_t *cart, vcs_t *m, const vcs_controls_t *controls, vcs_slice_t *slice,
                              vcs_error_t *error) {
  const vcs_symbols_t none = {0};
  vcs_step_t step = {0};
  memset(slice, 0, sizeof *slice);
  slice->rows = calloc(VCS_FRAME_INSTRUCTIONS, sizeof *slice->rows);
  if (!slice->rows) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for the instructions of a frame");
  vcs_control(cart, m, controls);
  vcs_frame_begin(cart, m);
  while (slice->count < VCS_FRAME_INSTRUCTIONS && !m->jammed && !step.frame_over) {
    vcs_slice_row_t *row = &slice->rows[slice->count++];
    row->pc = m->pc;
    row->opcode = vcs_peek(cart, m, m->pc);
    row->a = m->a;
    row->x = m->x;
    row->y = m->y;
    row->clock = vcs_moment_clock(m);
    row->accesses = vcs_next_accesses(cart, m);
    vcs_disassemble_named(&none, cart, m, m->pc, row->text, sizeof row->text);
    vcs_step(cart, m, NULL, &step);
    row->end_clock = row->clock + 3 * (int32_t)vcs_opcode(row->opcode).cycles;
  }
  vcs_frame_end(cart, m, NULL);
  return VCS_OK;
}

void vcs_slice_free(vcs_slice_t *slice) {
  free(slice->rows);
  slice->rows = NULL;
}

/* ---- Slicing ------------------------------------------------------------------------------------------------ */

typedef struct {
  bool named[128]; /* registers and flags, by their letter */
  bool memory[0x10000];
} needed_t;

static bool writes_needed(const vcs_slice_row_t *row, int operation, const needed_t *needed) {
  if (operation == OPERATIONS) return false;
  for (const char *at = operations[operation].writes; *at; at++) {
    if (*at != 'M' && needed->named[(int)*at]) return true;
  }
  for (int i = 0; i < row->accesses.count; i++) {
    if (row->accesses.writes[i] && needed->memory[row->accesses.address[i]]) return true;
  }
  return false;
}

static void satisfy(const vcs_slice_row_t *row, int operation, needed_t *needed) {
  for (const char *at = operations[operation].writes; *at; at++) needed->named[(int)*at] = false;
  for (int i = 0; i < row->accesses.count; i++) {
    if (row->accesses.writes[i]) needed->memory[row->accesses.address[i]] = false;
  }
  for (const char *at = operations[operation].reads; *at; at++) needed->named[(int)*at] = true;
  for (const char *at = index_of(row->opcode); *at; at++) needed->named[(int)*at] = true;
  for (int i = 0; i < row->accesses.count; i++) {
    if (!row->accesses.writes[i]) needed->memory[row->accesses.address[i]] = true;
  }
}

void vcs_slice_close(vcs_slice_t *slice) {
  needed_t needed = {.memory = {false}};
  for (int i = slice->count - 1; i >= 0; i--) {
    vcs_slice_row_t *row = &slice->rows[i];
    const int operation = operation_of(row->opcode);
    if (!row->slice && !writes_needed(row, operation, &needed)) continue;
    row->slice = true;
    if (operation < OPERATIONS) satisfy(row, operation, &needed);
  }
  memcpy(slice->read, needed.memory, sizeof slice->read);
}
