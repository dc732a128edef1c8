/* arena.h: arrays that are freed together.
 *
 * A function that needs several arrays takes them from one arena. The arena remembers an allocation that failed, so the
 * caller checks once, after the last one; freeing the arena frees all its arrays.
 *
 *   vcs_arena_t arena = {0};
 *   float *pixels = vcs_arena_take(&arena, VCS_FRAME_BYTES, sizeof *pixels);
 *   float *state = vcs_arena_take(&arena, 8 * size, sizeof *state);
 *   vcs_status_t status = vcs_arena_status(&arena, error);
 *   if (status == VCS_OK) ...
 *   vcs_arena_free(&arena);
 *
 * Every array is an allocation of its own, with a header in front of it that links it to the one before, so sanitizers
 * see where it ends.
 */
#ifndef VCS_HOST_ARENA_H
#define VCS_HOST_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "host/files.h"

typedef union vcs_arena_header {
  union vcs_arena_header *previous;
  max_align_t alignment;
} vcs_arena_header_t;

typedef struct {
  vcs_arena_header_t *last; /* the header of the array that was taken last, or NULL */
  bool failed;              /* an allocation has failed */
} vcs_arena_t;

/* An array of `count` elements of `size` bytes, all zero; NULL and `failed` if there is no memory. */
static inline void *vcs_arena_take(vcs_arena_t *arena, size_t count, size_t size) {
  const size_t most = (SIZE_MAX - sizeof(vcs_arena_header_t)) / (size ? size : 1);
  vcs_arena_header_t *header = count <= most ? calloc(1, sizeof *header + count * size) : NULL;
  if (!header) {
    arena->failed = true;
    return NULL;
  }
  header->previous = arena->last;
  arena->last = header;
  return header + 1;
}

/* VCS_OK, or VCS_NO_MEMORY with a message if an allocation has failed. */
static inline vcs_status_t vcs_arena_status(const vcs_arena_t *arena, vcs_error_t *error) {
  return arena->failed ? vcs_error_fill(error, VCS_NO_MEMORY, "out of memory") : VCS_OK;
}

/* Frees all arrays; the arena is empty then and can be used again. */
static inline void vcs_arena_free(vcs_arena_t *arena) {
  while (arena->last) {
    vcs_arena_header_t *header = arena->last;
    arena->last = header->previous;
    free(header);
  }
  arena->failed = false;
}

#endif
