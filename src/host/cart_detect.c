/* cart_detect.c: which bank scheme is this image for?
 *
 * A dump is bare ROM; nothing in it says which board it sat on. The size narrows it down, and the instructions that
 * switch banks reveal most of the rest: a program that stores to $3F twice has a 3F board. The decisions are those of
 * xitari and ale-py, which the profiles must agree with (tests/test_cart.c compares the images that ale-py ships):
 *
 *    2 KiB, or 4 KiB twice the same 2   CV  2K
 *    4                                  CV  4K
 *    8                                  F8SC  4K (twice the same)  E0  3E  3F  UA  FE  F8
 *   10 and a bit                        DPC
 *   12                                  FA
 *   16                                  F6SC  E7  3E  3F  F6
 *   32                                  F4SC  3E  3F  F4
 *   any other                           3E  3F  SB (128 and 256 only)
 *
 * and the first that fits, left to right, wins. Images of 64 and 128 KiB that are neither are Megaboy and Megacart to
 * the references; we have neither board, and look for SB instead, which they do not know. 0840 boards look like F8 to
 * the references, so 0840 must be requested by name.
 */
#include "cart_detect.h"

#include <stdio.h>
#include <string.h>

#include "core/cart.h"
#include "host/files.h"

/* ---- Signatures --------------------------------------------------------------------------------------------- */

enum { SIGNATURE_MAX = 5 };

typedef struct {
  uint8_t scheme;
  uint8_t hits; /* how often it must occur */
  uint8_t length;
  uint8_t bytes[SIGNATURE_MAX];
} signature_t;

static const signature_t signatures[] = {
    {VCS_SCHEME_3F, 2, 2, {0x85, 0x3F}},                   /* STA $3F */
    {VCS_SCHEME_3E, 1, 4, {0x85, 0x3E, 0xA9, 0x00}},       /* STA $3E; LDA #$00 */
    {VCS_SCHEME_E0, 1, 3, {0x8D, 0xE0, 0x1F}},             /* STA $1FE0 */
    {VCS_SCHEME_E0, 1, 3, {0x8D, 0xE0, 0x5F}},             /* STA $5FE0 */
    {VCS_SCHEME_E0, 1, 3, {0x8D, 0xE9, 0xFF}},             /* STA $FFE9 */
    {VCS_SCHEME_E0, 1, 3, {0xAD, 0xE9, 0xFF}},             /* LDA $FFE9 */
    {VCS_SCHEME_E0, 1, 3, {0xAD, 0xED, 0xFF}},             /* LDA $FFED */
    {VCS_SCHEME_E0, 1, 3, {0xAD, 0xF3, 0xBF}},             /* LDA $BFF3 */
    {VCS_SCHEME_UA, 1, 3, {0x8D, 0x40, 0x02}},             /* STA $0240 */
    {VCS_SCHEME_CV, 1, 3, {0x9D, 0xFF, 0xF3}},             /* STA $F3FF,X */
    {VCS_SCHEME_CV, 1, 3, {0x99, 0x00, 0xF4}},             /* STA $F400,Y */
    {VCS_SCHEME_FE, 1, 5, {0x20, 0x00, 0xD0, 0xC6, 0xC5}}, /* JSR $D000; DEC $C5 */
    {VCS_SCHEME_FE, 1, 5, {0x20, 0xC3, 0xF8, 0xA5, 0x82}}, /* JSR $F8C3; LDA $82 */
    {VCS_SCHEME_FE, 1, 5, {0xD0, 0xFB, 0x20, 0x73, 0xFE}}, /* BNE *-3; JSR $FE73 */
    {VCS_SCHEME_FE, 1, 5, {0x20, 0x00, 0xF0, 0x84, 0xD6}}, /* JSR $F000; STY $D6 */
    {VCS_SCHEME_SB, 1, 3, {0xBD, 0x00, 0x08}},             /* LDA $0800,X */
    {VCS_SCHEME_SB, 1, 3, {0xAD, 0x00, 0x08}},             /* LDA $0800 */
};

/* Whether the signature occurs often enough. As in the references, the very last position is not checked, and one byte
 * after a hit is skipped: 85 3F 85 3F is one hit of 85 3F, not two. */
static bool occurs(const signature_t *signature, const uint8_t *image, size_t size) {
  unsigned hits = 0;
  for (size_t i = 0; i + signature->length < size; ++i) {
    if (memcmp(image + i, signature->bytes, signature->length) != 0) continue;
    if (++hits == signature->hits) return true;
    i += signature->length;
  }
  return false;
}

static bool has_signature(vcs_scheme_t scheme, const uint8_t *image, size_t size) {
  for (size_t i = 0; i < sizeof signatures / sizeof *signatures; ++i)
    if (signatures[i].scheme == scheme && occurs(&signatures[i], image, size)) return true;
  return false;
}

/* ---- Blank places: ROM that RAM covers is usually filled with one value ------------------------------------- */

static bool all_equal(const uint8_t *bytes, size_t count, uint8_t value) {
  for (size_t i = 0; i < count; ++i)
    if (bytes[i] != value) return false;
  return true;
}

/* Superchip: the first 256 bytes of every bank. */
static bool has_blank_superchip(const uint8_t *image, size_t size) {
  for (size_t bank = 0; bank < size; bank += 4096)
    if (!all_equal(image + bank, 256, image[bank])) return false;
  return true;
}

/* E7: 512 bytes at the start of the last 2 KiB, but not in the middle of a longer blank. */
static bool has_blank_e7(const uint8_t *image) {
  const uint8_t *ram = image + 0x3800;
  return all_equal(ram, 512, *ram) && !(all_equal(ram - 32, 32, *ram) && all_equal(ram + 512, 32, *ram));
}

static bool halves_are_equal(const uint8_t *image, size_t size) {
  return memcmp(image, image + size / 2, size / 2) == 0;
}

/* ---- The decision ------------------------------------------------------------------------------------------- */

/* The first of a list of schemes (ended by AUTO) whose signature occurs, or `otherwise`. */
static vcs_scheme_t first_signed(const vcs_scheme_t *list, vcs_scheme_t otherwise, const uint8_t *image, size_t size) {
  for (; *list != VCS_SCHEME_AUTO; ++list)
    if (has_signature(*list, image, size)) return *list;
  return otherwise;
}

vcs_scheme_t vcs_scheme_detect(const uint8_t *image, size_t size) {
  static const vcs_scheme_t small[] = {VCS_SCHEME_CV, VCS_SCHEME_AUTO};
  static const vcs_scheme_t middle[] = {VCS_SCHEME_E0, VCS_SCHEME_3E, VCS_SCHEME_3F,
                                        VCS_SCHEME_UA, VCS_SCHEME_FE, VCS_SCHEME_AUTO};
  static const vcs_scheme_t large[] = {VCS_SCHEME_3E, VCS_SCHEME_3F, VCS_SCHEME_AUTO};
  static const vcs_scheme_t huge[] = {VCS_SCHEME_3E, VCS_SCHEME_3F, VCS_SCHEME_SB, VCS_SCHEME_AUTO};

  if (image == NULL || size < 2048 || size % 8448 == 0) return VCS_SCHEME_AUTO; /* 8448: a Supercharger tape */
  switch (size) {
    case 2048:
      return first_signed(small, VCS_SCHEME_2K, image, size);
    case 4096:
      return first_signed(small, halves_are_equal(image, size) ? VCS_SCHEME_2K : VCS_SCHEME_4K, image, size);
    case 8192:
      if (has_blank_superchip(image, size)) return VCS_SCHEME_F8SC;
      if (halves_are_equal(image, size)) return VCS_SCHEME_4K;
      return first_signed(middle, VCS_SCHEME_F8, image, size);
    case 10240:
    case 10495:
    case 10496:
      return VCS_SCHEME_DPC;
    case 12288:
      return VCS_SCHEME_FA;
    case 16384:
      if (has_blank_superchip(image, size)) return VCS_SCHEME_F6SC;
      if (has_blank_e7(image)) return VCS_SCHEME_E7;
      return first_signed(large, VCS_SCHEME_F6, image, size);
    case 32768:
      if (has_blank_superchip(image, size)) return VCS_SCHEME_F4SC;
      return first_signed(large, VCS_SCHEME_F4, image, size);
    case 131072:
    case 262144:
      return first_signed(huge, VCS_SCHEME_AUTO, image, size);
    default:
      return first_signed(large, VCS_SCHEME_AUTO, image, size);
  }
}

/* ---- Names -------------------------------------------------------------------------------------------------- */

const char *vcs_scheme_name(vcs_scheme_t scheme) {
  return (unsigned)scheme < VCS_SCHEME_COUNT ? vcs_scheme_row((int)scheme)->name : NULL;
}

static char upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

static bool same_name(const char *a, const char *b) {
  while (*a && upper(*a) == upper(*b)) ++a, ++b;
  return upper(*a) == upper(*b);
}

vcs_scheme_t vcs_scheme_by_name(const char *name) {
  if (name == NULL) return VCS_SCHEME_COUNT;
  for (int scheme = 0; scheme < VCS_SCHEME_COUNT; ++scheme)
    if (same_name(name, vcs_scheme_row(scheme)->name)) return (vcs_scheme_t)scheme;
  if (same_name(name, "FASC")) return VCS_SCHEME_FA;
  if (same_name(name, "AUTO-DETECT")) return VCS_SCHEME_AUTO;
  return VCS_SCHEME_COUNT;
}

/* ---- Sizes and setup ---------------------------------------------------------------------------------------- */

vcs_status_t vcs_scheme_check(vcs_scheme_t scheme, size_t size, vcs_error_t *error) {
  if (scheme == VCS_SCHEME_AUTO)
    return vcs_error_fill(error, VCS_BAD_IMAGE, "no bank scheme recognises this image of %zu bytes; name one", size);
  if ((unsigned)scheme >= VCS_SCHEME_COUNT)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%d is no bank scheme", (int)scheme);
  const vcs_scheme_row_t *row = vcs_scheme_row((int)scheme);
  size_t min = row->size_min, max = row->size_max, step = row->size_step;
  if (size < min || size > max || (size - min) % step != 0) {
    if (min == max)
      return vcs_error_fill(error, VCS_BAD_IMAGE, "%s images have %zu bytes, this one has %zu", row->name, min, size);
    if (step == 1)
      return vcs_error_fill(error, VCS_BAD_IMAGE, "%s images have %zu to %zu bytes, this one has %zu", row->name, min,
                            max, size);
    return vcs_error_fill(error, VCS_BAD_IMAGE, "%s images have a multiple of %zu bytes, at most %zu; this one has %zu",
                          row->name, step, max, size);
  }
  if (error) error->message[0] = '\0';
  return VCS_OK;
}

size_t vcs_scheme_rom_size(vcs_scheme_t scheme, size_t image_size) {
  /* 2K and 4K boards show one bank; an image with a second holds the same again. */
  if (scheme == VCS_SCHEME_2K) return 2048;
  if (scheme == VCS_SCHEME_4K) return 4096;
  return image_size;
}

vcs_status_t vcs_cart_setup(vcs_cart_t *cart, vcs_scheme_t scheme, const uint8_t *image, size_t size, uint8_t *rom_out,
                            vcs_error_t *error) {
  if (cart == NULL || image == NULL || rom_out == NULL)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a cartridge needs an image and a place to copy it to");
  if (scheme == VCS_SCHEME_AUTO) scheme = vcs_scheme_detect(image, size);
  vcs_status_t status = vcs_scheme_check(scheme, size, error);
  if (status != VCS_OK) return status;

  const vcs_scheme_row_t *row = vcs_scheme_row((int)scheme);
  cart->rom_size = (uint32_t)vcs_scheme_rom_size(scheme, size);
  memcpy(rom_out, image, cart->rom_size);
  cart->rom = rom_out;
  cart->ram_size = row->ram_size;
  cart->hot_pages = vcs_scheme_hot_pages((int)scheme);
  cart->scheme = (uint8_t)scheme;
  cart->snoops = row->snoops;
  return VCS_OK;
}
