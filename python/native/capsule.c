/* capsule.c: the end of DLPack's capsules.
 *
 * A consumer that takes the tensor of a capsule renames the capsule. So a capsule that has its first name at its end
 * has found no consumer, and its tensor is deleted here. If a consumer refuses the tensor, the capsule ends while the
 * consumer's error is raised. This destructor sets that error aside and raises it again. One written in Python could
 * not: ctypes clears every error when a callback returns.
 */
#include "capsule.h"

static const char name[] = "dltensor";

/* The part of DLManagedTensor that counts here. */
typedef struct managed {
  void *data;
  int32_t device[2], dimensions;
  uint8_t kind, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t offset;
  void *context;
  void (*deleter)(struct managed *);
} managed_t;

static struct {
  void (*fetch)(void **, void **, void **);
  void (*restore)(void *, void *, void *);
  int (*is_valid)(void *, const char *);
  void *(*pointer)(void *, const char *);
} python;

void vcs_capsule_prepare(void (*fetch)(void **, void **, void **), void (*restore)(void *, void *, void *),
                         int (*is_valid)(void *, const char *), void *(*pointer)(void *, const char *)) {
  python.fetch = fetch;
  python.restore = restore;
  python.is_valid = is_valid;
  python.pointer = pointer;
}

void vcs_capsule_end(void *capsule) {
  void *type, *value, *trace;
  python.fetch(&type, &value, &trace);
  if (python.is_valid(capsule, name)) {
    managed_t *tensor = python.pointer(capsule, name);
    tensor->deleter(tensor);
  }
  python.restore(type, value, trace);
}
