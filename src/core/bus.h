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
 * Addresses keep 16 bits, because one bank scheme (FE) decodes A13. The bus remembers the last byte that crossed it,
 * because the TIA drives only two of the eight data lines when it is read.
 *
 * vcs_cpu_t holds the CPU's registers while instructions run, apart from vcs_t, so that the compiler can keep them in
 * host registers. N and Z are encoded in `nz`: Z is set when its low byte is zero, N when its bit 7 or bit 15 is set. A
 * result sets both by storing one byte. The other flags are 0 or 1.
 */
#ifndef VCS_CORE_BUS_H
#define VCS_CORE_BUS_H

#include "cart.h"
#include "riot.h"
#include "tia.h"

/* Reasons for an instruction loop to stop after an access. */
enum { VCS_STOP_FRAME = 1 /* the frame is over */, VCS_STOP_BANKS = 2 /* banks may have changed */ };

typedef struct {
  uint64_t time;
  uint32_t nz;
  uint16_t pc;
  uint8_t a, x, y, sp;
  uint8_t v, d, i, c;
  uint8_t bus;
  uint8_t stop; /* a set of VCS_STOP_... */
} vcs_cpu_t;

VCS_HOT_FN uint32_t vcs_cpu_cycles(const vcs_cpu_t *cpu) { return (uint32_t)(cpu->time >> VCS_CYCLES_SHIFT); }

/* Reads the TIA, the RIOT's ports, or a cartridge that answers below $1000. The chips take the time from m->cycles. */
VCS_SLOW_FN uint8_t vcs_bus_read_chip(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr,
                                      uint8_t bus) {
  uint8_t value = addr & 0x80 ? vcs_riot_read(cart, m, addr) : vcs_tia_read(cart, m, video, addr, bus);
  if (VCS_UNLIKELY(cart->snoops)) vcs_cart_snoop_read(cart, m, addr, &value);
  return value;
}

VCS_HOT_FN uint8_t vcs_bus_read_low(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video,
                                    uint16_t addr) {
  m->cycles = vcs_cpu_cycles(cpu);
  if (VCS_UNLIKELY(cart->snoops)) cpu->stop |= VCS_STOP_BANKS;
  return vcs_bus_read_chip(cart, m, video, addr, cpu->bus);
}

/* Why a loop has to stop after a read on a page with hot spots: a set of VCS_STOP_... */
VCS_SLOW_FN uint8_t vcs_bus_read_stops(const vcs_cart_t *cart, uint16_t addr) {
  return vcs_cart_is_rom(cart, addr & 0xFFFu, addr & 0xFFFu) ? 0 : VCS_STOP_BANKS;
}

VCS_HOT_FN uint8_t vcs_bus_read(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr) {
  uint8_t value;
  if (addr & 0x1000) {
    if (VCS_UNLIKELY(cart->hot_pages >> (addr >> 6 & 63) & 1)) {
      m->cycles = vcs_cpu_cycles(cpu);
      cpu->stop |= vcs_bus_read_stops(cart, addr);
    }
    value = vcs_cart_read(cart, m, addr);
  } else if ((addr & 0x280) == 0x80) {
    value = m->ram[addr & 0x7F];
  } else {
    value = vcs_bus_read_low(cart, m, cpu, video, addr);
  }
  cpu->bus = value;
  return value;
}

/* Writes to any address but RAM. WSYNC advances m->cycles. `stalls` is true when the access before this one was a read
 * (tia.h, WSYNC). Returns a set of VCS_STOP_... */
VCS_SLOW_FN unsigned vcs_bus_write_chip(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr,
                                        uint8_t value, bool stalls) {
  unsigned stop = 0;
  bool seen_by_tia = !(addr & 0x80);
  if (VCS_UNLIKELY(addr & 0x1000)) {
    stop = VCS_STOP_BANKS;
    if (!vcs_cart_write(cart, m, addr, value)) return stop;
    seen_by_tia = true;
  } else if (VCS_UNLIKELY(cart->snoops)) {
    stop = VCS_STOP_BANKS;
    vcs_cart_snoop_write(cart, m, addr, value);
  }
  if (seen_by_tia) return stop | (vcs_tia_write(cart, m, video, addr & 0xFFF, value, stalls) ? VCS_STOP_FRAME : 0);
  vcs_riot_write(m, addr, value);
  return stop;
}

/* The same for an address that is known to be a register of the TIA. */
VCS_HOT_FN unsigned vcs_bus_write_tia(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr,
                                      uint8_t value) {
  if (VCS_UNLIKELY(cart->snoops)) return vcs_bus_write_chip(cart, m, video, addr, value, true);
  return vcs_tia_write(cart, m, video, addr, value, true) ? VCS_STOP_FRAME : 0;
}

/* The same for WSYNC, the most frequent of them. */
VCS_HOT_FN unsigned vcs_bus_write_wsync(vcs_t *m, vcs_video_t *video) {
  int32_t now = vcs_tia_since_frame(m);
  if (VCS_UNLIKELY(now >= video->late)) return vcs_tia_write_late(m, video, VCS_WSYNC, 0) ? VCS_STOP_FRAME : 0;
  vcs_tia_see(m, video, now);
  vcs_tia_settle(m, video);
  vcs_tia_wsync(m);
  return 0;
}

VCS_HOT_FN void vcs_bus_write_after(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr,
                                    uint8_t value, bool stalls) {
  if ((addr & 0x1280) == 0x80) {
    m->ram[addr & 0x7F] = value;
  } else {
    uint32_t cycles = vcs_cpu_cycles(cpu);
    m->cycles = cycles;
    cpu->stop |= (uint8_t)vcs_bus_write_chip(cart, m, video, addr, value, stalls);
    cpu->time += VCS_CYCLES((uint32_t)(m->cycles - cycles));
  }
  cpu->bus = value;
}

VCS_HOT_FN void vcs_bus_write(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr,
                              uint8_t value) {
  vcs_bus_write_after(cart, m, cpu, video, addr, value, true);
}

/* Returns what a read would give, without its side effects: for disassembly, traces and derivatives. Chips return what
 * their registers hold; the picture is not drawn up to now, so collisions may be missing. */
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
