/* patch.c: IPS and BPS patches. The first byte chooses whether the checksums of a BPS patch are made right. A patch
 * that an IPS patch is made from gives the same bytes. */
#include <zlib.h>

#include "diffvcs/study.h"
#include "fuzz.h"

static void put(uint8_t *to, uint32_t number) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(number >> 8 * i);
}

static uint32_t crc(const uint8_t *bytes, size_t size) { return (uint32_t)crc32(0, bytes, (uInt)size); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input_t input = {data, size};
  const bool mends = take(&input, 1) & 1;
  size_t image_size;
  const uint8_t *image = vcs_demo_image(&image_size);
  uint8_t *patch = malloc(input.size ? input.size : 1), *result = calloc(1, image_size), *again = malloc(image_size);
  vcs_error_t error = {""};
  check(patch && result && again);
  if (input.size) memcpy(patch, input.data, input.size);
  vcs_status_t status = VCS_OK;
  for (int i = 0; i < (mends && input.size >= 12 ? 2 : 1); i++) { /* the second time with the sum of what it made */
    if (mends && input.size >= 12 && memcmp(patch, "BPS1", 4) == 0) {
      put(patch + input.size - 12, crc(image, image_size));
      put(patch + input.size - 8, crc(result, image_size));
      put(patch + input.size - 4, crc(patch, input.size - 4));
    }
    status = vcs_patch_apply(patch, input.size, image, image_size, result, &error);
  }
  if (accepted(status, &error)) {
    const size_t length = vcs_patch_make(image, result, image_size, NULL, 0);
    uint8_t *made = malloc(length);
    vcs_cart_t *cart = NULL;
    check(made && vcs_patch_make(image, result, image_size, made, length) == length);
    check(vcs_patch_apply(made, length, image, image_size, again, &error) == VCS_OK);
    check(memcmp(result, again, image_size) == 0);
    check(vcs_cart_load(image, image_size, NULL, &cart, &error) == VCS_OK);
    check(vcs_cart_patch(cart, patch, input.size, &error) == VCS_OK);
    check(memcmp(vcs_cart_image(cart), result, image_size) == 0);
    vcs_cart_free(cart);
    free(made);
  }
  free(patch);
  free(result);
  free(again);
  return 0;
}
