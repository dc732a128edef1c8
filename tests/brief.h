/* brief.h: fewer trials where every one is slow. Builds with sanitizers look for memory errors, not for rare
 * results; `make test-sanitize` sets DIFFVCS_BRIEF. */
#ifndef TESTS_BRIEF_H
#define TESTS_BRIEF_H

#include <stdlib.h>

static inline int trials(int whole, int brief) { return getenv("DIFFVCS_BRIEF") ? brief : whole; }

#endif
