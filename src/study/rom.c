/* rom.c: opening a ROM image by name (study.h). vcs_rom_find, which searches, is in host/files.c. */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "host/os.h"
#include "study/internal.h"

enum { PATCH_LIMIT = 16 << 20 }; /* bytes */

static vcs_status_t read_rom(const char *name, const char *roms, vcs_rom_t *rom, uint8_t **image, size_t *size,
                             vcs_error_t *error) {
  vcs_status_t status = vcs_rom_find(name, roms, rom->path, sizeof rom->path, error);
  if (status && vcs_path_is_directory(name)) {
    return vcs_error_fill(error, VCS_BAD_FILE, "%.200s is a directory, not a ROM image", name);
  }
  if (status) return status;
  vcs_path_stem(rom->path, rom->name, sizeof rom->name);
  return vcs_file_read(rom->path, VCS_IMAGE_LIMIT, image, size, error);
}

static vcs_status_t apply_patch(const char *path, vcs_cart_t *cart, vcs_error_t *error) {
  uint8_t *patch;
  size_t size;
  vcs_error_t why = {""};
  vcs_status_t status = vcs_file_read(path, PATCH_LIMIT, &patch, &size, error);
  if (status) return status == VCS_NOT_FOUND ? VCS_BAD_FILE : status; /* the image was found; the patch was not */
  status = vcs_cart_patch(cart, patch, size, &why);
  free(patch);
  return status ? vcs_error_fill(error, status, "%.120s: %s", path, why.message) : VCS_OK;
}

vcs_status_t vcs_rom_open(const char *name, const vcs_rom_options_t *given, vcs_rom_t *rom, vcs_error_t *error) {
  vcs_rom_options_t o;
  uint8_t *data = NULL;
  const uint8_t *image;
  size_t size = 0;
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_rom_options_t, &o, given, error);
  memset(rom, 0, sizeof *rom);
  if (status) return status;
  if (o.roms && !vcs_path_is_directory(o.roms)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the directory of ROM images '%.200s' %s", o.roms,
                          vcs_os_kind(o.roms) != VCS_OS_NOTHING ? "is not a directory" : "does not exist");
  }
  if (strcmp(name, "demo") == 0) {
    strcpy(rom->name, "demo");
    strcpy(rom->path, "built in");
    image = vcs_demo_image(&size);
  } else {
    status = read_rom(name, o.roms, rom, &data, &size, error);
    if (status) return status;
    image = data;
  }
  const vcs_cart_options_t options = {.profile = (vcs_profile_t)o.profile,
                                      .scheme = (vcs_scheme_t)o.scheme,
                                      .format = (vcs_format_t)o.format,
                                      .name = rom->name};
  vcs_error_t why = {""};
  status = vcs_cart_load(image, size, &options, &rom->cart, &why);
  free(data);
  if (status) return vcs_error_fill(error, status, "%.120s: %s", rom->path, why.message);
  status = o.patch ? apply_patch(o.patch, rom->cart, error) : VCS_OK;
  if (status) vcs_rom_free(rom);
  return status;
}

void vcs_rom_free(vcs_rom_t *rom) {
  vcs_cart_free(rom->cart);
  rom->cart = NULL;
}

const uint8_t *vcs_cart_image(const vcs_cart_t *cart) { return cart->rom; }
