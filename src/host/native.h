/* native.h: the program of a cartridge as code of the host (native.c), and the data that this code uses. */
#ifndef VCS_HOST_NATIVE_H
#define VCS_HOST_NATIVE_H

/* DIFFVCS_NATIVE is set by the build (option of the same name). The code needs x86-64, the System V calling convention
 * and POSIX pages. */
#if defined(DIFFVCS_NATIVE) && defined(__x86_64__) && defined(__LP64__) && defined(__unix__) && !defined(__CUDACC__)
#define VCS_NATIVE 1
#else
#define VCS_NATIVE 0
#endif

#include "core/state.h"

/* Prepares a loaded cartridge for compiled code. NULL: there is no memory, or its code cannot be compiled. */
vcs_native_t *vcs_native_create(const vcs_cart_t *cart);
void vcs_native_free(vcs_native_t *native);

/* Sets after how many frames the next cartridges compile their code; negative: never. The default is the environment
 * variable DIFFVCS_NATIVE, or 30. For tests. */
void vcs_native_after(int frames);

/* Returns the bytes of code and of the tables of entries; 0 if there is no code yet, or the room for it is used up. */
size_t vcs_native_size(const vcs_native_t *native);

#if VCS_NATIVE && defined(VCS_TIA_ASLEEP)
#include "core/bus.h"

/* The data that compiled code uses. */
typedef struct {
  vcs_asleep_t asleep; /* first member: the core passes a pointer to it */
  vcs_cpu_t cpu;       /* while code runs, A, X, Y and the time are in host registers instead */
  vcs_t *m;
  const vcs_cart_t *cart;
  uint64_t limit;     /* from this time on, the next jump backwards leaves the code */
  uint32_t allowance; /* instructions that the present call may execute */
  bool compiled;      /* whether this frame runs by compiled code */
} vcs_native_run_t;

/* The functions that compiled code calls (asleep.c). A function with the parameter `time` sets cpu.stop if the CPU
 * stops after the access. */
typedef struct {
  uint32_t (*read)(vcs_native_run_t *run, uint32_t addr, uint64_t time, uint32_t last); /* last: byte on the bus */
  uint64_t (*write)(vcs_native_run_t *run, uint32_t addr, uint64_t time,
                    uint32_t value);                                                     /* returns the time after it */
  uint64_t (*push_status)(vcs_native_run_t *run, uint64_t time);                         /* PHP */
  uint32_t (*pull)(vcs_native_run_t *run, uint64_t time);                                /* PLA */
  void (*return_elsewhere)(vcs_native_run_t *run, uint64_t time);                        /* RTS; sets cpu.pc */
  void (*set_status)(vcs_native_run_t *run, uint32_t value);                             /* PLP, with the byte pulled */
  uint64_t (*wait)(vcs_native_run_t *run, uint64_t time, uint32_t least, uint32_t most); /* VCS_SKIP_WAIT of run.h */
  uint64_t (*wait_line)(vcs_native_run_t *run, uint64_t time, uint32_t value);           /* a store to WSYNC */
  bool (*after_hmove)(vcs_t *m, vcs_asleep_t *asleep, uint64_t time, unsigned r);        /* vcs_asleep_after_hmove */
  bool (*hmove)(vcs_t *m, vcs_asleep_t *asleep, uint64_t time);                          /* false: `store` does it */
  uint32_t (*store[64])(vcs_native_run_t *run, uint32_t value, uint64_t time);           /* by register, or NULL */
  void (*change[64])(vcs_t *m, vcs_asleep_t *asleep, uint8_t value,
                     unsigned i); /* the same for a store that only changes the register; or NULL */
} vcs_native_calls_t;
extern const vcs_native_calls_t vcs_native_calls;

/* Whether this frame of the cartridge runs by compiled code. */
bool vcs_native_ready(vcs_native_t *native, const vcs_cart_t *cart);

/* Returns the code of the instruction at pc in the bank at `base` in the image, which is mapped at `start`; compiles it
 * if necessary. Returns NULL for an instruction that is never compiled, and sets *gave_up if there is no more room. */
const void *vcs_native_find(vcs_native_t *native, uint32_t base, uint16_t start, uint16_t pc, bool *gave_up);

/* Runs code, with the registers in run->cpu. Returns VCS_NATIVE_STEP before an instruction that is not compiled, and
 * VCS_NATIVE_LEFT after an access that stops the CPU, or if the limit is reached. */
enum { VCS_NATIVE_STEP = 1, VCS_NATIVE_LEFT = 2 };
int vcs_native_enter(vcs_native_t *native, vcs_native_run_t *run, const void *code);
#endif

#endif
