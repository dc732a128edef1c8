/* record.h: recording a frame's tape (grad/tape.h) in lockstep.
 *
 * The loop is lockstep.h's. The tape equals that of vcs_tape_record, except that other iterations of waiting loops may
 * be omitted. Plain instructions write their own rows. This file records stores to chips and reads from them;
 * vcs_tape_step records every rare instruction.
 *
 * Tapes do not grow here: a full tape stops its lane and sets tape->full.
 */
#ifndef VCS_CUDA_RECORD_H
#define VCS_CUDA_RECORD_H

#if !defined(VCS_LANES_RECORD)
#error "record.h needs lanes that record: define VCS_LANES_RECORD before lockstep.h is included"
#endif
#include "lockstep.h"

/* Executes and records one instruction over the bus. Returns false if the tape is full. */
VCS_HOT_FN bool vcs_lane_step_noted(const vcs_cart_t *cart, vcs_t *m, vcs_lane_t *lane, vcs_video_t *video) {
  vcs_tape_t *tape = lane->tape;
  vcs_lane_store(lane, m);
  tape->count = (int32_t)(lane->row - tape->rows);
  const bool fits = vcs_tape_step(tape, cart, m, video, &lane->over);
  lane->row = tape->rows + tape->count;
  vcs_lane_load(lane, m);
  lane->left--;
  lane->stands = m->jammed || !lane->left;
  return fits;
}

/* Executes and records a load or a store that is not plain. Returns false without any change if vcs_tape_step must do
 * it.
 */
VCS_HOT_FN bool vcs_lane_access_noted(const vcs_cart_t *cart, vcs_t *m, vcs_lane_t *lane, vcs_video_t *video) {
  vcs_cpu_t *cpu = &lane->cpu;
  vcs_tape_t *tape = lane->tape;
  const vcs_code_t code = lane->code;
  const unsigned where = code.row & 15, what = code.row >> VCS_WHAT_SHIFT & 63, length = code.row >> VCS_LENGTH_SHIFT;
  const bool pointer = (where | 4) == VCS_AT_BUS_POINTER, zero_page = where >> 2 == VCS_AT_RAM >> 2;
  const bool wsync = where == VCS_AT_WSYNC;
  const uint8_t index = wsync ? 0 : where & 2 ? cpu->y : where & 1 ? cpu->x : 0;
  const uint16_t pc = vcs_lane_pc(lane);
  const uint8_t *bytes = lane->bank.rom + (uint16_t)(pc - lane->bank.start);
  const uint16_t base = pointer ? vcs_run_pointer(&m->ram[code.operand]) : wsync ? bytes[1] : code.operand;
  const uint16_t addr = (uint16_t)(zero_page ? (uint8_t)(base + index) : base + index);
  const bool reads = what < VCS_DOES_STA;
  if (addr & 0x1000) return false;
  vcs_row_t row;
  cpu->time = VCS_CYCLES(lane->cycles);
  vcs_row_begin(&row, cpu, pc, lane->cycles, *bytes);
  row.addr = addr;
  uint32_t cycles = lane->cycles + (code.row >> VCS_CYCLES_AT & 7) + 1;
  if (reads && !zero_page) cycles += ((base & 0xFF) + (uint32_t)index) >> 8;
  const bool ram = (addr & 0x280) == 0x80;
  unsigned stop = 0;
  vcs_row_t *const place = lane->row;
  if (ram) row.old = row.value = m->ram[addr & 0x7F];
  if (reads) {
    if (!ram) {
      const uint8_t bus = (uint8_t)(zero_page || (length == 2 && !pointer) ? base : base >> 8);
      const int found = vcs_tape_read_chip(tape, cart, m, video, place, addr, cycles, bus);
      if (found < 0) return false;
      row.value = (uint8_t)found;
    }
    lane->cycles = cycles;
    vcs_lane_read(cpu, what, row.value);
  } else {
    row.value = !wsync                 ? vcs_lane_stored(cpu, what)
                : *bytes == VCS_STY_ZP ? cpu->y
                : *bytes == VCS_STA_ZP ? cpu->a
                                       : cpu->x;
    if (ram) {
      m->ram[addr & 0x7F] = row.value;
      lane->cycles = cycles;
    } else {
      if (addr & 0x80 || (addr & 63) == VCS_VBLANK) { /* for the snapshot */
        cpu->pc = pc;
        vcs_cpu_store(cpu, m);
      }
      const int wrote = vcs_tape_write_chip(tape, cart, m, video, place, addr, row.value, cycles);
      if (wrote < 0) return false;
      stop = (unsigned)wrote;
      lane->cycles = m->cycles;
      if (stop) m->bus = row.value;
    }
  }
  *place = row;
  lane->row++;
  lane->left--;
  vcs_lane_go(lane, lane->at + length);
  lane->over = stop & VCS_STOP_FRAME;
  if (stop) vcs_lane_leave(lane, vcs_lane_pc(lane));
  return true;
}

/* Runs and records the instructions of a frame. */
VCS_SLOW_FN void vcs_record_lanes(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, bool playing,
                                  unsigned lanes) {
  vcs_lane_t lane;
  const vcs_row_t *end = NULL;
  bool fits = true;
  vcs_lane_begin(&lane, playing);
  lane.tape = tape;
  lane.row = NULL;
  if (playing) {
    vcs_lane_load(&lane, m);
    lane.stands = m->jammed;
    lane.until = lane.cycles - lane.cycles % VCS_LINE_CYCLES;
    lane.row = tape->rows;
    end = tape->rows + tape->capacity;
  }
  while (VCS_ANY_LANE(lanes, fits && vcs_lane_goes(&lane))) {
    lane.until += VCS_LINE_CYCLES;
    while (fits && vcs_lane_goes(&lane) && (int32_t)(lane.until - lane.cycles) > 0) {
      if (!lane.known && !cart->snoops && !tape->opaque) vcs_lane_find(cart, m, &lane);
      bool plain = lane.known;
      while (plain && fits && (int32_t)(lane.until - lane.cycles) > 0) {
        plain = vcs_lane_plain(cart, m, &lane, video);
        fits = lane.row < end;
      }
      if (plain || !fits) break;
      const unsigned row = lane.known && lane.left > 1 ? lane.code.row : (unsigned)VCS_AT_STEP;
      const unsigned where = row & 15, what = row >> VCS_WHAT_SHIFT & 63;
      const bool access = where == VCS_AT_WSYNC || (where >= VCS_AT_RAM && what <= VCS_DOES_STY);
      if (!access || !vcs_lane_access_noted(cart, m, &lane, video)) fits = vcs_lane_step_noted(cart, m, &lane, video);
      fits = fits && lane.row < end;
    }
    VCS_JOIN_LANES(lanes);
  }
  if (!playing) return;
  vcs_lane_store(&lane, m);
  m->instructions += VCS_FRAME_INSTRUCTIONS - lane.left;
  if (lane.over) m->partial = 0;
  tape->count = (int32_t)(lane.row - tape->rows);
  tape->full = !fits;
}

/* Runs a frame without drawing and records it, like vcs_tape_record. */
VCS_FN void vcs_record_together(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, bool playing, unsigned lanes) {
  vcs_video_t video;
  if (playing) {
    vcs_video_start(&video, cart, NULL);
    vcs_console_start_frame(cart, m);
    vcs_tape_begin(tape, cart, m);
  }
  vcs_record_lanes(tape, cart, m, &video, playing, lanes);
  if (!playing) return;
  if (!vcs_tape_end(tape, cart, m)) tape->full = true;
  vcs_console_finish_frame(cart, m, &video);
}

#endif
