/* annotate_probe.c: sets bytes to other values and runs a few frames (annotate_probe.h). */
#include "study/annotate_probe.h"

#include <stdlib.h>
#include <string.h>

#include "host/games.h"

enum { QUIET = 4 }; /* if so many probes have no effect, the remaining ones are left out */

void vcs_bench_frame(const vcs_cart_t *cart, vcs_bench_t *b, vcs_shown_t *shown) {
  const int32_t count = vcs_frame_objects(cart, &b->m, b->frames, b->objects, VCS_OBJECTS_MAX);
  vcs_shown_take(b->objects, count < VCS_OBJECTS_MAX ? count : VCS_OBJECTS_MAX, shown);
}

void vcs_bench_base(const vcs_cart_t *cart, const uint8_t *machine, vcs_bench_t *b) {
  memcpy(&b->m, machine, vcs_state_size(cart));
  memset(b->frames, 0, sizeof b->frames);
  for (int t = 0; t < VCS_PROBE_LATER; t++) {
    memcpy(b->base_ram[t], b->m.ram, VCS_RAM_SIZE);
    if (t < VCS_PROBE_FRAMES) {
      vcs_bench_frame(cart, b, &b->base[t]);
      memcpy(b->base_frames[t], vcs_picture(&b->m, b->frames), (size_t)VCS_WIDTH * (size_t)cart->height);
      memcpy(&b->base_machine[t], &b->m, vcs_state_size(cart));
    } else {
      vcs_frame(cart, &b->m, NULL);
    }
  }
  memcpy(b->base_ram[VCS_PROBE_LATER], b->m.ram, VCS_RAM_SIZE);
}

void vcs_probe_byte(const vcs_survey_t *w, const vcs_moment_t *moment, int byte, vcs_evidence_t *e, vcs_bench_t *b) {
  const vcs_cart_t *cart = w->cart;
  const uint8_t value = b->base_ram[0][byte];
  const size_t size = vcs_state_size(cart), offset = offsetof(vcs_t, ram) + (size_t)byte;
  memset(b->diff, 0, sizeof b->diff);
  for (int p = 0; p < VCS_PROBES; p++) {
    for (int t = 0; t < VCS_PROBE_FRAMES; t++) b->diff[p][t].object = b->diff[p][t].moved = -1;
  }
  bool quiet = true;
  for (int p = 0; p < VCS_PROBES; p++) {
    if (p == QUIET && quiet) {
      if (e->overwritten == QUIET) e->overwritten = VCS_PROBES;
      break;
    }
    memcpy(&b->m, moment->machine, size);
    memset(b->frames, 0, sizeof b->frames); /* rows that the beam does not reach are those of the run without it */
    ((uint8_t *)&b->m)[offset] = vcs_probe_value(value, p);
    int8_t early[VCS_RAM_SIZE] = {0};
    bool gone = false; /* the machine is equal to that of the run without the change, and stays equal */
    for (int t = 0; t < VCS_PROBE_FRAMES && !gone; t++) {
      vcs_bench_frame(cart, b, &b->shown);
      const uint8_t *picture = vcs_picture(&b->m, b->frames);
      vcs_shown_diff_t *d = &b->diff[p][t];
      if (t == 0) {
        e->overwritten += b->m.ram[byte] == b->base_ram[1][byte];
      }
      if (t == 1) {
        for (int i = 0; i < VCS_RAM_SIZE; i++) early[i] = (int8_t)(b->m.ram[i] - b->base_ram[2][i]);
      }
      if (memcmp(picture, b->base_frames[t], (size_t)VCS_WIDTH * (size_t)cart->height) != 0) {
        quiet = false;
        vcs_shown_compare(&b->base[t], &b->shown, d, NULL, 0);
        vcs_shown_pixels(b->base_frames[t], picture, cart->height, d);
      }
      gone = memcmp(&b->m, &b->base_machine[t], size) == 0;
    }
    if (gone) continue;
    bool others = false;
    for (int i = 0; i < VCS_RAM_SIZE && !others; i++)
      others = i != byte && b->m.ram[i] != b->base_ram[VCS_PROBE_FRAMES][i];
    e->others += others;
    if (!others) continue;
    quiet = false;
    if (p >= QUIET) continue; /* a few probes are enough to see a velocity */
    for (int t = VCS_PROBE_FRAMES; t < VCS_PROBE_LATER; t++) vcs_frame(cart, &b->m, NULL);
    for (int i = 0; i < VCS_RAM_SIZE; i++) {
      const int late = (int8_t)(b->m.ram[i] - b->base_ram[VCS_PROBE_LATER][i]);
      if (i != byte && late && abs(late) > abs(early[i]) && abs(late) <= 64 &&
          (early[i] == 0 || (early[i] > 0) == (late > 0)))
        e->drives[i]++;
    }
  }
  vcs_judge_byte(b, cart->height, value, e);
  if (!w->plays.code) return;
  vcs_play_t base = moment->play; /* what the rules make of RAM with and without the change */
  uint8_t ram[VCS_RAM_SIZE];
  memcpy(ram, b->base_ram[0], VCS_RAM_SIZE);
  vcs_game_code_step(w->plays.code, &base, ram, b->m.cart_ram);
  for (int p = 0; p < VCS_PROBES; p++) {
    vcs_play_t play = moment->play;
    ram[byte] = vcs_probe_value(value, p);
    vcs_game_code_step(w->plays.code, &play, ram, b->m.cart_ram);
    e->score += play.score != base.score;
    e->reward += play.reward != base.reward;
    e->lives += play.lives != base.lives && play.over == base.over;
  }
}

/* Marks the bytes that one frame pushes on the stack. */
static void find_pushes(const vcs_cart_t *cart, vcs_survey_state_t *s, vcs_bench_t *b) {
  vcs_step_t step = {0};
  memcpy(&b->m, s->moment->machine, vcs_state_size(cart));
  vcs_frame_begin(cart, &b->m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !b->m.jammed && !step.frame_over; i++) {
    const uint8_t before = b->m.sp;
    vcs_step(cart, &b->m, NULL, &step);
    const uint8_t pushes = step.opcode == 0x20                          ? 2
                           : step.opcode == 0x48 || step.opcode == 0x08 ? 1
                           : step.opcode == 0                           ? 3
                                                                        : 0;
    for (uint8_t k = 0; k < pushes; k++) {
      const uint8_t at = (uint8_t)(before - k);
      if (at >= 0x80) s->byte[at - 0x80].pushed = 1;
    }
  }
}

/* Finds the bytes that each control changes within four frames, against the same frames without any. */
static void find_controls(const vcs_cart_t *cart, vcs_survey_state_t *s, vcs_bench_t *b) {
  static const uint8_t held[] = {0, VCS_HELD_UP, VCS_HELD_DOWN, VCS_HELD_LEFT, VCS_HELD_RIGHT, VCS_HELD_FIRE};
  uint8_t idle[VCS_RAM_SIZE];
  for (size_t i = 0; i < sizeof held; i++) {
    memcpy(&b->m, s->moment->machine, vcs_state_size(cart));
    vcs_controls_t controls = {.held = {held[i], 0}};
    for (int k = 0; k < 4; k++) controls.paddle[k] = b->m.paddle[k];
    vcs_control(cart, &b->m, &controls);
    for (int t = 0; t < 4; t++) vcs_frame(cart, &b->m, NULL);
    for (int k = 0; k < VCS_RAM_SIZE; k++) {
      if (i == 0) {
        idle[k] = b->m.ram[k];
      } else if (b->m.ram[k] != idle[k]) {
        s->controls[k] |= held[i];
      }
    }
  }
}

bool vcs_probe_state(void *context, size_t item, int worker) {
  vcs_survey_t *w = context;
  (void)worker;
  vcs_bench_t *b = malloc(sizeof *b);
  vcs_survey_state_t *s = &w->states[item];
  if (!b) {
    w->failed = true;
    return false;
  }
  vcs_bench_base(w->cart, s->moment->machine, b);
  for (int byte = 0; byte < VCS_RAM_SIZE; byte++) vcs_probe_byte(w, s->moment, byte, &s->byte[byte], b);
  find_pushes(w->cart, s, b);
  find_controls(w->cart, s, b);
  free(b);
  return vcs_steps_add(w->steps, 1);
}
