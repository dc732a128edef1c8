/* asleep.c: frames on a TIA that sleeps (core/tia_asleep.h), with or without a picture and a list of its objects, by
 * compiled code (native.h) once the cartridge has some.
 *
 * The machine after a frame is that of core/console.h, byte for byte. The TIA that sleeps cannot end a frame that is
 * partial or that stops in its picture; then the machine is restored, and the caller runs the frame on the TIA that
 * draws. tests/test_asleep.c compares the two.
 */
#include "host/asleep.h"

#define VCS_TIA_ASLEEP
#include "core/tia.h"
#include "host/native.h"

#if VCS_NATIVE
#define VCS_RUN_DECODED run_decoded
static uint32_t run_decoded(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint32_t allowance);
#endif

#include "host/asleep_run.h"

/* ---- A frame ------------------------------------------------------------------------------------------------- */

/* Runs a frame. Returns false if it has to be run again by a TIA that draws: it is partial, or stops in the picture. */
static bool run_asleep(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_rows_t *rows, vcs_recorder_t *recorder,
                       vcs_row_log_t *log, vcs_asleep_t *asleep) {
  vcs_console_start_frame(cart, m);
  if (rows) vcs_rows_start(rows, m, frames);
  if (rows && (recorder || log)) vcs_record_rows(rows, recorder, log);
  vcs_asleep_start(m, asleep, cart, frames, rows);
  vcs_cpu_run(cart, m, &asleep->video, VCS_FRAME_INSTRUCTIONS);
  if (m->partial) return false;
  vcs_console_finish_frame(cart, m, &asleep->video);
  if (!rows) return true;
  if (m->seen_clock != asleep->video.stop) return false;
  rows->end_rows(rows, m, &asleep->video, asleep->on, m->seen_clock);
  return true;
}

/* A machine with more cartridge RAM (3E) runs on the TIA that draws: copying it before each frame would cost more. */
enum { COPY_MOST = offsetof(vcs_t, cart_ram) + 2048 };

/* The same, but if it returns false, the machine is as it was. */
static bool frame_asleep(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_recorder_t *recorder,
                         vcs_row_log_t *log, vcs_asleep_t *asleep) {
  uint8_t before[COPY_MOST];
  vcs_rows_t rows;
  const size_t size = vcs_machine_size(cart);
  if (size > COPY_MOST || m->partial || (frames && m->scanlines < cart->top_line + cart->height)) return false;
  memcpy(before, m, size);
  if (run_asleep(cart, m, frames, frames ? &rows : NULL, recorder, log, asleep)) return true;
  memcpy(m, before, size);
  return false;
}

#if VCS_NATIVE

/* ---- What compiled code calls (native.h) ------------------------------------------------------------------------ */

/* Reads an address on a page with hot spots. Compiled code continues if the banks are as they were. */
VCS_SLOW_FN uint32_t native_read_hot(vcs_native_run_t *run, uint16_t addr) {
  uint32_t banks[4];
  memcpy(banks, run->m->bank, sizeof banks);
  const uint8_t value = vcs_bus_read(run->cart, run->m, &run->cpu, &run->asleep.video, addr);
  if (memcmp(banks, run->m->bank, sizeof banks) == 0) run->cpu.stop = 0;
  return value;
}

VCS_SLOW_FN uint32_t native_read_bus(vcs_native_run_t *run, uint32_t addr, uint64_t time, uint32_t last) {
  run->cpu.time = time;
  run->cpu.bus = (uint8_t)last;
  if (addr & 0x1000 && run->cart->hot_pages >> (addr >> 6 & 63) & 1) return native_read_hot(run, (uint16_t)addr);
  return vcs_bus_read(run->cart, run->m, &run->cpu, &run->asleep.video, (uint16_t)addr);
}

/* Reads a chip or the cartridge. The timer, the ports and the inputs do not depend on the picture, so they are read at
 * once. */
static uint32_t native_read(vcs_native_run_t *run, uint32_t addr, uint64_t time, uint32_t last) {
  vcs_t *m = run->m;
  const unsigned r = addr & 15;
  run->cpu.stop = 0;
  if (VCS_LIKELY(run->cart->passive_ports)) {
    if ((addr & 0x1280) == 0x280) {
      m->cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);
      return vcs_riot_read(run->cart, m, (uint16_t)addr);
    }
    if (!(addr & 0x1080) && r >= 8 && r < 14 && time < run->asleep.wake) {
      m->cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);
      vcs_asleep_note(&run->asleep, time, VCS_NOTED_READ);
      const bool high = r < 12 ? vcs_tia_pot_high(m, m->paddle[r - 8]) : m->fire[r - 12] != 0;
      return (unsigned)high << 7 | (last & 0x3F);
    }
  }
  return native_read_bus(run, addr, time, last);
}

static uint64_t native_write(vcs_native_run_t *run, uint32_t place, uint64_t time, uint32_t stored) {
  const vcs_cart_t *cart = run->cart;
  vcs_t *m = run->m;
  vcs_cpu_t *cpu = &run->cpu;
  vcs_video_t *video = &run->asleep.video;
  const uint16_t addr = (uint16_t)place;
  const uint8_t value = (uint8_t)stored;
  uint32_t banks[4];
  memcpy(banks, m->bank, sizeof banks);
  cpu->time = time;
  VCS_RUN_WRITE_BUS(0, addr)
  if (VCS_UNLIKELY(cpu->stop)) {
    m->bus = value;
    if (memcmp(banks, m->bank, sizeof banks) == 0) cpu->stop &= VCS_STOP_FRAME;
  }
  return cpu->time;
}

static uint64_t native_push_status(vcs_native_run_t *run, uint64_t time) {
  const uint32_t addr = 0x100u + run->cpu.sp--;
  return native_write(run, addr, time, vcs_cpu_status(&run->cpu));
}

/* Executes an RTS to an address that is not compiled, or not in the bank. */
static void native_return(vcs_native_run_t *run, uint64_t time) {
  run->cpu.time = time;
  run->cpu.stop = 0;
  run->cpu.bus = VCS_RTS;
  vcs_do_RTS(run->cart, run->m, &run->cpu, &run->asleep.video);
  run->m->bus = run->cpu.bus;
}

static uint32_t native_pull(vcs_native_run_t *run, uint64_t time) {
  const uint32_t touched = native_read(run, 0x100u + run->cpu.sp++, time, VCS_PLA); /* vcs_cpu_touch_stack */
  return native_read(run, 0x100u + run->cpu.sp, time, touched);
}

static void native_set_status(vcs_native_run_t *run, uint32_t value) { vcs_cpu_set_status(&run->cpu, (uint8_t)value); }

static uint64_t native_wait(vcs_native_run_t *run, uint64_t time, uint32_t least, uint32_t most) {
  const vcs_t *m = run->m;
  vcs_cpu_t *cpu = &run->cpu;
  const uint32_t allowance = run->allowance;
  cpu->time = time;
  VCS_SKIP_WAIT(least, most)
  return cpu->time;
}

static uint64_t native_wait_line(vcs_native_run_t *run, uint64_t time, uint32_t value) {
  vcs_t *m = run->m;
  const uint64_t waited = wait_line(m, &run->asleep.video, time);
  run->cpu.stop = 0;
  if (VCS_LIKELY(waited)) return waited;
  const uint32_t cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);
  m->cycles = cycles;
  run->cpu.stop = (uint8_t)vcs_bus_write_wsync(m, &run->asleep.video);
  if (run->cpu.stop) m->bus = (uint8_t)value;
  return time + VCS_CYCLES((uint32_t)(m->cycles - cycles));
}

/* A store to one register: returns whether it has ended the frame. */
#define NATIVE_STORE(name)                                                                          \
  static uint32_t native_store_##name(vcs_native_run_t *run, uint32_t value, uint64_t time) {       \
    vcs_t *m = run->m;                                                                              \
    vcs_video_t *video = &run->asleep.video;                                                        \
    if (VCS_LIKELY(store(m, video, time, VCS_##name, (uint8_t)value))) return 0;                    \
    m->cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);                                               \
    run->cpu.stop = vcs_tia_write_first(m, video, VCS_##name, (uint8_t)value) ? VCS_STOP_FRAME : 0; \
    if (run->cpu.stop) m->bus = (uint8_t)value;                                                     \
    return run->cpu.stop;                                                                           \
  }
VCS_TIA_ROWS(NATIVE_STORE)

#define NATIVE_STORE_ROW(name) [VCS_##name] = native_store_##name,
const vcs_native_calls_t vcs_native_calls = {.read = native_read,
                                             .write = native_write,
                                             .push_status = native_push_status,
                                             .pull = native_pull,
                                             .return_elsewhere = native_return,
                                             .set_status = native_set_status,
                                             .wait = native_wait,
                                             .wait_line = native_wait_line,
                                             .after_hmove = vcs_asleep_after_hmove,
                                             .hmove = hmove,
                                             .store = {VCS_TIA_ROWS(NATIVE_STORE_ROW)},
                                             .change = {[VCS_COLUP0_W] = set_colour,
                                                        [VCS_COLUP1_W] = set_colour,
                                                        [VCS_COLUPF_W] = set_colour,
                                                        [VCS_COLUBK_W] = set_colour,
                                                        [VCS_PF0] = set_playfield_0,
                                                        [VCS_PF1] = set_playfield_1,
                                                        [VCS_PF2] = set_playfield_2,
                                                        [VCS_GRP0] = set_player_0,
                                                        [VCS_GRP1] = set_player_1,
                                                        [VCS_ENAM0] = set_missile,
                                                        [VCS_ENAM1] = set_missile,
                                                        [VCS_ENABL] = set_ball,
                                                        [VCS_REFP0] = set_reflect,
                                                        [VCS_REFP1] = set_reflect,
                                                        [VCS_VDELP0] = set_delay,
                                                        [VCS_VDELP1] = set_delay}};

/* ---- The loop around it ------------------------------------------------------------------------------------------ */

/* Executes an instruction that is not compiled. */
VCS_SLOW_FN void step(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video) {
  vcs_tia_recall(m, video);
  cpu->bus = m->bus;
  vcs_cpu_instruction(VCS_HERE);
  m->bus = cpu->bus;
}

/* Instructions at hot spots and in RAM ports are never compiled. */
VCS_FN bool is_hot(const vcs_cart_t *cart, uint16_t pc) {
  return pc & 0x1000 && !vcs_cart_is_rom(cart, pc & 0xFFFu, pc & 0xFFFu);
}

/* Executes an instruction that is not compiled, and the following ones while they are at hot spots or in RAM ports. */
VCS_SLOW_FN void step_on(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint64_t limit) {
  unsigned stopped = cpu->stop;
  do {
    cpu->stop = 0;
    step(cart, m, cpu, video);
    stopped |= cpu->stop;
  } while (!m->jammed && !(stopped & VCS_STOP_FRAME) && is_hot(cart, cpu->pc) && cpu->time < limit);
  cpu->stop = (uint8_t)stopped;
}

/* vcs_run of run.h by compiled code. */
VCS_SLOW_FN uint32_t run_native(vcs_native_run_t *run, uint32_t allowance) {
  const vcs_cart_t *cart = run->cart;
  vcs_t *m = run->m;
  vcs_cpu_t *cpu = &run->cpu;
  vcs_bank_t bank = {.size = 0};
  uint32_t end = 0;
  vcs_cpu_load(cpu, m);
  run->limit = cpu->time + VCS_CYCLES(2 * allowance);
  run->allowance = allowance;
  while (cpu->time < run->limit) {
    bool gave_up = false, found = !(cpu->stop & VCS_STOP_BANKS) && (uint16_t)(cpu->pc - bank.start) < bank.size;
    if (!found) found = vcs_find_bank(cart, m, cpu->pc, &bank);
    if (!found) bank.size = 0;
    const void *code =
        found ? vcs_native_find(cart->native, (uint32_t)(bank.code - cart->code), bank.start, cpu->pc, &gave_up) : NULL;
    cpu->stop = 0;
    if (gave_up) {
      vcs_cpu_store(cpu, m);
      const uint32_t count = (uint32_t)(cpu->time & VCS_COUNT_MASK);
      return count ? count : vcs_run(cart, m, &run->asleep.video, allowance);
    }
    if (!code || vcs_native_enter(cart->native, run, code) == VCS_NATIVE_STEP) {
      step_on(cart, m, cpu, &run->asleep.video, run->limit);
      if (m->jammed) break;
    }
    if (cpu->stop & VCS_STOP_FRAME) {
      end = VCS_RUN_OVER;
      break;
    }
  }
  vcs_cpu_store(cpu, m);
  return end | (uint32_t)(cpu->time & VCS_COUNT_MASK);
}

static uint32_t run_decoded(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint32_t allowance) {
  vcs_native_run_t *run = (vcs_native_run_t *)(void *)video;
  return run->compiled ? run_native(run, allowance) : vcs_run(cart, m, video, allowance);
}

bool vcs_asleep_frame(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_recorder_t *recorder, vcs_row_log_t *log) {
  vcs_native_run_t run;
  run.m = m;
  run.cart = cart;
  run.compiled = vcs_native_ready(cart->native, cart);
  return frame_asleep(cart, m, frames, recorder, log, &run.asleep);
}

#else

bool vcs_asleep_frame(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_recorder_t *recorder, vcs_row_log_t *log) {
  vcs_asleep_t asleep;
  return frame_asleep(cart, m, frames, recorder, log, &asleep);
}

#endif
