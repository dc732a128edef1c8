/* expression.c: texts that users type: expressions and breakpoints of the debugger, outputs, bits, inputs, lists of
 * actions. The first byte chooses which. */
#include "core/state.h"
#include "diffvcs/study.h"
#include "fuzz.h"
#include "study/breakpoint.h"

static void read_words(const char *text, int kind) {
  const vcs_cart_t *cart = demo_cart();
  vcs_env_t *env = demo_env();
  vcs_controls_t controls = {0};
  const vcs_run_t run = {cart, vcs_env_machine(env), NULL, &controls, 1};
  vcs_symbol_t table[] = {{"COUNTER", 0x80}, {"loop", 0xF123}};
  const vcs_symbols_t symbols = {table, 2};
  const vcs_moment_t moment = {cart, vcs_env_machine(env), 7};
  vcs_expression_t expression;
  vcs_break_t stop;
  vcs_scalar_t target;
  vcs_place_t place;
  vcs_error_t error = {""};
  switch (kind) {
    case 0:
      if (accepted(vcs_expression_read(text, &symbols, &expression, &error), &error)) {
        check(expression.count > 0 && expression.count <= VCS_EXPRESSION_STEPS);
        vcs_expression_value(&expression, &moment);
      }
      break;
    case 1:
      if (accepted(vcs_break_read(text, &symbols, &moment, &stop, &error), &error)) {
        vcs_break_met(&stop, &moment, -1);
        vcs_break_met(&stop, &moment, 0);
      }
      break;
    case 2:
      if (accepted(vcs_target_parse(text, cart, env, NULL, &target, &error), &error) &&
          target.kind == VCS_SCALAR_PIXELS) {
        check(target.x >= 0 && target.x + target.width <= VCS_WIDTH);
      }
      break;
    case 3:
      if (accepted(vcs_place_parse_bit(text, &run, &place, &error), &error)) check(place.bit < 8);
      break;
    case 4:
      if (accepted(vcs_place_parse_input(text, &run, &place, &error), &error)) check(place.frame < run.frames);
      break;
    default: {
      const vcs_setup_options_t options = {.actions = text, .frame = 2, .horizon = 1};
      vcs_setup_t setup;
      if (accepted(vcs_setup_create(cart, &options, &setup, &error), &error)) vcs_setup_free(&setup);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input_t input = {data, size};
  const int kind = (int)(take(&input, 1) % 6);
  char *text = take_text(&input);
  read_words(text, kind);
  free(text);
  return 0;
}
