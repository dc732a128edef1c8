/* patch.c: IPS and BPS patches (study.h).
 *
 *   IPS   "PATCH", then stretches: offset (3 bytes), length (2), bytes; length 0: a count (2) and one byte to repeat.
 *         "EOF" ends it. Numbers are big-endian.
 *   BPS   "BPS1", sizes of source, target and metadata, then actions, each a number: its lowest two bits are the kind
 *         (copy the source in place, copy from the patch, copy from a moving offset in the source or the target), the
 *         rest is the number of bytes, less one. At the end: the CRC-32 of source, target and patch, little-endian.
 *         Numbers have seven bits in each byte; bit 7 marks the last byte.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/decode.h"
#include "host/cartridge.h"
#include "study/internal.h"

typedef struct {
  const uint8_t *bytes;
  size_t at, end;
  bool failed; /* a read went beyond the end */
} reader_t;

static uint8_t next(reader_t *reader) {
  if (reader->at < reader->end) return reader->bytes[reader->at++];
  reader->failed = true;
  return 0;
}

static size_t big_endian(reader_t *reader, int bytes) {
  size_t number = 0;
  while (bytes-- > 0) number = number << 8 | next(reader);
  return number;
}

static vcs_status_t apply_ips(const uint8_t *patch, size_t patch_size, size_t size, uint8_t *result,
                              vcs_error_t *error) {
  reader_t reader = {patch, 5, patch_size, false};
  for (;;) {
    const size_t offset = big_endian(&reader, 3);
    if (offset == 0x454F46 && !reader.failed) return VCS_OK; /* "EOF" */
    size_t count = big_endian(&reader, 2);
    const bool repeats = count == 0;
    if (repeats) count = big_endian(&reader, 2);
    uint8_t byte = repeats ? next(&reader) : 0;
    if (reader.failed) return vcs_error_fill(error, VCS_BAD_FILE, "the IPS patch ends too early");
    if (offset + count > size) {
      return vcs_error_fill(error, VCS_BAD_FILE,
                            "the IPS patch changes byte %zu of an image of %zu: it is for another one",
                            offset + count - 1, size);
    }
    for (size_t i = 0; i < count; i++) result[offset + i] = repeats ? byte : next(&reader);
  }
}

static uint64_t bps_number(reader_t *reader) {
  uint64_t number = 0, weight = 1;
  for (int i = 0; i < 8; i++) {
    const uint8_t byte = next(reader);
    number += (byte & 0x7F) * weight;
    if (byte & 0x80 || reader->failed) return number;
    weight <<= 7;
    number += weight;
  }
  reader->failed = true;
  return number;
}

/* Moves an offset forwards or, if the lowest bit of the number is set, backwards. False: it leaves the image. */
static bool move(size_t *place, uint64_t by, size_t size) {
  const uint64_t distance = by >> 1;
  if (by & 1 ? distance > *place : distance > size - *place) return false;
  *place = (size_t)(by & 1 ? *place - distance : *place + distance);
  return true;
}

static uint32_t crc_at(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static vcs_status_t apply_bps(const uint8_t *patch, size_t patch_size, const uint8_t *image, size_t size,
                              uint8_t *result, vcs_error_t *error) {
  if (patch_size < 19 || crc32(0, patch, (uInt)(patch_size - 4)) != crc_at(patch + patch_size - 4)) {
    return vcs_error_fill(error, VCS_BAD_FILE, "the BPS patch is damaged: its checksum is wrong");
  }
  reader_t reader = {patch, 4, patch_size - 12, false};
  const uint64_t source = bps_number(&reader), target = bps_number(&reader), metadata = bps_number(&reader);
  if (source != size || target != size || metadata > reader.end - reader.at) {
    return vcs_error_fill(error, VCS_BAD_FILE, "the BPS patch is for an image of %llu bytes, not of %zu",
                          (unsigned long long)source, size);
  }
  if (crc32(0, image, (uInt)size) != crc_at(patch + patch_size - 12)) {
    return vcs_error_fill(error, VCS_BAD_FILE, "the BPS patch is for another image of the same size");
  }
  reader.at += (size_t)metadata;
  size_t at = 0, from_source = 0, from_target = 0;
  while (reader.at < reader.end) {
    const uint64_t word = bps_number(&reader);
    const unsigned action = word & 3;
    const uint64_t count = (word >> 2) + 1;
    size_t *place = action == 2 ? &from_source : &from_target;
    if (reader.failed || count > size - at) break;
    if (action >= 2 && (!move(place, bps_number(&reader), size) || reader.failed)) break;
    for (uint64_t i = 0; i < count; i++, at++) {
      if (action >= 2 && *place >= (action == 2 ? size : at))
        return vcs_error_fill(error, VCS_BAD_FILE, "the BPS patch copies what is not there");
      result[at] = action == 0   ? image[at]
                   : action == 1 ? next(&reader)
                   : action == 2 ? image[(*place)++]
                                 : result[(*place)++];
    }
  }
  if (at != size || reader.failed || crc32(0, result, (uInt)size) != crc_at(patch + patch_size - 8)) {
    return vcs_error_fill(error, VCS_BAD_FILE, "the BPS patch does not give the image it promises");
  }
  return VCS_OK;
}

vcs_status_t vcs_patch_apply(const uint8_t *patch, size_t patch_size, const uint8_t *image, size_t size,
                             uint8_t *result, vcs_error_t *error) {
  memcpy(result, image, size);
  if (patch_size >= 8 && memcmp(patch, "PATCH", 5) == 0) return apply_ips(patch, patch_size, size, result, error);
  if (patch_size >= 4 && memcmp(patch, "BPS1", 4) == 0) return apply_bps(patch, patch_size, image, size, result, error);
  return vcs_error_fill(error, VCS_BAD_FILE, "neither an IPS nor a BPS patch");
}

vcs_status_t vcs_cart_patch(vcs_cart_t *cart, const uint8_t *patch, size_t size, vcs_error_t *error) {
  uint8_t *patched = malloc(cart->rom_size);
  if (!patched) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  const vcs_status_t status = vcs_patch_apply(patch, size, cart->rom, cart->rom_size, patched, error);
  if (status == VCS_OK) {
    memcpy((uint8_t *)(uintptr_t)cart->rom, patched, cart->rom_size);
    vcs_decode_image(cart, (vcs_code_t *)(uintptr_t)cart->code);
  }
  free(patched);
  return status;
}

/* Appends to a patch and counts; bytes beyond `room` are not written. */
static void put(uint8_t *patch, size_t room, size_t *size, const void *bytes, size_t count) {
  for (size_t i = 0; i < count; i++, ++*size) {
    if (patch && *size < room) patch[*size] = ((const uint8_t *)bytes)[i];
  }
}

size_t vcs_patch_make(const uint8_t *before, const uint8_t *after, size_t size, uint8_t *patch, size_t room) {
  size_t made = 0;
  put(patch, room, &made, "PATCH", 5);
  for (size_t from = 0, to; from<size; from = to> from ? to : from + 1) {
    for (to = from; to < size && before[to] != after[to] && to - from < 0xFFFF; to++) {
    }
    if (to == from) continue;
    const uint8_t head[] = {(uint8_t)(from >> 16), (uint8_t)(from >> 8), (uint8_t)from, (uint8_t)((to - from) >> 8),
                            (uint8_t)(to - from)};
    put(patch, room, &made, head, sizeof head);
    put(patch, room, &made, after + from, to - from);
  }
  put(patch, room, &made, "EOF", 3);
  return made;
}
