/* games.h: what the C programs of bench/ share: the clock, errors, and the three games that they load. */
#ifndef VCS_BENCH_GAMES_H
#define VCS_BENCH_GAMES_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "diffvcs/diffvcs.h"

enum { GAMES = 3 };
static const char *const games[GAMES] = {"pong", "breakout", "space_invaders"};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *message) {
  fprintf(stderr, "bench: %s\n", message);
  exit(1);
}

static void must(vcs_status_t status, const vcs_error_t *error) {
  if (status) die(error->message);
}

static vcs_cart_t *load(const char *roms, const char *game) {
  static uint8_t image[65536];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.bin", roms, game);
  FILE *file = fopen(path, "rb");
  if (!file) die("an image is missing: give the folder with pong.bin, breakout.bin and space_invaders.bin");
  const size_t size = fread(image, 1, sizeof image, file);
  fclose(file);
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .name = game};
  vcs_cart_t *cart;
  vcs_error_t error;
  must(vcs_cart_load(image, size, &options, &cart, &error), &error);
  return cart;
}

#endif
