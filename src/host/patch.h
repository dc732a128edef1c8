/* patch.h: IPS and BPS patches on a loaded cartridge.
 *
 * What is known about a game (its picture, controllers, rules) goes by the digest of the image it was made for, so a
 * patched game is the known cartridge with other bytes: it is loaded first and patched then.
 */
#ifndef VCS_HOST_PATCH_H
#define VCS_HOST_PATCH_H

#include "diffvcs/diffvcs.h"

/* Changes the image as the patch says and decodes it anew. Before any machine has run on it. On failure it is as it
 * was. */
vcs_status_t vcs_cart_patch(vcs_cart_t *cart, const uint8_t *patch, size_t size, vcs_error_t *error);

/* The patched copy of an image of the same size, for who has no cartridge. IPS or BPS, by the first bytes. */
vcs_status_t vcs_patch_apply(const uint8_t *patch, size_t patch_size, const uint8_t *image, size_t size,
                             uint8_t *result, vcs_error_t *error);

#endif
