/* annotate_text.c: annotations as JSON (annotate.h). */
#include <stdio.h>
#include <string.h>

#include "diffvcs/annotate.h"
#include "host/files.h"
#include "study/annotate_text.h"

void vcs_role_object(const vcs_role_t *role, char *text, size_t size) {
  const char *kind = vcs_object_name(role->kind);
  if (!kind) {
    snprintf(text, size, "%s", role->role == VCS_ROLE_COLOUR ? "background" : "");
  } else if (role->number > 1) {
    snprintf(text, size, "%s #%d", kind, (int)role->number);
  } else {
    snprintf(text, size, "%s", kind);
  }
}

void vcs_role_controls(const vcs_role_t *role, char *text, size_t size) {
  static const struct {
    int held;
    const char *name;
  } names[] = {{VCS_HELD_UP, "up"},
               {VCS_HELD_DOWN, "down"},
               {VCS_HELD_LEFT, "left"},
               {VCS_HELD_RIGHT, "right"},
               {VCS_HELD_FIRE, "fire"}};
  text[0] = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!(role->controls & names[i].held)) continue;
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? "," : "", names[i].name);
  }
}

static void print_map(vcs_text_t *text, const int16_t map[256]) {
  vcs_text_printf(text, ", \"map\": [");
  for (int v = 0; v < 256; v++) {
    if (v) vcs_text_printf(text, ",");
    if (map[v] < 0) {
      vcs_text_printf(text, "null");
    } else {
      vcs_text_printf(text, "%d", (int)map[v]);
    }
  }
  vcs_text_printf(text, "]");
}

static void print_role(vcs_text_t *text, const vcs_role_t *role) {
  static const char *const encodings[] = {"linear", "hmove", "table"};
  char object[40], controls[40];
  vcs_role_object(role, object, sizeof object);
  vcs_role_controls(role, controls, sizeof controls);
  vcs_text_printf(text, "{\"role\": \"%s\", \"object\": ", vcs_role_name(role->role));
  if (*object) {
    vcs_text_json(text, object);
  } else {
    vcs_text_printf(text, "null");
  }
  if (role->role <= VCS_ROLE_Y) {
    vcs_text_printf(text, ", \"encoding\": \"%s\"", encodings[role->encoding]);
    if (role->encoding == VCS_ENCODING_LINEAR) {
      vcs_text_printf(text, ", \"slope\": %g, \"offset\": %g", (double)role->slope, (double)role->offset);
    } else {
      vcs_text_printf(text, ", \"slope\": null");
    }
    vcs_text_printf(text, ", \"range\": [%d, %d]", (int)role->low, (int)role->high);
    if (role->absent >= 0) vcs_text_printf(text, ", \"absent\": %d", (int)role->absent);
    if (role->encoding != VCS_ENCODING_LINEAR) print_map(text, role->map);
  }
  vcs_text_printf(text, ", \"confidence\": %.3f, \"states\": %d, \"control\": ", (double)role->confidence,
                  (int)role->states);
  if (*controls) {
    vcs_text_json(text, controls);
  } else {
    vcs_text_printf(text, "null");
  }
  vcs_text_printf(text, "}");
}

char *vcs_annotation_json(const vcs_annotation_t *annotation) {
  vcs_text_t text = {0};
  vcs_text_printf(&text, "{\"game\": ");
  vcs_text_json(&text, annotation->game);
  vcs_text_printf(&text, ", \"states\": %d, \"ram\": [\n", (int)annotation->states);
  for (int byte = 0; byte < 128; byte++) {
    const vcs_byte_roles_t *roles = &annotation->ram[byte];
    vcs_text_printf(&text, " {\"byte\": %d, \"roles\": [", byte);
    for (int r = 0; r < roles->count; r++) {
      if (r) vcs_text_printf(&text, ", ");
      print_role(&text, &roles->roles[r]);
    }
    vcs_text_printf(&text, "]}%s\n", byte < 127 ? "," : "");
  }
  vcs_text_printf(&text, "]}\n");
  if (!text.failed) return text.text;
  vcs_text_free(&text);
  return NULL;
}
