/* difference_crc.h: the CRC-32 of a picture or of RAM that differs little from another one whose CRC-32 is known.
 *
 * CRC-32 is linear: crc(a) ^ crc(b) is that of a ^ b with a register that begins and ends as it is. What is equal is
 * zero there, and rows of zeros are passed by a table.
 */
#ifndef VCS_GRAD_DIFFERENCE_CRC_H
#define VCS_GRAD_DIFFERENCE_CRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What each byte of a register becomes, some zeros later. */
typedef uint32_t vcs_crc_carry_t[4][256];
enum { VCS_CRC_BLOCK = 32, VCS_CRC_ROWS_LOG = 9 };

typedef struct {
  vcs_crc_carry_t over_four, over_block;       /* four zeros later, or a block of them, ... */
  vcs_crc_carry_t over_rows[VCS_CRC_ROWS_LOG]; /* ... or 1, 2, 4, ... rows of the picture */
  bool folds;                                  /* the processor multiplies without carries */
} vcs_difference_crc_t;

void vcs_difference_crc_prepare(vcs_difference_crc_t *d);

/* crc(one) ^ crc(other). `size` is whole blocks. The number of bytes that differ is added to `count`. */
uint32_t vcs_difference_crc(const vcs_difference_crc_t *d, const uint8_t *one, const uint8_t *other, size_t size,
                            int32_t *count);

/* The same for pictures that differ in no other rows than those whose `lines` is 1. */
uint32_t vcs_difference_crc_of_rows(const vcs_difference_crc_t *d, const uint8_t *one, const uint8_t *other,
                                    const uint8_t *lines, size_t rows, int32_t *count);

#endif
