/* diffvcs: an Atari 2600 that is exact, fast and differentiable.
 *
 * This header is the whole C API and its documentation. Three things have a name:
 *
 *   vcs_cart_t   a cartridge in a console: ROM image, bank scheme, television format, controllers. Const once loaded.
 *   vcs_t        a machine: plain data without pointers. Copy it to save it; vcs_state_size says how long it is.
 *   vcs_env_t    a game: machine, picture, rewards, lives, endings, as ALE has them.
 *
 * Conventions: calls that can fail return a vcs_status_t and fill the vcs_error_t they are given (which may be NULL);
 * nothing exits the process, nothing keeps hidden state, stepping a loaded machine cannot fail. Callers own buffers.
 *
 * Threads: a cartridge may be shared by any of them. Everything else (a machine, an environment, a batch, a relaxed
 * machine, a workspace) is used by one thread at a time; different ones by different threads at the same time.
 *
 * Forks: after fork() the child may use and free what it finds. A batch whose threads stayed in the parent refuses
 * every call but vcs_batch_free, which frees its memory.
 *
 * Option structs keep their size from version to version. Each ends with `reserved`, which a defaults function and an
 * initializer such as {.name = "pong"} set to 0. A later version turns reserved words into fields whose value 0 means
 * what the earlier version does, so programs keep working with a newer library without being compiled again; and a
 * call refuses reserved words that are not 0 (VCS_BAD_ARGUMENT), so that an older library never ignores an option of a
 * newer header. docs/abi.md has the rules for all structs.
 */
#ifndef DIFFVCS_H
#define DIFFVCS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define VCS_API
#else
#define VCS_API __attribute__((visibility("default")))
#endif

/* ---- Version ------------------------------------------------------------------------------------------------ */

/* The version stands here once: CMake, the Python package and `diffvcs --version` take it from these three lines. */
#define VCS_VERSION_MAJOR 0
#define VCS_VERSION_MINOR 1
#define VCS_VERSION_PATCH 0

/* The same as one number, for #if (0.1.0 is 100, 1.2.3 is 10203), and as text ("0.1.0"). */
#define VCS_VERSION_NUMBER (VCS_VERSION_MAJOR * 10000 + VCS_VERSION_MINOR * 100 + VCS_VERSION_PATCH)
#define VCS_VERSION VCS_VERSION_TEXT(VCS_VERSION_MAJOR, VCS_VERSION_MINOR, VCS_VERSION_PATCH)
#define VCS_VERSION_TEXT(major, minor, patch) VCS_VERSION_JOIN(major, minor, patch)
#define VCS_VERSION_JOIN(major, minor, patch) #major "." #minor "." #patch

/* The version of the library that is running, as text. It differs from VCS_VERSION, the version of the header that the
 * caller was compiled with, when a shared library was replaced. */
VCS_API const char *vcs_version(void);

typedef struct vcs vcs_t;
typedef struct vcs_cart vcs_cart_t;
typedef struct vcs_env vcs_env_t;

/* ---- Status ------------------------------------------------------------------------------------------------- */

typedef enum {
  VCS_OK = 0,
  VCS_BAD_ARGUMENT,  /* a value outside its range, a NULL where none may be */
  VCS_BAD_IMAGE,     /* a ROM image that no scheme can hold */
  VCS_BAD_FILE,      /* unreadable, truncated or corrupt */
  VCS_NOT_FOUND,     /* no such file, game, scheme, setting or device */
  VCS_NO_MEMORY,     /* of the host or of a device */
  VCS_DEVICE_FAILED, /* an error that the device reports, in its own words */
  VCS_CANCELLED      /* stopped by Ctrl-C, or by the caller's progress function (study.h), before the end */
} vcs_status_t;

typedef struct {
  char message[256]; /* what was wrong and what to do; empty after VCS_OK */
} vcs_error_t;

VCS_API const char *vcs_status_name(vcs_status_t status);

/* ---- Cartridge and console ---------------------------------------------------------------------------------- */

/* Bank schemes. VCS_SCHEME_AUTO detects from the content of the image. */
typedef enum {
  VCS_SCHEME_AUTO = 0,
  VCS_SCHEME_2K,
  VCS_SCHEME_4K,
  VCS_SCHEME_F8,
  VCS_SCHEME_F6,
  VCS_SCHEME_F4,
  VCS_SCHEME_F8SC,
  VCS_SCHEME_F6SC,
  VCS_SCHEME_F4SC,
  VCS_SCHEME_E0,
  VCS_SCHEME_FE,
  VCS_SCHEME_DPC,
  VCS_SCHEME_3F,
  VCS_SCHEME_3E,
  VCS_SCHEME_E7,
  VCS_SCHEME_FA,
  VCS_SCHEME_UA,
  VCS_SCHEME_CV,
  VCS_SCHEME_0840,
  VCS_SCHEME_SB,
  VCS_SCHEME_COUNT
} vcs_scheme_t;

typedef enum { VCS_FORMAT_AUTO = 0, VCS_FORMAT_NTSC, VCS_FORMAT_PAL, VCS_FORMAT_PAL60, VCS_FORMAT_SECAM } vcs_format_t;

typedef enum {
  VCS_CONTROLLER_JOYSTICK = 0,
  VCS_CONTROLLER_PADDLES,
  VCS_CONTROLLER_DRIVING,
  VCS_CONTROLLER_KEYBOARD,
  VCS_CONTROLLER_BOOSTER
} vcs_controller_t;

/* Boot protocol and per-game settings: like google-deepmind/xitari, like ale-py, or like ale-py with the known wrongs
 * of its rewards and endings set right (docs/games.md lists each of them with its proof). */
typedef enum { VCS_PROFILE_XITARI = 0, VCS_PROFILE_ALE, VCS_PROFILE_FIXED, VCS_PROFILE_COUNT } vcs_profile_t;

/* What the players' hands and the console's owner hold down: bits of `held` by player, paddle resistances (two by
 * player), keypad keys (bit 3 * row + column), and the console's RESET and SELECT. On a port with paddles LEFT
 * holds the player's first one a step (VCS_PADDLE_STEP) above its resistance and RIGHT a step below it; DOWN and UP do
 * that with the second. */
enum {
  VCS_HELD_UP = 1,
  VCS_HELD_DOWN = 2,
  VCS_HELD_LEFT = 4,
  VCS_HELD_RIGHT = 8,
  VCS_HELD_FIRE = 16,
  VCS_HELD_FIRE_2 = 32, /* the second paddle's button, or the booster */
  VCS_HELD_TRIGGER = 64,
  VCS_CONSOLE_RESET = 1,
  VCS_CONSOLE_SELECT = 2
};

typedef struct {
  uint8_t held[2];
  int32_t paddle[4];
  uint16_t keys[2];
  uint8_t console;
} vcs_controls_t;

/* A frame is rows of 160 palette indices; a frame buffer has room for 320 rows. A machine draws into two of them in
 * turn, one behind the other in memory. */
enum { VCS_WIDTH = 160, VCS_FRAME_BYTES = 160 * 320 };

/* A frame that has not ended after this many instructions is given up and goes on in the next call. */
enum { VCS_FRAME_INSTRUCTIONS = 25000 };

/* Paddle resistances: fully turned to low, nothing connected, and how far an action of an environment turns in a frame.
 */
enum { VCS_RESISTANCE_MIN = 0, VCS_RESISTANCE_MAX = 0x7FFFFFFF, VCS_PADDLE_STEP = 23000 };

typedef struct {
  vcs_profile_t profile;
  vcs_scheme_t scheme;  /* VCS_SCHEME_AUTO: as the games table says, or detected */
  vcs_format_t format;  /* VCS_FORMAT_AUTO: as the games table says, or probed */
  const char *name;     /* the game's name or the image's file name; may be NULL */
  uint64_t reserved[8]; /* 0 */
} vcs_cart_options_t;

/* What is known about a loaded cartridge. Strings live as long as it does. */
typedef struct {
  vcs_profile_t profile;
  vcs_scheme_t scheme;
  vcs_format_t format;
  vcs_controller_t left, right;
  uint32_t image_size, ram_size;
  int32_t top_line, height; /* first scan line and number of rows of the picture */
  const char *scheme_name;
  const char *game; /* its name in the games table, or NULL */
  char md5[33], sha256[65];
} vcs_cart_info_t;

/* Loads an image (it is copied). On failure *cart is NULL. */
VCS_API vcs_status_t vcs_cart_load(const void *image, size_t size, const vcs_cart_options_t *options, vcs_cart_t **cart,
                                   vcs_error_t *error);
VCS_API void vcs_cart_free(vcs_cart_t *cart);
VCS_API const vcs_cart_info_t *vcs_cart_info(const vcs_cart_t *cart);

VCS_API const char *vcs_profile_name(vcs_profile_t profile);
VCS_API vcs_status_t vcs_profile_by_name(const char *name, vcs_profile_t *profile, vcs_error_t *error);
VCS_API const char *vcs_format_name(vcs_format_t format);
VCS_API const char *vcs_controller_name(vcs_controller_t controller);

/* Our own open cartridge (demo/), embedded in the library. */
VCS_API const uint8_t *vcs_demo_image(size_t *size);

/* ---- Machine ------------------------------------------------------------------------------------------------ */

/* Bytes of a machine with this cartridge. A vcs_t may be copied with memcpy(dst, src, vcs_state_size(cart)). */
VCS_API size_t vcs_state_size(const vcs_cart_t *cart);

/* Power-on and first reset, with nothing held. Where the television format is probed, returns 1 if it looks like PAL.
 */
VCS_API int vcs_boot(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

/* The console's reset line: RAM survives. */
VCS_API void vcs_reset(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

/* Puts hands on the controllers; they stay until the next call. */
VCS_API void vcs_control(const vcs_cart_t *cart, vcs_t *m, const vcs_controls_t *controls);

/* One frame. `frames` is 2 * VCS_FRAME_BYTES bytes, the same ones at every call, or NULL when nobody looks. */
VCS_API void vcs_frame(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

/* The picture of the last frame inside `frames`. */
VCS_API const uint8_t *vcs_picture(const vcs_t *m, const uint8_t *frames);

/* One instruction: what was executed, and the registers after it. */
typedef struct {
  uint16_t pc_before, pc;
  uint8_t opcode, a, x, y, sp, p;
  uint8_t frame_over, jammed;
  uint32_t cycles; /* taken, the wait of WSYNC included */
} vcs_step_t;
VCS_API void vcs_step(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_step_t *step);

/* Frames by instruction: vcs_frame is vcs_frame_begin, vcs_step until frame_over or jammed or VCS_FRAME_INSTRUCTIONS
 * are done, vcs_frame_end. */
VCS_API void vcs_frame_begin(const vcs_cart_t *cart, vcs_t *m);
VCS_API void vcs_frame_end(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

/* A byte as the CPU would read it, without side effects. */
VCS_API uint8_t vcs_peek(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr);

VCS_API uint8_t *vcs_ram(vcs_t *m); /* 128 bytes, $80 to $FF */

/* A 64-bit digest of the whole machine state. */
VCS_API uint64_t vcs_hash(const vcs_cart_t *cart, const vcs_t *m);

/* The fields of vcs_t, for debuggers and bindings: index 0, 1, ... until NULL. */
typedef struct {
  const char *name, *type, *meaning;
  size_t offset, size, count;
} vcs_field_t;
VCS_API const vcs_field_t *vcs_field(int index);

/* Sound: 8-bit unsigned mono, 128 is silence. vcs_sound makes the next `count` samples of the two channels under the
 * registers as they are now, so it is called once a frame; the waveforms are part of the machine and only this call
 * moves them. The TIA makes two samples a scan line: vcs_sound_length says how many the last frame lasted (at most
 * VCS_SOUND_LENGTH_MAX), vcs_sound_rate how many make a second. */
enum { VCS_SOUND_LENGTH_MAX = 1024 };
VCS_API void vcs_sound(vcs_t *m, uint8_t *samples, int count);
VCS_API int vcs_sound_length(const vcs_t *m);
VCS_API int vcs_sound_rate(vcs_format_t format);

/* One line of disassembly at pc into text; returns the instruction's length. */
VCS_API int vcs_disassemble(const vcs_cart_t *cart, const vcs_t *m, uint16_t pc, char *text, size_t text_size);

/* ---- Environment -------------------------------------------------------------------------------------------- */

/* ALE's 18 actions; the second player has the same. */
typedef enum {
  VCS_NOOP,
  VCS_FIRE,
  VCS_UP,
  VCS_RIGHT,
  VCS_LEFT,
  VCS_DOWN,
  VCS_UPRIGHT,
  VCS_UPLEFT,
  VCS_DOWNRIGHT,
  VCS_DOWNLEFT,
  VCS_UPFIRE,
  VCS_RIGHTFIRE,
  VCS_LEFTFIRE,
  VCS_DOWNFIRE,
  VCS_UPRIGHTFIRE,
  VCS_UPLEFTFIRE,
  VCS_DOWNRIGHTFIRE,
  VCS_DOWNLEFTFIRE,
  VCS_ACTIONS
} vcs_action_t;

VCS_API const char *vcs_action_name(int action);

/* How a game is played. Plain data; vcs_env_defaults fills it. */
enum {
  VCS_LIFE_LOSS_IGNORED,   /* only the game's own ending counts */
  VCS_LIFE_LOSS_TRUNCATES, /* ale-py's truncate_on_loss_of_life: truncated while lives are fewer than at the start */
  VCS_LIFE_LOSS_ENDS       /* the episodic life of AtariVectorEnv and of the usual wrappers: a step in which a life was
                              lost and others are left ends there, and vcs_env_done says so. Acting on goes on with the
                              same game, vcs_env_reset starts a new one. */
};
enum {
  VCS_FIRE_RESET_NEVER,
  VCS_FIRE_RESET_MINIMAL, /* an episode begins with a frame of FIRE if that is one of the minimal actions */
  VCS_FIRE_RESET_LEGAL    /* ... if it is a legal action */
};

typedef struct {
  int32_t frame_skip;              /* frames a step, from 1 on; rewards are added up */
  float repeat_action_probability; /* sticky actions: a player goes on with the action of the frame before; 0 to 1 */
  uint32_t seed;                   /* of the generators, when the environment is created */
  int32_t max_episode_frames;      /* an episode is truncated then; 0: never */
  int32_t noop_max;                /* an episode begins with 0 to noop_max - 1 frames of nothing, at most 1000 */
  int32_t reward_min, reward_max;  /* a step's reward is clamped to these */
  int32_t mode, difficulty;        /* the game's variation and its switches (bit 0: left on A, bit 1: right on A) */
  uint8_t life_loss;               /* VCS_LIFE_LOSS_... */
  uint8_t fire_reset;              /* VCS_FIRE_RESET_... */
  uint8_t colour_averaging;        /* pictures are the average of the last two frames, in ale-py's way */
  uint64_t reserved[8];            /* 0 */
} vcs_env_options_t;

/* What ale-py has unless told otherwise: frame_skip 1, repeat_action_probability 0.25, no limits, the game's default
 * mode; in profile `xitari` the same without sticky actions. The seed is 0 (ale-py takes the time). */
VCS_API void vcs_env_defaults(const vcs_cart_t *cart, vcs_env_options_t *options);

/* A game on a machine. The cartridge must outlive it. Creating does what ale-py does when it loads a ROM: it boots the
 * machine, seeds the generators and starts one episode in the default mode and difficulty without no-ops and FIRE (the
 * cartridge keeps the result, so that only its first environment has to run it; any thread may create one).
 * vcs_env_reset then starts one that follows the options. vcs_env_create has no sticky actions and is otherwise
 * vcs_env_create_with the defaults. */
VCS_API vcs_status_t vcs_env_create(const vcs_cart_t *cart, vcs_env_t **env, vcs_error_t *error);
VCS_API vcs_status_t vcs_env_create_with(const vcs_cart_t *cart, const vcs_env_options_t *options, vcs_env_t **env,
                                         vcs_error_t *error);
VCS_API void vcs_env_free(vcs_env_t *env);

/* Everything that creating does once more, with this seed; the frame number starts again. */
VCS_API void vcs_env_reload(vcs_env_t *env, uint32_t seed);

/* Changes the options. The mode counts from the next reset on, the seed (which vcs_env_reload sets too) from the next
 * reload, the others from the next step. Refuses, changing nothing, what is out of range or what the game has not. */
VCS_API vcs_status_t vcs_env_configure(vcs_env_t *env, const vcs_env_options_t *options, vcs_error_t *error);
VCS_API const vcs_env_options_t *vcs_env_options(const vcs_env_t *env);

/* Starts an episode: reset, frames of nothing, the RESET switch, the game's mode, its starting actions; then FIRE and
 * no-ops if the options ask for them. */
VCS_API void vcs_env_reset(vcs_env_t *env);

/* One step: frame_skip frames. Actions a game does not allow do nothing. Returns the reward. Once the game is over or
 * truncated there are no further frames and no rewards. */
VCS_API int32_t vcs_env_act(vcs_env_t *env, int player_a, int player_b);

/* The same with continuous paddles: LEFT and RIGHT turn by this part of a full step (1 in vcs_env_act). */
VCS_API int32_t vcs_env_act_strength(vcs_env_t *env, int player_a, int player_b, float strength_a, float strength_b);

/* One frame of just these actions, whether or not the game is over: no options, no generator. */
VCS_API int32_t vcs_env_act_on(vcs_env_t *env, int player_a, int player_b);

/* Whether frames are drawn. Not drawing is faster; vcs_env_screen then shows an older picture. Default 1. */
VCS_API void vcs_env_set_drawing(vcs_env_t *env, int drawing);

/* Whether steps make sound, default 0. A step, however many frames it has, then makes VCS_SOUND_SAMPLES samples, those
 * that ale-py's getAudio gives if sound was turned on right after creation; before the first they are 0. */
enum { VCS_SOUND_SAMPLES = 512 };
VCS_API void vcs_env_set_sound(vcs_env_t *env, int sound);
VCS_API const uint8_t *vcs_env_sound(const vcs_env_t *env);

VCS_API int32_t vcs_env_reward(const vcs_env_t *env); /* of the last step */
VCS_API int32_t vcs_env_lives(const vcs_env_t *env);
VCS_API int vcs_env_over(const vcs_env_t *env);      /* the game has ended */
VCS_API int vcs_env_truncated(const vcs_env_t *env); /* the options ended it */
VCS_API int vcs_env_life_lost(const vcs_env_t *env); /* in the last step, and others are left */
VCS_API int vcs_env_done(const vcs_env_t *env);      /* over, truncated, or VCS_LIFE_LOSS_ENDS and a life was lost */

/* Frames since the environment was loaded, and since the last reset. As ale-py counts them: the selection of a mode
 * counts, the other frames of a reset do not. */
VCS_API uint64_t vcs_env_frame_number(const vcs_env_t *env);
VCS_API uint64_t vcs_env_episode_frame_number(const vcs_env_t *env);

/* The picture, height x 160. vcs_env_screen is the last frame as the machine drew it, in palette indices; the others
 * fill a caller's buffer (1, 3 and 1 bytes a pixel), averaged if the options say so, with ale-py's colours. */
VCS_API int vcs_env_height(const vcs_env_t *env);
VCS_API const uint8_t *vcs_env_screen(const vcs_env_t *env);
VCS_API void vcs_env_screen_indices(const vcs_env_t *env, uint8_t *indices);
VCS_API void vcs_env_screen_rgb(const vcs_env_t *env, uint8_t *rgb);
VCS_API void vcs_env_screen_gray(const vcs_env_t *env, uint8_t *gray);

VCS_API const uint8_t *vcs_env_ram(const vcs_env_t *env);                                           /* 128 bytes */
VCS_API vcs_status_t vcs_env_set_ram(vcs_env_t *env, int index, uint8_t value, vcs_error_t *error); /* index 0 to 127 */

/* What the game offers, ascending; each returns how many. Unknown cartridges have all actions, mode 0 and difficulties
 * 0 to 3. Profile `xitari` selects no modes and leaves the switches alone: 0 and 0. */
enum { VCS_MODES_MAX = 160, VCS_DIFFICULTIES_MAX = 4 };
VCS_API int vcs_env_minimal_actions(const vcs_env_t *env, int32_t actions[VCS_ACTIONS]);
VCS_API int vcs_env_legal_actions(const vcs_env_t *env, int32_t actions[VCS_ACTIONS]);
VCS_API int vcs_env_modes(const vcs_env_t *env, int32_t modes[VCS_MODES_MAX]);
VCS_API int vcs_env_difficulties(const vcs_env_t *env, int32_t difficulties[VCS_DIFFICULTIES_MAX]);
VCS_API int vcs_env_two_players(const vcs_env_t *env); /* a game for two, which has no rewards and does not end */

VCS_API vcs_t *vcs_env_machine(vcs_env_t *env);
VCS_API const vcs_cart_t *vcs_env_cart(const vcs_env_t *env);

/* A state is everything that changes while a game is played: machine, frames, play, generators, last actions,
 * paddles, numbers, mode and difficulty. It is plain data of vcs_env_state_size bytes, the same for all environments
 * with this cartridge, on this kind of machine, in this version; files are for everything else. Restoring it, into this
 * or another environment with the same cartridge and profile, makes every later frame the same; ale-py also keeps the
 * old picture and the action that a sticky one repeats. The other options are not part of a state. VCS_BAD_ARGUMENT:
 * another cartridge or profile, values no machine can have, or no state at all; nothing has changed then. */
VCS_API size_t vcs_env_state_size(const vcs_env_t *env);
VCS_API void vcs_env_state_copy(const vcs_env_t *env, void *state);
VCS_API vcs_status_t vcs_env_state_restore(vcs_env_t *env, const void *state, size_t size, vcs_error_t *error);

/* The same without the generators of sticky actions and no-ops. vcs_env_state_copy_play writes zeros for them, so that
 * states can be compared without them; vcs_env_state_restore_play lets them go on as they are (ale-py's restoreState of
 * a state that was cloned without them). */
VCS_API void vcs_env_state_copy_play(const vcs_env_t *env, void *state);
VCS_API vcs_status_t vcs_env_state_restore_play(vcs_env_t *env, const void *state, size_t size, vcs_error_t *error);

/* Save files: a state with names and checksums (src/host/save.h describes the format), written atomically, read on any
 * machine and by later versions. What cannot be read is refused with VCS_BAD_FILE (corrupt, or from a later version) or
 * VCS_BAD_ARGUMENT (another cartridge or profile); the environment is then as it was. */
VCS_API vcs_status_t vcs_env_save(const vcs_env_t *env, const char *path, vcs_error_t *error);
VCS_API vcs_status_t vcs_env_load(vcs_env_t *env, const char *path, vcs_error_t *error);

/* The same in memory: at most vcs_env_save_bound bytes; `size` is how many there are. */
VCS_API size_t vcs_env_save_bound(const vcs_env_t *env);
VCS_API vcs_status_t vcs_env_save_to(const vcs_env_t *env, void *file, size_t *size, vcs_error_t *error);
VCS_API vcs_status_t vcs_env_load_from(vcs_env_t *env, const void *file, size_t size, vcs_error_t *error);

/* What a save file belongs to. */
typedef struct {
  uint32_t version;
  vcs_profile_t profile;
  char sha256[65]; /* of the cartridge's image */
  uint64_t frame_number;
} vcs_save_info_t;
VCS_API vcs_status_t vcs_save_info(const void *file, size_t size, vcs_save_info_t *info, vcs_error_t *error);

/* Called after every instruction of every frame, the boot of a reset included; NULL turns it off. */
typedef void (*vcs_watch_t)(void *context, const vcs_t *m, const vcs_step_t *step);
VCS_API void vcs_env_watch(vcs_env_t *env, vcs_watch_t watch, void *context);

/* The action stream of the records: seed 0 is always NOOP, any other a splitmix64 stream of held actions. */
typedef struct {
  uint64_t state, seed;
  int32_t hold, action;
} vcs_stream_t;
VCS_API void vcs_stream_start(vcs_stream_t *stream, uint64_t seed);
VCS_API int vcs_stream_next(vcs_stream_t *stream);

/* ---- Devices ------------------------------------------------------------------------------------------------ */

/* Where work is done and where its memory is, wherever something has a `device`. Options that are all zero mean the
 * CPU. The CPU in a GPU's place does what a GPU does, result for result: for tests, and for writing programs where
 * there is no GPU (docs/cuda.md).
 *
 * What a GPU needs is a library of its own, libdiffvcs_cuda, found when it is first asked for: beside this library, on
 * the loader's path, or where the variable DIFFVCS_CUDA says. Without it, or without a GPU, what has a GPU for its
 * device fails with VCS_NOT_FOUND and says what is missing. Calls leave their GPU as the thread's current one. */
enum {
  VCS_CPU_AS_GPU = -1,
  VCS_CPU = 0,
  VCS_GPU = 1 /* plus the number of the GPU: VCS_GPU is the first */
};

/* Whether a device can be used. NULL: it can; otherwise a sentence that says what is missing. */
VCS_API const char *vcs_device_missing(int32_t device);

/* Device memory by this library, for programs without CUDA of their own: allocated, freed (NULL is nothing), and copied
 * to and from. Any other of the device's memory is as good: cudaMalloc's, or a tensor's; on the CPU any. */
VCS_API vcs_status_t vcs_device_allocate(int32_t device, size_t size, void **memory, vcs_error_t *error);
VCS_API void vcs_device_free(int32_t device, void *memory);
VCS_API vcs_status_t vcs_device_move(int32_t device, void *to, const void *from, size_t size, vcs_error_t *error);

/* A caller's buffer as a DLPack tensor (a DLManagedTensor *), which NumPy, PyTorch, JAX and CuPy take over without a
 * copy: `shape` of `dimensions` entries, elements of `bits` bits and of one of DLPack's kinds (0 signed, 1 unsigned, 2
 * float, 6 bool). The buffer must outlive the tensor, whose deleter frees the description alone. NULL: out of memory,
 * or more than 8 dimensions. */
VCS_API void *vcs_device_dlpack(int32_t device, void *memory, int32_t dimensions, const int64_t *shape, int32_t kind,
                                int32_t bits);

/* ---- Batch -------------------------------------------------------------------------------------------------- */

/* Many environments at once, with the usual preprocessing of Atari learning. On the CPU a pool of threads steps them,
 * and what ale-py's AtariVectorEnv does is done result for result (docs/batch.md). On a GPU the same calls keep
 * everything there, for learners that live there:
 *
 * - Arrays (actions, ids, seeds, results, states) are in the device's memory, observations and states aligned to
 *   16 bytes; structs, and the `envs` of vcs_batch_create, are the host's.
 * - Calls only queue their work, on the batch's stream; vcs_batch_wait waits for it.
 * - What is read there later cannot be looked at before: an action out of range does nothing, an id out of range is
 *   passed over, and states are taken as they are.
 * - Some options are as they have to be, and refused otherwise: width and height 84 and stack 4, or all three 0 for
 *   a batch that draws nothing; stack_in_place 1; autoreset VCS_AUTORESET_SAME_STEP; batch_size all; rgb and sound
 *   0. threads is not looked at. There are no final_observations, no strengths, no sends and no receives.
 * - New episodes begin from starts that were made at creation, and generators are others: docs/cuda.md has the
 *   table of what is the same and what is not.
 *
 * Any mix of cartridges, which must outlive the batch. A batch is driven by one thread at a time. Nothing is allocated
 * after creation, but for derivatives (grad.h). */
typedef struct vcs_batch vcs_batch_t;

/* What happens when an episode ends. */
enum {
  VCS_AUTORESET_NEXT_STEP, /* the environment's next step starts an episode, whatever the action, and has reward 0 */
  VCS_AUTORESET_SAME_STEP, /* the same step does; what ended is in final_observations, lives and numbers are new */
  VCS_AUTORESET_DISABLED /* nothing: reset it. A step of an environment whose game is over shows the last picture again
                          */
};

/* Plain data; vcs_batch_defaults fills it with AtariVectorEnv's defaults. */
typedef struct {
  int32_t envs;                    /* how many, from 1 on; default 1 */
  int32_t batch_size;              /* results of a receive; default 0: all */
  int32_t threads;                 /* default 0: one a core, but no more than batch_size */
  int32_t device;                  /* VCS_CPU */
  int32_t width, height, stack;    /* of an observation: 84, 84, 4 */
  int32_t frame_skip;              /* 4 */
  int32_t noop_max;                /* 30: episodes begin with 0 to 29 frames of nothing */
  int32_t max_episode_frames;      /* 108000, counted from the first step of an episode on; it is truncated then */
  float repeat_action_probability; /* 0 */
  uint8_t autoreset;               /* VCS_AUTORESET_NEXT_STEP */
  uint8_t rgb;                     /* 0: a byte a pixel; 1: three */
  uint8_t max_pool;                /* 1: an observation is the maximum of the last two frames; 0: the last one */
  uint8_t fire_reset;              /* 1: episodes begin with FIRE if it is one of the actions */
  uint8_t episodic_life;           /* 0; 1: losing a life ends an episode */
  uint8_t life_loss_info;          /* 0; 1: losing a life is reported as terminated, but the episode goes on */
  uint8_t reward_clipping;         /* 1: rewards from -1 to 1 */
  uint8_t full_action_space;       /* 0: actions are numbers in the game's minimal set; 1: in its legal set */
  uint8_t stack_in_place; /* 0; 1: saves the memory of the stacks: every call gets the same `observations`, whose
                             content the caller leaves alone. Needs batch_size to be all. */
  uint8_t sound;          /* 0; 1: environments make sound */
  uint64_t reserved[8];   /* 0 */
} vcs_batch_options_t;
VCS_API void vcs_batch_defaults(vcs_batch_options_t *options);

/* What an environment plays. A negative mode or difficulty is the game's default. The seed counts until a reset gives
 * another one. */
typedef struct {
  int32_t cart; /* a number in the list of cartridges */
  int32_t mode, difficulty;
  uint32_t seed;
} vcs_batch_env_t;

/* `envs` has options->envs entries; NULL: environment i plays cartridge i modulo cart_count with seed i. Environments
 * of one cartridge, mode and difficulty are booted once. On a GPU those of one cartridge run fastest side by side,
 * which `envs` can arrange. On failure *batch is NULL. */
VCS_API vcs_status_t vcs_batch_create(const vcs_cart_t *const *carts, int32_t cart_count, const vcs_batch_env_t *envs,
                                      const vcs_batch_options_t *options, vcs_batch_t **batch, vcs_error_t *error);
VCS_API void vcs_batch_free(vcs_batch_t *batch);
VCS_API const vcs_batch_options_t *vcs_batch_options(const vcs_batch_t *batch); /* with 0 filled in */

/* Where results go: caller's arrays of batch_size entries, each of which may be NULL. An observation is stack x height
 * x width bytes (or x 3), oldest picture first; those from before the episode are 0. Of final_observations, only those
 * of environments that are terminated or truncated are written, and only in mode same-step. */
typedef struct {
  uint8_t *observations, *final_observations;
  int32_t *env_ids, *rewards, *lives, *frame_numbers, *episode_frame_numbers;
  uint8_t *terminated, *truncated;
  uint8_t *ram;   /* 128 bytes each */
  uint8_t *sound; /* VCS_SOUND_SAMPLES each, of the last frame (vcs_env_set_sound); 0 unless the options ask for it */
} vcs_batch_results_t;
VCS_API size_t vcs_batch_observation_size(const vcs_batch_t *batch);

/* The stream, a cudaStream_t, on which later calls queue their work; NULL, and until it is set, the default one. It
 * must last as long as it is set. And waiting for all that was queued there. The CPU has none: its calls are done when
 * they return. */
VCS_API void vcs_batch_set_stream(vcs_batch_t *batch, void *stream);
VCS_API vcs_status_t vcs_batch_wait(const vcs_batch_t *batch, vcs_error_t *error);

/* Starts episodes in `count` environments (ids NULL: in all). An environment whose seed is 0 or above is loaded afresh
 * with it; the others (seeds NULL: all) go on as they are. The first reset must be of all. With batch_size less than
 * all a reset is always of all, drops what was under way, and gives the first batch_size results; the others are
 * received later. Otherwise the results are of all environments; those that were not reset show what they showed. On a
 * device, results of those are left as they are, and a seed of -1 (or NULL) lets generators go on; episodes always
 * begin from starts. */
VCS_API vcs_status_t vcs_batch_reset(vcs_batch_t *batch, const int32_t *ids, const int32_t *seeds, int32_t count,
                                     const vcs_batch_results_t *results, vcs_error_t *error);

/* One step of the environments of the last results (with batch_size all: of all, in order): an action for each, by
 * number in the environment's own set (vcs_batch_actions). strengths (NULL: 1) are those of vcs_env_act_strength. An
 * action that is out of range is refused before anything moves. vcs_batch_step is a send and a receive. */
VCS_API vcs_status_t vcs_batch_step(vcs_batch_t *batch, const int32_t *actions, const float *strengths,
                                    const vcs_batch_results_t *results, vcs_error_t *error);
VCS_API vcs_status_t vcs_batch_send(vcs_batch_t *batch, const int32_t *actions, const float *strengths,
                                    vcs_error_t *error);

/* A step, or a new episode, of `count` environments (ids NULL: of all), which threads begin with at once. An
 * environment that was sent to is received before it is sent to again; others may be, meanwhile. A reset of all drops
 * what was under way, and the first must be of all. */
VCS_API vcs_status_t vcs_batch_send_to(vcs_batch_t *batch, const int32_t *ids, int32_t count, const int32_t *actions,
                                       const float *strengths, vcs_error_t *error);
VCS_API vcs_status_t vcs_batch_send_reset(vcs_batch_t *batch, const int32_t *ids, const int32_t *seeds, int32_t count,
                                          vcs_error_t *error);

/* The first batch_size results that are ready; with batch_size all, in the order in which they were sent.
 * vcs_batch_next is how many there will be: fewer if not so many were sent, 0 if nothing was. */
VCS_API vcs_status_t vcs_batch_receive(vcs_batch_t *batch, const vcs_batch_results_t *results, vcs_error_t *error);
VCS_API int32_t vcs_batch_next(const vcs_batch_t *batch);

/* The actions of an environment, as vcs_action_t; returns how many, or 0 if there is no such environment. */
VCS_API int vcs_batch_actions(const vcs_batch_t *batch, int32_t env, int32_t actions[VCS_ACTIONS]);

/* RAM of an environment (128 bytes) as it is between a receive and the next send, or NULL; it is not to be had on a
 * device, where results->ram is. */
VCS_API const uint8_t *vcs_batch_ram(const vcs_batch_t *batch, int32_t env);

/* States of environments: all that a later step depends on, and the stack. vcs_batch_copy writes `count` of them (ids
 * NULL: of all), vcs_batch_state_size bytes apart; what a state does not need of that room, which is most of it, is
 * left as it is. vcs_batch_restore puts states into environments, not necessarily those they come from, but of the same
 * cartridge, mode and difficulty, in this batch or in one with observations of the same shape. It gives results of all,
 * as a reset does. Generators are part of a state: two environments with one state and the same actions do the same.
 * VCS_BAD_ARGUMENT: a state of others, values no machine can have, a batch that was not reset yet, a send that was not
 * received, or batch_size not all; nothing has changed then. On a device, results of environments that were not
 * restored are left as they are, as are all rewards, terminated and truncated. */
VCS_API size_t vcs_batch_state_size(const vcs_batch_t *batch);
VCS_API vcs_status_t vcs_batch_copy(const vcs_batch_t *batch, const int32_t *ids, int32_t count, void *states,
                                    vcs_error_t *error);
VCS_API vcs_status_t vcs_batch_restore(vcs_batch_t *batch, const int32_t *ids, int32_t count, const void *states,
                                       const vcs_batch_results_t *results, vcs_error_t *error);

/* ale-py's continuous actions: `count` triples of radius, angle and fire become actions (in the full action space) and
 * strengths. The threshold is where a direction or fire counts; ale-py's default is 0.5. */
VCS_API void vcs_batch_continuous(const float *polar, int32_t count, float threshold, int32_t *actions,
                                  float *strengths);

/* Bytes held for each environment (on a device: of its memory), memory that was never touched aside, and by each
 * thread.
 */
VCS_API size_t vcs_batch_bytes(const vcs_batch_t *batch, size_t *per_thread);

#ifdef __cplusplus
}
#endif
#endif
