/* ends.h: the inputs and outputs of a frame's derivative: controls, rows of a picture, the caller's slots. grad.c and,
 * on a device, src/cuda use it. */
#ifndef VCS_GRAD_ENDS_H
#define VCS_GRAD_ENDS_H

#include "core/console.h"
#include "sweep.h"

/* ---- Controls --------------------------------------------------------------------------------------------------- */

VCS_FN void vcs_toggle_input(vcs_controls_t *controls, int input) {
  if (input >= VCS_INPUT_RESET) {
    controls->console ^= (uint8_t)(1 << (input - VCS_INPUT_RESET));
  } else {
    const int second = input >= VCS_INPUT_SECOND_PLAYER;
    controls->held[second] ^= (uint8_t)(1 << (input - VCS_INPUT_SECOND_PLAYER * second));
  }
}

VCS_FN bool vcs_input_held(const vcs_controls_t *controls, int input) {
  if (input >= VCS_INPUT_RESET) return controls->console >> (input - VCS_INPUT_RESET) & 1;
  return controls->held[input / VCS_INPUT_SECOND_PLAYER] >> input % VCS_INPUT_SECOND_PLAYER & 1;
}

/* The bits that the controls set. */
typedef struct {
  uint16_t offset;
  uint8_t bits;
} vcs_pins_t;
enum { VCS_PINS = 4 };
VCS_TABLE(
    vcs_pins_t, vcs_pins, VCS_PINS,
    {{VCS_OFFSET(swcha), 0xFF}, {VCS_OFFSET(swchb), 0x03}, {VCS_OFFSET(fire), 0xFF}, {VCS_OFFSET(fire) + 1, 0xFF}})

/* The pins, and the paddles, do not depend on what they were before. */
VCS_FN void vcs_forget_pins(const vcs_sweep_t *s) {
  for (unsigned i = 0; i < VCS_PINS; i++) {
    for (int bit = 0; bit < 8; bit++) {
      if (vcs_pins(i).bits >> bit & 1) vcs_slots(s, vcs_pins(i).offset)[bit] = 0;
    }
  }
  for (size_t i = 0; i < 4; i++) *vcs_slots(s, VCS_OFFSET(paddle) + 4 * i) = 0;
}

/* forward: the pins = the controls of this frame. m is the machine before it. */
VCS_FN void vcs_link_controls(vcs_sweep_t *s, const vcs_t *m, const vcs_controls_t *controls, float *inputs) {
  vcs_t *base = s->m, *other = s->scratch;
  memcpy(base, m, offsetof(vcs_t, cart_ram));
  vcs_console_control(s->cart, base, controls);
  if (!s->reverse) vcs_forget_pins(s);
  for (int input = 0; inputs && input < VCS_INPUTS; input++) {
    if (!s->reverse && inputs[input] == 0) continue;
    vcs_controls_t toggled = *controls;
    vcs_toggle_input(&toggled, input);
    memcpy(other, m, offsetof(vcs_t, cart_ram));
    vcs_console_control(s->cart, other, &toggled);
    for (unsigned i = 0; i < VCS_PINS; i++) {
      uint8_t was = ((uint8_t *)base)[vcs_pins(i).offset], is = ((uint8_t *)other)[vcs_pins(i).offset];
      vcs_link_bits(s, &inputs[input], vcs_slots(s, vcs_pins(i).offset), was, is,
                    vcs_input_held(controls, input) ? -1.0F : 1.0F);
      if (!s->reverse) s->live[vcs_pins(i).offset] = 1;
    }
    for (size_t i = 0; i < 4; i++) { /* a knob's unit is a step */
      const int64_t turned = (int64_t)other->paddle[i] - base->paddle[i];
      if (!turned) continue;
      vcs_link(s, &inputs[input], vcs_slots(s, VCS_OFFSET(paddle) + 4 * i),
               (vcs_input_held(controls, input) ? -1.0F : 1.0F) * (float)turned / VCS_PADDLE_STEP);
      if (!s->reverse) s->live[VCS_OFFSET(paddle) + 4 * i] = 1;
    }
  }
  if (s->reverse) vcs_forget_pins(s);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------ */

VCS_FN void vcs_mark_live(vcs_sweep_t *s, size_t size) {
  for (size_t i = 0; i < size; i++) s->live[i] = vcs_any(vcs_slots(s, i), VCS_SLOTS);
}

/* The caller's slots are bits, ours have carries too: at the run's end (the machine is there) a carry is the bits that
 * it moves together. At its start there are none. */
VCS_FN void vcs_link_bits_of_state(const vcs_sweep_t *s, size_t size, const vcs_t *m, float *bits) {
  for (size_t offset = 0; offset < size; offset++) {
    uint8_t byte = ((const uint8_t *)m)[offset];
    float *out = bits + 8 * offset, *in = vcs_slots(s, offset);
    for (int bit = 0; bit < 8; bit++) vcs_link(s, &in[bit], &out[bit], 1);
    bool nibble = offset >= VCS_OFFSET(hm) && offset < VCS_OFFSET(hm) + 5;
    if (!nibble && !vcs_has_carries(offset)) continue;
    for (int slot = 8; slot < VCS_SLOTS && slot < (nibble ? 12 : 16); slot++) {
      uint8_t moved = vcs_moved(byte, slot) & (nibble ? 15 : 255);
      vcs_link_bits(s, &in[slot], out, byte, moved, vcs_direction(byte, slot));
    }
  }
}

/* ---- Pictures --------------------------------------------------------------------------------------------------- */

/* Which rows of a picture have adjoints; returns the first and the one behind the last of them. */
typedef struct {
  int32_t first, behind;
} vcs_lit_rows_t;

/* Whether they are all zero: each is like the one before it. */
VCS_FN bool vcs_all_zero(const float *pixels, int32_t rows) {
#if defined(__CUDA_ARCH__)
  return !vcs_any(pixels, VCS_WIDTH * rows);
#else
  return pixels[0] == 0 && !memcmp(pixels, pixels + 1, (size_t)(VCS_WIDTH * rows - 1) * sizeof *pixels);
#endif
}

VCS_FN vcs_lit_rows_t vcs_find_lit(vcs_sweep_t *s, const float *pixels) {
  enum { TOGETHER = 16 };
  const int32_t height = s->cart->height;
  vcs_lit_rows_t rows = {height, 0};
  memset(s->lit, 0, VCS_ROWS_MAX);
  for (int32_t y = 0; pixels && y < height; y++) {
    const float *row = pixels + VCS_WIDTH * y;
    if (y % TOGETHER == 0 && vcs_all_zero(row, height - y < TOGETHER ? height - y : TOGETHER)) {
      y += TOGETHER - 1;
      continue;
    }
    s->lit[y] = !vcs_all_zero(row, 1);
    if (!s->lit[y]) continue;
    if (y < rows.first) rows.first = y;
    rows.behind = y + 1;
  }
  return rows;
}

#endif
