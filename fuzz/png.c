/* png.c: pictures that `diffvcs edit` takes as targets. The first byte chooses whether the checksums of the chunks are
 * made right, so that changed files pass libpng's check. */
#include <zlib.h>

#include "host/picture.h"
#include "fuzz.h"

static uint32_t big_endian(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void mend(uint8_t *file, size_t size) {
  for (size_t at = 8; at + 12 <= size;) {
    const size_t length = big_endian(file + at);
    if (length > size - at - 12) return;
    const uint32_t sum = (uint32_t)crc32(0, file + at + 4, (uInt)(length + 4));
    for (int i = 0; i < 4; i++) file[at + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
    at += length + 12;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { LIMIT = 256 };
  input_t input = {data, size};
  const bool mends = take(&input, 1) & 1;
  uint8_t *file = malloc(input.size ? input.size : 1), *rgb = NULL;
  int width = 0, height = 0;
  vcs_error_t error = {""};
  check(file);
  if (input.size) memcpy(file, input.data, input.size);
  if (mends) mend(file, input.size);
  const vcs_status_t status = vcs_png_read_rgb(scratch_file(file, input.size), LIMIT, &rgb, &width, &height, &error);
  if (accepted(status, &error)) {
    volatile uint8_t last = rgb[3 * width * height - 1];
    (void)last;
    check(width > 0 && height > 0 && width <= LIMIT && height <= LIMIT);
    free(rgb);
  }
  free(file);
  return 0;
}
