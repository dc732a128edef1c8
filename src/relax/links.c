/* links.c: a list of links (links.h). */
#include "links.h"

#include <math.h>
#include <stdlib.h>

void vcs_links_free(vcs_links_t *links) { free(links->links); }

void vcs_links_add(vcs_links_t *links, vcs_real_t source, double slope) {
  if (links->count == links->capacity) {
    size_t wanted = links->capacity ? 2 * links->capacity : 4096;
    vcs_link_t *larger = realloc(links->links, wanted * sizeof *larger);
    if (!larger) {
      links->failed = true;
      return;
    }
    links->links = larger;
    links->capacity = wanted;
  }
  vcs_link_t *link = &links->links[links->count++];
  link->target = links->variables;
  link->source = source.variable;
  link->slope = slope;
}

vcs_real_t vcs_real_linear(vcs_links_t *links, double constant, vcs_real_t a, double scale) {
  vcs_real_t result = vcs_real_new(links, constant + scale * a.value);
  vcs_real_from(links, a, scale);
  return result;
}

vcs_real_t vcs_real_sum(vcs_links_t *links, double constant, vcs_real_t a, double scale, vcs_real_t b, double scale_b) {
  vcs_real_t result = vcs_real_new(links, constant + scale * a.value + scale_b * b.value);
  vcs_real_from(links, a, scale);
  vcs_real_from(links, b, scale_b);
  return result;
}

vcs_real_t vcs_real_gathered(vcs_links_t *links, double value, const vcs_gathered_t *g) {
  if (!links || !g->count) return vcs_real_constant(value);
  if (g->count == 1 && g->slope[0] == 1 && g->source[0].value == value) return g->source[0];
  vcs_real_t real = vcs_real_new(links, value);
  for (int i = 0; i < g->count; i++) vcs_links_add(links, g->source[i], g->slope[i]);
  return real;
}

vcs_real_t vcs_real_interpolated(vcs_links_t *links, vcs_real_t real, int most, vcs_integer_function_t function,
                                 const void *context) {
  const double within = fmin(fmax(real.value, 0), most), part = within - floor(within);
  const int low = (int)within;
  vcs_gathered_t g;
  g.count = 0;
  double at = function(context, low);
  if (part == 0) {
    if (links && real.variable && within == real.value) {
      const int below = low > 0 ? low - 1 : low, above = low < most ? low + 1 : low;
      vcs_gather(&g, real, (function(context, above) - function(context, below)) / (above - below));
    }
    return vcs_real_gathered(links, at, &g);
  }
  const double rise = function(context, low + 1) - at;
  vcs_gather(&g, real, rise);
  return vcs_real_gathered(links, at + part * rise, &g);
}

void vcs_links_forward(const vcs_links_t *links, double *d) {
  for (size_t i = 0; i < links->count; i++) {
    const vcs_link_t *link = &links->links[i];
    d[link->target] += link->slope * d[link->source];
  }
}

void vcs_links_backward(const vcs_links_t *links, double *d) {
  for (size_t i = links->count; i-- > 0;) {
    const vcs_link_t *link = &links->links[i];
    d[link->source] += link->slope * d[link->target];
  }
}
