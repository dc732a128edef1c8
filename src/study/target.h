/* target.h: what is differentiated, by name: the number at the end of a run, or the bit at its beginning.
 *
 *   outputs   pixel:ROW,COLUMN   region:X,Y,WIDTH,HEIGHT   screen   ram:9C (a byte)   ram:9C.3 (a bit)   score
 *   bits      ram:9C.3   rom:F123.4 (an address, in the bank that is there when the run begins)   rom:@1F0.4 (an
 * offset) inputs    right   right@2 (held in frame 2 of the run, counted from 0)
 *
 * Pixels count as the scalars of a scale, by palette index. The score is the sum of the rewards of the run.
 */
#ifndef VCS_STUDY_TARGET_H
#define VCS_STUDY_TARGET_H

#include "study/setup.h"
#include "host/games.h"

typedef enum { VCS_TARGET_PIXELS, VCS_TARGET_RAM, VCS_TARGET_SCORE } vcs_target_kind_t;

typedef struct {
  vcs_target_kind_t kind;
  int x, y, width, height; /* pixels */
  int index, bit;          /* RAM; bit -1: the byte */
} vcs_target_t;

/* An output of a game: every --output is read by this one. */
vcs_status_t vcs_target_read(const char *text, const vcs_rom_t *rom, const vcs_env_t *env, vcs_target_t *target,
                             vcs_error_t *error);
vcs_status_t vcs_place_read_bit(const char *text, const vcs_setup_t *setup, vcs_place_t *place, vcs_error_t *error);
vcs_status_t vcs_place_read_input(const char *text, const vcs_setup_t *setup, vcs_place_t *place, vcs_error_t *error);

/* A run that was made: its last picture, machine and play. */
typedef struct {
  uint8_t *frames;
  const uint8_t *picture;
  vcs_t *machine;
  vcs_play_t play; /* after the rules looked at the last frame */
  int64_t rewards;
  int32_t *reward; /* of each frame */
} vcs_ending_t;

/* Runs, with a bit flipped unless it is NULL: one of ROM, RAM or an input. */
vcs_status_t vcs_ending_make(const vcs_setup_t *setup, const vcs_place_t *flipped, vcs_ending_t *ending,
                             vcs_error_t *error);
void vcs_ending_free(vcs_ending_t *ending);

/* Whether a bit is set, or an input held, when the run begins. */
bool vcs_place_set(const vcs_setup_t *setup, const vcs_place_t *place);

/* The output at the end, and its derivative: of the last picture's pixels [height * 160], of the slots of the state
 * behind it, of the rewards of the frames, of which those that the output is made of must be there, and zero. */
double vcs_target_value(const vcs_target_t *target, const vcs_ending_t *ending, const float scale[256]);
void vcs_target_adjoint(const vcs_target_t *target, int32_t frames, float *pixels, float *state, float *rewards);

/* The derivative as it is: the output with the bit set minus with the bit clear, by running again. NaN: no memory. */
double vcs_target_truth(const vcs_target_t *target, const vcs_setup_t *setup, const vcs_place_t *place,
                        const float scale[256], double value);

#endif
