/* info.c: `diffvcs info ROM`: what is known about a cartridge, for people or as JSON. */
#include "cli/common.h"

static const vcs_usage_t usage = {"diffvcs info", "Prints facts about a cartridge." VCS_ROMS_NOTE,
                                  "diffvcs info pong\n"
                                  "diffvcs info game.bin --json\n"
                                  "diffvcs info homebrew.bin --scheme F8 --format pal\n"};

static void print_json(const vcs_rom_t *rom) {
  const vcs_cart_info_t *info = vcs_cart_info(rom->cart);
  vcs_text_t text = {0};
  vcs_text_printf(&text, "{\n  \"file\": ");
  vcs_text_json(&text, rom->path);
  vcs_text_printf(&text, ",\n  \"name\": ");
  vcs_text_json(&text, rom->name);
  vcs_text_printf(&text, ",\n  \"game\": ");
  if (info->game) {
    vcs_text_json(&text, info->game);
  } else {
    vcs_text_printf(&text, "null");
  }
  vcs_text_printf(&text, ",\n  \"profile\": \"%s\",\n  \"mapper\": \"%s\",\n  \"format\": \"%s\",\n",
                  vcs_profile_name(info->profile), info->scheme_name, vcs_format_name(info->format));
  vcs_text_printf(&text, "  \"size\": %u,\n  \"ram\": %u,\n  \"controllers\": [\"%s\", \"%s\"],\n", info->image_size,
                  info->ram_size, vcs_controller_name(info->left), vcs_controller_name(info->right));
  vcs_text_printf(&text, "  \"picture\": {\"width\": %d, \"height\": %d, \"top_line\": %d},\n", VCS_WIDTH, info->height,
                  info->top_line);
  vcs_text_printf(&text, "  \"md5\": \"%s\",\n  \"sha256\": \"%s\"\n}\n", info->md5, info->sha256);
  if (text.text) fputs(text.text, stdout);
  vcs_text_free(&text);
}

static void print_lines(const vcs_rom_t *rom) {
  const vcs_cart_info_t *info = vcs_cart_info(rom->cart);
  printf("file         %s\n", rom->path);
  printf("game         %s\n", info->game ? info->game : "unknown: no rewards, no endings");
  printf("profile      %s\n", vcs_profile_name(info->profile));
  printf("mapper       %s\n", info->scheme_name);
  printf("size         %u bytes", info->image_size);
  if (info->ram_size) printf(" and %u bytes of RAM", info->ram_size);
  printf("\ntelevision   %s\n", vcs_format_name(info->format));
  printf("picture      %d lines from line %d\n", info->height, info->top_line);
  printf("controllers  %s, %s\n", vcs_controller_name(info->left), vcs_controller_name(info->right));
  printf("MD5          %s\nSHA-256      %s\n", info->md5, info->sha256);
}

int vcs_cli_info(int argc, char **argv) {
  const char *name = NULL;
  vcs_rom_options_t choice = {0};
  bool json = false;
  const vcs_arg_t args[] = {VCS_ARG_POSITIONAL("ROM", &name, "a ROM image, the name of a game, or demo"),
                            VCS_ARGS_CART(&choice), VCS_ARG_FLAG("json", &json, "print JSON"), VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_rom_t rom;
  exit_code = vcs_rom_open_or_complain(usage.command, name, &choice, &rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  if (json) {
    print_json(&rom);
  } else {
    print_lines(&rom);
  }
  vcs_rom_free(&rom);
  return VCS_EXIT_OK;
}
