/* annotate_probe.h: probes: a byte is set to another value in some state, and the next frames are compared.
 *
 * In each state each byte is set to VCS_PROBES other values, one at a time: each bit flipped, and small steps in the
 * other direction. VCS_PROBE_FRAMES frames are run, and each is compared with the same frame of the run without the
 * change (annotate_compare.h). The controls that are held in a state go on being held during its probes.
 * annotate_probe.c runs the frames, annotate_votes.c says what they show.
 */
#ifndef VCS_STUDY_ANNOTATE_PROBE_H
#define VCS_STUDY_ANNOTATE_PROBE_H

#include <stdatomic.h>

#include "diffvcs/annotate.h"
#include "study/annotate_compare.h"
#include "study/annotate_play.h"
#include "study/internal.h"

enum {
  VCS_PROBES = 12,
  VCS_PROBE_FRAMES = 4, /* games draw some objects only in every second to fourth frame */
  VCS_PROBE_LATER = 8,  /* frames after which positions are compared for velocities */
  VCS_DEPTHS_MAX = 16,
  VCS_SEEDS_MAX = 64,
  VCS_MORE_MOMENTS = 24, /* further moments for a byte whose object is seldom there */
  VCS_ENOUGH_STATES = 8, /* states that decide about a position */
  VCS_COMMON_MOVE = 3,   /* pixels that displacements may have in common */
  VCS_SLOPES = 12,
  VCS_ENDS = 2 * VCS_SHOWN_ENDS,
};

extern const float vcs_slopes[VCS_SLOPES]; /* that a position may have, the commonest first */

/* The votes of one state for a position along an axis. */
typedef struct {
  uint8_t votes;             /* probes that move objects along this axis only, at frame t */
  uint8_t t;                 /* the frame */
  uint8_t kind;              /* of the object */
  uint8_t grows;             /* the displacement grows from frame to frame */
  uint8_t cut;               /* only one end of the object moved: it may lie behind an edge, or be longer or shorter */
  uint8_t from;              /* the value to which displacements refer, ... */
  int16_t at;                /* ... and the object's place with it */
  int16_t object;            /* in the picture of that frame without the change; -1: it only comes with other values */
  int16_t moved[VCS_PROBES]; /* displacement, 0: no vote */
} vcs_axis_votes_t;

/* What probing one byte in one state showed. */
typedef struct {
  uint8_t active;           /* some probe changes the picture */
  uint8_t present;          /* probes that change an object which is there without them */
  uint8_t effective;        /* probes that change the picture */
  vcs_axis_votes_t axis[2]; /* x, y */
  uint8_t reshaped, recoloured, reflected, resized, big, background; /* probes that do that and nothing else */
  int16_t object;                                                    /* that these change */
  uint8_t kind, t;
  uint8_t digits;               /* its two nibbles change two places beside each other */
  uint8_t overwritten;          /* probes after which the byte is as without the change, a frame later */
  uint8_t others;               /* probes that change other bytes of RAM */
  uint8_t score, reward, lives; /* the rules read it */
  uint8_t pushed;               /* it was on the stack */
  uint8_t drives[VCS_RAM_SIZE]; /* positions that it changes more and more: number of probes */
} vcs_evidence_t;

typedef struct {
  const vcs_moment_t *moment;
  vcs_evidence_t byte[VCS_RAM_SIZE];
  uint8_t controls[VCS_RAM_SIZE]; /* VCS_HELD_... that change the byte within four frames */
} vcs_survey_state_t;

/* One byte in one more state. */
typedef struct {
  const vcs_moment_t *moment;
  vcs_evidence_t evidence;
} vcs_survey_extra_t;

/* All that was found out about a game. */
typedef struct {
  const vcs_cart_t *cart;
  vcs_plays_t plays;
  int32_t count;
  vcs_survey_state_t *states; /* the moments of the plays */
  vcs_survey_extra_t *extras; /* VCS_MORE_MOMENTS for each byte, the first extra_count[byte] of them used */
  int32_t extra_count[VCS_RAM_SIZE];
  vcs_steps_t *steps;
  atomic_bool failed; /* set by any thread */
} vcs_survey_t;

/* Buffers of one thread. */
typedef struct {
  vcs_t m;
  vcs_t base_machine[VCS_PROBE_FRAMES]; /* after each frame */
  uint8_t base_frames[VCS_PROBE_FRAMES][VCS_FRAME_BYTES], frames[2 * VCS_FRAME_BYTES];
  uint8_t base_ram[VCS_PROBE_LATER + 1][VCS_RAM_SIZE];
  vcs_object_t objects[VCS_OBJECTS_MAX];
  vcs_shown_t base[VCS_PROBE_FRAMES], shown;
  vcs_shown_diff_t diff[VCS_PROBES][VCS_PROBE_FRAMES];
} vcs_bench_t;

/* Runs a frame of the bench's machine and lists its objects. */
void vcs_bench_frame(const vcs_cart_t *cart, vcs_bench_t *b, vcs_shown_t *shown);

/* Runs the frames without a change. */
void vcs_bench_base(const vcs_cart_t *cart, const uint8_t *machine, vcs_bench_t *b);

/* Probes one byte in a moment, after vcs_bench_base. */
void vcs_probe_byte(const vcs_survey_t *w, const vcs_moment_t *moment, int byte, vcs_evidence_t *e, vcs_bench_t *b);

/* Probes all bytes in state `item` of a survey; a task of vcs_parallel. */
bool vcs_probe_state(void *survey, size_t item, int worker);

/* The value of probe p of a byte that has the value v, and the step from one value to another, -128 to 127. */
uint8_t vcs_probe_value(uint8_t v, int p);
int vcs_signed_step(uint8_t from, uint8_t to);

/* What a comparison says about a position along an axis; annotate_votes.c explains each. */
bool vcs_is_along(const vcs_shown_diff_t *d, int vertical);
bool vcs_is_pure(const vcs_shown_diff_t *d, int vertical);
bool vcs_is_telling(const vcs_shown_diff_t *d);
int vcs_moved_by(const vcs_shown_diff_t *d, int vertical);
bool vcs_is_slope(float slope, int step, int moved);
const vcs_shown_end_t *vcs_find_end(const vcs_shown_diff_t *d, int number, int *moved);

/* Counts what the probes of a byte did: those in the bench. */
void vcs_judge_byte(const vcs_bench_t *b, int height, uint8_t value, vcs_evidence_t *e);

#endif
