/* places.c: groups of bits, and lists of bits by group and by name (study.h).
 *
 * A group is a list of fields of the machine, except for ROM and inputs. The table here is the only one: the lists of
 * flips, the derivatives that `grad` prints and Python's `wrt` all use it. Fields whose values need fewer bits than
 * their type has are listed with their width, so that a list has no bits that do not exist.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/cart.h"
#include "host/cartridge.h"
#include "study/internal.h"

/* Group i is bit i of the VCS_WRT_ constants. */
static const struct {
  const char *name, *fields; /* fields: with a blank around each; NULL: not of the machine, or all of it */
} groups[] = {
    {"rom", NULL},
    {"ram", " ram "},
    {"input", NULL},
    {"cpu", " a x y sp p "},
    {"tia",
     " collisions vsync vblank nusiz colu ctrlpf reflect pf grp grp_old enam enabl enabl_old hm vdelp vdelbl resmp pos "
     "first_copy_off pf_mirrored hmove_blank stars stars_phase stars_shape dump audio "},
    {"riot", " timer timer_shift timer_was_read ddra port_a_out "},
    {"pc", " pc "},
    {"cartram", " cart_ram "},
    {"state", NULL},
};
enum { ROM, RAM, INPUT, CARTRAM = 7, STATE, GROUPS = sizeof groups / sizeof *groups };
_Static_assert(VCS_WRT_ROM == 1 << ROM && VCS_WRT_RAM == 1 << RAM && VCS_WRT_INPUT == 1 << INPUT &&
                   VCS_WRT_CARTRAM == 1 << CARTRAM && VCS_WRT_STATE == 1 << STATE,
               "the constants of study.h are in the order of the table");

static const struct {
  const char *fields;
  unsigned bits;
} widths[] = {
    {" jammed partial greyed front timer_was_read fire vdelp vdelbl first_copy_off pf_mirrored hmove_blank stars dump ",
     1},
    {" turn stars_phase stars_shape ", 2},
    {" timer_shift hm ", 4},
    {" wheel ", 7},
    {" collisions ", 15},
};

/* ---- Lists -------------------------------------------------------------------------------------------------- */

static bool is_listed(const char *fields, const char *name, size_t length) {
  for (const char *at = fields; (at = strstr(at, name)); at += length) {
    if (at[-1] == ' ' && at[length] == ' ') return true;
  }
  return false;
}

static unsigned width_of(const vcs_field_t *field) {
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    if (is_listed(widths[i].fields, field->name, strlen(field->name))) return widths[i].bits;
  }
  return 8 * (unsigned)field->size;
}

typedef struct {
  const vcs_run_t *run;
  vcs_places_t *out;
  size_t capacity;
  int first_group; /* of the places so far; -1: none; GROUPS: several */
  int *groups;     /* by place */
  bool failed;
} list_t;

/* Room for one more. */
static bool grow(list_t *list) {
  vcs_places_t *out = list->out;
  if (out->count < list->capacity) return true;
  list->capacity = list->capacity ? 2 * list->capacity : 1024;
  vcs_place_t *places = realloc(out->places, list->capacity * sizeof *places);
  if (places) out->places = places;
  void *labels = realloc(out->labels, list->capacity * sizeof *out->labels);
  if (labels) out->labels = labels;
  int *numbers = realloc(list->groups, list->capacity * sizeof *numbers);
  if (numbers) list->groups = numbers;
  return places && labels && numbers;
}

static void add(list_t *list, int group, vcs_place_t place, const char *byte, unsigned bit) {
  vcs_places_t *out = list->out;
  list->failed = list->failed || !grow(list);
  if (list->failed || !list->groups) return;
  list->first_group = list->first_group < 0 || list->first_group == group ? group : GROUPS;
  list->groups[out->count] = group;
  out->places[out->count] = place;
  snprintf(out->labels[out->count++], VCS_PLACE_LABEL_SIZE, "%s\t%u", byte, bit);
}

/* Puts the group before the byte if there are several groups. */
static void name_groups(list_t *list) {
  for (size_t i = 0; list->first_group == GROUPS && i < list->out->count; i++) {
    char label[VCS_PLACE_LABEL_SIZE];
    snprintf(label, sizeof label, "%.12s:%.48s", groups[list->groups[i]].name, list->out->labels[i]);
    memcpy(list->out->labels[i], label, sizeof label);
  }
}

/* Bits [from, to) of element `n` of a field. */
static void add_element(list_t *list, int group, const vcs_field_t *field, size_t n, unsigned from, unsigned to) {
  char byte[48];
  if (group == RAM || group == CARTRAM) {
    snprintf(byte, sizeof byte, "%zu", n);
  } else if (field->count > 1) {
    snprintf(byte, sizeof byte, "%.30s[%zu]", field->name, n);
  } else {
    snprintf(byte, sizeof byte, "%.30s", field->name);
  }
  for (unsigned bit = from; bit < to; bit++) {
    const size_t index = field->offset + n * field->size + bit / 8;
    if (index >= vcs_state_size(list->run->cart)) return;
    add(list, group, (vcs_place_t){VCS_PLACE_STATE, (uint8_t)(bit & 7), 0, (uint32_t)index}, byte, bit);
  }
}

static void add_rom(list_t *list, uint32_t offset, unsigned from, unsigned to) {
  char byte[16];
  snprintf(byte, sizeof byte, "%u", (unsigned)offset);
  for (unsigned bit = from; bit < to; bit++) {
    add(list, ROM, (vcs_place_t){VCS_PLACE_ROM, (uint8_t)bit, 0, offset}, byte, bit);
  }
}

static void add_input(list_t *list, int32_t frame, uint32_t input) {
  char byte[32];
  snprintf(byte, sizeof byte, "%d.%s", (int)frame, vcs_input_name((int)input));
  add(list, INPUT, (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)frame, input}, byte, 0);
}

static void add_group(list_t *list, int group) {
  const vcs_field_t *field;
  if (group == ROM) {
    for (uint32_t i = 0; i < list->run->cart->rom_size; i++) add_rom(list, i, 0, 8);
  } else if (group == INPUT) {
    for (int32_t frame = 0; frame < list->run->frames; frame++) {
      for (uint32_t i = 0; i < VCS_INPUTS; i++) add_input(list, frame, i);
    }
  } else {
    for (int i = 0; (field = vcs_field(i)); i++) {
      if (group != STATE && !is_listed(groups[group].fields, field->name, strlen(field->name))) continue;
      for (size_t n = 0; n < field->count; n++) add_element(list, group, field, n, 0, width_of(field));
    }
  }
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* The group whose name is at `text`, up to a comma or the end; -1: none. */
static int group_at(const char *text) {
  const size_t length = strcspn(text, ",");
  for (int i = 0; i < GROUPS; i++) {
    if (strlen(groups[i].name) == length && strncmp(groups[i].name, text, length) == 0) return i;
  }
  return -1;
}

int vcs_wrt_parse(const char *text) {
  int wrt = 0;
  for (const char *at = text;; at++) {
    const int group = group_at(at);
    if (group < 0) return 0;
    wrt |= 1 << group;
    at += strcspn(at, ",");
    if (!*at) return wrt;
  }
}

bool vcs_wrt_has(int wrt, const char *field) {
  const size_t length = strlen(field);
  if (wrt & VCS_WRT_STATE) return true;
  for (int i = 0; i < GROUPS; i++) {
    if (wrt >> i & 1 && groups[i].fields && is_listed(groups[i].fields, field, length)) return true;
  }
  return false;
}

static vcs_status_t add_groups(list_t *list, const char *text, vcs_error_t *error) {
  for (const char *at = text;; at++) {
    const int group = group_at(at), length = (int)strcspn(at, ",");
    if (group < 0) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                            "groups of bits are " VCS_WRT_NAMES ", or several of them with commas, not '%.*s'",
                            length < 60 ? length : 60, at);
    }
    add_group(list, group);
    at += length;
    if (!*at) return VCS_OK;
  }
}

#define WRITTEN "ram:9C.3, rom:F123.4, rom:@1F0.4 (an offset in the image), a.0, grp[1].0, input:0.left"

/* Reads a whole number at *at and advances *at to its end; -1: none. */
static int64_t read_number(const char **at, int base) {
  char *end;
  if (!isxdigit((unsigned char)**at)) return -1;
  const long long value = strtoll(*at, &end, base);
  if (end == *at || value > UINT32_MAX) return -1;
  *at = end;
  return value;
}

/* Reads the end of a bit's name: ".3" is one bit, an empty text all eight. False: any other text. */
static bool read_bits(const char *at, unsigned width, unsigned *from, unsigned *to) {
  *from = 0;
  *to = width;
  if (!*at) return true;
  if (*at++ != '.') return false;
  const int64_t bit = read_number(&at, 10);
  if (bit < 0 || bit >= width || *at) return false;
  *from = (unsigned)bit;
  *to = *from + 1;
  return true;
}

static const vcs_field_t *field_by_name(const char *name, size_t length) {
  const vcs_field_t *field;
  for (int i = 0; (field = vcs_field(i)); i++) {
    if (strlen(field->name) == length && strncmp(field->name, name, length) == 0) return field;
  }
  return NULL;
}

/* The first group that has a field, or all of the state. */
static int group_of(const vcs_field_t *field) {
  for (int i = 0; i < STATE; i++) {
    if (groups[i].fields && is_listed(groups[i].fields, field->name, strlen(field->name))) return i;
  }
  return STATE;
}

static bool add_field_bits(list_t *list, const vcs_field_t *field, int64_t n, const char *rest) {
  unsigned from, to;
  if (n < 0 || (size_t)n >= field->count || !read_bits(rest, width_of(field), &from, &to)) return false;
  const size_t before = list->out->count;
  add_element(list, group_of(field), field, (size_t)n, from, to);
  return list->out->count > before;
}

/* Reads "@1F0", an offset in the image, or "F123", an address in the bank that is present when the run begins. -1:
 * none.
 */
static int64_t read_rom_offset(const vcs_run_t *run, const char **at) {
  if (**at == '@') {
    ++*at;
    return read_number(at, 16);
  }
  const int64_t address = read_number(at, 16);
  if (address < 0 || address > 0xFFFF || !(address & 0x1000)) return -1;
  return vcs_cart_read_place(run->cart, run->start, (uint16_t)address);
}

/* Adds one item of a list of bits. */
static bool add_item(list_t *list, const char *item) {
  unsigned from, to;
  const char *at = item;
  if (strncmp(item, "rom:", 4) == 0) {
    at = item + 4;
    const int64_t offset = read_rom_offset(list->run, &at);
    if (offset < 0 || offset >= list->run->cart->rom_size || !read_bits(at, 8, &from, &to)) return false;
    add_rom(list, (uint32_t)offset, from, to);
    return true;
  }
  if (strncmp(item, "cartram:", 8) == 0) {
    at = item + 8;
    const int64_t offset = read_number(&at, 16);
    return add_field_bits(list, field_by_name("cart_ram", 8), offset, at);
  }
  if (strncmp(item, "input:", 6) == 0) {
    at = item + 6;
    const int64_t frame = read_number(&at, 10);
    const int input = *at == '.' ? vcs_input_by_name(at + 1) : -1;
    if (frame < 0 || frame >= list->run->frames || input < 0) return false;
    add_input(list, (int32_t)frame, (uint32_t)input);
    return true;
  }
  const bool prefixed = strncmp(item, "ram:", 4) == 0;
  const vcs_field_t *field = prefixed ? NULL : field_by_name(item, strcspn(item, "[."));
  if (!field) { /* RAM by its address */
    if (prefixed) at += 4;
    const int64_t address = read_number(&at, 16);
    return address >= 0x80 && address <= 0xFF && add_field_bits(list, field_by_name("ram", 3), address - 0x80, at);
  }
  at += strlen(field->name);
  int64_t n = 0;
  if (*at == '[') {
    at++;
    n = read_number(&at, 10);
    if (n < 0 || *at++ != ']') return false;
  }
  return add_field_bits(list, field, n, at);
}

static vcs_status_t add_bits(list_t *list, const char *text, vcs_error_t *error) {
  char item[64];
  for (const char *at = text;; at++) {
    const size_t length = strcspn(at, ",");
    snprintf(item, sizeof item, "%.*s", (int)length, at);
    if (length >= sizeof item || !add_item(list, item)) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                            "there is no bit '%.60s' in this run; bits are written as " WRITTEN, item);
    }
    at += length;
    if (!*at) return VCS_OK;
  }
}

/* ---- The two lists ------------------------------------------------------------------------------------------ */

static vcs_status_t list_places(const vcs_run_t *run, const char *text,
                                vcs_status_t (*add_all)(list_t *list, const char *text, vcs_error_t *error),
                                vcs_places_t *places, vcs_error_t *error) {
  list_t list = {.run = run, .out = places, .first_group = -1};
  *places = (vcs_places_t){0};
  vcs_status_t status = add_all(&list, text, error);
  if (status == VCS_OK && list.failed) status = vcs_no_memory(error);
  if (status == VCS_OK && places->count == 0) {
    status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "this cartridge has no bits of '%.60s'", text);
  }
  if (status == VCS_OK) name_groups(&list);
  free(list.groups);
  if (status) vcs_places_free(places);
  return status;
}

vcs_status_t vcs_places_of_groups(const vcs_run_t *run, const char *groups, vcs_places_t *places, vcs_error_t *error) {
  return list_places(run, groups, add_groups, places, error);
}

vcs_status_t vcs_places_of_bits(const vcs_run_t *run, const char *bits, vcs_places_t *places, vcs_error_t *error) {
  return list_places(run, bits, add_bits, places, error);
}

vcs_status_t vcs_place_parse_bit(const char *text, const vcs_run_t *run, vcs_place_t *place, vcs_error_t *error) {
  vcs_places_t places;
  const vcs_status_t status = vcs_places_of_bits(run, text, &places, error);
  if (status) return status;
  const size_t count = places.count;
  *place = places.places[0];
  vcs_places_free(&places);
  if (count == 1) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "'%.60s' is %zu bits; one bit is written as " WRITTEN, text, count);
}

vcs_status_t vcs_place_parse_input(const char *text, const vcs_run_t *run, vcs_place_t *place, vcs_error_t *error) {
  char name[32], names[128];
  const size_t length = strcspn(text, "@");
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), text);
  const int input = vcs_input_by_name(name);
  int frame = 0;
  if (input < 0 || (text[length] && !vcs_parse_counts(text + length + 1, &frame, 1))) {
    vcs_input_names(names, sizeof names);
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "an input is one of %s, as right or right@2, not '%.40s'", names,
                          text);
  }
  if (frame >= run->frames) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the input %.40s: the run has the frames 0 to %d", text,
                          (int)run->frames - 1);
  }
  *place = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)frame, (uint32_t)input};
  return VCS_OK;
}

void vcs_places_free(vcs_places_t *places) {
  free(places->places);
  free(places->labels);
  *places = (vcs_places_t){0};
}
