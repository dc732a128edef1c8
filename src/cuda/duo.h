/* duo.h: one machine on two lanes: the CPU writes down what it does to the TIA, and the TIA follows.
 *
 *   CPU lane   6507, RIOT, cartridge  ----- log: (cycle, register, value) ... ----->  TIA lane   picture, collisions
 *
 * A 6507 needs next to nothing back from the TIA: a WSYNC halts it by arithmetic, the end of a frame is a matter of
 * VSYNC and of time, paddles are resistors. Only collisions have to be drawn before they can be read. So the TIA may
 * lag behind; when the CPU wants to know, or to touch it, it writes STOP and waits at the gate until all that it has
 * written is done. Then it alone works on both, and lets the TIA go on afterwards.
 *
 * Both have a whole vcs_t, in which only their own fields are right: those of the TIA are listed in vcs_tia_copy. A few
 * fields are the business of both (VSYNC, the capacitors of the paddles): each side keeps them for itself.
 *
 * The log is in global memory; an entry is one word of 64 bits, written in one access, and carries the number of its
 * epoch, which tells the TIA that it is there: nobody has to wait for a fence. An epoch ends at a STOP, and the next
 * one begins at the log's beginning.
 *
 * On a host both lanes are the same thread: the TIA follows when there is a STOP.
 */
#ifndef VCS_CUDA_DUO_H
#define VCS_CUDA_DUO_H

#include "lockstep.h"

#if defined(__CUDACC__)
#include <cuda_awbarrier_primitives.h>
typedef __mbarrier_t vcs_gate_t;
#else
typedef int vcs_gate_t;
#endif

/* Before a loop that is not to be unrolled: code that is seldom needed should not take the place of other code. */
#if defined(__CUDA_ARCH__)
#define VCS_SMALL_LOOP _Pragma("unroll 1")
#else
#define VCS_SMALL_LOOP
#endif

enum {
  VCS_LOG_SIZE = 2048, /* entries; a frame has about a thousand */
  VCS_LOG_ROOM = 8,    /* of which the last few stay free: for a STOP, and for who reads ahead */
  VCS_LOG_SEEN = 64,   /* instead of a register: an access that only lets time pass */
  VCS_LOG_STOP,
  VCS_LOG_EPOCHS = 0xFFFF,
};

typedef struct {
  vcs_t *tia; /* what the TIA lane works on; without cartridge RAM */
  vcs_video_t *video;
  uint64_t *log;       /* VCS_LOG_SIZE entries; zero at first */
  vcs_gate_t *gate;    /* a barrier for two */
  volatile bool *ends; /* the TIA lane is done */
} vcs_duo_t;

/* Where the CPU is writing. */
typedef struct {
  uint64_t *entries;
  uint32_t at, epoch; /* epochs are from 1 to VCS_LOG_EPOCHS, and then from 1 on again */
} vcs_log_t;

/* ---- The two states ---------------------------------------------------------------------------------------------- */

/* The fields of the TIA, and the choice of the frame buffer: stretches of vcs_t, the first two of words. */
VCS_SLOW_FN void vcs_tia_copy(vcs_t *to, const vcs_t *from) {
  enum {
    TIMES = offsetof(vcs_t, frame_clock) / 4,
    TIMES_END = offsetof(vcs_t, timer_cycle) / 4,
    PLACES = offsetof(vcs_t, line) / 4,
    PLACES_END = offsetof(vcs_t, bank) / 4,
    REGISTERS = offsetof(vcs_t, vsync),
    REGISTERS_END = offsetof(vcs_t, audio_divider)
  };
  const uint32_t *words = (const uint32_t *)(const void *)from;
  VCS_SMALL_LOOP
  for (int i = TIMES; i < TIMES_END; i++) ((uint32_t *)(void *)to)[i] = words[i];
  VCS_SMALL_LOOP
  for (int i = PLACES; i < PLACES_END; i++) ((uint32_t *)(void *)to)[i] = words[i];
  VCS_SMALL_LOOP
  for (int i = REGISTERS; i < REGISTERS_END; i++) ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
  to->collisions = from->collisions;
  to->front = from->front;
}

/* ---- The log ----------------------------------------------------------------------------------------------------- */

VCS_HOT_FN uint64_t vcs_log_entry(uint32_t cycles, uint32_t epoch, unsigned r, uint8_t value) {
  return (uint64_t)cycles << 32 | (uint32_t)(epoch << 16 | r << 8 | value);
}

VCS_HOT_FN uint32_t vcs_log_next(uint32_t epoch) { return epoch == VCS_LOG_EPOCHS ? 1 : epoch + 1; }

VCS_HOT_FN unsigned vcs_log_register(uint64_t entry) { return (unsigned)(entry >> 8) & 0xFF; }

/* Registers that are kept as they are written: where in vcs_t, which bits, and how far down. Not those with a latch or
 * a strobe behind them. */
typedef struct {
  uint16_t at; /* 0: not such a register */
  uint8_t mask, shift;
} vcs_kept_t;

#define VCS_KEPT(field, i, mask, shift) \
  { offsetof(vcs_t, field) + (i), mask, shift }
#define VCS_NOT_KEPT \
  { 0, 0, 0 }
#define VCS_COLOUR(index) VCS_KEPT(colu, index, 0xFE, 0)
#define VCS_AUDIO(index) VCS_KEPT(audio, index, 0xFF, 0)
#define VCS_MOTION(object) VCS_KEPT(hm, object, 0xF0, 4)
/* clang-format off */
VCS_TABLE(vcs_kept_t, vcs_kept, 64, {
    VCS_NOT_KEPT, VCS_NOT_KEPT, VCS_NOT_KEPT, VCS_NOT_KEPT, VCS_NOT_KEPT, VCS_NOT_KEPT, /* to NUSIZ1 */
    VCS_COLOUR(VCS_COLUP0), VCS_COLOUR(VCS_COLUP1), VCS_COLOUR(VCS_COLUPF), VCS_COLOUR(VCS_COLUBK),
    VCS_NOT_KEPT, VCS_KEPT(reflect, 0, 8, 0), VCS_KEPT(reflect, 1, 8, 0), /* CTRLPF, REFPx */
    VCS_KEPT(pf, 0, 0xFF, 0), VCS_KEPT(pf, 1, 0xFF, 0), VCS_KEPT(pf, 2, 0xFF, 0),
    VCS_NOT_KEPT, VCS_NOT_KEPT, VCS_NOT_KEPT, VCS_NOT_KEPT, VCS_NOT_KEPT, /* RESxx */
    VCS_AUDIO(0), VCS_AUDIO(1), VCS_AUDIO(2), VCS_AUDIO(3), VCS_AUDIO(4), VCS_AUDIO(5),
    VCS_NOT_KEPT, VCS_NOT_KEPT, VCS_KEPT(enam, 0, 2, 0), VCS_KEPT(enam, 1, 2, 0), VCS_KEPT(enabl, 0, 2, 0), /* GRPx, ENAxx */
    VCS_MOTION(VCS_P0), VCS_MOTION(VCS_P1), VCS_NOT_KEPT, VCS_MOTION(VCS_M1), VCS_MOTION(VCS_BL), /* HMM0 makes stars */
    VCS_KEPT(vdelp, 0, 1, 0), VCS_KEPT(vdelp, 1, 1, 0), VCS_KEPT(vdelbl, 0, 1, 0),
    VCS_KEPT(resmp, 0, 2, 0), VCS_KEPT(resmp, 1, 2, 0),
})
/* clang-format on */

/* Half of the writes store what is there already: all that they do is that they are seen. */
VCS_HOT_FN bool vcs_log_is_idle(const vcs_t *tia, const vcs_video_t *video, unsigned r, uint8_t value) {
  const vcs_kept_t kept = vcs_kept(r);
  return kept.at && !video->colour_loss && ((const uint8_t *)tia)[kept.at] == (value & kept.mask) >> kept.shift;
}

/* What the TIA does with an entry. */
VCS_HOT_FN void vcs_log_follow(const vcs_duo_t *duo, uint64_t entry) {
  const unsigned r = vcs_log_register(entry);
  vcs_t *tia = duo->tia;
  vcs_video_t *video = duo->video;
  tia->cycles = (uint32_t)(entry >> 32);
  const int32_t now = vcs_tia_since_frame(tia);
  if (r == VCS_LOG_SEEN) {
    vcs_tia_see(tia, video, now);
    return;
  }
  const int32_t target = vcs_wrap_minus(now, -vcs_tia_delay(r, now));
  if (target < video->late && vcs_log_is_idle(tia, video, r, (uint8_t)entry)) {
    vcs_tia_see(tia, video, target);
  } else {
    vcs_lane_write_tia(tia, video, r, (uint8_t)entry);
  }
}

#if defined(__CUDACC__)

enum { GATE_NAP = 40 }; /* nanoseconds; others of the SM have something to do */

/* Each of the two waits for the other. */
static __device__ __noinline__ void vcs_gate_pass(vcs_gate_t *gate) {
  const __mbarrier_token_t token = __mbarrier_arrive(gate);
  while (!__mbarrier_test_wait(gate, token)) __nanosleep(GATE_NAP);
}

static __device__ __forceinline__ uint64_t vcs_log_get(const vcs_duo_t *duo, uint32_t at) {
  return ((volatile uint64_t *)duo->log)[at];
}

/* The TIA lane: follows epoch by epoch, until there is no more. */
static __device__ void vcs_duo_follow(const vcs_duo_t *duo) {
  for (uint32_t epoch = 1;; epoch = vcs_log_next(epoch)) {
    vcs_gate_pass(duo->gate);
    if (*duo->ends) return;
    uint64_t some[4] = {0, 0, 0, 0}; /* an access takes long, so there are four at a time */
    for (uint32_t at = 0;; at++) {
      while ((uint32_t)some[0] >> 16 != epoch) {
        for (int i = 0; i < 4; i++) some[i] = vcs_log_get(duo, at + (uint32_t)i);
      }
      if (vcs_log_register(some[0]) == VCS_LOG_STOP) break;
      vcs_log_follow(duo, some[0]);
      for (int i = 0; i < 3; i++) some[i] = some[i + 1];
      some[3] = 0;
    }
    vcs_gate_pass(duo->gate);
  }
}

#endif

/* The TIA goes on, or begins. */
VCS_HOT_FN void vcs_duo_go(const vcs_duo_t *duo) {
#if defined(__CUDA_ARCH__)
  vcs_gate_pass(duo->gate);
#else
  (void)duo;
#endif
}

/* All that was written has been done, and the TIA waits. */
VCS_SLOW_FN void vcs_duo_wait(const vcs_duo_t *duo, uint32_t at, uint32_t epoch) {
#if defined(__CUDA_ARCH__)
  ((volatile uint64_t *)duo->log)[at] = vcs_log_entry(0, epoch, VCS_LOG_STOP, 0);
  vcs_gate_pass(duo->gate);
  if (epoch == VCS_LOG_EPOCHS) { /* numbers begin anew, so nothing old may be there */
    for (uint32_t i = 0; i < VCS_LOG_SIZE; i++) ((volatile uint64_t *)duo->log)[i] = 0;
    __threadfence();
  }
#else
  (void)epoch;
  for (uint32_t i = 0; i < at; i++) vcs_log_follow(duo, duo->log[i]);
#endif
}

VCS_HOT_FN void vcs_duo_stop(const vcs_duo_t *duo, vcs_log_t *log) {
  vcs_duo_wait(duo, log->at, log->epoch);
  log->at = 0;
  log->epoch = vcs_log_next(log->epoch);
}

/* An entry for a log that has room. */
VCS_HOT_FN bool vcs_log_is_full(const vcs_log_t *log) { return log->at >= VCS_LOG_SIZE - VCS_LOG_ROOM; }

VCS_HOT_FN void vcs_log_write(vcs_log_t *log, uint32_t cycles, unsigned r, uint8_t value) {
  ((volatile uint64_t *)log->entries)[log->at++] = vcs_log_entry(cycles, log->epoch, r, value);
}

VCS_HOT_FN void vcs_duo_tell(const vcs_duo_t *duo, vcs_log_t *log, uint32_t cycles, unsigned r, uint8_t value) {
  if (vcs_log_is_full(log)) {
    vcs_duo_stop(duo, log);
    vcs_duo_go(duo);
  }
  vcs_log_write(log, cycles, r, value);
}

#endif
