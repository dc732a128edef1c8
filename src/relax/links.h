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

/* tests/quad.h defines this to round the numbers of the map in quadruple precision. */
#ifndef VCS_REAL_VALUE
#define VCS_REAL_VALUE(x) (x)
#endif

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
  vcs_real_t real = {VCS_REAL_VALUE(value), links ? ++links->variables : 0};
  return real;
}

static inline vcs_real_t vcs_real_constant(double value) {
  vcs_real_t real = {VCS_REAL_VALUE(value), 0};
  return real;
}

static inline void vcs_real_from(vcs_links_t *links, vcs_real_t source, double slope) {
  if (links && source.variable && slope != 0) vcs_links_add(links, source, slope);
}

/* constant + scale * a, and constant + scale * a + scale_b * b. */
vcs_real_t vcs_real_linear(vcs_links_t *links, double constant, vcs_real_t a, double scale);
vcs_real_t vcs_real_sum(vcs_links_t *links, double constant, vcs_real_t a, double scale, vcs_real_t b, double scale_b);

/* A number and its inputs, gathered before it is made: what moves with nothing stays a constant, and what is exactly
 * one of its inputs is that input. */
enum { VCS_INPUTS_MOST = 40 };
typedef struct {
  vcs_real_t source[VCS_INPUTS_MOST];
  double slope[VCS_INPUTS_MOST];
  int count;
} vcs_gathered_t;

static inline void vcs_gather(vcs_gathered_t *g, vcs_real_t source, double slope) {
  if (!source.variable || slope == 0 || g->count == VCS_INPUTS_MOST) return;
  g->source[g->count] = source;
  g->slope[g->count++] = slope;
}
vcs_real_t vcs_real_gathered(vcs_links_t *links, double value, const vcs_gathered_t *g);

/* A function of an integer from 0 to `most`, interpolated between the integers around `real`; at an integer its slope
 * is the mean of the differences to both sides. */
typedef double (*vcs_integer_function_t)(const void *context, int integer);
vcs_real_t vcs_real_interpolated(vcs_links_t *links, vcs_real_t real, int most, vcs_integer_function_t function,
                                 const void *context);

/* d[variable] += slopes along the links, or back. */
void vcs_links_forward(const vcs_links_t *links, double *d);
void vcs_links_backward(const vcs_links_t *links, double *d);

#endif
