/* broken_engine.c: a libdiffvcs_cuda for test_faults.c: one GPU, each of whose calls fails with a different error. */
#include "cuda/engine.h"

static const vcs_fault_t no_memory = {VCS_NO_MEMORY, "too little memory"};
static const vcs_fault_t bad_pointer = {VCS_BAD_ARGUMENT, "not a pointer"};
static const vcs_fault_t no_gpu = {VCS_NOT_FOUND, "there is one GPU, number 0"};

static const vcs_fault_t *use(int32_t gpu) { return gpu == 0 ? NULL : &no_gpu; }

static void turn_to(int32_t gpu) { (void)gpu; }

static const vcs_fault_t *allocate(size_t size, void **memory) {
  static uint64_t words[8];
  *memory = size <= sizeof words ? words : NULL;
  return *memory ? NULL : &no_memory;
}

static void release(void *memory) { (void)memory; }

static const vcs_fault_t *move(void *to, const void *from, size_t size) {
  (void)from;
  (void)size;
  return to ? NULL : &bad_pointer;
}

static const vcs_fault_t *wait_for(void *stream) {
  static const vcs_fault_t lost = {VCS_DEVICE_FAILED, "an illegal memory access"};
  (void)stream;
  return &lost;
}

VCS_API const vcs_engine_t VCS_CUDA_ENGINE = {
    .use = use, .turn_to = turn_to, .allocate = allocate, .release = release, .move = move, .wait = wait_for};
