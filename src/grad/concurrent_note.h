/* concurrent_note.h: the core's CPU without its TIA.
 *
 * Included before bus.h, this file replaces the TIA's functions by functions that note accesses (concurrent.h). State
 * on which the CPU depends is still computed: WSYNC, the end of the frame, the inputs, the times at which the
 * capacitors of paddles began to charge. Only a read of a collision needs the TIA itself: vcs_beam_note_t.collisions.
 */
#ifndef VCS_GRAD_CONCURRENT_NOTE_H
#define VCS_GRAD_CONCURRENT_NOTE_H

#include "concurrent.h"
#include "core/riot.h"

/* By register: the bits of a written value that the picture and collisions depend on. Sound has none. */
VCS_TABLE(uint8_t, vcs_note_mask, 64,
          {0x00, 0xFF, 0x00, 0x00, 0xFF, 0xFF, 0xFE, 0xFE, 0xFE, 0xFE, 0xFF, 0x08, 0x08, 0xFF,
           0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF,
           0xFF, 0x02, 0x02, 0x02, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0x01, 0x01, 0x01, 0x02, 0x02})

/* Notes an access. */
VCS_FN void vcs_note(vcs_beam_note_t *note, const vcs_t *m, unsigned reg, uint8_t value, uint8_t kind) {
  if (VCS_UNLIKELY(note->count == note->capacity)) {
    note->full = true;
    return;
  }
  note->accesses[note->count++] = (vcs_beam_access_t){m->cycles, (uint8_t)reg, value, kind, 0};
}

/* Notes a write. Returns whether it ends the frame. */
VCS_FN bool vcs_note_write(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr, uint8_t value,
                           bool stalls) {
  const unsigned r = addr & 63;
  const int32_t now = vcs_tia_since_frame(m), target = vcs_wrap_minus(now, -vcs_tia_delay(r, now));
  bool over = target >= video->late && now >= video->limit;
  (void)cart;
  vcs_note((vcs_beam_note_t *)(void *)video, m, r, value & vcs_note_mask(r), stalls ? VCS_BEAM_WRITE : VCS_BEAM_NEXT);
  switch (r) {
    case VCS_VSYNC:
      over |= vcs_tia_vsync(m, value);
      break;
    case VCS_VBLANK:
      vcs_tia_dump(m, value);
      break;
    case VCS_WSYNC:
      if (stalls) vcs_tia_wsync(m);
      break;
    case VCS_AUDC0:
    case VCS_AUDC1:
    case VCS_AUDF0:
    case VCS_AUDF1:
    case VCS_AUDV0:
    case VCS_AUDV1:
      m->audio[r - VCS_AUDC0] = value;
      break;
    default:
      break;
  }
  return over;
}

/* Notes a read. Returns the value that the CPU reads. */
VCS_FN uint8_t vcs_note_read(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr, uint8_t bus) {
  vcs_beam_note_t *note = (vcs_beam_note_t *)(void *)video;
  const unsigned r = addr & 15;
  const uint8_t undriven = bus & 0x3F;
  vcs_note(note, m, r, 0, VCS_BEAM_READ);
  if (r < 8) {
    const unsigned latches = note->collisions(note->context, m) >> 2 * r;
    return (uint8_t)((latches & 1) << 7 | (latches & 2) << 5 | undriven);
  }
  if (r < 14) return (uint8_t)(vcs_tia_input(cart, m, (int)r - 8) << 7 | undriven);
  return undriven;
}

/* A store to a register that the decoder knows (run.h), and to WSYNC (bus.h). */
VCS_HOT_FN bool vcs_note_write_this(vcs_t *m, vcs_video_t *video, unsigned r, uint8_t value) {
  const int32_t now = vcs_tia_since_frame(m), target = vcs_wrap_minus(now, -vcs_tia_delay(r, now));
  vcs_note((vcs_beam_note_t *)(void *)video, m, r, value & vcs_note_mask(r), VCS_BEAM_WRITE);
  return VCS_UNLIKELY(target >= video->late) && now >= video->limit;
}
VCS_FN bool vcs_note_write_late(vcs_t *m, vcs_video_t *video, unsigned r, uint8_t value) {
  return vcs_note_write(NULL, m, video, (uint16_t)r, value, true);
}
VCS_HOT_FN void vcs_note_see(vcs_t *m, vcs_video_t *video, int32_t target) {
  (void)target;
  vcs_note((vcs_beam_note_t *)(void *)video, m, VCS_WSYNC, 0, VCS_BEAM_WRITE);
}

#define vcs_tia_write vcs_note_write
#define vcs_tia_read vcs_note_read
#define vcs_tia_write_this vcs_note_write_this
#define vcs_tia_write_late vcs_note_write_late
#define vcs_tia_see vcs_note_see

#include "core/bus.h"

#endif
