/* difference_crc.h: the CRC-32 of a picture or of RAM that differs little from another one whose CRC-32 is known.
 *
 * CRC-32 is linear: crc(a) ^ crc(b) is the CRC of a ^ b, computed with a register that begins with 0 and is not
 * inverted at the end. Equal bytes are zeros in a ^ b, and tables carry the register over many zeros at once.
 */
#ifndef VCS_GRAD_DIFFERENCE_CRC_H
#define VCS_GRAD_DIFFERENCE_CRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What each of a register's four bytes becomes after a fixed number of zeros; their XOR is the register then. */
typedef uint32_t vcs_crc_carry_t[4][256];
enum {
  VCS_CRC_BLOCK = 32,  /* bytes that are compared at once */
  VCS_CRC_ROWS_LOG = 9 /* tables for powers of two of rows: a picture has fewer than 512 */
};

typedef struct {
  vcs_crc_carry_t over_four;                   /* four zeros */
  vcs_crc_carry_t over_block;                  /* VCS_CRC_BLOCK zeros */
  vcs_crc_carry_t over_rows[VCS_CRC_ROWS_LOG]; /* 1, 2, 4, ... rows of a picture */
  bool folds;                                  /* the processor has PCLMULQDQ */
} vcs_difference_crc_t;

/* Computes the tables. */
void vcs_difference_crc_prepare(vcs_difference_crc_t *d);

/* Returns crc(one) ^ crc(other) of `size` bytes, a multiple of VCS_CRC_BLOCK. Adds the number of bytes that differ to
 * *count. */
uint32_t vcs_difference_crc(const vcs_difference_crc_t *d, const uint8_t *one, const uint8_t *other, size_t size,
                            int32_t *count);

/* The same for pictures of `rows` rows that can differ only in rows whose `lines` is 1. */
uint32_t vcs_difference_crc_of_rows(const vcs_difference_crc_t *d, const uint8_t *one, const uint8_t *other,
                                    const uint8_t *lines, size_t rows, int32_t *count);

#endif
