/* cartridge.c: loading cartridges: which scheme, which console around it, which game. */
#include "host/cartridge.h"

#include <stdlib.h>
#include <string.h>

#include "core/decode.h"
#include "host/cart_detect.h"
#include "host/files.h"
#include "host/hash.h"
#include "host/native.h"
#include "options.h"

/* ---- Names -------------------------------------------------------------------------------------------------- */

const char *vcs_status_name(vcs_status_t status) {
  static const char *const names[] = {"ok",        "bad argument",  "bad image",     "bad file",
                                      "not found", "out of memory", "device failed", "cancelled"};
  return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown status";
}

const char *vcs_profile_name(vcs_profile_t profile) {
  static const char *const names[VCS_PROFILE_COUNT] = {"ale", "xitari", "fixed"};
  return (unsigned)profile < VCS_PROFILE_COUNT ? names[profile] : "unknown";
}

vcs_status_t vcs_profile_by_name(const char *name, vcs_profile_t *profile, vcs_error_t *error) {
  for (int i = 0; i < VCS_PROFILE_COUNT; i++) {
    if (name && strcmp(name, vcs_profile_name((vcs_profile_t)i)) == 0) {
      *profile = (vcs_profile_t)i;
      return VCS_OK;
    }
  }
  return vcs_error_fill(error, VCS_NOT_FOUND, "there is no profile '%s'; there are xitari, ale and fixed",
                        name ? name : "");
}

const char *vcs_format_name(vcs_format_t format) {
  static const char *const names[] = {"auto", "NTSC", "PAL", "PAL60", "SECAM"};
  return (unsigned)format < sizeof names / sizeof *names ? names[format] : "unknown";
}

const char *vcs_controller_name(vcs_controller_t controller) {
  static const char *const names[] = {"joystick", "paddles", "driving", "keyboard", "booster grip"};
  return (unsigned)controller < sizeof names / sizeof *names ? names[controller] : "unknown";
}

/* ---- Cartridges --------------------------------------------------------------------------------------------- */

/* The console a profile puts around an image. */
static void set_console(vcs_cartridge_t *c, const vcs_console_props_t *props) {
  vcs_cart_t *cart = &c->cart;
  bool ale = c->info.profile != VCS_PROFILE_XITARI;
  cart->hmove_blanks = props->hmove_blanks;
  cart->switches = (uint8_t)(0x37 | props->right_pro << 7 | props->left_pro << 6 | !props->black_and_white << 3);
  cart->timer_spread = ale ? 75 : 0;
  cart->random_ram = ale;
  cart->random_seed = ale ? 4753849 : 0; /* ale-py's default for its setting system_random_seed */
  cart->top_line = props->ystart;
  cart->probe_height = props->height;
  cart->swap_ports = props->swap_ports;
  cart->swap_paddles = props->swap_paddles;
  cart->controller[cart->swap_ports] = (uint8_t)props->left;
  cart->controller[!cart->swap_ports] = (uint8_t)props->right;
  cart->passive_ports = 1;
  for (int port = 0; port < 2; port++) {
    if (cart->controller[port] == VCS_CONTROLLER_DRIVING || cart->controller[port] == VCS_CONTROLLER_KEYBOARD) {
      cart->passive_ports = 0;
    }
  }
}

/* What follows from the television format; a PAL or SECAM picture of the default 210 rows has 250. */
static void set_format(vcs_cart_t *cart, vcs_format_t format) {
  bool pal = format == VCS_FORMAT_PAL || format == VCS_FORMAT_PAL60;
  cart->format = (uint8_t)format;
  cart->colour_loss = pal;
  cart->max_lines = pal ? 342 : 290;
  cart->height = cart->probe_height;
  if ((format == VCS_FORMAT_PAL || format == VCS_FORMAT_SECAM) && cart->height == 210) cart->height = 250;
  cart->frame_height = cart->height < 200 ? 200 : cart->height;
}

/* Runs the probe on a machine of its own; every later power-on repeats it. */
static vcs_status_t probe_format(vcs_cart_t *cart, vcs_error_t *error) {
  vcs_t *m = malloc(sizeof *m);
  if (!m) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  cart->probed = 1;
  set_format(cart, VCS_FORMAT_NTSC);
  if (vcs_boot(cart, m, NULL)) set_format(cart, VCS_FORMAT_PAL);
  free(m);
  return VCS_OK;
}

vcs_status_t vcs_cart_load(const void *image, size_t size, const vcs_cart_options_t *options, vcs_cart_t **cart,
                           vcs_error_t *error) {
  if (error) error->message[0] = 0;
  if (!cart) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no place for the cartridge was given");
  *cart = NULL;
  static const vcs_cart_options_t defaults = {.profile = VCS_PROFILE_ALE};
  if (!options) options = &defaults;
  vcs_status_t known = vcs_reserved_check(options->reserved, "vcs_cart_options_t", error);
  if (known) return known;
  if ((unsigned)options->profile >= VCS_PROFILE_COUNT || (unsigned)options->scheme >= VCS_SCHEME_COUNT ||
      (unsigned)options->format > VCS_FORMAT_SECAM) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the options name no known profile, scheme or format");
  }
  if (!image || size == 0) return vcs_error_fill(error, VCS_BAD_IMAGE, "the ROM image is empty");
  if (size > VCS_IMAGE_LIMIT) { /* before it is hashed and searched for signs of a scheme, which would take minutes */
    return vcs_error_fill(error, VCS_BAD_IMAGE, "the ROM image is longer than the %d bytes allowed", VCS_IMAGE_LIMIT);
  }

  vcs_cart_info_t info = {0};
  vcs_console_props_t props;
  vcs_md5(image, size, info.md5);
  vcs_sha256(image, size, info.sha256);
  info.profile = options->profile;
  vcs_game_props(options->profile, info.md5, &props);
  const vcs_game_t *game = vcs_game_find(options->profile, info.md5, options->name);

  vcs_scheme_t scheme = options->scheme ? options->scheme : props.scheme;
  if (!scheme) scheme = vcs_scheme_detect(image, size);
  if (!scheme) {
    return vcs_error_fill(error, VCS_BAD_IMAGE,
                          "no bank scheme is known for an image of %zu bytes; name one if you know better", size);
  }
  vcs_status_t status = vcs_scheme_check(scheme, size, error);
  if (status) return status;
  if (props.ystart < 0 || props.height < 1 ||
      props.ystart + (props.height == 210 ? 250 : props.height) > VCS_FRAME_BYTES / VCS_WIDTH) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the picture (%d rows from line %d) does not fit a frame",
                          props.height, props.ystart);
  }

  /* the image, and as many decoded instructions, aligned */
  const size_t rom_size = vcs_scheme_rom_size(scheme, size), code_at = (rom_size + 7) & ~(size_t)7;
  vcs_cartridge_t *c = calloc(1, sizeof *c + code_at + rom_size * sizeof(vcs_code_t));
  if (!c) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  c->info = info;
  c->game = game;
  status = vcs_cart_setup(&c->cart, scheme, image, size, c->rom, error);
  if (status == VCS_OK) {
    c->cart.code = vcs_decode_image(&c->cart, (vcs_code_t *)(void *)(c->rom + code_at));
    set_console(c, &props);
    vcs_format_t format = options->format ? options->format : props.format;
    if (format) {
      set_format(&c->cart, format);
    } else {
      status = probe_format(&c->cart, error);
    }
  }
  if (status) {
    free(c);
    return status;
  }
  c->cart.native = vcs_native_create(&c->cart);
  c->info.scheme = scheme;
  c->info.scheme_name = vcs_scheme_name(scheme);
  c->info.format = (vcs_format_t)c->cart.format;
  c->info.left = props.left;
  c->info.right = props.right;
  c->info.image_size = (uint32_t)size;
  c->info.ram_size = c->cart.ram_size;
  c->info.top_line = c->cart.top_line;
  c->info.height = c->cart.frame_height;
  c->info.game = game ? game->name : NULL;
  *cart = &c->cart;
  return VCS_OK;
}

void vcs_cart_free(vcs_cart_t *cart) {
  if (cart) {
    free(atomic_load(&vcs_cartridge(cart)->boot));
    vcs_native_free(cart->native);
  }
  free(cart);
}

/* The only field of a cartridge that changes after loading, once. */
void vcs_cart_keep_boot(const vcs_cart_t *cart, void *state) {
  vcs_cartridge_t *cartridge = (vcs_cartridge_t *)(uintptr_t)cart;
  void *none = NULL;
  if (!atomic_compare_exchange_strong(&cartridge->boot, &none, state)) free(state);
}

const void *vcs_cart_boot(const vcs_cart_t *cart) { return atomic_load(&vcs_cartridge(cart)->boot); }

const vcs_cart_info_t *vcs_cart_info(const vcs_cart_t *cart) { return &vcs_cartridge(cart)->info; }
