/* grad_text.c: derivatives in words (grad_text.h). */
#include "cli/grad_text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/map.h"
#include "core/state.h"

/* ---- Groups ------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name, *fields; /* fields of the machine, with a blank around each */
} groups[] = {
    {"rom", NULL},
    {"ram", " ram cart_ram "},
    {"input", NULL},
    {"cpu", " a x y sp p "},
    {"tia",
     " collisions vsync vblank nusiz colu ctrlpf reflect pf grp grp_old enam enabl enabl_old hm vdelp vdelbl resmp "
     "pos "},
    {"riot", " timer timer_cycle timer_shift ddra port_a_out "},
};
enum { GROUPS = sizeof groups / sizeof *groups };

int vcs_wrt_read(const char *text) {
  int wrt = 0;
  for (const char *at = text;; at++) {
    const size_t length = strcspn(at, ",");
    int group = 0;
    while (group < GROUPS && !(strlen(groups[group].name) == length && strncmp(groups[group].name, at, length) == 0)) {
      group++;
    }
    if (group == GROUPS) return 0;
    wrt |= 1 << group;
    at += length;
    if (!*at) return wrt;
  }
}

static bool is_asked(int wrt, const char *field) {
  char word[40];
  snprintf(word, sizeof word, " %.36s ", field);
  for (int i = 0; i < GROUPS; i++) {
    if (wrt >> i & 1 && groups[i].fields && strstr(groups[i].fields, word)) return true;
  }
  return false;
}

/* ---- Bytes in order of importance --------------------------------------------------------------------------- */

typedef struct {
  const float *bits;
  uint32_t index;
  char name[32];
} entry_t;

typedef struct {
  entry_t *entries;
  size_t count, capacity;
  bool failed;
} entries_t;

static void add_entry(entries_t *list, const float *bits, uint32_t index, const char *name) {
  if (vcs_map_largest(bits, 8) == 0 || list->failed) return;
  if (list->count == list->capacity) {
    const size_t capacity = list->capacity ? 2 * list->capacity : 256;
    entry_t *entries = realloc(list->entries, capacity * sizeof *entries);
    list->failed = !entries;
    if (!entries) return;
    list->entries = entries;
    list->capacity = capacity;
  }
  entry_t *entry = &list->entries[list->count++];
  *entry = (entry_t){bits, index, ""};
  snprintf(entry->name, sizeof entry->name, "%s", name);
}

static int by_importance(const void *a, const void *b) {
  const entry_t *x = a, *y = b;
  const float first = fabsf(vcs_map_largest(x->bits, 8)), second = fabsf(vcs_map_largest(y->bits, 8));
  if (first != second) return first > second ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static void sort_entries(entries_t *list) {
  if (list->count) qsort(list->entries, list->count, sizeof *list->entries, by_importance);
}

/* Bytes of the fields that were asked for. */
static void list_state(const float *slots, int wrt, size_t size, entries_t *list) {
  const vcs_field_t *field;
  for (int i = 0; (field = vcs_field(i)); i++) {
    if (!is_asked(wrt, field->name)) continue;
    for (size_t n = 0; n < field->count; n++) {
      char name[32];
      const size_t offset = field->offset + n * field->size;
      if (offset >= size) break;
      if (strcmp(field->name, "ram") == 0) {
        snprintf(name, sizeof name, "$%02X", (unsigned)(0x80 + n));
      } else if (field->count > 1) {
        snprintf(name, sizeof name, "%.16s[%u]", field->name, (unsigned)n);
      } else {
        snprintf(name, sizeof name, "%.24s", field->name);
      }
      for (size_t byte = 0; byte < field->size; byte++) {
        add_entry(list, slots + 8 * (offset + byte), (uint32_t)(offset + byte), name);
      }
    }
  }
  sort_entries(list);
}

bool vcs_finding_rank(vcs_finding_t *finding) {
  entries_t list = {0};
  const uint32_t size = finding->setup->rom.cart->rom_size;
  for (uint32_t i = 0; i < size; i++) add_entry(&list, finding->rom + 8 * (size_t)i, i, "");
  sort_entries(&list);
  finding->ranking = malloc((list.count ? list.count : 1) * sizeof *finding->ranking);
  if (!finding->ranking) list.failed = true;
  for (size_t i = 0; !list.failed && i < list.count; i++) finding->ranking[i] = list.entries[i].index;
  finding->ranked = (uint32_t)list.count;
  free(list.entries);
  return !list.failed;
}

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

/* A derivative, and beside the first ones the truth. */
enum { TRUTH_LINES = 32 };

static void print_derivative(const vcs_finding_t *f, const vcs_place_t *place, float value, bool with_truth,
                             vcs_text_t *text) {
  vcs_text_printf(text, "%10.4g  ", (double)value);
  if (with_truth) {
    vcs_text_printf(text, "%8.4g", vcs_target_truth(f->target, f->setup, place, f->scale_values, f->value));
  } else {
    vcs_text_printf(text, "%8s", "-");
  }
}

static void print_rom(const vcs_finding_t *f, int limit, vcs_text_t *text) {
  vcs_text_printf(text, "\nROM: %u bytes\n  rank  derivative     truth  bit  offset  address  byte      what it is\n",
                  (unsigned)f->ranked);
  for (uint32_t i = 0; i < f->ranked && i < (uint32_t)limit; i++) {
    char address[16], what[64];
    const uint32_t offset = f->ranking[i];
    const float *bits = f->rom + 8 * (size_t)offset;
    const int bit = largest_bit(bits);
    vcs_rom_address(&f->uses[offset], offset, address, sizeof address);
    vcs_rom_describe(&f->uses[offset], what, sizeof what);
    const vcs_place_t place = {VCS_PLACE_ROM, (uint8_t)bit, 0, offset};
    vcs_text_printf(text, "  %4u  ", (unsigned)i + 1);
    print_derivative(f, &place, bits[bit], i < TRUTH_LINES, text);
    vcs_text_printf(text, "  %3d  %06X  %-7s  ", bit, (unsigned)offset, address);
    print_binary(text, f->setup->rom.cart->rom[offset]);
    vcs_text_printf(text, "  %s\n", what);
  }
  print_more(text, f->ranked, limit);
}

/* The truth is told of RAM before the run; a register may have no machine with its bit flipped. */
static void print_state(const vcs_finding_t *f, const char *title, const float *slots, const uint8_t *bytes, int wrt,
                        int limit, vcs_text_t *text) {
  entries_t list = {0};
  const size_t size = vcs_state_size(f->setup->rom.cart);
  const bool with_truth = !f->forward && wrt == VCS_WRT_RAM;
  list_state(slots, wrt, size, &list);
  vcs_text_printf(text, "\n%s: %zu bytes\n  rank  derivative     truth  bit  byte      where\n", title, list.count);
  for (size_t i = 0; i < list.count && i < (size_t)limit; i++) {
    const entry_t *entry = &list.entries[i];
    const int bit = largest_bit(entry->bits);
    const vcs_place_t place = {VCS_PLACE_STATE, (uint8_t)bit, 0, entry->index};
    vcs_text_printf(text, "  %4zu  ", i + 1);
    print_derivative(f, &place, entry->bits[bit], with_truth && i < TRUTH_LINES, text);
    vcs_text_printf(text, "  %3d  ", bit);
    print_binary(text, bytes[entry->index]);
    vcs_text_printf(text, "  %s\n", entry->name);
  }
  print_more(text, list.count, limit);
  if (list.failed) text->failed = true;
  free(list.entries);
}

static void print_inputs(const vcs_finding_t *f, vcs_text_t *text) {
  const int32_t frames = f->setup->run.frames;
  int count = 0;
  vcs_text_printf(text, "\nInputs, held in a frame of the run\n  derivative     truth\n");
  for (int32_t frame = 0; frame < frames; frame++) {
    for (int input = 0; input < VCS_INPUTS; input++) {
      const float value = f->input[VCS_INPUTS * (size_t)frame + (size_t)input];
      if (value == 0) continue;
      const vcs_place_t place = {VCS_PLACE_INPUT, 0, (uint16_t)frame, (uint32_t)input};
      vcs_text_printf(text, "  ");
      print_derivative(f, &place, value, count++ < TRUTH_LINES, text);
      vcs_text_printf(text, "  frame %3d  %s\n", (int)frame, vcs_input_name(input));
    }
  }
  if (!count) vcs_text_printf(text, "  none\n");
}

static void print_pixels(const vcs_finding_t *f, vcs_text_t *text) {
  const int height = f->setup->rom.cart->frame_height;
  int moved = 0, top = height, bottom = 0, left = VCS_WIDTH, right = 0;
  for (int i = 0; i < VCS_WIDTH * height; i++) {
    if (f->pixels[i] == 0) continue;
    const int x = i % VCS_WIDTH, y = i / VCS_WIDTH;
    moved++;
    top = y < top ? y : top;
    bottom = y > bottom ? y : bottom;
    left = x < left ? x : left;
    right = x > right ? x : right;
  }
  vcs_text_printf(text, "\nPixels: %d", moved);
  if (moved) {
    vcs_text_printf(text, ", rows %d to %d, columns %d to %d, largest %.4g", top, bottom, left, right,
                    (double)vcs_map_largest(f->pixels, (size_t)(VCS_WIDTH * height)));
  }
  vcs_text_printf(text, "\n");
}

static void print_agreement(const char *title, const vcs_agreement_t *a, vcs_text_t *text) {
  vcs_text_printf(text, "%s: %" PRId64 " true ones, %" PRId64 " found, %" PRId64 " of them true", title, a->in_truth,
                  a->in_estimate, a->in_both);
  if (a->in_truth && a->in_estimate) vcs_text_printf(text, "; cosine %.3f", vcs_agreement_cosine(a));
  vcs_text_printf(text, "\n");
}

static void print_heading(const vcs_finding_t *f, vcs_text_t *text) {
  const vcs_setup_t *setup = f->setup;
  vcs_text_printf(text, "game      %s (profile %s)\n", setup->rom.name,
                  vcs_profile_name(vcs_cart_info(setup->rom.cart)->profile));
  vcs_text_printf(text, "run       frame %" PRId64 " and %d of nothing\n", setup->frame, (int)setup->run.frames);
  if (f->forward) {
    vcs_text_printf(text, "moved by  %s\n", f->what);
  } else {
    vcs_text_printf(text, "output    %s = %g\n", f->what, f->value);
  }
  vcs_text_printf(text, "method    %s", f->method);
  if (f->window) vcs_text_printf(text, ", window %d", (int)f->window);
  vcs_text_printf(text, ", scale %s\n", f->scale);
  if (f->report.forks) {
    vcs_text_printf(text, "forks     %" PRIu64 ", of which %" PRIu64 " met the run again\n", f->report.forks,
                    f->report.rejoined);
  }
}

void vcs_finding_print(const vcs_finding_t *f, int limit, vcs_text_t *text) {
  const uint8_t *start = (const uint8_t *)f->setup->run.start;
  const int others = f->wrt & (VCS_WRT_CPU | VCS_WRT_TIA | VCS_WRT_RIOT);
  print_heading(f, text);
  if (f->forward) {
    print_pixels(f, text);
    print_agreement("Pixels beside the truth", &f->pixels_agree, text);
    print_agreement("RAM bits beside the truth", &f->ram_agree, text);
    print_state(f, "RAM after the run", f->end, (const uint8_t *)f->ending->machine, VCS_WRT_RAM, limit, text);
    return;
  }
  if (f->rom) print_rom(f, limit, text);
  if (f->wrt & VCS_WRT_RAM) print_state(f, "RAM", f->state, start, VCS_WRT_RAM, limit, text);
  if (others) print_state(f, "Registers", f->state, start, others, limit, text);
  if (f->input) print_inputs(f, text);
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

/* What comes before the item: a comma where it is not the first. */
static void json_item(vcs_text_t *text, bool *first) {
  vcs_text_printf(text, "%s\n    ", *first ? "" : ",");
  *first = false;
}

static void json_rom(const vcs_finding_t *f, vcs_text_t *text) {
  bool first = true;
  vcs_text_printf(text, ",\n  \"rom\": [");
  for (uint32_t i = 0; i < f->ranked; i++) {
    char address[16], what[64];
    const uint32_t offset = f->ranking[i];
    vcs_rom_address(&f->uses[offset], offset, address, sizeof address);
    vcs_rom_describe(&f->uses[offset], what, sizeof what);
    json_item(text, &first);
    vcs_text_printf(text, "{\"offset\": %u, \"address\": \"%s\", \"byte\": %d, \"what\": ", (unsigned)offset, address,
                    f->setup->rom.cart->rom[offset]);
    vcs_text_json(text, what);
    vcs_text_printf(text, ", ");
    json_bits(text, f->rom + 8 * (size_t)offset);
  }
  vcs_text_printf(text, "\n  ]");
}

static void json_state(const char *key, const float *slots, const uint8_t *bytes, int wrt, size_t size,
                       vcs_text_t *text) {
  entries_t list = {0};
  bool first = true;
  list_state(slots, wrt, size, &list);
  vcs_text_printf(text, ",\n  \"%s\": [", key);
  for (size_t i = 0; i < list.count; i++) {
    const entry_t *entry = &list.entries[i];
    json_item(text, &first);
    vcs_text_printf(text, "{\"where\": \"%s\", \"byte\": %d, ", entry->name, bytes[entry->index]);
    json_bits(text, entry->bits);
  }
  vcs_text_printf(text, "\n  ]");
  if (list.failed) text->failed = true;
  free(list.entries);
}

static void json_inputs(const vcs_finding_t *f, vcs_text_t *text) {
  bool first = true;
  vcs_text_printf(text, ",\n  \"input\": [");
  for (int32_t i = 0; i < VCS_INPUTS * f->setup->run.frames; i++) {
    if (f->input[i] == 0) continue;
    json_item(text, &first);
    vcs_text_printf(text, "{\"frame\": %d, \"input\": \"%s\", \"value\": ", (int)(i / VCS_INPUTS),
                    vcs_input_name(i % VCS_INPUTS));
    json_number(text, f->input[i]);
    vcs_text_printf(text, "}");
  }
  vcs_text_printf(text, "\n  ]");
}

static void json_pixels(const vcs_finding_t *f, vcs_text_t *text) {
  bool first = true;
  vcs_text_printf(text, ",\n  \"pixels\": [");
  for (int i = 0; i < VCS_WIDTH * f->setup->rom.cart->frame_height; i++) {
    if (f->pixels[i] == 0) continue;
    json_item(text, &first);
    vcs_text_printf(text, "{\"row\": %d, \"column\": %d, \"value\": ", i / VCS_WIDTH, i % VCS_WIDTH);
    json_number(text, f->pixels[i]);
    vcs_text_printf(text, "}");
  }
  vcs_text_printf(text, "\n  ]");
}

void vcs_finding_json(const vcs_finding_t *f, vcs_text_t *text) {
  const vcs_setup_t *setup = f->setup;
  const size_t size = vcs_state_size(setup->rom.cart);
  const uint8_t *start = (const uint8_t *)setup->run.start;
  const int others = f->wrt & (VCS_WRT_CPU | VCS_WRT_TIA | VCS_WRT_RIOT);
  vcs_text_printf(text, "{\n  \"game\": ");
  vcs_text_json(text, setup->rom.name);
  vcs_text_printf(text, ",\n  \"profile\": \"%s\",\n  \"frame\": %" PRId64 ",\n  \"horizon\": %d,\n  \"%s\": ",
                  vcs_profile_name(vcs_cart_info(setup->rom.cart)->profile), setup->frame, (int)setup->run.frames,
                  f->forward ? "moved_by" : "output");
  vcs_text_json(text, f->what);
  if (!f->forward) vcs_text_printf(text, ",\n  \"value\": %.9g", f->value);
  vcs_text_printf(text, ",\n  \"method\": \"%s\",\n  \"window\": %d,\n  \"scale\": \"%s\"", f->method, (int)f->window,
                  f->scale);
  vcs_text_printf(text, ",\n  \"instructions\": %" PRIu64 ",\n  \"forks\": %" PRIu64 ",\n  \"rejoined\": %" PRIu64,
                  f->report.instructions, f->report.forks, f->report.rejoined);
  if (f->forward) {
    json_pixels(f, text);
    json_state("ram", f->end, (const uint8_t *)f->ending->machine, VCS_WRT_RAM, size, text);
  } else {
    if (f->rom) json_rom(f, text);
    if (f->wrt & VCS_WRT_RAM) json_state("ram", f->state, start, VCS_WRT_RAM, size, text);
    if (others) json_state("registers", f->state, start, others, size, text);
    if (f->input) json_inputs(f, text);
  }
  vcs_text_printf(text, "\n}\n");
}
