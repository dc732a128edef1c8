/* tia.h: the Television Interface Adapter: registers, strobes, delays, the beam.
 *
 * The CPU changes registers while the beam sweeps 228 colour clocks a line, 68 of them blank. Drawing is lazy: nothing
 * is drawn while time passes. `seen_clock` records the last access, because the reference draws up to each access; a
 * write reaches the picture some clocks after its bus cycle, so the reference has drawn up to `clock + delay` with the
 * old value. A write that changes an object draws the lines that are complete by then and leaves the current line for
 * later (tia_video.h). In the blank part of a line it only marks the object (`free_clock`). Reading a collision draws
 * everything up to now.
 *
 * A frame that stops in mid-line must show what the reference has drawn: up to the last access, and a little beyond it,
 * with the registers as they were before it. vcs_tia_catch_up draws this whenever the CPU stops.
 *
 * A frame has about a thousand writes. The decoder knows the register of most of them, and run.h inlines
 * vcs_tia_write_this for each such register. vcs_tia_write_first and vcs_tia_store_register handle the rest; all
 * their calls are tail calls, so that they need no stack. Rare cases are in functions of their own.
 *
 * The rules are the reference's (the TIA of xitari and ale-py), not always the chip's:
 * - Objects are at a position 0..159, not counters: RESPx and HMOVE compute it. A player reset outside its own copies
 *   hides its first copy for the rest of the line; reset while a copy is being drawn, it takes effect 11 clocks late.
 * - HMOVE moves by a table of cycle and motion value (late HMOVEs move too far, or only left; cycles 21-54 not at
 *   all), and blanks eight pixels when it comes in time.
 * - Some strobes right after HMOVE have fixed results, known from the games that use them (vcs_after_hmove).
 * - Collisions are latched only where the picture is: not in VBLANK, not above or below the displayed rows.
 * - A frame ends when VSYNC is cleared after at least one line, or when there is none for max_lines.
 */
#ifndef VCS_CORE_TIA_H
#define VCS_CORE_TIA_H

#include "tia_video.h"

enum vcs_tia_register {
  VCS_VSYNC = 0x00,
  VCS_VBLANK,
  VCS_WSYNC,
  VCS_RSYNC,
  VCS_NUSIZ0,
  VCS_NUSIZ1,
  VCS_COLUP0_W,
  VCS_COLUP1_W,
  VCS_COLUPF_W,
  VCS_COLUBK_W,
  VCS_CTRLPF,
  VCS_REFP0,
  VCS_REFP1,
  VCS_PF0,
  VCS_PF1,
  VCS_PF2,
  VCS_RESP0,
  VCS_RESP1,
  VCS_RESM0,
  VCS_RESM1,
  VCS_RESBL,
  VCS_AUDC0,
  VCS_AUDC1,
  VCS_AUDF0,
  VCS_AUDF1,
  VCS_AUDV0,
  VCS_AUDV1,
  VCS_GRP0,
  VCS_GRP1,
  VCS_ENAM0,
  VCS_ENAM1,
  VCS_ENABL,
  VCS_HMP0,
  VCS_HMP1,
  VCS_HMM0,
  VCS_HMM1,
  VCS_HMBL,
  VCS_VDELP0,
  VCS_VDELP1,
  VCS_VDELBL,
  VCS_RESMP0,
  VCS_RESMP1,
  VCS_HMOVE,
  VCS_HMCLR,
  VCS_CXCLR
};

/* Clocks from the bus cycle of a write to its effect on the picture. The playfield registers' depends on the phase of
 * the write within four cycles: VCS_DELAY_PHASE. */
enum { VCS_DELAY_PHASE = -1 };
VCS_TABLE(int8_t, vcs_write_delay, 64,
          {
              0, 1, 0, 0, 8, 8, 0, 0, 0, 0, 0, 1, 1, -1, -1, -1, /* VBLANK 1, NUSIZx 8, REFPx 1, PFx by phase */
              0, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0,  0,  0,  /* RESMx 8, GRPx 1 */
          })
VCS_TABLE(int8_t, vcs_phase_delay, 4, {4, 5, 2, 3})

/* The clocks from the bus cycle of a write, at a clock of the frame, to its effect. */
VCS_FN int vcs_tia_delay(unsigned r, int32_t now) {
  int delay = vcs_write_delay(r);
  return delay == VCS_DELAY_PHASE ? vcs_phase_delay((uint32_t)now / 3 & 3) : delay;
}

/* ---- The beam ----------------------------------------------------------------------------------------------- */

VCS_FN int32_t vcs_tia_clock(const vcs_t *m) { return (int32_t)(m->cycles * 3); }

/* a - b in 32 bits that wrap around, as the reference's do. */
VCS_FN int32_t vcs_wrap_minus(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }

VCS_FN int32_t vcs_tia_since_frame(const vcs_t *m) { return vcs_wrap_minus(vcs_tia_clock(m), m->frame_clock); }

/* The CPU's clock within its line. A program that never writes to the TIA can make time wrap around. */
VCS_FN int vcs_tia_hpos(const vcs_t *m) { return (int)((m->cycles * 3 - (uint32_t)m->frame_clock) % VCS_LINE_CLOCKS); }

/* ---- Facts about a line ----------------------------------------------------------------------------------------
 *
 * Rules that depend on the position in a line, as pure functions. The chip, the tape, the derivatives and the GPU
 * share them. `hpos` is a clock of the line, 0 to 227; a cycle of the line is 0 to 75. */

/* HMOVE makes a comb in cycle 75 and from 0 to this one. */
enum { VCS_COMB_LAST_CYCLE = 20 };
VCS_FN bool vcs_hmove_makes_comb(unsigned cycle) {
  return cycle <= VCS_COMB_LAST_CYCLE || cycle == VCS_LINE_CYCLES - 1;
}

/* A position on the line, which wraps around. */
VCS_FN int vcs_wrap_position(int pos) { return pos % VCS_WIDTH; }

/* Where a strobe of RESPx (or RESMx, RESBL) puts its object: five (four) clocks on, in the blank at 3 (2). */
VCS_FN int vcs_reset_position(int hpos, bool player) {
  return hpos < VCS_HBLANK_CLOCKS ? 2 + player : vcs_wrap_position(hpos - VCS_HBLANK_CLOCKS + 4 + player);
}

/* Where a missile is that RESMPx releases: in the middle of its player. */
VCS_FN int vcs_released_position(int player_pos, unsigned nusiz) {
  return vcs_wrap_position(player_pos + 4 * vcs_copies(nusiz & 7).stretch);
}

/* Whether a write of CTRLPF at `hpos` still decides how this line's right half is mirrored. */
VCS_FN bool vcs_mirrors_this_line(int hpos) { return hpos < VCS_HBLANK_CLOCKS + VCS_WIDTH / 2 - 1; }

/* The cycle at which the CPU goes on that WSYNC halts in `cycles`: when the next line begins. */
VCS_FN uint32_t vcs_wsync_end(uint32_t cycles, int32_t frame_clock) {
  uint32_t cycle = (cycles - (uint32_t)(frame_clock / 3)) % VCS_LINE_CYCLES;
  return cycle ? cycles + VCS_LINE_CYCLES - cycle : cycles;
}

/* ---- The beam goes on ------------------------------------------------------------------------------------------ */

/* What changes by itself when a line ends: a set of objects. */
VCS_FN unsigned vcs_tia_ending(const vcs_t *m) {
  unsigned objects = m->pf_mirrored != (m->ctrlpf & 1) ? 1u << VCS_PF : 0;
  objects |= (unsigned)(m->first_copy_off[0] != 0) << VCS_P0 | (unsigned)(m->first_copy_off[1] != 0) << VCS_P1;
  if (VCS_UNLIKELY(m->stars)) objects |= 1u << VCS_M0;
  return objects;
}

/* The same, done: what holds only for one line is reset. With the star field effect on, missile 0 moves by itself. */
VCS_FN void vcs_tia_renew(vcs_t *m) {
  m->pf_mirrored = m->ctrlpf & 1;
  m->first_copy_off[0] = m->first_copy_off[1] = 0;
  if (VCS_UNLIKELY(m->stars)) {
    m->stars_phase = (m->stars_phase + 1) & 3;
    int moved = m->stars_phase == 0 ? 18 : m->stars_phase == 1 ? 33 : m->stars_phase == 2 ? 0 : 17;
    m->pos[VCS_M0] = (uint8_t)((m->pos[VCS_M0] + 160 - moved) % 160);
    m->stars_shape = m->stars_phase == 1 ? 1 : m->stars_phase == 2 ? 2 : 0;
  }
}

/* Records an access at clock `target` of the frame: the reference draws up to it. */
VCS_FN void vcs_tia_record(vcs_t *m, const vcs_video_t *video, int32_t target) {
  if (target >= video->late && target > video->stop) target = video->stop;
  if (target <= m->seen_clock || target < video->start) return;
  m->seen_before = m->seen_clock;
  m->seen_clock = target;
  if (m->hmove_blank && !m->blank_first) m->blank_first = target;
}

#ifdef VCS_TIA_ASLEEP
#include "tia_asleep.h"
#else
#include "tia_beam.h"
#endif

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* CPU cycles until a pot's capacitor has charged through a paddle's resistance (in ohms). A capacitor C that charges
 * through R reaches the input's threshold after a fixed multiple of RC. Here C is 0.01 microfarad, the multiple is 1.6,
 * and the CPU makes 1.19 million cycles a second: 119 cycles for every 6250 ohms. ("Stella Programmer's Guide", S.
 * Wright 1979, INPT0 to INPT3; the multiple is the one that both references use.) */
enum { VCS_CHARGE_CYCLES = 119, VCS_CHARGE_OHMS = 6250 };
VCS_FN uint32_t vcs_tia_charge_cycles(int32_t resistance) {
  return (uint32_t)((uint64_t)(uint32_t)resistance * VCS_CHARGE_CYCLES / VCS_CHARGE_OHMS);
}

/* Whether a pot input reads high: its capacitor has charged since VBLANK released it. An input with nothing connected
 * reads low. The sum wraps around as the reference's does, so a capacitor released in an earlier frame may never
 * charge. */
VCS_FN bool vcs_tia_pot_high(const vcs_t *m, int32_t resistance) {
  bool shorted = resistance == VCS_RESISTANCE_MIN, open = resistance == VCS_RESISTANCE_MAX;
  return shorted || (!open && !m->dump && m->cycles > (uint32_t)m->dump_cycle + vcs_tia_charge_cycles(resistance));
}

/* A key of the rows that port A drives low pulls its column: columns 0 and 1 are pot inputs, 2 the fire input. In
 * the fire column only the first driven row counts. */
VCS_SLOW_FN bool vcs_tia_key(const vcs_t *m, int port, int column) {
  unsigned driven = port ? m->port_a_out & 15u : m->port_a_out >> 4;
  unsigned keys = m->keypad[2 * port] | (unsigned)m->keypad[2 * port + 1] << 8;
  for (int row = 0; row < 4; row++) {
    if (driven >> row & 1) continue;
    if (keys >> (3 * row + column) & 1) return true;
    if (column == 2) return false;
  }
  return false;
}

VCS_FN bool vcs_tia_input(const vcs_cart_t *cart, const vcs_t *m, int input) {
  int port = input < 4 ? input >> 1 : input - 4;
  if (VCS_UNLIKELY(cart->controller[port] == VCS_CONTROLLER_KEYBOARD)) {
    return !vcs_tia_key(m, port, input < 4 ? input & 1 : 2);
  }
  return input < 4 ? vcs_tia_pot_high(m, m->paddle[input]) : m->fire[port] != 0;
}

/* TIA reads drive only bits 7 and 6; the other bits keep what was on the bus. */
VCS_FN uint8_t vcs_tia_read(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr, uint8_t bus) {
  unsigned r = addr & 15;
  uint8_t undriven = bus & 0x3F;
  vcs_tia_glance(m, video);
  if (r < 8) {
    vcs_tia_catch_up(m, video);
    unsigned latches = m->collisions >> 2 * r;
    return (uint8_t)((latches & 1) << 7 | (latches & 2) << 5 | undriven);
  }
  if (r < 14) return (uint8_t)(vcs_tia_input(cart, m, (int)r - 8) << 7 | undriven);
  return undriven;
}

/* ---- Writing ------------------------------------------------------------------------------------------------ */

/* HMOVE at a cycle of the line: how far an object with motion value hm (0..15) moves to the right. In cycles 0 to 3
 * and 75 by the full motion, 8 right to 7 left. Up to cycle 20 the pulses that move left are lost one by
 * one, and from 13 on the blank that is not extended moves every object right. Cycles 21 to 54 do nothing. From 55 on
 * pulses reach into the next line and move left, by up to 15. */
VCS_TABLE(int8_t, vcs_hmove_least, 21, {-7, -7, -7, -7, -6, -5, -5, -4, -3, -2, -2, -1, 0, 1, 1, 2, 3, 4, 4, 5, 6})
VCS_TABLE(int8_t, vcs_hmove_late, 20, {6, 5, 4, 4, 3, 2, 1, 1, 0, -1, -2, -2, -3, -4, -5, -5, -6, -7, -8, -8})

/* Motion is least <= full + late <= most: the three at a cycle. */
typedef struct {
  int least, late, most;
} vcs_motion_t;

VCS_FN vcs_motion_t vcs_hmove_at(unsigned cycle) {
  vcs_motion_t full = {-7, 0, 8}, none = {0, 0, 0}, early = {0, 0, 8}, late = {-15, 0, 0};
  if (cycle <= 3 || cycle == 75) return full;
  if (cycle <= 20) {
    early.least = vcs_hmove_least(cycle);
    return early;
  }
  if (cycle < 55) return none;
  late.late = vcs_hmove_late(cycle - 55);
  return late;
}

VCS_FN int vcs_hmove_motion(vcs_motion_t at, unsigned hm) {
  int moved = (hm < 8 ? -(int)hm : 16 - (int)hm) + at.late;
  return moved < at.least ? at.least : moved > at.most ? at.most : moved;
}

/* The motion of an HMOVE at a cycle of the line. */
VCS_SLOW_FN void vcs_tia_move_objects(vcs_t *m, vcs_video_t *video, unsigned cycle) {
  vcs_motion_t at = vcs_hmove_at(cycle);
  unsigned touched = (m->first_copy_off[0] ? 1u << VCS_P0 : 0) | (m->first_copy_off[1] ? 1u << VCS_P1 : 0) |
                     (m->stars ? 1u << VCS_M0 : 0);
  int motion[5];
  for (int i = 0; i < 5; i++) {
    motion[i] = vcs_hmove_motion(at, m->hm[i]);
    touched |= (unsigned)(motion[i] != 0) << i;
  }
  if (!touched) return;
  vcs_tia_strobe(m, video, touched);
  for (int i = 0; i < 5; i++) {
    if (!motion[i]) continue;
    int to = m->pos[i] + motion[i];
    m->pos[i] = (uint8_t)(to >= 160 ? to - 160 : to < 0 ? to + 160 : to);
  }
  m->first_copy_off[0] = 0;
  m->first_copy_off[1] = 0;
  m->stars_shape = 0;
  m->stars = 0;
}

/* A second blank while one is still due. That one is drawn first, if its line is complete. */
VCS_SLOW_FN void vcs_tia_blank_again(vcs_t *m, vcs_video_t *video) {
  vcs_tia_close_lines(m, video, m->seen_clock);
  if (m->hmove_blank) vcs_tia_draw_seen(m, video);
  if (m->hmove_blank) return;
  m->blank_clock = m->seen_clock;
  m->blank_first = 0;
  m->hmove_blank = 1;
}

/* HMOVE. Most come right after WSYNC and move nothing. */
VCS_FN bool vcs_tia_hmove(vcs_t *m, vcs_video_t *video) {
  unsigned next_cycle = ((uint32_t)vcs_tia_since_frame(m) / 3 + 1) % VCS_LINE_CYCLES; /* 0 to 4: all of the motion */
  unsigned cycle = next_cycle ? next_cycle - 1 : VCS_LINE_CYCLES - 1;
  unsigned fresh = m->first_copy_off[0] | m->first_copy_off[1] | m->stars | m->stars_shape;
  if (next_cycle > 4 || m->hm[0] | m->hm[1] | m->hm[2] | m->hm[3] | m->hm[4] | fresh) {
    vcs_tia_move_objects(m, video, cycle);
  }
  m->hmove_clock = vcs_tia_clock(m);
  if (!video->hmove_blanks || !vcs_hmove_makes_comb(cycle)) return false;
  if (m->hmove_blank) {
    vcs_tia_blank_again(m, video);
  } else {
    m->blank_clock = m->seen_clock;
    m->blank_first = 0;
    m->hmove_blank = 1;
  }
  return false;
}

/* Where in its own picture a player is when it is reset to pixel `to`: 1 while one of its copies is drawn, -1 in the
 * four clocks before one, 0 elsewhere. */
VCS_FN int vcs_player_phase(unsigned nusiz, int pos, int to) {
  vcs_copies_t copies = vcs_copies(nusiz & 7);
  const int at = to >= pos ? to - pos : to - pos + VCS_WIDTH, end = 4 + 8 * copies.stretch;
  const int second = at - 16 * copies.second, third = at - 16 * copies.third; /* of no copy: of the first one again */
  if (at < end) return at < 4 ? -1 : 1;
  if (second >= 0 && second < end) return second < 4 ? -1 : 1;
  if (third >= 0 && third < end) return third < 4 ? -1 : 1;
  return 0;
}

VCS_SLOW_FN bool vcs_tia_reset_player(vcs_t *m, vcs_video_t *video, int player) {
  int hpos = vcs_tia_hpos(m);
  int to = vcs_reset_position(hpos, true);
  int phase = vcs_player_phase(m->nusiz[player], m->pos[player], to);
  if (phase == 1) vcs_tia_see(m, video, vcs_wrap_minus(vcs_tia_since_frame(m), -11));
  vcs_tia_strobe(m, video, 1u << (VCS_P0 + player));
  m->pos[player] = (uint8_t)to;
  m->first_copy_off[player] = phase >= 0;
  return false;
}

/* Strobes a few cycles after HMOVE, while objects are still moving: object, cycles since HMOVE, clock in the line, and
 * where it ends up. Proofs: Dolphin (M0), Pitfall II (M1), Escape from the Mindmaster, Decathlon, Robot Tank and
 * Hole Hunter (ball). */
typedef struct {
  uint8_t object, cycles, hpos, pos;
} vcs_after_hmove_t;
VCS_TABLE(vcs_after_hmove_t, vcs_after_hmove, 7,
          {{VCS_M0, 20, 69, 8},
           {VCS_M1, 3, 18, 3},
           {VCS_BL, 18, 60, 10},
           {VCS_BL, 18, 69, 10},
           {VCS_BL, 3, 18, 3},
           {VCS_BL, 7, 30, 6},
           {VCS_BL, 6, 27, 5}})

/* Where a strobe of RESMx or RESBL at the present cycle puts its object. */
VCS_FN int vcs_tia_strobed_position(const vcs_t *m, int object) {
  int hpos = vcs_tia_hpos(m);
  int pos = vcs_reset_position(hpos, false);
  int32_t since = vcs_wrap_minus(vcs_tia_clock(m), m->hmove_clock);
  if (VCS_UNLIKELY(since <= 20 * 3)) {
    for (int i = 0; i < 7; i++) {
      vcs_after_hmove_t row = vcs_after_hmove((unsigned)i);
      if (row.object == object && row.cycles * 3 == since && row.hpos == hpos) pos = row.pos;
    }
  }
  return pos;
}

VCS_SLOW_FN bool vcs_tia_reset_object(vcs_t *m, vcs_video_t *video, int object) {
  int pos = vcs_tia_strobed_position(m, object);
  vcs_tia_strobe(m, video, 1u << object);
  m->pos[object] = (uint8_t)pos;
  if (object == VCS_M0) m->stars_shape = 0;
  return false;
}

/* RESMPx: while set the missile hides; released, it is at the player's middle. */
VCS_SLOW_FN bool vcs_tia_resmp(vcs_t *m, vcs_video_t *video, int missile, uint8_t value) {
  vcs_tia_strobe(m, video, 1u << (VCS_M0 + missile));
  if (m->resmp[missile] && !(value & 2)) {
    m->pos[VCS_M0 + missile] = (uint8_t)vcs_released_position(m->pos[VCS_P0 + missile], m->nusiz[missile]);
    if (missile == 0) m->stars_shape = 0;
  }
  m->resmp[missile] = value & 2;
  return false;
}

/* Halts the CPU to the end of the line. */
VCS_FN void vcs_tia_wsync(vcs_t *m) { m->cycles = vcs_wsync_end(m->cycles, m->frame_clock); }

/* True when the write ends the frame. */
VCS_FN bool vcs_tia_vsync(vcs_t *m, uint8_t value) {
  m->vsync = value;
  if (value & 2) {
    m->vsync_clock = vcs_wrap_minus(vcs_tia_clock(m), -VCS_LINE_CLOCKS);
  } else if (vcs_tia_clock(m) >= m->vsync_clock) {
    m->vsync_clock = 0x7FFFFFFF;
    return true;
  }
  return false;
}

/* Bit 7 of VBLANK holds the capacitors of the paddles to ground. */
VCS_FN void vcs_tia_dump(vcs_t *m, uint8_t value) {
  if (~m->vblank & value & 0x80) m->dump = 1;
  if (m->vblank & ~value & 0x80) {
    m->dump = 0;
    m->dump_cycle = (int32_t)m->cycles;
  }
  m->vblank = value;
}

VCS_SLOW_FN bool vcs_tia_vblank(vcs_t *m, vcs_video_t *video, uint8_t value) {
  if ((m->vblank ^ value) & 2) {
    vcs_tia_draw_seen(m, video);
    video->free_clock = -1;
  }
  vcs_tia_dump(m, value);
  return false;
}

/* Colour and luminance; bit 0 is not there, but marks the grey lines of a PAL set after an odd frame. */
VCS_FN uint8_t vcs_tia_colour(const vcs_t *m, const vcs_video_t *video, uint8_t value) {
  return (value & 0xFE) | (VCS_UNLIKELY(video->colour_loss) && (m->scanlines & 1));
}

/* The colour registers from $06 on. */
VCS_TABLE(uint8_t, vcs_colour_index, 4, {VCS_COLUP0, VCS_COLUP1, VCS_COLUPF, VCS_COLUBK})

VCS_SLOW_FN bool vcs_tia_recolour(vcs_t *m, vcs_video_t *video, unsigned index, uint8_t colour) {
  vcs_tia_change_look(m, video);
  m->colu[index] = colour;
  return false;
}

/* A change of the mirror bit still holds for this line's right half if it comes before it. */
VCS_SLOW_FN bool vcs_tia_ctrlpf(vcs_t *m, vcs_video_t *video, uint8_t value) {
  if ((m->ctrlpf ^ value) & 6) vcs_tia_change_look(m, video);
  vcs_tia_change_shown(m, video, 1 << VCS_PF | 1 << VCS_BL);
  vcs_video_touch(video, 1 << VCS_PF | 1 << VCS_BL);
  m->ctrlpf = value;
  if (vcs_mirrors_this_line(vcs_tia_hpos(m))) m->pf_mirrored = value & 1;
  return false;
}

VCS_SLOW_FN bool vcs_tia_nusiz(vcs_t *m, vcs_video_t *video, unsigned side, uint8_t value) {
  vcs_tia_strobe(m, video, (1u << VCS_P0 | 1u << VCS_M0) << side);
  m->nusiz[side] = value;
  m->first_copy_off[side] = 0;
  if (side == 0) m->stars_shape = 0;
  return false;
}

/* HMM0 changed from 7 to 6 just as motion ends: missile 0 never stops. These are the stars of Cosmic Ark. */
VCS_SLOW_FN bool vcs_tia_start_stars(vcs_t *m, vcs_video_t *video) {
  vcs_tia_draw_seen(m, video);
  m->stars = 1;
  m->stars_phase = 0;
  m->hm[VCS_M0] = 6;
  return false;
}

VCS_SLOW_FN bool vcs_tia_clear_collisions(vcs_t *m, vcs_video_t *video) {
  vcs_tia_forget(m, video);
  m->collisions = 0;
  return false;
}

/* Stores a register that makes up objects. */
VCS_SLOW_FN bool vcs_tia_store_shown(vcs_t *m, vcs_video_t *video, unsigned objects, uint8_t *reg, uint8_t value) {
  vcs_tia_change_shown(m, video, objects);
  vcs_video_touch(video, objects);
  *reg = value;
  return false;
}

VCS_FN bool vcs_tia_store(vcs_t *m, vcs_video_t *video, unsigned objects, uint8_t *reg, uint8_t value) {
  if (*reg == value) return false;
  if (m->seen_clock > video->free_clock) return vcs_tia_store_shown(m, video, objects, reg, value);
  vcs_video_touch(video, objects);
  *reg = value;
  return false;
}

/* A player's graphics, which also latch what the other player shows if it is delayed, and GRP1 the ball. */
VCS_FN bool vcs_tia_latch(vcs_t *m, unsigned side, uint8_t value) {
  m->grp[side] = value;
  m->grp_old[side ^ 1] = m->grp[side ^ 1];
  if (side) m->enabl_old = m->enabl;
  return false;
}

VCS_SLOW_FN bool vcs_tia_latch_shown(vcs_t *m, vcs_video_t *video, unsigned objects, unsigned side, uint8_t value) {
  vcs_tia_change_shown(m, video, objects);
  vcs_video_touch(video, objects);
  return vcs_tia_latch(m, side, value);
}

VCS_FN bool vcs_tia_grp(vcs_t *m, vcs_video_t *video, unsigned side, uint8_t value) {
  unsigned other = side ^ 1, objects = 0; /* what is delayed does not show yet; what it delays may show now */
  if (m->grp[side] != value && !m->vdelp[side]) objects = 1u << (VCS_P0 + side);
  if (m->grp_old[other] != m->grp[other] && m->vdelp[other]) objects |= 1u << (VCS_P0 + other);
  if (side && m->enabl_old != m->enabl && m->vdelbl) objects |= 1u << VCS_BL;
  if (objects) {
    if (m->seen_clock > video->free_clock) return vcs_tia_latch_shown(m, video, objects, side, value);
    vcs_video_touch(video, objects);
  }
  return vcs_tia_latch(m, side, value);
}

/* Stores to a register, the picture being recorded up to the write. Most writes change nothing, or nothing that shows
 * yet; the others continue in functions of their own, so that this one needs no stack. Returns true when the frame is
 * over. */
VCS_HOT_FN bool vcs_tia_store_this(vcs_t *m, vcs_video_t *video, unsigned r, uint8_t value) {
  unsigned i;
  switch (r) {
    case VCS_VSYNC:
      return vcs_tia_vsync(m, value);
    case VCS_VBLANK:
      return vcs_tia_vblank(m, video, value);
    case VCS_WSYNC:
      vcs_tia_wsync(m);
      return false;
    case VCS_NUSIZ0:
    case VCS_NUSIZ1:
      i = r - VCS_NUSIZ0;
      if (m->nusiz[i] == value && !(m->first_copy_off[i] | m->stars | m->stars_shape)) return false;
      return vcs_tia_nusiz(m, video, i, value);
    case VCS_COLUP0_W:
    case VCS_COLUP1_W:
    case VCS_COLUPF_W:
    case VCS_COLUBK_W:
      i = vcs_colour_index(r - VCS_COLUP0_W);
      value = vcs_tia_colour(m, video, value);
      if (m->colu[i] == value) return false;
      if (video->frames) return vcs_tia_recolour(m, video, i, value);
      m->colu[i] = value;
      return false;
    case VCS_CTRLPF:
      if (m->ctrlpf == value && m->pf_mirrored == (value & 1)) return false;
      return vcs_tia_ctrlpf(m, video, value);
    case VCS_REFP0:
    case VCS_REFP1:
      i = r - VCS_REFP0;
      return vcs_tia_store(m, video, 1u << (VCS_P0 + i), &m->reflect[i], value & 8);
    case VCS_PF0:
    case VCS_PF1:
    case VCS_PF2:
      return vcs_tia_store(m, video, 1u << VCS_PF, &m->pf[r - VCS_PF0], value);
    case VCS_RESP0:
    case VCS_RESP1:
      return vcs_tia_reset_player(m, video, (int)r - VCS_RESP0);
    case VCS_RESM0:
    case VCS_RESM1:
    case VCS_RESBL:
      return vcs_tia_reset_object(m, video, VCS_M0 + (int)r - VCS_RESM0);
    case VCS_AUDC0:
    case VCS_AUDC1:
    case VCS_AUDF0:
    case VCS_AUDF1:
    case VCS_AUDV0:
    case VCS_AUDV1:
      m->audio[r - VCS_AUDC0] = value;
      return false;
    case VCS_GRP0:
      return vcs_tia_grp(m, video, 0, value);
    case VCS_GRP1:
      return vcs_tia_grp(m, video, 1, value);
    case VCS_ENAM0:
    case VCS_ENAM1:
      i = r - VCS_ENAM0;
      return vcs_tia_store(m, video, 1u << (VCS_M0 + i), &m->enam[i], value & 2);
    case VCS_ENABL:
      if (!m->vdelbl) return vcs_tia_store(m, video, 1u << VCS_BL, &m->enabl, value & 2);
      m->enabl = value & 2;
      return false;
    case VCS_HMM0:
      if (VCS_UNLIKELY(m->hm[VCS_M0] == 7 && value >> 4 == 6) &&
          vcs_wrap_minus(vcs_tia_clock(m), m->hmove_clock) == 21 * 3) {
        return vcs_tia_start_stars(m, video);
      }
      m->hm[VCS_M0] = value >> 4;
      return false;
    case VCS_HMP0:
    case VCS_HMP1:
    case VCS_HMM1:
    case VCS_HMBL:
      m->hm[r - VCS_HMP0] = value >> 4;
      return false;
    case VCS_VDELP0:
    case VCS_VDELP1:
      i = r - VCS_VDELP0;
      return vcs_tia_store(m, video, 1u << (VCS_P0 + i), &m->vdelp[i], value & 1);
    case VCS_VDELBL:
      return vcs_tia_store(m, video, 1u << VCS_BL, &m->vdelbl, value & 1);
    case VCS_RESMP0:
    case VCS_RESMP1:
      i = r - VCS_RESMP0;
      if (m->resmp[i] == (value & 2)) return false;
      return vcs_tia_resmp(m, video, (int)i, value);
    case VCS_HMOVE:
      return vcs_tia_hmove(m, video);
    case VCS_HMCLR:
      for (int k = 0; k < 5; k++) m->hm[k] = 0;
      return false;
    case VCS_CXCLR:
      return vcs_tia_clear_collisions(m, video);
    default: /* RSYNC and the unused addresses */
      return false;
  }
}

VCS_SLOW_FN bool vcs_tia_store_register(vcs_t *m, vcs_video_t *video, unsigned r, uint8_t value) {
  bool over = vcs_tia_store_this(m, video, r, value);
  vcs_tia_settle(m, video);
  return over;
}

/* A write late in the frame: below the picture, or after its last line, when it ends the frame. */
VCS_SLOW_FN bool vcs_tia_write_late(vcs_t *m, vcs_video_t *video, unsigned r, uint8_t value) {
  int32_t now = vcs_tia_since_frame(m);
  vcs_tia_see(m, video, vcs_wrap_minus(now, -vcs_tia_delay(r, now)));
  return vcs_tia_store_register(m, video, r, value) | (now >= video->limit);
}

/* For the loop of run.h, where `r` is a constant: the compiler keeps only the code for that register. */
VCS_HOT_FN bool vcs_tia_write_this(vcs_t *m, vcs_video_t *video, unsigned r, uint8_t value) {
  int32_t now = vcs_tia_since_frame(m), target = vcs_wrap_minus(now, -vcs_tia_delay(r, now));
  if (VCS_UNLIKELY(target >= video->late)) return vcs_tia_write_late(m, video, r, value);
  vcs_tia_see(m, video, target);
  return vcs_tia_store_this(m, video, r, value);
}

VCS_SLOW_FN bool vcs_tia_write_first(vcs_t *m, vcs_video_t *video, unsigned r, uint8_t value) {
  int32_t now = vcs_tia_since_frame(m), target = vcs_wrap_minus(now, -vcs_tia_delay(r, now));
  if (VCS_UNLIKELY(target >= video->late)) return vcs_tia_write_late(m, video, r, value);
  vcs_tia_see(m, video, target);
  return vcs_tia_store_register(m, video, r, value);
}

/* The second or a later one of successive writes of an instruction. It may come before the previous write shows, and a
 * WSYNC does not halt the CPU: it is treated as RSYNC, which does nothing. */
VCS_SLOW_FN bool vcs_tia_write_next(vcs_t *m, vcs_video_t *video, unsigned r, uint8_t value) {
  vcs_tia_catch_up(m, video);
  return vcs_tia_write_first(m, video, r == VCS_WSYNC ? (unsigned)VCS_RSYNC : r, value);
}

/* A write to the TIA; `stalls` is false for the second and later of successive writes of an instruction. Returns true
 * when the frame is over. */
VCS_HOT_FN bool vcs_tia_write(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr, uint8_t value,
                              bool stalls) {
  (void)cart;
  return VCS_LIKELY(stalls) ? vcs_tia_write_first(m, video, addr & 63, value)
                            : vcs_tia_write_next(m, video, addr & 63, value);
}

/* ---- Reset -------------------------------------------------------------------------------------------------- */

/* Resets everything but the frame count, the choice of buffer and the sound. */
VCS_FN void vcs_tia_reset(vcs_t *m) {
  uint8_t *registers = &m->vsync;
  for (int i = 0; i < VCS_TIA_BYTES; i++) registers[i] = 0;
  m->collisions = 0;
  m->dump = 0;
  m->hmove_clock = m->dump_cycle = 0;
  m->vsync_clock = 0x7FFFFFFF;
  m->frame_clock = (int32_t)(m->cycles * 3);
  m->line = m->line_clock = m->first_line = m->scanlines = 0;
  m->seen_clock = m->seen_before = m->blank_clock = m->blank_first = 0;
}

VCS_FN void vcs_tia_rebase(vcs_t *m) {
  uint32_t clocks = m->cycles * 3;
  m->dump_cycle = (int32_t)((uint32_t)m->dump_cycle - m->cycles);
  m->frame_clock = (int32_t)((uint32_t)m->frame_clock - clocks);
  m->vsync_clock = (int32_t)((uint32_t)m->vsync_clock - clocks);
  m->hmove_clock = (int32_t)((uint32_t)m->hmove_clock - clocks);
}

#endif
