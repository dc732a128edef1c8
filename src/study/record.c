/* record.c: records of runs, the form in which the reference's behaviour is kept (study.h, tests/golden).
 *
 * Making and verifying a record run the same loops and differ in the function that gets each row.
 */
#include "study/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "host/progress.h"

/* Records begin with an explicit reset, as a program that uses the reference would call it, after the one that creating
 * the environment makes. Few games can tell (surround in xitari; in ale-py each reset starts the timer at random). */
static vcs_status_t start(const vcs_cart_t *cart, vcs_env_t **env, vcs_error_t *error) {
  vcs_status_t status = vcs_env_create(cart, env, error);
  if (status == VCS_OK) vcs_env_reset(*env);
  return status;
}

/* ---- Play records ------------------------------------------------------------------------------------------- */

typedef struct {
  int64_t frame; /* 0: boot */
  int action, over;
  int32_t reward, lives;
  uint32_t episode, ram_crc, screen_crc, ram_chain, screen_chain, play_chain;
} play_row_t;

static uint32_t crc_over(uint32_t crc, const void *data, size_t size) {
  return (uint32_t)crc32(crc, (const unsigned char *)data, (unsigned)size);
}

static void look(const vcs_env_t *env, play_row_t *row) {
  size_t screen = (size_t)VCS_WIDTH * (size_t)vcs_env_height(env);
  row->ram_crc = crc_over(0, vcs_env_ram(env), 128);
  row->screen_crc = crc_over(0, vcs_env_screen(env), screen);
  row->lives = vcs_env_lives(env);
  row->over = vcs_env_over(env);
}

/* One frame of the stream: reset if the game is over, act, extend the chains. */
static void play_frame(vcs_env_t *env, vcs_stream_t *stream, play_row_t *row) {
  if (vcs_env_over(env)) {
    vcs_env_reset(env);
    row->episode++;
  }
  row->frame++;
  row->action = vcs_stream_next(stream);
  row->reward = vcs_env_act(env, row->action, VCS_NOOP);
  row->lives = vcs_env_lives(env);
  row->over = vcs_env_over(env);
  uint32_t reward = (uint32_t)row->reward;
  const uint8_t play[6] = {(uint8_t)reward,         (uint8_t)(reward >> 8), (uint8_t)(reward >> 16),
                           (uint8_t)(reward >> 24), (uint8_t)row->lives,    (uint8_t)row->over};
  row->ram_chain = crc_over(row->ram_chain, vcs_env_ram(env), 128);
  row->screen_chain = crc_over(row->screen_chain, vcs_env_screen(env), (size_t)VCS_WIDTH * (size_t)vcs_env_height(env));
  row->play_chain = crc_over(row->play_chain, play, sizeof play);
}

static vcs_status_t record_play(const vcs_cart_t *cart, const vcs_record_options_t *o, vcs_text_t *out,
                                vcs_error_t *error) {
  vcs_env_t *env;
  vcs_steps_t steps;
  vcs_status_t status = start(cart, &env, error);
  if (status) return status;
  play_row_t row = {0};
  vcs_stream_t stream;
  vcs_stream_start(&stream, o->seed);
  look(env, &row);
  vcs_text_printf(out, "# height=%d width=%d profile=%s\n", vcs_env_height(env), VCS_WIDTH,
                  vcs_profile_name(vcs_cart_info(cart)->profile));
  vcs_text_printf(out, "# frame\taction\tram_crc\tscreen_crc\treward\tlives\tover\tepisode\t");
  vcs_text_printf(out, "ram_chain\tscreen_chain\tplay_chain\n");
  vcs_text_printf(out, "boot\t-\t%08x\t%08x\t0\t%d\t%d\t0\t-\t-\t-\n", row.ram_crc, row.screen_crc, row.lives,
                  row.over);
  vcs_steps_begin(&steps, &o->report, "recording", (uint64_t)o->frames);
  while (row.frame < o->frames && vcs_steps_add(&steps, row.frame ? 1 : 0)) {
    play_frame(env, &stream, &row);
    if (row.frame > o->dense && row.frame % o->stride && row.frame != o->frames) continue;
    look(env, &row);
    vcs_text_printf(out, "%" PRId64 "\t%d\t%08x\t%08x\t%d\t%d\t%d\t%u\t%08x\t%08x\t%08x\n", row.frame, row.action,
                    row.ram_crc, row.screen_crc, row.reward, row.lives, row.over, row.episode, row.ram_chain,
                    row.screen_chain, row.play_chain);
  }
  if (row.frame == o->frames && row.frame) vcs_steps_add(&steps, 1);
  vcs_steps_end(&steps);
  vcs_env_free(env);
  return row.frame < o->frames ? vcs_cancelled(error) : VCS_OK;
}

/* A record's text, row by row. A row is copied out because sscanf measures all of the text it is given; columns that
 * do not fit are of no interest here. */
typedef struct {
  const char *at;
  int64_t line; /* of `row`, from 1 */
  char row[256];
} rows_t;

/* The next line that is neither empty nor a comment; false at the end. */
static bool next_row(rows_t *rows) {
  while (*rows->at) {
    size_t length = strcspn(rows->at, "\n");
    const char *line = rows->at;
    rows->at += length + (line[length] == '\n');
    rows->line++;
    if (*line == '#' || length == strspn(line, " \t\r\n")) continue;
    snprintf(rows->row, sizeof rows->row, "%.*s", (int)(length < sizeof rows->row ? length : sizeof rows->row), line);
    return true;
  }
  return false;
}

static vcs_status_t bad_row(const rows_t *rows, const char *kind, vcs_error_t *error) {
  if (!rows->line || !rows->row[0]) return vcs_error_fill(error, VCS_BAD_FILE, "no %s record: it has no rows", kind);
  return vcs_error_fill(error, VCS_BAD_FILE, "line %" PRId64 " is no row of a %s record: %.60s", rows->line, kind,
                        rows->row);
}

/* Whether the column that ends before row[end] has the eight digits of a checksum: a record cut off has fewer. */
static bool is_checksum(const char *row, int end) {
  return end > 8 && row[end - 9] == '\t' && (!row[end] || strchr("\t\r", row[end]));
}

static bool read_play_row(const char *line, play_row_t *row) {
  int end = 0;
  if (strncmp(line, "boot\t", 5) == 0) {
    *row = (play_row_t){0};
    return sscanf(line, "boot\t-\t%" SCNx32 "\t%" SCNx32 "%n\t%*d\t%d\t%d", &row->ram_crc, &row->screen_crc, &end,
                  &row->lives, &row->over) == 4 &&
           is_checksum(line, end);
  }
  static const char format[] =
      "%" SCNd64 "\t%d\t%" SCNx32 "\t%" SCNx32 "\t%d\t%d\t%d\t%" SCNu32 "\t%" SCNx32 "\t%" SCNx32 "\t%" SCNx32 "%n";
  return sscanf(line, format, &row->frame, &row->action, &row->ram_crc, &row->screen_crc, &row->reward, &row->lives,
                &row->over, &row->episode, &row->ram_chain, &row->screen_chain, &row->play_chain, &end) == 11 &&
         is_checksum(line, end);
}

/* Some records were made by a program that does not reset explicitly: their boot row is the state before the reset. For
 * such a record the environment starts without it, too. */
static vcs_status_t start_as(const vcs_cart_t *cart, const char *text, vcs_env_t **env, vcs_error_t *error) {
  rows_t rows = {.at = text};
  play_row_t created = {0}, reset = {0}, boot;
  vcs_status_t status = vcs_env_create(cart, env, error);
  if (status) return status;
  look(*env, &created);
  vcs_env_reset(*env);
  look(*env, &reset);
  if (!next_row(&rows) || !read_play_row(rows.row, &boot) || boot.frame) return VCS_OK;
  bool as_reset = boot.ram_crc == reset.ram_crc && boot.screen_crc == reset.screen_crc;
  if (as_reset || boot.ram_crc != created.ram_crc || boot.screen_crc != created.screen_crc) return VCS_OK;
  vcs_env_free(*env);
  return vcs_env_create(cart, env, error);
}

static vcs_status_t verify_play(const vcs_cart_t *cart, const char *text, uint64_t seed, vcs_steps_t *steps,
                                vcs_record_check_t *check, vcs_error_t *error) {
  vcs_env_t *env;
  vcs_status_t status = start_as(cart, text, &env, error);
  if (status) return status;
  play_row_t got = {0}, want;
  rows_t rows = {.at = text};
  vcs_stream_t stream;
  vcs_stream_start(&stream, seed);
  while (next_row(&rows) && vcs_steps_add(steps, 0)) {
    if (!read_play_row(rows.row, &want) || want.frame < got.frame) {
      status = bad_row(&rows, "play", error);
      break;
    }
    while (got.frame < want.frame && vcs_steps_add(steps, 1)) play_frame(env, &stream, &got);
    if (got.frame < want.frame) break;
    look(env, &got);
    check->ram = got.ram_crc != want.ram_crc || got.ram_chain != want.ram_chain;
    check->screen = got.screen_crc != want.screen_crc || got.screen_chain != want.screen_chain;
    check->play =
        got.lives != want.lives || got.over != want.over || got.play_chain != want.play_chain ||
        (want.frame && (got.reward != want.reward || got.episode != want.episode || got.action != want.action));
    check->checked = got.frame;
    if (check->ram || check->screen || check->play) {
      check->differs_at = want.frame;
      break;
    }
    check->last_equal = want.frame;
  }
  if (!rows.row[0]) status = bad_row(&rows, "play", error);
  vcs_env_free(env);
  return status;
}

/* ---- CPU records -------------------------------------------------------------------------------------------- */

void vcs_cpu_row_add(vcs_cpu_row_t *row, const vcs_step_t *step) {
  const uint8_t state[8] = {
      step->opcode, (uint8_t)step->pc, (uint8_t)(step->pc >> 8), step->a, step->x, step->y, step->sp, step->p};
  const uint8_t cycles[2] = {(uint8_t)step->cycles, (uint8_t)(step->cycles >> 8)};
  row->count++;
  row->step = *step;
  row->state_chain = crc_over(row->state_chain, state, sizeof state);
  row->cycle_chain = crc_over(row->cycle_chain, cycles, sizeof cycles);
}

void vcs_cpu_row_print(const vcs_cpu_row_t *row, vcs_text_t *out) {
  const vcs_step_t *s = &row->step;
  vcs_text_printf(out, "%" PRId64 "\t%02x\t%04x\t%02x\t%02x\t%02x\t%02x\t%02x\t%u\t%08x\t%08x", row->count, s->opcode,
                  s->pc, s->a, s->x, s->y, s->sp, s->p, s->cycles, row->state_chain, row->cycle_chain);
}

/* Counts every instruction after the reset and passes the rows that the record has to `visit`, which returns the count
 * of the next such row, or -1. */
typedef struct {
  vcs_cpu_row_t row;
  vcs_steps_t *steps;
  int64_t next; /* the count of the next row */
  int64_t (*visit)(void *context, const vcs_cpu_row_t *row);
  void *context;
} cpu_watch_t;

static void watch_cpu(void *context, const vcs_t *m, const vcs_step_t *step) {
  (void)m;
  cpu_watch_t *watch = context;
  if (watch->next < 0) return;
  vcs_cpu_row_t *row = &watch->row;
  vcs_cpu_row_add(row, step);
  if (row->count == watch->next) watch->next = watch->visit(watch->context, row);
}

/* The run of a CPU record: a reset after creation, then action k / 7 % 18 for frame k, whether or not the game is over.
 */
static vcs_status_t run_cpu(const vcs_cart_t *cart, cpu_watch_t *watch, vcs_error_t *error) {
  vcs_env_t *env;
  vcs_status_t status = vcs_env_create(cart, &env, error);
  if (status) return status;
  vcs_env_watch(env, watch_cpu, watch);
  vcs_env_reset(env);
  bool goes_on = true;
  for (int64_t k = 0; watch->next >= 0 && goes_on; k++) {
    const int64_t before = watch->row.count;
    vcs_env_act_on(env, (int)(k / 7 % VCS_ACTIONS), VCS_NOOP);
    goes_on = vcs_steps_add(watch->steps, (uint64_t)(watch->row.count - before));
    if (watch->row.count == before) break; /* jammed: there will be no more instructions */
  }
  vcs_env_free(env);
  return VCS_OK;
}

typedef struct {
  int64_t count;
  vcs_text_t *out;
} cpu_writer_t;

static int64_t write_cpu_row(void *context, const vcs_cpu_row_t *row) {
  cpu_writer_t *writer = context;
  vcs_cpu_row_print(row, writer->out);
  vcs_text_printf(writer->out, "\n");
  int64_t next = row->count < 64 ? row->count + 1 : (row->count / 1000 + 1) * 1000;
  if (next > writer->count) next = writer->count; /* the last one has a row in any case */
  return next > row->count ? next : -1;
}

static vcs_status_t record_cpu(const vcs_cart_t *cart, const vcs_record_options_t *o, vcs_text_t *out,
                               vcs_error_t *error) {
  vcs_steps_t steps;
  cpu_writer_t writer = {o->instructions, out};
  cpu_watch_t watch = {.next = 1, .visit = write_cpu_row, .context = &writer, .steps = &steps};
  vcs_text_printf(out, "%s\n# profile=%s\n", VCS_CPU_HEADING, vcs_profile_name(vcs_cart_info(cart)->profile));
  vcs_steps_begin(&steps, &o->report, "recording", (uint64_t)o->instructions);
  const vcs_status_t status = run_cpu(cart, &watch, error);
  const bool stopped = vcs_steps_stopped(&steps);
  vcs_steps_end(&steps);
  return status == VCS_OK && stopped && watch.next >= 0 ? vcs_cancelled(error) : status;
}

static bool is_cpu_record(const char *text) { return strncmp(text, "# n\topcode\t", 11) == 0; }

typedef struct {
  rows_t rows;
  vcs_cpu_row_t want;
  vcs_record_check_t *check;
  bool bad;
} cpu_reader_t;

/* The count of the record's next row, -1 at its end or where it is no row. */
static int64_t read_cpu_row(cpu_reader_t *reader) {
  if (!next_row(&reader->rows)) {
    reader->bad = !reader->rows.row[0];
    return -1;
  }
  vcs_cpu_row_t *w = &reader->want;
  int64_t before = w->count;
  unsigned v[8];
  int end = 0;
  static const char format[] = "%" SCNd64 "\t%x\t%x\t%x\t%x\t%x\t%x\t%x\t%u\t%" SCNx32 "\t%" SCNx32 "%n";
  if (sscanf(reader->rows.row, format, &w->count, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7],
             &w->state_chain, &w->cycle_chain, &end) != 11 ||
      !is_checksum(reader->rows.row, end) || w->count <= before) {
    reader->bad = true;
    return -1;
  }
  w->step.opcode = (uint8_t)v[0];
  w->step.pc = (uint16_t)v[1];
  w->step.a = (uint8_t)v[2];
  w->step.x = (uint8_t)v[3];
  w->step.y = (uint8_t)v[4];
  w->step.sp = (uint8_t)v[5];
  w->step.p = (uint8_t)v[6];
  w->step.cycles = v[7];
  return w->count;
}

static int64_t check_cpu_row(void *context, const vcs_cpu_row_t *got) {
  cpu_reader_t *reader = context;
  vcs_record_check_t *check = reader->check;
  const vcs_step_t *g = &got->step, *w = &reader->want.step;
  check->state = g->opcode != w->opcode || g->pc != w->pc || g->a != w->a || g->x != w->x || g->y != w->y ||
                 g->sp != w->sp || g->p != w->p || got->state_chain != reader->want.state_chain;
  check->cycles = g->cycles != w->cycles || got->cycle_chain != reader->want.cycle_chain;
  check->checked = got->count;
  if (check->state || check->cycles) {
    check->differs_at = got->count;
    return -1;
  }
  check->last_equal = got->count;
  return read_cpu_row(reader);
}

static vcs_status_t verify_cpu(const vcs_cart_t *cart, const char *text, vcs_steps_t *steps, vcs_record_check_t *check,
                               vcs_error_t *error) {
  cpu_reader_t reader = {.rows = {.at = text}, .check = check};
  cpu_watch_t watch = {.next = read_cpu_row(&reader), .visit = check_cpu_row, .context = &reader, .steps = steps};
  vcs_status_t status = reader.bad ? VCS_OK : run_cpu(cart, &watch, error);
  if (status == VCS_OK && watch.next > 0 && !vcs_steps_stopped(steps)) { /* jammed before it */
    check->differs_at = watch.next;
    check->state = 1;
  }
  return reader.bad ? bad_row(&reader.rows, "CPU", error) : status;
}

/* ---- Both --------------------------------------------------------------------------------------------------- */

enum { RECORD_LIMIT = 1 << 30 }; /* bytes of a file */

vcs_status_t vcs_record(const vcs_cart_t *cart, const vcs_record_options_t *given, char **text, vcs_error_t *error) {
  vcs_record_options_t o;
  vcs_text_t out = {0};
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_record_options_t, &o, given, error);
  o.frames = o.frames < 0 ? 0 : o.frames ? o.frames : 6000;
  if (!o.stride) o.stride = 100;
  if (!o.instructions) o.instructions = 1000000;
  *text = NULL;
  if (status) return status;
  if (o.stride < 0 || o.instructions < 0) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "stride and instructions must be positive");
  }
  status = o.cpu ? record_cpu(cart, &o, &out, error) : record_play(cart, &o, &out, error);
  if (out.failed) status = vcs_no_memory(error);
  if (status && status != VCS_CANCELLED) {
    vcs_text_free(&out);
  } else {
    *text = out.text;
  }
  return status;
}

vcs_status_t vcs_verify(const vcs_cart_t *cart, const char *text, uint64_t seed, const vcs_report_t *report,
                        vcs_record_check_t *check, vcs_error_t *error) {
  const vcs_report_t none = {NULL, NULL};
  vcs_steps_t steps;
  *check = (vcs_record_check_t){.differs_at = -1, .cpu = is_cpu_record(text)};
  vcs_steps_begin(&steps, report ? report : &none, "verifying", 0);
  vcs_status_t status =
      check->cpu ? verify_cpu(cart, text, &steps, check, error) : verify_play(cart, text, seed, &steps, check, error);
  if (status == VCS_OK && check->differs_at < 0 && vcs_steps_stopped(&steps)) status = vcs_cancelled(error);
  vcs_steps_end(&steps);
  return status;
}

/* "pong.3" -> "pong" and 3. A CPU record needs no seed: "pong" and "pong.anything" are both pong. */
static vcs_status_t read_label(const char *label, bool cpu, char *game, size_t size, uint64_t *seed,
                               vcs_error_t *error) {
  const char *dot = cpu ? strchr(label, '.') : strrchr(label, '.');
  const char *digits = dot ? dot + 1 : "";
  char *end;
  const size_t length = dot ? (size_t)(dot - label) : strlen(label);
  if (length >= size) return vcs_error_fill(error, VCS_BAD_FILE, "the name of the game is too long");
  memcpy(game, label, length);
  game[length] = 0;
  if (cpu) return VCS_OK;
  errno = 0;
  *seed = strtoull(digits, &end, 10);
  if (*digits >= '0' && *digits <= '9' && !*end && !errno) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_FILE,
                        "the name has no game and seed; a play record is called GAME.SEED.tsv or GAME.SEED.tsv.gz");
}

/* The profile that the comments at the beginning of a record name ("profile=ale"); false: they name none. */
static bool read_profile(const char *text, vcs_profile_t *profile) {
  while (*text == '#') {
    const size_t length = strcspn(text, "\n");
    char line[256], word[16];
    snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), text);
    const char *found = strstr(line, " profile=");
    if (found && sscanf(found, " profile=%15[a-z]", word) == 1) return !vcs_profile_by_name(word, profile, NULL);
    text += length + (text[length] == '\n');
  }
  return false;
}

static vcs_status_t verify_text(const char *text, const char *label, const vcs_rom_options_t *options,
                                const vcs_report_t *report, vcs_record_check_t *check, vcs_error_t *error) {
  char game[256];
  uint64_t seed = 0;
  vcs_rom_t rom;
  check->cpu = is_cpu_record(text);
  if (*text != '#' && strncmp(text, "boot\t", 5) != 0) {
    return vcs_error_fill(error, VCS_BAD_FILE, *text ? "not a record: it has no heading" : "the file is empty");
  }
  vcs_status_t status = read_label(label, check->cpu, game, sizeof game, &seed, error);
  if (status) return status;
  vcs_rom_options_t choice;
  vcs_profile_t profile;
  status = VCS_OPTIONS_TAKE(vcs_rom_options_t, &choice, options, error);
  if (status) return status;
  if (read_profile(text, &profile)) choice.profile = profile;
  status = vcs_rom_open(game, &choice, &rom, error);
  if (status == VCS_NOT_FOUND) vcs_error_fill(error, status, "no ROM image '%.100s'", game);
  if (status) return status;
  status = vcs_verify(rom.cart, text, seed, report, check, error);
  vcs_rom_free(&rom);
  return status;
}

void vcs_record_label(const char *path, char *label, size_t size) {
  snprintf(label, size, "%s", vcs_path_base(path));
  if (vcs_path_ends(label, ".gz")) label[strlen(label) - 3] = 0;
  if (vcs_path_ends(label, ".tsv")) label[strlen(label) - 4] = 0;
}

vcs_status_t vcs_verify_file(const char *path, const vcs_rom_options_t *options, const vcs_report_t *report,
                             vcs_record_check_t *check, vcs_error_t *error) {
  uint8_t *data;
  size_t size;
  char label[256];
  *check = (vcs_record_check_t){.differs_at = -1};
  vcs_status_t status = vcs_file_read(path, RECORD_LIMIT, &data, &size, error);
  if (status) return status == VCS_NOT_FOUND ? VCS_BAD_FILE : status;
  vcs_record_label(path, label, sizeof label);
  status = verify_text((const char *)data, label, options, report, check, error);
  free(data);
  return status;
}
