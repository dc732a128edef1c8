/* kernel.h: programs that draw at random: stores to registers of the TIA, strobes, reads and delays in every line, as
 * no game has them. */
#ifndef VCS_TESTS_KERNEL_H
#define VCS_TESTS_KERNEL_H

#include "program.h"

enum { IMAGE_SIZE = 4096, LAST_SEGMENT = 0xE00 };

/* A register of the picture, a strobe or HMOVE. VBLANK, RESPx and their like are rarer than graphics. */
static uint8_t any_register(void) {
  switch (below(8)) {
    case 0:
      return (uint8_t)(0x04 + below(0x29));
    case 1:
      return ONE_OF(0x10, 0x11, 0x12, 0x13, 0x14, 0x2A, 0x2A, 0x2B, 0x2C, 0x28, 0x29, 0x01);
    case 2:
      return ONE_OF(0x06, 0x07, 0x08, 0x09, 0x0A, 0x04, 0x05, 0x0B, 0x0C);
    default:
      return ONE_OF(0x1B, 0x1C, 0x1B, 0x1C, 0x0D, 0x0E, 0x0F, 0x1D, 0x1E, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25,
                    0x26);
  }
}

/* One instruction or a few of a line. Y counts lines, $80 on is noise that changes slowly. */
static void put_piece(void) {
  switch (below(12)) {
    case 0: /* a read: a collision, an input, the timer */
      put(2, ONE_OF(0xA5, 0x24, 0xA6), below(14));
      break;
    case 1:
      put(2, 0xE6, 0x80 + below(16)); /* INC */
      break;
    case 2: /* a delay of up to 50 cycles */
      put(5, 0xA2, 1 + below(10), 0xCA, 0xD0, 0xFD);
      break;
    case 3: /* pushes to the TIA */
      put(3, 0xA2, ONE_OF(0x1F, 0x1D, 0x0F, 0x1C), 0x9A);
      for (unsigned i = 1 + below(3); i > 0; i--) put(1, ONE_OF(0x08, 0x48));
      break;
    case 4: /* INC of a register of the TIA, and an indexed store */
      if (below(4) == 0) put(2, 0xE6, any_register());
      put(4, 0xA2, below(3), 0x95, any_register() & 0x3D);
      break;
    default:
      if (below(3)) {
        put(3, 0xB9, 0x00, 0xF0 + below(16)); /* LDA table,Y */
      } else if (below(2)) {
        put(2, 0xA5, 0x80 + below(16));
      } else {
        put(2, 0xA9, below(2) ? noise() : 0);
      }
      put(2, ONE_OF(0x85, 0x85, 0x85, 0x84), any_register());
      break;
  }
}

/* Writes a program into the image. */
static void make_program(void) {
  for (size_t i = 0; i < IMAGE_SIZE; i++) image[i] = (uint8_t)(below(3) ? noise() & noise() : 0); /* also the tables */
  end = 0x200;
  put(4, 0xA9, 0x00, 0x85, 0x01);
  for (unsigned lines = 150 + below(130), count; lines > 0 && end < LAST_SEGMENT; lines -= count) {
    count = 1 + below(60);
    if (count > lines) count = lines;
    put(2, 0xA0, count);
    const size_t top = end;
    const bool waits = below(8) != 0;
    if (waits && below(2)) put(4, 0x85, 0x02, 0x85, 0x2A); /* WSYNC, HMOVE */
    for (unsigned i = below(9); i > 0; i--) put_piece();
    if (waits) put(2, 0x85, 0x02);
    put(1, 0x88);
    put(5, 0xF0, 0x03, 0x4C, top & 0xFF, 0xF0 + (top >> 8)); /* BEQ over JMP top */
  }
  if (below(2)) put(4, 0xA9, 0x02, 0x85, 0x01);
  put(3, 0xA2, 0xFF, 0x9A);
  put(17, 0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0x85, 0x02, 0xA9, 0x00, 0x85, 0x00, 0x4C, 0x00, 0xF2);
  image[IMAGE_SIZE - 4] = 0x00;
  image[IMAGE_SIZE - 3] = 0xF2;
}

#endif
