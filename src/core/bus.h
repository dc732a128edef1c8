/* bus.h: address decoding.
 *
 * The 6507 has 13 address lines; three of them (A12, A9, A7) choose the chip.
 *
 *   A12 A9 A7
 *    1  x  x   $1000-$1FFF  cartridge
 *    0  x  0   $0000-$007F  TIA         (mirrored all over the lower 4 KiB)
 *    0  0  1   $0080-$00FF  RIOT RAM    ($0180-$01FF is the same RAM: the stack)
 *    0  1  1   $0280-$02FF  RIOT ports and timer
 *
 * Addresses stay 16 bits wide on their way: one scheme (FE) looks at A13. The bus remembers the last byte that
 * crossed it, because the TIA drives only two of the eight lines when it is read.
 *
 * vcs_cpu_t is the CPU on the bus: its registers while instructions are running, kept apart from vcs_t so that a
 * compiler can hold them in registers. Flags: N is bit 7 of n, Z is z == 0, the others are 0 or 1.
 */
#ifndef VCS_CORE_BUS_H
#define VCS_CORE_BUS_H

#include "cart.h"
#include "riot.h"
#include "tia.h"

/* A run of addresses whose bytes lie behind each other in ROM and can be fetched directly (cpu.h). */
typedef struct {
  const uint8_t *rom;
  uint16_t start, length;
} vcs_plain_t;

typedef struct {
  uint32_t cycles;
  uint16_t pc;
  uint8_t a, x, y, sp;
  uint8_t n, z, v, d, i, c;
  uint8_t bus;
  bool frame_over, jammed;
  vcs_plain_t plain;
  uint32_t word; /* an instruction fetched directly: the bytes still to come, the next one lowest */
} vcs_cpu_t;

/* TIA, RIOT ports and whatever a cartridge does below $1000. The chips look at m->cycles. */
VCS_SLOW_FN uint8_t vcs_bus_read_chip(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr,
                                      uint8_t bus) {
  uint8_t value = addr & 0x80 ? vcs_riot_read(cart, m, addr) : vcs_tia_read(cart, m, video, addr, bus);
  if (VCS_UNLIKELY(cart->snoops)) vcs_cart_snoop_read(cart, m, addr, &value);
  return value;
}

VCS_HOT_FN uint8_t vcs_bus_read(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr) {
  uint8_t value;
  if (addr & 0x1000) {
    if (VCS_UNLIKELY(cart->hot_pages >> (addr >> 6 & 63) & 1)) {
      m->cycles = cpu->cycles;
      cpu->plain.length = 0; /* banks may change */
    }
    value = vcs_cart_read(cart, m, addr);
  } else if ((addr & 0x280) == 0x80) {
    value = m->ram[addr & 0x7F];
  } else {
    m->cycles = cpu->cycles;
    value = vcs_bus_read_chip(cart, m, video, addr, cpu->bus);
    if (VCS_UNLIKELY(cart->snoops)) cpu->plain.length = 0;
  }
  cpu->bus = value;
  return value;
}

/* Anything but RAM; WSYNC lets m->cycles advance. `stalls`: the access before this one was a read (tia.h, WSYNC).
 * Returns whether the frame is over. */
VCS_SLOW_FN bool vcs_bus_write_chip(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr, uint8_t value,
                                    bool stalls) {
  if (addr & 0x1000) {
    return vcs_cart_write(cart, m, addr, value) && vcs_tia_write(cart, m, video, addr & 0xFFF, value, stalls);
  }
  if (VCS_UNLIKELY(cart->snoops)) vcs_cart_snoop_write(cart, m, addr, value);
  if (!(addr & 0x80)) return vcs_tia_write(cart, m, video, addr, value, stalls);
  vcs_riot_write(m, addr, value);
  return false;
}

VCS_HOT_FN void vcs_bus_write_after(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr,
                                    uint8_t value, bool stalls) {
  if ((addr & 0x1280) == 0x80) {
    m->ram[addr & 0x7F] = value;
  } else {
    m->cycles = cpu->cycles;
    if (VCS_UNLIKELY(vcs_bus_write_chip(cart, m, video, addr, value, stalls))) cpu->frame_over = true;
    if (VCS_UNLIKELY(addr & 0x1000 || cart->snoops)) cpu->plain.length = 0;
    cpu->cycles = m->cycles;
  }
  cpu->bus = value;
}

VCS_HOT_FN void vcs_bus_write(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr,
                              uint8_t value) {
  vcs_bus_write_after(cart, m, cpu, video, addr, value, true);
}

/* What a read would give, without its side effects: for disassembly, traces and gradients. Chips give what their
 * registers hold; the picture is not brought up to date. */
VCS_FN uint8_t vcs_bus_peek(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  if (addr & 0x1000) return vcs_cart_peek(cart, m, addr);
  if ((addr & 0x280) == 0x80) return m->ram[addr & 0x7F];
  if (!(addr & 0x80)) return (addr & 15) < 8 ? (uint8_t)((m->collisions >> 2 * (addr & 15) & 1) << 7) : 0;
  switch (addr & 7) {
    case 0:
      return m->swcha;
    case 1:
      return m->ddra;
    case 2:
      return m->swchb;
    default:
      return 0;
  }
}

#endif
