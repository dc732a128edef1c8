/* unread.c: bytes of ROM that a run never reads.
 *
 * Flipping such a byte changes nothing: up to the first read of a changed byte two runs are the same, and there is no
 * first read. So a run's truth for most of a large cartridge is known without running. What is wanted is certainty, not
 * the smallest set: a byte counts as read when an instruction could have read it. The run is stepped through, and of
 * every instruction are marked its bytes and what its addressing mode points at; in pages with hot spots or RAM ports
 * that offset in every bank. Where the question becomes hard (cartridges that answer outside the window or have a
 * coprocessor, pointers in TIA registers, instructions whose own bytes switch banks) everything counts as read. In the
 * end the run is made once more with all unread bytes inverted, and must not notice.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cart.h"
#include "core/cpu_ops.h"
#include "grad/rerun.h"

typedef struct {
  const vcs_cart_t *cart;
  const vcs_t *m; /* before the instruction */
  uint8_t *unread;
  bool lost; /* everything counts as read */
} watch_t;

static bool in_window(uint16_t address) { return address & 0x1000; }
static bool in_ram(uint16_t address) { return (address & 0x1280) == 0x80; }
static bool is_hot(const vcs_cart_t *cart, uint16_t address) { return cart->hot_pages >> (address >> 6 & 63) & 1; }

/* An address was read, with the banks as in m. */
static void mark(watch_t *watch, const vcs_t *m, uint16_t address) {
  const vcs_cart_t *cart = watch->cart;
  if (!in_window(address)) return;
  if (!is_hot(cart, address)) {
    watch->unread[m->bank[address >> 10 & 3] + (address & 0x3FFu)] = 0;
    return;
  }
  for (uint32_t i = address & 0x3FFu; i < cart->rom_size; i += 1024) watch->unread[i] = 0;
}

/* A byte of an instruction or of a pointer, where it can be known. */
static uint8_t peek(watch_t *watch, uint16_t address) {
  if (!in_window(address) && !in_ram(address)) watch->lost = true;
  return vcs_peek(watch->cart, watch->m, address);
}

static uint16_t pointer_at(watch_t *watch, uint8_t address) {
  const uint8_t low = peek(watch, address);
  return (uint16_t)(low | peek(watch, (uint16_t)(address + 1)) << 8);
}

/* The bytes of an instruction, unless fetching them switches banks. */
static void mark_fetch(watch_t *watch, uint16_t pc, int length) {
  for (int i = 0; i < length; i++) {
    const uint16_t address = (uint16_t)(pc + i);
    mark(watch, watch->m, address);
    if (!in_window(address) || !is_hot(watch->cart, address)) continue;
    vcs_t touched = {0};
    memcpy(&touched, watch->m, offsetof(vcs_t, cart_ram));
    vcs_cart_touch(watch->cart, &touched, address);
    if (memcmp(&touched, watch->m, offsetof(vcs_t, cart_ram)) != 0) watch->lost = true;
  }
}

/* All that an instruction may have read; `after` is the machine behind it. */
static void mark_instruction(watch_t *watch, const vcs_step_t *step, const vcs_t *after) {
  static const uint8_t lengths[] = {
      [VCS_MODE_IMP] = 1, [VCS_MODE_ACC] = 1, [VCS_MODE_IMM] = 2, [VCS_MODE_ZP] = 2,  [VCS_MODE_ZPX] = 2,
      [VCS_MODE_ZPY] = 2, [VCS_MODE_ABS] = 3, [VCS_MODE_ABX] = 3, [VCS_MODE_ABY] = 3, [VCS_MODE_IND] = 3,
      [VCS_MODE_IZX] = 2, [VCS_MODE_IZY] = 2, [VCS_MODE_REL] = 2};
  const vcs_opcode_t opcode = vcs_opcode(step->opcode);
  const uint16_t pc = step->pc_before;
  const bool is_break = step->opcode == 0x00, is_return = step->opcode == 0x60;
  mark_fetch(watch, pc, is_break ? 2 : lengths[opcode.mode]);
  const uint8_t low = lengths[opcode.mode] > 1 ? peek(watch, (uint16_t)(pc + 1)) : 0;
  const uint16_t word = (uint16_t)(low | (lengths[opcode.mode] > 2 ? peek(watch, (uint16_t)(pc + 2)) << 8 : 0));
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

/* Steps through a frame of the base. False: it did not go as recorded. */
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
  return memcmp(m, vcs_base_state(base, frame + 1), size) == 0;
}

/* Whether the run goes as it did on an image whose unread bytes are inverted. */
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
    if (memcmp(m, vcs_base_state(base, i + 1), vcs_state_size(&cart)) != 0) return false;
  }
  return true;
}

static bool find(const vcs_base_t *base, uint8_t *unread, vcs_t *before, vcs_t *m, uint8_t *rom) {
  watch_t watch = {&base->cart, before, unread, false};
  int32_t frames = 0;
  for (; frames < base->run.frames; frames++) {
    if (base->view.stop_when_over && base->plays[frames].over) break;
    if (!watch_frame(&watch, base, frames, before, m) || watch.lost) return false;
  }
  return is_unnoticed(base, unread, rom, frames, m);
}

void vcs_base_find_unread(vcs_base_t *base) {
  const size_t size = base->cart.rom_size;
  free(base->unread);
  base->unread = NULL;
  if (base->cart.snoops || base->cart.scheme == VCS_SCHEME_DPC) return;
  uint8_t *unread = malloc(size), *rom = malloc(size);
  vcs_t *before = malloc(vcs_state_size(&base->cart)), *m = malloc(vcs_state_size(&base->cart));
  if (unread) memset(unread, 1, size);
  if (unread && rom && before && m && find(base, unread, before, m, rom)) {
    base->unread = unread;
    unread = NULL;
  }
  free(unread);
  free(rom);
  free(before);
  free(m);
}
