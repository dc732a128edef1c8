/* capsule.h: the end of DLPack's capsules. */
#ifndef DIFFVCS_PYTHON_CAPSULE_H
#define DIFFVCS_PYTHON_CAPSULE_H

#include "diffvcs/diffvcs.h"

/* Functions of Python, which this library does not link: PyErr_Fetch, PyErr_Restore, PyCapsule_IsValid and
 * PyCapsule_GetPointer. Called once, before the first capsule. */
VCS_API void vcs_capsule_prepare(void (*fetch)(void **, void **, void **), void (*restore)(void *, void *, void *),
                                 int (*is_valid)(void *, const char *), void *(*pointer)(void *, const char *));

/* A capsule's destructor: deletes the tensor of a capsule that found no consumer. */
VCS_API void vcs_capsule_end(void *capsule);

#endif
