/* steer_goal.c: reads a goal: the score, or bytes of RAM by address or by meaning, with their values (steer.h).
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/cart.h"
#include "study/meanings.h"
#include "study/steer.h"

enum { CELL_SIZE = 48 };

static const char object[] = "object:";

static vcs_status_t complain(const vcs_steer_job_t *job, vcs_error_t *error) {
  return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                        "a goal is score or ram:9C=60 (0 to 255, or 0x3C) or object:player 0 x=80 (a pixel), or up to "
                        "%d such cells with commas between them, not '%.60s'",
                        VCS_STEER_CELLS, job->options->goal ? job->options->goal : "");
}

/* "ram:9C" */
static vcs_status_t find_byte(const vcs_steer_job_t *job, const char *name, int wanted, vcs_steer_cell_t *cell,
                              vcs_error_t *error) {
  vcs_scalar_t target;
  if (vcs_target_parse(name, job->run->cart, job->options->env, NULL, &target, error) ||
      target.kind != VCS_SCALAR_RAM || target.bit >= 0) {
    return complain(job, error);
  }
  cell->index = target.index;
  cell->plain = true;
  for (int value = 0; value < 256; value++) cell->distance[value] = fabsf((float)(value - wanted));
  return VCS_OK;
}

/* "player 0 x" */
static vcs_status_t find_object(const vcs_steer_job_t *job, const char *name, int wanted, vcs_steer_cell_t *cell,
                                vcs_error_t *error) {
  const vcs_meaning_t *meaning;
  const vcs_status_t status = vcs_meaning_find(job->run->cart, name, &meaning, error);
  if (status) return status;
  const char axis = name[strlen(name) - 1];
  const int width = axis == 'x' ? VCS_WIDTH : axis == 'y' ? job->run->cart->frame_height : 256;
  if (wanted >= width) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%s cannot be %d: the picture has the pixels 0 to %d", name, wanted,
                          width - 1);
  }
  cell->index = meaning->byte;
  cell->plain = false;
  return vcs_meaning_distances(meaning, wanted, cell->distance, error);
}

/* A cell of a goal: a name and a value. */
static vcs_status_t read_cell(vcs_steer_job_t *job, const char *text, size_t length, vcs_error_t *error) {
  char name[CELL_SIZE], *value, *end;
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), text);
  value = strchr(name, '=');
  if (!value || !isdigit((unsigned char)value[1]) || job->cell_count == VCS_STEER_CELLS) return complain(job, error);
  *value++ = 0;
  const long wanted = strtol(value, &end, strncasecmp(value, "0x", 2) == 0 ? 16 : 10); /* 010 is ten */
  if (*end || wanted > 255) return complain(job, error);
  vcs_steer_cell_t *cell = &job->cells[job->cell_count++];
  if (strncmp(name, object, strlen(object)) == 0) {
    return find_object(job, name + strlen(object), (int)wanted, cell, error);
  }
  return find_byte(job, name, (int)wanted, cell, error);
}

vcs_status_t vcs_steer_read_goal(vcs_steer_job_t *job, vcs_error_t *error) {
  const char *goal = job->options->goal ? job->options->goal : "";
  if (strcmp(goal, "score") == 0) {
    return vcs_target_parse(goal, job->run->cart, job->options->env, NULL, &job->target, error);
  }
  job->target.kind = VCS_SCALAR_RAM;
  for (const char *at = goal;; at++) {
    const size_t length = strcspn(at, ",");
    const vcs_status_t status = read_cell(job, at, length, error);
    at += length;
    if (status || !*at) return status;
  }
}
