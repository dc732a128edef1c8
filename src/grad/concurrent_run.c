/* concurrent_run.c: a flip that has left: the CPU, run beside the base until the two meet.
 *
 * They meet where a row of the base stands: same program counter and stack pointer, the cartridge wired the same way.
 * Registers and memory may differ, and so may the time, by up to a window: with that a flip can follow the base
 * (concurrent_carry.c). Of several rows with the same program counter the nearest in time is taken. In the picture the
 * window is less than a line: a program that is a line late there is better compared with the base's next line.
 */
#include "concurrent_note.h"

/* Where a flip is beside the base. */
typedef struct {
  const vcs_base_frame_t *frame;
  uint32_t from, row; /* where it left, and where it stands now */
  uint32_t misses;    /* looks in vain */
  uint64_t next;      /* time from which on it looks again */
} beside_t;

#define VCS_RUN_BESIDE
#define VCS_RUN_WITH , beside_t *beside
#define VCS_RUN_LOOK \
  if (cpu->time >= beside->next && has_rows(beside->frame, (unsigned)(bank.start + (at - bank.code)))) goto met;
#define VCS_RUN_LABELS                                                  \
  met:                                                                  \
  cpu->pc = (uint16_t)(bank.start + (at - bank.code));                  \
  if (look(beside, cpu, m, false) | ((vcs_beam_note_t *)video)->full) { \
    end = VCS_RUN_STEP | RUN_MET;                                       \
    goto out;                                                           \
  }                                                                     \
  VCS_DISPATCH_NOW;

enum { RUN_MET = 1 << 18 }; /* the flip has met the base */

enum { PATIENCE = 256, PAUSE = 24 }; /* looks; cycles between later looks of a flip that has gone far astray */

static bool look(beside_t *beside, const vcs_cpu_t *cpu, const vcs_t *m, bool over);
static inline bool has_rows(const vcs_base_frame_t *frame, unsigned pc) {
  const uint16_t *first = &frame->first_same[pc & (VCS_SAME - 1)];
  return first[0] != first[1];
}

#include "core/run.h"

#include <string.h>

vcs_wiring_t vcs_wiring_of(const vcs_t *m) {
  vcs_wiring_t wiring;
  memcpy(wiring.bank, m->bank, sizeof wiring.bank);
  memcpy(wiring.cart_clock, m->cart_clock, sizeof wiring.cart_clock);
  memcpy(wiring.cart_word, m->cart_word, sizeof wiring.cart_word);
  memcpy(wiring.cart_byte, m->cart_byte, sizeof wiring.cart_byte);
  return wiring;
}

void vcs_wiring_put(const vcs_wiring_t *wiring, vcs_t *m) {
  memcpy(m->bank, wiring->bank, sizeof wiring->bank);
  memcpy(m->cart_clock, wiring->cart_clock, sizeof wiring->cart_clock);
  memcpy(m->cart_word, wiring->cart_word, sizeof wiring->cart_word);
  memcpy(m->cart_byte, wiring->cart_byte, sizeof wiring->cart_byte);
}

vcs_chips_t vcs_chips_of(const vcs_t *m) {
  vcs_chips_t chips = {.vsync_clock = m->vsync_clock,
                       .dump_cycle = m->dump_cycle,
                       .timer_cycle = m->timer_cycle,
                       .timer_read_cycle = m->timer_read_cycle,
                       .vsync = m->vsync,
                       .vblank = m->vblank,
                       .dump = m->dump};
  memcpy(chips.riot, &m->timer, sizeof chips.riot);
  return chips;
}

void vcs_chips_put(const vcs_chips_t *chips, vcs_t *m) {
  m->vsync_clock = chips->vsync_clock;
  m->dump_cycle = chips->dump_cycle;
  m->timer_cycle = chips->timer_cycle;
  m->timer_read_cycle = chips->timer_read_cycle;
  m->vsync = chips->vsync;
  m->vblank = chips->vblank;
  m->dump = chips->dump;
  memcpy(&m->timer, chips->riot, sizeof chips->riot);
}

static bool is_wired(const vcs_base_frame_t *frame, const vcs_t *m, uint32_t row) {
  const vcs_wiring_t *wiring = &frame->wirings[frame->rows[row].wiring];
  return memcmp(wiring->bank, m->bank, sizeof wiring->bank) == 0 &&
         memcmp(wiring->cart_clock, m->cart_clock, sizeof wiring->cart_clock) == 0 &&
         memcmp(wiring->cart_word, m->cart_word, sizeof wiring->cart_word) == 0 &&
         memcmp(wiring->cart_byte, m->cart_byte, sizeof wiring->cart_byte) == 0;
}

/* Of the rows with a program counter the nearest in time; false: there is none in the window. */
static bool find_row(const beside_t *beside, uint16_t pc, uint32_t cycles, uint32_t window, uint32_t *row) {
  const vcs_base_frame_t *frame = beside->frame;
  const uint16_t *first = &frame->first_same[pc & (VCS_SAME - 1)];
  uint32_t low = first[0], high = first[1], best = window + 1;
  while (low < high) { /* the first that is not earlier */
    const uint32_t middle = (low + high) / 2;
    if (frame->rows[frame->same[middle]].cycles < cycles) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < first[1] && frame->same[low] > beside->from && frame->rows[frame->same[low]].cycles - cycles < best) {
    *row = frame->same[low];
    best = frame->rows[*row].cycles - cycles;
  }
  if (low > first[0] && frame->same[low - 1] > beside->from &&
      cycles - frame->rows[frame->same[low - 1]].cycles < best) {
    *row = frame->same[low - 1];
    best = 0;
  }
  return best <= window;
}

/* Whether a flip stands where a row of the base stands. */
static bool look(beside_t *beside, const vcs_cpu_t *cpu, const vcs_t *m, bool over) {
  const vcs_base_frame_t *frame = beside->frame;
  const vcs_stand_t *rows = frame->rows;
  const uint32_t cycles = vcs_cpu_cycles(cpu), stands = cpu->pc | (uint32_t)cpu->sp << 16;
  const uint32_t window = vcs_in_picture(frame, m, cycles) ? VCS_NEAR : VCS_FAR;
  beside->row = frame->count;
  if (!over && cpu->time < beside->next) return false;
  if (++beside->misses > PATIENCE) beside->next = cpu->time + VCS_CYCLES(PAUSE);
  if (over ? rows[frame->count].cycles != cycles : !find_row(beside, cpu->pc, cycles, window, &beside->row))
    return false;
  return (rows[beside->row].key & 0xFFFFFF) == stands && is_wired(frame, m, beside->row) &&
         (window == VCS_NEAR || !vcs_in_picture(frame, m, rows[beside->row].cycles));
}

int32_t vcs_concurrent_run(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                           uint32_t from, uint32_t most, uint32_t *executed) {
  beside_t beside = {frame, from, from, 0, 0};
  vcs_video_t *video = &note->video;
  uint32_t left = most;
  int32_t met = VCS_RUN_LOST;
  while (left && !m->jammed && !note->full) {
    uint32_t end = VCS_RUN_STEP;
    bool over = false;
    if (VCS_LIKELY(left > VCS_RUN_MARGIN)) {
      end = vcs_run(cart, m, video, (left < VCS_RUN_MOST ? left : (uint32_t)VCS_RUN_MOST) - VCS_RUN_MARGIN, &beside);
      left -= end & VCS_COUNT_MASK;
      over = end & VCS_RUN_OVER;
      if (end & RUN_MET) {
        if (!note->full) met = (int32_t)beside.row;
        break;
      }
    }
    if (end & VCS_RUN_STEP) {
      vcs_cpu_step(cart, m, video, &over);
      left--;
    }
    vcs_cpu_t registers;
    vcs_cpu_load(&registers, m);
    if (m->jammed | note->full) break;
    if (left != most && look(&beside, &registers, m, over)) {
      met = (int32_t)beside.row;
      break;
    }
    if (over) {
      met = VCS_RUN_ENDED;
      break;
    }
  }
  *executed = most - left;
  return met;
}
