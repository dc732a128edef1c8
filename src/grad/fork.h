/* fork.h: what is known of the forks and regions of a tape, as fork.c and region.c share it. */
#ifndef VCS_GRAD_FORK_H
#define VCS_GRAD_FORK_H

#include "instruction.h"

/* A move of a byte that a region reads, or of a bit of ROM: its column of the region's Jacobian. */
typedef struct {
  uint32_t slot;        /* VCS_SLOTS * offset + slot in the state; of ROM, 8 * place + bit */
  int32_t first, count; /* of the differences */
  float direction;      /* +1: the move goes up */
  int32_t steps;        /* that the column is of; 0: it is not known */
  float share;          /* along a direction: how much of the slot's tangent goes into the column */
  bool of_rom;          /* it is a bit of ROM */
  bool written;         /* the region writes that byte: without a column nothing is left of the move */
  bool lost;            /* it has no column, because it does not arrive at the exit */
} vcs_move_t;

/* Rows [entry, exit) of the run as one primitive. */
typedef struct {
  int32_t entry, exit;
  int32_t branch;       /* the first one in it */
  int32_t move, byte;   /* its first ones */
  int32_t moves, bytes; /* how many */
  uint8_t flags;        /* of the status that it reads or writes */
  bool crossed;         /* by the walk forwards */
} vcs_region_t;

typedef struct {
  vcs_region_t *all;
  vcs_move_t *moves;
  uint16_t *bytes;    /* offsets in the state of what regions read or write */
  int32_t *from, *to; /* by row: the region that begins or ends there, or -1 */
  vcs_cart_t patched; /* the cartridge with an image of its own, for moves of ROM */
  uint8_t *rom;       /* that image */
  vcs_t *before;      /* the machine at an entry ... */
  int32_t before_row; /* ... of this row; or -1 */
  int32_t count, move_count, byte_count;
  int32_t capacity, move_capacity, byte_capacity;
} vcs_regions_t;

/* A slot that had a tangent where a detour began. */
typedef struct {
  uint32_t slot; /* VCS_SLOTS * offset + slot in the state */
  float tangent, adjoint;
  bool stays; /* its tangent at the meeting is the same */
} vcs_carried_t;

/* A branch that turns along a direction, up to where the run meets itself again (detour.c). */
typedef struct {
  int32_t row, meets;
  int32_t first, count;     /* of the differences at the meeting */
  int32_t carried, carries; /* of what had tangents at the branch */
  int32_t flag;             /* which of them is the branch's flag */
  float sum;                /* backwards: the flag's share */
} vcs_detour_t;

typedef struct {
  vcs_detour_t *all;
  vcs_carried_t *carried;
  int32_t count, carried_count, capacity, carried_capacity;
  bool off; /* this walk has none */
} vcs_detours_t;

struct vcs_forks {
  const vcs_cart_t *cart;
  const vcs_tape_t *tape;
  size_t size; /* of a machine */
  int32_t window;
  const uint8_t *frames; /* the frame buffers after the frame */
  uint8_t *other_frames; /* those of the other side */
  vcs_t *other, *base;   /* the other side's machine; the run's at the meeting, as far as it is compared */
  int32_t *next_at_pc;   /* by row: the next row with the same PC */
  int32_t *by_row;       /* by row: the first fork that meets there */
  int32_t *last_by_row;  /* and the last one */
  int32_t *branch_at;    /* by row: which branch it is, or -1 */
  int32_t *popped;       /* by row: the next row with less on the stack, or one past the last */
  int32_t rows;          /* room in these */
  vcs_fork_t *forks;     /* by branch */
  int32_t fork_capacity;
  vcs_difference_t *differences;
  int32_t difference_count, difference_capacity;
  int32_t *first; /* by PC: the next row, of those that are being looked at; or -1 */
  vcs_regions_t regions;
  vcs_detours_t detours;
  vcs_grad_report_t report;
  bool along;  /* a direction */
  bool known;  /* forks and regions are found */
  bool failed; /* no memory for them */
  bool probing;
};

/* The sums of so many times this are still floats. */
static const float vcs_beyond_meaning = 1e30F;

VCS_FN float vcs_bounded(float value, float most) { return value > most ? most : value < -most ? -most : value; }

/* Makes room for `count` elements in an array. False: no memory. */
bool vcs_forks_room(void **array, size_t count, size_t size);

/* Adds to the differences. */
void vcs_forks_differ(vcs_forks_t *f, uint32_t slot, float by);

/* Adds what is different between f->other and the run before row `to_row`; both were `before` at `from_row`. */
void vcs_forks_compare(vcs_forks_t *f, const vcs_t *before, int32_t from_row, int32_t to_row, vcs_video_t *video);

/* Whether the banks of f->other are those of the run before a row. */
bool vcs_forks_same_banks(const vcs_forks_t *f, int32_t row);

/* Runs f->other, which stands before the branch at a row, until it meets the run within a window, in the picture in the
 * same line; returns the row, or -1. */
int32_t vcs_forks_meet(vcs_forks_t *f, int32_t row, int32_t window, vcs_video_t *video);

/* Finds all forks and regions of the tape, once. False: no memory, and f->failed. */
bool vcs_forks_find(vcs_forks_t *f);

/* Links one number to `count` of the differences. */
void vcs_forks_link(const vcs_forks_t *f, vcs_sweep_t *s, float *number, int32_t first, int32_t count);

/* With a tangent's side, cancels opposite moves of a byte of the state at a row. */
void vcs_forks_cancel(const vcs_forks_t *f, const vcs_sweep_t *s, int32_t fork, int32_t row, size_t offset);

/* Finds the regions of a tape whose forks are known: `along` a direction there are some. False: no memory. */
bool vcs_regions_begin(vcs_forks_t *f, bool along);
void vcs_regions_free(vcs_regions_t *regions);

/* Takes the detour of a branch whose flag, in slot number `flag`, has a tangent. False: there is none, because the
 * tangents are not whole moves. */
bool vcs_detour_take(vcs_forks_t *f, vcs_sweep_t *s, int32_t branch, uint32_t flag);

/* Ends the detour that meets the run at a row; walking backwards, enters it, and leaves it at its branch. */
void vcs_detour_meet(vcs_forks_t *f, vcs_sweep_t *s, int32_t row);
void vcs_detour_leave(vcs_forks_t *f, vcs_sweep_t *s, int32_t row);

/* Begins a walk. */
void vcs_detours_begin(vcs_forks_t *f, const vcs_sweep_t *s);

/* Whether the tangents before a row are whole moves, as far as the walk knows. */
bool vcs_detours_possible(const vcs_forks_t *f, const vcs_sweep_t *s, int32_t row);
void vcs_detours_free(vcs_detours_t *detours);

#endif
