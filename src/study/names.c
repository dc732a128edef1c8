/* names.c: names of actions, inputs, methods and objects (study.h). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "study/internal.h"

int vcs_action_by_name(const char *name) {
  for (int i = 0; i < VCS_ACTIONS; i++) {
    if (strcasecmp(name, vcs_action_name(i)) == 0) return i;
  }
  char *end;
  const long number = strtol(name, &end, 10);
  return isdigit((unsigned char)*name) && !*end && number < VCS_ACTIONS ? (int)number : -1;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------- */

static const char *const inputs[VCS_INPUTS] = {"up",    "down",  "left",   "right", "fire",  "up2",
                                               "down2", "left2", "right2", "fire2", "reset", "select"};

const char *vcs_input_name(int input) { return input >= 0 && input < VCS_INPUTS ? inputs[input] : NULL; }

int vcs_input_by_name(const char *name) {
  for (int i = 0; i < VCS_INPUTS; i++) {
    if (strcasecmp(name, inputs[i]) == 0) return i;
  }
  return -1;
}

void vcs_input_names(char *text, size_t size) {
  size_t length = 0;
  for (int i = 0; i < VCS_INPUTS && length < size; i++) {
    length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "", inputs[i]);
  }
}

vcs_status_t vcs_controls_parse(const char *text, vcs_controls_t *controls, vcs_error_t *error) {
  vcs_controls_t held = *controls;
  held.held[0] = held.held[1] = held.console = 0;
  for (text += strspn(text, ", \t"); *text; text += strspn(text, ", \t")) {
    char word[16], all[128];
    const size_t length = strcspn(text, ", \t");
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
    const int input = length < sizeof word ? vcs_input_by_name(word) : -1;
    if (input < 0) {
      vcs_input_names(all, sizeof all);
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no input '%s'; there are %s", word, all);
    }
    if (input < VCS_INPUT_SECOND_PLAYER)
      held.held[0] |= (uint8_t)(1 << input);
    else if (input < VCS_INPUT_RESET)
      held.held[1] |= (uint8_t)(1 << (input - VCS_INPUT_SECOND_PLAYER));
    else
      held.console |= (uint8_t)(1 << (input - VCS_INPUT_RESET));
    text += length;
  }
  *controls = held;
  return VCS_OK;
}

/* ---- Methods ------------------------------------------------------------------------------------------------ */

static const struct {
  const char *name;
  vcs_method_t method;
} methods[VCS_STUDY_METHODS] = {{"naive", VCS_METHOD_NAIVE}, {"ste", VCS_METHOD_STE},
                                {"bit", VCS_METHOD_BIT},     {"bit+fork", VCS_METHOD_BIT},
                                {"exact", VCS_METHOD_EXACT}, {"hybrid", VCS_METHOD_HYBRID}};

const char *vcs_study_method_name(int method) {
  return method >= 0 && method < VCS_STUDY_METHODS ? methods[method].name : NULL;
}

int vcs_study_method_of(const char *name, size_t length) {
  for (int i = 0; i < VCS_STUDY_METHODS; i++) {
    if (strlen(methods[i].name) == length && strncasecmp(methods[i].name, name, length) == 0) return i;
  }
  return -1;
}

int vcs_study_method_by_name(const char *name) { return vcs_study_method_of(name, strlen(name)); }

void vcs_study_method_options(int method, int32_t window, vcs_grad_options_t *options) {
  vcs_grad_defaults(options);
  options->method = methods[method].method;
  const bool forks = method == VCS_STUDY_BIT_FORK || method == VCS_STUDY_HYBRID;
  options->fork_window = !forks ? 0 : window ? window : VCS_STUDY_WINDOW;
}

/* ---- Objects ------------------------------------------------------------------------------------------------ */

static const struct {
  const char *name, *brief;
} objects[VCS_OBJECT_COUNT] = {{"player 0", "p0"},  {"player 1", "p1"}, {"missile 0", "m0"},
                               {"missile 1", "m1"}, {"ball", "bl"},     {"playfield", "pf"}};

const char *vcs_object_name(int object) {
  return object >= 0 && object < VCS_OBJECT_COUNT ? objects[object].name : NULL;
}

int vcs_object_by_name(const char *name) {
  for (int i = 0; i < VCS_OBJECT_COUNT; i++) {
    if (strcasecmp(name, objects[i].brief) == 0) return i;
  }
  return -1;
}
