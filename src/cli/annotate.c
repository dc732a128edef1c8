/* annotate.c: `diffvcs annotate`: what every byte of RAM means. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "diffvcs/annotate.h"
#include "host/games.h"

static const char command[] = "diffvcs annotate";
static const vcs_usage_t usage = {
    command,
    "Finds the meaning of every byte of RAM. The game is played at random; in many states each byte is set to other "
    "values, and the objects of the next frames, RAM, score and lives are compared with the run without the change. "
    "Prints the roles of each byte: x or y of an object (slope and offset in pixels), graphics, colour, size, score, "
    "lives, timer, direction, room, random, scratch, stack, unused; and the fraction of the states that agree. "
    "docs/annotations.md has the method and the results." VCS_ROMS_NOTE,
    "diffvcs annotate demo\n"
    "diffvcs annotate pong --json\n"
    "diffvcs annotate pong --html pages\n"
    "diffvcs annotate --all --out annotations\n"};

typedef struct {
  vcs_rest_t games;
  bool all, json, fresh, audit;
  const char *out, *html;
  int64_t seeds, depths, jobs;
  vcs_rom_options_t choice;
} options_t;

/* A table of the roles, one byte a line, without the bytes that have none. */
static void print_table(const vcs_annotation_t *a) {
  printf("%-5s %-10s %-14s %7s %7s %10s  %s\n", "byte", "role", "object", "slope", "offset", "confidence", "states");
  for (int byte = 0; byte < 128; byte++) {
    for (int r = 0; r < a->ram[byte].count; r++) {
      const vcs_role_t *role = &a->ram[byte].roles[r];
      char object[40] = "-", slope[16] = "-", offset[16] = "-";
      const char *kind = vcs_object_name(role->kind);
      if (kind && role->number > 1) {
        snprintf(object, sizeof object, "%s #%d", kind, (int)role->number);
      } else if (kind) {
        snprintf(object, sizeof object, "%s", kind);
      }
      if (role->slope != 0) {
        snprintf(slope, sizeof slope, "%g", (double)role->slope);
        snprintf(offset, sizeof offset, "%g", (double)role->offset);
      }
      printf("%02X%3d %-10s %-14s %7s %7s %10.2f  %d\n", 0x80 + byte, byte, vcs_role_name(role->role), object, slope,
             offset, (double)role->confidence, (int)role->states);
    }
  }
}

static vcs_status_t print_audit(const vcs_cart_t *cart, const vcs_annotation_t *a, vcs_error_t *error) {
  enum { AUDITS = 256 };
  vcs_audit_t audits[AUDITS];
  int32_t count, right = 0, effective = 0, good = 0, seen = 0;
  const vcs_status_t status = vcs_annotation_audit(cart, a, NULL, audits, AUDITS, &count, error);
  for (int32_t i = 0; i < count && status == VCS_OK; i++) {
    const vcs_audit_t *audit = &audits[i];
    printf("audit %s\t%d\t%s\t%d\t%d\n", a->game, (int)audit->byte, vcs_role_name(audit->role), (int)audit->right,
           (int)audit->effective);
    right += audit->right;
    effective += audit->effective;
    if (!audit->effective) continue;
    seen++;
    good += 10 * audit->right >= 9 * audit->effective;
  }
  if (status == VCS_OK)
    printf("audit %s\tall\t%d of %d states right, %d of %d bytes in nine of ten\n", a->game, (int)right, (int)effective,
           (int)good, (int)seen);
  return status;
}

static vcs_status_t write_text(const char *directory, const char *game, const char *ending, char *text,
                               vcs_error_t *error) {
  char name[300], path[VCS_PATH_SIZE];
  snprintf(name, sizeof name, "%s.%s", game, ending);
  vcs_status_t status = vcs_output_path(directory, name, path, error);
  if (status == VCS_OK) status = vcs_file_write(path, text, strlen(text), error);
  return status;
}

/* Annotates one game; with --out, one that already has its file is left alone. */
static vcs_status_t annotate(const options_t *o, const char *name, vcs_error_t *error) {
  vcs_rom_t rom;
  char path[VCS_PATH_SIZE], stem[256];
  vcs_path_stem(name, stem, sizeof stem);
  if (o->out && !o->fresh) {
    snprintf(path, sizeof path, "%.3800s/%.255s.json", o->out, stem);
    if (vcs_path_is_file(path)) return VCS_OK;
  }
  vcs_status_t status = vcs_rom_open(name, &o->choice, &rom, error);
  if (status) return status;
  vcs_bar_t bar = {0};
  const vcs_annotate_options_t options = {.seeds = (int32_t)o->seeds,
                                          .depths = (int32_t)o->depths,
                                          .threads = (int32_t)o->jobs,
                                          .report = vcs_bar_report(&bar)};
  vcs_annotation_t *annotation = NULL;
  status = vcs_annotate(rom.cart, rom.name, &options, &annotation, error);
  vcs_bar_finish(&bar);
  if (status == VCS_OK) {
    char *json = vcs_annotation_json(annotation);
    if (!json) status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
    if (json && o->out) status = write_text(o->out, rom.name, "json", json, error);
    if (json && !o->out && o->json) fputs(json, stdout);
    if (json && !o->out && !o->json) print_table(annotation);
    if (json && o->out) printf("%s\n", rom.name);
    vcs_text_release(json);
  }
  if (status == VCS_OK && o->html) {
    char *page = vcs_annotation_page(rom.cart, annotation, error);
    status = page ? write_text(o->html, rom.name, "html", page, error) : VCS_NO_MEMORY;
    vcs_text_release(page);
  }
  if (status == VCS_OK && o->audit) status = print_audit(rom.cart, annotation, error);
  fflush(stdout);
  vcs_annotation_free(annotation);
  vcs_cart_free(rom.cart);
  return status;
}

static int annotate_games(const options_t *o) {
  int done = 0, unreadable = 0;
  for (int i = 0; i < o->games.count && !vcs_interrupted(); i++) {
    vcs_error_t error = {""};
    const vcs_status_t status = annotate(o, o->games.items[i], &error);
    done += status == VCS_OK;
    if (status == VCS_OK || status == VCS_CANCELLED) continue;
    vcs_cli_complain(command, VCS_EXIT_USAGE, "%s: %s", o->games.items[i], error.message);
    if (status == VCS_NOT_FOUND && !unreadable) vcs_rom_advise(o->choice.roms);
    unreadable++;
  }
  if (vcs_interrupted()) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted: %d of %d games are done%s", done, o->games.count,
                            o->out ? "; run the same command to resume" : "");
  }
  return unreadable ? VCS_EXIT_USAGE : VCS_EXIT_OK;
}

int vcs_cli_annotate(int argc, char **argv) {
  options_t o = {.seeds = 6, .depths = 8, .choice = {.profile = VCS_PROFILE_ALE}};
  const vcs_arg_t args[] = {
      VCS_ARG_REST("GAME", &o.games, "games, ROM images, or demo"),
      VCS_ARG_FLAG("all", &o.all, "all games of the profile"),
      VCS_ARG_FLAG("json", &o.json, "print JSON"),
      VCS_ARG_TEXT("out", &o.out, "DIR", "write GAME.json for each game; games that have theirs are skipped"),
      VCS_ARG_FLAG("fresh", &o.fresh, "annotate again what --out already has"),
      VCS_ARG_TEXT("html", &o.html, "DIR", "write a page for each game: GAME.html"),
      VCS_ARG_FLAG("audit", &o.audit, "check the positions in states that were not used to find them"),
      VCS_ARG_INTEGER("seeds", &o.seeds, 1, 64, "plays"),
      VCS_ARG_INTEGER("depths", &o.depths, 1, 16, "states for each play"),
      VCS_ARG_JOBS(&o.jobs),
      VCS_ARGS_ROMS(&o.choice),
      VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  char **names;
  exit_code = vcs_cli_games(command, o.all, &o.choice, &o.games, &names);
  const char *const directories[] = {o.out, o.html};
  bool made[2] = {false, false};
  for (int i = 0; i < 2; i++) {
    if (exit_code == VCS_ARGS_GO && directories[i]) {
      exit_code = vcs_output_directory(command, directories[i], &made[i]);
    }
  }
  if (exit_code == VCS_ARGS_GO) {
    vcs_interrupt_catch();
    exit_code = annotate_games(&o);
  }
  for (int i = 0; i < 2; i++) {
    if (exit_code && directories[i] && made[i]) rmdir(directories[i]); /* which does nothing if it has results */
  }
  free(names);
  return exit_code;
}
