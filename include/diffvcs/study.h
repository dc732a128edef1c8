/* diffvcs/study.h: questions about a run, and their answers.
 *
 * grad.h differentiates a run; this header is about what people do with derivatives and with exact re-execution:
 *
 *   vcs_explain     finds the objects, register writes, instructions, bits and controls that make an output what it is
 *   vcs_attribute   ranks the bits of ROM, RAM and registers and the controls by their derivative of an output
 *   vcs_effect      finds what one bit or control changes, beside the truth
 *   vcs_score       measures how well derivatives agree with the truth; vcs_score_game does so for a whole game
 *   vcs_joystick    finds what each direction of the stick does to the picture
 *   vcs_edit        changes bytes of ROM until the picture shows a drawing
 *   vcs_steer       searches for controls that reach a goal
 *   vcs_record      writes the record of a run; vcs_verify_file runs a record again and compares
 *   vcs_trace       lists every instruction of some frames
 *   vcs_debugger    moves by instruction, scan line and frame, forwards and backwards, and stops at breakpoints
 *
 * and about the parts they are made of: ROM images by name, setups, targets, lists of bits, slices, uses of ROM bytes,
 * symbols, histories and patches. The command line is a thin layer over this header (docs/commands.md).
 *
 * Conventions as in diffvcs.h and grad.h, and three more:
 *
 * - Options are structs that an initializer with field names makes, or NULL. A member that is zero means its default,
 *   which its comment names.
 * - Results are structs of the caller's, filled on success and on failure safe to free. What they point to belongs to
 *   the library until the matching vcs_*_free.
 * - Long work reports through vcs_report_t and stops when it returns nonzero: the call then returns VCS_CANCELLED.
 */
#ifndef DIFFVCS_STUDY_H
#define DIFFVCS_STUDY_H

#include "grad.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Progress and cancellation ------------------------------------------------------------------------------ */

/* Called with the name of the current step of the work and how much of it is done. Returns 0 to go on, anything else to
 * stop. Any thread may call it, one at a time. A NULL function means no reports. */
typedef struct {
  int (*report)(void *context, const char *step, uint64_t done, uint64_t total);
  void *context;
} vcs_report_t;

/* Frees a text that a function of this header returned. NULL is allowed. */
VCS_API void vcs_text_release(char *text);

/* ---- ROM images --------------------------------------------------------------------------------------------- */

enum { VCS_ROM_NAME_SIZE = 256, VCS_ROM_PATH_SIZE = 4096 };

typedef struct {
  int32_t profile, scheme, format; /* vcs_profile_t, vcs_scheme_t, vcs_format_t */
  const char *roms;                /* directory searched first; NULL: none */
  const char *patch;               /* file of an IPS or BPS patch; NULL: none */
  uint64_t reserved[8];            /* 0 */
} vcs_rom_options_t;

typedef struct {
  vcs_cart_t *cart;             /* the loaded cartridge */
  char name[VCS_ROM_NAME_SIZE]; /* the file's name without its endings: "pong" */
  char path[VCS_ROM_PATH_SIZE]; /* "built in" for the demo */
} vcs_rom_t;

/* Finds a ROM image and writes its path to path[path_size]. An existing file is taken as it is. A name without '/'
 * ("pong", "pong.bin", "SpaceInvaders") is searched as NAME.bin, .a26 or .rom, gzipped or not, in `roms` (may be NULL),
 * $DIFFVCS_ROMS, $ALE_ROMS_DIR and an installed ale-py. Case, '_', '-' and ' ' are ignored where no file has exactly
 * that name. VCS_NOT_FOUND: the error lists the places. VCS_BAD_ARGUMENT: `roms` or $DIFFVCS_ROMS is no directory. */
VCS_API vcs_status_t vcs_rom_find(const char *name_or_path, const char *roms, char *path, size_t path_size,
                                  vcs_error_t *error);

/* Finds, reads, loads and patches a ROM image; the name "demo" is the built-in cartridge. */
VCS_API vcs_status_t vcs_rom_open(const char *name, const vcs_rom_options_t *options, vcs_rom_t *rom,
                                  vcs_error_t *error);
VCS_API void vcs_rom_free(vcs_rom_t *rom);

/* The image of a loaded cartridge, patches included: vcs_cart_info(cart)->image_size bytes, at most 2,048 on a 2K
 * board and 4,096 on a 4K board: a longer image repeats these bytes. */
VCS_API const uint8_t *vcs_cart_image(const vcs_cart_t *cart);

/* ---- Patches ------------------------------------------------------------------------------------------------ */

/* Applies an IPS or BPS patch, which its first bytes distinguish, to image[size]; writes result[size]. */
VCS_API vcs_status_t vcs_patch_apply(const uint8_t *patch, size_t patch_size, const uint8_t *image, size_t size,
                                     uint8_t *result, vcs_error_t *error);

/* Applies a patch to the image of a loaded cartridge, which keeps what is known about the unpatched game (picture,
 * controllers, rules). Call it before any machine runs on the cartridge. On failure the cartridge is unchanged. */
VCS_API vcs_status_t vcs_cart_patch(vcs_cart_t *cart, const uint8_t *patch, size_t size, vcs_error_t *error);

/* Makes the IPS patch that turns before[size] into after[size]. Writes at most `room` bytes to `patch`, which may be
 * NULL, and returns how many the whole patch has. */
VCS_API size_t vcs_patch_make(const uint8_t *before, const uint8_t *after, size_t size, uint8_t *patch, size_t room);

/* ---- Names of actions, inputs and methods ------------------------------------------------------------------- */

VCS_API int vcs_action_by_name(const char *name); /* in any case, or a number: "RIGHT", "3"; -1: none */
VCS_API const char *vcs_input_name(int input);    /* "up" ... "fire", "up2" ... "fire2", "reset", "select" */
VCS_API int vcs_input_by_name(const char *name);  /* in any case; -1: none */

/* Sets the held inputs to those that a text names, with commas or spaces between them ("right,fire"; "": none), and
 * leaves paddles and keypads as they are. On failure `controls` is unchanged. */
VCS_API vcs_status_t vcs_controls_parse(const char *text, vcs_controls_t *controls, vcs_error_t *error);

/* The methods of grad.h, with and without forks: estimates, and the exact differences of runs. */
enum {
  VCS_STUDY_NAIVE,
  VCS_STUDY_STE,
  VCS_STUDY_BIT,
  VCS_STUDY_BIT_FORK,
  VCS_STUDY_EXACT,
  VCS_STUDY_HYBRID,
  VCS_STUDY_METHODS
};
enum { VCS_STUDY_ESTIMATES = VCS_STUDY_EXACT };         /* how many cheap estimates there are; they come first */
enum { VCS_STUDY_WINDOW = 256 };                        /* default of fork windows, in instructions */
VCS_API const char *vcs_study_method_name(int method);  /* "naive", "ste", "bit", "bit+fork", "exact", "hybrid" */
VCS_API int vcs_study_method_by_name(const char *name); /* in any case; -1: none */
/* Fills `options` with the defaults of a method; bit+fork and hybrid get forks of at most `window` instructions. */
VCS_API void vcs_study_method_options(int method, int32_t window, vcs_grad_options_t *options);

/* ---- Setups: a game played up to a frame, and the run that is studied --------------------------------------- */

/* A game is reset, played for `frame` frames, and followed by a run of `horizon` frames in which no control is held.
 * With `replay` the run is instead the last `horizon` of the played frames, with the controls that were held in them.
 * Frames go on after the end of a game, as on a real machine. */
typedef struct {
  const char *actions; /* "NOOP*60,RIGHT*4": the actions, then NOOP. NULL: the action stream of `seed` */
  int64_t seed;        /* of the records' action stream (vcs_stream_t); 0: NOOP only */
  int64_t frame;       /* frames to play; -1: as many as `actions` has */
  int64_t horizon;     /* frames of the run, from 1 on; 0 means 1 */
  uint8_t replay;
  uint64_t reserved[8]; /* 0 */
} vcs_setup_options_t;

typedef struct {
  const vcs_cart_t *cart;
  vcs_env_t *env;           /* after the played frames, or with `replay` before the run */
  vcs_controls_t *controls; /* one for each frame of the run */
  int64_t frame;            /* frames that were played */
  vcs_run_t run;            /* points into the members above */
} vcs_setup_t;

/* Plays. The cartridge must outlive the setup. */
VCS_API vcs_status_t vcs_setup_create(const vcs_cart_t *cart, const vcs_setup_options_t *options, vcs_setup_t *setup,
                                      vcs_error_t *error);
VCS_API void vcs_setup_free(vcs_setup_t *setup);

/* ---- Targets: one number at the end of a run ---------------------------------------------------------------- */

/* Parses an output of a run: "pixel:X,Y", "region:X,Y,WIDTH,HEIGHT", "screen", "ram:9C" (a byte), "ram:9C.3" (a
 * bit) or "score". `env` (may be NULL) is needed for the score. Pixels count as values[256] by palette index; NULL: the
 * index itself. `values` must outlive the target. */
VCS_API vcs_status_t vcs_target_parse(const char *text, const vcs_cart_t *cart, const vcs_env_t *env,
                                      const float *values, vcs_scalar_t *target, vcs_error_t *error);

/* What a run ends with. */
typedef struct {
  uint8_t *frames;        /* both frame buffers */
  const uint8_t *picture; /* the last picture, height x 160 palette indices, in one of them */
  vcs_t *machine;
  int32_t *rewards; /* of each frame; 0 without an environment */
  int64_t score;    /* their sum */
} vcs_ending_t;

/* Runs all frames, with the bit or input `flipped` changed (NULL: none). `env` (may be NULL) has the rules that count
 * rewards, from its present play on. */
VCS_API vcs_status_t vcs_ending_make(const vcs_run_t *run, const vcs_env_t *env, const vcs_place_t *flipped,
                                     vcs_ending_t *ending, vcs_error_t *error);
VCS_API void vcs_ending_free(vcs_ending_t *ending);

/* The value of a target at the end of a run. */
VCS_API double vcs_target_value(const vcs_scalar_t *target, const vcs_ending_t *ending);

/* Adds the derivative of a target to what it is computed from: pixels[height * 160] of the last picture, state[8 *
 * state size] after the last frame, or rewards[frames]. A pointer that the target does not need may be NULL. */
VCS_API void vcs_target_adjoint(const vcs_scalar_t *target, int32_t frames, float *pixels, float *state,
                                float *rewards);

/* The true derivative: the target with the bit set minus the target with the bit clear, by running again. `value` is
 * the target of the unchanged run. NaN: the run has no such bit or input, or out of memory. */
VCS_API double vcs_target_truth(const vcs_scalar_t *target, const vcs_run_t *run, const vcs_env_t *env,
                                const vcs_place_t *place, double value);

/* ---- Places by name ----------------------------------------------------------------------------------------- */

/* Parses one bit: "ram:9C.3" or "9C.3" (an address), "rom:F123.4" (an address, in the bank that is present when the run
 * begins), "rom:@1F0.4" (an offset in the image), "cartram:1F.0", a field of the machine ("a.0", "grp[1].0"), or
 * "input:2.right" (held in frame 2 of the run). vcs_place_parse_input parses an input: "right", or "right@2". */
VCS_API vcs_status_t vcs_place_parse_bit(const char *text, const vcs_run_t *run, vcs_place_t *place,
                                         vcs_error_t *error);
VCS_API vcs_status_t vcs_place_parse_input(const char *text, const vcs_run_t *run, vcs_place_t *place,
                                           vcs_error_t *error);

/* Bits of a run with their names. A label is the byte and the bit with a tab between them: RAM, ROM and cartridge RAM
 * are numbered from 0, registers have the names of vcs_field, inputs their frame and name. Where the list has bits of
 * several groups, the group comes before the byte: "rom:12". */
enum { VCS_PLACE_LABEL_SIZE = 64 };
typedef struct {
  vcs_place_t *places;
  char (*labels)[VCS_PLACE_LABEL_SIZE];
  size_t count;
} vcs_places_t;

/* Groups of bits, by the names that the command line (--wrt) and Python (wrt=) use: `cpu` is A, X, Y, the stack pointer
 * and the flags, `cartram` the RAM of a cartridge, `state` the whole machine. */
#define VCS_WRT_NAMES "ram, rom, input, cpu, pc, tia, riot, cartram, state"
enum {
  VCS_WRT_ROM = 1,
  VCS_WRT_RAM = 2,
  VCS_WRT_INPUT = 4,
  VCS_WRT_CPU = 8,
  VCS_WRT_TIA = 16,
  VCS_WRT_RIOT = 32,
  VCS_WRT_PC = 64,
  VCS_WRT_CARTRAM = 128,
  VCS_WRT_STATE = 256
};
VCS_API int vcs_wrt_parse(const char *text); /* "rom,ram": one or more names with commas; 0: not understood */

/* Lists all bits of groups, with commas between their names. */
VCS_API vcs_status_t vcs_places_of_groups(const vcs_run_t *run, const char *groups, vcs_places_t *places,
                                          vcs_error_t *error);
/* Lists bits as vcs_place_parse_bit writes them, or whole bytes, with commas between them: "ram:9C.3,rom:@1F0". */
VCS_API vcs_status_t vcs_places_of_bits(const vcs_run_t *run, const char *bits, vcs_places_t *places,
                                        vcs_error_t *error);
VCS_API void vcs_places_free(vcs_places_t *places);

/* ---- Symbols and disassembly -------------------------------------------------------------------------------- */

typedef struct {
  char name[40];
  uint16_t address;
} vcs_symbol_t;

/* The symbols of a program; all zero is an empty table. The registers of the chips are known without it. */
typedef struct {
  vcs_symbol_t *symbols;
  size_t count;
} vcs_symbols_t;

/* Adds the symbols of a file that DASM writes (-s): lines of a name and a hexadecimal value. */
VCS_API vcs_status_t vcs_symbols_read(vcs_symbols_t *symbols, const char *path, vcs_error_t *error);
VCS_API void vcs_symbols_free(vcs_symbols_t *symbols);

/* Removes mirrors from an address: TIA 00 to 3F, RAM 80 to FF, RIOT 280 to 297, cartridge F000 to FFFF. The TIA has
 * different registers for reading and for writing. */
VCS_API uint16_t vcs_address_plain(uint16_t address, int writing);

/* The name of an address, registers of the chips first, or NULL; and the address of a name in any case, symbols of the
 * program first, or -1. `symbols` may be NULL. */
VCS_API const char *vcs_symbol_name(const vcs_symbols_t *symbols, uint16_t address, int writing);
VCS_API int32_t vcs_symbol_address(const vcs_symbols_t *symbols, const char *name, size_t length);

/* One disassembled instruction. */
typedef struct {
  uint16_t address;
  uint8_t length, bytes[3];
  char label[40]; /* the symbol of the address; "" if it has none */
  char text[64];
} vcs_disassembly_t;

/* Disassembles `count` instructions from an address on, with names instead of addresses, into rows[count]. */
VCS_API void vcs_disassemble_list(const vcs_cart_t *cart, const vcs_t *m, const vcs_symbols_t *symbols,
                                  uint16_t address, vcs_disassembly_t *rows, int32_t count);

/* ---- Provenance: accesses, slices, uses of ROM bytes --------------------------------------------------------- */

enum { VCS_ACCESSES_MAX = 8 };

/* What one instruction reads and writes. Pointers and the stack are included, instruction fetches are not. */
typedef struct {
  uint16_t address[VCS_ACCESSES_MAX]; /* without mirrors (vcs_address_plain) */
  uint16_t full[VCS_ACCESSES_MAX];    /* as on the bus */
  uint8_t writes[VCS_ACCESSES_MAX];   /* 1: write, 0: read */
  int32_t count;
} vcs_accesses_t;

/* The accesses of the instruction that a machine is about to execute. */
VCS_API vcs_accesses_t vcs_next_accesses(const vcs_cart_t *cart, const vcs_t *m);

/* One executed instruction. */
typedef struct {
  uint16_t pc;
  uint8_t opcode;
  uint8_t a, x, y;   /* before it */
  int32_t clock;     /* colour clocks since the frame began, when it begins */
  int32_t end_clock; /* when it ends, which is when it reads and writes */
  vcs_accesses_t accesses;
  char text[32]; /* disassembly */
  uint8_t slice; /* 1: in the slice */
} vcs_slice_row_t;

/* The instructions of a frame. The dynamic slice of an instruction is itself, the instructions that last wrote what it
 * reads, and so on, back to the beginning of the frame. It follows data (registers, flags, memory, pointers, index
 * registers), not the decisions of branches, and ends at the chips, at the frame's beginning and at cartridge RAM. */
typedef struct {
  vcs_slice_row_t *rows;
  int32_t count;
  uint8_t read[0x10000]; /* 1: an address without mirrors that the slice reads and did not write: its sources */
} vcs_slice_t;

/* Runs one frame from `m`, which is advanced, and records its instructions. */
VCS_API vcs_status_t vcs_slice_record(const vcs_cart_t *cart, vcs_t *m, const vcs_controls_t *controls,
                                      vcs_slice_t *slice, vcs_error_t *error);
/* Extends the slice from the rows marked by the caller to all rows they were computed from. */
VCS_API void vcs_slice_close(vcs_slice_t *slice);
VCS_API void vcs_slice_free(vcs_slice_t *slice);

/* What a run does with a byte of the image. */
typedef enum { VCS_ROM_UNUSED, VCS_ROM_DATA, VCS_ROM_OPERAND, VCS_ROM_OPCODE } vcs_rom_kind_t;
typedef struct {
  uint8_t kind;     /* vcs_rom_kind_t; code takes precedence over data */
  uint8_t read;     /* 1: read as data, whatever else it is */
  uint16_t address; /* of the byte, as the CPU saw it */
  uint16_t pc;      /* of the instruction that it belongs to, or that reads it */
  char text[24];    /* disassembly of that instruction */
} vcs_rom_use_t;

/* Runs and fills uses[image size] with the first use of each byte. */
VCS_API vcs_status_t vcs_rom_uses(const vcs_run_t *run, vcs_rom_use_t *uses, vcs_error_t *error);
VCS_API void vcs_rom_address(const vcs_rom_use_t *use, uint32_t offset, char *text, size_t size); /* "0:F12A" */
VCS_API void vcs_rom_describe(const vcs_rom_use_t *use, char *text, size_t size); /* "read by F3A2 LDA $FE00,X" */

/* ---- Objects ------------------------------------------------------------------------------------------------ */

enum { VCS_OBJECT_COUNT = 6 }; /* player 0, player 1, missile 0, missile 1, ball, playfield */
VCS_API const char *vcs_object_name(int object);
VCS_API int vcs_object_by_name(const char *name); /* "P0", "P1", "M0", "M1", "BL", "PF" in any case; -1: none */

/* Runs the first frame of a run with an object removed before every instruction; writes the machine after it and its
 * frame buffers. */
VCS_API void vcs_frame_without(const vcs_run_t *run, int object, vcs_t *m, uint8_t *frames);

/* A rectangle of the picture; width 0: empty. */
typedef struct {
  int32_t x, y, width, height;
} vcs_box_t;

/* The smallest rectangle that holds the pixels an object draws in the first frame of a run, for each object. */
VCS_API vcs_status_t vcs_object_boxes(const vcs_run_t *run, vcs_box_t boxes[VCS_OBJECT_COUNT], vcs_error_t *error);

/* ---- Agreement of an estimate with the truth ----------------------------------------------------------------- */

/* Sums over a map of effects (pixels or bits of RAM), compared place by place. Starts as all zero. Infinities count as
 * the largest float and NaN as zero; both are counted in `overflown`. */
typedef struct {
  double product, truth_square, estimate_square; /* sums over the map */
  double largest;                                /* largest absolute value of the estimate */
  int64_t in_truth, in_estimate, in_both;        /* places that are not zero */
  int64_t same_sign, overflown;
} vcs_agreement_t;

VCS_API void vcs_agreement_add(vcs_agreement_t *agreement, const float *truth, const float *estimate, size_t count);
VCS_API void vcs_agreement_merge(vcs_agreement_t *into, const vcs_agreement_t *from);

/* The cosine of the two maps, 0 where one of them is zero; the share of values in both that have the same sign; of
 * values in the estimate that are in the truth; of values in the truth that are in the estimate. NaN: nothing to
 * compare. */
VCS_API double vcs_agreement_cosine(const vcs_agreement_t *agreement);
VCS_API double vcs_agreement_sign(const vcs_agreement_t *agreement);
VCS_API double vcs_agreement_precision(const vcs_agreement_t *agreement);
VCS_API double vcs_agreement_recall(const vcs_agreement_t *agreement);

/* Many maps: all of them as one, and the mean of their cosines over maps that are not zero in both. */
typedef struct {
  vcs_agreement_t pooled;
  double cosines;      /* sum */
  int64_t maps, still; /* all; those that are zero in truth and estimate */
} vcs_agreements_t;
VCS_API void vcs_agreements_add(vcs_agreements_t *all, const vcs_agreement_t *map);
VCS_API double vcs_agreements_cosine(const vcs_agreements_t *all);

/* What effects are looked at. */
enum { VCS_VIEW_SCREEN, VCS_VIEW_RAM, VCS_VIEWS };

typedef struct {
  const int32_t *horizons; /* frames of the run after which effects are compared, ascending; NULL: the last */
  int32_t horizon_count;
  const int32_t *methods; /* VCS_STUDY_BIT ...; NULL: all */
  int32_t method_count;
  int64_t window;  /* bit+fork: instructions within which a branch's sides meet; 0: VCS_STUDY_WINDOW */
  int32_t threads; /* 0: one for each core */
  vcs_report_t report;
  double *costs;        /* [method]: receives the mean processor time of a place, in drawn frames; NULL: not measured */
  double budget;        /* hybrid: vcs_grad_options_t.budget */
  int32_t cell[2];      /* vcs_score_vjp: the outputs are sums over cells of a grid, so wide and so high; 0: pixels */
  uint64_t reserved[5]; /* 0 */
} vcs_score_options_t;

/* Compares, for each place (a bit of the state or of ROM, an input) flipped by itself, the effect that each method
 * predicts by a forward pass with the true one, on the screen (by palette index) and on the bits of RAM. Writes
 * results[method][horizon][view], the agreement over all places. */
VCS_API vcs_status_t vcs_score(const vcs_run_t *run, const vcs_score_options_t *options, const vcs_place_t *places,
                               size_t count, vcs_agreements_t *results, vcs_error_t *error);

/* Compares reverse passes with the truth: at each horizon, the derivatives of `pixels` pixels (drawn with `seed` among
 * those that some place changes, by palette index), or of the sums over the cells of a grid that contain them, with
 * respect to all places. Writes results[method][horizon]. Of the options, methods and horizons must be given; `costs`
 * are those of one reverse pass. */
VCS_API vcs_status_t vcs_score_vjp(const vcs_run_t *run, const vcs_score_options_t *options, const vcs_place_t *places,
                                   size_t count, int32_t pixels, uint64_t seed, vcs_agreements_t *results,
                                   vcs_error_t *error);

typedef struct {
  const int32_t *horizons; /* frames after which effects are compared, ascending */
  int32_t horizon_count;
  const int32_t *methods; /* VCS_STUDY_BIT ... */
  int32_t method_count;
  int64_t frame, seed;            /* frames of this action stream are played first; stream 0: NOOP only */
  int64_t states;                 /* in which presses of the stick are tried; 1 to 1000 */
  int64_t bits, rom_bits, pixels; /* of RAM (at most 1024), of ROM that is read (4096), of reverse passes (51200) */
  int64_t window;                 /* of bit+fork; 0: VCS_STUDY_WINDOW */
  int32_t threads;                /* 0: one for each core */
  uint8_t costs;                  /* 1: measures what each method costs, which differs from run to run */
  vcs_report_t report;
  double budget;        /* hybrid: vcs_grad_options_t.budget */
  uint64_t reserved[7]; /* 0 */
} vcs_score_game_options_t;

/* Scores a game: presses of the stick in several states, bits of RAM and of ROM and reverse passes in the first. `rows`
 * receives the rows of `diffvcs score` for this game, for vcs_text_release: tab-separated, one for each method, source,
 * horizon and view. Without `costs` their last column is `-`, and the rows are the same in every call, for any number
 * of threads. */
VCS_API vcs_status_t vcs_score_game(const vcs_cart_t *cart, const char *game, const vcs_score_game_options_t *options,
                                    char **rows, vcs_error_t *error);

/* ---- Attribution: derivatives of one target, or of one cause -------------------------------------------------- */

/* A byte of the machine, the name of its field and the derivatives of its eight bits. */
typedef struct {
  const float *bits;
  uint32_t index; /* offset in the state */
  char name[32];  /* "$9C", "grp[1]" */
} vcs_ranked_t;

/* Lists the bytes of the groups `wrt` (not ROM, not inputs) whose slots are not zero, those of largest derivative
 * first. free() the list with vcs_text_release((char *)*list). */
VCS_API vcs_status_t vcs_rank_state(const vcs_cart_t *cart, const float *slots, int wrt, vcs_ranked_t **list,
                                    size_t *count, vcs_error_t *error);

typedef struct {
  const vcs_env_t *env;           /* needed for the score; NULL: none */
  const vcs_grad_options_t *grad; /* NULL: `exact`, palette indices */
  int32_t wrt;                    /* vcs_attribute: VCS_WRT_ROM | ...; 0: ROM, RAM, cartridge RAM, inputs */
  uint64_t reserved[8];           /* 0 */
} vcs_attribution_options_t;

/* Derivatives of a target. Groups that were not selected are NULL. */
typedef struct {
  double value;               /* of the target */
  vcs_ending_t ending;        /* of the run */
  float *rom, *state, *input; /* slots as in vcs_grad_inputs_t */
  vcs_rom_use_t *uses;        /* of each byte of the image; with rom */
  uint32_t *ranking;          /* offsets of bytes of the image that are not zero, largest derivative first; with rom */
  uint32_t ranked;            /* how many */
  vcs_grad_report_t report;
} vcs_attribution_t;

/* Computes the derivative of a target with respect to every bit of the selected groups. */
VCS_API vcs_status_t vcs_attribute(const vcs_run_t *run, const vcs_scalar_t *target,
                                   const vcs_attribution_options_t *options, vcs_attribution_t *attribution,
                                   vcs_error_t *error);
VCS_API void vcs_attribution_free(vcs_attribution_t *attribution);

/* Derivatives with respect to one place. */
typedef struct {
  vcs_ending_t ending;                     /* of the run */
  float *pixels, *state;                   /* of the last picture [height * 160]; slots of the state after it */
  float *true_pixels;                      /* the exact effect: the picture with the bit set minus with the bit clear */
  vcs_agreement_t pixels_agree, ram_agree; /* with the truth */
  vcs_grad_report_t report;
} vcs_effect_t;

/* Computes the derivative of the last picture and of the last state with respect to a place, by one forward pass, and
 * compares it with the truth. */
VCS_API vcs_status_t vcs_effect(const vcs_run_t *run, const vcs_place_t *place,
                                const vcs_attribution_options_t *options, vcs_effect_t *effect, vcs_error_t *error);
VCS_API void vcs_effect_free(vcs_effect_t *effect);

/* Writes a sentence, without a period, that says why flipping a bit or an input does not change the last picture of a
 * run: the program does not read it, overwrites it first, reads it and goes on as before, or what changes is hidden or
 * shows later. Looks at the first 256 frames. Use it where vcs_truth counts 0 pixels. */
VCS_API vcs_status_t vcs_no_effect(const vcs_run_t *run, const vcs_place_t *place, char *text, size_t size,
                                   vcs_error_t *error);

/* ---- Explain: why an output is what it is --------------------------------------------------------------------- */

/* Causes are found by intervention: change something, run again, compare. The truth of a bit of RAM or ROM or of an
 * input is the target with the bit set minus with the bit clear. A write to the TIA is a cause if the target changes
 * when one bit of its value is flipped or when the write is suppressed. An object draws a pixel if the pixel changes
 * when the object is removed. The instructions are the slice of those writes. Beside each truth stand the derivatives
 * of all estimates. */

/* Parts of an explanation, for callers that want the quick ones first. The objects are always found. */
enum {
  VCS_EXPLAIN_WRITES = 1, /* register writes and their slice */
  VCS_EXPLAIN_RAM = 2,
  VCS_EXPLAIN_ROM = 4,
  VCS_EXPLAIN_INPUTS = 8,
  VCS_EXPLAIN_METHODS = 16, /* the estimates beside the truth of RAM, ROM and inputs */
  VCS_EXPLAIN_ALL = 31
};

typedef struct {
  const char *target;   /* as vcs_target_parse reads it; or NULL, with an object */
  int32_t object;       /* with target NULL: all pixels that this object draws, 0 to VCS_OBJECT_COUNT - 1 */
  int64_t span;         /* bits of RAM and ROM are flipped this many frames before the end; 0 means 1 */
  int64_t window;       /* bit+fork: instructions within which a branch's sides meet; 0: VCS_STUDY_WINDOW */
  const vcs_env_t *env; /* needed for the score */
  vcs_report_t report;
  int32_t parts;        /* VCS_EXPLAIN_WRITES | ...; 0: VCS_EXPLAIN_ALL */
  uint64_t reserved[8]; /* 0 */
} vcs_explain_options_t;

/* A register write that is a cause. */
typedef struct {
  int32_t row; /* of the slice's rows */
  uint16_t address;
  uint8_t value;     /* written */
  uint8_t bits;      /* mask of the bits of the value that matter */
  uint8_t needed;    /* 1: the target changes if the write is suppressed */
  uint8_t has_value; /* 1: the instruction stores a register, so that bits could be flipped */
} vcs_cause_t;

/* A byte, or an input in one frame, with the truth of its bits and the derivatives of the methods. */
typedef struct {
  uint32_t index; /* of RAM, of the image, or VCS_INPUTS * frame + input */
  float truth[8];
  float derivative[VCS_STUDY_ESTIMATES][8];
} vcs_reason_t;

typedef struct {
  vcs_reason_t *reasons; /* those where the truth or a derivative is not zero, in order of their index */
  int32_t count;
  int32_t true_count; /* those where the truth is not zero */
} vcs_reasons_t;

typedef struct {
  vcs_run_t run;  /* the run that was explained; what it points to must outlive the explanation */
  vcs_run_t span; /* its last frames, at whose beginning RAM and ROM are flipped */
  vcs_t *start;   /* machine before the span */
  uint8_t *start_frames;
  vcs_scalar_t target;
  char what[64];                      /* the question: "pixel:80,100", "P0" */
  int32_t object;                     /* -1 for a target */
  uint8_t *mask;                      /* [height * 160]: 1: a pixel of the question */
  uint8_t *frames;                    /* after the run */
  const uint8_t *picture;             /* the last one of them */
  double value;                       /* of the target, pixels as palette indices */
  uint8_t drawn_by[VCS_OBJECT_COUNT]; /* 1: removing the object changes the target */
  vcs_slice_t slice;                  /* of the last frame */
  vcs_cause_t *causes;                /* register writes, in order */
  int32_t cause_count;
  vcs_reasons_t ram, rom, inputs;
  vcs_rom_use_t *uses; /* of each byte of the image, in the span */
} vcs_explanation_t;

/* Explains a target after the last frame of a run. Inputs are tried in every frame of the run. */
VCS_API vcs_status_t vcs_explain(const vcs_run_t *run, const vcs_explain_options_t *options,
                                 vcs_explanation_t *explanation, vcs_error_t *error);
VCS_API void vcs_explanation_free(vcs_explanation_t *explanation);

/* The explanation in two sentences, and as JSON; vcs_text_release frees the text. NULL: out of memory. `name` is the
 * game's, `frame` the number of the run's last frame. */
VCS_API char *vcs_explain_summary(const vcs_explanation_t *explanation);
VCS_API char *vcs_explain_json(const vcs_explanation_t *explanation, const char *name, int64_t frame);

/* Writes a self-contained page and its pictures into a directory: explain.html, explain.json, frame.png, ram.png,
 * rom.png. */
VCS_API vcs_status_t vcs_explain_page(const vcs_explanation_t *explanation, const char *name, int64_t frame,
                                      const char *directory, vcs_error_t *error);

/* ---- The joystick --------------------------------------------------------------------------------------------- */

enum { VCS_JOYSTICK_CONTROLS = 4 }; /* RIGHT, LEFT, UP, DOWN */
enum { VCS_JOYSTICK_TRUTH, VCS_JOYSTICK_FORK, VCS_JOYSTICK_STE, VCS_JOYSTICK_NAIVE, VCS_JOYSTICK_ANSWERS };
VCS_API int vcs_joystick_input(int control);         /* the VCS_INPUT_ of a control */
VCS_API const char *vcs_joystick_answer(int answer); /* "truth", "bit+fork", "ste", "naive" */

typedef struct {
  int64_t press;       /* the frame of the run in which a control is pressed */
  uint8_t held;        /* 1: it stays pressed from then on; 0: for one frame */
  int32_t top, bottom; /* rows [top, bottom) of the inverse question */
  int64_t window;      /* bit+fork: instructions within which a branch's sides meet; 0: VCS_STUDY_WINDOW */
  vcs_report_t report;
  uint64_t reserved[8]; /* 0 */
} vcs_joystick_options_t;

typedef struct {
  size_t pixels; /* height * 160 */
  int32_t frames;
  float *maps; /* [answer][control][frame][pixel]: d(luminance) / d(control) */
  double inverse[VCS_JOYSTICK_ANSWERS][VCS_JOYSTICK_CONTROLS]; /* d(sum of luminance * (column - 80)) / d(control) */
  uint8_t *picture;                                            /* after the last frame, without any press */
} vcs_joystick_t;

/* Computes what each direction of the stick does to every pixel after every frame of a run, by running again and by the
 * methods; and, by reverse passes, which direction moves the light of some rows to the right. */
VCS_API vcs_status_t vcs_joystick(const vcs_run_t *run, const vcs_joystick_options_t *options, vcs_joystick_t *result,
                                  vcs_error_t *error);
VCS_API void vcs_joystick_free(vcs_joystick_t *result);

/* ---- Edit: from a drawing to bytes of ROM ---------------------------------------------------------------------- */

typedef struct {
  int32_t x, y, width, height; /* the region of the picture */
  const uint8_t *drawing;      /* [height * width * 3]: RGB */
  uint8_t exact; /* 1: the drawing's colours are meant; 0: light pixels become the region's brightest colour, dark ones
                    its commonest */
  const char *method; /* "naive", "ste", "bit", "bit+fork", "exact", "hybrid"; NULL: "exact" */
  int64_t window;     /* bit+fork: instructions within which a branch's sides meet; 0: VCS_STUDY_WINDOW */
  int64_t steps;      /* Jacobians or reverse passes at most; 0: 200 */
  vcs_report_t report;
  int64_t budget; /* emulated frames after which no step begins; 0: any number */
  double keep;    /* how many wrong pixels of the region a pixel outside of it counts for, in each frame in which it
                     is not as the original shows it; 0: the rest of the picture may change */
  int64_t pairs;  /* method "exact": where no byte helps, how many values of a byte are tried with all values of others,
                     at most; 0: none */
  int64_t code;   /* 1: operands of immediate instructions may change, too */
  uint64_t reserved[4]; /* 0 */
} vcs_edit_options_t;

typedef struct {
  uint32_t image_size;
  uint8_t *image;                    /* the edited image */
  uint8_t *before, *after;           /* last pictures of the run, height x 160 palette indices */
  int32_t wrong_before, wrong_after; /* pixels of the region that are not as drawn */
  int32_t walks, runs;               /* Jacobians or reverse passes, and re-executions, that were needed */
  vcs_rom_use_t *uses;               /* of each byte of the original image, in the run */
  int64_t frames;  /* emulated: those of the runs, and of an exact Jacobian one run for each bit, which is more than its
                      walk costs */
  int32_t changed; /* pixels outside the region that are not as the original shows them, in all frames of the run; with
                      options.keep */
  int64_t pairs, pairs_left; /* values that were tried with all values of other bytes; and how many were left at the end
                                that put a wrong pixel right: 0: no pair helps; -1: not known, because no pair was tried
                                on the image as it is at the end */
} vcs_edit_t;

/* Flips bits of ROM bytes that the run reads as data until its last picture shows a drawing in a region, or nothing
 * helps any more. The exact Jacobian, or a reverse pass, says which flips help; flips are kept only if re-execution
 * shows fewer wrong pixels. Where no bit helps, exact effects of all values of a byte are looked at, then of pairs. */
VCS_API vcs_status_t vcs_edit(const vcs_run_t *run, const vcs_edit_options_t *options, vcs_edit_t *result,
                              vcs_error_t *error);
VCS_API void vcs_edit_free(vcs_edit_t *result);

/* ---- Steer: from a goal to controls ---------------------------------------------------------------------------- */

/* The searches (docs/steer.md). */
enum {
  VCS_STEER_RANDOM,
  VCS_STEER_BLIND,
  VCS_STEER_GUIDED,
  VCS_STEER_SMOOTH,
  VCS_STEER_EVOLUTION,
  VCS_STEER_EXACT,
  VCS_STEER_CEM,
  VCS_STEER_HORIZON,
  VCS_STEER_MIXED,
  VCS_STEERS
};
VCS_API const char *vcs_steer_name(int search); /* "random", "blind", "guided", "smooth", "evolution", "exact", "cem",
                                                   "horizon", "mixed" */

typedef struct {
  const char *goal;     /* "score" (as high as possible), "ram:9C=60" (this value after the last frame), "object:player
                           0 x=80" (this pixel, by the table of docs/annotations.md), or several such cells with
                           commas between them, at most eight: the sum of distances counts */
  const vcs_env_t *env; /* needed for the score */
  const int32_t *searches; /* VCS_STEER_...; NULL: all */
  int32_t search_count;
  int64_t seeds;   /* beginnings for each search; 0 means 1 */
  int64_t budget;  /* emulated frames for each search and seed; 0: 20000 */
  int64_t window;  /* instructions within which a branch's sides meet; 0: 16 */
  int32_t threads; /* 0: one for each core */
  vcs_report_t report;
  uint64_t reserved[8]; /* 0 */
} vcs_steer_options_t;

typedef struct {
  double value;   /* the score, or the distance to the goal, negated */
  int64_t frames; /* emulated until then */
  uint8_t *held;  /* the best sequence: for each frame of the run, the held controls (VCS_HELD_...) */
} vcs_steer_t;

/* Searches for controls of the left player, in the frames of a run, that reach a goal. Writes results[seed][search];
 * `scored` (may be NULL) is 1 if the goal is the score. */
VCS_API vcs_status_t vcs_steer(const vcs_run_t *run, const vcs_steer_options_t *options, vcs_steer_t *results,
                               int *scored, vcs_error_t *error);
VCS_API void vcs_steer_free(vcs_steer_t *results, size_t count);

/* Held controls as actions: "RIGHT*4,NOOP". vcs_text_release frees the text. NULL: out of memory. */
VCS_API char *vcs_held_actions(const uint8_t *held, int32_t frames);

/* ---- History: a machine's past --------------------------------------------------------------------------------- */

/* A machine is a function of its start and of the controls of each frame. A history keeps the controls of every frame
 * and, every so many frames, a checkpoint. Going back takes the last checkpoint before a frame and runs on from there;
 * the state is the same to the bit, pictures included. When the room for checkpoints is used up, the oldest is dropped,
 * and with it the frames that only it could reach. */
typedef struct vcs_history vcs_history_t;

/* Creates an empty history whose first frame has the number `first`, with a checkpoint every `interval` frames and at
 * most `room` of them (2 to 1,048,576). The cartridge must outlive it. */
VCS_API vcs_status_t vcs_history_create(const vcs_cart_t *cart, int64_t first, int interval, int room,
                                        vcs_history_t **history, vcs_error_t *error);
VCS_API void vcs_history_free(vcs_history_t *history);

/* Adds a frame that is about to run: the machine and its frame buffers before vcs_control, and the controls. */
VCS_API vcs_status_t vcs_history_add(vcs_history_t *history, const vcs_t *m, const uint8_t *frames,
                                     const vcs_controls_t *controls, vcs_error_t *error);

/* Declares that the machine was changed from outside (a switch of the console, say): the next added frame gets a
 * checkpoint. */
VCS_API void vcs_history_changed(vcs_history_t *history);

/* The frames that can be returned to are [first, end). */
VCS_API int64_t vcs_history_first(const vcs_history_t *history);
VCS_API int64_t vcs_history_end(const vcs_history_t *history);

/* Writes the machine and its frame buffers as they were before a frame; and gives the controls of a frame. */
VCS_API void vcs_history_go(const vcs_history_t *history, int64_t frame, vcs_t *m, uint8_t *frames);
VCS_API const vcs_controls_t *vcs_history_controls(const vcs_history_t *history, int64_t frame);

/* Forgets a frame and all later ones. */
VCS_API void vcs_history_cut(vcs_history_t *history, int64_t frame);

/* Makes a setup of the `horizon` frames before a frame, with their controls; fewer where the history is shorter.
 * VCS_NOT_FOUND: there are none. */
VCS_API vcs_status_t vcs_history_setup(const vcs_history_t *history, const vcs_cart_t *cart, int64_t frame,
                                       int32_t horizon, vcs_setup_t *setup, vcs_error_t *error);

/* ---- Debugger: forwards and backwards, to breakpoints ---------------------------------------------------------- */

/* A machine that is run by instruction. Its position is a frame and the number of instructions executed in it; when a
 * frame ends, the next one begins at once. Moving backwards restores a checkpoint of the debugger's history and runs
 * again; the state is the same to the bit. The history reaches back at least 11,980 frames. */
typedef struct vcs_debugger vcs_debugger_t;

typedef struct {
  int64_t frame;
  int32_t instruction;     /* executed in the frame */
  int32_t scanline, clock; /* of the beam: 228 colour clocks make a line */
} vcs_position_t;

/* Starts a debugger at the beginning of the frame numbered `frame`. The machine `start`, its frame buffers `picture` (2
 * x VCS_FRAME_BYTES; NULL: black) and the controls held in the first frames are copied. The cartridge must outlive the
 * debugger. */
VCS_API vcs_status_t vcs_debugger_create(const vcs_cart_t *cart, const vcs_t *start, const uint8_t *picture,
                                         const vcs_controls_t *controls, int64_t frame, vcs_debugger_t **debugger,
                                         vcs_error_t *error);
VCS_API void vcs_debugger_free(vcs_debugger_t *debugger);

/* The present machine and its frame buffers, which later moves change in place; and the position. */
VCS_API const vcs_t *vcs_debugger_machine(const vcs_debugger_t *debugger);
VCS_API const uint8_t *vcs_debugger_frames(const vcs_debugger_t *debugger);
VCS_API void vcs_debugger_position(const vcs_debugger_t *debugger, vcs_position_t *position);

typedef enum {
  VCS_MOVE_STEP,       /* `count` instructions; breakpoints do not stop it */
  VCS_MOVE_LINE,       /* to the next scan line, `count` times, or to a breakpoint */
  VCS_MOVE_FRAME,      /* to the next frame, `count` times, or to a breakpoint */
  VCS_MOVE_BACK_STEP,  /* back by `count` instructions */
  VCS_MOVE_BACK_LINE,  /* back to the beginning of the previous scan line, `count` times */
  VCS_MOVE_BACK_FRAME, /* back to the beginning of this frame, or of the previous one when already there, `count` times
                        */
  VCS_MOVE_REVERSE     /* back to the previous breakpoint; `count` is ignored */
} vcs_move_t;

enum {
  VCS_STOP_ARRIVED,    /* the move was completed */
  VCS_STOP_BREAKPOINT, /* a breakpoint was met */
  VCS_STOP_JAMMED,     /* the processor has executed a halt opcode */
  VCS_STOP_BEGINNING,  /* the history begins here */
  VCS_STOP_CANCELLED   /* the report function returned nonzero */
};

typedef struct {
  int32_t reason;     /* VCS_STOP_... */
  int32_t breakpoint; /* the number of the breakpoint that was met, from 1 on; 0: none */
} vcs_stop_t;

/* Moves, and fills `stop` with the reason why the move ended. */
VCS_API vcs_status_t vcs_debugger_move(vcs_debugger_t *debugger, vcs_move_t how, int64_t count, vcs_stop_t *stop,
                                       vcs_error_t *error);

/* Sets the controls held in new frames, from the next frame on. Frames after the present one are forgotten. Returns the
 * number of the first frame in which they are held. */
VCS_API int64_t vcs_debugger_hold(vcs_debugger_t *debugger, const vcs_controls_t *controls);
VCS_API const vcs_controls_t *vcs_debugger_controls(const vcs_debugger_t *debugger);

/* Adds a breakpoint, which stops before an instruction:
 *
 *   pc F123        before the instruction there           read ADDRESS    before an instruction that reads there,
 *   cycle N        at the CPU cycle of the frame          write ADDRESS   writes there,
 *   scanline N     when the line begins                   access ADDRESS  or does either
 *   pixel X,Y      when the beam comes to that pixel      if CONDITION    when it is true; also after any other kind
 *
 * ADDRESS, N and CONDITION are expressions. Breakpoints are numbered from 1 on; deleting one renumbers those after it.
 */
VCS_API vcs_status_t vcs_debugger_break(vcs_debugger_t *debugger, const char *text, vcs_error_t *error);
VCS_API const char *vcs_debugger_breakpoint(const vcs_debugger_t *debugger, int32_t number); /* its text; NULL: none */
VCS_API vcs_status_t vcs_debugger_delete(vcs_debugger_t *debugger, int32_t number, vcs_error_t *error);

/* The value of an expression on the present machine:
 *
 *   numbers    12  $1F  %1010        names   a x y sp p pc  cycle scanline clock frame  and addresses: COUNTER, WSYNC
 *   memory     [address]: the byte as the CPU would read it, without side effects
 *   operators  ! ~ - (unary), * / %, + -, << >>, < <= > >=, == !=, &, ^, |, &&, ||, with the precedences of C; ( )
 */
VCS_API vcs_status_t vcs_debugger_value(const vcs_debugger_t *debugger, const char *text, int64_t *value,
                                        vcs_error_t *error);

/* Adds the symbols of a file (vcs_symbols_read) for expressions and disassembly; `count` (may be NULL) receives how
 * many there are. */
VCS_API vcs_status_t vcs_debugger_read_symbols(vcs_debugger_t *debugger, const char *path, int32_t *count,
                                               vcs_error_t *error);
VCS_API void vcs_debugger_disassemble(const vcs_debugger_t *debugger, uint16_t address, vcs_disassembly_t *rows,
                                      int32_t count);

/* Sets a function that is called before every instruction of moves forwards; NULL for none. */
typedef void (*vcs_debugger_watch_t)(void *context, const vcs_debugger_t *debugger);
VCS_API void vcs_debugger_watch(vcs_debugger_t *debugger, vcs_debugger_watch_t watch, void *context);

/* Sets the report function of long moves, which can stop them; NULL for none. */
VCS_API void vcs_debugger_report(vcs_debugger_t *debugger, const vcs_report_t *report);

/* ---- Traces ----------------------------------------------------------------------------------------------------- */

/* One executed instruction of a trace. */
typedef struct {
  int64_t frame;
  int64_t number;                    /* of the instruction, from the beginning of the run on: 1 is the first */
  vcs_step_t step;                   /* registers and cycles after it; program counter and opcode */
  uint32_t state_chain, cycle_chain; /* checksums over all instructions so far, as in a CPU record */
  char text[32];                     /* disassembly */
} vcs_trace_row_t;

typedef struct {
  int64_t from, to; /* frames, both included; 0: from the first, and to `from` (with `limit`: without end) */
  int64_t limit;    /* rows at most; 0: no limit */
  uint8_t play;     /* 0: the run of a CPU record, in which frame 1 is the first frame after a reset: 60 frames without
                       input, 4 of RESET, starting actions, then action k / 7 % 18 in step k. 1: the run of the play
                       record of `seed`, in which frame 1 is the first frame of the action stream */
  uint64_t seed;
  int (*row)(void *context, const vcs_trace_row_t *row); /* called with each row; returns 0 to go on */
  void *context;
  vcs_report_t report;  /* called after each frame */
  uint64_t reserved[8]; /* 0 */
} vcs_trace_options_t;

/* Runs a fresh environment and calls `row` with each instruction of the chosen frames. VCS_CANCELLED: `row` or the
 * report function returned nonzero. VCS_BAD_IMAGE: the processor executed a halt opcode, which the message names. */
VCS_API vcs_status_t vcs_trace(const vcs_cart_t *cart, const vcs_trace_options_t *options, vcs_error_t *error);

/* ---- Records and verification ---------------------------------------------------------------------------------- */

/* A play record has a row for the state after the first reset and for some frames of an action stream: checksums of RAM
 * and screen, reward, lives, end of game, and chains, checksums continued over every frame so far. A CPU record has a
 * row for some instructions: registers, cycles and chains. Both are tab-separated text. */
typedef struct {
  uint8_t cpu;          /* 1: a CPU record */
  uint64_t seed;        /* of the action stream */
  int64_t frames;       /* of a play record; 0: 6000; negative: none, only the boot */
  int64_t dense;        /* a row for every frame up to this one ... */
  int64_t stride;       /* ... then for every frame that this divides, and the last; 0: 100 */
  int64_t instructions; /* of a CPU record; 0: 1000000 */
  vcs_report_t report;
  uint64_t reserved[8]; /* 0 */
} vcs_record_options_t;

/* Runs a fresh environment and returns its record, which vcs_text_release frees. A cancelled record is shorter and
 * valid: VCS_CANCELLED, and *text is set. */
VCS_API vcs_status_t vcs_record(const vcs_cart_t *cart, const vcs_record_options_t *options, char **text,
                                vcs_error_t *error);

typedef struct {
  int64_t checked;           /* frames or instructions that were compared */
  int64_t differs_at;        /* the first row that differs, 0 being the boot; -1: none */
  int64_t last_equal;        /* the row before it */
  int32_t ram, screen, play; /* 1: differs there; play records */
  int32_t state, cycles;     /* 1: differs there; CPU records */
  int32_t cpu;               /* 1: it is a CPU record */
} vcs_record_check_t;

/* Runs what the text of a record describes and compares; `seed` is the stream of a play record. VCS_BAD_FILE: the text
 * is not a record. */
VCS_API vcs_status_t vcs_verify(const vcs_cart_t *cart, const char *text, uint64_t seed, const vcs_report_t *report,
                                vcs_record_check_t *check, vcs_error_t *error);

/* Verifies the record in a file, plain or gzipped. Its name says what to run: GAME.SEED.tsv is a play record, GAME.tsv
 * a CPU record; the game is opened by vcs_rom_open. A record names its profile in its heading; options->profile is that
 * of records that name none. VCS_NOT_FOUND: there is no such ROM image. */
VCS_API vcs_status_t vcs_verify_file(const char *path, const vcs_rom_options_t *options, const vcs_report_t *report,
                                     vcs_record_check_t *check, vcs_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
