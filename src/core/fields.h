/* fields.h: every field of the machine, listed once.
 *
 * A row is X(type, name, count, meaning). The state struct, its hash, its save file, the slots of derivatives and the
 * Python view are generated from these rows. Fields are in order of size so that the struct has no padding (checked in
 * state.h): a state can be compared, hashed and copied as bytes.
 *
 * A new field is one row in its group. The groups matter: VCS_FIELDS_TIA are the registers that make the picture, which
 * a reset clears, a tape keeps with every event and a frame that stops remembers; the groups of the TIA are what the
 * two lanes of src/cuda/cpu_tia_pair.h exchange. A field whose values are limited, or that derivatives treat as a
 * number, is also in one of the two lists at the end. What else a field needs is the rule that uses it, in its chip:
 * its reset if it is not in VCS_FIELDS_TIA, and its derivative (chips.c; vcs_has_carries in sweep.h if games count with
 * it).
 *
 * Times. `cycles` counts CPU cycles since the frame began; all other times (named *_cycle or *_clock, three clocks a
 * cycle) are relative to the same origin, and all of them are rebased when a frame begins (console.h), with the
 * reference's 32-bit wrap-around.
 */
#ifndef VCS_CORE_FIELDS_H
#define VCS_CORE_FIELDS_H

/* clang-format off */
#define VCS_FIELDS_TIME(X)                                                                                              \
  X(uint32_t, cycles, 1, "CPU cycles since the frame began")

#define VCS_FIELDS_TIA_TIMES(X)                                                                                       \
  X(int32_t, frame_clock, 1, "colour clock at which the frame's first line began (0 or below)")                       \
  X(int32_t, vsync_clock, 1, "clock from which a cleared VSYNC ends the frame")                                       \
  X(int32_t, hmove_clock, 1, "clock of the last HMOVE")                                                               \
  X(int32_t, dump_cycle, 1, "cycle at which the paddle capacitors began to charge")

#define VCS_FIELDS_RIOT_TIMES(X)                                                                                      \
  X(uint32_t, timer_cycle, 1, "cycle at which the RIOT timer was set")                                                \
  X(uint32_t, timer_read_cycle, 1, "cycle of the first timer read after it ran out")

#define VCS_FIELDS_TIA_BEAM(X)                                                                                        \
  X(int32_t, line, 1, "scan line the picture is drawn up to")                                                         \
  X(int32_t, line_clock, 1, "clock in that line it is drawn up to; 228: complete, but not yet closed")                \
  X(int32_t, seen_clock, 1, "clock of the frame up to which the reference has drawn; the picture may lag behind")          \
  X(int32_t, seen_before, 1, "the same before the last access")                                                       \
  X(int32_t, blank_clock, 1, "clock of the frame from which a blank after HMOVE is due")                              \
  X(int32_t, blank_first, 1, "clock of the frame of the first access after that HMOVE; 0: none yet")                  \
  X(int32_t, first_line, 1, "scan line shown in the top row of the picture")                                          \
  X(int32_t, scanlines, 1, "lines in the last complete frame")

#define VCS_FIELDS_REST_32(X)                                                                                         \
  X(uint32_t, bank, 4, "offset in the cartridge image of each 1 KiB slice of the 4 KiB window")                       \
  X(uint32_t, frames, 1, "frames completed since power-on")                                                           \
  X(uint32_t, instructions, 1, "instructions executed since power-on (wraps)")                                        \
  X(uint32_t, rng_draws, 1, "values drawn so far from the power-on random generator")                                 \
  X(int32_t, paddle, 4, "paddle resistances")                                                                         \
  X(uint32_t, cart_clock, 4, "cartridge-private counters (DPC)")

#define VCS_FIELDS_16(X)                                                                                              \
  X(uint16_t, pc, 1, "program counter")                                                                               \
  X(uint16_t, collisions, 1, "collision latches, one bit a pair (tia.h)")                                             \
  X(uint16_t, cart_word, 8, "cartridge-private 16-bit registers (DPC counters)")

#define VCS_FIELDS_CPU_RIOT(X)                                                                                               \
  X(uint8_t, a, 1, "accumulator")                                                                                     \
  X(uint8_t, x, 1, "index X")                                                                                         \
  X(uint8_t, y, 1, "index Y")                                                                                         \
  X(uint8_t, sp, 1, "stack pointer")                                                                                  \
  X(uint8_t, p, 1, "processor status NV1BDIZC")                                                                       \
  X(uint8_t, bus, 1, "last value on the data bus")                                                                    \
  X(uint8_t, jammed, 1, "a halt opcode was executed: the CPU stands still until reset")                               \
  X(uint8_t, partial, 1, "the last frame stopped before its VSYNC")                                                   \
  X(uint8_t, greyed, 1, "the rest of that partial frame is already greyed")                                           \
  X(uint8_t, front, 1, "which of the two frame buffers is drawn into")                                                \
  X(uint8_t, ram, 128, "RIOT RAM")                                                                                    \
  X(uint8_t, timer, 1, "value the timer was set to")                                                                  \
  X(uint8_t, timer_shift, 1, "log2 of the timer interval: 0, 3, 6, 10")                                               \
  X(uint8_t, timer_was_read, 1, "the timer was read after it ran out")                                                \
  X(uint8_t, ddra, 1, "port A data direction")                                                                        \
  X(uint8_t, port_a_out, 1, "last value written to port A, as the pins drive it")                                     \
  X(uint8_t, swcha, 1, "joystick pins, left in the high nibble, 0: pressed")                                          \
  X(uint8_t, swchb, 1, "console switches as read")                                                                    \
  X(uint8_t, fire, 2, "fire pins (INPT4, INPT5), 0: pressed")                                                         \
  X(uint8_t, keypad, 4, "pressed keys, one bit each, two bytes a port")                                               \
  X(uint8_t, turn, 2, "driving controllers: 0 still, 1 clockwise, 2 counter-clockwise")                               \
  X(uint8_t, wheel, 2, "driving controllers: times the port was read, modulo 80")

#define VCS_FIELDS_TIA(X)                                                                                             \
  X(uint8_t, vsync, 1, "VSYNC")                                                                                       \
  X(uint8_t, vblank, 1, "VBLANK")                                                                                     \
  X(uint8_t, nusiz, 2, "NUSIZ0, NUSIZ1")                                                                              \
  X(uint8_t, colu, 4, "COLUBK, COLUPF, COLUP0, COLUP1 as drawn")                                                      \
  X(uint8_t, ctrlpf, 1, "CTRLPF")                                                                                     \
  X(uint8_t, reflect, 2, "REFP0, REFP1")                                                                              \
  X(uint8_t, pf, 3, "PF0, PF1, PF2")                                                                                  \
  X(uint8_t, grp, 2, "GRP0, GRP1")                                                                                    \
  X(uint8_t, grp_old, 2, "GRP0, GRP1 as latched by the other player's write")                                         \
  X(uint8_t, enam, 2, "ENAM0, ENAM1")                                                                                 \
  X(uint8_t, enabl, 1, "ENABL")                                                                                       \
  X(uint8_t, enabl_old, 1, "ENABL as latched by a GRP1 write")                                                        \
  X(uint8_t, hm, 5, "HMP0, HMP1, HMM0, HMM1, HMBL (high nibbles)")                                                    \
  X(uint8_t, vdelp, 2, "VDELP0, VDELP1")                                                                              \
  X(uint8_t, vdelbl, 1, "VDELBL")                                                                                     \
  X(uint8_t, resmp, 2, "RESMP0, RESMP1")                                                                              \
  X(uint8_t, pos, 5, "first pixel of P0, P1, M0, M1, BL")                                                             \
  X(uint8_t, first_copy_off, 2, "the player's first copy is not drawn until the line ends (RESPx)")                   \
  X(uint8_t, pf_mirrored, 1, "right half mirrored, as latched")                                                       \
  X(uint8_t, hmove_blank, 1, "the next eight visible pixels are blanked")                                             \
  X(uint8_t, stars, 1, "missile 0 runs freely (late HMM0 change)")                                                    \
  X(uint8_t, stars_phase, 1, "line counter of that effect")                                                           \
  X(uint8_t, stars_shape, 1, "missile 0 this line: 0 as set, 1 at least two wide, 2 off")

#define VCS_FIELDS_REST_8(X)                                                                                          \
  X(uint8_t, dump, 1, "paddle capacitors are held to ground")                                                         \
  X(uint8_t, audio, 6, "AUDC0, AUDC1, AUDF0, AUDF1, AUDV0, AUDV1")                                                    \
  X(uint8_t, audio_divider, 2, "sound: clocks since the divider's last pulse (tia_audio.h)")                          \
  X(uint8_t, audio_five, 2, "sound: five-bit shift registers")                                                        \
  X(uint8_t, audio_four, 2, "sound: four-bit shift registers; bit 3 is heard")                                        \
  X(uint8_t, cart_byte, 24, "cartridge-private registers")

/* cart_ram is last: a machine whose cartridge has less RAM may be stored short (vcs_state_size). */
#define VCS_FIELDS_CART_RAM(X) X(uint8_t, cart_ram, VCS_CART_RAM_MAX, "cartridge RAM")
/* clang-format on */

/* Fields whose bytes must stay below a limit: X(name, limit). A save file with larger values is rejected. */
/* clang-format off */
#define VCS_FIELD_LIMITS(X) \
  X(pos, 160) X(hm, 16) X(timer_shift, 11) X(wheel, 80) X(turn, 3) \
  X(stars_phase, 4) X(stars_shape, 3) X(front, 2) X(jammed, 2) X(partial, 2) \
  X(greyed, 2) X(timer_was_read, 2) X(fire, 2) X(vdelp, 2) X(vdelbl, 2) \
  X(pf_mirrored, 2) X(hmove_blank, 2) X(first_copy_off, 2) X(stars, 2) X(dump, 2)

/* Fields that derivatives treat as numbers and not as sets of bits: times, resistances, positions. X(name, count). */
#define VCS_NUMBER_FIELDS(X) X(cycles, 1) X(timer_cycle, 1) X(dump_cycle, 1) X(paddle, 4) X(pos, 5)

#define VCS_FIELDS(X) \
  VCS_FIELDS_TIME(X) VCS_FIELDS_TIA_TIMES(X) VCS_FIELDS_RIOT_TIMES(X) VCS_FIELDS_TIA_BEAM(X) \
  VCS_FIELDS_REST_32(X) VCS_FIELDS_16(X) VCS_FIELDS_CPU_RIOT(X) VCS_FIELDS_TIA(X) \
  VCS_FIELDS_REST_8(X) VCS_FIELDS_CART_RAM(X)
/* clang-format on */

#endif
