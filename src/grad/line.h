/* line.h: a piece of a line, between two register writes: what line.c and line_sums.c share. */
#ifndef VCS_GRAD_LINE_H
#define VCS_GRAD_LINE_H

#include "sweep.h"

/* A piece as the registers show it. */
typedef struct {
  vcs_pixels_t line[VCS_OBJECTS]; /* where each object is */
  uint64_t colour[3][4];          /* where each colour shows */
  uint8_t index[4];               /* the palette index of each colour */
  uint16_t hits;                  /* collisions */
} vcs_shown_t;

typedef struct {
  int y, x0, x1; /* its row, its first pixel and the one behind its last */
  int first_word, last_word;
  uint64_t beam[3]; /* its pixels */
  uint64_t mask[3]; /* those of them that are not under a comb */
  uint16_t latched; /* collisions before it */
  vcs_shown_t base;
} vcs_piece_t;

/* The links of one slot of a register that shapes these objects, by showing the piece again. */
VCS_EXTERN void vcs_piece_link(const vcs_sweep_t *s, vcs_t *t, const vcs_piece_t *piece, size_t offset, int slot,
                               unsigned objects);

/* Walking backwards, the links of all slots from the pixels alone; `adjoints` are those of the row. Objects of `piece`
 * are tried out and put back. False: it cannot. */
VCS_EXTERN bool vcs_line_sums(vcs_sweep_t *s, vcs_t *t, vcs_piece_t *piece, const float *adjoints);

#endif
