/* fork.c: the other side of a branch.
 *
 * A conditional branch turns a flag into a path. To differentiate it, a copy of the machine takes the other path and
 * runs until it meets the run itself: same PC, same SP, same banks, within a window of instructions on both sides. The
 * differences there (registers, flags, memory, TIA, timer, pixels drawn meanwhile, and the time itself) are the
 * branch's column of the Jacobian.
 *
 *        branch --- run ------------- meeting --->        forwards: at the branch, the flag's tangent is kept; at the
 *            \                       /                    meeting, column * tangent is added
 *             `---- other side -----'                     backwards: at the meeting, column . adjoint is kept; at the
 *                                                         branch, it is added to the flag's adjoint
 *
 * Not every place with the same PC is a meeting. A loop that is entered again for the next object has the same PCs. So
 * the PC of a meeting must not lie between the branch and its target, and the meeting must be in the same activation of
 * a subroutine: both sides must have returned to the same depth of the stack.
 *
 * A column may move all eight bits of a byte that the next branch tests, and each bit alone would turn that branch.
 * First order counts eight turns, and a loop of such branches multiplies derivatives by eight in every iteration. Along
 * a direction the tangent of a branch's flag is therefore cut at 1. Without a direction a backward walk first probes
 * the tape, from every branch and every bit of the RAM after the frame (grad.c): a branch that moves more than 64 of
 * these in sum is refused, in both products. The choice depends on the tape only, so <w, Jv> = <J'w, v> holds.
 * Derivatives through the remaining branches can still grow from frame to frame; they are limited to 1e30.
 *
 * Along a direction a branch that turns is a detour (detour.c) if the tangents are whole moves; forks are executed when
 * they are first needed. Branches in a region (region.c) that a pass uses have no forks. Branches on the other side are
 * executed, not forked again. If the two sides do not meet, the branch has no derivative and is counted
 * (vcs_grad_report_t). A meeting is always in the same frame.
 *
 * Stops: collisions latched on the other side, and registers of a line that is not drawn yet.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fork.h"

enum { ADDRESSES = 8192 };

vcs_forks_t *vcs_forks_create(const vcs_cart_t *cart, int32_t window) {
  vcs_forks_t *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->cart = cart;
  f->size = vcs_state_size(cart);
  f->window = window;
  f->other_frames = malloc(2 * VCS_FRAME_BYTES);
  f->other = calloc(1, sizeof *f->other);
  f->base = calloc(1, sizeof *f->base);
  f->first = malloc(ADDRESSES * sizeof *f->first);
  for (int32_t i = 0; f->first && i < ADDRESSES; i++) f->first[i] = -1;
  if (f->other_frames && f->other && f->base && f->first) return f;
  vcs_forks_free(f);
  return NULL;
}

void vcs_forks_free(vcs_forks_t *f) {
  if (!f) return;
  free(f->other_frames);
  free(f->other);
  free(f->base);
  free(f->next_at_pc);
  free(f->by_row);
  free(f->last_by_row);
  free(f->branch_at);
  free(f->popped);
  free(f->forks);
  free(f->differences);
  free(f->first);
  vcs_regions_free(&f->regions);
  vcs_detours_free(&f->detours);
  free(f);
}

void vcs_forks_restart(vcs_forks_t *f) {
  const vcs_grad_report_t nothing = {0};
  f->report = nothing;
  free(f->regions.rom); /* the cartridge may be another one at the address of the one before */
  f->regions.rom = NULL;
}

void vcs_forks_report(const vcs_forks_t *f, vcs_grad_report_t *report) { *report = f->report; }

bool vcs_forks_room(void **array, size_t count, size_t size) {
  void *larger = realloc(*array, count * size);
  if (larger) *array = larger;
  return larger;
}

/* ---- Differences ------------------------------------------------------------------------------------------------- */

void vcs_forks_differ(vcs_forks_t *f, uint32_t slot, float by) {
  if (f->difference_count == f->difference_capacity) {
    int32_t wanted = f->difference_capacity ? 2 * f->difference_capacity : 1024;
    if (!vcs_forks_room((void **)&f->differences, (size_t)wanted, sizeof *f->differences)) {
      f->failed = true;
      return;
    }
    f->difference_capacity = wanted;
  }
  vcs_difference_t difference = {slot, by};
  f->differences[f->difference_count++] = difference;
}

static void bytes_differ(vcs_forks_t *f, size_t offset, size_t count, const uint8_t *was, const uint8_t *is) {
  for (size_t i = 0; i < count; i++) {
    if (i + 8 <= count && !memcmp(was + i, is + i, 8)) i += 8; /* mostly all bytes are equal */
    if (i == count || was[i] == is[i]) continue;
    uint32_t slots = (uint32_t)(VCS_SLOTS * (offset + i));
    int carry = vcs_has_carries(offset + i) ? vcs_carry_between(was[i], is[i], 0xFF) : -1;
    if (carry >= 0) {
      vcs_forks_differ(f, slots + 8 + (uint32_t)carry, vcs_direction(was[i], 8 + carry));
      continue;
    }
    for (unsigned moved = was[i] ^ is[i]; moved; moved &= moved - 1) {
      int bit = VCS_LOWEST(moved);
      vcs_forks_differ(f, slots + (uint32_t)bit, vcs_sign(was[i], bit));
    }
  }
}

/* Returns the time by which the other side is later along a line, at most half a line. A derivative with respect to
 * time is the effect of one cycle. Whole lines, which a loop over lines skips or adds, move nothing along the line, and
 * multiplying that effect by their cycles would only magnify its rounding. */
static int32_t time_along_line(int32_t cycles) {
  const int32_t along = ((cycles % VCS_LINE_CYCLES) + VCS_LINE_CYCLES) % VCS_LINE_CYCLES;
  return along > VCS_LINE_CYCLES / 2 ? along - VCS_LINE_CYCLES : along;
}

static void registers_differ(vcs_forks_t *f, const vcs_row_t *row, const vcs_t *m) {
  const uint8_t was[] = {row->a, row->x, row->y, vcs_row_status(row)}, is[] = {m->a, m->x, m->y, m->p};
  const size_t offsets[] = {VCS_OFFSET(a), VCS_OFFSET(x), VCS_OFFSET(y), VCS_OFFSET(p)};
  for (int i = 0; i < 4; i++) bytes_differ(f, offsets[i], 1, &was[i], &is[i]);
  const int32_t later = time_along_line((int32_t)(m->cycles - vcs_row_cycles(f->tape, row)));
  if (later) vcs_forks_differ(f, VCS_SLOTS * VCS_OFFSET(cycles), (float)later);
}

/* Finds the differences of the TIA. Positions are numbers; state that is valid only to the end of a line may be out of
 * date on either side. */
static void tia_differs(vcs_forks_t *f, const uint8_t *was, const vcs_t *m) {
  const uint8_t *is = &m->vsync;
  for (size_t i = 0; i < VCS_TIA_BYTES; i++) {
    if (was[i] == is[i]) continue;
    size_t offset = VCS_OFFSET(vsync) + i;
    if (offset >= VCS_OFFSET(pos) && offset < VCS_OFFSET(pos) + 5) {
      int by = (is[i] - was[i] + 160) % 160;
      vcs_forks_differ(f, (uint32_t)(VCS_SLOTS * offset), (float)(by > 80 ? by - 160 : by));
    } else if (offset < VCS_OFFSET(first_copy_off)) {
      bytes_differ(f, offset, 1, &was[i], &is[i]);
    }
  }
}

/* Finds the differences of the pixels of clocks [from, to), which are drawn on both sides. */
static void pixels_differ(vcs_forks_t *f, const vcs_t *m, int32_t from, int32_t to) {
  int32_t top = f->tape->start->first_line;
  const uint8_t *was = f->frames + m->front * VCS_FRAME_BYTES, *is = f->other_frames + m->front * VCS_FRAME_BYTES;
  for (int32_t line = from / VCS_LINE_CLOCKS; VCS_LINE_CLOCKS * line < to; line++) {
    int32_t left = VCS_LINE_CLOCKS * line + VCS_HBLANK_CLOCKS, y = line - top;
    int32_t x0 = from > left ? from - left : 0, x1 = to - left < VCS_WIDTH ? to - left : VCS_WIDTH;
    if (y < 0 || y >= f->cart->height || x1 <= x0) continue;
    for (int32_t i = VCS_WIDTH * y + x0; i < VCS_WIDTH * y + x1; i++) {
      if (was[i] != is[i]) vcs_forks_differ(f, (uint32_t)VCS_FORK_PIXEL | (uint32_t)i, (float)(was[i] << 8 | is[i]));
    }
  }
}

/* ---- Running the other side -----------------------------------------------------------------------------------------
 */

static const vcs_snapshot_t *snapshot_at(const vcs_tape_t *tape, int32_t row) {
  int32_t low = 0, high = tape->snapshot_count - 1;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    if (tape->snapshots[middle].row < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return &tape->snapshots[low];
}

static const vcs_event_t *event_at(const vcs_tape_t *tape, int32_t row) {
  int32_t low = 0, high = tape->event_count - 1;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    if (tape->events[middle].row < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return &tape->events[low];
}

/* Returns the highest stack pointer between two rows of the run, at which the stack was shallowest. */
static uint8_t shallowest(const vcs_forks_t *f, int32_t from, int32_t to) {
  while (f->popped[from] <= to) from = f->popped[from];
  return f->tape->rows[from].sp;
}

/* The other side of a branch while it is executed. */
typedef struct {
  uint16_t inside_from, inside_to; /* addresses from the branch to its target, where no meeting can be */
  uint8_t sp;                      /* the highest stack pointer so far */
  bool in_line;                    /* in the picture, it can meet the run only in the same line */
  int32_t window;
} way_t;

static way_t way_of(const vcs_forks_t *f, const vcs_row_t *row, const vcs_t *m) {
  const uint16_t next = (uint16_t)(row->pc + 2);
  const uint16_t target = (uint16_t)(next + (int8_t)vcs_code_byte(f->cart, m, (uint16_t)(row->pc + 1)));
  const way_t way = {target < next ? target : next, target < next ? next : target, row->sp, false, f->window};
  return way;
}

static bool is_inside(const way_t *way, uint16_t pc) { return pc >= way->inside_from && pc < way->inside_to; }

/* Whether a time is within half a line of a row's, or that row is not in the picture. */
static bool is_in_line(const vcs_forks_t *f, const vcs_row_t *row, uint32_t cycles) {
  const int32_t then = (int32_t)vcs_row_cycles(f->tape, row), later = (int32_t)cycles - then;
  const int32_t y = (3 * then - f->tape->start->frame_clock) / VCS_LINE_CLOCKS - f->tape->start->first_line;
  return y < 0 || y >= f->cart->height || (later <= VCS_LINE_CYCLES / 2 && later >= -VCS_LINE_CYCLES / 2);
}

/* Returns the first row after `row`, within the window, at which the run meets the other side; or -1. */
VCS_HOT_FN int32_t meeting_of(const vcs_forks_t *f, int32_t row, const vcs_cpu_t *cpu, const way_t *way,
                              const int32_t *first) {
  const int32_t last = row + way->window;
  int32_t j = first[cpu->pc & (ADDRESSES - 1)];
  if (j < 0 || j > last || is_inside(way, cpu->pc)) return -1;
  for (; j >= 0 && j <= last; j = f->next_at_pc[j]) {
    const vcs_row_t *at = &f->tape->rows[j];
    if (at->pc == cpu->pc && at->sp == cpu->sp && shallowest(f, row, j) == way->sp &&
        (!way->in_line || is_in_line(f, at, (uint32_t)(cpu->time >> VCS_CYCLES_SHIFT))))
      return j;
  }
  return -1;
}

/* Whether the run stays between the branch and its target throughout the window, as in a waiting loop, so that no
 * meeting is possible. */
static bool stays_inside(const vcs_forks_t *f, int32_t row, const way_t *way) {
  int32_t last = row + way->window < f->tape->count ? row + way->window : f->tape->count - 1;
  while (row < last && is_inside(way, f->tape->rows[row + 1].pc)) row++;
  return row == last;
}

/* Computes the run's memory before row `to` from the machine before row `from`. */
static void memory_at(const vcs_forks_t *f, const vcs_t *before, int32_t from, int32_t to) {
  const vcs_tape_t *tape = f->tape;
  vcs_t *m = f->base;
  memcpy(m->ram, before->ram, sizeof m->ram);
  memcpy(m->cart_ram, before->cart_ram, f->cart->ram_size);
  for (int32_t i = from; i < to; i++) {
    const vcs_row_t *row = &tape->rows[i];
    const int stored = vcs_stored(row->opcode);
    if (!stored && row->opcode != VCS_OPAQUE) continue;
    vcs_applied_t at = {tape, f->cart, m, row, 0};
    if (row->opcode == VCS_OPAQUE || row->addr & 0x1000) {
      const vcs_snapshot_t *snapshot = snapshot_at(tape, i);
      at.snapshot = (int32_t)(snapshot - tape->snapshots);
      at.banks = (const vcs_t *)(const void *)snapshot->machine;
    }
    vcs_row_apply(&at, m);
  }
}

void vcs_forks_compare(vcs_forks_t *f, const vcs_t *before, int32_t from_row, int32_t to_row, vcs_video_t *video) {
  const vcs_tape_t *tape = f->tape;
  vcs_t *m = f->other;
  const vcs_row_t *there = &tape->rows[to_row];
  const vcs_event_t *drawn_before = event_at(tape, from_row), *drawn_there = event_at(tape, to_row);
  const vcs_t *ports = (const vcs_t *)(const void *)snapshot_at(tape, to_row)->machine;
  registers_differ(f, there, m);
  memory_at(f, before, from_row, to_row);
  bytes_differ(f, VCS_OFFSET(ram), sizeof m->ram, f->base->ram, m->ram);
  bytes_differ(f, VCS_OFFSET(cart_ram), f->cart->ram_size, f->base->cart_ram, m->cart_ram);
  bool tia = drawn_before != drawn_there || memcmp(&m->vsync, &before->vsync, VCS_TIA_BYTES) != 0;
  if (tia) tia_differs(f, drawn_there->tia, m);
  if (m->timer_cycle != ports->timer_cycle || m->timer != ports->timer) {
    vcs_forks_differ(f, VCS_SLOTS * VCS_OFFSET(timer_cycle), (float)(int32_t)(m->timer_cycle - ports->timer_cycle));
    bytes_differ(f, VCS_OFFSET(timer), 1, &ports->timer, &m->timer);
  }
  if (f->frames && (tia || m->seen_clock != before->seen_clock)) {
    int32_t from = drawn_before->from, to = drawn_there->from;
    if (m->seen_clock < to) to = m->seen_clock;
    if (to > from) {
      vcs_tia_catch_up(m, video);
      pixels_differ(f, m, from, to);
    }
  }
}

/* Whether the other side's banks are those of the run at the meeting. */
bool vcs_forks_same_banks(const vcs_forks_t *f, int32_t row) {
  if (f->cart->rom_size <= 4096) return true;
  const vcs_t *there = (const vcs_t *)(const void *)snapshot_at(f->tape, row)->machine;
  return !memcmp(there->bank, f->other->bank, sizeof there->bank) &&
         !memcmp(there->cart_byte, f->other->cart_byte, sizeof there->cart_byte);
}

/* Runs the other side from f->other until it meets the run; returns the row, or -1. */
static int32_t run_other_side(vcs_forks_t *f, int32_t row, way_t *way, const int32_t *first, vcs_video_t *video) {
  const vcs_cart_t *cart = f->cart;
  vcs_t *m = f->other;
  vcs_cpu_t registers, *cpu = &registers;
  int32_t meets = -1;
  vcs_cpu_load(cpu, m);
  for (int32_t steps = 0; steps <= way->window && !(cpu->stop & VCS_STOP_FRAME) && !m->jammed; steps++) {
    meets = meeting_of(f, row, cpu, way, first);
    if (meets >= 0 && vcs_forks_same_banks(f, meets)) break;
    meets = -1;
    vcs_cpu_instruction(VCS_HERE);
    if (cpu->sp > way->sp) way->sp = cpu->sp;
  }
  vcs_cpu_store(cpu, m);
  m->bus = cpu->bus;
  return meets;
}

int32_t vcs_forks_meet(vcs_forks_t *f, int32_t row, int32_t window, vcs_video_t *video) {
  const vcs_tape_t *tape = f->tape;
  const int32_t last = row + window < tape->count ? row + window : tape->count - 1;
  bool frame_over;
  way_t way = way_of(f, &tape->rows[row], f->other);
  way.in_line = true;
  way.window = window;
  f->report.forks++;
  if (stays_inside(f, row, &way)) return -1;
  for (int32_t i = last; i > row; i--) f->first[tape->rows[i].pc & (ADDRESSES - 1)] = i;
  vcs_cpu_step(f->cart, f->other, video, &frame_over);
  const int32_t meets = run_other_side(f, row, &way, f->first, video);
  for (int32_t i = last; i > row; i--) f->first[tape->rows[i].pc & (ADDRESSES - 1)] = -1;
  f->report.rejoined += meets >= 0;
  return meets;
}

/* Executes the other side of branch number `branch`. `first` has, by PC, the next row after the branch's. */
static void take_other_side(vcs_forks_t *f, int32_t branch, const int32_t *first) {
  const vcs_tape_t *tape = f->tape;
  vcs_fork_t *fork = &f->forks[branch];
  const vcs_t *before = (const vcs_t *)(const void *)(tape->branch_machines + f->size * (size_t)branch);
  fork->row = tape->branches[branch].row;
  fork->meets = -1;
  fork->first = f->difference_count;
  fork->count = 0;
  fork->pending = 0;
  fork->share = 1;
  fork->idle = fork->refused = false;
  const vcs_row_t *row = &tape->rows[fork->row];
  vcs_t *m = f->other;
  memcpy(m, before, f->size);

  bool taken = !!(vcs_row_status(row) & vcs_branch_flag(row->opcode)) == vcs_branch_if_set(row->opcode);
  uint16_t next = (uint16_t)(row->pc + 2);
  uint16_t target = (uint16_t)(next + (int8_t)vcs_code_byte(f->cart, m, (uint16_t)(row->pc + 1)));
  m->pc = taken ? next : target;
  m->cycles += vcs_opcode(row->opcode).cycles + (taken ? 0 : (next ^ target) & 0xFF00 ? 2u : 1u);

  way_t way = way_of(f, row, m);
  vcs_video_t video;
  vcs_video_start(&video, f->cart, f->frames ? f->other_frames : NULL);
  f->report.forks++;
  if (stays_inside(f, fork->row, &way)) return;
  fork->meets = run_other_side(f, fork->row, &way, first, &video);
  if (fork->meets < 0) return;
  vcs_forks_compare(f, before, fork->row, fork->meets, &video);
  fork->count = f->difference_count - fork->first;
  f->report.rejoined++;
}

/* ---- Walking
 * ----------------------------------------------------------------------------------------------------------- */

bool vcs_forks_begin(vcs_forks_t *f, const vcs_tape_t *tape, const uint8_t *frames, bool along) {
  f->tape = tape;
  f->frames = frames;
  f->difference_count = 0;
  f->along = along;
  f->known = f->failed = false;
  size_t rows = (size_t)tape->count + 1;
  if (!vcs_forks_room((void **)&f->next_at_pc, rows, sizeof(int32_t)) ||
      !vcs_forks_room((void **)&f->by_row, rows, sizeof(int32_t)) ||
      !vcs_forks_room((void **)&f->last_by_row, rows, sizeof(int32_t)) ||
      !vcs_forks_room((void **)&f->branch_at, rows, sizeof(int32_t)) ||
      !vcs_forks_room((void **)&f->popped, rows, sizeof(int32_t)) ||
      !vcs_forks_room((void **)&f->forks, (size_t)tape->branch_count + 1, sizeof *f->forks)) {
    return false;
  }
  for (int32_t i = 0; i <= tape->count; i++) f->by_row[i] = f->last_by_row[i] = f->branch_at[i] = -1;
  for (int32_t b = 0; b < tape->branch_count; b++) f->branch_at[tape->branches[b].row] = b;
  f->report.branches += (uint64_t)tape->branch_count;
  f->report.instructions += (uint64_t)tape->count;

  for (int32_t i = tape->count - 1; i >= 0; i--) {
    int32_t next = i + 1, *here = &f->first[tape->rows[i].pc & (ADDRESSES - 1)];
    while (next < tape->count && tape->rows[next].sp <= tape->rows[i].sp) next = f->popped[next];
    f->popped[i] = next;
    f->next_at_pc[i] = *here;
    *here = i;
  }
  for (int32_t i = 0; i < tape->count; i++) f->first[tape->rows[i].pc & (ADDRESSES - 1)] = -1;
  return along || vcs_forks_find(f);
}

bool vcs_forks_find(vcs_forks_t *f) {
  const vcs_tape_t *tape = f->tape;
  int32_t row = tape->count - 1;
  if (f->known || f->failed) return f->known;
  /* from the last branch to the first, so that for each the next row at every PC is known */
  for (int32_t b = tape->branch_count - 1; b >= 0; b--) {
    for (; row > tape->branches[b].row; row--) f->first[tape->rows[row].pc & (ADDRESSES - 1)] = row;
    take_other_side(f, b, f->first);
    vcs_fork_t *fork = &f->forks[b];
    if (fork->meets < 0) continue;
    fork->next = f->by_row[fork->meets];
    fork->before = -1;
    if (fork->next >= 0) {
      f->forks[fork->next].before = b;
    } else {
      f->last_by_row[fork->meets] = b;
    }
    f->by_row[fork->meets] = b;
  }
  for (int32_t i = 0; i < tape->count; i++) f->first[tape->rows[i].pc & (ADDRESSES - 1)] = -1;
  f->known = !f->failed && vcs_regions_begin(f, f->along);
  f->failed = !f->known;
  return f->known;
}

bool vcs_forks_failed(const vcs_forks_t *f) { return f->failed; }

void vcs_forks_walk(vcs_forks_t *f, const vcs_sweep_t *s) {
  vcs_detours_begin(f, s);
  if (!vcs_detours_possible(f, s, 0)) vcs_forks_find(f);
  if (!f->known) return;
  for (int32_t b = 0; b < f->tape->branch_count; b++) f->forks[b].pending = 0;
  for (int32_t i = 0; i < f->regions.count; i++) f->regions.all[i].crossed = false;
}

void vcs_forks_turn(vcs_forks_t *f) {
  for (int32_t b = 0; f->known && b < f->tape->branch_count; b++) {
    f->forks[b].idle = f->forks[b].pending == 0;
    f->forks[b].pending = 0;
  }
}

void vcs_forks_link(const vcs_forks_t *f, vcs_sweep_t *s, float *number, int32_t first, int32_t count) {
  for (int32_t i = first; i < first + count; i++) {
    const vcs_difference_t *d = &f->differences[i];
    if (d->slot & VCS_FORK_PIXEL) {
      if (!s->pixels) continue;
      unsigned both = (unsigned)d->by;
      vcs_link(s, number, &s->pixels[d->slot & ~(unsigned)VCS_FORK_PIXEL], s->scale[both & 255] - s->scale[both >> 8]);
    } else {
      if (s->reverse && !s->live[d->slot / VCS_SLOTS]) continue;
      vcs_link(s, number, &s->state[d->slot], d->by);
      if (!s->reverse) s->live[d->slot / VCS_SLOTS] = 1;
    }
  }
}

void vcs_forks_cancel(const vcs_forks_t *f, const vcs_sweep_t *s, int32_t fork, int32_t row, size_t offset) {
  const vcs_row_t *at = &f->tape->rows[row];
  if (!vcs_has_carries(offset)) return;
  uint8_t byte = ((const uint8_t *)s->m)[offset]; /* memory; registers are in the row */
  if (offset == VCS_OFFSET(a)) byte = at->a;
  if (offset == VCS_OFFSET(x)) byte = at->x;
  if (offset == VCS_OFFSET(y)) byte = at->y;
  if (offset >= VCS_OFFSET(colu) && offset < VCS_OFFSET(colu) + 4)
    byte = event_at(f->tape, row)->tia[offset - VCS_OFFSET(vsync)];
  vcs_cancel_moves(s, fork, offset, byte, vcs_slots(s, offset));
}

/* Links the flag of a fork's branch (through `pending`) with the differences at the meeting, by the fork's column. */
static void link_column(const vcs_forks_t *f, vcs_sweep_t *s, vcs_fork_t *fork) {
  vcs_forks_link(f, s, &fork->pending, fork->first, fork->count);
}

/* Cancels moves of bytes that a column has moved and that were moved in the opposite direction before. */
static void cancel_column(const vcs_forks_t *f, const vcs_sweep_t *s, const vcs_fork_t *fork) {
  for (int32_t i = 0; i < fork->count; i++) {
    const vcs_difference_t *d = &f->differences[fork->first + (s->reverse ? fork->count - 1 - i : i)];
    if (d->slot & VCS_FORK_PIXEL) continue;
    vcs_forks_cancel(f, s, (int32_t)(fork - f->forks), fork->meets, d->slot / VCS_SLOTS);
  }
}

/* Forwards: at the meetings before a row, adds column times tangent of the flag. */
static void meetings_forwards(vcs_forks_t *f, vcs_sweep_t *s, int32_t row) {
  s->row = row;
  for (int32_t b = f->by_row[row]; b >= 0; b = f->forks[b].next) {
    vcs_fork_t *fork = &f->forks[b];
    if (fork->pending == 0) continue;
    link_column(f, s, fork);
    cancel_column(f, s, fork);
  }
}

/* Backwards: the same from the last meeting to the first. Along a direction, forks whose flag did not move are
 * skipped. */
static void meetings_backwards(vcs_forks_t *f, vcs_sweep_t *s, int32_t row) {
  s->row = row;
  for (int32_t b = f->last_by_row[row]; b >= 0; b = f->forks[b].before) {
    vcs_fork_t *fork = &f->forks[b];
    if (fork->idle || fork->refused) continue;
    if (s->directional) cancel_column(f, s, fork);
    link_column(f, s, fork);
  }
}

/* In a probe every branch turns once. If a flag moves by more than this, a chain of forks explodes.
 */
static const float turns_max = 64;

void vcs_forks_probe(vcs_forks_t *f, bool probing) {
  f->probing = probing;
  for (int32_t b = 0; b < f->tape->branch_count; b++) f->forks[b].pending = 0;
}

/* The adjoint of a branch in a probe: either sign, so that many small terms do not add up. */
static float probe_of(int32_t branch) { return (uint32_t)branch * 2654435761u >> 31 ? 1.0F : -1.0F; }

/* Returns the slot of the flag that a branch tests, and sets *sign to the sign of its move. */
static float *flag_of(const vcs_sweep_t *s, const vcs_row_t *row, float *sign) {
  const uint8_t flag = vcs_branch_flag(row->opcode);
  *sign = vcs_row_status(row) & flag ? -1.0F : 1.0F;
  return &vcs_slots(s, VCS_OFFSET(p))[VCS_LOWEST((unsigned)flag)];
}

/* Keeps the tangent of a branch's flag, along a direction at most one turn of it, unless the branch is a detour. */
static void branch_forwards(vcs_forks_t *f, vcs_sweep_t *s, int32_t branch) {
  vcs_fork_t *fork = &f->forks[branch];
  const int32_t row = f->tape->branches[branch].row;
  float sign, *slot = flag_of(s, &f->tape->rows[row], &sign);
  if (f->known) fork->pending = 0;
  if (*slot == 0) return;
  if (f->along) {
    if (vcs_detour_take(f, s, branch, (uint32_t)(slot - s->state))) return;
    if (!vcs_forks_find(f)) return;
    if (f->regions.from[row] >= 0 && !vcs_detours_possible(f, s, row))
      return; /* a region begins here and takes the place of forks */
  }
  fork->pending = fork->refused ? 0 : sign * vcs_bounded(*slot, f->along ? 1 : vcs_beyond_meaning);
  fork->share = f->along ? sign * fork->pending / *slot : 1;
}

static void branch_backwards(vcs_forks_t *f, vcs_sweep_t *s, int32_t branch) {
  vcs_fork_t *fork = &f->forks[branch];
  float sign, *slot = flag_of(s, &f->tape->rows[f->tape->branches[branch].row], &sign);
  vcs_detour_leave(f, s, f->tape->branches[branch].row);
  if (!f->known || fork->pending == 0) return;
  *slot += sign * fork->share * vcs_bounded(fork->pending, vcs_beyond_meaning);
  s->live[VCS_OFFSET(p)] = 1;
}

static void probe_branch(vcs_forks_t *f, vcs_sweep_t *s, int32_t branch) {
  vcs_fork_t *fork = &f->forks[branch];
  float sign, *slot = flag_of(s, &f->tape->rows[fork->row], &sign);
  if (fork->meets < 0) return;
  fork->refused = !(fabsf(fork->pending) <= turns_max);
  if (fork->refused) return;
  *slot += sign * (fork->pending + probe_of(branch));
  s->live[VCS_OFFSET(p)] = 1;
}

/* Removes time and collisions from a probe, which follows only registers and memory: no chain of branches passes
 * through time and collisions, and they cost most.
 */
static void drop_chips(const vcs_sweep_t *s) {
  static const size_t offsets[] = {VCS_OFFSET(cycles), VCS_OFFSET(timer_cycle), VCS_OFFSET(collisions),
                                   VCS_OFFSET(collisions) + 1};
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    if (!s->live[offsets[i]]) continue;
    memset(vcs_slots(s, offsets[i]), 0, VCS_SLOTS * sizeof(float));
    s->live[offsets[i]] = 0;
  }
}

/* Called before a row in a forward walk and after it in a backward walk, so that in both the walk is before the row. */
void vcs_forks_row(vcs_forks_t *f, vcs_sweep_t *s, int32_t row) {
  const int32_t branch = f->branch_at[row];
  if (s->reverse) {
    if (branch >= 0) (f->probing ? probe_branch : branch_backwards)(f, s, branch);
    vcs_detour_meet(f, s, row);
    meetings_backwards(f, s, row);
    if (f->probing) drop_chips(s);
  } else {
    meetings_forwards(f, s, row);
    vcs_detour_meet(f, s, row);
    if (branch >= 0) branch_forwards(f, s, branch);
  }
}
