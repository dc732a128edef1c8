/* diffvcs/annotate.h: what every byte of RAM means, found by the machine itself.
 *
 * vcs_annotate plays a game at random, stops in many states, sets every byte of RAM to other values, runs a few frames,
 * and compares the objects of the pictures (objects.h), the rest of RAM, the score and the lives with the run without
 * the change. A role is what these exact effects have in common over the states; its confidence is the part of the
 * states that agree. There is no code for particular games. docs/annotations.md explains the rules and has the results
 * for all games.
 */
#ifndef DIFFVCS_ANNOTATE_H
#define DIFFVCS_ANNOTATE_H

#include "objects.h"
#include "study.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Roles of a byte. */
enum {
  VCS_ROLE_X,        /* horizontal position of an object */
  VCS_ROLE_Y,        /* vertical position */
  VCS_ROLE_SIZE,     /* size or number of copies */
  VCS_ROLE_GRAPHICS, /* shape: an index, or part of a pointer */
  VCS_ROLE_COLOUR,
  VCS_ROLE_SCORE, /* the score, or digits that are shown and do not run by themselves */
  VCS_ROLE_LIVES,
  VCS_ROLE_TIMER,     /* counts frames, or counts at regular intervals */
  VCS_ROLE_DIRECTION, /* changes how a position changes, or which way an object faces */
  VCS_ROLE_ROOM,      /* changes most of the picture */
  VCS_ROLE_RANDOM,    /* changes often and without pattern */
  VCS_ROLE_SCRATCH,   /* without any effect, and overwritten within most frames */
  VCS_ROLE_STACK,     /* return addresses and what is pushed */
  VCS_ROLE_UNUSED,    /* never changes, and changing it changes nothing */
  VCS_ROLES
};
VCS_API const char *vcs_role_name(int role); /* "x", "y", "size", ...; NULL: no such role */

/* How a value becomes a pixel. */
enum {
  VCS_ENCODING_LINEAR, /* pixel = offset + slope * value */
  VCS_ENCODING_HMOVE,  /* high nibble: fine motion (HMxx), low nibble: coarse position */
  VCS_ENCODING_TABLE   /* neither: only the map says */
};

/* One role of one byte. */
typedef struct {
  int32_t role;        /* VCS_ROLE_... */
  int32_t kind;        /* VCS_OBJECT_... of the object, or -1 */
  int32_t number;      /* 1, 2, ...: which of the game's objects of this kind; 0: none */
  int32_t encoding;    /* of x and y: VCS_ENCODING_... */
  float slope, offset; /* of x and y with VCS_ENCODING_LINEAR: pixels; slope 0 otherwise */
  float confidence;    /* 0 to 1: states that agree, of the states in which the byte does anything to the picture */
  int32_t states;      /* number of states that agree */
  int32_t low, high;   /* of x and y: the smallest and the largest pixel of the map, -1: none */
  int32_t absent;      /* of x and y: the value that the byte has while there is no object, -1: none is known */
  int32_t controls;    /* controls that change the byte: a set of VCS_HELD_... bits */
  int16_t map[256];    /* of x and y: the object's column or row for each value in one state, -1: not drawn */
} vcs_role_t;

enum { VCS_BYTE_ROLES = 6 };
typedef struct {
  int32_t count;
  vcs_role_t roles[VCS_BYTE_ROLES]; /* the most certain first */
} vcs_byte_roles_t;

typedef struct {
  char game[64];
  int32_t states;
  vcs_byte_roles_t ram[128];
} vcs_annotation_t;

typedef struct {
  int32_t seeds;   /* plays; 0: 6 */
  int32_t depths;  /* states for each play; 0: 8 */
  uint64_t seed;   /* of the first play; 0: 1 */
  int32_t threads; /* 0: one per core */
  vcs_report_t report;
  uint64_t reserved[8]; /* 0 */
} vcs_annotate_options_t;

/* Annotates a game. The result is the same for any number of threads, and in every call. Free it with
 * vcs_annotation_free. */
VCS_API vcs_status_t vcs_annotate(const vcs_cart_t *cart, const char *game, const vcs_annotate_options_t *options,
                                  vcs_annotation_t **annotation, vcs_error_t *error);
VCS_API void vcs_annotation_free(vcs_annotation_t *annotation);

/* The annotation as JSON (one line per byte), and as an HTML page with a frame, its objects and the map of RAM. Free
 * the text with vcs_text_release; NULL: out of memory. */
VCS_API char *vcs_annotation_json(const vcs_annotation_t *annotation);
VCS_API char *vcs_annotation_page(const vcs_cart_t *cart, const vcs_annotation_t *annotation, vcs_error_t *error);

/* How often a byte that is called a position moves its object as it should, in states that vcs_annotate has not seen:
 * in each state the byte is changed by 1, 2, 4 and 8 either way. `effective` counts the states in which at least three
 * of these changes do anything to an object that is there, `right` those in which at least half of them move objects
 * along the axis only, and by the slope where there is one. */
typedef struct {
  int32_t byte, role;
  int32_t effective, right;
} vcs_audit_t;
VCS_API vcs_status_t vcs_annotation_audit(const vcs_cart_t *cart, const vcs_annotation_t *annotation,
                                          const vcs_annotate_options_t *options, vcs_audit_t *audits, int32_t capacity,
                                          int32_t *count, vcs_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
