/* riot.h: the 6532 RIOT: 128 bytes of RAM, an interval timer, two I/O ports.
 *
 *   $280 SWCHA   joysticks         $284, $286 INTIM   timer        write $294..$297: set the timer, a step every
 *   $281 SWACNT  port A direction  $285, $287 INSTAT  expired            1, 8, 64 or 1024 cycles
 *   $282 SWCHB   console switches  $283 SWBCNT
 *
 * The timer does not count while time passes. A read computes its value from the cycle in which it was set
 * (`timer_cycle`). The chip (MOS MCS6532 data sheet, "Interval timer") counts down once in the cycle after the write
 * and then once an interval; after it passes zero it sets the interrupt flag and counts every cycle, and a read of the
 * timer clears the flag. The references let that read also return the timer to its interval, and so do we. A read in
 * cycle t sees the timer as it is at the end of cycle t - 1.
 *
 * A read of port A shows the controller pins whatever the direction register holds, as in the references. Only keyboard
 * controllers notice what is written through the direction register: it selects the rows that they scan. Port B's
 * direction register cannot be written and reads zero.
 */
#ifndef VCS_CORE_RIOT_H
#define VCS_CORE_RIOT_H

#include "riot_random.h"
#include "state.h"

/* Fills RAM as it is at power-on: with zeros, or with random bytes as ale-py does. */
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

/* Keeps the timer's times relative to the cycle count, which is about to restart from zero. */
VCS_FN void vcs_riot_rebase(vcs_t *m) {
  m->timer_cycle -= m->cycles;
  m->timer_read_cycle -= m->cycles;
}

/* Intervals left `elapsed` cycles after the timer was set; negative once the timer has run out. */
VCS_FN int32_t vcs_riot_intervals(const vcs_t *m, uint32_t elapsed) {
  return (int32_t)(m->timer - (elapsed >> m->timer_shift) - 1);
}

/* What INTIM shows once the timer has run out: the value that was set less one step for each interval that has passed,
 * and less an offset that the first read fixes.
 *
 *   ran out `late` cycles ago, read   offset late + 1 for this and all later reads, and intervals go on being counted
 *   ran out in this very cycle        255; the chip counts cycles from here on, and this read is too early to stop it
 *
 * `runs_out` is the first cycle in which a read finds 255. Differences of times wrap around in 32 bits. */
VCS_FN uint8_t vcs_riot_past_zero(vcs_t *m, uint32_t elapsed) {
  uint32_t runs_out = m->timer_cycle + 1 + ((uint32_t)m->timer << m->timer_shift);
  if (!m->timer_was_read) {
    uint32_t late = m->cycles - runs_out;
    if ((int32_t)late <= 0) return (uint8_t)(255 - late);
    m->timer_was_read = 1;
    m->timer_read_cycle = m->cycles;
  }
  uint32_t offset = m->timer_read_cycle - runs_out + 1;
  return (uint8_t)(m->timer - (elapsed >> m->timer_shift) - offset);
}

/* What INTIM shows: the intervals left, while there are any. */
VCS_FN uint8_t vcs_riot_intim(vcs_t *m) {
  uint32_t elapsed = m->cycles - 1 - m->timer_cycle;
  int32_t left = vcs_riot_intervals(m, elapsed);
  return VCS_LIKELY(left >= 0) ? (uint8_t)left : vcs_riot_past_zero(m, elapsed);
}

VCS_FN uint8_t vcs_riot_instat(const vcs_t *m) {
  uint32_t elapsed = m->cycles - 1 - m->timer_cycle;
  return vcs_riot_intervals(m, elapsed) >= 0 || m->timer_was_read ? 0x00 : 0x80;
}

/* Returns the pins of one port as a nibble (up, down, left, right from bit 0), for controllers that are more than
 * switches. Each read advances a driving controller's wheel; every 20 reads its Gray code makes one step. */
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
