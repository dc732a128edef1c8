/* region.c: a short piece of the run with branches in it as one primitive.
 *
 * Forks multiply: in a loop, the branch of each iteration is differentiated as if the other branches did not change,
 * and a move of a byte that turns three branches becomes a sum of three moves. This file makes a piece of the run one
 * primitive instead, from the instruction that sets a branch's flag to the row where the two sides of that branch meet:
 * a division by subtraction, a delay loop, a chain of comparisons.
 *
 *        DEY, BPL, DEY, BPL, ... | exit          inputs: bytes and flags that the region reads before it writes them
 *        '------- region -------'                each move of each input is executed from the entry to the exit; the
 *                                                differences there are its column
 *
 * What the region writes depends on its inputs only; all other bytes, and time, pass it unchanged. Branches in it have
 * no forks. Regions are found from the tape: a branch that is in no region begins one if its sides meet (fork.c), if
 * the region accesses only registers, RAM and ROM (so that time is no input) and not the stack, if it is short and has
 * few inputs, and if no fork of an earlier branch meets inside it.
 *
 * A move that does not arrive at the exit has no column; if the region only reads the byte, its move passes the region
 * unchanged. Columns are computed when they are first needed, and both products use the same columns. For a tangent of
 * n moves of a byte in one direction, such as that of a position after n frames of a held stick, n steps are executed
 * at once; its share of that column is limited to 1, as at a branch.
 *
 * Where all tangents are whole moves, no region is used, because rows and detours (detour.c) are more exact. Regions
 * exist only along a direction, where few moves have a tangent: a VJP without a direction would have to execute all
 * moves of all regions, which costs more than it gains (docs/gradients.md).
 */
#include <stdlib.h>
#include <string.h>

#include "fork.h"

/* The first three limit the cost of a region, which each of its moves executes once. */
enum {
  LENGTH_MAX = 128, /* rows of a region */
  INPUTS_MAX = 8,   /* bytes that it reads */
  SETTER_ROWS = 8,  /* rows before a branch that may set its flag */
  REGISTERS = 3,    /* A, X and Y */
  RAM = 128,
  MOVES_MAX = VCS_SLOTS * INPUTS_MAX + 8 /* moves of bytes and of flags */
};

/* ---- Finding them ----------------------------------------------------------------------------------------------- */

/* The bytes and flags that rows read before they write them, and those that they write. */
typedef struct {
  uint8_t ram_read[RAM], ram_written[RAM];
  unsigned read, written;             /* 1 << lane */
  unsigned flags_read, flags_written; /* of the status */
} vcs_survey_t;

enum { LANES = 1 << VCS_LANE_A | 1 << VCS_LANE_X | 1 << VCS_LANE_Y };

static void survey_ram(vcs_survey_t *u, uint16_t addr, bool reads, bool writes) {
  const int at = addr & (RAM - 1);
  if (reads && !u->ram_written[at]) u->ram_read[at] = 1;
  if (writes) u->ram_written[at] = 1;
}

/* Adds what a row reads and writes. False: the row must not be in a region. `banks`: a machine with the region's banks.
 */
static bool survey_row(const vcs_forks_t *f, const vcs_t *banks, const vcs_row_t *row, vcs_survey_t *u) {
  const vcs_opcode_t op = vcs_opcode(row->opcode);
  const vcs_uses_t uses = vcs_uses(row->opcode);
  const vcs_row_kind_t *kind = vcs_row_kind(row->opcode);
  const int index = vcs_index_lane(op);
  unsigned flags = uses.reads >> 8 * VCS_LANE_P & 0xFF;
  if (row->opcode == VCS_OPAQUE || op.access == VCS_ACCESS_STACK || op.mode == VCS_MODE_IND) return false;
  if ((uses.read_lanes | uses.written_lanes) & 1 << VCS_LANE_S) return false;
  if (op.access == VCS_ACCESS_BRANCH) flags |= vcs_branch_flag(row->opcode);
  u->read |= (uses.read_lanes | (index < 0 ? 0 : 1u << index)) & LANES & ~u->written;
  u->flags_read |= flags & ~u->flags_written;
  if (op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY) {
    const uint8_t low = vcs_code_byte(f->cart, banks, (uint16_t)(row->pc + 1));
    const uint8_t pointer = (uint8_t)(op.mode == VCS_MODE_IZX ? low + row->x : low);
    if (!vcs_pointer_in_ram(pointer)) return false;
    survey_ram(u, pointer, true, false);
    survey_ram(u, (uint16_t)(pointer + 1), true, false);
  }
  if ((kind->reads || kind->stores) && op.mode != VCS_MODE_IMM) {
    const vcs_chip_t chip = vcs_chip_at(row->addr);
    if (chip == VCS_TO_TIA || chip == VCS_TO_RIOT) return false;
    if (chip == VCS_TO_CART && (kind->stores || f->cart->hot_pages >> (row->addr >> 6 & 63) & 1)) return false;
    if (chip == VCS_TO_RAM) survey_ram(u, row->addr, kind->reads, kind->stores);
  }
  u->written |= uses.written_lanes & LANES;
  u->flags_written |= uses.writes >> 8 * VCS_LANE_P & 0xFF;
  return true;
}

/* Makes room for one more element. False: no memory. */
static bool room(void **array, int32_t count, int32_t *capacity, size_t size) {
  if (count < *capacity) return true;
  const int32_t wanted = *capacity ? 2 * *capacity : 256;
  if (!vcs_forks_room(array, (size_t)wanted, size)) return false;
  *capacity = wanted;
  return true;
}

static bool add_move(vcs_forks_t *f, vcs_region_t *region, uint32_t slot, float direction, bool written, bool of_rom) {
  vcs_regions_t *r = &f->regions;
  if (!room((void **)&r->moves, r->move_count, &r->move_capacity, sizeof *r->moves)) return false;
  r->moves[r->move_count++] =
      (vcs_move_t){.slot = slot, .direction = direction, .share = 1, .of_rom = of_rom, .written = written};
  region->moves++;
  return true;
}

/* Adds a byte that the region reads or writes, with its moves if the region reads it. False: no memory. */
static bool add_byte(vcs_forks_t *f, vcs_region_t *region, size_t offset, bool read, bool written) {
  vcs_regions_t *r = &f->regions;
  if (!read && !written) return true;
  if (!room((void **)&r->bytes, r->byte_count, &r->byte_capacity, sizeof *r->bytes)) return false;
  r->bytes[r->byte_count++] = (uint16_t)offset;
  region->bytes++;
  const uint8_t byte = ((const uint8_t *)r->before)[offset];
  for (int slot = 0; read && slot < VCS_SLOTS; slot++) {
    if (!add_move(f, region, (uint32_t)(VCS_SLOTS * offset) + (uint32_t)slot, vcs_direction(byte, slot), written,
                  false))
      return false;
  }
  return true;
}

/* Adds the bits of a byte of ROM as moves, unless the region has them. False: no memory. */
static bool add_rom(vcs_forks_t *f, vcs_region_t *region, uint16_t addr) {
  const vcs_regions_t *r = &f->regions;
  if (!(addr & 0x1000)) return true;
  const int32_t place = vcs_cart_read_place(f->cart, r->before, addr);
  if (place < 0) return true;
  for (int32_t i = region->move; i < r->move_count; i++) {
    if (r->moves[i].of_rom && r->moves[i].slot / 8 == (uint32_t)place) return true;
  }
  for (uint32_t bit = 0; bit < 8; bit++) {
    if (!add_move(f, region, 8 * (uint32_t)place + bit, vcs_sign(f->cart->rom[place], (int)bit), true, true))
      return false;
  }
  return true;
}

/* Adds the bytes of ROM that are inputs: data, and operands except those of branches and jumps. False: no memory. */
static bool add_roms(vcs_forks_t *f, vcs_region_t *region) {
  for (int32_t i = region->entry; i < region->exit; i++) {
    const vcs_row_t *row = &f->tape->rows[i];
    const vcs_opcode_t op = vcs_opcode(row->opcode);
    if (op.access == VCS_ACCESS_BRANCH || op.access == VCS_ACCESS_JUMP) continue;
    for (int k = 1; k < vcs_mode_length(op.mode); k++) {
      if (!add_rom(f, region, (uint16_t)(row->pc + k))) return false;
    }
    if (vcs_row_kind(row->opcode)->reads && op.mode != VCS_MODE_IMM && !add_rom(f, region, row->addr)) return false;
  }
  return true;
}

/* Builds the machine before a region in f->regions.before, by undoing rows from its first branch back. */
static void make_before(vcs_forks_t *f, int32_t branch, int32_t entry) {
  const vcs_tape_t *tape = f->tape;
  const vcs_row_t *row = &tape->rows[entry];
  vcs_t *m = f->regions.before;
  if (f->regions.before_row == entry) return;
  memcpy(m, tape->branch_machines + f->size * (size_t)branch, f->size);
  for (int32_t i = tape->branches[branch].row - 1; i >= entry; i--) {
    const vcs_applied_t at = {tape, f->cart, m, &tape->rows[i], 0};
    vcs_row_undo(&at, m);
  }
  m->a = row->a, m->x = row->x, m->y = row->y, m->sp = row->sp, m->p = vcs_row_status(row);
  m->pc = row->pc;
  m->cycles = vcs_row_cycles(tape, row);
  f->regions.before_row = entry;
}

/* Makes rows [entry, exit) a region if they can be one. False: no memory. */
static bool add_region(vcs_forks_t *f, int32_t branch, int32_t entry, int32_t exit) {
  vcs_regions_t *r = &f->regions;
  vcs_survey_t u = {0};
  const vcs_t *banks = (const vcs_t *)(const void *)(f->tape->branch_machines + f->size * (size_t)branch);
  int inputs = 0;
  for (int32_t i = entry; i < exit; i++) {
    if (!survey_row(f, banks, &f->tape->rows[i], &u)) return true;
  }
  for (int i = 0; i < RAM; i++) inputs += u.ram_read[i];
  for (int lane = 0; lane < REGISTERS; lane++) inputs += u.read >> lane & 1;
  if (inputs > INPUTS_MAX) return true;
  if (!room((void **)&r->all, r->count, &r->capacity, sizeof *r->all)) return false;
  vcs_region_t *region = &r->all[r->count];
  *region =
      (vcs_region_t){.entry = entry, .exit = exit, .branch = branch, .move = r->move_count, .byte = r->byte_count};
  region->flags = (uint8_t)(u.flags_read | u.flags_written);
  make_before(f, branch, entry);
  for (int lane = 0; lane < REGISTERS; lane++) {
    if (!add_byte(f, region, vcs_lane_offset(lane), u.read >> lane & 1, u.written >> lane & 1)) return false;
  }
  for (size_t i = 0; i < RAM; i++) {
    if (!add_byte(f, region, VCS_OFFSET(ram) + i, u.ram_read[i], u.ram_written[i])) return false;
  }
  for (unsigned flags = u.flags_read; flags; flags &= flags - 1) {
    const int bit = VCS_LOWEST(flags);
    if (!add_move(f, region, (uint32_t)(VCS_SLOTS * VCS_OFFSET(p)) + (uint32_t)bit, vcs_sign(r->before->p, bit),
                  u.flags_written >> bit & 1, false))
      return false;
  }
  if (!add_roms(f, region)) return false;
  r->from[entry] = r->to[exit] = r->count++;
  return true;
}

/* Whether the fork of a branch that is before row `entry` and in no region meets at a row. */
static bool meets_at(const vcs_forks_t *f, int32_t row, int32_t entry) {
  for (int32_t b = f->by_row[row]; b >= 0; b = f->forks[b].next) {
    if (f->forks[b].row < entry && !f->forks[b].inside) return true;
  }
  return false;
}

/* Returns the row that sets the flag of a branch, or the branch's own row if no row near it does. */
static int32_t entry_of(const vcs_forks_t *f, int32_t branch_row, int32_t from) {
  const vcs_row_t *rows = f->tape->rows;
  const uint8_t flag = vcs_branch_flag(rows[branch_row].opcode);
  for (int32_t i = branch_row - 1; i >= from && i >= branch_row - SETTER_ROWS; i--) {
    if (meets_at(f, i + 1, i) || vcs_opcode(rows[i].opcode).access == VCS_ACCESS_BRANCH) break;
    if (vcs_uses(rows[i].opcode).writes >> 8 * VCS_LANE_P & flag) return i;
  }
  return branch_row;
}

bool vcs_regions_begin(vcs_forks_t *f, bool along) {
  vcs_regions_t *r = &f->regions;
  const size_t rows = (size_t)f->tape->count + 1;
  int32_t end = 0; /* the end of the last region */
  if (!r->before && !(r->before = calloc(1, sizeof *r->before))) return false;
  if (!r->rom) {
    r->patched = *f->cart;
    r->rom = malloc(f->cart->rom_size);
    if (!r->rom) return false;
    memcpy(r->rom, f->cart->rom, f->cart->rom_size);
    r->patched.rom = r->rom;
  }
  if (!vcs_forks_room((void **)&r->from, rows, sizeof *r->from) ||
      !vcs_forks_room((void **)&r->to, rows, sizeof *r->to))
    return false;
  r->count = r->move_count = r->byte_count = 0;
  r->before_row = -1;
  for (size_t i = 0; i < rows; i++) r->from[i] = r->to[i] = -1;
  for (int32_t b = 0; b < f->tape->branch_count; b++) {
    vcs_fork_t *fork = &f->forks[b];
    fork->inside = along && fork->row < end;
    if (!along || fork->inside || fork->meets < 0) continue;
    const int32_t entry = entry_of(f, fork->row, end), exit = fork->meets, count = r->count;
    bool alone = exit - entry <= LENGTH_MAX;
    for (int32_t i = entry + 1; alone && i < exit; i++) alone = !meets_at(f, i, entry);
    if (alone && !add_region(f, b, entry, exit)) return false;
    fork->inside = r->count > count;
    if (fork->inside) end = exit;
  }
  return true;
}

void vcs_regions_free(vcs_regions_t *r) {
  free(r->all);
  free(r->moves);
  free(r->bytes);
  free(r->from);
  free(r->to);
  free(r->rom);
  free(r->before);
}

/* ---- Columns ---------------------------------------------------------------------------------------------------- */

/* Returns the number of steps of a move that a tangent has: at least one, at most as many as fit into the byte. Flags
 * and bits of ROM have one step. */
static int32_t steps_along(vcs_forks_t *f, const vcs_region_t *region, const vcs_move_t *move, float along) {
  const size_t offset = move->slot / VCS_SLOTS;
  if (move->of_rom || offset == VCS_OFFSET(p) || along < 1.5F) return 1;
  make_before(f, region->branch, region->entry);
  const int32_t byte = ((const uint8_t *)f->regions.before)[offset];
  const int32_t most = (move->direction > 0 ? 255 - byte : byte) >> (move->slot & 7);
  return most < 1 ? 1 : along >= (float)most ? most : (int32_t)(along + 0.5F);
}

/* Executes a region with a move of `steps` steps, and keeps the differences at the exit as the move's column. */
static void run_move(vcs_forks_t *f, const vcs_region_t *region, vcs_move_t *move, int32_t steps) {
  vcs_regions_t *r = &f->regions;
  const vcs_row_t *exit = &f->tape->rows[region->exit];
  const vcs_cart_t *cart = move->of_rom ? &r->patched : f->cart;
  vcs_video_t other_video, *video = &other_video;
  vcs_cpu_t registers, *cpu = &registers;
  vcs_t *m = f->other;
  bool arrived = false;
  make_before(f, region->branch, region->entry);
  memcpy(m, r->before, f->size);
  if (move->of_rom) {
    r->rom[move->slot / 8] ^= (uint8_t)(1 << move->slot % 8);
  } else {
    uint8_t *byte = (uint8_t *)m + move->slot / VCS_SLOTS;
    *byte = vcs_moved(*byte, (int)(move->slot % VCS_SLOTS));
    *byte = (uint8_t)(*byte + (steps - 1) * (int32_t)move->direction * (1 << (move->slot & 7)));
  }
  vcs_video_start(video, cart, f->frames ? f->other_frames : NULL);
  vcs_cpu_load(cpu, m);
  for (int32_t left = region->exit - region->entry + f->window; left && !arrived; left--) {
    vcs_cpu_instruction(VCS_HERE);
    if (cpu->stop & VCS_STOP_FRAME || m->jammed) break;
    arrived = cpu->pc == exit->pc && cpu->sp == exit->sp;
  }
  vcs_cpu_store(cpu, m);
  m->bus = cpu->bus;
  if (move->of_rom) r->rom[move->slot / 8] ^= (uint8_t)(1 << move->slot % 8);
  move->steps = steps;
  move->first = f->difference_count;
  move->lost = !arrived || !vcs_forks_same_banks(f, region->exit);
  if (!move->lost) vcs_forks_compare(f, r->before, region->entry, region->exit, video);
  move->count = f->difference_count - move->first;
}

/* Forwards: adds the column of a move times the tangent of its slot. */
static void link_forwards(vcs_forks_t *f, vcs_sweep_t *s, const vcs_region_t *region, vcs_move_t *move, float tangent) {
  float along = move->direction * tangent;
  const int32_t steps = steps_along(f, region, move, along);
  if (move->steps != steps) run_move(f, region, move, steps);
  if (!move->lost) {
    along = vcs_bounded(along / (float)steps, 1);
    move->share = move->direction * along / tangent;
    vcs_forks_link(f, s, &along, move->first, move->count);
    return;
  }
  move->share = 1;
  if (!move->written) {
    s->state[move->slot] += tangent;
    s->live[move->slot / VCS_SLOTS] = 1;
  }
}

/* Backwards: returns the adjoint of a move's slot, the product of its column and the adjoints at the exit. */
static float link_backwards(vcs_forks_t *f, vcs_sweep_t *s, const vcs_region_t *region, vcs_move_t *move) {
  float sum = 0;
  if (!move->steps) run_move(f, region, move, 1);
  if (move->lost) return move->written ? 0 : s->state[move->slot];
  vcs_forks_link(f, s, &sum, move->first, move->count);
  return move->direction * move->share * vcs_bounded(sum, vcs_beyond_meaning);
}

/* ---- Walking ---------------------------------------------------------------------------------------------------- */

/* Clears the slots of the bytes and flags that the region reads or writes. */
static void clear(const vcs_forks_t *f, vcs_sweep_t *s, const vcs_region_t *region) {
  for (int32_t i = region->byte; i < region->byte + region->bytes; i++) {
    const size_t offset = f->regions.bytes[i];
    memset(vcs_slots(s, offset), 0, VCS_SLOTS * sizeof(float));
    s->live[offset] = 0;
  }
  for (unsigned flags = region->flags; flags; flags &= flags - 1) vcs_slots(s, VCS_OFFSET(p))[VCS_LOWEST(flags)] = 0;
}

static void cancel(const vcs_forks_t *f, vcs_sweep_t *s, const vcs_region_t *region) {
  enum { NO_FORK = -2 }; /* -1 means a row's own result */
  s->row = region->entry;
  for (int32_t i = region->byte; i < region->byte + region->bytes; i++) {
    vcs_forks_cancel(f, s, NO_FORK, region->exit, f->regions.bytes[i]);
  }
}

static int32_t cross_forwards(vcs_forks_t *f, vcs_sweep_t *s, const vcs_region_t *region) {
  vcs_move_t *moves = f->regions.moves + region->move;
  float tangents[MOVES_MAX] = {0};
  for (int32_t i = 0; i < region->moves && !moves[i].of_rom; i++) tangents[i] = s->state[moves[i].slot];
  clear(f, s, region);
  for (int32_t i = 0; i < region->moves; i++) {
    if (moves[i].of_rom && !s->rom) break;
    const float tangent = moves[i].of_rom ? s->rom[moves[i].slot] : tangents[i];
    if (tangent != 0) {
      link_forwards(f, s, region, &moves[i], tangent);
    } else {
      moves[i].share = 0;
    }
  }
  for (int32_t i = region->entry; i < region->exit; i++) {
    const vcs_applied_t at = {f->tape, f->cart, s->m, &f->tape->rows[i], 0};
    vcs_row_apply(&at, s->m);
  }
  cancel(f, s, region);
  return region->exit;
}

static int32_t cross_backwards(vcs_forks_t *f, vcs_sweep_t *s, const vcs_region_t *region) {
  vcs_move_t *moves = f->regions.moves + region->move;
  float adjoints[MOVES_MAX] = {0};
  cancel(f, s, region);
  for (int32_t i = region->exit - 1; i >= region->entry; i--) {
    const vcs_applied_t at = {f->tape, f->cart, s->m, &f->tape->rows[i], 0};
    vcs_row_undo(&at, s->m);
  }
  for (int32_t i = 0; i < region->moves; i++) {
    if (moves[i].of_rom && !s->rom) break;
    const float adjoint = moves[i].share == 0 ? 0 : link_backwards(f, s, region, &moves[i]);
    if (moves[i].of_rom) {
      s->rom[moves[i].slot] += adjoint;
    } else {
      adjoints[i] = adjoint;
    }
  }
  clear(f, s, region);
  for (int32_t i = 0; i < region->moves && !moves[i].of_rom; i++) {
    if (adjoints[i] == 0) continue;
    s->state[moves[i].slot] += adjoints[i];
    s->live[moves[i].slot / VCS_SLOTS] = 1;
  }
  return region->entry;
}

int32_t vcs_regions_cross(vcs_forks_t *f, vcs_sweep_t *s, int32_t row) {
  const int32_t number = !f->known ? -1 : s->reverse ? f->regions.to[row] : f->regions.from[row];
  if (number < 0) return row;
  vcs_region_t *region = &f->regions.all[number];
  if (!s->reverse) region->crossed = !vcs_detours_possible(f, s, row);
  if (!region->crossed) return row;
  return (s->reverse ? cross_backwards : cross_forwards)(f, s, region);
}
