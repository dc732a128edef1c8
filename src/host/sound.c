/* sound.c: an environment's 512 samples for every act, and how long a frame's sound lasts.
 *
 * ale-py makes its samples at the end of an act, after the last of the skipped frames, from the sound registers as they
 * are then. So 512 samples are heard for an act of one frame and for an act of four, an act in a game that is over is
 * heard too, and the frames of a reset are not, except where the selection of a game's mode acts.
 */
#include "host/sound.h"

#include "host/env.h"

/* Two samples a line of 228 colour clocks; the clock is 3,579,545 Hz with NTSC and 3,546,894 Hz otherwise. */
enum { RATE_NTSC = 31400, RATE_PAL = 31113, LINES_NTSC = 262 };

int vcs_sound_length(const vcs_t *m) {
  int lines = m->scanlines > 0 ? m->scanlines : LINES_NTSC; /* 0: no frame has ended yet */
  return lines < VCS_SOUND_LENGTH_MAX / 2 ? 2 * lines : VCS_SOUND_LENGTH_MAX;
}

int vcs_sound_rate(vcs_format_t format) {
  return format == VCS_FORMAT_AUTO || format == VCS_FORMAT_NTSC ? RATE_NTSC : RATE_PAL;
}

void vcs_env_listen(vcs_env_t *env) {
  if (env->listening) vcs_sound(env->m, env->sound, VCS_SOUND_SAMPLES);
}

void vcs_env_set_sound(vcs_env_t *env, int sound) { env->listening = sound != 0; }

const uint8_t *vcs_env_sound(const vcs_env_t *env) { return env->sound; }
