/* tia_audio.h: the TIA's two sound channels.
 *
 * A channel is a clock divider and two small shift registers; everything a VCS can sing comes out of their last bit.
 *
 *                AUDF                   AUDC                    AUDC                      AUDV
 *   2 a line  +--------+  pulse  +---------------+  clock  +---------------+  bit 3   +--------+
 *   --------->| / 1-32 |-------->| five bits     |-------->| four bits     |--------->| x 0-15 |--> sample
 *   (31.4 kHz)+--------+         | 4 <-3-2-1-0   |  input  | 3 <-2-1-0     |          +--------+
 *                                +---------------+-------->+---------------+
 *
 * Both registers shift towards their high bit. What enters bit 0 makes the waveform:
 *
 *   poly4   four:        bit 3 xor bit 2                           x^4 + x^3 + 1, 15 clocks
 *   poly5   five:        bit 4 xor bit 2                           x^5 + x^3 + 1, 31 clocks
 *   poly9   five, four:  bit 3 of four xor bit 4 of five; bit 4    x^9 + x^5 + 1, 511 clocks
 *                        of five moves into bit 0 of four
 *   toggle  four:        not bit 0                                 a square of 2 clocks
 *   six     four:        the complement of the register moves up,  a square of 6 clocks
 *                        and 1 enters where bits 2-0 are 1, 2, 3
 *
 * A polynomial register that is all zero would stay so; a 1 enters instead. The four bits move at every pulse, or only
 * when the five say so: when their bit 4 is set (16 of 31 pulses), or when bits 3-0 are 1000, which happens twice in
 * 31, 18 and 13 pulses apart: "div 31", the lopsided square that pitches a sound down by 15.5.
 *
 * AUDC is four bits, and nearly a product of two choices (vcs_audio_wave below): the low two choose when the four bits
 * move, the high two what enters them.
 *
 * Time. vcs_audio_samples samples the registers at the end of a frame, as ALE does: the last value written holds for
 * all samples of the call. Nothing here runs between two calls, so a machine without sound only stores six registers.
 * The console's reset line does not reach the sound: the TIA has no reset pin, and in ALE too the registers, the
 * waveforms and the dividers go on through a reset.
 *
 * Sources: the Stella Programmer's Guide (Steve Wright, 1979) for the registers; the behaviour of ale-py 0.12.1 for the
 * rest: tests/ale_sound_live.py compares every sample.
 */
#ifndef VCS_CORE_TIA_AUDIO_H
#define VCS_CORE_TIA_AUDIO_H

#include "state.h"

/* The five bits stand still, run by themselves, or run in front of the four. */
enum { VCS_FIVE_STILL, VCS_FIVE_POLY5, VCS_FIVE_POLY9 };

/* The four bits move at every pulse, at two in 31, or at those that leave bit 4 of the five set. */
enum { VCS_FOUR_ALWAYS, VCS_FOUR_BY_31, VCS_FOUR_BY_5 };

/* What enters the four: a one, one of their own sequences, the bit that left the five, or bit 4 now there. */
enum { VCS_ENTER_ONE, VCS_ENTER_POLY4, VCS_ENTER_TOGGLE, VCS_ENTER_SIX, VCS_ENTER_CARRY, VCS_ENTER_HIGH };

typedef struct {
  uint8_t five, four, enter;
} vcs_audio_wave_t;

VCS_TABLE(vcs_audio_wave_t, vcs_audio_wave, 16,
          {
              {VCS_FIVE_STILL, VCS_FOUR_ALWAYS, VCS_ENTER_ONE},    /* 0 constant: the volume is the sample */
              {VCS_FIVE_STILL, VCS_FOUR_ALWAYS, VCS_ENTER_POLY4},  /* 1 poly4: saw */
              {VCS_FIVE_POLY5, VCS_FOUR_BY_31, VCS_ENTER_POLY4},   /* 2 div 31, poly4: rumble */
              {VCS_FIVE_POLY5, VCS_FOUR_BY_5, VCS_ENTER_POLY4},    /* 3 poly5, poly4: engine */
              {VCS_FIVE_STILL, VCS_FOUR_ALWAYS, VCS_ENTER_TOGGLE}, /* 4 square */
              {VCS_FIVE_STILL, VCS_FOUR_ALWAYS, VCS_ENTER_TOGGLE}, /* 5 the same */
              {VCS_FIVE_POLY5, VCS_FOUR_BY_31, VCS_ENTER_TOGGLE},  /* 6 div 31: bass */
              {VCS_FIVE_POLY5, VCS_FOUR_BY_5, VCS_ENTER_TOGGLE},   /* 7 poly5, square: pitfall */
              {VCS_FIVE_POLY9, VCS_FOUR_ALWAYS, VCS_ENTER_CARRY},  /* 8 poly9: noise */
              {VCS_FIVE_POLY5, VCS_FOUR_ALWAYS, VCS_ENTER_CARRY},  /* 9 poly5 */
              {VCS_FIVE_POLY5, VCS_FOUR_BY_31, VCS_ENTER_HIGH},    /* A div 31 */
              {VCS_FIVE_STILL, VCS_FOUR_ALWAYS, VCS_ENTER_ONE},    /* B constant */
              {VCS_FIVE_STILL, VCS_FOUR_ALWAYS, VCS_ENTER_SIX},    /* C div 6: lead */
              {VCS_FIVE_STILL, VCS_FOUR_ALWAYS, VCS_ENTER_SIX},    /* D the same */
              {VCS_FIVE_POLY5, VCS_FOUR_BY_31, VCS_ENTER_SIX},     /* E div 31, div 6: low bass */
              {VCS_FIVE_POLY5, VCS_FOUR_BY_5, VCS_ENTER_SIX},      /* F poly5, div 6: buzz */
          })

/* One pulse of the divider. */
VCS_FN void vcs_audio_clock(vcs_audio_wave_t wave, unsigned *five_bits, unsigned *four_bits) {
  unsigned five = *five_bits, four = *four_bits, carry = five >> 4;
  unsigned enter = 1;
  if (wave.five == VCS_FIVE_POLY5) {
    five = (five << 1 | (carry ^ (five >> 2 & 1)) | (five == 0)) & 31;
  } else if (wave.five == VCS_FIVE_POLY9) {
    five = (five << 1 | (carry ^ four >> 3) | (five == 0 && four == 0)) & 31;
  }
  *five_bits = five;
  if (wave.four == VCS_FOUR_BY_31 && (five & 15) != 8) return;
  if (wave.four == VCS_FOUR_BY_5 && !(five & 16)) return;
  switch (wave.enter) {
    case VCS_ENTER_POLY4:
      enter = ((four >> 3 ^ four >> 2) & 1) | (four == 0);
      break;
    case VCS_ENTER_TOGGLE:
      enter = ~four & 1;
      break;
    case VCS_ENTER_SIX:
      enter = (four & 7) >= 1 && (four & 7) <= 3;
      four = ~four;
      break;
    case VCS_ENTER_CARRY:
      enter = carry;
      break;
    case VCS_ENTER_HIGH:
      enter = five >> 4;
      break;
    default:
      break;
  }
  *four_bits = (four << 1 | enter) & 15;
}

/* The next samples, two a scan line, under the registers as they are: unsigned, 128 is silence, at most 248. */
VCS_FN void vcs_audio_samples(vcs_t *m, uint8_t *samples, int count) {
  for (int i = 0; i < count; i++) samples[i] = 128;
  for (int channel = 0; channel < 2; channel++) {
    vcs_audio_wave_t wave = vcs_audio_wave(m->audio[channel] & 15u);
    unsigned divide = m->audio[2 + channel] & 31u, volume = (m->audio[4 + channel] & 15u) << 2;
    unsigned pulses = m->audio_divider[channel], five = m->audio_five[channel], four = m->audio_four[channel];
    for (int i = 0; i < count; i++) {
      if (++pulses > divide) {
        pulses = 0;
        vcs_audio_clock(wave, &five, &four);
      }
      if (four & 8) samples[i] = (uint8_t)(samples[i] + volume);
    }
    m->audio_divider[channel] = (uint8_t)pulses;
    m->audio_five[channel] = (uint8_t)five;
    m->audio_four[channel] = (uint8_t)four;
  }
}

/* Both shift registers wake up as 1. */
VCS_FN void vcs_audio_power_on(vcs_t *m) {
  for (int channel = 0; channel < 2; channel++) m->audio_five[channel] = m->audio_four[channel] = 1;
}

#endif
