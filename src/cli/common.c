/* common.c: cartridges and results for the commands (common.h). */
#include "cli/common.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/games.h"
#include "host/patch.h"
#include "host/progress.h"

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
  if (status) return vcs_cli_complain(command, exit_code, "%s", error->message);
  if (!vcs_interrupted()) return VCS_EXIT_OK;
  return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted: nothing was written");
}

/* ---- Actions ------------------------------------------------------------------------------------------------ */

int vcs_cli_action(const char *word) {
  for (int i = 0; i < VCS_ACTIONS; i++) {
    if (strcasecmp(word, vcs_action_name(i)) == 0) return i;
  }
  char *end;
  long number = strtol(word, &end, 10);
  return isdigit((unsigned char)*word) && !*end && number < VCS_ACTIONS ? (int)number : -1;
}

const char *vcs_cli_action_near(const char *word) {
  const char *names[VCS_ACTIONS];
  for (int i = 0; i < VCS_ACTIONS; i++) names[i] = vcs_action_name(i);
  int near = isdigit((unsigned char)*word) ? -1 : vcs_args_nearest(word, names, VCS_ACTIONS);
  return near >= 0 ? names[near] : NULL;
}

/* ---- Cartridges --------------------------------------------------------------------------------------------- */

_Static_assert(VCS_SCHEME_COUNT == 20 && VCS_SCHEME_SB == 19, "VCS_SCHEME_CHOICES lists the schemes in order");
_Static_assert(VCS_FORMAT_SECAM == 4, "VCS_FORMAT_CHOICES lists the formats in order");
_Static_assert(VCS_PROFILE_XITARI == 0 && VCS_PROFILE_ALE == 1, "VCS_PROFILE_CHOICES lists the profiles in order");

enum { ROM_LIMIT = 4 << 20, PATCH_MAX = 16 << 20 }; /* bytes; no scheme holds as many */

static vcs_status_t read_rom(const char *name, const char *roms, vcs_rom_t *rom, uint8_t **image, size_t *size,
                             vcs_error_t *error) {
  vcs_status_t status = vcs_rom_find(name, roms, rom->path, sizeof rom->path, error);
  if (status && vcs_path_is_directory(name)) {
    return vcs_error_fill(error, VCS_BAD_FILE, "%.200s is a directory, not a ROM image", name);
  }
  if (status) return status;
  vcs_path_stem(rom->path, rom->name, sizeof rom->name);
  return vcs_file_read(rom->path, ROM_LIMIT, image, size, error);
}

static vcs_status_t apply_patch(const char *path, vcs_cart_t *cart, vcs_error_t *error) {
  uint8_t *patch;
  size_t size;
  vcs_error_t why = {""};
  vcs_status_t status = vcs_file_read(path, PATCH_MAX, &patch, &size, error);
  if (status) return status;
  status = vcs_cart_patch(cart, patch, size, &why);
  free(patch);
  return status ? vcs_error_fill(error, status, "%.120s: %s", path, why.message) : VCS_OK;
}

vcs_status_t vcs_rom_open(const char *name, const vcs_cart_choice_t *choice, vcs_rom_t *rom, vcs_error_t *error) {
  bool demo = strcmp(name, "demo") == 0;
  uint8_t *data = NULL;
  const uint8_t *image;
  size_t size = 0;
  *rom = (vcs_rom_t){0};
  if (demo) {
    strcpy(rom->name, "demo");
    strcpy(rom->path, "built in");
    image = vcs_demo_image(&size);
  } else {
    vcs_status_t status = read_rom(name, choice->roms, rom, &data, &size, error);
    if (status) return status;
    image = data;
  }
  vcs_cart_options_t options = {.profile = (vcs_profile_t)choice->profile,
                                .scheme = (vcs_scheme_t)choice->scheme,
                                .format = (vcs_format_t)choice->format,
                                .name = rom->name};
  vcs_error_t why = {""};
  vcs_status_t status = vcs_cart_load(image, size, &options, &rom->cart, &why);
  free(data);
  if (status) return vcs_error_fill(error, status, "%.120s: %s", rom->path, why.message);
  status = choice->patch ? apply_patch(choice->patch, rom->cart, error) : VCS_OK;
  if (status) vcs_rom_free(rom);
  return status;
}

void vcs_rom_free(vcs_rom_t *rom) {
  vcs_cart_free(rom->cart);
  rom->cart = NULL;
}

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
  fprintf(stderr, "ROM images were looked for in\n%s", places.text ? places.text : "");
  fprintf(stderr, "To get them: pip install ale-py, or name a directory that has them: --roms DIR. ");
  fprintf(stderr, "No image at all is needed for `demo`.\n");
  vcs_text_free(&places);
}

int vcs_rom_open_or_complain(const char *command, const char *name, const vcs_cart_choice_t *choice, vcs_rom_t *rom) {
  vcs_error_t error = {""};
  vcs_status_t status = vcs_rom_open(name, choice, rom, &error);
  if (status == VCS_OK) return VCS_ARGS_GO;
  if (status != VCS_NOT_FOUND || strchr(name, '/')) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  }
  const char *near = nearest_game(name);
  vcs_cli_complain(command, VCS_EXIT_USAGE, "no ROM image '%s'%s%s%s", name, near ? "; did you mean " : "",
                   near ? near : "", near ? "?" : "");
  vcs_rom_advise(choice->roms);
  return VCS_EXIT_USAGE;
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

void vcs_output_text(vcs_output_t *output, vcs_text_t *text) {
  if (text->failed) output->failed = true;
  if (text->length && output->gz && gzwrite(output->gz, text->text, (unsigned)text->length) <= 0) output->failed = true;
  if (text->length && output->stream) fwrite(text->text, 1, text->length, output->stream); /* closing asks ferror */
  text->length = 0;
}

vcs_status_t vcs_output_close(vcs_output_t *output, vcs_error_t *error) {
  if (output->gz && gzclose(output->gz) != Z_OK) output->failed = true;
  if (output->stream == stdout) {
    if (fflush(stdout) != 0 || ferror(stdout)) output->failed = true;
    return output->failed ? vcs_error_fill(error, VCS_BAD_FILE, "cannot write to stdout") : VCS_OK;
  }
  if (!output->failed) return vcs_draft_commit(&output->draft, error);
  vcs_draft_abandon(&output->draft);
  return vcs_error_fill(error, VCS_BAD_FILE, "cannot write %.200s: no room or no memory", output->draft.path);
}

void vcs_output_abandon(vcs_output_t *output) {
  if (output->gz) gzclose(output->gz);
  if (output->stream != stdout) vcs_draft_abandon(&output->draft);
}

vcs_status_t vcs_output_try(const char *path, vcs_error_t *error) {
  vcs_draft_t draft;
  vcs_status_t status = vcs_draft_open(&draft, path, error);
  if (status == VCS_OK) vcs_draft_abandon(&draft);
  return status;
}

void vcs_text_json(vcs_text_t *text, const char *string) {
  vcs_text_printf(text, "\"");
  for (const unsigned char *c = (const unsigned char *)string; *c; c++) {
    if (*c < 0x20) {
      vcs_text_printf(text, "\\u%04x", *c);
    } else {
      vcs_text_printf(text, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    }
  }
  vcs_text_printf(text, "\"");
}

int vcs_output_directory(const char *command, const char *path) {
  if (mkdir(path, 0777) != 0 && errno != EEXIST) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "cannot make the directory %s: %s", path, strerror(errno));
  }
  if (!vcs_path_is_directory(path)) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--out must be a directory; %s is a file", path);
  }
  return VCS_ARGS_GO;
}
