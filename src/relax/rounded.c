/* rounded.c: the relaxed machine of integers: every read and every branch is softened, and rounded at once.
 *
 * This file compiles cpu.h on another bus: vcs_bus_read does the real access, with its side effects on chips and banks,
 * and then softens the value if it is from a cell of ROM, RAM or cartridge RAM; a chip's register has no neighbours. A
 * replaced macro of cpu.h softens branches. The cycles of a branch follow from its flag, not from the rounded counter.
 */
#include <math.h>
#include <string.h>

#include "core/bus.h"
#include "relaxed.h"

/* The CPU on this bus: vcs_cpu_t is the first member, so that cpu.h can pass it. */
typedef struct {
  vcs_cpu_t cpu;
  vcs_relax_t *relax;
  uint16_t pc; /* of the instruction */
} soft_cpu_t;

static uint8_t soften(soft_cpu_t *soft, const uint8_t *cells, int32_t size, int32_t index, uint16_t addr) {
  vcs_relax_t *relax = soft->relax;
  double relaxed = vcs_soften_read(&relax->soften, cells, size, index);
  uint8_t cast = (uint8_t)nearbyint(relaxed);
  const vcs_relax_value_t value = {cells, size, index, soft->pc, addr, 0, 0, cells[index], relaxed};
  vcs_relax_note(relax, &value, cast != cells[index]);
  return cast;
}

static uint8_t soft_read(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr) {
  soft_cpu_t *soft = (soft_cpu_t *)cpu;
  if (soft->relax->options.bus == VCS_BUS_REDUCED) {
    uint8_t port;
    if (vcs_reduced_port(m, addr, &port)) return port;
    if (!(addr & 0x1000)) return soften(soft, m->ram, 128, addr & 0x7F, addr);
    return soften(soft, cart->rom, (int32_t)cart->rom_size, (int32_t)((addr & 0xFFF) % cart->rom_size), addr);
  }
  uint8_t value = vcs_bus_read(cart, m, cpu, video, addr);
  if (addr & 0x1000) {
    int32_t place = vcs_cart_read_place(cart, m, addr);
    if (place == VCS_CART_REGISTER) return value;
    value = place < 0 ? soften(soft, m->cart_ram, (int32_t)cart->ram_size, ~place, addr)
                      : soften(soft, cart->rom, (int32_t)cart->rom_size, place, addr);
  } else if ((addr & 0x280) == 0x80) {
    value = soften(soft, m->ram, 128, addr & 0x7F, addr);
  }
  cpu->bus = value;
  return value;
}

static void soft_write_after(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr,
                             uint8_t value, bool stalls) {
  if (((soft_cpu_t *)cpu)->relax->options.bus == VCS_BUS_REAL) {
    vcs_bus_write_after(cart, m, cpu, video, addr, value, stalls);
  } else if (vcs_reduced_timer(addr)) {
    m->timer = value;
  } else if (!(addr & 0x1000)) {
    m->ram[addr & 0x7F] = value;
  }
}

static void soft_write(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr,
                       uint8_t value) {
  soft_write_after(cart, m, cpu, video, addr, value, true);
}

static void soft_branch(vcs_cpu_t *cpu, int8_t offset, bool taken) {
  soft_cpu_t *soft = (soft_cpu_t *)cpu;
  uint16_t target = (uint16_t)(cpu->pc + offset), exact = taken ? target : cpu->pc;
  double relaxed = vcs_soften_branch(&soft->relax->soften, cpu->pc, offset, taken);
  uint16_t cast = (uint16_t)(int32_t)nearbyint(relaxed);
  const vcs_relax_value_t value = {NULL, 0, 0, soft->pc, target, offset, taken, exact, relaxed};
  vcs_relax_note(soft->relax, &value, cast != exact);
  if (taken) cpu->time += VCS_CYCLES((cpu->pc ^ target) & 0xFF00 ? 2 : 1);
  cpu->pc = cast;
}

#define vcs_bus_read soft_read
#define vcs_bus_write_after soft_write_after
#define vcs_bus_write soft_write
#include "core/cpu.h"
#undef VCS_CASE_BRANCH
#define VCS_CASE_BRANCH(operation, mode) soft_branch(cpu, (int8_t)vcs_cpu_fetch(VCS_HERE), vcs_op_##operation(cpu));

bool vcs_reduced_away(uint8_t opcode) {
  static const char unknown[] = "SLO RLA SRE RRA DCP ISB ANC ANE ARR ASR LAS LXA SBX SHA SHS SHX SHY JAM";
  return strstr(unknown, vcs_opcode(opcode).name) != NULL;
}

/* BRK stays where it is. */
static bool do_reduced(vcs_cpu_t *cpu, uint8_t opcode) {
  if (opcode == 0x00) cpu->pc--;
  return opcode == 0x00 || vcs_reduced_away(opcode);
}

static void instruction(VCS_ON) {
  soft_cpu_t *soft = (soft_cpu_t *)cpu;
  soft->pc = cpu->pc;
  uint8_t opcode = vcs_cpu_fetch(VCS_HERE);
  if (soft->relax->options.bus == VCS_BUS_REAL || !do_reduced(cpu, opcode)) {
    switch (opcode) { VCS_OPCODES(VCS_CASE) }
  }
  soft->relax->report.instructions++;
  m->instructions++;
}

/* Runs up to `count` instructions; m->partial receives whether the frame is unfinished. */
static void run(vcs_relax_t *relax, vcs_video_t *video, int count) {
  soft_cpu_t soft = {.relax = relax};
  vcs_cpu_load(&soft.cpu, relax->m);
  for (; count > 0 && !relax->m->jammed && !(soft.cpu.stop & VCS_STOP_FRAME); count--)
    instruction(relax->cart, relax->m, &soft.cpu, video);
  vcs_cpu_store(&soft.cpu, relax->m);
  relax->m->bus = soft.cpu.bus;
  if (soft.cpu.stop & VCS_STOP_FRAME) relax->m->partial = 0;
}

/* A frame begins if none is under way. */
void vcs_rounded_step(vcs_relax_t *relax, uint8_t *frames) {
  vcs_video_t video;
  const bool whole = relax->options.bus == VCS_BUS_REAL;
  vcs_video_start(&video, relax->cart, frames);
  if (whole) vcs_frame_begin(relax->cart, relax->m);
  run(relax, &video, 1);
  if (!whole) return;
  vcs_tia_catch_up(relax->m, &video);
  if (!relax->m->partial) vcs_frame_end(relax->cart, relax->m, frames);
}

void vcs_rounded_frame(vcs_relax_t *relax, uint8_t *frames) {
  vcs_video_t video;
  vcs_video_start(&video, relax->cart, frames);
  vcs_frame_begin(relax->cart, relax->m);
  run(relax, &video, VCS_FRAME_INSTRUCTIONS);
  vcs_tia_catch_up(relax->m, &video);
  vcs_frame_end(relax->cart, relax->m, frames);
}
