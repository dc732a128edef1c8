/* links.h: real numbers with the derivatives of their inputs.
 *
 * While links are recorded, every computed number is a variable, and a link for each of its inputs holds the partial
 * derivative. Traversing the list forwards multiplies by the Jacobian (JVP), backwards by its transpose (VJP): both
 * read the same links, so they agree. Without a list numbers have no derivatives.
 */
#ifndef VCS_RELAX_LINKS_H
#define VCS_RELAX_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  double value;
  int32_t variable; /* 0: a constant, or links are not recorded */
} vcs_real_t;

typedef struct {
  int32_t target, source;
  double slope;
} vcs_link_t;

typedef struct {
  vcs_link_t *links;
  size_t count, capacity;
  int32_t variables; /* 1 .. variables are in use */
  bool failed;       /* out of memory: the list is not complete */
} vcs_links_t;

void vcs_links_free(vcs_links_t *links);

/* Adds a link to the newest variable; a zero slope or a constant source adds none. */
void vcs_links_add(vcs_links_t *links, vcs_real_t source, double slope);

/* A new number. `links` may be NULL. Links to its inputs follow. */
static inline vcs_real_t vcs_real_new(vcs_links_t *links, double value) {
  vcs_real_t real = {value, links ? ++links->variables : 0};
  return real;
}

static inline vcs_real_t vcs_real_constant(double value) {
  vcs_real_t real = {value, 0};
  return real;
}

static inline void vcs_real_from(vcs_links_t *links, vcs_real_t source, double slope) {
  if (links && source.variable && slope != 0) vcs_links_add(links, source, slope);
}

/* constant + scale * a, and constant + scale * a + scale_b * b. */
vcs_real_t vcs_real_linear(vcs_links_t *links, double constant, vcs_real_t a, double scale);
vcs_real_t vcs_real_sum(vcs_links_t *links, double constant, vcs_real_t a, double scale, vcs_real_t b, double scale_b);

/* Propagates d[variable] forwards or backwards along the links. */
void vcs_links_forward(const vcs_links_t *links, double *d);
void vcs_links_backward(const vcs_links_t *links, double *d);

#endif
