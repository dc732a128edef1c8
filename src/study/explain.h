/* explain.h: why a pixel (a region, an object, a byte of RAM, the score) is what it is.
 *
 * Everything is found by doing otherwise and looking. The truth of a bit of RAM, ROM or of the hands is the output with
 * the bit set minus with the bit clear (vcs_truth). A write to the TIA made the output so if the output changes when a
 * bit of the value is another, or when the write does not happen. An object lit a pixel if the pixel changes when the
 * object is never there. Beside the truth stand the derivatives of the methods. Only the list of instructions is a
 * matter of reading: the slice of those writes (slice.h).
 *
 * RAM and ROM are flipped before the last `span` frames, one unless told otherwise; hands in each frame of the run.
 */
#ifndef VCS_STUDY_EXPLAIN_H
#define VCS_STUDY_EXPLAIN_H

#include "study/target.h"
#include "study/rom_use.h"
#include "study/slice.h"
#include "study/symbols.h"

enum { VCS_SHOWN_OBJECTS = 6 }; /* player 0, player 1, missile 0, missile 1, ball, playfield */

typedef struct {
  int row; /* of the slice's rows */
  uint16_t address;
  uint8_t value;  /* written */
  uint8_t bits;   /* of the value, that matter */
  bool needed;    /* the output is another if the write does not happen */
  bool has_value; /* it stores a register, so that bits could be tried */
} vcs_cause_t;

/* A byte that matters, with the truth of its bits and what the methods say. */
typedef struct {
  uint32_t index; /* of RAM, of the image, or VCS_INPUTS * frame + input */
  float truth[8];
  float derivative[VCS_CLI_METHODS][8];
} vcs_reason_t;

typedef struct {
  vcs_reason_t *reasons; /* those whose truth is not zero, and those of which a method says so, in order of the index */
  int count, true_count; /* all; those whose truth is not zero */
} vcs_reasons_t;

typedef struct {
  vcs_setup_t setup;
  vcs_run_t span;    /* the end of the run, from where RAM and ROM are flipped */
  vcs_t *start;      /* of it */
  uint8_t *pictures; /* at its start */
  vcs_target_t target;
  const char *what;               /* "pixel 80,100" */
  const char *object;             /* asked for, or NULL */
  uint8_t *mask;                  /* [height * 160]: the pixels that are asked about */
  uint8_t *frames;                /* after the run */
  const uint8_t *picture;         /* the last one of them */
  double value;                   /* of the output, as palette indices, RAM or score */
  bool lit_by[VCS_SHOWN_OBJECTS]; /* objects without which the output would be another */
  vcs_slice_t slice;              /* of the last frame */
  vcs_cause_t *causes;
  int cause_count;
  vcs_reasons_t ram, rom, inputs;
  vcs_rom_use_t *uses; /* of each byte of the image, in the span */
} vcs_explanation_t;

extern const char *const vcs_object_names[VCS_SHOWN_OBJECTS];

/* The first frame of a run, in which an object is never there, into m and frames. */
void vcs_frame_without(const vcs_run_t *run, int object, vcs_t *m, uint8_t *frames);

/* How long to look back, and for what. */
typedef struct {
  vcs_setup_choice_t setup;
  const char *output, *pixel, *region, *object, *ram; /* one of them, or `score` */
  bool score;
  int64_t span, window;
} vcs_question_t;

/* Plays up to the frame and explains; or explains the end of a run that is there, which the explanation then owns.
 * vcs_explanation_free is due in any case. */
vcs_status_t vcs_explain(const vcs_question_t *question, vcs_explanation_t *explanation, vcs_error_t *error);
vcs_status_t vcs_explain_setup(const vcs_question_t *question, const vcs_setup_t *setup, vcs_explanation_t *explanation,
                               vcs_error_t *error);
void vcs_explanation_free(vcs_explanation_t *explanation);

/* The same as a page, which needs nothing but itself, and as JSON. */
vcs_status_t vcs_explain_page(const vcs_explanation_t *explanation, const char *directory, vcs_error_t *error);
void vcs_explain_json(const vcs_explanation_t *explanation, vcs_text_t *text);

/* In a few words: "player 0, which COLUP0 colours". */
void vcs_explain_summary(const vcs_explanation_t *explanation, vcs_text_t *text);

#endif
