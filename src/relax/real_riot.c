/* real_riot.c: ports and timer on real numbers (real.h).
 *
 * A port is the sum of its pins, each with its weight in the byte. The timer is the exact one, a function of the cycles
 * since it was set and of what it was set to, interpolated between the integers around both:
 *
 *   INTIM(t) at t = 7.25 cycles   0.75 INTIM(7) + 0.25 INTIM(8)
 *
 * The interval, and whether a reading after zero has restarted the count, are the integer machine's.
 * Wheels and keypads are constants.
 */
#include <math.h>

#include "real.h"

/* ---- The timer ------------------------------------------------------------------------------------------------- */

/* The exact register at some cycles after the timer was set; the machine is as it was afterwards. */
static double timer_at(vcs_t *m, double since, double timer, bool status) {
  const uint32_t cycles = m->cycles, read_cycle = m->timer_read_cycle;
  const uint8_t was_read = m->timer_was_read, set_to = m->timer;
  m->cycles = m->timer_cycle + (uint32_t)(int64_t)since;
  m->timer = (uint8_t)timer;
  const double value = status ? vcs_riot_instat(m) : vcs_riot_intim(m);
  m->cycles = cycles;
  m->timer = set_to;
  m->timer_read_cycle = read_cycle;
  m->timer_was_read = was_read;
  return value;
}

/* Along the timer's value, at a whole cycle. */
static double timer_along(vcs_t *m, double since, double timer, bool status) {
  const double low = floor(timer), part = timer - low, at = timer_at(m, since, low, status);
  return part == 0 ? at : at + part * (timer_at(m, since, low + 1, status) - at);
}

static double timer_value(vcs_t *m, double since, double timer, bool status) {
  const double low = floor(since), part = since - low, at = timer_along(m, low, timer, status);
  return part == 0 ? at : at + part * (timer_along(m, low + 1, timer, status) - at);
}

/* The ends of the stretch in which a function of integers has a slope around x. */
static void around(double x, double most, double *low, double *high) {
  *low = floor(x);
  *high = *low + 1;
  if (*low == x) *low -= 1;
  if (*low < 0) *low = 0;
  if (*high > most) *high = most;
}

static vcs_real_t read_timer(vcs_doing_t *doing, bool status) {
  const vcs_real_t *reg = doing->reals->reg;
  vcs_t *m = doing->relax->m;
  const vcs_real_t timer = vcs_real_clamped(reg[VCS_SLOT_TIMER], 255), time = doing->reg[VCS_SLOT_TIME];
  const double since = fmax(time.value - reg[VCS_SLOT_TIMER_CYCLE].value, 0);
  vcs_gathered_t g;
  g.count = 0;
  if (doing->links) {
    double low, high;
    around(since, UINT32_MAX, &low, &high);
    const double per_cycle =
        (timer_value(m, high, timer.value, status) - timer_value(m, low, timer.value, status)) / (high - low);
    vcs_gather(&g, time, per_cycle);
    vcs_gather(&g, reg[VCS_SLOT_TIMER_CYCLE], -per_cycle);
    around(timer.value, 255, &low, &high);
    vcs_gather(&g, timer, (timer_value(m, since, high, status) - timer_value(m, since, low, status)) / (high - low));
  }
  return vcs_real_gathered(doing->links, timer_value(m, since, timer.value, status), &g);
}

/* ---- Ports ----------------------------------------------------------------------------------------------------- */

static vcs_real_t read_pins(const vcs_doing_t *doing, int slot) {
  vcs_gathered_t g;
  double value = 0;
  g.count = 0;
  for (int bit = 0; bit < 8; bit++) {
    const vcs_real_t pin = doing->reals->reg[slot + bit];
    value += (1 << bit) * pin.value;
    vcs_gather(&g, pin, 1 << bit);
  }
  return vcs_real_gathered(doing->links, value, &g);
}

/* Controllers that are more than switches: what they read now. The integer machine has already turned the wheels by
 * this read. */
static double active_ports(const vcs_doing_t *doing) {
  vcs_t *m = doing->relax->m;
  const uint8_t wheel[2] = {m->wheel[0], m->wheel[1]};
  m->wheel[0] = (uint8_t)((m->wheel[0] + 79) % 80);
  m->wheel[1] = (uint8_t)((m->wheel[1] + 79) % 80);
  const uint8_t value = vcs_riot_swcha(doing->relax->cart, m);
  m->wheel[0] = wheel[0];
  m->wheel[1] = wheel[1];
  return value;
}

vcs_real_t vcs_real_riot_read(vcs_doing_t *doing, uint16_t addr) {
  switch (addr & 7) {
    case 0:
      if (doing->relax->cart->passive_ports) return read_pins(doing, VCS_SLOT_SWCHA);
      return vcs_real_constant(active_ports(doing));
    case 1:
      return doing->reals->reg[VCS_SLOT_DDRA];
    case 2:
      return read_pins(doing, VCS_SLOT_SWCHB);
    case 3:
      return vcs_real_constant(0);
    case 4:
    case 6:
      return read_timer(doing, false);
    default:
      return read_timer(doing, true);
  }
}

void vcs_real_riot_write(vcs_doing_t *doing, uint16_t addr, vcs_real_t value) {
  vcs_real_t *reg = doing->reals->reg;
  if ((addr & 7) == 1) reg[VCS_SLOT_DDRA] = value;
  if ((addr & 7) < 4 || !(addr & 0x10)) return;
  reg[VCS_SLOT_TIMER] = value;
  reg[VCS_SLOT_TIMER_CYCLE] = doing->reg[VCS_SLOT_TIME];
}
