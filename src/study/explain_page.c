/* explain_page.c: an explanation as one self-contained page, and as JSON (study.h).
 *
 * The page needs no network and no script. It begins with the answer in one sentence and a legend. Pictures are inside
 * it; tables have captions and headings; marks have titles for the mouse, bits open to their effects by a click or a
 * key, cells of the map of RAM lead to their rows. Every colour has a sign or a word beside it that means the same, and
 * colours follow the reader's light or dark mode. On a narrow screen each row of a table becomes a card.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "host/picture.h"
#include "plot/map.h"
#include "study/internal.h"

enum { LINE_CLOCKS = 228, BLANK_CLOCKS = 68, IMAGE_MAX = 1 << 26 };

static const char style[] =
    ":root{color-scheme:light dark;--ground:#fff;--ink:#1b1b1f;--quiet:#55555c;--line:#c9c9d0;--up:#a34700;"
    "--down:#0b5394;--cell:#eeeef2;--mark:#d0006f}"
    "@media(prefers-color-scheme:dark){:root{--ground:#15151a;--ink:#ececf1;--quiet:#b4b4bd;--line:#45454e;"
    "--up:#ffae5c;--down:#7cc0ff;--cell:#26262d;--mark:#ff6bb5}}"
    "body{background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif;max-width:66rem;"
    "margin:0 auto;padding:1rem}"
    "h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin-top:2rem}"
    ".answer{font-size:1.15rem}.quiet,figcaption,caption{color:var(--quiet)}"
    "caption{text-align:left;padding:.3rem 0}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{text-align:left;vertical-align:top;padding:.15rem .5rem;border-bottom:1px solid var(--line)}"
    "thead th{position:sticky;top:0;background:var(--ground)}tr:target{outline:2px solid var(--mark)}"
    "code,td.code{font-family:ui-monospace,monospace;font-size:.92em}"
    ".scroll{overflow:auto;max-height:32rem}.up{color:var(--up)}.down{color:var(--down)}figure{margin:0}"
    "svg.frame,img{max-width:100%;height:auto}"
    "svg.bits rect{stroke:var(--quiet);fill:var(--ground)}svg.bits .set{fill:var(--ink)}"
    "svg.bits .matters{stroke:var(--mark);stroke-width:2.5}summary{cursor:pointer}"
    "details ul{margin:.2rem 0;padding-left:1.1rem}"
    "table.map{max-width:100%}table.map td,table.map th{text-align:center;padding:.1rem .25rem}"
    "table.map td{background:var(--cell);border:2px solid var(--ground)}table.map a{color:var(--up);font-weight:bold}"
    ".mark{fill:none;stroke:var(--mark);stroke-width:2}dl.legend{display:grid;grid-template-columns:max-content 1fr;"
    "gap:.2rem 1rem}dl.legend dt{font-weight:bold}dl.legend dd{margin:0}"
    "nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem}details.legend{margin-top:1rem}"
    "@media(max-width:52rem){" /* each row is a card, its cells one after the other with their labels */
    "table.rows,table.rows caption,table.rows tbody{display:block}table.rows thead{position:absolute;left:-999rem}"
    "table.rows tr{display:flex;flex-wrap:wrap;gap:.1rem 1rem;border-bottom:1px solid var(--line);padding:.4rem 0}"
    "table.rows td,table.rows th{display:flex;gap:.35rem;align-items:baseline;border:0;padding:0}"
    "table.rows td::before,table.rows th[data-label]::before{content:attr(data-label);color:var(--quiet);"
    "font:.85rem system-ui,sans-serif}"
    "table.map{font-size:.78rem}table.map td,table.map th{padding:0 .1rem}dl.legend{grid-template-columns:1fr}"
    ".scroll{max-height:80vh}}";

/* ---- Words -------------------------------------------------------------------------------------------------- */

static void put_escaped(vcs_text_t *text, const char *string) {
  for (; *string; string++) {
    if (*string == '<')
      vcs_text_printf(text, "&lt;");
    else if (*string == '&')
      vcs_text_printf(text, "&amp;");
    else if (*string == '"')
      vcs_text_printf(text, "&quot;");
    else
      vcs_text_append(text, string, 1);
  }
}

/* Begins a cell of a table; `label` stands before it where the screen is narrow. */
static void begin_cell(vcs_text_t *text, const char *label, const char *kind) {
  vcs_text_printf(text, "<td data-label=\"%s\"%s%s%s>", label, kind ? " class=\"" : "", kind ? kind : "",
                  kind ? "\"" : "");
}

static void put_number(vcs_text_t *text, const char *label, float number) {
  begin_cell(text, label, number > 0 ? "up" : number < 0 ? "down" : NULL);
  if (number == 0)
    vcs_text_printf(text, "0</td>");
  else
    vcs_text_printf(text, "%+.4g</td>", (double)number);
}

/* Bits as eight squares: filled where set, with a bold frame where they matter; each has a title for the mouse. */
static void put_bits(vcs_text_t *text, uint8_t value, uint8_t matter) {
  vcs_text_printf(
      text, "<svg class=\"bits\" width=\"84\" height=\"13\" role=\"img\" aria-label=\"%02X; bits that matter:", value);
  for (int bit = 7; bit >= 0; bit--) {
    if (matter >> bit & 1) vcs_text_printf(text, " %d", bit);
  }
  vcs_text_printf(text, "%s\">", matter ? "" : " none");
  for (int bit = 7; bit >= 0; bit--) {
    const bool set = value >> bit & 1, matters = matter >> bit & 1;
    vcs_text_printf(
        text,
        "<rect x=\"%d\" y=\"2\" width=\"8\" height=\"8\" class=\"%s %s\"><title>bit %d is %s; flipping it %s "
        "the output</title></rect>",
        2 + 10 * (7 - bit), set ? "set" : "", matters ? "matters" : "", bit, set ? "1" : "0",
        matters ? "changes" : "does not change");
  }
  vcs_text_printf(text, "</svg>");
}

static uint8_t bits_that_matter(const vcs_reason_t *reason) {
  uint8_t bits = 0;
  for (int bit = 0; bit < 8; bit++) bits |= (uint8_t)((reason->truth[bit] != 0) << bit);
  return bits;
}

/* The bit of largest truth, or, if all are zero, of largest derivative. */
static int strongest(const vcs_reason_t *reason) {
  int best = 0;
  for (int bit = 1; bit < 8; bit++) {
    if (fabsf(reason->truth[bit]) > fabsf(reason->truth[best])) best = bit;
  }
  if (reason->truth[best] != 0) return best;
  for (int method = VCS_STUDY_ESTIMATES - 1; method >= 0; method--) {
    for (int bit = 0; bit < 8; bit++) {
      if (fabsf(reason->derivative[method][bit]) > fabsf(reason->derivative[method][best])) best = bit;
    }
    if (reason->derivative[method][best] != 0) break;
  }
  return best;
}

static const char *register_name(const vcs_cause_t *cause) {
  const char *name = vcs_symbol_name(NULL, cause->address, 1);
  return name ? name : "an unused address";
}

static const char *plural(int count) { return count == 1 ? "" : "s"; }

static void put_objects(const vcs_explanation_t *e, vcs_text_t *text) {
  int count = 0, total = 0;
  for (int i = 0; i < VCS_OBJECT_COUNT; i++) total += e->drawn_by[i];
  for (int i = 0; i < VCS_OBJECT_COUNT; i++) {
    if (!e->drawn_by[i]) continue;
    vcs_text_printf(text, "%s%s", count == 0 ? "" : count + 1 == total ? " and " : ", ", vcs_object_name(i));
    count++;
  }
}

/* How telling a reason is: bytes with many bits that matter, tables before operands, sticks before console switches;
 * 0: its truth is zero. */
static int telling(const vcs_explanation_t *e, const vcs_reasons_t *reasons, const vcs_reason_t *reason) {
  int bits = 0;
  for (int bit = 0; bit < 8; bit++) bits += reason->truth[bit] != 0;
  if (!bits) return 0;
  if (reasons == &e->rom && e->uses[reason->index].kind == VCS_ROM_DATA) bits += 8;
  if (reasons == &e->inputs && reason->index % VCS_INPUTS < VCS_INPUT_RESET) bits += 8;
  return bits;
}

/* The most telling reason; NULL: none has an effect. */
static const vcs_reason_t *most_telling(const vcs_explanation_t *e, const vcs_reasons_t *reasons) {
  const vcs_reason_t *best = NULL;
  int most = 0;
  for (int i = 0; i < reasons->count; i++) {
    const int score = telling(e, reasons, &reasons->reasons[i]);
    if (score > most) most = score, best = &reasons->reasons[i];
  }
  return best;
}

/* "byte $9C of RAM, byte 0:F3A2 of ROM or the control right 2 frames before": the most telling cause of each kind. */
static void put_strongest(const vcs_explanation_t *e, vcs_text_t *text) {
  const vcs_reason_t *ram = most_telling(e, &e->ram), *rom = most_telling(e, &e->rom);
  const vcs_reason_t *input = most_telling(e, &e->inputs);
  const char *last = " or ", *next = ", ";
  if (ram) vcs_text_printf(text, "byte $%02X of RAM", 0x80U + ram->index);
  if (rom) {
    char address[24];
    vcs_rom_address(&e->uses[rom->index], rom->index, address, sizeof address);
    vcs_text_printf(text, "%sbyte %s of ROM", !ram ? "" : input ? next : last, address);
  }
  if (input) {
    const int back = (int)e->run.frames - (int)(input->index / VCS_INPUTS) - 1;
    vcs_text_printf(text, "%sthe control %s", ram || rom ? last : "", vcs_input_name((int)input->index % VCS_INPUTS));
    if (back)
      vcs_text_printf(text, " %d frame%s before", back, plural(back));
    else
      vcs_text_printf(text, " in this frame");
  }
}

/* The answer in one sentence. */
static void put_answer(const vcs_explanation_t *e, vcs_text_t *text) {
  int pixels = 0, objects = 0;
  for (int i = 0; i < VCS_OBJECT_COUNT; i++) objects += e->drawn_by[i];
  for (int i = 0; i < VCS_FRAME_BYTES; i++) pixels += e->mask[i];
  if (e->target.kind != VCS_SCALAR_PIXELS) {
    vcs_text_printf(text, "The value is %g", e->value);
  } else if (pixels == 1) {
    vcs_text_printf(text, "The pixel has colour $%02X because ", (unsigned)e->value);
  } else {
    vcs_text_printf(text, "The %d pixels look as they do because ", pixels);
  }
  if (e->target.kind == VCS_SCALAR_PIXELS && objects) {
    put_objects(e, text);
    vcs_text_printf(text, " draw%s %s", objects == 1 ? "s" : "", pixels == 1 ? "it" : "them");
  } else if (e->target.kind == VCS_SCALAR_PIXELS) {
    vcs_text_printf(text, "no object covers %s: this is background", pixels == 1 ? "it" : "them");
  }
  if (e->ram.true_count + e->rom.true_count + e->inputs.true_count > 0) {
    vcs_text_printf(text, "; changing ");
    put_strongest(e, text);
    vcs_text_printf(text, " would change %s", pixels > 1 ? "them" : "it");
  } else {
    vcs_text_printf(text, "; no single bit of RAM or ROM and no control of the last frames changes that");
  }
  vcs_text_printf(text, ".");
}

static void put_summary(const vcs_explanation_t *e, vcs_text_t *text) {
  put_answer(e, text);
  vcs_text_printf(
      text,
      " It depends on %d write%s to the TIA, %d byte%s of RAM, %d byte%s of ROM and %d control%s of the last "
      "frames: each of them was changed and the machine run again.",
      e->cause_count, plural(e->cause_count), e->ram.true_count, plural(e->ram.true_count), e->rom.true_count,
      plural(e->rom.true_count), e->inputs.true_count, plural(e->inputs.true_count));
}

/* Gives a text to the caller, who frees it; NULL: out of memory. */
static char *give(vcs_text_t *text) {
  if (!text->failed) return text->text;
  vcs_text_free(text);
  return NULL;
}

char *vcs_explain_summary(const vcs_explanation_t *e) {
  vcs_text_t text = {0};
  put_summary(e, &text);
  return give(&text);
}

/* ---- Pictures ----------------------------------------------------------------------------------------------- */

static void put_base64(vcs_text_t *text, const uint8_t *data, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < size; i += 3) {
    const unsigned word =
        (unsigned)data[i] << 16 | (i + 1 < size ? (unsigned)data[i + 1] << 8 : 0) | (i + 2 < size ? data[i + 2] : 0);
    char four[4] = {digits[word >> 18], digits[word >> 12 & 63], digits[word >> 6 & 63], digits[word & 63]};
    if (i + 1 >= size) four[2] = '=';
    if (i + 2 >= size) four[3] = '=';
    vcs_text_append(text, four, 4);
  }
}

/* The picture's file as the value of an attribute. */
static vcs_status_t put_picture(vcs_text_t *text, const char *path, vcs_error_t *error) {
  uint8_t *data;
  size_t size;
  const vcs_status_t status = vcs_file_read(path, IMAGE_MAX, &data, &size, error);
  if (status) return status;
  vcs_text_printf(text, "data:image/png;base64,");
  put_base64(text, data, size);
  free(data);
  return VCS_OK;
}

static vcs_status_t put_frame(const vcs_explanation_t *e, int64_t frame, const char *path, vcs_text_t *text,
                              vcs_error_t *error) {
  const int height = e->run.cart->frame_height;
  vcs_text_printf(text,
                  "<figure><svg class=\"frame\" viewBox=\"0 0 320 %d\" width=\"640\" height=\"%d\" role=\"img\" "
                  "aria-label=\"The frame, with a mark at %s\"><image width=\"320\" height=\"%d\" href=\"",
                  height, 2 * height, e->what, height);
  const vcs_status_t status = put_picture(text, path, error);
  vcs_text_printf(text, "\"/>");
  if (e->target.kind == VCS_SCALAR_PIXELS && e->object < 0) {
    vcs_text_printf(
        text,
        "<rect class=\"mark\" pointer-events=\"all\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>%s</title>"
        "</rect>",
        2 * e->target.x - 3, e->target.y - 3, 2 * e->target.width + 6, e->target.height + 6, e->what);
  }
  for (int i = 0; i < VCS_WIDTH * height && e->object >= 0; i++) {
    if (e->mask[i]) {
      vcs_text_printf(text,
                      "<rect class=\"mark\" style=\"stroke-width:.5\" x=\"%d\" y=\"%d\" width=\"2\" height=\"1\">"
                      "<title>pixel %d,%d, colour $%02X</title></rect>",
                      i % VCS_WIDTH * 2, i / VCS_WIDTH, i % VCS_WIDTH, i / VCS_WIDTH, e->picture[i]);
    }
  }
  vcs_text_printf(text, "</svg><figcaption>Frame %" PRId64 "; %s is framed.</figcaption></figure>\n", frame, e->what);
  return status;
}

/* ---- Tables ------------------------------------------------------------------------------------------------- */

static void begin_table(vcs_text_t *text, const char *label, const char *caption) {
  vcs_text_printf(text,
                  "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table "
                  "class=\"rows\"><caption>%s</caption>"
                  "<thead><tr>",
                  label, caption);
}

static void put_headings(vcs_text_t *text, const char *const *headings) {
  for (; *headings; headings++) vcs_text_printf(text, "<th scope=\"col\">%s</th>", *headings);
}

static void put_methods(vcs_text_t *text) {
  vcs_text_printf(text, "<th scope=\"col\">exact</th>");
  for (int i = VCS_STUDY_ESTIMATES - 1; i >= 0; i--) {
    vcs_text_printf(text, "<th scope=\"col\">%s</th>", vcs_study_method_name(i));
  }
  vcs_text_printf(text, "</tr></thead><tbody>\n");
}

static void end_table(vcs_text_t *text) { vcs_text_printf(text, "</tbody></table></div>\n"); }

static void put_derivatives(vcs_text_t *text, const vcs_reason_t *reason, int bit) {
  put_number(text, "exact", reason->truth[bit]);
  for (int i = VCS_STUDY_ESTIMATES - 1; i >= 0; i--) {
    put_number(text, vcs_study_method_name(i), reason->derivative[i][bit]);
  }
}

/* The bits of a byte; a click opens the exact effect of each that matters. */
static void put_reason_bits(vcs_text_t *text, const vcs_reason_t *reason, uint8_t value) {
  const uint8_t matter = bits_that_matter(reason);
  begin_cell(text, "bits", NULL);
  if (matter) vcs_text_printf(text, "<details><summary>");
  put_bits(text, value, matter);
  if (matter) {
    vcs_text_printf(text, "</summary><ul>");
    for (int bit = 7; bit >= 0; bit--) {
      if (matter >> bit & 1) vcs_text_printf(text, "<li>bit %d: %+.4g</li>", bit, (double)reason->truth[bit]);
    }
    vcs_text_printf(text, "</ul></details>");
  }
  vcs_text_printf(text, "</td>");
}

static void put_beam(vcs_text_t *text, int32_t clock, int32_t top) {
  const int32_t line = clock / LINE_CLOCKS, in_line = clock % LINE_CLOCKS;
  vcs_text_printf(text,
                  "<td data-label=\"scan line\">%d</td><td data-label=\"clock\">%d</td><td data-label=\"beam at\">",
                  line, in_line);
  if (in_line >= BLANK_CLOCKS && line >= top)
    vcs_text_printf(text, "%d,%d", in_line - BLANK_CLOCKS, line - top);
  else
    vcs_text_printf(text, "off screen");
  vcs_text_printf(text, "</td>");
}

/* The value that the instruction of a row stores: that of the register it names. */
static uint8_t stored(const vcs_slice_row_t *row) {
  return strstr(row->text, "STX") ? row->x : strstr(row->text, "STY") ? row->y : row->a;
}

/* The last write to the same register before a cause; NULL: there is none in this frame. */
static const vcs_slice_row_t *write_before(const vcs_explanation_t *e, const vcs_cause_t *cause) {
  for (int i = cause->row - 1; i >= 0; i--) {
    const vcs_slice_row_t *row = &e->slice.rows[i];
    for (int a = 0; a < row->accesses.count; a++) {
      if (row->accesses.writes[a] && row->accesses.address[a] == cause->address) return row;
    }
  }
  return NULL;
}

/* What the output does if the write is left out. Where nothing changes, either of two causes is enough: the write, and
 * whatever gave the register the same value before. */
static void put_without(const vcs_explanation_t *e, const vcs_cause_t *cause, vcs_text_t *text) {
  if (cause->needed) {
    vcs_text_printf(text, "the output changes");
    return;
  }
  const vcs_slice_row_t *before = write_before(e, cause);
  if (before && cause->has_value && stored(before) == cause->value) {
    vcs_text_printf(text, "the same, for there are two causes: %s holds $%02X since scan line %d already",
                    register_name(cause), cause->value, before->end_clock / LINE_CLOCKS);
  } else if (!before && cause->has_value) {
    vcs_text_printf(text,
                    "the same, for there are two causes: %s holds a value from the frame before that does as well",
                    register_name(cause));
  } else {
    vcs_text_printf(text,
                    "the same, for there are two causes: the value that the register had before gives the same output");
  }
}

static void put_causes(const vcs_explanation_t *e, vcs_text_t *text) {
  static const char *const headings[] = {"scan line", "clock", "beam at",    "instruction", "register",
                                         "value",     "bits",  "without it", NULL};
  if (e->target.kind != VCS_SCALAR_PIXELS) return;
  vcs_text_printf(text, "<section id=\"writes\"><h2>Register writes</h2>\n");
  begin_table(text, "Register writes",
              "Writes to the TIA in this frame on which the output depends, in order of time.");
  put_headings(text, headings);
  vcs_text_printf(text, "</tr></thead><tbody>\n");
  for (int i = 0; i < e->cause_count; i++) {
    const vcs_cause_t *cause = &e->causes[i];
    const vcs_slice_row_t *row = &e->slice.rows[cause->row];
    vcs_text_printf(text, "<tr>");
    put_beam(text, row->end_clock, e->run.cart->top_line);
    begin_cell(text, "instruction", "code");
    vcs_text_printf(text, "%04X %s</td><th scope=\"row\" data-label=\"register\">%s</th>", row->pc, row->text,
                    register_name(cause));
    begin_cell(text, "value", "code");
    if (cause->has_value) vcs_text_printf(text, "$%02X", cause->value);
    vcs_text_printf(text, "</td>");
    begin_cell(text, "bits", NULL);
    if (cause->has_value) put_bits(text, cause->value, cause->bits);
    vcs_text_printf(text, "</td>");
    begin_cell(text, "without it", NULL);
    put_without(e, cause, text);
    vcs_text_printf(text, "</td></tr>\n");
  }
  end_table(text);
  vcs_text_printf(text, "</section>\n");
}

static bool has_slice(const vcs_explanation_t *e) {
  for (int i = 0; i < e->slice.count; i++) {
    if (e->slice.rows[i].slice) return true;
  }
  return false;
}

static void put_slice(const vcs_explanation_t *e, vcs_text_t *text) {
  static const char *const headings[] = {"scan line", "clock", "beam at", "address", "instruction",
                                         "A",         "X",     "Y",       NULL};
  if (!has_slice(e)) return;
  vcs_text_printf(text, "<section id=\"instructions\"><h2>Instructions</h2>\n");
  begin_table(text, "Instructions", "The dynamic slice: the instructions of this frame that computed those values.");
  put_headings(text, headings);
  vcs_text_printf(text, "</tr></thead><tbody>\n");
  for (int i = 0; i < e->slice.count; i++) {
    const vcs_slice_row_t *row = &e->slice.rows[i];
    if (!row->slice) continue;
    vcs_text_printf(text, "<tr>");
    put_beam(text, row->clock, e->run.cart->top_line);
    begin_cell(text, "address", "code");
    vcs_text_printf(text, "%04X</td>", row->pc);
    begin_cell(text, "instruction", "code");
    vcs_text_printf(
        text,
        "%s</td><td data-label=\"A\">%02X</td><td data-label=\"X\">%02X</td><td data-label=\"Y\">%02X</td></tr>\n",
        row->text, row->a, row->x, row->y);
  }
  end_table(text);
  vcs_text_printf(text, "</section>\n");
}

/* 16 cells by 8, each with the number of its bits that matter, which leads to its row. */
static void put_ram_map(const vcs_explanation_t *e, vcs_text_t *text) {
  int bits[128] = {0};
  for (int i = 0; i < e->ram.count; i++) {
    for (int bit = 0; bit < 8; bit++) bits[e->ram.reasons[i].index] += e->ram.reasons[i].truth[bit] != 0;
  }
  vcs_text_printf(
      text,
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Map of RAM\"><table class=\"map\"><caption>"
      "How many bits of each byte matter; a number leads to its row.</caption><thead><tr><td></td>");
  for (int i = 0; i < 16; i++) vcs_text_printf(text, "<th scope=\"col\">%X</th>", (unsigned)i);
  vcs_text_printf(text, "</tr></thead><tbody>");
  for (int i = 0; i < 128; i++) {
    if (i % 16 == 0) vcs_text_printf(text, "<tr><th scope=\"row\">$%X0</th>", 8U + (unsigned)i / 16);
    if (bits[i])
      vcs_text_printf(text, "<td title=\"$%02X\"><a href=\"#ram-%02X\">%d</a></td>", 0x80U + (unsigned)i,
                      0x80U + (unsigned)i, bits[i]);
    else
      vcs_text_printf(text, "<td title=\"$%02X: no bit matters\">·</td>", 0x80U + (unsigned)i);
    if (i % 16 == 15) vcs_text_printf(text, "</tr>\n");
  }
  vcs_text_printf(text, "</tbody></table></div>\n");
}

static void put_ram(const vcs_explanation_t *e, vcs_text_t *text) {
  static const char *const headings[] = {"byte", "value", "bits that matter", "bit", NULL};
  vcs_text_printf(text, "<section id=\"ram\"><h2>RAM, %d frame%s before</h2>\n", (int)e->span.frames,
                  e->span.frames == 1 ? "" : "s");
  put_ram_map(e, text);
  begin_table(
      text, "Bytes of RAM",
      "The strongest bit of each byte: the exact effect (the output with the bit set minus with the bit clear), "
      "and the estimate of each method.");
  put_headings(text, headings);
  put_methods(text);
  for (int i = 0; i < e->ram.count; i++) {
    const vcs_reason_t *reason = &e->ram.reasons[i];
    const int bit = strongest(reason);
    const uint8_t value = e->span.start->ram[reason->index];
    vcs_text_printf(text,
                    "<tr id=\"ram-%02X\"><th scope=\"row\" data-label=\"byte\">$%02X</th><td data-label=\"value\" "
                    "class=\"code\">$%02X</td>",
                    0x80U + reason->index, 0x80U + reason->index, value);
    put_reason_bits(text, reason, value);
    vcs_text_printf(text, "<td data-label=\"strongest bit\">%d</td>", bit);
    put_derivatives(text, reason, bit);
    vcs_text_printf(text, "</tr>\n");
  }
  end_table(text);
  vcs_text_printf(text, "</section>\n");
}

static vcs_status_t put_rom(const vcs_explanation_t *e, const char *map, vcs_text_t *text, vcs_error_t *error) {
  static const char *const headings[] = {"bank and address", "what it is", "value", "bits that matter", "bit", NULL};
  const vcs_cart_t *cart = e->run.cart;
  vcs_text_printf(
      text,
      "<section id=\"rom\"><h2>ROM</h2>\n<figure><img alt=\"Map of the image: bytes that matter are bright\" src=\"");
  const vcs_status_t status = put_picture(text, map, error);
  vcs_text_printf(
      text,
      "\"><figcaption>A square a byte, 64 in a row; below, bytes that matter as bit patterns.</figcaption></figure>\n");
  begin_table(text, "Bytes of ROM",
              "Bytes that are read as data or as operands; opcodes are among the instructions above.");
  put_headings(text, headings);
  put_methods(text);
  for (int i = 0; i < e->rom.count; i++) {
    const vcs_reason_t *reason = &e->rom.reasons[i];
    const int bit = strongest(reason);
    char address[24], what[64];
    vcs_rom_address(&e->uses[reason->index], reason->index, address, sizeof address);
    vcs_rom_describe(&e->uses[reason->index], what, sizeof what);
    vcs_text_printf(text, "<tr><th scope=\"row\" data-label=\"address\">%s</th>", address);
    begin_cell(text, "what it is", "code");
    put_escaped(text, what);
    vcs_text_printf(text, "</td><td data-label=\"value\" class=\"code\">$%02X</td>", cart->rom[reason->index]);
    put_reason_bits(text, reason, cart->rom[reason->index]);
    vcs_text_printf(text, "<td data-label=\"strongest bit\">%d</td>", bit);
    put_derivatives(text, reason, bit);
    vcs_text_printf(text, "</tr>\n");
  }
  end_table(text);
  vcs_text_printf(text, "</section>\n");
  return status;
}

static bool is_held(const vcs_controls_t *controls, int input) {
  if (input >= VCS_INPUT_RESET) return controls->console >> (input - VCS_INPUT_RESET) & 1;
  return controls->held[input / VCS_INPUT_SECOND_PLAYER] >> input % VCS_INPUT_SECOND_PLAYER & 1;
}

static void put_inputs(const vcs_explanation_t *e, int64_t last_frame, vcs_text_t *text) {
  static const char *const headings[] = {"frame", "control", "was", NULL};
  const vcs_run_t *run = &e->run;
  vcs_text_printf(text, "<section id=\"controls\"><h2>Controls</h2>\n");
  if (e->inputs.count == 0) {
    vcs_text_printf(
        text,
        "<p>No control of the last %d frame%s, pressed or released for one frame, changes the output.</p></section>\n",
        (int)run->frames, plural((int)run->frames));
    return;
  }
  begin_table(text, "Controls by frame",
              "A control held for one frame, in order of time: the output with it minus without it.");
  put_headings(text, headings);
  put_methods(text);
  for (int i = 0; i < e->inputs.count; i++) {
    const vcs_reason_t *reason = &e->inputs.reasons[i];
    const int frame = (int)reason->index / VCS_INPUTS, input = (int)reason->index % VCS_INPUTS;
    vcs_text_printf(text,
                    "<tr><th scope=\"row\" data-label=\"frame\">%" PRId64
                    "</th><td data-label=\"control\">%s</td><td data-label=\"was\">%s</td>",
                    last_frame - run->frames + frame + 1, vcs_input_name(input),
                    is_held(&run->controls[frame], input) ? "held" : "released");
    put_derivatives(text, reason, 0);
    vcs_text_printf(text, "</tr>\n");
  }
  end_table(text);
  vcs_text_printf(text, "</section>\n");
}

/* ---- The page ----------------------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* frame.png, ram.png and rom.png, of the truth. */
static vcs_status_t write_pictures(const vcs_explanation_t *e, char paths[3][VCS_PATH_SIZE], vcs_error_t *error) {
  const vcs_cart_t *cart = e->run.cart;
  float *rom = calloc((size_t)8 * cart->rom_size, sizeof *rom), ram[1024] = {0};
  uint32_t shown[VCS_MAP_PATTERNS];
  char titles[2][128];
  int count = 0;
  snprintf(titles[0], sizeof titles[0], "exact effect of RAM on %s", e->what);
  snprintf(titles[1], sizeof titles[1], "exact effect of ROM on %s", e->what);
  if (!rom) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (int i = 0; i < e->ram.count; i++)
    memcpy(ram + 8 * e->ram.reasons[i].index, e->ram.reasons[i].truth, 8 * sizeof *ram);
  for (int i = 0; i < e->rom.count; i++) {
    const vcs_reason_t *reason = &e->rom.reasons[i];
    memcpy(rom + (size_t)8 * reason->index, reason->truth, 8 * sizeof *rom);
    const bool is_table = e->uses[reason->index].kind == VCS_ROM_DATA && bits_that_matter(reason);
    if (is_table && count < VCS_MAP_PATTERNS) shown[count++] = reason->index;
  }
  qsort(shown, (size_t)count, sizeof *shown, by_offset);
  vcs_status_t status =
      vcs_png_write(paths[0], e->picture, VCS_WIDTH, cart->frame_height, vcs_cart_info(cart)->format, 1, error);
  if (status == VCS_OK) status = vcs_map_ram(paths[1], titles[0], ram, error);
  if (status == VCS_OK) status = vcs_map_rom(paths[2], titles[1], cart->rom, cart->rom_size, rom, shown, count, error);
  free(rom);
  return status;
}

/* Links to the parts of the page, which are long on a phone. */
static void put_links(const vcs_explanation_t *e, vcs_text_t *text) {
  vcs_text_printf(text, "<nav aria-label=\"Parts of this page\"><a href=\"#picture\">The picture</a>");
  if (e->target.kind == VCS_SCALAR_PIXELS) vcs_text_printf(text, "<a href=\"#writes\">Register writes</a>");
  if (has_slice(e)) vcs_text_printf(text, "<a href=\"#instructions\">Instructions</a>");
  vcs_text_printf(text, "<a href=\"#ram\">RAM</a><a href=\"#rom\">ROM</a><a href=\"#controls\">Controls</a></nav>\n");
}

/* What every mark means. */
static void put_legend(const vcs_explanation_t *e, vcs_text_t *text) {
  vcs_text_printf(
      text,
      "<details class=\"legend\" open><summary>What the marks mean</summary><dl class=\"legend\">"
      "<dt>exact</dt><dd>the output with the bit set (or the control held) minus the output with it clear: "
      "the machine was run again</dd>"
      "<dt>bit+fork, bit, ste, naive</dt><dd>estimates of the same number by derivatives, from most to least "
      "complete</dd>"
      "<dt class=\"up\">+196</dt><dd>the output becomes larger</dd>"
      "<dt class=\"down\">-196</dt><dd>the output becomes smaller</dd><dt>");
  put_bits(text, 0xA4, 0x24);
  vcs_text_printf(
      text,
      "</dt><dd>a byte, bit 7 on the left: a filled square is a bit that is set, a bold frame a bit that "
      "matters; click it for the effect of each</dd>"
      "<dt><svg width=\"22\" height=\"14\" role=\"img\" aria-label=\"a frame\"><rect class=\"mark\" x=\"2\" "
      "y=\"2\" width=\"18\" height=\"10\"/></svg></dt><dd>in the picture: what is explained</dd>"
      "<dt>beam at</dt><dd>the pixel (X,Y) that the television draws when the instruction ends</dd>"
      "<dt>without it: the same</dt><dd>two causes, each enough: the write, and what gave the register its value "
      "before</dd></dl>"
      "<p class=\"quiet\">%d write%s to the TIA, %d byte%s of RAM, %d byte%s of ROM and %d control%s of the last "
      "%d frame%s change the output. Each was changed and the machine run again.</p></details>\n",
      e->cause_count, plural(e->cause_count), e->ram.true_count, plural(e->ram.true_count), e->rom.true_count,
      plural(e->rom.true_count), e->inputs.true_count, plural(e->inputs.true_count), (int)e->run.frames,
      plural((int)e->run.frames));
}

static vcs_status_t put_page(const vcs_explanation_t *e, const char *name, int64_t frame, char paths[3][VCS_PATH_SIZE],
                             vcs_text_t *text, vcs_error_t *error) {
  char title[200];
  snprintf(title, sizeof title, "%s in frame %lld of %.60s", e->what, (long long)frame, name);
  vcs_text_printf(text,
                  "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>");
  put_escaped(text, title);
  vcs_text_printf(text, "</title><style>%s</style></head>\n<body><header><h1>Explanation of ", style);
  put_escaped(text, title);
  vcs_text_printf(text, "</h1>\n<p class=\"answer\">");
  put_answer(e, text);
  vcs_text_printf(text, "</p>\n");
  put_links(e, text);
  vcs_text_printf(text, "</header><main>\n");
  vcs_text_printf(text, "<section id=\"picture\"><h2>The picture</h2>\n");
  vcs_status_t status = put_frame(e, frame, paths[0], text, error);
  vcs_text_printf(text, "</section>\n");
  put_legend(e, text);
  put_causes(e, text);
  put_slice(e, text);
  put_ram(e, text);
  if (status == VCS_OK) status = put_rom(e, paths[2], text, error);
  put_inputs(e, frame, text);
  vcs_text_printf(
      text,
      "</main><footer><p class=\"quiet\">diffvcs %s. Numbers are palette indices, bytes or points. Exact: "
      "the output with the bit set minus with the bit clear, by running again.</p></footer></body></html>\n",
      VCS_VERSION);
  return status;
}

static void put_json(const vcs_explanation_t *e, const char *name, int64_t frame, vcs_text_t *text);

vcs_status_t vcs_explain_page(const vcs_explanation_t *e, const char *name, int64_t frame, const char *directory,
                              vcs_error_t *error) {
  static const char *const names[] = {"frame.png", "ram.png", "rom.png", "explain.html", "explain.json"};
  char paths[5][VCS_PATH_SIZE];
  for (int i = 0; i < 5; i++) {
    if (!vcs_path_join(paths[i], VCS_PATH_SIZE, directory, names[i])) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the path of the output directory is too long");
    }
  }
  vcs_text_t page = {0}, json = {0};
  vcs_status_t status = write_pictures(e, paths, error);
  if (status == VCS_OK) status = put_page(e, name, frame, paths, &page, error);
  if (status == VCS_OK) status = vcs_file_write_text(paths[3], &page, error);
  put_json(e, name, frame, &json);
  if (status == VCS_OK) status = vcs_file_write_text(paths[4], &json, error);
  vcs_text_free(&page);
  vcs_text_free(&json);
  return status;
}

/* ---- JSON --------------------------------------------------------------------------------------------------- */

static void json_numbers(vcs_text_t *text, const float *numbers, int count) {
  vcs_text_printf(text, "[");
  for (int i = 0; i < count; i++) {
    if (isfinite(numbers[i]))
      vcs_text_printf(text, "%s%.9g", i ? "," : "", (double)numbers[i]);
    else
      vcs_text_printf(text, "%snull", i ? "," : "");
  }
  vcs_text_printf(text, "]");
}

static void json_reasons(vcs_text_t *text, const char *name, const vcs_reasons_t *reasons, int bits) {
  vcs_text_printf(text, ",\n\"%s\":[", name);
  for (int i = 0; i < reasons->count; i++) {
    const vcs_reason_t *reason = &reasons->reasons[i];
    vcs_text_printf(text, "%s\n{\"index\":%u,\"truth\":", i ? "," : "", reason->index);
    json_numbers(text, reason->truth, bits);
    for (int method = 0; method < VCS_STUDY_ESTIMATES; method++) {
      vcs_text_printf(text, ",\"%s\":", vcs_study_method_name(method));
      json_numbers(text, reason->derivative[method], bits);
    }
    vcs_text_printf(text, "}");
  }
  vcs_text_printf(text, "]");
}

static void put_json(const vcs_explanation_t *e, const char *name, int64_t frame, vcs_text_t *text) {
  vcs_text_printf(text, "{\"game\":");
  vcs_text_json(text, name);
  vcs_text_printf(text, ",\"frame\":%" PRId64 ",\"what\":", frame);
  vcs_text_json(text, e->what);
  vcs_text_printf(text, ",\"value\":%.9g,\"span\":%d,\"horizon\":%d,\"inputs_per_frame\":%d,\"lit_by\":[", e->value,
                  (int)e->span.frames, (int)e->run.frames, VCS_INPUTS);
  int count = 0;
  for (int i = 0; i < VCS_OBJECT_COUNT; i++) {
    if (e->drawn_by[i]) vcs_text_printf(text, "%s\"%s\"", count++ ? "," : "", vcs_object_name(i));
  }
  vcs_text_printf(text, "],\n\"writes\":[");
  for (int i = 0; i < e->cause_count; i++) {
    const vcs_cause_t *cause = &e->causes[i];
    const vcs_slice_row_t *row = &e->slice.rows[cause->row];
    vcs_text_printf(text,
                    "%s\n{\"instruction\":%d,\"clock\":%d,\"pc\":%u,\"text\":\"%s\",\"register\":\"%s\",\"value\":%d,"
                    "\"bits\":%d,\"needed\":%s}",
                    i ? "," : "", cause->row, row->end_clock, row->pc, row->text, register_name(cause), cause->value,
                    cause->bits, cause->needed ? "true" : "false");
  }
  vcs_text_printf(text, "],\n\"slice\":[");
  count = 0;
  for (int i = 0; i < e->slice.count; i++) {
    const vcs_slice_row_t *row = &e->slice.rows[i];
    if (!row->slice) continue;
    vcs_text_printf(text, "%s\n{\"instruction\":%d,\"clock\":%d,\"pc\":%u,\"text\":\"%s\"}", count++ ? "," : "", i,
                    row->clock, row->pc, row->text);
  }
  vcs_text_printf(text, "]");
  json_reasons(text, "ram", &e->ram, 8);
  json_reasons(text, "rom", &e->rom, 8);
  json_reasons(text, "inputs", &e->inputs, 1);
  vcs_text_printf(text, "}\n");
}

char *vcs_explain_json(const vcs_explanation_t *e, const char *name, int64_t frame) {
  vcs_text_t text = {0};
  put_json(e, name, frame, &text);
  return give(&text);
}
