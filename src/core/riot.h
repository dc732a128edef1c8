/* riot.h: the 6532 RIOT: 128 bytes of RAM, an interval timer, two I/O ports.
 *
 *   $280 SWCHA   joysticks         $284, $286 INTIM   timer        write $294..$297: set the timer, a step every
 *   $281 SWACNT  port A direction  $285, $287 INSTAT  expired            1, 8, 64 or 1024 cycles
 *   $282 SWCHB   console switches  $283 SWBCNT
 *
 * The timer is not counted, it is computed when it is read: `timer_cycle` remembers when it was set. It decrements
 * once right after being set, then every interval; having run out it decrements every cycle, and the first read after
 * that starts a new count in intervals (the reference's reading of what the interrupt flag does). A reading at cycle t
 * sees the timer as of t - 1.
 *
 * Port A reads the controller pins whatever the direction register says, as in the reference; what is written
 * through the direction register is only seen by keyboard controllers, as the rows they scan. Port B's direction
 * cannot be written and reads zero.
 */
#ifndef VCS_CORE_RIOT_H
#define VCS_CORE_RIOT_H

#include "riot_random.h"
#include "state.h"

/* Power-on contents of the RAM: zero, or random as ale-py has it. */
VCS_FN void vcs_riot_power_on(const vcs_cart_t *cart, vcs_t *m) {
  if (cart->random_ram) {
    vcs_random_fill(cart, m, m->ram, 128);
  } else {
    for (int i = 0; i < 128; i++) m->ram[i] = 0;
  }
}

VCS_FN void vcs_riot_reset(const vcs_cart_t *cart, vcs_t *m) {
  m->timer = 25;
  if (cart->timer_spread) m->timer = (uint8_t)(25 + vcs_random_next(cart, m) % cart->timer_spread);
  m->timer_shift = 6;
  m->timer_cycle = 0;
  m->timer_read_cycle = 0;
  m->timer_was_read = 0;
  m->ddra = 0;
}

/* Cycles are about to restart from zero. */
VCS_FN void vcs_riot_rebase(vcs_t *m) {
  m->timer_cycle -= m->cycles;
  m->timer_read_cycle -= m->cycles;
}

/* Intervals left, negative once the timer has run out. */
VCS_FN int32_t vcs_riot_intervals(const vcs_t *m, uint32_t elapsed) {
  return (int32_t)(m->timer - (elapsed >> m->timer_shift) - 1);
}

VCS_FN uint8_t vcs_riot_intim(vcs_t *m) {
  uint32_t elapsed = m->cycles - 1 - m->timer_cycle;
  int32_t left = vcs_riot_intervals(m, elapsed);
  if (left >= 0) return (uint8_t)left;
  uint32_t length = (uint32_t)m->timer << m->timer_shift;
  int32_t past = (int32_t)(length - elapsed - 1);
  if (past <= -2 && !m->timer_was_read) {
    m->timer_was_read = 1;
    m->timer_read_cycle = m->cycles;
  }
  if (m->timer_was_read) {
    uint32_t offset = m->timer_read_cycle - (m->timer_cycle + length);
    past = (int32_t)(m->timer - (elapsed >> m->timer_shift) - offset);
  }
  return (uint8_t)past;
}

VCS_FN uint8_t vcs_riot_instat(const vcs_t *m) {
  uint32_t elapsed = m->cycles - 1 - m->timer_cycle;
  return vcs_riot_intervals(m, elapsed) >= 0 || m->timer_was_read ? 0x00 : 0x80;
}

/* The pins of one port as a nibble (up, down, left, right from bit 0), for controllers that are more than switches.
 * A driving controller's wheel advances as it is read, one step of its Gray code every 20 reads. */
VCS_SLOW_FN uint8_t vcs_riot_active_pins(const vcs_cart_t *cart, vcs_t *m, int port) {
  uint8_t pins = port ? m->swcha & 15 : m->swcha >> 4;
  if (cart->controller[port] == VCS_CONTROLLER_KEYBOARD) return port ? m->port_a_out & 15 : m->port_a_out >> 4;
  if (cart->controller[port] == VCS_CONTROLLER_DRIVING) {
    m->wheel[port] = (uint8_t)((m->wheel[port] + 1) % 80);
    if (m->turn[port]) {
      int step = m->wheel[port] / 20;
      static const uint8_t gray[4] = {3, 1, 0, 2}; /* clockwise; the other way is the same with the pins exchanged */
      uint8_t code = gray[step];
      if (m->turn[port] == 2) code = (uint8_t)(code >> 1 | (code & 1) << 1);
      return (uint8_t)((pins & 12) | code);
    }
  }
  return pins;
}

VCS_FN uint8_t vcs_riot_swcha(const vcs_cart_t *cart, vcs_t *m) {
  if (VCS_LIKELY(cart->passive_ports)) return m->swcha;
  uint8_t left = vcs_riot_active_pins(cart, m, 0);
  return (uint8_t)(left << 4 | vcs_riot_active_pins(cart, m, 1));
}

VCS_FN uint8_t vcs_riot_read(const vcs_cart_t *cart, vcs_t *m, uint16_t addr) {
  switch (addr & 7) {
    case 0:
      return vcs_riot_swcha(cart, m);
    case 1:
      return m->ddra;
    case 2:
      return m->swchb;
    case 3:
      return 0;
    case 4:
    case 6:
      return vcs_riot_intim(m);
    default:
      return vcs_riot_instat(m);
  }
}

VCS_FN void vcs_riot_write(vcs_t *m, uint16_t addr, uint8_t value) {
  switch (addr & 7) {
    case 0:
      m->port_a_out = value & m->ddra;
      return;
    case 1:
      m->ddra = value;
      return;
    case 2:
    case 3:
      return;
    default:
      if (!(addr & 0x10)) return; /* edge detect control: PA7 is not connected to an interrupt */
      m->timer = value;
      m->timer_shift = (addr & 3) == 0 ? 0 : (addr & 3) == 1 ? 3 : (addr & 3) == 2 ? 6 : 10;
      m->timer_cycle = m->cycles;
      m->timer_was_read = 0;
      return;
  }
}

#endif
