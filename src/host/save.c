/* save.c: states, plain and in files.
 *
 * A plain state is a header, the environment's fields, the machine, its draw history (draw_history.h) and two
 * consecutive pictures: both frame buffers of an exact history, else the last picture and zeros. A file has the same
 * data by name (save.h), and its history is always exact. Both are checked before anything is changed: whether they
 * belong to this cartridge, and whether every value that the machine uses as an index, a shift or a count is one it
 * could have. What is left after that can be played wrong, but not crash.
 */
#include "host/save.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/cart.h"
#include "host/env.h"
#include "host/files.h"
#include "host/hash.h"

/* ---- Plain states ------------------------------------------------------------------------------------------- */

enum { STATE_MAGIC = 0x32534356 /* "VCS2" */ };

typedef struct {
  uint32_t magic, size;
  uint64_t key;
  vcs_draw_history_mark_t draw_history;
  uint32_t shown; /* which of the two frames is the picture */
} state_header_t;

/* Where the parts are. Machines with odd RAM make the frames' addresses odd, which are bytes anyway. */
static size_t machine_at(void) { return sizeof(state_header_t) + sizeof(vcs_env_live_t); }
static size_t before_at(const vcs_env_t *env) { return machine_at() + vcs_state_size(env->cart); }
static size_t frame_at(const vcs_env_t *env, int which) {
  return before_at(env) + VCS_DRAW_HISTORY_BEFORE * vcs_state_size(env->cart) +
         (size_t)which * vcs_draw_history_size(env->cart);
}

size_t vcs_env_state_size(const vcs_env_t *env) { return frame_at(env, 2); }

void vcs_env_state_copy(const vcs_env_t *env, void *state) {
  uint8_t *to = state;
  const vcs_draw_history_t *history = &env->draw_history;
  const size_t machine = vcs_state_size(env->cart), picture = vcs_draw_history_size(env->cart);
  const bool second = history->exact && history->picture == history->frames + VCS_FRAME_BYTES;
  const state_header_t header = {STATE_MAGIC,
                                 (uint32_t)vcs_env_state_size(env),
                                 env->key,
                                 {history->covered, history->before_next, history->exact},
                                 second};
  memcpy(to, &header, sizeof header);
  memcpy(to + sizeof header, &env->live, sizeof env->live);
  memcpy(to + machine_at(), env->m, machine);
  memcpy(to + before_at(env), history->before, VCS_DRAW_HISTORY_BEFORE * machine);
  if (history->exact) {
    memcpy(to + frame_at(env, 0), history->frames, picture);
    memcpy(to + frame_at(env, 1), history->frames + VCS_FRAME_BYTES, picture);
  } else {
    memcpy(to + frame_at(env, 0), history->picture, picture);
    memset(to + frame_at(env, 1), 0, picture);
  }
}

void vcs_env_state_copy_play(const vcs_env_t *env, void *state) {
  uint8_t *live = (uint8_t *)state + sizeof(state_header_t);
  vcs_env_state_copy(env, state);
  memset(live + offsetof(vcs_env_live_t, sticky_random), 0, sizeof env->sticky_random);
  memset(live + offsetof(vcs_env_live_t, noop_random), 0, sizeof env->noop_random);
}

/* ---- What a machine cannot have ------------------------------------------------------------------------------ */

static bool all_below(const uint8_t *values, size_t count, unsigned limit) {
  for (size_t i = 0; i < count; i++) {
    if (values[i] >= limit) return false;
  }
  return true;
}

/* The bank offsets stay in the image, and pages of cartridge RAM in the RAM. */
static bool cartridge_is_possible(const vcs_cart_t *cart, const vcs_t *m) {
  for (int i = 0; i < 4; i++) {
    if (m->bank[i] > cart->rom_size || cart->rom_size - m->bank[i] < 1024) return false;
  }
  const uint8_t *bytes = m->cart_byte;
  double fraction;
  switch (cart->scheme) {
    case VCS_SCHEME_3E:
      return bytes[VCS_CART_RAM_PAGE] < 32 && bytes[VCS_CART_RAM_ON] < 2;
    case VCS_SCHEME_E7:
      return bytes[VCS_CART_RAM_PAGE] < 4 && bytes[VCS_CART_RAM_ON] < 2;
    case VCS_SCHEME_DPC:
      memcpy(&fraction, &m->cart_clock[VCS_DPC_FRACTION], sizeof fraction);
      return fraction > -2 && fraction < 2;
    default:
      return true;
  }
}

/* The beam is in the picture or just below it, and the clocks of the frame are in the frame. */
static bool beam_is_possible(const vcs_cart_t *cart, const vcs_t *m) {
  const int32_t end = cart->top_line + cart->height;
  const int32_t clocks[] = {m->seen_clock, m->seen_before, m->blank_clock, m->blank_first};
  for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
    if (clocks[i] < 0 || clocks[i] > VCS_LINE_CLOCKS * end) return false;
  }
  return (m->first_line == 0 || m->first_line == cart->top_line) && m->line >= m->first_line && m->line <= end &&
         m->line_clock >= 0 && m->line_clock <= VCS_LINE_CLOCKS && m->frame_clock > -VCS_LINE_CLOCKS &&
         m->frame_clock <= 0 && m->cycles < 1u << 29;
}

#define IS_BELOW(field, limit) &&all_below((const uint8_t *)&m->field, sizeof m->field, limit)

bool vcs_machine_is_possible(const vcs_cart_t *cart, const vcs_t *m) {
  return cartridge_is_possible(cart, m) && beam_is_possible(cart, m) VCS_FIELD_LIMITS(IS_BELOW);
}

static bool live_is_possible(const vcs_env_t *env, const vcs_env_live_t *live) {
  int32_t modes[VCS_MODES_MAX];
  bool mode_known = false;
  const int players = live->players ? live->players : 1;
  for (int i = vcs_cart_modes(env->cart, players, modes) - 1; i >= 0; i--) {
    mode_known = mode_known || modes[i] == live->mode;
  }
  for (int i = 0; i < 2; i++) {
    if (live->action[i] < 0 || live->action[i] >= VCS_ACTIONS) return false;
    if (live->far_action[i] < 0 || live->far_action[i] >= VCS_ACTIONS) return false;
    if (live->paddle[i] < 0 || live->paddle[i] > 1 << 24) return false;
    if (live->far_paddle[i] < 0 || live->far_paddle[i] > 1 << 24) return false;
  }
  return mode_known && live->difficulty >= 0 && live->difficulty < VCS_DIFFICULTIES_MAX &&
         live->sticky_random.next <= VCS_MT_WORDS && live->noop_random.next <= VCS_MT_WORDS;
}

/* The power-on generator is run up to the number of values drawn, at every reset: a state with billions would make one
 * take seconds. A console that is switched on 65,536 times has drawn less than this. */
enum { DRAWS_MAX = 1 << 26 };

/* Machines of a state need not be aligned there. */
bool vcs_env_is_possible(const vcs_env_t *env, const vcs_env_live_t *live, const uint8_t *machines, size_t count,
                         vcs_t *spare) {
  const size_t size = vcs_state_size(env->cart);
  for (size_t i = 0; i < count; i++) {
    memcpy(spare, machines + i * size, size);
    if (!vcs_machine_is_possible(env->cart, spare) || spare->rng_draws > DRAWS_MAX) return false;
  }
  return live_is_possible(env, live);
}

bool vcs_draw_history_is_possible(const vcs_draw_history_mark_t *history) {
  return history->covered >= 0 && history->covered <= 2 && history->before_next >= 0 &&
         history->before_next < VCS_DRAW_HISTORY_BEFORE && (history->exact == 0 || history->exact == 1);
}

/* ---- Restoring ---------------------------------------------------------------------------------------------- */

/* Takes over all but the pictures. */
static state_header_t take_over(vcs_env_t *env, const uint8_t *from) {
  const size_t machine = vcs_state_size(env->cart);
  state_header_t header;
  memcpy(&header, from, sizeof header);
  memcpy(&env->live, from + sizeof header, sizeof env->live);
  memcpy(env->m, from + machine_at(), machine);
  memcpy(env->draw_history.before, from + before_at(env), VCS_DRAW_HISTORY_BEFORE * machine);
  env->options.mode = env->mode;
  env->options.difficulty = env->difficulty;
  env->options.players = (uint64_t)env->players;
  vcs_env_use_rules(env);
  env->draw_history.covered = header.draw_history.covered;
  env->draw_history.before_next = header.draw_history.before_next;
  env->draw_history.exact = header.draw_history.exact;
  env->draw_history.drawn = true;
  env->recorded = false;
  return header;
}

static void take_frames(vcs_env_t *env, const uint8_t *from, const state_header_t *header) {
  const size_t picture = vcs_draw_history_size(env->cart);
  uint8_t *frames = env->draw_history.frames;
  memcpy(frames, from + frame_at(env, 0), picture);
  if (env->draw_history.exact) memcpy(frames + VCS_FRAME_BYTES, from + frame_at(env, 1), picture);
  env->draw_history.picture = frames + (header->shown ? VCS_FRAME_BYTES : 0);
  if (env->draw_history.pinned && !env->draw_history.exact) vcs_draw_history_redraw(&env->draw_history, env->cart);
}

void vcs_env_state_share(vcs_env_t *env, const void *state) {
  const state_header_t header = take_over(env, state);
  if (env->draw_history.exact || env->draw_history.pinned) {
    take_frames(env, state, &header);
  } else {
    env->draw_history.picture = (const uint8_t *)state + frame_at(env, 0);
  }
}

static vcs_status_t restore(vcs_env_t *env, const void *state, size_t size, bool with_generators, vcs_error_t *error) {
  const uint8_t *from = state;
  state_header_t header;
  vcs_env_live_t live;
  if (error) error->message[0] = 0;
  if (!state || size < sizeof header)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "this is no state: it is too short");
  memcpy(&header, from, sizeof header);
  if (header.magic != STATE_MAGIC || header.size != size) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "this is no state of this version, or not a whole one");
  }
  if (header.key != env->key || size != vcs_env_state_size(env)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "this is a state of another cartridge or profile");
  }
  memcpy(&live, from + sizeof header, sizeof live);
  if (!vcs_draw_history_is_possible(&header.draw_history) || header.shown > (uint32_t)header.draw_history.exact ||
      !vcs_env_is_possible(env, &live, from + machine_at(), 1 + VCS_DRAW_HISTORY_BEFORE, env->draw_history.spare)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "this state has values that no machine can have");
  }
  const vcs_mt19937_t sticky_random = env->sticky_random, noop_random = env->noop_random;
  take_over(env, from);
  if (!with_generators) {
    env->sticky_random = sticky_random;
    env->noop_random = noop_random;
  }
  take_frames(env, from, &header);
  return VCS_OK;
}

vcs_status_t vcs_env_state_restore(vcs_env_t *env, const void *state, size_t size, vcs_error_t *error) {
  return restore(env, state, size, true, error);
}

vcs_status_t vcs_env_state_restore_play(vcs_env_t *env, const void *state, size_t size, vcs_error_t *error) {
  return restore(env, state, size, false, error);
}

/* ---- Fields ------------------------------------------------------------------------------------------------- */

/* A field of a file, and where it is in a plain state. */
typedef struct {
  char name[40];
  size_t offset, element, count;
} field_t;

enum { FIELDS_MAX = 160 };

static void add_field(field_t *fields, int *n, const char *part, const char *name, size_t offset, size_t element,
                      size_t bytes) {
  if (bytes == 0 || *n == FIELDS_MAX) return;
  field_t *field = &fields[(*n)++];
  snprintf(field->name, sizeof field->name, "%s.%s", part, name);
  field->offset = offset;
  field->element = element;
  field->count = bytes / element;
}

#define ADD_LIVE(type, element, name, dimension)                                                                \
  add_field(fields, &n, "env", #name, sizeof(state_header_t) + offsetof(vcs_env_live_t, name), sizeof(element), \
            sizeof(((vcs_env_live_t *)0)->name));

static int list_fields(const vcs_env_t *env, field_t fields[FIELDS_MAX]) {
  int n = 0;
  const vcs_field_t *field;
  for (int i = 0; (field = vcs_field(i)) != NULL; i++) {
    const bool is_cart_ram = field->offset == offsetof(vcs_t, cart_ram);
    add_field(fields, &n, "m", field->name, machine_at() + field->offset, field->size,
              is_cart_ram ? env->cart->ram_size : field->size * field->count);
  }
  VCS_ENV_FIELDS(ADD_LIVE)
  add_field(fields, &n, "frame", "0", frame_at(env, 0), 1, vcs_draw_history_size(env->cart));
  add_field(fields, &n, "frame", "1", frame_at(env, 1), 1, vcs_draw_history_size(env->cart));
  return n;
}

static size_t fields_size(const field_t *fields, int n) {
  size_t size = 0;
  for (int i = 0; i < n; i++) size += fields[i].element * fields[i].count;
  return size;
}

/* Bytes of an element in file order. On little-endian machines that is how they are. */
static bool is_little_endian(void) {
  const uint16_t one = 1;
  uint8_t low;
  memcpy(&low, &one, 1);
  return low == 1;
}

static void copy_elements(uint8_t *to, const uint8_t *from, size_t element, size_t count) {
  if (element == 1 || is_little_endian()) {
    memcpy(to, from, element * count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < element; k++) to[element * i + k] = from[element * i + element - 1 - k];
  }
}

/* ---- Writing ------------------------------------------------------------------------------------------------ */

static void put(uint8_t *to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *from, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; i--) value = value << 8 | from[i];
  return value;
}

static void put_name(uint8_t *to, const char *name, size_t room) {
  memset(to, 0, room);
  const size_t length = strlen(name);
  memcpy(to, name, length < room ? length : room);
}

/* The digest in its 32 bytes, from its 64 digits. */
static void put_sha256(uint8_t to[32], const char *hex) {
  for (size_t i = 0; i < 32; i++) {
    unsigned byte = 0;
    sscanf(hex + 2 * i, "%2x", &byte);
    to[i] = (uint8_t)byte;
  }
}

enum { MAGIC_AT = 0, VERSION_AT = 8, FIELDS_AT = 12, RAW_AT = 16, PACKED_AT = 20, NUMBER_AT = 24, SHA_AT = 32 };
enum { PROFILE_AT = 64, SCHEME_AT = 80, FORMAT_AT = 88, GAME_AT = 96, ROW = 8, HASH = 8 };
static const uint8_t magic[8] = {'V', 'C', 'S', 'S', 'A', 'V', 'E', '\n'};

/* What makes a file belong to an environment: bytes SHA_AT to VCS_SAVE_HEADER. */
static void put_identity(const vcs_env_t *env, uint8_t *header) {
  const vcs_cart_info_t *info = vcs_cart_info(env->cart);
  put_sha256(header + SHA_AT, info->sha256);
  put_name(header + PROFILE_AT, vcs_profile_name(env->profile), 16);
  put_name(header + SCHEME_AT, info->scheme_name, 8);
  put_name(header + FORMAT_AT, vcs_format_name(info->format), 8);
  put_name(header + GAME_AT, env->game ? env->game->name : "", 32);
}

static size_t table_size(const field_t *fields, int n) {
  size_t size = 0;
  for (int i = 0; i < n; i++) size += ROW + strlen(fields[i].name);
  return size;
}

size_t vcs_env_save_bound(const vcs_env_t *env) {
  field_t fields[FIELDS_MAX];
  const int n = list_fields(env, fields);
  return VCS_SAVE_HEADER + table_size(fields, n) + compressBound((uLong)fields_size(fields, n)) + HASH;
}

/* Writes a state with an exact draw history: if the environment's is not, the frames are redrawn in borrowed buffers.
 */
static bool copy_exact(const vcs_env_t *env, uint8_t *state) {
  vcs_env_state_copy(env, state);
  if (env->draw_history.exact) return true;
  vcs_draw_history_t history = env->draw_history;
  history.frames = malloc(2 * VCS_FRAME_BYTES);
  if (!history.frames) return false;
  vcs_draw_history_blacken(env->cart, history.frames, 0);
  vcs_draw_history_redraw(&history, env->cart);
  for (int i = 0; i < 2; i++) {
    memcpy(state + frame_at(env, i), history.frames + (size_t)i * VCS_FRAME_BYTES, vcs_draw_history_size(env->cart));
  }
  free(history.frames);
  return true;
}

vcs_status_t vcs_env_save_to(const vcs_env_t *env, void *file, size_t *size, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  if (!file || !size) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no place for the file was given");
  field_t fields[FIELDS_MAX];
  const int n = list_fields(env, fields);
  const size_t raw_size = fields_size(fields, n);
  uint8_t *state = malloc(vcs_env_state_size(env)), *raw = malloc(raw_size), *to = file;
  if (!state || !raw) {
    free(state);
    free(raw);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  if (!copy_exact(env, state)) {
    free(state);
    free(raw);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  uint8_t *at = to + VCS_SAVE_HEADER, *next = raw;
  for (int i = 0; i < n; i++) {
    const field_t *field = &fields[i];
    const size_t length = strlen(field->name);
    put(at, field->element, 1);
    put(at + 1, length, 1);
    put(at + 2, 0, 2);
    put(at + 4, field->count, 4);
    memcpy(at + ROW, field->name, length);
    at += ROW + length;
    copy_elements(next, state + field->offset, field->element, field->count);
    next += field->element * field->count;
  }
  uLongf packed = compressBound((uLong)raw_size);
  const int failed = compress2(at, &packed, raw, (uLong)raw_size, 6);
  free(state);
  free(raw);
  if (failed != Z_OK) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory while compressing");
  memcpy(to + MAGIC_AT, magic, sizeof magic);
  put(to + VERSION_AT, VCS_SAVE_VERSION, 4);
  put(to + FIELDS_AT, (uint64_t)n, 4);
  put(to + RAW_AT, raw_size, 4);
  put(to + PACKED_AT, packed, 4);
  put(to + NUMBER_AT, env->frame_number, 8);
  put_identity(env, to);
  at += packed;
  put(at, vcs_hash64(to, (size_t)(at - to), 0), HASH);
  *size = (size_t)(at + HASH - to);
  return VCS_OK;
}

vcs_status_t vcs_env_save(const vcs_env_t *env, const char *path, vcs_error_t *error) {
  size_t size = 0;
  uint8_t *file = malloc(vcs_env_save_bound(env));
  if (!file) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  vcs_status_t status = vcs_env_save_to(env, file, &size, error);
  if (status == VCS_OK) status = vcs_file_write(path, file, size, error);
  free(file);
  return status;
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* Magic, checksum and version, in this order: a damaged file is reported as damaged, whatever version it names. */
static vcs_status_t check_file(const uint8_t *file, size_t size, vcs_error_t *error) {
  if (!file || size < sizeof magic || memcmp(file, magic, sizeof magic) != 0) {
    return vcs_error_fill(error, VCS_BAD_FILE, "this is no save file of diffvcs");
  }
  if (size < VCS_SAVE_HEADER + HASH || get(file + size - HASH, HASH) != vcs_hash64(file, size - HASH, 0)) {
    return vcs_error_fill(error, VCS_BAD_FILE, "the save file is damaged: its checksum is wrong");
  }
  const uint32_t version = (uint32_t)get(file + VERSION_AT, 4);
  if (version == 0 || version > VCS_SAVE_VERSION) {
    return vcs_error_fill(error, VCS_BAD_FILE, "the save file has version %u, this program reads up to %d",
                          (unsigned)version, VCS_SAVE_VERSION);
  }
  return VCS_OK;
}

vcs_status_t vcs_save_info(const void *file, size_t size, vcs_save_info_t *info, vcs_error_t *error) {
  const uint8_t *from = file;
  if (error) error->message[0] = 0;
  if (!info) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no place for the answer was given");
  vcs_status_t status = check_file(from, size, error);
  if (status) return status;
  char profile[17] = {0};
  memcpy(profile, from + PROFILE_AT, 16);
  status = vcs_profile_by_name(profile, &info->profile, error);
  if (status) return vcs_error_fill(error, VCS_BAD_FILE, "the save file is of an unknown profile, '%s'", profile);
  info->version = (uint32_t)get(from + VERSION_AT, 4);
  info->frame_number = get(from + NUMBER_AT, 8);
  for (size_t i = 0; i < 32; i++) snprintf(info->sha256 + 2 * i, 3, "%02x", from[SHA_AT + i]);
  return VCS_OK;
}

static vcs_status_t check_identity(const vcs_env_t *env, const uint8_t *file, vcs_error_t *error) {
  static const struct {
    const char *what;
    int at, size;
  } parts[] = {
      {"cartridge", SHA_AT, 32},    {"profile", PROFILE_AT, 16}, {"bank scheme", SCHEME_AT, 8},
      {"television", FORMAT_AT, 8}, {"game", GAME_AT, 32},
  };
  uint8_t ours[VCS_SAVE_HEADER];
  put_identity(env, ours);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (memcmp(file + parts[i].at, ours + parts[i].at, (size_t)parts[i].size) == 0) continue;
    if (parts[i].at == SHA_AT) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                            "the save file is of another cartridge, SHA-256 %02x%02x%02x%02x...", file[SHA_AT],
                            file[SHA_AT + 1], file[SHA_AT + 2], file[SHA_AT + 3]);
    }
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the save file is of another %s: '%.*s', here it is '%.*s'",
                          parts[i].what, parts[i].size, (const char *)file + parts[i].at, parts[i].size,
                          (const char *)ours + parts[i].at);
  }
  return VCS_OK;
}

static vcs_status_t bad_table(vcs_error_t *error) {
  return vcs_error_fill(error, VCS_BAD_FILE, "the save file is damaged: its table makes no sense");
}

/* A row of the table is a field of ours. Fields are looked for from `hint` on, where they are if nothing changed. */
static int find_field(const field_t *fields, int n, int hint, const uint8_t *name, size_t length) {
  for (int i = 0; i < n; i++) {
    const int k = (hint + i) % n;
    if (strlen(fields[k].name) == length && memcmp(fields[k].name, name, length) == 0) return k;
  }
  return -1;
}

/* Goes through the table; with `state`, puts the fields' bytes where they belong. */
static vcs_status_t read_table(const vcs_env_t *env, const uint8_t *file, size_t size, const uint8_t *raw,
                               uint8_t *state, size_t *table_end, vcs_error_t *error) {
  field_t fields[FIELDS_MAX];
  bool seen[FIELDS_MAX] = {false};
  const int n = list_fields(env, fields);
  const uint64_t rows = get(file + FIELDS_AT, 4), raw_size = get(file + RAW_AT, 4);
  const size_t end = size - HASH;
  size_t at = VCS_SAVE_HEADER, used = 0;
  if (rows > FIELDS_MAX) return bad_table(error);
  for (uint64_t row = 0; row < rows; row++) {
    if (end - at < ROW) return bad_table(error);
    const size_t element = file[at], length = file[at + 1], count = (size_t)get(file + at + 4, 4);
    if (end - at < ROW + length) return bad_table(error);
    const int k = find_field(fields, n, (int)row, file + at + ROW, length);
    if (k < 0) {
      return vcs_error_fill(error, VCS_BAD_FILE, "the save file has a field '%.*s' that this program does not know",
                            (int)length, (const char *)file + at + ROW);
    }
    if (fields[k].element != element || fields[k].count != count || seen[k] || get(file + at + 2, 2) != 0) {
      return vcs_error_fill(error, VCS_BAD_FILE, "the save file's field '%s' is of another kind", fields[k].name);
    }
    seen[k] = true;
    if (raw_size - used < element * count) return bad_table(error);
    if (state) copy_elements(state + fields[k].offset, raw + used, element, count);
    used += element * count;
    at += ROW + length;
  }
  if (used != raw_size) return bad_table(error);
  for (int i = 0; i < n && get(file + VERSION_AT, 4) == VCS_SAVE_VERSION; i++) {
    if (!seen[i]) return vcs_error_fill(error, VCS_BAD_FILE, "the save file lacks the field '%s'", fields[i].name);
  }
  *table_end = at;
  return VCS_OK;
}

/* Fills in what a state has besides the fields of a file. The machines before the last frames are unknown and not
 * needed: by the time an exact history has covered the picture twice, it has recorded three of them. */
static void complete(const vcs_env_t *env, uint8_t *state) {
  const size_t machine = vcs_state_size(env->cart);
  const uint8_t front = state[machine_at() + offsetof(vcs_t, front)];
  const state_header_t header = {
      STATE_MAGIC, (uint32_t)vcs_env_state_size(env), env->key, {.covered = 0, .before_next = 0, .exact = 1}, front};
  memcpy(state, &header, sizeof header);
  for (size_t i = 0; i < VCS_DRAW_HISTORY_BEFORE; i++)
    memcpy(state + before_at(env) + i * machine, state + machine_at(), machine);
}

vcs_status_t vcs_env_load_from(vcs_env_t *env, const void *data, size_t size, vcs_error_t *error) {
  const uint8_t *file = data;
  size_t payload = 0;
  if (error) error->message[0] = 0;
  vcs_status_t status = check_file(file, size, error);
  if (status == VCS_OK) status = check_identity(env, file, error);
  if (status == VCS_OK) status = read_table(env, file, size, NULL, NULL, &payload, error);
  if (status) return status;
  if (get(file + PACKED_AT, 4) != size - HASH - payload) return bad_table(error);
  uLongf raw_size = (uLongf)get(file + RAW_AT, 4);
  const uLongf expected = raw_size;
  uint8_t *raw = malloc(expected), *state = calloc(1, vcs_env_state_size(env));
  if (!raw || !state) {
    status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  } else if (uncompress(raw, &raw_size, file + payload, (uLong)(size - HASH - payload)) != Z_OK ||
             raw_size != expected) {
    status = vcs_error_fill(error, VCS_BAD_FILE, "the save file is damaged: it cannot be unpacked");
  } else {
    status = read_table(env, file, size, raw, state, &payload, error);
    if (status == VCS_OK) complete(env, state);
    if (status == VCS_OK) status = restore(env, state, vcs_env_state_size(env), true, error);
    if (status == VCS_BAD_ARGUMENT) status = VCS_BAD_FILE;
  }
  free(raw);
  free(state);
  return status;
}

vcs_status_t vcs_env_load(vcs_env_t *env, const char *path, vcs_error_t *error) {
  enum { LARGEST = 1 << 22 };
  uint8_t *file = NULL;
  size_t size = 0;
  vcs_status_t status = vcs_file_read(path, LARGEST, &file, &size, error);
  if (status == VCS_OK) status = vcs_env_load_from(env, file, size, error);
  free(file);
  return status;
}
