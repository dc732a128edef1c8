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

static bool has_file(const char *directory, const char *name, const char *ending) {
  char path[VCS_PATH_SIZE];
  snprintf(path, sizeof path, "%.3800s/%.255s.%s", directory, name, ending);
  return vcs_path_is_file(path);
}

/* Whether the files that the options request exist already. An audit is only printed, so it has no file. */
static bool has_results(const options_t *o, const char *name) {
  char stem[VCS_ROM_NAME_SIZE];
  vcs_path_stem(name, stem, sizeof stem);
  return o->out && !o->fresh && !o->audit && has_file(o->out, stem, "json") &&
         (!o->html || has_file(o->html, stem, "html"));
}

/* Writes the files that the options request, or prints the table. The page is written before the JSON, because a game
 * with a JSON counts as done. */
static vcs_status_t put_results(const options_t *o, const vcs_rom_t *rom, const vcs_annotation_t *annotation,
                                vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  char *json = vcs_annotation_json(annotation);
  if (!json) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  if (o->html) {
    char *page = vcs_annotation_page(rom->cart, annotation, error);
    status = page ? write_text(o->html, rom->name, "html", page, error) : VCS_NO_MEMORY;
    vcs_text_release(page);
  }
  if (status == VCS_OK && o->out) status = write_text(o->out, rom->name, "json", json, error);
  if (status == VCS_OK && o->out) printf("%s\n", rom->name);
  if (status == VCS_OK && !o->out && o->json) fputs(json, stdout);
  if (status == VCS_OK && !o->out && !o->json) print_table(annotation);
  vcs_text_release(json);
  if (status == VCS_OK && o->audit) status = print_audit(rom->cart, annotation, error);
  return status;
}

/* Annotates an open game. */
static vcs_status_t annotate(const options_t *o, const vcs_rom_t *rom, vcs_error_t *error) {
  vcs_bar_t bar = {0};
  const vcs_annotate_options_t options = {.seeds = (int32_t)o->seeds,
                                          .depths = (int32_t)o->depths,
                                          .threads = (int32_t)o->jobs,
                                          .report = vcs_bar_report(&bar)};
  vcs_annotation_t *annotation = NULL;
  vcs_status_t status = vcs_annotate(rom->cart, rom->name, &options, &annotation, error);
  vcs_bar_finish(&bar);
  if (status == VCS_OK) status = put_results(o, rom, annotation, error);
  fflush(stdout);
  vcs_annotation_free(annotation);
  return status;
}

static int annotate_games(const options_t *o) {
  int done = 0, unreadable = 0, failed = 0;
  for (int i = 0; i < o->games.count && !vcs_interrupted(); i++) {
    const char *name = o->games.items[i];
    vcs_error_t error = {""};
    vcs_rom_t rom;
    vcs_status_t status = VCS_OK;
    if (!has_results(o, name)) {
      status = vcs_rom_open(name, &o->choice, &rom, &error);
      if (status) {
        vcs_cli_complain(command, VCS_EXIT_USAGE, "%s: %s", name, error.message);
        if (status == VCS_NOT_FOUND && !unreadable) vcs_rom_advise(o->choice.roms);
        unreadable++;
        continue;
      }
      status = annotate(o, &rom, &error);
      vcs_rom_free(&rom);
    }
    done += status == VCS_OK;
    if (status == VCS_OK || status == VCS_CANCELLED) continue;
    failed++;
    vcs_cli_complain(command, VCS_EXIT_FAILED, "%s: %s", name, error.message);
  }
  if (vcs_interrupted()) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted: %d of %d games are done%s", done, o->games.count,
                            o->out ? "; run the same command to resume" : "");
  }
  return unreadable ? VCS_EXIT_USAGE : failed ? VCS_EXIT_FAILED : VCS_EXIT_OK;
}

int vcs_cli_annotate(int argc, char **argv) {
  options_t o = {.seeds = 6, .depths = 8, .choice = {.profile = VCS_PROFILE_ALE}};
  const vcs_arg_t args[] = {
      VCS_ARG_REST("GAME", &o.games, "games, ROM images, or demo"),
      VCS_ARG_FLAG("all", &o.all, "all games of the profile"),
      VCS_ARG_FLAG("json", &o.json, "print JSON"),
      VCS_ARG_TEXT("out", &o.out, "DIR", "write GAME.json for each game; games that have all their files are skipped"),
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
  if (exit_code == VCS_ARGS_GO && (o.out || o.html)) exit_code = vcs_cli_names_differ(command, &o.games, &o.choice);
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
