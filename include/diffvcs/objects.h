/* diffvcs/objects.h: what the TIA drew, as objects.
 *
 * The TIA draws two players, two missiles, a ball and a playfield. A program moves and redraws them while the beam goes
 * down the screen, so that one player may be several things in one frame. The functions here list those things: each
 * copy of a player or missile, each use of the ball, and each block of the playfield is an object of its own, with its
 * box, colour, graphics and the part of it that is not covered. The list is made from the masks that draw the line
 * (src/core/objects.h), not from the pixels, so it is exact where objects overlap or have the colour of what is behind
 * them.
 *
 * Rows that belong together are one object:
 *   - rows of a player, missile or ball that follow each other and whose position moves by less than eight pixels from
 *     row to row; one or two empty rows may lie between them if it moves by at most one pixel there;
 *   - rows of the playfield with the same left and right end and the same colour.
 * An object that passes the right edge of the picture and goes on at its left edge is two objects.
 */
#ifndef DIFFVCS_OBJECTS_H
#define DIFFVCS_OBJECTS_H

#include "diffvcs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The TIA's objects. */
enum {
  VCS_OBJECT_PLAYER_0,
  VCS_OBJECT_PLAYER_1,
  VCS_OBJECT_MISSILE_0,
  VCS_OBJECT_MISSILE_1,
  VCS_OBJECT_BALL,
  VCS_OBJECT_PLAYFIELD
};

/* An object in a picture. Coordinates are pixels of the picture: column 0 to 159, row 0 to height - 1. The scan line of
 * row y is y plus the cartridge's top line. */
typedef struct {
  int16_t x, y, w, h;     /* box of the pixels that it lights, covered or not */
  int16_t seen_x, seen_y; /* box of the pixels that show it: not covered by an object in front of it, */
  int16_t seen_w, seen_h; /* not blanked by HMOVE */
  int32_t pixels, seen;   /* number of pixels that it lights, and of those that show it */
  int16_t rows;           /* rows in which it lights a pixel; h minus the empty rows */
  uint8_t kind;           /* VCS_OBJECT_..., whose name is vcs_object_name (study.h) */
  uint8_t copy;           /* 0, 1, 2: which copy of a player or missile in its first row */
  uint8_t colour;         /* palette index in the first row that shows it */
  uint8_t colours;        /* number of different colours from row to row, each change counted; 1: one colour */
  uint8_t reflected;      /* 1: a player drawn mirrored in its first row */
  uint8_t size;           /* pixels per bit of a player (1, 2, 4), width of a missile or ball (1, 2, 4, 8), 4 */
  uint8_t reserved[4];    /* 0 */
  uint32_t pattern;       /* digest of its rows of graphics; equal for equal shapes at other places */
  uint32_t id;            /* identity over frames (vcs_objects_track), 0 before */
} vcs_object_t;

/* The largest number of objects that is worth space for; more are counted, not listed. */
enum { VCS_OBJECTS_MAX = 1024 };

/* Runs one frame like vcs_frame and lists its objects from top to bottom. `frames` may be NULL: then the picture is
 * drawn aside. Objects that no pixel shows are left out. Returns the number of objects, which may be larger than
 * `capacity`; as many as fit are written. The machine after the call and the picture are those of vcs_frame. Of a frame
 * that does not end (console.h) each call lists its own part. */
VCS_API int32_t vcs_frame_objects(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_object_t *objects,
                                  int32_t capacity);

/* Lists the objects of an environment's last frame. With vcs_env_set_objects(env, 1) they are recorded while that
 * frame is drawn, otherwise the frame is run again. Returns the number of objects, at most VCS_OBJECTS_MAX of them are
 * known, and writes as many as fit. */
VCS_API void vcs_env_set_objects(vcs_env_t *env, int recording);
VCS_API int32_t vcs_env_objects(vcs_env_t *env, vcs_object_t *objects, int32_t capacity);

/* The same for the environments of a batch on the CPU, between a receive and the next send. Recorded objects are listed
 * by the threads of the batch, at the end of each step or reset. vcs_batch_objects returns -1 on a device (see
 * vcs_batch_list_objects), if `env` is out of range, or while a step of it is under way. */
VCS_API void vcs_batch_set_objects(vcs_batch_t *batch, int recording);
VCS_API int32_t vcs_batch_objects(vcs_batch_t *batch, int32_t env, vcs_object_t *objects, int32_t capacity);

/* The objects of the last frame of all environments of a batch, also on a device: for each environment `capacity`
 * objects, from top to bottom, and in `counts` their number, which may be larger than `capacity`. On a GPU both are
 * memory of the GPU (vcs_device_allocate), and the call is queued like a step (vcs_batch_wait). There the last frame is
 * run again, which needs a batch with pictures. */
VCS_API vcs_status_t vcs_batch_list_objects(vcs_batch_t *batch, vcs_object_t *objects, int32_t *counts,
                                            int32_t capacity, vcs_error_t *error);

/* Identity over frames. An object keeps the id of the object that was nearest to it in one of the last VCS_TRACK_FRAMES
 * frames, if that has the same kind, similar size, and is near; games that flicker draw an object only in every second
 * to fourth frame. Otherwise it gets a new id. Plain data; begin with zeros, and use it for consecutive frames. */
enum { VCS_TRACK_FRAMES = 4 };
typedef struct {
  uint32_t frame, next_id;
  int32_t count;
  struct {
    uint32_t id, frame;
    vcs_object_t object;
  } track[VCS_OBJECTS_MAX];
  int32_t last_count;            /* number of objects of the last frame, ... */
  int16_t last[VCS_OBJECTS_MAX]; /* ... and the index of the track of each, -1: none */
} vcs_tracks_t;
VCS_API void vcs_objects_track(vcs_tracks_t *tracks, vcs_object_t *objects, int32_t count);

#ifdef __cplusplus
}
#endif
#endif
