/* cpu_tia_pair.h: one machine on two lanes: the CPU lane logs its accesses to the TIA, and the TIA lane executes them.
 *
 *   CPU lane   6507, RIOT, cartridge  ----- log: (cycle, register, value) ... ----->  TIA lane   picture, collisions
 *
 * A 6507 needs little from the TIA: the end of a WSYNC is arithmetic, the end of a frame depends on VSYNC and time, and
 * paddles are resistors. Only collisions must be drawn before they can be read. So the TIA lane may be late. When the
 * CPU lane reads a collision, or needs direct access, it writes STOP and waits at the gate until the TIA lane has
 * executed the whole log. Then the CPU lane alone works on both states, and afterwards the TIA lane continues.
 *
 * Each lane has a whole vcs_t, in which only its own fields are valid: vcs_tia_copy lists those of the TIA. Both lanes
 * keep their own copies of a few fields (VSYNC, the capacitors of the paddles).
 *
 * The log is in global memory. An entry is one 64-bit word, written in one access, and contains the number of its
 * epoch, so the TIA lane recognizes new entries without a fence. An epoch ends at a STOP, and the next one begins at
 * the start of the log.
 *
 * On the host both lanes are the same thread: the TIA's part runs at each STOP.
 */
#ifndef VCS_CUDA_CPU_TIA_PAIR_H
#define VCS_CUDA_CPU_TIA_PAIR_H

#include "lockstep.h"

#if defined(__CUDACC__)
#include <cuda_awbarrier_primitives.h>
typedef __mbarrier_t vcs_gate_t;
#else
typedef int vcs_gate_t;
#endif

/* Placed before a loop that must not be unrolled, because rare code should stay small. */
#if defined(__CUDA_ARCH__)
#define VCS_SMALL_LOOP _Pragma("unroll 1")
#else
#define VCS_SMALL_LOOP
#endif

enum {
  VCS_LOG_SIZE = 2048, /* entries; a frame has about a thousand */
  VCS_LOG_ROOM = 8,    /* free entries at the end: for a STOP and for prefetching */
  VCS_LOG_SEEN = 64,   /* in place of a register: an access that only advances time */
  VCS_LOG_STOP,
  VCS_LOG_EPOCHS = 0xFFFF,
};

typedef struct {
  vcs_t *tia; /* the TIA lane's state, without cartridge RAM */
  vcs_video_t *video;
  uint64_t *log;       /* VCS_LOG_SIZE entries, initially zero */
  vcs_gate_t *gate;    /* barrier of the two lanes */
  volatile bool *ends; /* tells the TIA lane to end */
} vcs_cpu_tia_pair_t;

/* The CPU lane's position in the log. */
typedef struct {
  uint64_t *entries;
  uint32_t at, epoch; /* next entry; epoch, 1 to VCS_LOG_EPOCHS and then 1 again */
} vcs_log_t;

/* ---- The two states ---------------------------------------------------------------------------------------------- */

/* Copies the fields of the TIA and the index of the frame buffer: ranges of vcs_t, the first two in words. */
VCS_SLOW_FN void vcs_tia_copy(vcs_t *to, const vcs_t *from) {
  enum {
    TIMES = offsetof(vcs_t, frame_clock) / 4,
    TIMES_END = offsetof(vcs_t, timer_cycle) / 4,
    PLACES = offsetof(vcs_t, line) / 4,
    PLACES_END = offsetof(vcs_t, bank) / 4,
    REGISTERS = offsetof(vcs_t, vsync),
    REGISTERS_END = offsetof(vcs_t, audio_divider)
  };
  VCS_ASSERT(4 * (TIMES_END - TIMES) == 0 VCS_FIELDS_TIA_TIMES(VCS_SIZE_OF) &&
                 4 * (PLACES_END - PLACES) == 0 VCS_FIELDS_TIA_BEAM(VCS_SIZE_OF),
             "all times and places of the TIA are exchanged");
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

/* Executes an entry on the TIA lane. */
VCS_HOT_FN void vcs_log_follow(const vcs_cpu_tia_pair_t *pair, uint64_t entry) {
  const unsigned r = vcs_log_register(entry);
  pair->tia->cycles = (uint32_t)(entry >> 32);
  if (r == VCS_LOG_SEEN) {
    vcs_tia_see(pair->tia, pair->video, vcs_tia_since_frame(pair->tia));
  } else {
    vcs_lane_write_tia(pair->tia, pair->video, r, (uint8_t)entry);
  }
}

#if defined(__CUDACC__)

enum { GATE_NAP = 1000 }; /* nanoseconds, at most */

/* Both lanes wait for each other. */
static __device__ __noinline__ void vcs_gate_pass(vcs_gate_t *gate) {
  const __mbarrier_token_t token = __mbarrier_arrive(gate);
  while (!__mbarrier_try_wait(gate, token, GATE_NAP)) {
  }
}

static __device__ __forceinline__ uint64_t vcs_log_get(const vcs_cpu_tia_pair_t *pair, uint32_t at) {
  return ((volatile uint64_t *)pair->log)[at];
}

/* The TIA lane: executes epoch after epoch until the end. */
static __device__ void vcs_cpu_tia_pair_follow(const vcs_cpu_tia_pair_t *pair) {
  for (uint32_t epoch = 1;; epoch = vcs_log_next(epoch)) {
    vcs_gate_pass(pair->gate);
    if (*pair->ends) return;
    uint64_t some[4] = {0, 0, 0, 0}; /* four entries per access, because an access is slow */
    for (uint32_t at = 0;; at++) {
      while ((uint32_t)some[0] >> 16 != epoch) {
        for (int i = 0; i < 4; i++) some[i] = vcs_log_get(pair, at + (uint32_t)i);
      }
      if (vcs_log_register(some[0]) == VCS_LOG_STOP) break;
      vcs_log_follow(pair, some[0]);
      for (int i = 0; i < 3; i++) some[i] = some[i + 1];
      some[3] = 0;
    }
    vcs_gate_pass(pair->gate);
  }
}

#endif

/* Starts or continues the TIA lane. */
VCS_HOT_FN void vcs_cpu_tia_pair_go(const vcs_cpu_tia_pair_t *pair) {
#if defined(__CUDA_ARCH__)
  vcs_gate_pass(pair->gate);
#else
  (void)pair;
#endif
}

/* Waits until the TIA lane has executed the whole log and stopped. */
VCS_SLOW_FN void vcs_cpu_tia_pair_wait(const vcs_cpu_tia_pair_t *pair, uint32_t at, uint32_t epoch) {
#if defined(__CUDA_ARCH__)
  ((volatile uint64_t *)pair->log)[at] = vcs_log_entry(0, epoch, VCS_LOG_STOP, 0);
  vcs_gate_pass(pair->gate);
  if (epoch == VCS_LOG_EPOCHS) { /* numbers restart, so old entries must be cleared */
    for (uint32_t i = 0; i < VCS_LOG_SIZE; i++) ((volatile uint64_t *)pair->log)[i] = 0;
    __threadfence();
  }
#else
  (void)epoch;
  for (uint32_t i = 0; i < at; i++) vcs_log_follow(pair, pair->log[i]);
#endif
}

VCS_HOT_FN void vcs_cpu_tia_pair_stop(const vcs_cpu_tia_pair_t *pair, vcs_log_t *log) {
  vcs_cpu_tia_pair_wait(pair, log->at, log->epoch);
  log->at = 0;
  log->epoch = vcs_log_next(log->epoch);
}

/* Appends an entry to a log that has a free one. */
VCS_HOT_FN bool vcs_log_is_full(const vcs_log_t *log) { return log->at >= VCS_LOG_SIZE - VCS_LOG_ROOM; }

VCS_HOT_FN void vcs_log_write(vcs_log_t *log, uint32_t cycles, unsigned r, uint8_t value) {
  ((volatile uint64_t *)log->entries)[log->at++] = vcs_log_entry(cycles, log->epoch, r, value);
}

VCS_HOT_FN void vcs_cpu_tia_pair_tell(const vcs_cpu_tia_pair_t *pair, vcs_log_t *log, uint32_t cycles, unsigned r,
                                      uint8_t value) {
  if (vcs_log_is_full(log)) {
    vcs_cpu_tia_pair_stop(pair, log);
    vcs_cpu_tia_pair_go(pair);
  }
  vcs_log_write(log, cycles, r, value);
}

#endif
