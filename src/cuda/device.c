/* device.c: devices: their engines, their memory, and DLPack tensors.
 *
 * The CPU's engine is part of this library. The GPU's engine is a separate library (libdiffvcs_cuda), so this library
 * does not depend on CUDA; it is loaded at the first use of a GPU.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/engine.h"
#include "host/files.h"
#include "host/os.h"

/* ---- Engines -------------------------------------------------------------------------------------------------- */

#define CUDA_LIBRARY "libdiffvcs_cuda.so"

static const vcs_engine_t *cuda_engine;
static char cuda_missing[512];

static const vcs_engine_t *open_library(const char *path) {
  void *library = vcs_os_library_open(path);
  return library ? vcs_os_library_symbol(library, VCS_CUDA_ENGINE_NAME) : NULL;
}

/* Opens the engine's library in the folder of the library or program that contains this function, never in the current
 * folder. */
static const vcs_engine_t *open_beside(void) {
  char file[VCS_PATH_SIZE], path[VCS_PATH_SIZE + sizeof CUDA_LIBRARY];
  if (!vcs_os_library_path(&cuda_engine, file, sizeof file)) return NULL;
  snprintf(path, sizeof path, "%.*s" CUDA_LIBRARY, (int)(vcs_path_base(file) - file), file);
  return open_library(path);
}

static void find_cuda(void) {
  const char *named = getenv("DIFFVCS_CUDA");
  cuda_engine = named ? open_library(named) : open_beside();
  if (!cuda_engine && !named) cuda_engine = open_library(CUDA_LIBRARY);
  if (!cuda_engine) {
    char why[256];
    vcs_os_library_error(why, sizeof why);
    snprintf(cuda_missing, sizeof cuda_missing,
             CUDA_LIBRARY
             " was not found, or is of another version (%s): build it with `make cuda`, or use the CPU (VCS_CPU)",
             why[0] ? why : "it is of another version");
  }
}

const vcs_fault_t vcs_fault_no_memory = {VCS_NO_MEMORY, "out of memory"};

/* Sets *engine to the engine of a device. */
static const vcs_fault_t *find_engine(int32_t device, const vcs_engine_t **engine) {
  static const vcs_fault_t no_device = {
      VCS_NOT_FOUND, "there is no such device: they are VCS_CPU_AS_GPU, VCS_CPU, and VCS_GPU plus the number of a GPU"};
  static const vcs_fault_t no_library = {VCS_NOT_FOUND, cuda_missing};
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  *engine = NULL;
  if (device < VCS_CPU_AS_GPU) return &no_device;
  if (device < VCS_GPU) {
    *engine = &vcs_engine_cpu;
    return NULL;
  }
  pthread_once(&once, find_cuda);
  if (!cuda_engine) return &no_library;
  const vcs_fault_t *fault = cuda_engine->use(device - VCS_GPU);
  if (!fault) *engine = cuda_engine;
  return fault;
}

const char *vcs_device_missing(int32_t device) {
  const vcs_engine_t *engine;
  const vcs_fault_t *fault = find_engine(device, &engine);
  return fault ? fault->message : NULL;
}

vcs_status_t vcs_engine_find(int32_t device, const vcs_engine_t **engine, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  const vcs_fault_t *fault = find_engine(device, engine);
  return fault ? vcs_error_fill(error, fault->status, "%s", fault->message) : VCS_OK;
}

vcs_status_t vcs_device_status(const vcs_fault_t *fault, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  return fault ? vcs_error_fill(error, fault->status, "the device: %s", fault->message) : VCS_OK;
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

vcs_status_t vcs_device_allocate(int32_t device, size_t size, void **memory, vcs_error_t *error) {
  const vcs_engine_t *engine;
  *memory = NULL;
  vcs_status_t status = vcs_engine_find(device, &engine, error);
  return status ? status : vcs_device_status(engine->allocate(size, memory), error);
}

void vcs_device_free(int32_t device, void *memory) {
  const vcs_engine_t *engine;
  if (memory && !find_engine(device, &engine)) engine->release(memory);
}

vcs_status_t vcs_device_move(int32_t device, void *to, const void *from, size_t size, vcs_error_t *error) {
  const vcs_engine_t *engine;
  vcs_status_t status = vcs_engine_find(device, &engine, error);
  if (status) return status;
  const vcs_fault_t *fault = engine->move(to, from, size);
  return vcs_device_status(fault ? fault : engine->wait(NULL), error); /* the next call may use any stream */
}

/* The declarations of DLPack (github.com/dmlc/dlpack, version 0.8) that are used here: a stable interface of C structs.
 */
enum { DL_CPU = 1, DL_CUDA = 2, DL_DIMENSIONS = 8 };

typedef struct {
  void *data;
  struct {
    int32_t type, number;
  } device;
  int32_t dimensions;
  struct {
    uint8_t kind, bits;
    uint16_t lanes;
  } element;
  int64_t *shape, *strides;
  uint64_t offset;
} dl_tensor_t;

typedef struct dl_managed {
  dl_tensor_t tensor;
  void *context;
  void (*deleter)(struct dl_managed *);
  int64_t shape[DL_DIMENSIONS];
} dl_managed_t;

static void free_tensor(dl_managed_t *managed) { free(managed); }

void *vcs_device_dlpack(int32_t device, void *memory, int32_t dimensions, const int64_t *shape, int32_t kind,
                        int32_t bits) {
  dl_managed_t *managed = dimensions < 0 || dimensions > DL_DIMENSIONS ? NULL : calloc(1, sizeof *managed);
  if (!managed) return NULL;
  const bool is_gpu = device >= VCS_GPU;
  memcpy(managed->shape, shape, (size_t)dimensions * sizeof *shape);
  managed->tensor.data = memory;
  managed->tensor.device.type = is_gpu ? DL_CUDA : DL_CPU;
  managed->tensor.device.number = is_gpu ? device - VCS_GPU : 0;
  managed->tensor.dimensions = dimensions;
  managed->tensor.element.kind = (uint8_t)kind;
  managed->tensor.element.bits = (uint8_t)bits;
  managed->tensor.element.lanes = 1;
  managed->tensor.shape = managed->shape;
  managed->deleter = free_tensor;
  return managed;
}
