/* meanings.c: a byte of RAM by what it means, and the values that mean a pixel (meanings.h). */
#include "study/meanings.h"

#include <math.h>
#include <string.h>

#include "host/files.h"

enum { NEAR = 2 /* pixels from a map's nearest */ };
static const float nowhere = 4096; /* the distance of a value with which nothing is drawn */

static const vcs_meaning_game_t *game_of(const vcs_cart_t *cart) {
  const char *game = vcs_cart_info(cart)->game;
  if (game && strcmp(game, "contour") == 0) game = "demo"; /* the cartridge that is built in */
  for (int i = 0; game && i < vcs_meaning_game_count; i++) {
    if (strcmp(vcs_meaning_games[i].game, game) == 0) return &vcs_meaning_games[i];
  }
  return NULL;
}

static bool is_position(const vcs_meaning_t *meaning) { return meaning->slope != 0 || meaning->map >= 0; }

/* Writes the names of a game with commas between them, positions first, as many as fit. */
static void list_names(const vcs_meaning_game_t *game, char *text, size_t size) {
  size_t length = 0;
  int listed = 0;
  text[0] = 0;
  for (int i = 0; i < 2 * game->count; i++) {
    const vcs_meaning_t *row = &vcs_meaning_rows[game->first + i % game->count];
    if (is_position(row) != (i < game->count)) continue;
    const size_t more = strlen(row->name) + (length ? 2 : 0);
    if (length + more + sizeof ", and 999 more" > size) continue;
    length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "", row->name);
    listed++;
  }
  if (listed < game->count) snprintf(text + length, size - length, ", and %d more", game->count - listed);
}

vcs_status_t vcs_meaning_find(const vcs_cart_t *cart, const char *name, const vcs_meaning_t **meaning,
                              vcs_error_t *error) {
  const vcs_meaning_game_t *game = game_of(cart);
  char names[160];
  if (!game) {
    return vcs_error_fill(
        error, VCS_BAD_ARGUMENT,
        "no object of this cartridge is known: only games of docs/annotations.md have names for bytes. "
        "ram:9C=60 is a goal for any cartridge");
  }
  for (int i = 0; i < game->count; i++) {
    *meaning = &vcs_meaning_rows[game->first + i];
    if (strcmp((*meaning)->name, name) == 0) return VCS_OK;
  }
  list_names(game, names, sizeof names);
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%s has no '%.30s'; there are: %s", game->game, name, names);
}

/* The pixel of a value, or the value itself; NAN: nothing is drawn. */
static float pixel_of(const vcs_meaning_t *meaning, int value) {
  if (!is_position(meaning)) return (float)value;
  if (value == meaning->absent) return NAN;
  if (meaning->map < 0) return meaning->offset + meaning->slope * (float)value;
  const int16_t pixel = vcs_meaning_maps[meaning->map][value];
  return pixel < 0 ? NAN : pixel;
}

vcs_status_t vcs_meaning_distances(const vcs_meaning_t *meaning, int wanted, float distances[256], vcs_error_t *error) {
  float least = nowhere;
  for (int value = 0; value < 256; value++) {
    const float pixel = pixel_of(meaning, value);
    distances[value] = isnan(pixel) ? nowhere : fabsf(pixel - (float)wanted);
    least = fminf(least, distances[value]);
  }
  const float most = meaning->map >= 0 ? NEAR : fabsf(meaning->slope) / 2;
  if (least > most) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%s cannot be %d: no value of byte $%02X puts it there",
                          meaning->name, wanted, 0x80 + meaning->byte);
  }
  for (int value = 0; value < 256; value++) {
    if (distances[value] < nowhere) distances[value] -= least;
  }
  return VCS_OK;
}
