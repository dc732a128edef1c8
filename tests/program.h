/* A program that a test writes byte by byte. */
#ifndef VCS_TESTS_PROGRAM_H
#define VCS_TESTS_PROGRAM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "noise.h"

#define ONE_OF(...) ((const uint8_t[]){__VA_ARGS__}[below(sizeof((const uint8_t[]){__VA_ARGS__}))])

enum { IMAGE_MAX = 32768 };
static uint8_t image[IMAGE_MAX];
static size_t end; /* of the program so far */

static void put(int count, ...) {
  va_list bytes;
  va_start(bytes, count);
  for (int i = 0; i < count; i++) image[end++] = (uint8_t)va_arg(bytes, int);
  va_end(bytes);
}

#endif
