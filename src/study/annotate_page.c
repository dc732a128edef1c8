/* annotate_page.c: an annotation as one self-contained page: a frame with its objects, the map of RAM by role, and the
 * table of roles (annotate.h). The page needs no network and no script; every colour has a word beside it. */
#include <stdlib.h>
#include <string.h>

#include "diffvcs/annotate.h"
#include "host/env.h"
#include "host/files.h"
#include "study/annotate_text.h"

enum {
  PAGE_FRAME = 400,  /* the picture is one of the frames from here on, ... */
  PAGE_FRAMES = 200, /* ... this many: many games draw only some objects in each */
  ZOOM = 3
};

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem;background:#fff;color:#1b1b1f}"
    "h1{font-size:1.5rem}h2{font-size:1.1rem}svg{width:100%;max-width:34rem;shape-rendering:crispEdges;height:auto;"
    "background:#000}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.15rem .5rem;text-align:left}"
    "table.roles td,table.roles th{border-bottom:1px solid #ccc}table.map td{border:2px solid #fff;font-size:.72rem;"
    "text-align:center;min-width:3.4rem}caption{text-align:left;color:#55555c;padding:.3rem 0}";

/* A colour for each role, light enough for black letters. */
static const char *const colours[VCS_ROLES] = {"#9fd3ff", "#a8e6a1", "#e4c1f9", "#f9c6d7", "#ffe0a3",
                                               "#ffd166", "#ff9b85", "#c9f2f0", "#d6c8ff", "#f3b27a",
                                               "#e0e0a0", "#e6e6ea", "#d4d4da", "#f6f6f8"};

static void put_rect(vcs_text_t *text, int x, int y, int w, int h, const char *rest) {
  vcs_text_printf(text, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" %s/>", ZOOM * x, ZOOM * y, ZOOM * w,
                  ZOOM * h, rest);
}

/* The picture as rectangles of one colour, and the boxes of its objects. */
static void put_frame(vcs_text_t *text, vcs_env_t *env, uint8_t *rgb, vcs_object_t *objects) {
  const int height = vcs_env_height(env);
  char rest[100];
  vcs_env_screen_rgb(env, rgb);
  vcs_text_printf(text, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"a frame with the boxes of its objects\">",
                  ZOOM * VCS_WIDTH, ZOOM * height);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < VCS_WIDTH;) {
      const uint8_t *p = rgb + 3 * (VCS_WIDTH * y + x);
      int to = x + 1;
      while (to < VCS_WIDTH && memcmp(p, rgb + 3 * (VCS_WIDTH * y + to), 3) == 0) to++;
      snprintf(rest, sizeof rest, "fill=\"#%02x%02x%02x\"", p[0], p[1], p[2]);
      if (p[0] | p[1] | p[2]) put_rect(text, x, y, to - x, 1, rest);
      x = to;
    }
  }
  const int32_t count = vcs_env_objects(env, objects, VCS_OBJECTS_MAX);
  static const char *const lines[] = {"#ff4fa3", "#ffd000", "#ff8c42", "#00e5c3", "#ffffff"};
  for (int32_t i = 0; i < count; i++) {
    const vcs_object_t *o = &objects[i];
    if (o->kind == VCS_OBJECT_PLAYFIELD) continue;
    snprintf(rest, sizeof rest, "fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"", lines[o->kind]);
    put_rect(text, o->x, o->y, o->w, o->h, rest);
  }
  vcs_text_printf(text,
                  "</svg><p>Boxes: player 0 pink, player 1 yellow, missile 0 orange, missile 1 green, ball white.</p>");
}

static void put_map(vcs_text_t *text, const vcs_annotation_t *a) {
  vcs_text_printf(text,
                  "<table class=\"map\"><caption>RAM: each byte with its most certain role; -: none was found</caption>"
                  "<tr><th></th>");
  for (int i = 0; i < 8; i++) vcs_text_printf(text, "<th>+%d</th>", i);
  vcs_text_printf(text, "</tr>");
  for (int row = 0; row < 16; row++) {
    vcs_text_printf(text, "<tr><th>%02X</th>", 0x80 + 8 * row);
    for (int i = 0; i < 8; i++) {
      const vcs_byte_roles_t *roles = &a->ram[8 * row + i];
      if (roles->count) {
        vcs_text_printf(text, "<td style=\"background:%s\">%s</td>", colours[roles->roles[0].role],
                        vcs_role_name(roles->roles[0].role));
      } else {
        vcs_text_printf(text, "<td>-</td>");
      }
    }
    vcs_text_printf(text, "</tr>");
  }
  vcs_text_printf(text, "</table>");
}

static void put_roles(vcs_text_t *text, const vcs_annotation_t *a) {
  static const char *const encodings[] = {"linear", "HMOVE nibble and coarse position", "table"};
  vcs_text_printf(
      text,
      "<table class=\"roles\"><caption>All roles</caption><tr><th>byte</th><th>address</th><th>role</th><th>"
      "object</th><th>pixels</th><th>controls</th><th>confidence</th><th>states</th></tr>");
  for (int byte = 0; byte < 128; byte++) {
    for (int r = 0; r < a->ram[byte].count; r++) {
      const vcs_role_t *role = &a->ram[byte].roles[r];
      char object[40], controls[40], pixels[80] = "";
      vcs_role_object(role, object, sizeof object);
      vcs_role_controls(role, controls, sizeof controls);
      if (role->role <= VCS_ROLE_Y && role->encoding == VCS_ENCODING_LINEAR) {
        snprintf(pixels, sizeof pixels, "%g + %g * value", (double)role->offset, (double)role->slope);
      } else if (role->role <= VCS_ROLE_Y) {
        snprintf(pixels, sizeof pixels, "%s, %d to %d", encodings[role->encoding], (int)role->low, (int)role->high);
      }
      vcs_text_printf(
          text,
          "<tr><td>%d</td><td>$%02X</td><td style=\"background:%s\">%s</td><td>%s</td><td>%s</td><td>%s</td>"
          "<td>%.2f</td><td>%d</td></tr>",
          byte, 0x80 + byte, colours[role->role], vcs_role_name(role->role), object, pixels, controls,
          (double)role->confidence, (int)role->states);
    }
  }
  vcs_text_printf(text, "</table>");
}

static int sprites_of(vcs_env_t *env, vcs_object_t *objects) {
  int sprites = 0;
  for (int32_t i = 0, count = vcs_env_objects(env, objects, VCS_OBJECTS_MAX); i < count; i++)
    sprites += objects[i].kind != VCS_OBJECT_PLAYFIELD;
  return sprites;
}

/* Plays the records' stream 1 from the beginning. Returns the frame with the most sprites, from PAGE_FRAME on. */
static int play_to(vcs_env_t *env, int frames, vcs_object_t *objects) {
  vcs_stream_t stream;
  int best = PAGE_FRAME, most = -1;
  vcs_stream_start(&stream, 1);
  vcs_env_reload(env, 0);
  for (int i = 1; i <= frames; i++) {
    if (vcs_env_over(env)) vcs_env_reset(env);
    vcs_env_act_on(env, vcs_stream_next(&stream), VCS_NOOP);
    const int sprites = i < PAGE_FRAME ? -1 : sprites_of(env, objects);
    if (sprites <= most) continue;
    most = sprites;
    best = i;
  }
  return best;
}

char *vcs_annotation_page(const vcs_cart_t *cart, const vcs_annotation_t *annotation, vcs_error_t *error) {
  vcs_env_t *env;
  vcs_text_t text = {0};
  if (vcs_env_create(cart, &env, error)) return NULL;
  uint8_t *rgb = malloc((size_t)3 * VCS_FRAME_BYTES);
  vcs_object_t *objects = malloc(sizeof *objects * VCS_OBJECTS_MAX);
  if (rgb && objects) {
    play_to(env, play_to(env, PAGE_FRAME + PAGE_FRAMES, objects), objects);
    vcs_text_printf(
        &text,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>%s: what every byte means</title><style>%s</style><h1>%s: what "
        "every byte means</h1><p>From %d states of random play: each byte is set to other values, and the "
        "next frames are compared.</p>",
        annotation->game, style, annotation->game, (int)annotation->states);
    put_frame(&text, env, rgb, objects);
    put_map(&text, annotation);
    put_roles(&text, annotation);
    vcs_text_printf(&text, "</html>\n");
  }
  const bool failed = !rgb || !objects || text.failed;
  free(rgb);
  free(objects);
  vcs_env_free(env);
  if (!failed) return text.text;
  vcs_text_free(&text);
  vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  return NULL;
}
