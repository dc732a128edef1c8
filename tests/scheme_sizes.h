/* scheme_sizes.h: how large the images of each bank scheme may be, for programs that make images. */
#ifndef TESTS_SCHEME_SIZES_H
#define TESTS_SCHEME_SIZES_H

#include "diffvcs/diffvcs.h"

/* The sizes a scheme takes: first, step, last. */
static const size_t scheme_sizes[VCS_SCHEME_COUNT][3] = {
    {2048, 2048, 65536},   {2048, 2048, 4096},  {4096, 4096, 8192},    {8192, 8192, 8192},    {16384, 16384, 16384},
    {32768, 32768, 32768}, {8192, 8192, 8192},  {16384, 16384, 16384}, {32768, 32768, 32768}, {8192, 8192, 8192},
    {8192, 8192, 8192},    {10240, 256, 10496}, {2048, 2048, 524288},  {2048, 2048, 524288},  {16384, 16384, 16384},
    {12288, 12288, 12288}, {8192, 8192, 8192},  {2048, 2048, 4096},    {8192, 8192, 8192},    {131072, 131072, 262144}};

#endif
