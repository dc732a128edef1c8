/* grad_text.c: derivatives in words (grad_text.h). */
#include "cli/grad_text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "plot/map.h"

/* What is listed as RAM, and as registers. */
enum { MEMORY = VCS_WRT_RAM | VCS_WRT_CARTRAM, REGISTERS = VCS_WRT_CPU | VCS_WRT_PC | VCS_WRT_TIA | VCS_WRT_RIOT };

/* ---- For people --------------------------------------------------------------------------------------------- */

static int largest_bit(const float *bits) {
  int largest = 0;
  for (int bit = 1; bit < 8; bit++) {
    if (fabsf(bits[bit]) > fabsf(bits[largest])) largest = bit;
  }
  return largest;
}

static void print_binary(vcs_text_t *text, uint8_t byte) {
  for (int bit = 7; bit >= 0; bit--) vcs_text_printf(text, "%d", byte >> bit & 1);
}

static void print_more(vcs_text_t *text, size_t count, int limit) {
  if (count > (size_t)limit) vcs_text_printf(text, "        ... and %zu more\n", count - (size_t)limit);
}

/* Prints a derivative, and beside the first ones the truth. */
enum { TRUTH_LINES = 32 };

static void print_derivative(const vcs_finding_t *f, const vcs_place_t *place, float value, bool with_truth,
                             vcs_text_t *text) {
  vcs_text_printf(text, "%10.4g  ", (double)value);
  if (with_truth) {
    vcs_text_printf(text, "%8.4g",
                    vcs_target_truth(&f->target, &f->setup->run, f->setup->env, place, f->attribution.value));
  } else {
    vcs_text_printf(text, "%8s", "-");
  }
}

static void print_rom(const vcs_finding_t *f, int limit, vcs_text_t *text) {
  const vcs_attribution_t *a = &f->attribution;
  vcs_text_printf(text, "\nROM: %u byte%s\n  rank  derivative     truth  bit  offset  address  byte      what it is\n",
                  (unsigned)a->ranked, a->ranked == 1 ? "" : "s");
  for (uint32_t i = 0; i < a->ranked && i < (uint32_t)limit; i++) {
    char address[16], what[64];
    const uint32_t offset = a->ranking[i];
    const float *bits = a->rom + 8 * (size_t)offset;
    const int bit = largest_bit(bits);
    vcs_rom_address(&a->uses[offset], offset, address, sizeof address);
    vcs_rom_describe(&a->uses[offset], what, sizeof what);
    const vcs_place_t place = {VCS_PLACE_ROM, (uint8_t)bit, 0, offset};
    vcs_text_printf(text, "  %4u  ", (unsigned)i + 1);
    print_derivative(f, &place, bits[bit], i < TRUTH_LINES, text);
    vcs_text_printf(text, "  %3d  %06X  %-7s  ", bit, (unsigned)offset, address);
    print_binary(text, vcs_cart_image(f->setup->cart)[offset]);
    vcs_text_printf(text, "  %s\n", what);
  }
  print_more(text, a->ranked, limit);
}

/* The truth is printed for RAM before the run only: for some bits of registers no machine has the flipped value. */
static void print_state(const vcs_finding_t *f, const char *title, const float *slots, const uint8_t *bytes, int wrt,
                        int limit, vcs_text_t *text) {
  vcs_ranked_t *list;
  size_t count;
  const bool with_truth = !f->forward && !(wrt & ~MEMORY);
  if (vcs_rank_state(f->setup->cart, slots, wrt, &list, &count, NULL)) text->failed = true;
  vcs_text_printf(text, "\n%s: %zu byte%s\n", title, count, count == 1 ? "" : "s");
  if (count) vcs_text_printf(text, "  rank  derivative     truth  bit  byte      where\n");
  for (size_t i = 0; i < count && i < (size_t)limit; i++) {
    const vcs_ranked_t *entry = &list[i];
    const int bit = largest_bit(entry->bits);
    const vcs_place_t place = {VCS_PLACE_STATE, (uint8_t)bit, 0, entry->index};
    vcs_text_printf(text, "  %4zu  ", i + 1);
    print_derivative(f, &place, entry->bits[bit], with_truth && i < TRUTH_LINES, text);
    vcs_text_printf(text, "  %3d  ", bit);
    print_binary(text, bytes[entry->index]);
    vcs_text_printf(text, "  %s\n", entry->name);
  }
  print_more(text, count, limit);
  vcs_text_release((char *)list);
}

static void print_inputs(const vcs_finding_t *f, vcs_text_t *text) {
  const int32_t frames = f->setup->run.frames;
  int count = 0;
  vcs_text_printf(text, "\nInputs, held for one frame of the run\n  derivative     truth\n");
  for (int32_t frame = 0; frame < frames; frame++) {
    for (int input = 0; input < VCS_INPUTS; input++) {
      const float value = f->attribution.input[VCS_INPUTS * (size_t)frame + (size_t)input];
      if (value == 0) continue;
      const vcs_place_t place = {VCS_PLACE_INPUT, 0, (uint16_t)frame, (uint32_t)input};
      vcs_text_printf(text, "  ");
      print_derivative(f, &place, value, count++ < TRUTH_LINES, text);
      vcs_text_printf(text, "  frame %3d  %s\n", (int)frame, vcs_input_name(input));
    }
  }
  if (!count) vcs_text_printf(text, "  none\n");
}

/* "52, x 83 to 91, y 97 to 116, largest 82" */
static void print_pixels(const vcs_finding_t *f, const float *pixels, vcs_text_t *text) {
  const int height = vcs_cart_info(f->setup->cart)->height;
  int moved = 0, top = height, bottom = 0, left = VCS_WIDTH, right = 0;
  for (int i = 0; i < VCS_WIDTH * height; i++) {
    if (pixels[i] == 0) continue;
    const int x = i % VCS_WIDTH, y = i / VCS_WIDTH;
    moved++;
    top = y < top ? y : top;
    bottom = y > bottom ? y : bottom;
    left = x < left ? x : left;
    right = x > right ? x : right;
  }
  vcs_text_printf(text, "%d pixel%s", moved, moved == 1 ? "" : "s");
  if (moved) {
    vcs_text_printf(text, ", x %d to %d, y %d to %d, largest %+.4g", left, right, top, bottom,
                    (double)vcs_map_largest(pixels, (size_t)(VCS_WIDTH * height)));
  }
}

static void print_agreement(const vcs_agreement_t *a, vcs_text_t *text) {
  vcs_text_printf(text, "%" PRId64 " right, %" PRId64 " missed, %" PRId64 " too many", a->in_both,
                  a->in_truth - a->in_both, a->in_estimate - a->in_both);
  if (a->in_truth && a->in_estimate) vcs_text_printf(text, "; cosine %.3f", vcs_agreement_cosine(a));
}

/* The exact effect, found by running again, then the estimate and how well it agrees. */
static void print_effect(const vcs_finding_t *f, vcs_text_t *text) {
  const vcs_agreement_t *pixels = &f->effect.pixels_agree, *ram = &f->effect.ram_agree;
  vcs_text_printf(text, "\nexact     ");
  print_pixels(f, f->effect.true_pixels, text);
  vcs_text_printf(text, "; %" PRId64 " bit%s of RAM\nestimate  ", ram->in_truth, ram->in_truth == 1 ? "" : "s");
  print_pixels(f, f->effect.pixels, text);
  vcs_text_printf(text, "; %" PRId64 " bit%s of RAM\nagrees    pixels: ", ram->in_estimate,
                  ram->in_estimate == 1 ? "" : "s");
  print_agreement(pixels, text);
  vcs_text_printf(text, "\n          bits of RAM: ");
  print_agreement(ram, text);
  vcs_text_printf(text, "\n");
  char why[256];
  if (!pixels->in_truth && !vcs_no_effect(&f->setup->run, &f->place, why, sizeof why, NULL)) {
    vcs_text_printf(text, "no pixel changes: %s\n", why);
  }
}

static void print_heading(const vcs_finding_t *f, vcs_text_t *text) {
  const vcs_setup_t *setup = f->setup;
  vcs_text_printf(text, "game      %s (profile %s)\n", f->name, vcs_profile_name(vcs_cart_info(setup->cart)->profile));
  vcs_text_printf(text, "run       %d frame%s without input after frame %" PRId64 "\n", (int)setup->run.frames,
                  setup->run.frames == 1 ? "" : "s", setup->frame);
  if (f->forward) {
    vcs_text_printf(text, "cause     %s\n", f->what);
  } else {
    vcs_text_printf(text, "output    %s = %g\n", f->what, f->attribution.value);
  }
  vcs_text_printf(text, "method    %s", f->method);
  if (f->window) vcs_text_printf(text, ", window %d", (int)f->window);
  vcs_text_printf(text, ", scale %s\n", f->scale);
  const vcs_grad_report_t *report = f->forward ? &f->effect.report : &f->attribution.report;
  if (report->forks) {
    vcs_text_printf(text, "forks     %" PRIu64 ", %" PRIu64 " of them rejoined the run\n", report->forks,
                    report->rejoined);
  }
}

void vcs_finding_print(const vcs_finding_t *f, int limit, vcs_text_t *text) {
  const uint8_t *start = (const uint8_t *)f->setup->run.start;
  const int memory = f->wrt & MEMORY, registers = f->wrt & REGISTERS;
  print_heading(f, text);
  if (f->forward) {
    print_effect(f, text);
    print_state(f, "RAM after the run", f->effect.state, (const uint8_t *)f->effect.ending.machine, MEMORY, limit,
                text);
    return;
  }
  if (f->attribution.rom) print_rom(f, limit, text);
  if (memory) print_state(f, "RAM", f->attribution.state, start, memory, limit, text);
  if (registers) print_state(f, "Registers", f->attribution.state, start, registers, limit, text);
  if (f->wrt & VCS_WRT_STATE) {
    print_state(f, "The whole machine", f->attribution.state, start, VCS_WRT_STATE, limit, text);
  }
  if (f->attribution.input) print_inputs(f, text);
}

/* ---- For programs ------------------------------------------------------------------------------------------- */

/* JSON has no infinity. */
static void json_number(vcs_text_t *text, float value) {
  if (isnan(value)) {
    vcs_text_printf(text, "null");
  } else {
    vcs_text_printf(text, "%.9g", (double)(isfinite(value) ? value : copysignf(FLT_MAX, value)));
  }
}

static void json_bits(vcs_text_t *text, const float *bits) {
  vcs_text_printf(text, "\"bits\": [");
  for (int bit = 0; bit < 8; bit++) {
    if (bit) vcs_text_printf(text, ", ");
    json_number(text, bits[bit]);
  }
  vcs_text_printf(text, "]}");
}

/* Begins an item of a list: with a comma unless it is the first. */
static void json_item(vcs_text_t *text, bool *first) {
  vcs_text_printf(text, "%s\n    ", *first ? "" : ",");
  *first = false;
}

static void json_rom(const vcs_finding_t *f, vcs_text_t *text) {
  const vcs_attribution_t *a = &f->attribution;
  bool first = true;
  vcs_text_printf(text, ",\n  \"rom\": [");
  for (uint32_t i = 0; i < a->ranked; i++) {
    char address[16], what[64];
    const uint32_t offset = a->ranking[i];
    vcs_rom_address(&a->uses[offset], offset, address, sizeof address);
    vcs_rom_describe(&a->uses[offset], what, sizeof what);
    json_item(text, &first);
    vcs_text_printf(text, "{\"offset\": %u, \"address\": \"%s\", \"byte\": %d, \"what\": ", (unsigned)offset, address,
                    vcs_cart_image(f->setup->cart)[offset]);
    vcs_text_json(text, what);
    vcs_text_printf(text, ", ");
    json_bits(text, a->rom + 8 * (size_t)offset);
  }
  vcs_text_printf(text, "\n  ]");
}

static void json_state(const vcs_finding_t *f, const char *key, const float *slots, const uint8_t *bytes, int wrt,
                       vcs_text_t *text) {
  vcs_ranked_t *list;
  size_t count;
  bool first = true;
  if (vcs_rank_state(f->setup->cart, slots, wrt, &list, &count, NULL)) text->failed = true;
  vcs_text_printf(text, ",\n  \"%s\": [", key);
  for (size_t i = 0; i < count; i++) {
    const vcs_ranked_t *entry = &list[i];
    json_item(text, &first);
    vcs_text_printf(text, "{\"where\": \"%s\", \"byte\": %d, ", entry->name, bytes[entry->index]);
    json_bits(text, entry->bits);
  }
  vcs_text_printf(text, "\n  ]");
  vcs_text_release((char *)list);
}

static void json_inputs(const vcs_finding_t *f, vcs_text_t *text) {
  bool first = true;
  vcs_text_printf(text, ",\n  \"input\": [");
  for (int32_t i = 0; i < VCS_INPUTS * f->setup->run.frames; i++) {
    if (f->attribution.input[i] == 0) continue;
    json_item(text, &first);
    vcs_text_printf(text, "{\"frame\": %d, \"input\": \"%s\", \"value\": ", (int)(i / VCS_INPUTS),
                    vcs_input_name(i % VCS_INPUTS));
    json_number(text, f->attribution.input[i]);
    vcs_text_printf(text, "}");
  }
  vcs_text_printf(text, "\n  ]");
}

static void json_pixels(const vcs_finding_t *f, vcs_text_t *text) {
  bool first = true;
  vcs_text_printf(text, ",\n  \"pixels\": [");
  for (int i = 0; i < VCS_WIDTH * vcs_cart_info(f->setup->cart)->height; i++) {
    if (f->effect.pixels[i] == 0) continue;
    json_item(text, &first);
    vcs_text_printf(text, "{\"x\": %d, \"y\": %d, \"value\": ", i % VCS_WIDTH, i / VCS_WIDTH);
    json_number(text, f->effect.pixels[i]);
    vcs_text_printf(text, "}");
  }
  vcs_text_printf(text, "\n  ]");
}

void vcs_finding_json(const vcs_finding_t *f, vcs_text_t *text) {
  const vcs_setup_t *setup = f->setup;
  const vcs_grad_report_t *report = f->forward ? &f->effect.report : &f->attribution.report;
  const uint8_t *start = (const uint8_t *)setup->run.start;
  const int memory = f->wrt & MEMORY, registers = f->wrt & REGISTERS;
  vcs_text_printf(text, "{\n  \"game\": ");
  vcs_text_json(text, f->name);
  vcs_text_printf(text, ",\n  \"profile\": \"%s\",\n  \"frame\": %" PRId64 ",\n  \"horizon\": %d,\n  \"%s\": ",
                  vcs_profile_name(vcs_cart_info(setup->cart)->profile), setup->frame, (int)setup->run.frames,
                  f->forward ? "moved_by" : "output");
  vcs_text_json(text, f->what);
  if (!f->forward) vcs_text_printf(text, ",\n  \"value\": %.9g", f->attribution.value);
  vcs_text_printf(text, ",\n  \"method\": \"%s\",\n  \"window\": %d,\n  \"scale\": \"%s\"", f->method, (int)f->window,
                  f->scale);
  vcs_text_printf(text, ",\n  \"instructions\": %" PRIu64 ",\n  \"forks\": %" PRIu64 ",\n  \"rejoined\": %" PRIu64,
                  report->instructions, report->forks, report->rejoined);
  if (f->forward) {
    json_pixels(f, text);
    json_state(f, "ram", f->effect.state, (const uint8_t *)f->effect.ending.machine, MEMORY, text);
  } else {
    if (f->attribution.rom) json_rom(f, text);
    if (memory) json_state(f, "ram", f->attribution.state, start, memory, text);
    if (registers) json_state(f, "registers", f->attribution.state, start, registers, text);
    if (f->wrt & VCS_WRT_STATE) json_state(f, "state", f->attribution.state, start, VCS_WRT_STATE, text);
    if (f->attribution.input) json_inputs(f, text);
  }
  vcs_text_printf(text, "\n}\n");
}
