/* unread.c: finds bytes of ROM that a run never reads.
 *
 * Flipping such a byte changes nothing: two runs are the same up to the first read of a changed byte, and there is no
 * such read. So the truth for most bits of a large cartridge is known without running. The set must be certain, not as
 * large as possible: a byte counts as read when an instruction could have read it. The run is executed once more, one
 * instruction at a time, and each instruction marks its own bytes and the bytes that its addressing mode points at. On
 * pages with hot spots or RAM ports it marks that offset in every bank. Where this becomes uncertain (cartridges that
 * answer outside the window or have a coprocessor, pointers in TIA registers, instructions whose own bytes switch
 * banks) everything counts as read. Finally the run is repeated with all unread bytes inverted, and must be the same.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cart.h"
#include "core/decode.h"
#include "grad/rerun.h"

typedef struct {
  const vcs_cart_t *cart;
  const vcs_t *m; /* before the instruction */
  vcs_t *scratch; /* a machine on which hot spots are tried */
  uint8_t *unread;
  bool lost; /* everything counts as read */
} watch_t;

static bool in_window(uint16_t address) { return address & 0x1000; }
static bool in_ram(uint16_t address) { return (address & 0x1280) == 0x80; }
static bool is_hot(const vcs_cart_t *cart, uint16_t address) { return cart->hot_pages >> (address >> 6 & 63) & 1; }

/* Marks the byte at an address as read, with the banks as they are in m. */
static void mark(watch_t *watch, const vcs_t *m, uint16_t address) {
  const vcs_cart_t *cart = watch->cart;
  if (!in_window(address)) return;
  if (!is_hot(cart, address)) {
    watch->unread[m->bank[address >> 10 & 3] + (address & 0x3FFu)] = 0;
    return;
  }
  for (uint32_t i = address & 0x3FFu; i < cart->rom_size; i += 1024) watch->unread[i] = 0;
}

/* Returns a byte of an instruction or of a pointer. Outside ROM and RAM its value is uncertain. */
static uint8_t peek(watch_t *watch, uint16_t address) {
  if (!in_window(address) && !in_ram(address)) watch->lost = true;
  return vcs_peek(watch->cart, watch->m, address);
}

static uint16_t pointer_at(watch_t *watch, uint8_t address) {
  const uint8_t low = peek(watch, address);
  return (uint16_t)(low | peek(watch, (uint16_t)(address + 1)) << 8);
}

/* Marks the bytes of an instruction. If fetching them switches banks, which bytes they are is uncertain. */
static void mark_fetch(watch_t *watch, uint16_t pc, int length) {
  for (int i = 0; i < length; i++) {
    const uint16_t address = (uint16_t)(pc + i);
    mark(watch, watch->m, address);
    if (!in_window(address) || !is_hot(watch->cart, address)) continue;
    memcpy(watch->scratch, watch->m, offsetof(vcs_t, cart_ram)); /* a touch does not reach cartridge RAM */
    vcs_cart_touch(watch->cart, watch->scratch, address);
    if (memcmp(watch->scratch, watch->m, offsetof(vcs_t, cart_ram)) != 0) watch->lost = true;
  }
}

/* Marks everything that an instruction may have read; `after` is the machine after it. */
static void mark_instruction(watch_t *watch, const vcs_step_t *step, const vcs_t *after) {
  const vcs_opcode_t opcode = vcs_opcode(step->opcode);
  const int length = vcs_mode_length(opcode.mode);
  const uint16_t pc = step->pc_before;
  const bool is_break = step->opcode == VCS_BRK, is_return = step->opcode == VCS_RTS;
  mark_fetch(watch, pc, is_break ? 2 : length);
  const uint8_t low = length > 1 ? peek(watch, (uint16_t)(pc + 1)) : 0;
  const uint16_t word = (uint16_t)(low | (length > 2 ? peek(watch, (uint16_t)(pc + 2)) << 8 : 0));
  uint16_t at[2] = {0, 0}; /* outside the window: nothing */
  switch (opcode.mode) {
    case VCS_MODE_ABS:
      at[0] = word;
      break;
    case VCS_MODE_ABX:
      at[0] = (uint16_t)(word + watch->m->x);
      break;
    case VCS_MODE_ABY:
      at[0] = (uint16_t)(word + watch->m->y);
      break;
    case VCS_MODE_IND:
      at[0] = word;
      at[1] = (uint16_t)((word & 0xFF00) | (uint8_t)(word + 1));
      break;
    case VCS_MODE_IZX:
      at[0] = pointer_at(watch, (uint8_t)(low + watch->m->x));
      break;
    case VCS_MODE_IZY:
      at[0] = (uint16_t)(pointer_at(watch, low) + watch->m->y);
      break;
    default:
      if (is_break) at[0] = 0xFFFE, at[1] = 0xFFFF;
      if (is_return) at[0] = (uint16_t)(step->pc - 1);
      break;
  }
  for (int i = 0; i < 2; i++) {
    mark(watch, watch->m, at[i]);
    mark(watch, after, at[i]);
  }
}

/* Executes a frame of the base and marks what it reads. Returns false if it does not end as recorded. */
static bool watch_frame(watch_t *watch, const vcs_base_t *base, int32_t frame, vcs_t *before, vcs_t *m) {
  const size_t size = vcs_state_size(&base->cart);
  vcs_step_t step = {0};
  memcpy(m, vcs_base_state(base, frame), size);
  vcs_control(&base->cart, m, &base->controls[frame]);
  vcs_frame_begin(&base->cart, m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !m->jammed && !step.frame_over && !watch->lost; i++) {
    memcpy(before, m, size);
    vcs_step(&base->cart, m, NULL, &step);
    mark_instruction(watch, &step, m);
  }
  vcs_frame_end(&base->cart, m, NULL);
  vcs_read_all_ram(m);
  return memcmp(m, vcs_base_state(base, frame + 1), size) == 0;
}

/* Whether the run is the same on an image whose unread bytes are inverted. */
static bool is_unnoticed(const vcs_base_t *base, const uint8_t *unread, uint8_t *rom, int32_t frames, vcs_t *m) {
  vcs_cart_t cart = base->cart;
  memset(rom, 0, cart.rom_size);
  for (uint32_t i = 0; i < cart.rom_size; i++) rom[i] = unread[i] ? (uint8_t)~cart.rom[i] : cart.rom[i];
  cart.rom = rom;
  cart.code = NULL;
  memcpy(m, vcs_base_state(base, 0), vcs_state_size(&cart));
  for (int32_t i = 0; i < frames; i++) {
    vcs_control(&cart, m, &base->controls[i]);
    vcs_frame(&cart, m, NULL);
    vcs_read_all_ram(m);
    if (memcmp(m, vcs_base_state(base, i + 1), vcs_state_size(&cart)) != 0) return false;
  }
  return true;
}

static bool find(const vcs_base_t *base, uint8_t *unread, uint8_t *rom, vcs_t *m, vcs_t *before, vcs_t *scratch) {
  watch_t watch = {&base->cart, before, scratch, unread, false};
  int32_t frames = 0;
  for (; frames < base->run.frames; frames++) {
    if (base->view.stop_when_over && base->plays[frames].over) break;
    if (!watch_frame(&watch, base, frames, before, m) || watch.lost) return false;
  }
  return is_unnoticed(base, unread, rom, frames, m);
}

void vcs_base_find_unread(vcs_base_t *base) {
  const size_t size = base->cart.rom_size, machine = vcs_state_size(&base->cart);
  free(base->unread);
  base->unread = NULL;
  if (base->cart.snoops || base->cart.scheme == VCS_SCHEME_DPC) return;
  uint8_t *unread = malloc(size), *rom = malloc(size);
  vcs_t *m = malloc(machine), *before = malloc(machine), *scratch = malloc(machine);
  if (unread) memset(unread, 1, size);
  if (unread && rom && m && before && scratch && find(base, unread, rom, m, before, scratch)) {
    base->unread = unread;
    unread = NULL;
  }
  free(unread);
  free(rom);
  free(m);
  free(before);
  free(scratch);
}
