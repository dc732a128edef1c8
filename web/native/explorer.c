/* explorer.c: the functions of the library that the web page calls.
 *
 * A session is a cartridge in a console that is being played: the machine, its frame buffers, and its past
 * (vcs_history_t), from which any earlier frame is reached again. Questions are about the run that ends with the
 * present frame: web_look_back chooses how many frames it has, and the calls below it answer. Small answers are texts
 * in JSON, pictures and maps are bytes in the session; both stay until the next call that makes one.
 *
 * A page uses two sessions, each in a worker of its own: one plays, the other answers. web_export and web_import carry
 * the run over.
 */
#include <emscripten.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "diffvcs/objects.h"
#include "diffvcs/study.h"
#include "host/env.h"
#include "host/files.h"

#define WEB EMSCRIPTEN_KEEPALIVE

/* A checkpoint every second, and a quarter of an hour of them. */
enum { PAST_INTERVAL = 60, PAST_ROOM = 900, NAME_SIZE = 64 };
enum { FRAMES_MOST = 1 << 30 }; /* the greatest frame number of a save that is opened */

typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env; /* where the game began; save files go through it */
  vcs_history_t *past;
  vcs_t *m, *listener, *scratch;
  uint8_t *frames, *scratch_frames;
  int32_t frame; /* frames that were played */
  uint8_t samples[VCS_SOUND_LENGTH_MAX];
  float palette[768];
  /* the run that questions are about, and its last frame */
  vcs_setup_t setup;
  vcs_run_t last;
  vcs_t *last_start;
  uint8_t *last_frames;
  vcs_slice_t trace; /* the instructions of the last frame */
  bool traced;
  uint8_t *map; /* [height * 160], an answer */
  vcs_text_t text;
  void *bytes;
  size_t byte_count;
  vcs_error_t error;
} web_session_t;

static vcs_error_t opening; /* why the last web_open failed: there is no session then to keep it in */

/* ---- Memory that answers are in ------------------------------------------------------------------------------- */

WEB void *web_alloc(size_t size) { return malloc(size); }
WEB void web_release(void *memory) { free(memory); }

WEB const char *web_error(const web_session_t *s) { return s ? s->error.message : opening.message; }

static const char *finish_text(web_session_t *s) { return s->text.failed ? "" : s->text.text; }

static void begin_text(web_session_t *s) {
  vcs_text_free(&s->text);
  memset(&s->text, 0, sizeof s->text);
}

static size_t picture_bytes(const web_session_t *s) {
  return (size_t)VCS_WIDTH * (size_t)vcs_cart_info(s->cart)->height;
}

/* ---- Sessions -------------------------------------------------------------------------------------------------- */

static void forget_run(web_session_t *s) {
  vcs_setup_free(&s->setup);
  vcs_slice_free(&s->trace);
  memset(&s->setup, 0, sizeof s->setup);
  memset(&s->trace, 0, sizeof s->trace);
  s->traced = false;
}

WEB void web_close(web_session_t *s) {
  if (!s) return;
  forget_run(s);
  vcs_text_free(&s->text);
  vcs_history_free(s->past);
  vcs_env_free(s->env);
  vcs_cart_free(s->cart);
  free(s->m);
  free(s->listener);
  free(s->scratch);
  free(s->last_start);
  free(s->frames);
  free(s->scratch_frames);
  free(s->last_frames);
  free(s->map);
  free(s->bytes);
  free(s);
}

static vcs_status_t begin_past(web_session_t *s, vcs_error_t *error) {
  vcs_history_free(s->past);
  s->past = NULL;
  memcpy(s->listener, s->m, vcs_state_size(s->cart));
  return vcs_history_create(s->cart, s->frame, PAST_INTERVAL, PAST_ROOM, &s->past, error);
}

static vcs_status_t open_session(web_session_t *s, const uint8_t *image, size_t size, const uint8_t *patch,
                                 size_t patch_size, const char *name, vcs_error_t *error) {
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .name = name};
  vcs_controls_t none[1];
  vcs_run_t run;
  vcs_status_t status = vcs_cart_load(image, size, &options, &s->cart, error);
  if (status == VCS_OK && patch_size) status = vcs_cart_patch(s->cart, patch, patch_size, error);
  if (status == VCS_OK) status = vcs_env_create(s->cart, &s->env, error);
  if (status) return status;
  s->m = calloc(1, sizeof(vcs_t));
  s->listener = calloc(1, sizeof(vcs_t));
  s->scratch = calloc(1, sizeof(vcs_t));
  s->last_start = calloc(1, sizeof(vcs_t));
  s->frames = calloc(2, VCS_FRAME_BYTES);
  s->scratch_frames = calloc(2, VCS_FRAME_BYTES);
  s->last_frames = calloc(2, VCS_FRAME_BYTES);
  s->map = calloc(1, VCS_FRAME_BYTES);
  if (!s->m || !s->listener || !s->scratch || !s->last_start || !s->frames || !s->scratch_frames || !s->last_frames ||
      !s->map) {
    return vcs_error_fill(error, VCS_NO_MEMORY, "the browser gives this page no more memory");
  }
  vcs_run_idle(s->env, 1, none, &run); /* draws both frame buffers */
  memcpy(s->m, run.start, vcs_state_size(s->cart));
  memcpy(s->frames, run.picture, (size_t)2 * VCS_FRAME_BYTES);
  vcs_pixel_values(s->cart, VCS_VALUES_RGB, s->palette);
  return begin_past(s, error);
}

/* Opens an image; NULL: our own cartridge. `patch` (IPS or BPS) may be empty. NULL: web_error(NULL) says why. */
WEB web_session_t *web_open(const uint8_t *image, size_t size, const uint8_t *patch, size_t patch_size,
                            const char *name) {
  web_session_t *s = calloc(1, sizeof *s);
  opening = (vcs_error_t){""};
  if (!image) image = vcs_demo_image(&size);
  const vcs_status_t status = s ? open_session(s, image, size, patch, patch_size, name, &opening) : VCS_NO_MEMORY;
  if (status == VCS_OK) return s;
  web_close(s);
  return NULL;
}

static void put_string(vcs_text_t *text, const char *string) {
  vcs_text_append(text, "\"", 1);
  for (; string && *string; string++) {
    if (*string == '"' || *string == '\\') vcs_text_append(text, "\\", 1);
    if ((unsigned char)*string >= ' ') vcs_text_append(text, string, 1);
  }
  vcs_text_append(text, "\"", 1);
}

WEB const char *web_info(web_session_t *s) {
  const vcs_cart_info_t *info = vcs_cart_info(s->cart);
  begin_text(s);
  vcs_text_printf(&s->text, "{\"game\":");
  put_string(&s->text, info->game);
  vcs_text_printf(&s->text,
                  ",\"scheme\":\"%s\",\"format\":\"%s\",\"left\":\"%s\",\"right\":\"%s\",\"size\":%u,\"ram\":%u,"
                  "\"height\":%d,\"top\":%d,\"md5\":\"%s\",\"sha256\":\"%s\",\"rate\":%d,\"state\":%u}",
                  info->scheme_name, vcs_format_name(info->format), vcs_controller_name(info->left),
                  vcs_controller_name(info->right), (unsigned)info->image_size, (unsigned)info->ram_size, info->height,
                  info->top_line, info->md5, info->sha256, vcs_sound_rate(info->format),
                  (unsigned)vcs_state_size(s->cart));
  return finish_text(s);
}

WEB const uint8_t *web_image(web_session_t *s) { return vcs_cart_image(s->cart); }
WEB const float *web_palette(web_session_t *s) { return s->palette; }

/* ---- Playing ----------------------------------------------------------------------------------------------------- */

/* The listener has the machine's sound registers and waveforms of its own: listening changes no machine. */
static void listen(web_session_t *s) {
  vcs_t *l = s->listener;
  uint8_t divider[2], five[2], four[2];
  memcpy(divider, l->audio_divider, sizeof divider);
  memcpy(five, l->audio_five, sizeof five);
  memcpy(four, l->audio_four, sizeof four);
  memcpy(l, s->m, vcs_state_size(s->cart));
  memcpy(l->audio_divider, divider, sizeof divider);
  memcpy(l->audio_five, five, sizeof five);
  memcpy(l->audio_four, four, sizeof four);
}

/* Plays frames under the same controls; what was played after the present frame before is forgotten. Returns the frame
 * number, or -1. */
WEB int32_t web_play(web_session_t *s, const vcs_controls_t *controls, int32_t count) {
  vcs_history_cut(s->past, s->frame);
  for (int32_t i = 0; i < count; i++) {
    if (vcs_history_add(s->past, s->m, s->frames, controls, &s->error)) return -1;
    vcs_control(s->cart, s->m, controls);
    vcs_frame(s->cart, s->m, s->frames);
    s->frame++;
  }
  listen(s);
  return s->frame;
}

WEB const uint8_t *web_sound(web_session_t *s) {
  vcs_sound(s->listener, s->samples, vcs_sound_length(s->listener));
  return s->samples;
}
WEB int32_t web_sound_length(web_session_t *s) { return vcs_sound_length(s->listener); }

WEB const uint8_t *web_picture(web_session_t *s) { return vcs_picture(s->m, s->frames); }
WEB const uint8_t *web_ram(web_session_t *s) { return vcs_ram(s->m); }
WEB int32_t web_frame_number(web_session_t *s) { return s->frame; }
WEB int32_t web_first(web_session_t *s) { return (int32_t)vcs_history_first(s->past); }
WEB int32_t web_end(web_session_t *s) { return (int32_t)vcs_history_end(s->past); }

/* What was held in a frame of the past. */
WEB const vcs_controls_t *web_controls(web_session_t *s, int32_t frame) { return vcs_history_controls(s->past, frame); }

/* Goes to the state after `frame` frames, which may be any of web_first to web_end. Returns the frame it is at. */
WEB int32_t web_go(web_session_t *s, int32_t frame) {
  const int32_t first = web_first(s), end = web_end(s);
  if (frame < first) frame = first;
  if (frame > end) frame = end;
  if (end == first || frame == s->frame) return s->frame;
  if (frame == end) { /* the last frame that was played ends there */
    vcs_history_go(s->past, frame - 1, s->m, s->frames);
    vcs_control(s->cart, s->m, vcs_history_controls(s->past, frame - 1));
    vcs_frame(s->cart, s->m, s->frames);
  } else {
    vcs_history_go(s->past, frame, s->m, s->frames);
  }
  s->frame = frame;
  listen(s);
  return frame;
}

WEB const char *web_hash(web_session_t *s) {
  begin_text(s);
  vcs_text_printf(&s->text, "%016llx", (unsigned long long)vcs_hash(s->cart, s->m));
  return finish_text(s);
}

/* ---- Save files and carrying runs over ----------------------------------------------------------------------------
 */

static bool make_room(web_session_t *s, size_t size) {
  free(s->bytes);
  s->bytes = malloc(size);
  s->byte_count = s->bytes ? size : 0;
  return s->bytes;
}

WEB const void *web_bytes(const web_session_t *s) { return s->bytes; }
WEB size_t web_byte_count(const web_session_t *s) { return s->byte_count; }

/* A save file (src/host/save.h) of the present frame, in web_bytes. 0: web_error says why not. */
WEB int web_save(web_session_t *s) {
  vcs_env_t *env = s->env;
  memcpy(env->m, s->m, vcs_state_size(s->cart));
  memcpy(env->draw_history.frames, s->frames, (size_t)2 * VCS_FRAME_BYTES);
  env->draw_history.picture = env->draw_history.frames + (web_picture(s) - s->frames);
  env->draw_history.exact = true;
  env->frame_number = (uint64_t)s->frame;
  return make_room(s, vcs_env_save_bound(env)) && !vcs_env_save_to(env, s->bytes, &s->byte_count, &s->error);
}

WEB int web_load(web_session_t *s, const void *file, size_t size) {
  vcs_env_t *env = s->env;
  if (vcs_env_load_from(env, file, size, &s->error)) return 0;
  if (env->frame_number > FRAMES_MOST) {
    vcs_error_fill(&s->error, VCS_BAD_FILE, "the save is of frame %llu; frames up to %d can be opened here",
                   (unsigned long long)env->frame_number, (int)FRAMES_MOST);
    return 0;
  }
  if (!env->draw_history.exact) vcs_draw_history_redraw(&env->draw_history, env->cart);
  memcpy(s->m, env->m, vcs_state_size(s->cart));
  memcpy(s->frames, env->draw_history.frames, (size_t)2 * VCS_FRAME_BYTES);
  s->frame = (int32_t)env->frame_number;
  return !begin_past(s, &s->error);
}

/* The last `horizon` frames in web_bytes: their number and that of the first one, the machine and the frame buffers
 * before them, the controls of each. */
WEB int web_export(web_session_t *s, int32_t horizon) {
  const int32_t first = s->frame - horizon < web_first(s) ? web_first(s) : s->frame - horizon;
  const int32_t head[2] = {s->frame - first, first};
  const size_t state = vcs_state_size(s->cart), pictures = (size_t)2 * VCS_FRAME_BYTES;
  if (!make_room(s, sizeof head + state + pictures + (size_t)head[0] * sizeof(vcs_controls_t))) return 0;
  uint8_t *at = s->bytes;
  if (head[0]) {
    vcs_history_go(s->past, first, s->scratch, s->scratch_frames);
  } else {
    memcpy(s->scratch, s->m, state);
    memcpy(s->scratch_frames, s->frames, pictures);
  }
  memcpy(at, head, sizeof head);
  memcpy(at + sizeof head, s->scratch, state);
  memcpy(at + sizeof head + state, s->scratch_frames, pictures);
  at += sizeof head + state + pictures;
  for (int32_t i = 0; i < head[0]; i++) {
    memcpy(at + (size_t)i * sizeof(vcs_controls_t), vcs_history_controls(s->past, first + i), sizeof(vcs_controls_t));
  }
  return 1;
}

WEB int web_import(web_session_t *s, const uint8_t *bytes) {
  int32_t head[2];
  const size_t state = vcs_state_size(s->cart), pictures = (size_t)2 * VCS_FRAME_BYTES;
  memcpy(head, bytes, sizeof head);
  memcpy(s->m, bytes + sizeof head, state);
  memcpy(s->frames, bytes + sizeof head + state, pictures);
  s->frame = head[1];
  forget_run(s);
  if (begin_past(s, &s->error)) return 0;
  bytes += sizeof head + state + pictures;
  for (int32_t i = 0; i < head[0]; i++) {
    vcs_controls_t controls;
    memcpy(&controls, bytes + (size_t)i * sizeof controls, sizeof controls);
    if (web_play(s, &controls, 1) < 0) return 0;
  }
  return 1;
}

/* ---- The run that questions are about ------------------------------------------------------------------------------
 */

/* The last `horizon` frames; fewer where fewer were played. Returns how many, 0: none was. */
WEB int32_t web_look_back(web_session_t *s, int32_t horizon) {
  forget_run(s);
  if (vcs_history_setup(s->past, s->cart, s->frame, horizon, &s->setup, &s->error)) return 0;
  const vcs_run_t *run = &s->setup.run;
  vcs_history_go(s->past, s->frame - 1, s->last_start, s->last_frames);
  s->last = (vcs_run_t){s->cart, s->last_start, s->last_frames, run->controls + run->frames - 1, 1};
  return run->frames;
}

static bool trace_it(web_session_t *s) {
  if (s->traced) return true;
  memcpy(s->scratch, s->last.start, vcs_state_size(s->cart));
  s->traced = !vcs_slice_record(s->cart, s->scratch, s->last.controls, &s->trace, &s->error);
  return s->traced;
}

/* The register of the TIA that an instruction writes, or -1. */
static int written(const vcs_slice_row_t *row) {
  for (int i = 0; i < row->accesses.count; i++) {
    if (row->accesses.writes[i] && row->accesses.address[i] < 0x40) return row->accesses.address[i];
  }
  return -1;
}

/* The instructions of the last frame: [pc, clock, end clock, register of the TIA written or -1, text]. */
WEB const char *web_trace(web_session_t *s) {
  if (!trace_it(s)) return NULL;
  begin_text(s);
  for (int32_t i = 0; i < s->trace.count; i++) {
    const vcs_slice_row_t *row = &s->trace.rows[i];
    const int reg = written(row);
    vcs_text_printf(&s->text, "%s[%u,%d,%d,%d,", i ? "," : "[", row->pc, row->clock, row->end_clock, reg);
    put_string(&s->text, row->text);
    vcs_text_append(&s->text, "]", 1);
  }
  vcs_text_append(&s->text, "]", 1);
  return finish_text(s);
}

/* The machine before instruction `row` of the last frame: every field by name. The picture then is in web_map. */
WEB const char *web_at(web_session_t *s, int32_t row) {
  const vcs_field_t *field;
  vcs_step_t step = {0};
  vcs_t *m = s->scratch;
  memcpy(m, s->last.start, vcs_state_size(s->cart));
  memcpy(s->scratch_frames, s->last.picture, (size_t)2 * VCS_FRAME_BYTES);
  vcs_control(s->cart, m, s->last.controls);
  vcs_frame_begin(s->cart, m);
  for (int32_t i = 0; i < row && !m->jammed && !step.frame_over; i++) vcs_step(s->cart, m, s->scratch_frames, &step);
  memcpy(s->map, vcs_picture(m, s->scratch_frames), picture_bytes(s));
  begin_text(s);
  for (int i = 0; (field = vcs_field(i)); i++) {
    const uint8_t *at = (const uint8_t *)m + field->offset;
    const size_t count = strcmp(field->name, "cart_ram") == 0 ? vcs_cart_info(s->cart)->ram_size : field->count;
    vcs_text_printf(&s->text, "%s\"%s\":", i ? "," : "{", field->name);
    for (size_t j = 0; j < count || j == 0; j++) {
      int32_t value = 0;
      if (count) memcpy(&value, at + j * field->size, field->size);
      vcs_text_printf(&s->text, "%s%d", j ? "," : field->count > 1 ? "[" : "", value);
    }
    if (field->count > 1) vcs_text_append(&s->text, "]", 1);
  }
  vcs_text_append(&s->text, "}", 1);
  return finish_text(s);
}

/* Disassembly around an address, as the machine's banks are: [address, label, text, bytes]. */
WEB const char *web_disassemble(web_session_t *s, int32_t address, int32_t count) {
  vcs_disassembly_t *rows = calloc((size_t)count + 1, sizeof *rows);
  if (!rows) return NULL;
  vcs_disassemble_list(s->cart, s->m, NULL, (uint16_t)address, rows, count);
  begin_text(s);
  for (int32_t i = 0; i < count; i++) {
    vcs_text_printf(&s->text, "%s[%u,", i ? "," : "[", rows[i].address);
    put_string(&s->text, rows[i].text);
    vcs_text_append(&s->text, "]", 1);
  }
  vcs_text_append(&s->text, "]", 1);
  free(rows);
  return finish_text(s);
}

/* The objects that the last frame shows: [kind, x, y, width, height], by the box of the pixels that show each. */
WEB const char *web_objects(web_session_t *s) {
  vcs_object_t *objects = calloc(VCS_OBJECTS_MAX, sizeof *objects);
  if (!objects) return NULL;
  memcpy(s->scratch, s->last.start, vcs_state_size(s->cart));
  memcpy(s->scratch_frames, s->last.picture, (size_t)2 * VCS_FRAME_BYTES);
  vcs_control(s->cart, s->scratch, s->last.controls);
  const int32_t found = vcs_frame_objects(s->cart, s->scratch, s->scratch_frames, objects, VCS_OBJECTS_MAX);
  begin_text(s);
  vcs_text_append(&s->text, "[", 1);
  for (int32_t i = 0; i < found && i < VCS_OBJECTS_MAX; i++) {
    const vcs_object_t *o = &objects[i];
    vcs_text_printf(&s->text, "%s[%d,%d,%d,%d,%d]", i ? "," : "", o->kind, o->seen_x, o->seen_y, o->seen_w, o->seen_h);
  }
  vcs_text_append(&s->text, "]", 1);
  free(objects);
  return finish_text(s);
}

/* What the run does with each byte of the image, in web_bytes: vcs_rom_kind_t, and 16 added where it is read as data.
 */
WEB int web_rom_uses(web_session_t *s) {
  const uint32_t size = vcs_cart_info(s->cart)->image_size;
  vcs_rom_use_t *uses = calloc(size, sizeof *uses);
  const bool done = uses && !vcs_rom_uses(&s->setup.run, uses, &s->error) && make_room(s, size);
  for (uint32_t i = 0; i < size && done; i++) ((uint8_t *)s->bytes)[i] = uses[i].kind | (uses[i].read ? 16 : 0);
  free(uses);
  return done;
}

/* ---- Why: the parts of an explanation
 * -------------------------------------------------------------------------------- */

static void put_reasons(vcs_text_t *text, const char *name, const vcs_reasons_t *reasons, int bits, bool methods) {
  vcs_text_printf(text, ",\"%s\":[", name);
  for (int32_t i = 0; i < reasons->count; i++) {
    const vcs_reason_t *r = &reasons->reasons[i];
    vcs_text_printf(text, "%s{\"index\":%u,\"truth\":[", i ? "," : "", (unsigned)r->index);
    for (int b = 0; b < bits; b++) vcs_text_printf(text, "%s%g", b ? "," : "", (double)r->truth[b]);
    vcs_text_append(text, "]", 1);
    for (int m = 0; m < VCS_STUDY_ESTIMATES && methods; m++) {
      vcs_text_printf(text, ",\"%s\":[", vcs_study_method_name(m));
      for (int b = 0; b < bits; b++) {
        const double d = (double)r->derivative[m][b];
        vcs_text_printf(text, d - d == 0 ? "%s%g" : "%snull", b ? "," : "", d);
      }
      vcs_text_append(text, "]", 1);
    }
    vcs_text_append(text, "}", 1);
  }
  vcs_text_append(text, "]", 1);
}

static void put_causes(vcs_text_t *text, const vcs_explanation_t *e) {
  vcs_text_printf(text, ",\"writes\":[");
  for (int32_t i = 0; i < e->cause_count; i++) {
    const vcs_cause_t *c = &e->causes[i];
    const vcs_slice_row_t *row = &e->slice.rows[c->row];
    vcs_text_printf(text, "%s{\"row\":%d,\"register\":\"%s\",\"value\":%d,\"bits\":%u,\"needed\":%u,\"clock\":%d}",
                    i ? "," : "", c->row, vcs_symbol_name(NULL, c->address, 1), c->has_value ? c->value : -1, c->bits,
                    c->needed, row->end_clock);
  }
  vcs_text_printf(text, "],\"instructions\":[");
  for (int32_t i = 0, shown = 0; i < e->slice.count; i++) {
    if (!e->slice.rows[i].slice) continue;
    vcs_text_printf(text, "%s[%d,%u,%d,", shown++ ? "," : "", i, e->slice.rows[i].pc, e->slice.rows[i].end_clock);
    put_string(text, e->slice.rows[i].text);
    vcs_text_append(text, "]", 1);
  }
  vcs_text_append(text, "]", 1);
}

/* Explains a target (vcs_target_parse), those parts of it (VCS_EXPLAIN_...); bits of RAM and ROM are flipped `span`
 * frames before the end. */
WEB const char *web_explain(web_session_t *s, const char *target, int32_t parts, int32_t span) {
  const vcs_explain_options_t options = {.target = target, .span = span, .parts = parts};
  vcs_explanation_t e;
  begin_text(s);
  if (vcs_explain(&s->setup.run, &options, &e, &s->error)) {
    vcs_explanation_free(&e);
    return NULL;
  }
  const bool methods = parts & VCS_EXPLAIN_METHODS;
  vcs_text_printf(&s->text, "{\"value\":%g,\"frames\":%d,\"objects\":[", e.value, e.run.frames);
  for (int i = 0; i < VCS_OBJECT_COUNT; i++) vcs_text_printf(&s->text, "%s%u", i ? "," : "", e.drawn_by[i]);
  vcs_text_append(&s->text, "]", 1);
  if (parts & VCS_EXPLAIN_WRITES) put_causes(&s->text, &e);
  if (parts & VCS_EXPLAIN_RAM) put_reasons(&s->text, "ram", &e.ram, 8, methods);
  if (parts & VCS_EXPLAIN_INPUTS) put_reasons(&s->text, "inputs", &e.inputs, 1, methods);
  if (parts & VCS_EXPLAIN_ROM) {
    put_reasons(&s->text, "rom", &e.rom, 8, methods);
    vcs_text_printf(&s->text, ",\"uses\":{");
    for (int32_t i = 0; i < e.rom.count; i++) {
      const uint32_t index = e.rom.reasons[i].index;
      char where[24], what[48];
      vcs_rom_address(&e.uses[index], index, where, sizeof where);
      vcs_rom_describe(&e.uses[index], what, sizeof what);
      vcs_text_printf(&s->text, "%s\"%u\":[%u,\"%s\",", i ? "," : "", (unsigned)index, e.uses[index].kind, where);
      put_string(&s->text, what);
      vcs_text_append(&s->text, "]", 1);
    }
    vcs_text_append(&s->text, "}", 1);
  }
  vcs_text_append(&s->text, "}", 1);
  vcs_explanation_free(&e);
  return finish_text(s);
}

/* ---- Flip it and see
 * -------------------------------------------------------------------------------------------------- */

enum { FLIP_RAM, FLIP_ROM, FLIP_INPUT };

/* A place from numbers: `index` is a byte of RAM, of the image, or an input (VCS_INPUT_...); `frame`, of the run, is
 * for inputs. */
static vcs_place_t place_of(int kind, uint32_t index, int bit, int frame) {
  if (kind == FLIP_RAM) return (vcs_place_t){VCS_PLACE_STATE, (uint8_t)bit, 0, (uint32_t)offsetof(vcs_t, ram) + index};
  if (kind == FLIP_ROM) return (vcs_place_t){VCS_PLACE_ROM, (uint8_t)bit, 0, index};
  return (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)frame, index};
}

/* The end of the run with a bit flipped: {pixels, ram: bytes that differ, hash}, and the other picture in web_map. RAM
 * and ROM are flipped before the last frame. */
WEB const char *web_flip(web_session_t *s, int kind, uint32_t index, int bit, int frame) {
  const vcs_place_t place = place_of(kind, index, bit, frame);
  const vcs_run_t *run = kind == FLIP_INPUT ? &s->setup.run : &s->last;
  vcs_ending_t base, other;
  if (vcs_run_bit(run, &place) < 0) {
    vcs_error_fill(&s->error, VCS_BAD_ARGUMENT, "there is no such bit in this run");
    return NULL;
  }
  if (vcs_ending_make(run, NULL, NULL, &base, &s->error)) return NULL;
  if (vcs_ending_make(run, NULL, &place, &other, &s->error)) {
    vcs_ending_free(&base);
    return NULL;
  }
  int pixels = 0, ram = 0;
  memcpy(s->map, other.picture, picture_bytes(s));
  for (size_t i = 0; i < picture_bytes(s); i++) pixels += base.picture[i] != other.picture[i];
  for (int i = 0; i < 128; i++) ram += vcs_ram(base.machine)[i] != vcs_ram(other.machine)[i];
  begin_text(s);
  vcs_text_printf(&s->text, "{\"was\":%d,\"pixels\":%d,\"ram\":%d,\"hash\":\"%016llx\"}", vcs_run_bit(run, &place),
                  pixels, ram, (unsigned long long)vcs_hash(s->cart, other.machine));
  vcs_ending_free(&base);
  vcs_ending_free(&other);
  return finish_text(s);
}

WEB const uint8_t *web_map(web_session_t *s) { return s->map; }

/* Which pixels places move: each of `count` sets of `each` places adds the bit of its number to web_map. Returns how
 * many pixels any of them moves, or -1. */
static int32_t moved_pixels(web_session_t *s, const vcs_run_t *run, const vcs_place_t *places, int each, int count) {
  const size_t pixels = picture_bytes(s);
  float values[768];
  size_t ends[8];
  float *maps = calloc(pixels * (size_t)count, sizeof *maps);
  if (!maps) return -1;
  for (int i = 0; i < count; i++) ends[i] = (size_t)each * (size_t)(i + 1);
  vcs_pixel_values(s->cart, VCS_VALUES_INDEX, values);
  const vcs_truth_options_t options = {.values = values, .channels = 1, .threads = 1};
  const vcs_truth_results_t results = {NULL, NULL, maps, NULL};
  int32_t moved = -1;
  if (!vcs_truth_sets(run, &options, places, ends, (size_t)count, &results, &s->error)) {
    memset(s->map, 0, pixels);
    moved = 0;
    for (size_t p = 0; p < pixels; p++) {
      for (int i = 0; i < count; i++) s->map[p] |= (uint8_t)((maps[(size_t)i * pixels + p] != 0) << i);
      moved += s->map[p] != 0;
    }
  }
  free(maps);
  return moved;
}

/* What the eight bits of a byte of RAM or of the image move in the last frame. */
WEB int32_t web_moves(web_session_t *s, int kind, uint32_t index) {
  vcs_place_t places[8];
  for (int bit = 0; bit < 8; bit++) places[bit] = place_of(kind, index, bit, 0);
  if (vcs_run_bit(&s->last, places) < 0) return -1;
  return moved_pixels(s, &s->last, places, 1, 8);
}

/* What each byte of RAM does in the last frame, in web_map: 0 nothing, 1 it changes RAM only, 2 it moves pixels. 0: it
 * could not be found. */
WEB int web_ram_roles(web_session_t *s) {
  vcs_place_t places[1024];
  vcs_truth_t *rows = calloc(1024, sizeof *rows);
  for (uint32_t i = 0; i < 1024; i++) places[i] = place_of(FLIP_RAM, i / 8, (int)(i % 8), 0);
  const vcs_truth_options_t options = {.threads = 1};
  const vcs_truth_results_t results = {NULL, rows, NULL, NULL};
  const bool done = rows && !vcs_truth(&s->last, &options, places, 1024, &results, &s->error);
  memset(s->map, 0, 128);
  for (int i = 0; i < 1024 && done; i++) {
    const uint8_t role = rows[i].pixels ? 2 : rows[i].ram_bytes ? 1 : 0;
    if (s->map[i / 8] < role) s->map[i / 8] = role;
  }
  free(rows);
  return done;
}

/* Where inputs act: each of those in the bits of `inputs`, the other way round in all frames of the run. */
WEB int32_t web_acts(web_session_t *s, uint32_t inputs) {
  const vcs_run_t *run = &s->setup.run;
  vcs_place_t *places = calloc((size_t)VCS_INPUTS * (size_t)run->frames, sizeof *places);
  int each = 0;
  if (!places) return -1;
  for (uint32_t input = 0; input < VCS_INPUTS; input++) {
    for (int32_t f = 0; f < run->frames && inputs >> input & 1; f++) places[each++] = place_of(FLIP_INPUT, input, 0, f);
  }
  const int32_t moved = each ? moved_pixels(s, run, places, each, 1) : 0;
  free(places);
  return moved;
}

/* ---- Patches
 * ------------------------------------------------------------------------------------------------------------ */

/* The IPS patch from one image to another, in web_bytes. */
WEB int web_patch(web_session_t *s, const uint8_t *before, const uint8_t *after, size_t size) {
  const size_t length = vcs_patch_make(before, after, size, NULL, 0);
  return make_room(s, length) && vcs_patch_make(before, after, size, s->bytes, length) == length;
}
