/* real_bus.c: reads and writes at real addresses (real.h).
 *
 * The rounded address selects the array and the nearest cell; the remainder of the address, between -1/2 and 1/2,
 * shifts the weights. A softened read at position p is v = sum_i w_i r_i / sum_i w_i, w_i = exp(-|i - p| / T):
 *
 *   dv/dr_i = w_i / W          dv/dp = 1/T sum_i sign(i - p) (r_i - v) w_i / W
 *
 * At a cell, where |i - p| has its kink, sign(0) = 0 is the mean of both sides.
 */
#include <math.h>

#include "real.h"

vcs_real_t vcs_real_cast(const vcs_doing_t *doing, vcs_real_t real) {
  if (doing->relax->options.cast == VCS_CAST_ROUND) real.value = nearbyint(real.value);
  return real;
}

uint16_t vcs_real_address(vcs_real_t address) { return (uint16_t)(int64_t)nearbyint(address.value); }

uint8_t vcs_real_byte(vcs_real_t real) { return (uint8_t)nearbyint(fmin(fmax(real.value, 0), 255)); }

vcs_real_t vcs_real_wrapped(vcs_real_t real, double range) {
  double nearest = nearbyint(real.value);
  if (nearest < 0) real.value += range;
  if (nearest >= range) real.value -= range;
  return real;
}

vcs_real_t vcs_real_clamped(vcs_real_t real, double most) {
  if (real.value < 0) return vcs_real_constant(0);
  return real.value > most ? vcs_real_constant(most) : real;
}

/* ---- Where a byte is ------------------------------------------------------------------------------------------- */

typedef struct {
  const vcs_real_t *cells; /* NULL for a chip's register */
  const uint8_t *bytes;    /* the same as integers */
  int32_t size, index;
} place_t;

static place_t place_in(const vcs_doing_t *doing, int32_t place) {
  const vcs_cart_t *cart = doing->relax->cart;
  const place_t ram = {doing->reals->cart_ram, doing->relax->m->cart_ram, (int32_t)cart->ram_size, ~place};
  const place_t rom = {doing->reals->rom, cart->rom, (int32_t)cart->rom_size, place};
  return place < 0 ? ram : rom;
}

static place_t find(const vcs_doing_t *doing, uint16_t addr) {
  const vcs_cart_t *cart = doing->relax->cart;
  const vcs_t *m = doing->relax->m;
  const place_t nowhere = {NULL, NULL, 0, 0}, ram = {doing->reals->ram, m->ram, 128, addr & 0x7F};
  uint8_t port;
  if (doing->relax->options.bus == VCS_BUS_REDUCED) {
    if (vcs_reduced_port(m, addr, &port)) return nowhere;
    return addr & 0x1000 ? place_in(doing, (int32_t)((addr & 0xFFF) % cart->rom_size)) : ram;
  }
  if (addr & 0x1000) {
    int32_t place = vcs_cart_read_place(cart, m, addr);
    return place == VCS_CART_REGISTER ? nowhere : place_in(doing, place);
  }
  return (addr & 0x280) == 0x80 ? ram : nowhere;
}

/* ---- Softened reads -------------------------------------------------------------------------------------------- */

/* Returns the weight of neighbour k; `past` is the distance of the address beyond the cell. */
static double weight_of(const vcs_soften_t *soften, int32_t k, double past) {
  if (past == 0) return soften->single ? soften->narrow[k < 0 ? -k : k] : soften->wide[k < 0 ? -k : k];
  double exponent = -(fabs(k - past) - fabs(past)) / soften->temperature;
  return soften->single ? expf((float)exponent) : exp(exponent);
}

/* In double the mean is the nearest cell and a small remainder: this sum keeps the digits of the fraction. In float it
 * is the paper's quotient of two sums. */
static vcs_real_t soften(const vcs_doing_t *doing, const place_t *place, vcs_real_t address, double past) {
  const vcs_soften_t *s = &doing->relax->soften;
  const vcs_reach_t reach = vcs_soften_reach(s, place->size, place->index);
  const double nearest = place->cells[place->index].value;
  double total = 0, beyond = 0, pull = 0;
  float narrow_sum = 0, narrow_total = 0;
  for (int32_t k = -reach.before; k <= reach.after; k++) {
    double weight = weight_of(s, k, past),
           cell = place->cells[vcs_soften_neighbour(place->size, place->index, k)].value;
    beyond += weight * (cell - nearest);
    total += weight;
    narrow_sum += (float)weight * (float)cell;
    narrow_total += (float)weight;
  }
  beyond /= total;
  vcs_real_t value = vcs_real_new(doing->links, s->single ? narrow_sum / narrow_total : nearest + beyond);
  if (!doing->links) return value;
  for (int32_t k = -reach.before; k <= reach.after; k++) {
    vcs_real_t cell = place->cells[vcs_soften_neighbour(place->size, place->index, k)];
    double share = weight_of(s, k, past) / total;
    pull += ((k > past) - (k < past)) * (cell.value - nearest - beyond) * share;
    vcs_real_from(doing->links, cell, share);
  }
  vcs_real_from(doing->links, address, pull / s->temperature);
  return value;
}

static vcs_real_t soften_once(vcs_doing_t *doing, const place_t *place, vcs_real_t address, double past) {
  int32_t cell = (int32_t)(place->cells + place->index - doing->reals->cells);
  for (int i = 0; i < doing->memo_count; i++) {
    if (doing->memo[i].cell == cell && doing->memo[i].position == past && doing->memo[i].variable == address.variable)
      return doing->memo[i].value;
  }
  vcs_real_t value = soften(doing, place, address, past);
  if (doing->memo_count < VCS_REAL_MEMO) {
    int i = doing->memo_count++;
    doing->memo[i].cell = cell;
    doing->memo[i].position = past;
    doing->memo[i].variable = address.variable;
    doing->memo[i].value = value;
  }
  return value;
}

/* ---- Accesses -------------------------------------------------------------------------------------------------- */

static void set_clock(const vcs_doing_t *doing) {
  doing->relax->m->cycles = (uint32_t)(int64_t)nearbyint(doing->reg[VCS_SLOT_TIME].value);
}

/* What the access does to the integer machine's chips and banks, and the byte that a register of the cartridge or the
 * reduced bus gives. */
static uint8_t touch(const vcs_doing_t *doing, uint16_t addr) {
  const vcs_cart_t *cart = doing->relax->cart;
  vcs_t *m = doing->relax->m;
  uint8_t port = 0;
  if (doing->relax->options.bus == VCS_BUS_REDUCED) return vcs_reduced_port(m, addr, &port), port;
  set_clock(doing);
  if (addr & 0x1000) return vcs_cart_read(cart, m, addr);
  if ((addr & 0x280) == 0x80) return 0;
  return vcs_bus_read_chip(cart, m, doing->video, addr, m->bus);
}

/* A register of TIA or RIOT, the integer machine having read it. */
static vcs_real_t read_chip(vcs_doing_t *doing, uint16_t addr) {
  const vcs_cart_t *cart = doing->relax->cart;
  const bool covers = cart->scheme == VCS_SCHEME_3F || cart->scheme == VCS_SCHEME_3E; /* vcs_cart_snoop_read */
  if (covers && (addr & 0x1FFF) <= 0x3F) return vcs_real_constant(vcs_cart_peek(cart, doing->relax->m, addr));
  return vcs_real_cast(doing, addr & 0x80 ? vcs_real_riot_read(doing, addr) : vcs_real_tia_read(doing, addr));
}

vcs_real_t vcs_real_read(vcs_doing_t *doing, vcs_real_t address) {
  const bool whole = doing->relax->options.bus == VCS_BUS_REAL;
  uint16_t addr = vcs_real_address(address);
  uint8_t byte = touch(doing, addr);
  place_t place = find(doing, addr);
  vcs_real_t value = vcs_real_constant(byte);
  if (place.cells) {
    double past = address.value - nearbyint(address.value);
    vcs_real_t soft = soften_once(doing, &place, address, past);
    value = vcs_real_cast(doing, soft);
    byte = vcs_real_byte(value);
    if (doing->acts) {
      uint8_t exact = place.bytes[place.index];
      const vcs_relax_value_t note = {place.bytes, place.size, place.index, doing->pc, addr, 0, 0, exact, soft.value};
      vcs_relax_note(doing->relax, &note, byte != exact);
    }
  } else if (whole && !(addr & 0x1000)) {
    value = read_chip(doing, addr);
    byte = vcs_real_byte(value);
  }
  doing->bus = value;
  if (whole) doing->relax->m->bus = byte;
  return value;
}

static void write_cell(vcs_doing_t *doing, vcs_real_t *cell, vcs_real_t value) {
  const int32_t number = (int32_t)(cell - doing->reals->cells);
  if (doing->at_once) {
    *cell = value;
    vcs_reals_adopt_cell(doing->relax, number);
    doing->memo_count = 0;
    return;
  }
  vcs_real_write_t *write = &doing->writes[doing->write_count++];
  write->cell = number;
  write->value = value;
}

/* Writes above $1000 that the TIA sees, too (vcs_cart_write). */
static bool is_seen_by_tia(const vcs_cart_t *cart, uint16_t addr) {
  if (!(addr & 0x1000)) return !(addr & 0x80);
  return cart->scheme == VCS_SCHEME_3F || cart->scheme == VCS_SCHEME_3E;
}

/* A chip is written, first the integer machine's and then, if the instruction acts, the one of real numbers; WSYNC lets
 * time advance to a whole cycle. */
static void write_chip(vcs_doing_t *doing, uint16_t addr, vcs_real_t value, bool stalls, bool is_cell) {
  const vcs_cart_t *cart = doing->relax->cart;
  vcs_t *m = doing->relax->m;
  set_clock(doing);
  const uint32_t cycles = m->cycles;
  const vcs_tia_before_t before = {m->seen_clock, {m->resmp[0], m->resmp[1]}, m->vblank};
  if (vcs_bus_write_chip(cart, m, doing->video, addr, vcs_real_byte(value), stalls) & VCS_STOP_FRAME)
    doing->frame_over = true;
  const uint32_t after = m->cycles;
  m->cycles = cycles;
  if (doing->acts && is_seen_by_tia(cart, addr) && !is_cell) {
    vcs_tia_catch_up(m, doing->video);
    vcs_real_tia_write(doing, addr & 63, vcs_real_clamped(value, 255), &before);
  } else if (doing->acts && !(addr & 0x1000)) {
    vcs_real_riot_write(doing, addr, vcs_real_clamped(value, 255));
  }
  m->cycles = after;
  if (after != cycles) doing->reg[VCS_SLOT_TIME] = vcs_real_constant(after);
}

void vcs_real_write(vcs_doing_t *doing, vcs_real_t address, vcs_real_t value, bool stalls) {
  const vcs_cart_t *cart = doing->relax->cart;
  vcs_t *m = doing->relax->m;
  uint16_t addr = vcs_real_address(address);
  uint8_t byte = vcs_real_byte(value);
  if (doing->relax->options.bus == VCS_BUS_REDUCED) {
    if (addr & 0x1000) return;
    if (!vcs_reduced_timer(addr)) {
      write_cell(doing, &doing->reals->ram[addr & 0x7F], value);
    } else {
      m->timer = byte;
      if (doing->acts) doing->reals->reg[VCS_SLOT_TIMER] = vcs_real_constant(byte);
    }
    return;
  }
  int32_t place = addr & 0x1000 ? vcs_cart_write_place(cart, m, addr) : -1;
  if ((addr & 0x1280) == 0x80) {
    write_cell(doing, &doing->reals->ram[addr & 0x7F], value);
  } else {
    if (place >= 0) write_cell(doing, &doing->reals->cart_ram[place], value);
    write_chip(doing, addr, value, stalls, place >= 0);
  }
  doing->bus = value;
  m->bus = byte;
}
