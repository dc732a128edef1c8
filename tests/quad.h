/* quad.h: the sources that are compiled after it compute in quadruple precision: `double` is __float128.
 *
 * tests/CMakeLists.txt compiles src/relax in this way, for relax_differences.c. Headers whose functions have the types
 * of the library are included first, as they are. */
#ifndef TESTS_QUAD_H
#define TESTS_QUAD_H

#include <math.h>
#include <quadmath.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bus.h"
#include "core/cpu.h"
#include "core/state.h"
#include "diffvcs/diffvcs.h"
#include "host/files.h"
#include "host/options.h"

typedef double vcs_narrow_t; /* the library's own double */

#define double __float128
#define exp expq
#define fabs fabsq
#define floor floorq
#define fmax fmaxq
#define fmin fminq
#define nearbyint nearbyintq
#define expf(x) ((float)expq(x))
#undef isfinite
#define isfinite(x) (finiteq(x) != 0)

/* While `quad_rounds` is set, every number that the map computes is rounded to a double: derivatives are then those at
 * the numbers that the library has. */
extern bool quad_rounds;
double quad_round(double x);
#define VCS_REAL_VALUE(x) (quad_rounds ? quad_round(x) : (x))

#endif
