/* common.c: cartridges, studies, progress and results for the commands (common.h). */
#include "cli/common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/state.h"
#include "host/games.h"
#include "host/os.h"

int vcs_cli_complain(const char *command, int exit_code, const char *format, ...) {
  va_list arguments;
  fflush(stdout);
  fprintf(stderr, "%s: ", command);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\n");
  return exit_code;
}

int vcs_cli_end(const char *command, vcs_status_t status, const vcs_error_t *error) {
  const int exit_code = status == VCS_BAD_ARGUMENT ? VCS_EXIT_USAGE : VCS_EXIT_FAILED;
  if (status && status != VCS_CANCELLED) return vcs_cli_complain(command, exit_code, "%s", error->message);
  if (!status && !vcs_interrupted()) return VCS_EXIT_OK;
  return vcs_cli_complain(command, VCS_EXIT_FAILED,
                          status ? "interrupted: nothing was written" : "interrupted, but all files are written");
}

/* ---- Cartridges --------------------------------------------------------------------------------------------- */

_Static_assert(VCS_FORMAT_SECAM == 4, "VCS_FORMAT_CHOICES lists the formats in order");
_Static_assert(VCS_PROFILE_ALE == 0 && VCS_PROFILE_XITARI == 1, "VCS_PROFILE_CHOICES lists the profiles in order");

/* The known game whose name is nearest, or NULL. */
static const char *nearest_game(const char *name) {
  const char *names[256];
  int count = vcs_game_count();
  if (count > 256) count = 256;
  for (int i = 0; i < count; i++) names[i] = vcs_game_at(i)->name;
  int near = vcs_args_nearest(name, names, (size_t)count);
  return near >= 0 && strcmp(names[near], name) != 0 ? names[near] : NULL;
}

void vcs_rom_advise(const char *roms) {
  vcs_text_t places = {0};
  vcs_rom_places(roms, &places);
  fprintf(stderr, "ROM images were searched in\n%s", places.text ? places.text : "");
  fprintf(stderr, "To get them: pip install ale-py, or name a directory that has them: --roms DIR. ");
  fprintf(stderr, "No image at all is needed for `demo`.\n");
  vcs_text_free(&places);
}

int vcs_rom_open_or_complain(const char *command, const char *name, const vcs_rom_options_t *options, vcs_rom_t *rom) {
  vcs_error_t error = {""};
  vcs_status_t status = vcs_rom_open(name, options, rom, &error);
  if (status == VCS_OK) return VCS_ARGS_GO;
  if (status != VCS_NOT_FOUND || strpbrk(name, VCS_OS_SEPARATORS)) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  }
  const char *near = nearest_game(name);
  vcs_cli_complain(command, VCS_EXIT_USAGE, "no ROM image '%s'%s%s%s", name, near ? "; did you mean " : "",
                   near ? near : "", near ? "?" : "");
  vcs_rom_advise(options->roms);
  return VCS_EXIT_USAGE;
}

/* ---- Outputs ------------------------------------------------------------------------------------------------ */

int vcs_cli_output_count(const vcs_cli_output_t *o) {
  return !!o->output + !!o->pixel + !!o->region + !!o->ram + o->score;
}

void vcs_cli_output_read(vcs_cli_output_t *o) {
  const char *kind = o->pixel ? "pixel:" : o->region ? "region:" : o->ram ? "ram:" : "";
  const char *rest = o->pixel    ? o->pixel
                     : o->region ? o->region
                     : o->ram    ? o->ram + (*o->ram == '$')
                     : o->output ? o->output
                                 : "score";
  snprintf(o->text, sizeof o->text, "%s%.80s", kind, rest);
}

/* ---- Sound -------------------------------------------------------------------------------------------------- */

int vcs_cli_listen(const vcs_cart_t *cart, const vcs_t *m, vcs_t *listener, uint8_t samples[VCS_SOUND_LENGTH_MAX]) {
  const vcs_t waves = *listener;
  memcpy(listener, m, vcs_state_size(cart));
  memcpy(listener->audio_divider, waves.audio_divider, sizeof waves.audio_divider);
  memcpy(listener->audio_five, waves.audio_five, sizeof waves.audio_five);
  memcpy(listener->audio_four, waves.audio_four, sizeof waves.audio_four);
  const int count = vcs_sound_length(listener);
  vcs_sound(listener, samples, count);
  return count;
}

/* ---- Studies ------------------------------------------------------------------------------------------------ */

int vcs_cli_setup_complete(vcs_cli_setup_t *choice, const char *command) {
  if (choice->setup.actions && choice->setup.seed) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--seed and --actions both choose the actions: give one of them");
  }
  if (!choice->setup.actions && choice->setup.frame < 0) choice->setup.frame = choice->frame ? choice->frame : 300;
  return VCS_ARGS_GO;
}

int vcs_cli_study(const vcs_usage_t *usage, const vcs_arg_t *args, int argc, char **argv, const vcs_cli_study_t *to) {
  const char *command = usage->command;
  vcs_cli_setup_t *choice = to->choice;
  vcs_error_t error = {""};
  vcs_rom_t rom;
  vcs_setup_t setup;
  bool made = false;
  int exit_code = vcs_args_read(usage, args, argc, argv);
  if (exit_code == VCS_ARGS_GO) exit_code = to->check(to->options);
  if (exit_code == VCS_ARGS_GO) exit_code = vcs_cli_setup_complete(choice, command);
  if (exit_code == VCS_ARGS_GO) exit_code = vcs_rom_open_or_complain(command, choice->rom, &choice->rom_options, &rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  const char *directory = to->directory ? *to->directory : NULL;
  if (directory) exit_code = vcs_output_directory(command, directory, &made);
  if (exit_code != VCS_ARGS_GO) {
    vcs_rom_free(&rom);
    return exit_code;
  }
  vcs_interrupt_catch();
  vcs_status_t status = vcs_setup_create(rom.cart, &choice->setup, &setup, &error);
  if (status == VCS_OK) {
    status = to->study(&rom, &setup, to->options, &error);
    vcs_setup_free(&setup);
  }
  vcs_rom_free(&rom);
  exit_code = vcs_cli_end(command, status, &error);
  if (exit_code && made) rmdir(directory);
  return exit_code;
}

int vcs_cli_games(const char *command, bool all, const vcs_rom_options_t *options, vcs_rest_t *games, char ***named) {
  *named = NULL;
  if (all && games->count) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--all takes all games: name none, or leave --all out");
  }
  if (!all && !games->count) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "GAME is missing: which games? --all takes all of them");
  }
  if (!all) return VCS_ARGS_GO;
  char **names = *named = calloc((size_t)vcs_game_count(), sizeof *names);
  if (!names) return vcs_cli_complain(command, VCS_EXIT_FAILED, "out of memory");
  *games = (vcs_rest_t){names, 0};
  for (int i = 0; i < vcs_game_count(); i++) {
    const vcs_game_t *game = vcs_game_at(i);
    if (vcs_game_has(game, (vcs_profile_t)options->profile)) names[games->count++] = (char *)(uintptr_t)game->name;
  }
  return VCS_ARGS_GO;
}

/* The name of a game's results: that of its image, or what the image would be called if it cannot be opened. */
static void name_results(const char *game, const vcs_rom_options_t *options, char name[VCS_ROM_NAME_SIZE]) {
  vcs_rom_t rom;
  if (vcs_rom_open(game, options, &rom, NULL)) {
    vcs_path_stem(game, name, VCS_ROM_NAME_SIZE);
    return;
  }
  memcpy(name, rom.name, VCS_ROM_NAME_SIZE);
  vcs_rom_free(&rom);
}

int vcs_cli_names_differ(const char *command, const vcs_rest_t *games, const vcs_rom_options_t *options) {
  if (games->count < 2) return VCS_ARGS_GO;
  char(*names)[VCS_ROM_NAME_SIZE] = calloc((size_t)games->count, sizeof *names);
  if (!names) return vcs_cli_complain(command, VCS_EXIT_FAILED, "out of memory");
  int exit_code = VCS_ARGS_GO;
  for (int i = 0; i < games->count && exit_code == VCS_ARGS_GO; i++) {
    name_results(games->items[i], options, names[i]);
    for (int j = 0; j < i && exit_code == VCS_ARGS_GO; j++) {
      const bool is_same_image = strcmp(games->items[i], games->items[j]) == 0; /* and so are its results */
      if (is_same_image || strcmp(names[i], names[j]) != 0) continue;
      exit_code = vcs_cli_complain(command, VCS_EXIT_USAGE,
                                   "%s and %s are both called '%s', and the results of one would replace those of the "
                                   "other: give each a run and an --out of its own",
                                   games->items[j], games->items[i], names[i]);
    }
  }
  free(names);
  return exit_code;
}

static int draw_bar(void *context, const char *step, uint64_t done, uint64_t total) {
  vcs_bar_t *bar = context;
  if (bar->step != step || done < bar->done) {
    vcs_bar_finish(bar);
    vcs_progress_start(&bar->progress, step, total, VCS_PROGRESS_AUTO);
    bar->step = step;
  }
  vcs_progress_add(&bar->progress, done - bar->done);
  bar->done = done;
  return vcs_interrupted();
}

vcs_report_t vcs_bar_report(vcs_bar_t *bar) { return (vcs_report_t){draw_bar, bar}; }

void vcs_bar_finish(vcs_bar_t *bar) {
  if (bar->step) vcs_progress_finish(&bar->progress);
  bar->step = NULL;
  bar->done = 0;
}

/* ---- Results ------------------------------------------------------------------------------------------------ */

vcs_status_t vcs_output_open(vcs_output_t *output, const char *path, vcs_error_t *error) {
  *output = (vcs_output_t){0};
  if (strcmp(path, "-") == 0) {
    output->stream = stdout;
    return VCS_OK;
  }
  vcs_status_t status = vcs_draft_open(&output->draft, path, error);
  if (status) return status;
  if (!vcs_path_ends(path, ".gz")) {
    output->stream = output->draft.stream;
    return VCS_OK;
  }
  int file = dup(fileno(output->draft.stream)); /* gzclose closes its own */
  output->gz = file >= 0 ? gzdopen(file, "wb9") : NULL;
  if (output->gz) return VCS_OK;
  if (file >= 0) close(file);
  vcs_draft_abandon(&output->draft);
  return vcs_error_fill(error, VCS_NO_MEMORY, "no memory to write %.200s", path);
}

static void note_failure(vcs_output_t *output) {
  output->failed = true;
  if (!output->reason) output->reason = errno;
}

static const char *reason_of(const vcs_output_t *output) {
  return output->reason ? strerror(output->reason) : "out of memory";
}

void vcs_output_text(vcs_output_t *output, vcs_text_t *text) {
  if (text->failed) output->failed = true;
  errno = 0;
  if (text->length && output->gz && gzwrite(output->gz, text->text, (unsigned)text->length) <= 0) note_failure(output);
  if (text->length && output->stream && fwrite(text->text, 1, text->length, output->stream) < text->length) {
    note_failure(output);
  }
  text->length = 0;
}

vcs_status_t vcs_output_close(vcs_output_t *output, vcs_error_t *error) {
  errno = 0;
  if (output->gz && gzclose(output->gz) != Z_OK) note_failure(output);
  if (output->stream == stdout) {
    if (fflush(stdout) != 0 || ferror(stdout)) output->failed = true;
    if (errno) output->reason = errno;
    return output->failed ? vcs_error_fill(error, VCS_BAD_FILE, "cannot write to stdout: %s", reason_of(output))
                          : VCS_OK;
  }
  if (!output->failed) return vcs_draft_commit(&output->draft, error);
  vcs_draft_abandon(&output->draft);
  return vcs_error_fill(error, VCS_BAD_FILE, "cannot write %.200s: %s", output->draft.path, reason_of(output));
}

void vcs_output_abandon(vcs_output_t *output) {
  if (output->gz) gzclose(output->gz);
  if (output->stream != stdout) vcs_draft_abandon(&output->draft);
}

vcs_status_t vcs_output_try(const char *path, vcs_error_t *error) {
  if (vcs_os_kind(path) == VCS_OS_DEVICE) {
    if (vcs_os_may_write(path)) return VCS_OK;
    return vcs_error_fill(error, VCS_BAD_FILE, "cannot write %.200s: %s", path, strerror(errno));
  }
  vcs_draft_t draft;
  vcs_status_t status = vcs_draft_open(&draft, path, error);
  if (status == VCS_OK) vcs_draft_abandon(&draft);
  return status;
}

int vcs_output_directory(const char *command, const char *path, bool *made) {
  const bool missing = vcs_os_make_directory(path) == 0;
  if (made) *made = missing;
  if (!missing && errno != EEXIST) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "cannot make the directory %s: %s", path, strerror(errno));
  }
  if (!vcs_path_is_directory(path)) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--out must be a directory; %s is a file", path);
  }
  return VCS_ARGS_GO;
}

vcs_status_t vcs_output_write(const char *path, vcs_text_t *text, vcs_error_t *error) {
  vcs_output_t output;
  const vcs_status_t status = vcs_output_open(&output, path, error);
  if (status) return status;
  vcs_output_text(&output, text);
  return vcs_output_close(&output, error);
}

vcs_status_t vcs_output_path(const char *directory, const char *name, char path[VCS_PATH_SIZE], vcs_error_t *error) {
  if (vcs_path_join(path, VCS_PATH_SIZE, directory, name)) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the path of --out is too long");
}

vcs_status_t vcs_output_file(const char *directory, const char *name, vcs_text_t *text, vcs_error_t *error) {
  char path[VCS_PATH_SIZE];
  vcs_status_t status = vcs_output_path(directory, name, path, error);
  if (status == VCS_OK) status = vcs_file_write_text(path, text, error);
  if (status == VCS_OK) printf("wrote     %s\n", path);
  vcs_text_free(text);
  return status;
}
