/* recorder.h: what the two halves of the recorder share while a tape (tape.h) is being recorded.
 *
 * tape.c records any instruction and executes it with cpu.h. tape_run.c records decoded instructions in the loop of
 * run.h.
 */
#ifndef VCS_GRAD_RECORDER_H
#define VCS_GRAD_RECORDER_H

#include "tape.h"

/* Records the event of an access to the TIA that is about to happen `cycles` into the frame, with the TIA as it is
 * before it. There is room. vcs_record_event_end has to follow. */
VCS_HOT_FN void vcs_record_event(vcs_tape_t *tape, const vcs_t *m, int32_t row, unsigned reg, uint8_t value,
                                 uint32_t cycles) {
  vcs_event_t *event = tape->next_event++;
  event->row = row;
  event->clock = vcs_wrap_minus((int32_t)(cycles * 3), m->frame_clock);
  event->from = tape->drawn;
  event->line = m->line;
  event->collisions = m->collisions;
  event->reg = (uint8_t)reg;
  event->value = value;
  vcs_event_take_tia(event, m);
}

/* The access has happened: this is what had been drawn before it (tia.h). */
VCS_HOT_FN void vcs_record_event_end(vcs_tape_t *tape, const vcs_t *m) {
  tape->next_event[-1].to = tape->drawn = m->seen_clock;
}

/* The access was an HMOVE: records its comb. */
VCS_EXTERN void vcs_record_hmove(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m);

/* Records the machine before a branch, for forks. False: no memory. */
VCS_EXTERN bool vcs_record_branch(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m);

/* Whether reading or writing `addr` may do more than access a byte of ROM. */
VCS_FN bool vcs_is_hot(const vcs_cart_t *cart, uint16_t addr) {
  return addr & 0x1000 && cart->hot_pages >> (addr >> 6 & 63) & 1;
}

/* Whether an instruction has a byte of data, which its row keeps: JSR has, and what is immediate is one. */
VCS_FN bool vcs_has_data(uint8_t opcode) {
  const unsigned access = vcs_opcode(opcode).access;
  if (access == VCS_ACCESS_STACK) return opcode == VCS_JSR || vcs_pushed(opcode) == 1 || vcs_pushed(opcode) == -1;
  return access == VCS_ACCESS_READ || access == VCS_ACCESS_WRITE || access == VCS_ACCESS_MODIFY;
}

/* A reason to stop, beside VCS_STOP_FRAME and VCS_STOP_BANKS: the picture is drawn up to tape->until. */
enum { VCS_STOP_DRAWN = 4 };

/* Runs and records decoded instructions, about `allowed` of them, fewer than VCS_RUN_MARGIN more. The tape has room for
 * that many rows. Returns what vcs_run does (run.h); it also stops when the picture is drawn up to tape->until. */
uint32_t vcs_tape_run(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, int32_t allowed);

#endif
