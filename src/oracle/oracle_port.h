/* oracle_port.h: a machine (vcs_t) carried into the second console (oracle_vcs.h), and the two compared after a frame.
 *
 * This is all that the two ports exchange: the state to start from, between two frames, and the pins of the
 * controllers. After every frame the registers, the time, RAM, the objects' positions, the collisions and every pixel
 * must be the same.
 */
#ifndef ORACLE_PORT_H
#define ORACLE_PORT_H

#include "oracle/oracle_vcs.h"

/* The pins that the controllers drive are inputs of both ports. */
static inline void oracle_connect(oracle_vcs_t *v, const vcs_t *m) {
  v->swcha = m->swcha;
  v->swchb = m->swchb;
  for (int i = 0; i < 2; i++) v->fire[i] = m->fire[i];
  for (int i = 0; i < 4; i++) {
    const int64_t ohms = m->paddle[i];
    v->charge[i] = ohms == VCS_RESISTANCE_MIN ? 0 : ohms == VCS_RESISTANCE_MAX ? -1 : ohms * 1904 / 100000;
  }
}

/* Puts a machine between two frames, or at the end of an unfinished one, into the second port. */
static inline void oracle_load(oracle_vcs_t *v, const vcs_cart_t *cart, const vcs_t *m) {
  memset(v, 0, sizeof *v);
  v->cpu.a = m->a, v->cpu.x = m->x, v->cpu.y = m->y, v->cpu.sp = m->sp, v->cpu.pc = m->pc;
  oracle_set_p(&v->cpu, m->p);
  v->cpu.cycles = m->cycles;
  v->cpu.bus = m->bus;
  v->cpu.ddra = m->ddra;
  v->cpu.board = &oracle_board;
  memcpy(v->cpu.ram, m->ram, sizeof v->cpu.ram);
  memcpy(&v->tv.t, m, vcs_state_size(cart));
  v->tv.top = cart->top_line;
  v->tv.lines = cart->height;
  v->tv.no_comb = !cart->hmove_blanks;
  v->tv.comb = m->hmove_blank;
  v->tv.stars = m->stars;
  v->tv.stars_phase = m->stars_phase;
  v->tv.hmove = m->hmove_clock - m->frame_clock;
  v->timer = m->timer;
  v->interval = 1u << m->timer_shift;
  v->timer_set = m->timer_cycle;
  v->expired_read = m->timer_was_read;
  v->offset = m->timer_was_read ? m->timer_read_cycle - m->timer_cycle - m->timer * v->interval : 1;
  v->dumped = m->dump;
  v->undumped = (uint32_t)m->dump_cycle;
  v->image = cart->rom;
  v->image_size = cart->rom_size;
  v->scheme = vcs_cart_info(cart)->scheme_name;
  memcpy(v->bank, m->bank, sizeof v->bank);
  memcpy(v->extra, m->cart_ram, cart->ram_size < sizeof v->extra ? cart->ram_size : sizeof v->extra);
  v->line_began = (uint32_t)(m->frame_clock / 3);
  v->max_lines = (unsigned)cart->max_lines;
  v->colour_loss = cart->colour_loss;
  v->odd = m->scanlines & 1;
  v->front = m->front;
  v->unfinished = m->partial;
  v->greyed = m->greyed;
  v->tv.drawn = m->seen_clock;
  v->vsync = m->vsync & 2;
  v->vsync_at = (uint32_t)(m->vsync_clock / 3 - 76);
}

/* What is not the same after a frame, or NULL. */
static inline const char *oracle_difference(const oracle_vcs_t *v, const vcs_cart_t *cart, const vcs_t *m,
                                            const uint8_t *picture) {
  const oracle_t *o = &v->cpu;
  if (o->a != m->a || o->x != m->x || o->y != m->y || o->sp != m->sp || oracle_p(o) != m->p || o->pc != m->pc)
    return "registers";
  if (o->cycles - v->began != m->cycles) return "cycles";
  if (memcmp(o->ram, m->ram, sizeof o->ram) != 0) return "RAM";
  if (memcmp(v->extra, m->cart_ram, cart->ram_size < 128 ? cart->ram_size : 128) != 0) return "cartridge RAM";
  if (memcmp(v->tv.t.pos, m->pos, sizeof m->pos) != 0) return "positions";
  if (v->tv.t.collisions != m->collisions) return "collisions";
  return memcmp(v->shown[v->front], picture, (size_t)(VCS_WIDTH * cart->height)) != 0 ? "picture" : NULL;
}

#endif
