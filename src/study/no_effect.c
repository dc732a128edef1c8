/* no_effect.c: why a bit or a control changes nothing (study.h).
 *
 * The run is made twice, instruction by instruction: as it is, and with the bit flipped. What the program does with the
 * byte (or with the port of the control) and where the two runs differ decide the sentence:
 *
 *   the program never reads it, or overwrites it first, or reads it and goes on as before; the effect has disappeared
 *   again; other values reach the TIA, but are hidden; RAM changes, which is visible later or not at all
 */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "study/internal.h"

enum { FRAMES_MAX = 256 }; /* frames that are compared at most */
enum { SWCHA = 0x280, SWCHB = 0x282, INPT0 = 0x08, INPT4 = 0x0C };
enum { WSYNC = 0x02, RSYNC = 0x03, RESP0 = 0x10, RESBL = 0x14, HMOVE = 0x2A, CXCLR = 0x2C, TIA_END = 0x40 };
enum { LINE_CLOCKS = 228 };

/* One of the two runs: its cartridge, machine, and the instructions of its present frame. */
typedef struct {
  vcs_cart_t cart; /* a copy: vcs_cart_info needs the original */
  uint8_t *rom;    /* of its own, with a bit flipped; NULL: none */
  vcs_t *m;
  vcs_slice_t slice;
} execution_t;

/* What was seen in all frames so far. */
typedef struct {
  int32_t frames;       /* frames that were compared */
  int32_t polled;       /* input: the first frame that reads its port; -1: none */
  bool read, written;   /* the byte, or the port in the frame of the input */
  bool overwritten;     /* it was written before it was read */
  char who[48];         /* the first instruction that reads or writes it: "F459 LDA SWCHA" */
  int32_t who_frame;    /* the frame of the run with that instruction */
  int32_t ram_bytes;    /* bytes of RAM that differ after the last frame */
  int32_t equal_from;   /* the frame from which on RAM and the writes to the TIA are equal */
  int32_t most_bytes;   /* the most bytes of RAM that differed after a frame */
  const char *tia_name; /* the first register that the last frame writes differently; NULL: none */
  bool drew_otherwise;  /* a frame wrote a register of the TIA differently */
} seen_t;

/* ---- Accesses ------------------------------------------------------------------------------------------------- */

/* Whether reading the address reads the pin of an input. */
static bool reads_input(const vcs_cart_t *cart, uint32_t input, uint16_t address) {
  if (input >= VCS_INPUT_RESET) return address == SWCHB;
  const bool second = input >= VCS_INPUT_SECOND_PLAYER, fire = input % VCS_INPUT_SECOND_PLAYER == VCS_INPUT_FIRE;
  const vcs_cart_info_t *info = vcs_cart_info(cart);
  const int controller = second ? (int)info->right : (int)info->left;
  if (controller == VCS_CONTROLLER_PADDLES) {
    return fire ? address == SWCHA : address == INPT0 + 2 * second || address == INPT0 + 2 * second + 1;
  }
  if (controller == VCS_CONTROLLER_JOYSTICK) return address == (fire ? INPT4 + second : SWCHA);
  return address == SWCHA || (address >= INPT0 && address <= INPT4 + 1);
}

/* Whether an access of the base run is one to the place. */
static bool concerns(const vcs_run_t *run, const vcs_place_t *place, const vcs_accesses_t *accesses, int i) {
  const uint16_t address = accesses->address[i];
  if (place->kind == VCS_PLACE_INPUT) {
    return !accesses->writes[i] && reads_input(run->cart, place->index, address);
  }
  const size_t ram = offsetof(vcs_t, ram);
  return place->kind == VCS_PLACE_STATE && place->index >= ram && place->index < ram + 128 &&
         address == 0x80 + place->index - ram;
}

static void note_accesses(const vcs_run_t *run, const execution_t *base, const vcs_place_t *place, int32_t frame,
                          seen_t *seen) {
  const bool is_input = place->kind == VCS_PLACE_INPUT;
  for (int r = 0; r < base->slice.count; r++) {
    const vcs_slice_row_t *row = &base->slice.rows[r];
    for (int i = 0; i < row->accesses.count; i++) {
      if (!concerns(run, place, &row->accesses, i)) continue;
      if (is_input && seen->polled < 0) seen->polled = frame;
      if (is_input && frame != place->frame) continue;
      if (!seen->read && !seen->written) {
        snprintf(seen->who, sizeof seen->who, "%04X %s", row->pc, row->text);
        seen->who_frame = frame;
        seen->overwritten = row->accesses.writes[i];
      }
      if (row->accesses.writes[i])
        seen->written = true;
      else
        seen->read = true;
    }
  }
}

/* A byte of the image: the instruction that reads it or that it belongs to. */
static vcs_status_t note_rom(const vcs_run_t *run, uint32_t offset, seen_t *seen, vcs_error_t *error) {
  vcs_rom_use_t *uses = calloc(run->cart->rom_size, sizeof *uses);
  if (!uses) return vcs_no_memory(error);
  const vcs_status_t status = vcs_rom_uses(run, uses, error);
  seen->read = uses[offset].kind != VCS_ROM_UNUSED || uses[offset].read;
  snprintf(seen->who, sizeof seen->who, "%04X %s", uses[offset].pc, uses[offset].text);
  free(uses);
  return status;
}

/* ---- Differences ---------------------------------------------------------------------------------------------- */

/* The value that a store instruction writes; A for instructions that modify memory, which TIA programs avoid. */
static int stored(const vcs_slice_row_t *row) {
  return strstr(row->text, "STX") ? row->x : strstr(row->text, "STY") ? row->y : row->a;
}

/* The next write to the TIA from row *at on; NULL: there is none. */
static const vcs_slice_row_t *next_write(const vcs_slice_t *slice, int *at, uint16_t *address) {
  for (; *at < slice->count; ++*at) {
    const vcs_slice_row_t *row = &slice->rows[*at];
    for (int i = 0; i < row->accesses.count; i++) {
      if (row->accesses.writes[i] && row->accesses.address[i] < TIA_END) {
        *address = row->accesses.address[i];
        ++*at;
        return row;
      }
    }
  }
  return NULL;
}

/* Registers whose value does not matter. */
static bool is_strobe(uint16_t address) {
  return address == WSYNC || address == RSYNC || (address >= RESP0 && address <= RESBL) ||
         (address >= HMOVE && address <= CXCLR);
}

/* Whether the time of a write matters: it is a strobe that sets a position, or the beam is in the picture. */
static bool is_timed(const vcs_cart_t *cart, uint16_t address, int32_t clock) {
  const int line = clock / LINE_CLOCKS;
  return (address >= RESP0 && address <= RESBL) ||
         (line >= cart->top_line && line < cart->top_line + cart->frame_height);
}

/* The first register of the TIA that the frames of both sides write in another order, with another value, or at
 * another time that matters. */
static const char *first_other_write(const vcs_cart_t *cart, const vcs_slice_t *a, const vcs_slice_t *b) {
  int i = 0, j = 0;
  for (;;) {
    uint16_t at = 0, other = 0;
    const vcs_slice_row_t *one = next_write(a, &i, &at), *two = next_write(b, &j, &other);
    if (!one && !two) return NULL;
    bool same = one && two && at == other && (stored(one) == stored(two) || is_strobe(at));
    if (same && is_timed(cart, at, one->end_clock)) same = one->end_clock == two->end_clock;
    if (!same) return vcs_symbol_name(NULL, one ? at : other, 1);
  }
}

static void note_differences(const execution_t *base, const execution_t *flipped, const vcs_place_t *place,
                             int32_t frame, seen_t *seen) {
  const size_t own = place->kind == VCS_PLACE_STATE && !seen->written ? place->index - offsetof(vcs_t, ram) : 128;
  seen->ram_bytes = 0;
  for (size_t i = 0; i < 128; i++) seen->ram_bytes += i != own && base->m->ram[i] != flipped->m->ram[i];
  if (seen->ram_bytes > seen->most_bytes) seen->most_bytes = seen->ram_bytes;
  seen->tia_name = first_other_write(&base->cart, &base->slice, &flipped->slice);
  if (seen->tia_name) seen->drew_otherwise = true;
  if (seen->tia_name || seen->ram_bytes) seen->equal_from = frame + 1;
}

/* ---- The two runs --------------------------------------------------------------------------------------------- */

static vcs_status_t begin(const vcs_run_t *run, const vcs_place_t *flipped, execution_t *execution,
                          vcs_error_t *error) {
  *execution = (execution_t){.cart = *run->cart, .m = calloc(1, sizeof *execution->m)};
  if (!execution->m) return vcs_no_memory(error);
  memcpy(execution->m, run->start, vcs_state_size(run->cart));
  if (flipped && flipped->kind == VCS_PLACE_STATE)
    ((uint8_t *)execution->m)[flipped->index] ^= (uint8_t)(1 << flipped->bit);
  if (!flipped || flipped->kind != VCS_PLACE_ROM) return VCS_OK;
  execution->rom = malloc(execution->cart.rom_size);
  if (!execution->rom) return vcs_no_memory(error);
  memcpy(execution->rom, run->cart->rom, execution->cart.rom_size);
  execution->rom[flipped->index] ^= (uint8_t)(1 << flipped->bit);
  execution->cart.rom = execution->rom;
  execution->cart.code = NULL; /* the decoded program belongs to the unchanged image */
  return VCS_OK;
}

static vcs_status_t advance(const vcs_run_t *run, int32_t frame, const vcs_place_t *flipped, execution_t *execution,
                            vcs_error_t *error) {
  vcs_controls_t controls = run->controls[frame];
  if (flipped && flipped->kind == VCS_PLACE_INPUT && flipped->frame == frame) {
    vcs_controls_flip(&controls, flipped->index);
  }
  vcs_slice_free(&execution->slice);
  return vcs_slice_record(&execution->cart, execution->m, &controls, &execution->slice, error);
}

static void finish(execution_t *execution) {
  vcs_slice_free(&execution->slice);
  free(execution->rom);
  free(execution->m);
}

static vcs_status_t compare(const vcs_run_t *run, const vcs_place_t *place, seen_t *seen, vcs_error_t *error) {
  execution_t base = {.m = NULL}, flipped = {.m = NULL};
  const int32_t frames = run->frames < FRAMES_MAX ? run->frames : FRAMES_MAX;
  vcs_status_t status = begin(run, NULL, &base, error);
  if (status == VCS_OK) status = begin(run, place, &flipped, error);
  for (int32_t f = 0; f < frames && status == VCS_OK; f++) {
    status = advance(run, f, NULL, &base, error);
    if (status == VCS_OK) status = advance(run, f, place, &flipped, error);
    if (status) break;
    note_accesses(run, &base, place, f, seen);
    note_differences(&base, &flipped, place, f, seen);
    seen->frames = f + 1;
  }
  finish(&base);
  finish(&flipped);
  return status;
}

/* ---- Words ---------------------------------------------------------------------------------------------------- */

static const char *plural(int32_t count) { return count == 1 ? "" : "s"; }

/* Says that the program does not read the byte or the control, and for a control when it does. */
static void say_unread(const vcs_place_t *place, const seen_t *seen, char *text, size_t size) {
  if (place->kind != VCS_PLACE_INPUT) {
    snprintf(text, size, "the program does not read the byte in %s frame%s", seen->frames == 1 ? "this" : "these",
             plural(seen->frames));
  } else if (seen->polled < 0) {
    snprintf(text, size, "the game does not read this control in any of the %d frame%s", (int)seen->frames,
             plural(seen->frames));
  } else {
    snprintf(text, size, "the game does not read this control in frame %d of the run; it does in frame %d (%s@%d)",
             place->frame, (int)seen->polled, vcs_input_name((int)place->index), (int)seen->polled);
  }
}

static bool is_ram(const vcs_place_t *place) {
  const size_t ram = offsetof(vcs_t, ram);
  return place->kind == VCS_PLACE_STATE && place->index >= ram && place->index < ram + 128;
}

/* Writes the sentence. */
static void say(const vcs_place_t *place, const seen_t *seen, char *text, size_t size) {
  const bool is_input = place->kind == VCS_PLACE_INPUT;
  const bool known = is_input || place->kind == VCS_PLACE_ROM || is_ram(place);
  const bool acts = seen->most_bytes || seen->drew_otherwise;
  if (is_input && place->frame >= seen->frames) {
    snprintf(text, size, "frame %d of the run is not among the first %d, and only these are looked at", place->frame,
             (int)seen->frames);
  } else if (known && !acts && seen->overwritten) {
    snprintf(text, size, "the program overwrites the byte before it reads it (%s, in frame %d of the run)", seen->who,
             (int)seen->who_frame);
  } else if (known && !acts && !seen->read) {
    say_unread(place, seen, text, size);
  } else if (seen->ram_bytes) {
    snprintf(text, size, "it changes %d byte%s of RAM, but no pixel within %d frame%s: a longer horizon may show it",
             (int)seen->ram_bytes, plural(seen->ram_bytes), (int)seen->frames, plural(seen->frames));
  } else if (seen->tia_name) {
    snprintf(text, size,
             "the program writes %s otherwise, but what that draws is hidden: outside the picture, or drawn over",
             seen->tia_name);
  } else if (seen->most_bytes || seen->drew_otherwise) {
    snprintf(text, size, "its effect has passed: RAM and what is drawn are the same again from frame %d of the run on",
             (int)seen->equal_from);
  } else if (known) {
    snprintf(text, size, "the program reads the %s (%s) and goes on as it does without the change",
             is_input ? "control" : "byte", seen->who);
  } else {
    snprintf(text, size, "nothing that the program writes in these frames depends on it");
  }
}

vcs_status_t vcs_no_effect(const vcs_run_t *run, const vcs_place_t *place, char *text, size_t size,
                           vcs_error_t *error) {
  seen_t seen = {.polled = -1};
  if (vcs_run_bit(run, place) < 0) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the run has no such bit or input");
  vcs_status_t status = compare(run, place, &seen, error);
  if (status == VCS_OK && place->kind == VCS_PLACE_ROM) status = note_rom(run, place->index, &seen, error);
  if (status == VCS_OK) say(place, &seen, text, size);
  return status;
}
