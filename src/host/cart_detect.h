/* cart_detect.h: which bank scheme an image is for, and putting the image into a cartridge. */
#ifndef VCS_HOST_CART_DETECT_H
#define VCS_HOST_CART_DETECT_H

#include "core/state.h"

/* The scheme of an image, from its size and content; VCS_SCHEME_AUTO when it is for none that we have. */
vcs_scheme_t vcs_scheme_detect(const uint8_t *image, size_t size);

/* "2K", "F8SC", ...; "AUTO" for VCS_SCHEME_AUTO; NULL for what is no scheme. */
const char *vcs_scheme_name(vcs_scheme_t scheme);

/* The scheme of that name in any case, "FASC" and "AUTO-DETECT" included; VCS_SCHEME_COUNT when there is none. */
vcs_scheme_t vcs_scheme_by_name(const char *name);

/* VCS_OK when the scheme can hold an image of that size. Not for VCS_SCHEME_AUTO: detect first. */
vcs_status_t vcs_scheme_check(vcs_scheme_t scheme, size_t size, vcs_error_t *error);

/* Bytes that vcs_cart_setup stores for an image that vcs_scheme_check accepts. */
size_t vcs_scheme_rom_size(vcs_scheme_t scheme, size_t image_size);

/* Check the image, copy it to rom_out (vcs_scheme_rom_size bytes, to live as long as the cartridge) and fill rom,
 * rom_size, ram_size, hot_pages, scheme and snoops of the cartridge. Other fields are left alone. */
vcs_status_t vcs_cart_setup(vcs_cart_t *cart, vcs_scheme_t scheme, const uint8_t *image, size_t size, uint8_t *rom_out,
                            vcs_error_t *error);

#endif
