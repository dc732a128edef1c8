/* ragged.h: a cartridge whose frames are often too short for the picture, or do not end, so that old rows show.
 *
 * Frames of 263 lines; of 143 while bit 4 of the frame counter is set; and 45,000 instructions without an end before
 * every 32nd. The colour of a line follows from its number, the frame and the joystick. */
#ifndef VCS_TESTS_RAGGED_H
#define VCS_TESTS_RAGGED_H

#include <stdint.h>
#include <string.h>

static inline void ragged_image(uint8_t image[4096]) {
  static const uint8_t program[] = {
      0x78, 0xD8, 0xA2, 0xFF, 0x9A,       /* F000 SEI, CLD, LDX #FF, TXS */
      0xA9, 0x02, 0x85, 0x00,             /* F005 LDA #2, STA VSYNC */
      0x85, 0x02, 0x85, 0x02, 0x85, 0x02, /* F009 STA WSYNC, three times */
      0xA9, 0x00, 0x85, 0x00,             /* F00F LDA #0, STA VSYNC */
      0xE6, 0x80,                         /* F013 INC 80 */
      0xA5, 0x80, 0x29, 0x1F, 0xD0, 0x0A, /* F015 LDA 80, AND #1F, BNE F025 */
      0xA0, 0x58, 0xA2, 0x00,             /* F01B LDY #58, LDX #0 */
      0xCA, 0xD0, 0xFD, 0x88, 0xD0, 0xFA, /* F01F DEX, BNE F01F, DEY, BNE F01F */
      0xA2, 0x28,                         /* F025 LDX #28 */
      0x85, 0x02, 0xCA, 0xD0, 0xFB,       /* F027 STA WSYNC, DEX, BNE F027 */
      0xA2, 0xDC,                         /* F02C LDX #DC */
      0xA5, 0x80, 0x29, 0x10, 0xF0, 0x02, /* F02E LDA 80, AND #10, BEQ F036 */
      0xA2, 0x64,                         /* F034 LDX #64 */
      0x85, 0x02,                         /* F036 STA WSYNC */
      0x8A, 0x65, 0x80, 0x4D, 0x80, 0x02, /* F038 TXA, ADC 80, EOR SWCHA */
      0x85, 0x09, 0xCA, 0xD0, 0xF3,       /* F03E STA COLUBK, DEX, BNE F036 */
      0x4C, 0x05, 0xF0,                   /* F043 JMP F005 */
  };
  memset(image, 0, 4096);
  memcpy(image, program, sizeof program);
  image[0xFFC] = image[0xFFE] = 0x00;
  image[0xFFD] = image[0xFFF] = 0xF0;
}

#endif
