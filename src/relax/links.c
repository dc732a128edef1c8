/* links.c: a list of links (links.h). */
#include "links.h"

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
