/* console.h: the machine as a whole: power-on, reset, one frame.
 *
 * A frame runs from the end of one VSYNC to the end of the next, at most VCS_FRAME_INSTRUCTIONS instructions. If it
 * does not reach a VSYNC in that many, the frame is partial: the rest of the picture is greyed and the next call
 * continues the same frame. The two frame buffers are exchanged when a frame begins; rows that the beam does not reach
 * keep what they showed two frames before.
 *
 * Reset does what the reference's reset does, not what a power switch does. RAM survives, and so do the frame count,
 * the order of the buffers, the flag of an unfinished frame, and the sound. So the frames that ran before it seed the
 * first episode of a game.
 */
#ifndef VCS_CORE_CONSOLE_H
#define VCS_CORE_CONSOLE_H

#include "run.h"
#include "tia_audio.h"

/* Makes the present the origin of all times. */
VCS_FN void vcs_console_rebase(const vcs_cart_t *cart, vcs_t *m) {
  vcs_riot_rebase(m);
  vcs_tia_rebase(m);
  vcs_cart_rebase_cycles(cart, m);
  m->cycles = 0;
}

VCS_FN void vcs_console_reset(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_console_rebase(cart, m);
  vcs_riot_reset(cart, m);
  vcs_tia_reset(m);
  if (frames) {
    for (int i = 0; i < 2 * VCS_FRAME_BYTES; i++) frames[i] = 0;
  }
  vcs_cart_reset(cart, m);
  vcs_cpu_reset(cart, m);
}

/* Returns a paddle's resistance while LEFT or RIGHT turns its knob by one step. */
VCS_FN int32_t vcs_turned(int32_t resistance, bool left, bool right) {
  int64_t turned = resistance;
  if (left) turned += VCS_PADDLE_STEP;
  if (right) turned -= VCS_PADDLE_STEP;
  if (turned < VCS_RESISTANCE_MIN) turned = VCS_RESISTANCE_MIN;
  if (turned > VCS_RESISTANCE_MAX) turned = VCS_RESISTANCE_MAX;
  return (int32_t)turned;
}

/* Sets the pins of the two ports from the controls.
 *
 *   joystick, booster grip   four switches, fire; the grip's two extra buttons short its pot inputs
 *   paddles                  two resistances, one step more or less while LEFT or RIGHT is held; their buttons are
 *                            on the pins of LEFT and RIGHT
 *   driving                  two pins of Gray code that riot.h turns, fire
 *   keyboard                 a matrix that riot.h and tia.h scan
 */
VCS_FN void vcs_console_control(const vcs_cart_t *cart, vcs_t *m, const vcs_controls_t *controls) {
  m->swcha = 0;
  for (int port = 0; port < 2; port++) {
    int player = port ^ cart->swap_ports;
    uint8_t held = controls->held[player], pins = 15;
    int32_t nine = VCS_RESISTANCE_MAX, five = VCS_RESISTANCE_MAX;
    m->fire[port] = !(held & VCS_HELD_FIRE);
    switch (cart->controller[port]) {
      case VCS_CONTROLLER_PADDLES:
        if (held & VCS_HELD_FIRE) pins &= cart->swap_paddles ? ~4 : ~8;
        if (held & VCS_HELD_FIRE_2) pins &= cart->swap_paddles ? ~8 : ~4;
        m->fire[port] = 1;
        nine = vcs_turned(controls->paddle[2 * player], held & VCS_HELD_LEFT, held & VCS_HELD_RIGHT);
        five = vcs_turned(controls->paddle[2 * player + 1], held & VCS_HELD_DOWN, held & VCS_HELD_UP);
        if (cart->swap_paddles) {
          const int32_t first = nine;
          nine = five;
          five = first;
        }
        break;
      case VCS_CONTROLLER_DRIVING:
        pins = 12;
        m->turn[port] = held & VCS_HELD_LEFT ? 2 : held & VCS_HELD_RIGHT ? 1 : 0;
        break;
      case VCS_CONTROLLER_KEYBOARD:
        m->keypad[2 * port] = (uint8_t)controls->keys[player];
        m->keypad[2 * port + 1] = (uint8_t)(controls->keys[player] >> 8);
        break;
      case VCS_CONTROLLER_BOOSTER:
        if (held & VCS_HELD_FIRE_2) five = VCS_RESISTANCE_MIN;
        if (held & VCS_HELD_TRIGGER) nine = VCS_RESISTANCE_MIN;
        pins = 15 & ~held;
        break;
      default:
        pins = 15 & ~held;
        break;
    }
    m->swcha |= (uint8_t)(port ? pins : pins << 4);
    m->paddle[2 * port] = nine;
    m->paddle[2 * port + 1] = five;
  }
  m->swchb = (uint8_t)((m->swchb | 3) & ~(controls->console & 3));
}

/* Power-on: everything is zero but the chips' power-on contents, and no control is held. The caller must reset next. */
VCS_FN void vcs_console_power_on(const vcs_cart_t *cart, vcs_t *m) {
  uint8_t *bytes = (uint8_t *)m;
  for (size_t i = 0; i < offsetof(vcs_t, cart_ram) + cart->ram_size; i++) bytes[i] = 0;
  m->swchb = cart->switches;
  vcs_controls_t idle = {{0, 0}, {0, 0, 0, 0}, {0, 0}, 0};
  vcs_console_control(cart, m, &idle);
  vcs_riot_power_on(cart, m);
  vcs_riot_reset(cart, m);
  vcs_audio_power_on(m);
  vcs_cart_init(cart, m);
}

/* Returns the number of lines since the frame began. */
VCS_FN int32_t vcs_console_scanline(const vcs_t *m) {
  return (int32_t)((m->cycles * 3 - (uint32_t)m->frame_clock) / VCS_LINE_CLOCKS);
}

/* The new frame's first line begins where the CPU's present line began: VSYNC does not reset the TIA's line counter. */
VCS_FN void vcs_console_begin_frame(const vcs_cart_t *cart, vcs_t *m) {
  m->front ^= 1;
  uint32_t clocks = (m->cycles * 3 - (uint32_t)m->frame_clock) % VCS_LINE_CLOCKS;
  vcs_console_rebase(cart, m);
  m->frame_clock = -(int32_t)clocks;
  m->line = m->first_line = cart->top_line;
  m->line_clock = 0;
  m->seen_clock = m->seen_before = VCS_LINE_CLOCKS * cart->top_line;
  m->blank_clock = m->blank_first = 0;
  m->greyed = 0;
  if (cart->colour_loss) {
    for (int i = 0; i < 4; i++) m->colu[i] = (m->colu[i] & 0xFE) | (m->scanlines & 1);
  }
}

/* Greys the rows from the beam down: they lose their hue and half their luminance. */
VCS_SLOW_FN void vcs_console_grey(const vcs_cart_t *cart, const vcs_t *m, uint8_t *frames) {
  int32_t row = vcs_console_scanline(m) - cart->top_line;
  uint8_t *frame = frames + m->front * VCS_FRAME_BYTES;
  for (int32_t i = VCS_WIDTH * (row < 0 ? 0 : row); i < VCS_WIDTH * cart->height; i++) frame[i] = (frame[i] & 15) >> 1;
}

/* A frame in three parts: begin it unless the last one is unfinished, run it, and finish it. */
VCS_FN void vcs_console_start_frame(const vcs_cart_t *cart, vcs_t *m) {
  if (!m->partial) vcs_console_begin_frame(cart, m);
  m->partial = 1;
}

VCS_FN void vcs_console_finish_frame(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video) {
  vcs_tia_catch_up(m, video);
  if (m->partial) {
    if (video->frames && !m->greyed) vcs_console_grey(cart, m, video->frames);
    m->greyed = 1;
  } else {
    m->scanlines = vcs_console_scanline(m);
    m->frames++;
  }
}

/* `frames` is two buffers of VCS_FRAME_BYTES, or NULL when the frame is not drawn. */
VCS_SLOW_FN void vcs_console_frame(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_video_t video;
  vcs_video_start(&video, cart, frames);
  vcs_console_start_frame(cart, m);
  vcs_cpu_run(cart, m, &video, VCS_FRAME_INSTRUCTIONS);
  vcs_console_finish_frame(cart, m, &video);
}

/* Powers on as the reference does. If the television format is unknown, it runs 60 frames to count lines and resets
 * again. Returns whether the format looks like PAL: half of the last 30 frames had more than 285 lines. */
VCS_SLOW_FN bool vcs_console_boot(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  int long_frames = 0;
  vcs_console_power_on(cart, m);
  if (cart->probed) {
    vcs_cart_t probe = *cart;
    probe.max_lines = 290;
    probe.colour_loss = 0;
    probe.height = cart->probe_height;
    vcs_console_reset(&probe, m, NULL);
    for (int i = 0; i < 60; i++) {
      vcs_console_frame(&probe, m, NULL);
      if (i >= 30 && vcs_console_scanline(m) > 285) long_frames++;
    }
  }
  vcs_console_reset(cart, m, frames);
  return long_frames >= 15;
}

#endif
