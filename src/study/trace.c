/* trace.c: every instruction of some frames of a run, with disassembly (study.h).
 *
 * An instruction is disassembled before it is executed, because it may switch the bank it is in: when an instruction is
 * done, the text of the next one is made. The first instruction after a reset has none before it, and its text is made
 * afterwards.
 */
#include <inttypes.h>
#include <stdio.h>

#include "study/record.h"

typedef struct {
  const vcs_cart_t *cart;
  const vcs_trace_options_t *options;
  int64_t from, to, limit; /* frames, both included; rows */
  vcs_cpu_row_t row;
  int64_t frame, rows; /* the frame of the next instruction; rows so far */
  int frame_instructions;
  bool knows_next; /* whether `next` is the text of the next instruction */
  bool stopped;
  char next[32];
} tracer_t;

static bool is_done(const tracer_t *t) { return t->stopped || t->frame > t->to || t->rows >= t->limit; }

static void emit_row(tracer_t *t, const vcs_t *m, const vcs_step_t *step) {
  vcs_trace_row_t row = {.frame = t->frame,
                         .number = t->row.count,
                         .step = *step,
                         .state_chain = t->row.state_chain,
                         .cycle_chain = t->row.cycle_chain};
  if (!t->knows_next) vcs_disassemble(t->cart, m, step->pc_before, t->next, sizeof t->next);
  snprintf(row.text, sizeof row.text, "%s", t->next);
  t->rows++;
  if (t->options->row(t->options->context, &row)) t->stopped = true;
}

static void watch(void *context, const vcs_t *m, const vcs_step_t *step) {
  tracer_t *t = context;
  if (is_done(t)) return;
  vcs_cpu_row_add(&t->row, step);
  if (t->frame >= t->from) emit_row(t, m, step);
  /* A frame ends as in env.c: when the picture is complete, or when it takes too long. */
  const bool last = step->frame_over || ++t->frame_instructions == VCS_FRAME_INSTRUCTIONS;
  if (last) t->frame_instructions = 0;
  if (last && !t->options->play) t->frame++; /* the loop below counts the frames of a play record */
  t->knows_next = t->frame + 1 >= t->from && !is_done(t);
  if (t->knows_next) vcs_disassemble(t->cart, m, step->pc, t->next, sizeof t->next);
}

static void reset(vcs_env_t *env, tracer_t *t) {
  t->knows_next = false;
  t->frame_instructions = 0;
  vcs_env_reset(env);
}

/* Both return false when the processor has jammed: there will be no more instructions. */
static bool run_as_cpu_record(vcs_env_t *env, tracer_t *t, vcs_steps_t *steps) {
  t->frame = 1;
  reset(env, t);
  for (int64_t k = 0; !is_done(t) && vcs_steps_add(steps, 1); k++) {
    const int64_t before = t->row.count;
    vcs_env_act_on(env, (int)(k / 7 % VCS_ACTIONS), VCS_NOOP);
    if (t->row.count == before) return false;
  }
  return true;
}

static bool run_as_play_record(vcs_env_t *env, tracer_t *t, vcs_steps_t *steps) {
  vcs_stream_t stream;
  vcs_stream_start(&stream, t->options->seed);
  for (t->frame = 1; !is_done(t) && vcs_steps_add(steps, 1); t->frame++) {
    const int64_t before = t->row.count;
    if (vcs_env_over(env)) reset(env, t);
    vcs_env_act(env, vcs_stream_next(&stream), VCS_NOOP);
    if (t->row.count == before) return false;
  }
  return true;
}

vcs_status_t vcs_trace(const vcs_cart_t *cart, const vcs_trace_options_t *options, vcs_error_t *error) {
  vcs_trace_options_t given;
  vcs_env_t *env;
  vcs_steps_t steps;
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_trace_options_t, &given, options, error);
  if (status) return status;
  if (!given.row) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a trace needs a function that takes its rows");
  if (given.from < 0 || given.limit < 0 || (given.to && given.to < given.from)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no frames from %" PRId64 " to %" PRId64, given.from, given.to);
  }
  tracer_t t = {.cart = cart,
                .options = &given,
                .from = given.from ? given.from : 1,
                .limit = given.limit ? given.limit : INT64_MAX};
  t.to = given.to ? given.to : given.limit ? INT64_MAX - 1 : t.from;
  status = vcs_env_create(cart, &env, error);
  if (status) return status;
  vcs_env_set_drawing(env, 0);
  if (given.play) vcs_env_reset(env); /* play records begin with a reset too, but do not count its frames */
  vcs_env_watch(env, watch, &t);
  vcs_steps_begin(&steps, &given.report, "tracing", 0);
  const bool alive = given.play ? run_as_play_record(env, &t, &steps) : run_as_cpu_record(env, &t, &steps);
  vcs_steps_end(&steps);
  vcs_env_free(env);
  if (!alive) {
    return vcs_error_fill(error, VCS_BAD_IMAGE,
                          "the processor jammed in frame %" PRId64 ", at instruction %" PRId64
                          " (opcode $%02X at $%04X)",
                          t.frame, t.row.count, t.row.step.opcode, t.row.step.pc_before);
  }
  if (t.stopped || !is_done(&t)) {
    return vcs_error_fill(error, VCS_CANCELLED, "interrupted in frame %" PRId64, t.frame);
  }
  return VCS_OK;
}
