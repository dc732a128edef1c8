/* diffvcs: an exact, fast and differentiable Atari 2600.
 *
 * This header is the C API and its reference; grad.h has derivatives, relax.h the relaxed machine, cuda.h devices. The
 * main types are:
 *
 *   vcs_cart_t   a cartridge in a console: ROM image, bank scheme, television format, controllers. Const once loaded.
 *   vcs_t        a machine: plain data without pointers, vcs_state_size bytes. Copy it to save it.
 *   vcs_env_t    an environment: machine, picture, rewards, lives and endings, as in ALE.
 *   vcs_batch_t  many environments that step together, on the CPU or on a GPU.
 *
 * Conventions: a function that can fail returns a vcs_status_t and writes a message to its vcs_error_t, which may be
 * NULL. The library never exits the process and has no hidden state; stepping a loaded machine cannot fail. The caller
 * owns all buffers.
 *
 * Threads: any number of threads may share a cartridge. Every other object (a machine, an environment, a batch, a
 * relaxed machine, a workspace) may be used by one thread at a time.
 *
 * Forks: after fork() the child may use and free all objects, except that a batch whose threads stayed in the parent
 * refuses every call but vcs_batch_free, which frees its memory.
 *
 * Option structs keep their size from version to version. Each ends with `reserved`, which the defaults functions and
 * an initializer such as {.name = "pong"} set to 0. A later version may turn reserved words into fields whose value 0
 * keeps the behaviour of the earlier version, so programs work with a newer library without being recompiled; and a
 * call refuses nonzero reserved words (VCS_BAD_ARGUMENT), so an older library never ignores an option of a newer
 * header. docs/abi.md has the rules for all structs.
 */
#ifndef DIFFVCS_H
#define DIFFVCS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define VCS_API __declspec(dllexport)
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
  VCS_BAD_ARGUMENT,  /* a value outside its range, or a NULL pointer that is not allowed */
  VCS_BAD_IMAGE,     /* a ROM image that fits no bank scheme */
  VCS_BAD_FILE,      /* an unreadable, truncated or corrupt file */
  VCS_NOT_FOUND,     /* no such file, game, scheme, setting or device */
  VCS_NO_MEMORY,     /* of the host or of a device */
  VCS_DEVICE_FAILED, /* an error that the device reports, in its own words */
  VCS_CANCELLED      /* stopped by Ctrl-C, or by the caller's progress function (study.h), before the end */
} vcs_status_t;

typedef struct {
  char message[256]; /* what is wrong and what to do about it; empty after VCS_OK */
} vcs_error_t;

VCS_API const char *vcs_status_name(vcs_status_t status);

/* ---- Cartridge and console ---------------------------------------------------------------------------------- */

/* Bank schemes. VCS_SCHEME_AUTO detects the scheme from the content of the image. */
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

/* Boot protocol and per-game settings: those of ale-py (the default, 0), those of google-deepmind/xitari, or those of
 * ale-py with corrected rewards and endings (docs/games.md lists each correction with its proof). */
typedef enum { VCS_PROFILE_ALE = 0, VCS_PROFILE_XITARI, VCS_PROFILE_FIXED, VCS_PROFILE_COUNT } vcs_profile_t;

/* Bits of vcs_controls_t. On a port with paddles, LEFT holds the player's first paddle one step (VCS_PADDLE_STEP) above
 * its resistance and RIGHT one step below; DOWN and UP do the same with the second paddle. */
enum {
  VCS_HELD_UP = 1,
  VCS_HELD_DOWN = 2,
  VCS_HELD_LEFT = 4,
  VCS_HELD_RIGHT = 8,
  VCS_HELD_FIRE = 16,
  VCS_HELD_FIRE_2 = 32, /* the button of the second paddle, or of the booster grip */
  VCS_HELD_TRIGGER = 64,
  VCS_CONSOLE_RESET = 1,
  VCS_CONSOLE_SELECT = 2
};

/* The controls that are held during a frame. */
typedef struct {
  uint8_t held[2];   /* VCS_HELD_... bits of each player */
  int32_t paddle[4]; /* resistances, two paddles per player */
  uint16_t keys[2];  /* keypad keys of each player, bit 3 * row + column */
  uint8_t console;   /* VCS_CONSOLE_... bits */
} vcs_controls_t;

/* A frame is up to 320 rows of 160 palette indices. A machine alternates between two consecutive frame buffers of
 * VCS_FRAME_BYTES each. */
enum { VCS_WIDTH = 160, VCS_FRAME_BYTES = 160 * 320 };

/* A frame that has not ended after this many instructions is partial and continues in the next call. */
enum { VCS_FRAME_INSTRUCTIONS = 25000 };

/* Paddle resistances: smallest, nothing connected, and the step of one action of an environment in a frame. */
enum { VCS_RESISTANCE_MIN = 0, VCS_RESISTANCE_MAX = 0x7FFFFFFF, VCS_PADDLE_STEP = 23000 };

typedef struct {
  vcs_profile_t profile;
  vcs_scheme_t scheme;  /* VCS_SCHEME_AUTO: from the games table, or detected */
  vcs_format_t format;  /* VCS_FORMAT_AUTO: from the games table, or probed */
  const char *name;     /* name of the game or file name of the image, or NULL */
  uint64_t reserved[8]; /* 0 */
} vcs_cart_options_t;

/* Facts about a loaded cartridge. Strings are valid as long as the cartridge. */
typedef struct {
  vcs_profile_t profile;
  vcs_scheme_t scheme;
  vcs_format_t format;
  vcs_controller_t left, right;
  uint32_t image_size, ram_size;
  int32_t top_line, height; /* first scan line of the picture, and its number of rows */
  const char *scheme_name;
  const char *game; /* name in the games table, or NULL */
  char md5[33], sha256[65];
} vcs_cart_info_t;

/* Creates a cartridge from an image of `size` bytes, which is copied. On failure *cart is NULL. */
VCS_API vcs_status_t vcs_cart_load(const void *image, size_t size, const vcs_cart_options_t *options, vcs_cart_t **cart,
                                   vcs_error_t *error);
VCS_API void vcs_cart_free(vcs_cart_t *cart);
VCS_API const vcs_cart_info_t *vcs_cart_info(const vcs_cart_t *cart);

VCS_API const char *vcs_profile_name(vcs_profile_t profile);
VCS_API vcs_status_t vcs_profile_by_name(const char *name, vcs_profile_t *profile, vcs_error_t *error);
VCS_API const char *vcs_format_name(vcs_format_t format);
VCS_API const char *vcs_controller_name(vcs_controller_t controller);

/* Returns the image of our own cartridge (demo/), which is embedded in the library, and its size. */
VCS_API const uint8_t *vcs_demo_image(size_t *size);

/* ---- Machine ------------------------------------------------------------------------------------------------ */

/* Returns the size of a machine with this cartridge; memcpy(dst, src, vcs_state_size(cart)) copies a machine. */
VCS_API size_t vcs_state_size(const vcs_cart_t *cart);

/* Powers the machine on and resets it, without controls. If the television format is probed, returns 1 for PAL. */
VCS_API int vcs_boot(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

/* Resets the machine; RAM keeps its contents. */
VCS_API void vcs_reset(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

/* Sets the controls until the next call. */
VCS_API void vcs_control(const vcs_cart_t *cart, vcs_t *m, const vcs_controls_t *controls);

/* Runs one frame. `frames` is a buffer of 2 * VCS_FRAME_BYTES bytes, the same one at every call, or NULL to skip
 * drawing. */
VCS_API void vcs_frame(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

/* Returns the picture of the last frame, height x 160 palette indices, inside `frames`. */
VCS_API const uint8_t *vcs_picture(const vcs_t *m, const uint8_t *frames);

/* One executed instruction. */
typedef struct {
  uint16_t pc_before, pc;         /* program counter before and after */
  uint8_t opcode, a, x, y, sp, p; /* opcode, and the registers after it */
  uint8_t frame_over, jammed;     /* whether the frame has ended, whether the CPU has halted */
  uint32_t cycles;                /* duration, including the wait of WSYNC */
} vcs_step_t;

/* Runs one instruction and describes it in *step. */
VCS_API void vcs_step(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_step_t *step);

/* Begin and end a frame that the caller runs with vcs_step. vcs_frame is vcs_frame_begin, then vcs_step until
 * frame_over, jammed or VCS_FRAME_INSTRUCTIONS instructions, then vcs_frame_end. */
VCS_API void vcs_frame_begin(const vcs_cart_t *cart, vcs_t *m);
VCS_API void vcs_frame_end(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

/* Returns the byte that the CPU would read at an address, without side effects. */
VCS_API uint8_t vcs_peek(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr);

/* Returns the 128 bytes of RAM, $80 to $FF. */
VCS_API uint8_t *vcs_ram(vcs_t *m);

/* Returns a 64-bit digest of the whole machine. */
VCS_API uint64_t vcs_hash(const vcs_cart_t *cart, const vcs_t *m);

/* A field of vcs_t, for debuggers and bindings. */
typedef struct {
  const char *name, *type, *meaning;
  size_t offset, size, count; /* bytes from the beginning, bytes of an element, number of elements */
} vcs_field_t;

/* Returns field 0, 1, ..., and NULL after the last. */
VCS_API const vcs_field_t *vcs_field(int index);

/* Sound: 8-bit unsigned mono samples, 128 is silence. vcs_sound computes the next `count` samples of the two channels
 * from the current registers; call it once per frame. The waveforms are part of the machine, and only this function
 * advances them. The TIA has two samples per scan line: vcs_sound_length returns the number of samples of the last
 * frame (at most VCS_SOUND_LENGTH_MAX), vcs_sound_rate the number per second. */
enum { VCS_SOUND_LENGTH_MAX = 1024 };
VCS_API void vcs_sound(vcs_t *m, uint8_t *samples, int count);
VCS_API int vcs_sound_length(const vcs_t *m);
VCS_API int vcs_sound_rate(vcs_format_t format);

/* Writes one line of disassembly at `pc` to `text` and returns the instruction's length in bytes. */
VCS_API int vcs_disassemble(const vcs_cart_t *cart, const vcs_t *m, uint16_t pc, char *text, size_t text_size);

/* ---- Environment -------------------------------------------------------------------------------------------- */

/* ALE's 18 actions, for either player. */
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

/* Treatment of a lost life, and of FIRE at the start of an episode. */
enum {
  VCS_LIFE_LOSS_IGNORED,   /* only the game's own ending ends an episode */
  VCS_LIFE_LOSS_TRUNCATES, /* ale-py's truncate_on_loss_of_life: truncated while lives are fewer than at the start */
  VCS_LIFE_LOSS_ENDS       /* AtariVectorEnv's episodic life: a step stops when a life is lost but the game continues,
                              and vcs_env_done returns 1. Further steps continue the game, vcs_env_reset starts a new
                              one. */
};
enum {
  VCS_FIRE_RESET_NEVER,
  VCS_FIRE_RESET_MINIMAL, /* an episode begins with a frame of FIRE if that is one of the minimal actions */
  VCS_FIRE_RESET_LEGAL    /* ... if it is a legal action */
};

/* Options of an environment. Plain data; vcs_env_defaults fills it. */
typedef struct {
  int32_t frame_skip;              /* frames per step, at least 1; their rewards are summed */
  float repeat_action_probability; /* probability, 0 to 1, that a frame repeats the previous action (sticky actions) */
  uint32_t seed;                   /* seed of the generators at creation */
  int32_t max_episode_frames;      /* length at which an episode is truncated; 0: no limit */
  int32_t noop_max;                /* an episode begins with 0 to noop_max - 1 NOOP frames; at most 1000 */
  int32_t reward_min, reward_max;  /* range to which a step's reward is clamped */
  int32_t mode, difficulty;        /* game variation, and difficulty switches (bit 0: left is A, bit 1: right is A) */
  uint8_t life_loss;               /* VCS_LIFE_LOSS_... */
  uint8_t fire_reset;              /* VCS_FIRE_RESET_... */
  uint8_t colour_averaging;        /* 1: pictures are the average of the last two frames, as in ale-py */
  uint64_t players;                /* 0 and 1: one player; 2 and 4: so many, in one of their modes (docs/players.md) */
  uint64_t reserved[7];            /* 0 */
} vcs_env_options_t;

/* Fills in ale-py's defaults: frame_skip 1, repeat_action_probability 0.25, no limits, the game's default mode; in
 * profile `xitari` the same without sticky actions. The seed is 0 (ale-py uses the time). */
VCS_API void vcs_env_defaults(const vcs_cart_t *cart, vcs_env_options_t *options);

/* The same for so many players, in their first mode. VCS_NOT_FOUND: the game has no mode for them. vcs_cart_modes
 * writes the game's modes for so many players in ascending order and returns their number, 0 if there are none. The
 * modes for several players are numbered as in multi_agent_ale_py and PettingZoo, those for one player as in ale-py. */
enum { VCS_PLAYERS_MAX = 4, VCS_MODES_MAX = 160, VCS_DIFFICULTIES_MAX = 4 };
VCS_API vcs_status_t vcs_env_defaults_players(const vcs_cart_t *cart, int players, vcs_env_options_t *options,
                                              vcs_error_t *error);
VCS_API int vcs_cart_modes(const vcs_cart_t *cart, int players, int32_t modes[VCS_MODES_MAX]);

/* Creates an environment; the cartridge must outlive it. Like ale-py when it loads a ROM, this boots the machine, seeds
 * the generators and starts one episode in the default mode and difficulty without no-ops and FIRE. The cartridge
 * caches the result for its later environments; any thread may create environments. Call vcs_env_reset to start an
 * episode that follows the options. vcs_env_create uses the defaults without sticky actions. On failure *env is NULL.
 */
VCS_API vcs_status_t vcs_env_create(const vcs_cart_t *cart, vcs_env_t **env, vcs_error_t *error);
VCS_API vcs_status_t vcs_env_create_with(const vcs_cart_t *cart, const vcs_env_options_t *options, vcs_env_t **env,
                                         vcs_error_t *error);
VCS_API void vcs_env_free(vcs_env_t *env);

/* Repeats the creation with this seed; the frame number restarts. */
VCS_API void vcs_env_reload(vcs_env_t *env, uint32_t seed);

/* Changes the options. The mode takes effect at the next reset, the seed (which vcs_env_reload sets too) at the next
 * reload, all other options at the next step. Values out of range, or that the game does not have, are refused without
 * any change. */
VCS_API vcs_status_t vcs_env_configure(vcs_env_t *env, const vcs_env_options_t *options, vcs_error_t *error);
VCS_API const vcs_env_options_t *vcs_env_options(const vcs_env_t *env);

/* Starts an episode: console reset, NOOP frames, the RESET switch, selection of the mode, the game's starting actions;
 * then FIRE and no-ops according to the options. */
VCS_API void vcs_env_reset(vcs_env_t *env);

/* Runs one step of frame_skip frames with the two players' actions and returns the reward. Illegal actions are NOOP.
 * After the game is over or truncated, steps run no frames and return 0. */
VCS_API int32_t vcs_env_act(vcs_env_t *env, int player_a, int player_b);

/* The same with continuous paddles: LEFT and RIGHT turn by these fractions of a full step (1 in vcs_env_act). */
VCS_API int32_t vcs_env_act_strength(vcs_env_t *env, int player_a, int player_b, float strength_a, float strength_b);

/* The same for all players of a game for several: `actions`, `strengths` (NULL: all 1) and `rewards` (or NULL) have
 * vcs_env_players entries. The reward of vcs_env_act is that of the first player. */
VCS_API void vcs_env_act_players(vcs_env_t *env, const int32_t *actions, const float *strengths, int32_t *rewards);

/* Runs one frame with exactly these actions, also after the game is over, ignoring options and generators. */
VCS_API int32_t vcs_env_act_on(vcs_env_t *env, int player_a, int player_b);

/* Turns drawing on (1, the default) or off (0). Without drawing steps are faster and vcs_env_screen returns an older
 * picture. */
VCS_API void vcs_env_set_drawing(vcs_env_t *env, int drawing);

/* Turns sound on (1) or off (0, the default). With sound, a step of any number of frames computes VCS_SOUND_SAMPLES
 * samples, equal to ale-py's getAudio if sound is turned on right after creation; before the first step they are 0. */
enum { VCS_SOUND_SAMPLES = 512 };
VCS_API void vcs_env_set_sound(vcs_env_t *env, int sound);
VCS_API const uint8_t *vcs_env_sound(const vcs_env_t *env);

VCS_API int32_t vcs_env_reward(const vcs_env_t *env); /* reward of the last step */
VCS_API int32_t vcs_env_lives(const vcs_env_t *env);  /* number of lives */

/* The number of players, and the reward of the last step and the lives of each, from 0. In a game for several a player
 * who is out while the game goes on has -1 lives; games without lives have 0. */
VCS_API int vcs_env_players(const vcs_env_t *env);
VCS_API int32_t vcs_env_player_reward(const vcs_env_t *env, int player);
VCS_API int32_t vcs_env_player_lives(const vcs_env_t *env, int player);

VCS_API int vcs_env_over(const vcs_env_t *env);      /* whether the game has ended */
VCS_API int vcs_env_truncated(const vcs_env_t *env); /* whether the options have ended the episode */
VCS_API int vcs_env_life_lost(const vcs_env_t *env); /* whether the last step lost a life, but not the last one */
VCS_API int vcs_env_done(const vcs_env_t *env);      /* over, truncated, or a lost life with VCS_LIFE_LOSS_ENDS */

/* Return the number of frames since the environment was loaded, and since the last reset. As in ale-py, frames that
 * select a mode count, and all other frames of a reset do not. */
VCS_API uint64_t vcs_env_frame_number(const vcs_env_t *env);
VCS_API uint64_t vcs_env_episode_frame_number(const vcs_env_t *env);

/* The picture, height x 160. vcs_env_screen returns the palette indices that the machine drew. The other functions fill
 * a caller's buffer with 1, 3 and 1 bytes per pixel, in ale-py's colours, averaged if the options request it. */
VCS_API int vcs_env_height(const vcs_env_t *env);
VCS_API const uint8_t *vcs_env_screen(const vcs_env_t *env);
VCS_API void vcs_env_screen_indices(const vcs_env_t *env, uint8_t *indices);
VCS_API void vcs_env_screen_rgb(const vcs_env_t *env, uint8_t *rgb);
VCS_API void vcs_env_screen_gray(const vcs_env_t *env, uint8_t *gray);

/* Returns the 128 bytes of RAM; writes the byte at `index`, 0 to 127. */
VCS_API const uint8_t *vcs_env_ram(const vcs_env_t *env);
VCS_API vcs_status_t vcs_env_set_ram(vcs_env_t *env, int index, uint8_t value, vcs_error_t *error);

/* Write the game's actions, modes or difficulties in ascending order and return their number. Unknown cartridges have
 * all actions, mode 0 and difficulties 0 to 3. Profile `xitari` has only mode 0 and difficulty 0. */
VCS_API int vcs_env_minimal_actions(const vcs_env_t *env, int32_t actions[VCS_ACTIONS]);
VCS_API int vcs_env_legal_actions(const vcs_env_t *env, int32_t actions[VCS_ACTIONS]);
VCS_API int vcs_env_modes(const vcs_env_t *env, int32_t modes[VCS_MODES_MAX]);
VCS_API int vcs_env_difficulties(const vcs_env_t *env, int32_t difficulties[VCS_DIFFICULTIES_MAX]);
VCS_API int vcs_env_two_players(const vcs_env_t *env); /* whether it is a two-player game, without rewards and end */

VCS_API vcs_t *vcs_env_machine(vcs_env_t *env);               /* the environment's machine */
VCS_API const vcs_cart_t *vcs_env_cart(const vcs_env_t *env); /* its cartridge */

/* A state is everything that changes while a game is played: machine, frames, score, lives, generators, last actions,
 * paddles, frame numbers, mode and difficulty. It is plain data of vcs_env_state_size bytes, for environments with this
 * cartridge, on this processor architecture, in this version; use save files otherwise. After restoring a state into an
 * environment with the same cartridge and profile, every later frame is the same (ale-py's restoreState does not
 * restore the picture and the last action). Options except mode and difficulty are not part of a state.
 * VCS_BAD_ARGUMENT: a state of another cartridge or profile, impossible values, or not a state; then nothing changes.
 */
VCS_API size_t vcs_env_state_size(const vcs_env_t *env);
VCS_API void vcs_env_state_copy(const vcs_env_t *env, void *state);
VCS_API vcs_status_t vcs_env_state_restore(vcs_env_t *env, const void *state, size_t size, vcs_error_t *error);

/* The same without the generators of sticky actions and no-ops. vcs_env_state_copy_play writes zeros in their place, so
 * that states can be compared; vcs_env_state_restore_play keeps the environment's generators (like ale-py's
 * restoreState of a state that was cloned without them). */
VCS_API void vcs_env_state_copy_play(const vcs_env_t *env, void *state);
VCS_API vcs_status_t vcs_env_state_restore_play(vcs_env_t *env, const void *state, size_t size, vcs_error_t *error);

/* Write and read a save file: a state with names and checksums (src/host/save.h describes the format), written
 * atomically, portable between architectures and readable by later versions. A file that is corrupt or from a later
 * version gives VCS_BAD_FILE, one of another cartridge or profile VCS_BAD_ARGUMENT; then the environment does not
 * change. */
VCS_API vcs_status_t vcs_env_save(const vcs_env_t *env, const char *path, vcs_error_t *error);
VCS_API vcs_status_t vcs_env_load(vcs_env_t *env, const char *path, vcs_error_t *error);

/* The same in memory: `file` has space for vcs_env_save_bound bytes, and *size receives the number written. */
VCS_API size_t vcs_env_save_bound(const vcs_env_t *env);
VCS_API vcs_status_t vcs_env_save_to(const vcs_env_t *env, void *file, size_t *size, vcs_error_t *error);
VCS_API vcs_status_t vcs_env_load_from(vcs_env_t *env, const void *file, size_t size, vcs_error_t *error);

/* Description of a save file. */
typedef struct {
  uint32_t version;
  vcs_profile_t profile;
  char sha256[65]; /* of the cartridge's image */
  uint64_t frame_number;
} vcs_save_info_t;
VCS_API vcs_status_t vcs_save_info(const void *file, size_t size, vcs_save_info_t *info, vcs_error_t *error);

/* Sets a function that is called after every instruction of every frame, including those of a reset; NULL for none. */
typedef void (*vcs_watch_t)(void *context, const vcs_t *m, const vcs_step_t *step);
VCS_API void vcs_env_watch(vcs_env_t *env, vcs_watch_t watch, void *context);

/* The action stream of the records: always NOOP for seed 0, a splitmix64 stream of held actions for every other seed.
 */
typedef struct {
  uint64_t state, seed;
  int32_t hold, action;
} vcs_stream_t;
VCS_API void vcs_stream_start(vcs_stream_t *stream, uint64_t seed);
VCS_API int vcs_stream_next(vcs_stream_t *stream);

/* ---- Devices ------------------------------------------------------------------------------------------------ */

/* Values of options named `device`: where work is done and where its arrays are. Zeroed options mean the CPU.
 * VCS_CPU_AS_GPU executes a GPU's code on the CPU with the same results, for tests and for development without a GPU
 * (docs/cuda.md).
 *
 * GPUs need the separate library libdiffvcs_cuda, which is loaded at the first use of a GPU: from the folder of this
 * library, from the loader's path, or from the path in the environment variable DIFFVCS_CUDA. Without it, or without a
 * GPU, functions with a GPU as their device fail with VCS_NOT_FOUND and a message that says what is missing. A call
 * leaves its GPU as the current device of the calling thread. */
enum {
  VCS_CPU_AS_GPU = -1,
  VCS_CPU = 0,
  VCS_GPU = 1 /* plus the number of the GPU: VCS_GPU is the first */
};

/* Returns NULL if a device can be used, or a sentence that says what is missing. */
VCS_API const char *vcs_device_missing(int32_t device);

/* Allocate, free and copy `size` bytes of device memory, for programs that do not use CUDA themselves. Memory from
 * cudaMalloc or from a tensor works as well; on the CPU any memory does. vcs_device_free ignores NULL. */
VCS_API vcs_status_t vcs_device_allocate(int32_t device, size_t size, void **memory, vcs_error_t *error);
VCS_API void vcs_device_free(int32_t device, void *memory);
VCS_API vcs_status_t vcs_device_move(int32_t device, void *to, const void *from, size_t size, vcs_error_t *error);

/* Wraps a caller's buffer in a DLPack tensor (a DLManagedTensor *), which NumPy, PyTorch, JAX and CuPy use without a
 * copy: `shape` has `dimensions` entries, elements have `bits` bits and one of DLPack's kinds (0 signed, 1 unsigned, 2
 * float, 6 bool). The buffer must outlive the tensor, whose deleter frees only the description. Returns NULL when out
 * of memory, or for more than 8 dimensions. */
VCS_API void *vcs_device_dlpack(int32_t device, void *memory, int32_t dimensions, const int64_t *shape, int32_t kind,
                                int32_t bits);

/* ---- Batch -------------------------------------------------------------------------------------------------- */

/* Many environments at once, with the usual preprocessing of Atari learning. On the CPU a pool of threads steps them,
 * with the results of ale-py's AtariVectorEnv (docs/batch.md). On a GPU the same calls keep everything in the GPU's
 * memory:
 *
 * - Arrays (actions, ids, seeds, results, states) are in device memory, observations and states aligned to 16 bytes;
 *   structs, and the `envs` of vcs_batch_create, are in host memory.
 * - Calls queue their work on the batch's stream and return; vcs_batch_wait waits for it.
 * - Device arrays cannot be checked by the host: an action out of range is NOOP, an id out of range is skipped, and
 *   states are not validated.
 * - Some options have only one value: stack_in_place 1, batch_size equal to envs, sound 0. threads is ignored. There
 * are no strengths, sends and receives.
 * - New episodes begin from starts that were computed at creation, and generators differ: docs/cuda.md has the table of
 *   differences.
 *
 * The cartridges may be any mix and must outlive the batch. One thread at a time may use a batch. Nothing is allocated
 * after creation, except for derivatives (grad.h). */
typedef struct vcs_batch vcs_batch_t;

/* Behaviour at the end of an episode. */
enum {
  VCS_AUTORESET_NEXT_STEP, /* the environment's next step ignores its action, starts an episode and has reward 0 */
  VCS_AUTORESET_SAME_STEP, /* the same step starts the next episode; final_observations has the last observation of the
                              old one, lives and frame numbers are those of the new one */
  VCS_AUTORESET_DISABLED   /* the caller resets; a step after the end repeats the last picture */
};

/* Options of a batch. Plain data; vcs_batch_defaults fills it with AtariVectorEnv's defaults, which are given here. */
typedef struct {
  int32_t envs;                    /* 1: number of environments, at least 1 */
  int32_t batch_size;              /* 0: number of results of a receive; 0 means all environments */
  int32_t threads;                 /* 0: number of threads; 0 means one per core, at most batch_size */
  int32_t device;                  /* VCS_CPU */
  int32_t width, height, stack;    /* 84, 84, 4: pixels of an observation's pictures, and their number; all three 0: no
                                      observations, and nothing is drawn */
  int32_t frame_skip;              /* 4: frames per step */
  int32_t noop_max;                /* 30: episodes begin with 0 to noop_max - 1 NOOP frames */
  int32_t max_episode_frames;      /* 108000: truncates an episode, counted from its first step; 0 means no limit */
  float repeat_action_probability; /* 0: probability of sticky actions */
  uint8_t autoreset;               /* VCS_AUTORESET_NEXT_STEP */
  uint8_t rgb;                     /* 0: one gray byte per pixel; 1: three bytes */
  uint8_t max_pool;                /* 1: a picture is the maximum of the last two frames; 0: the last frame */
  uint8_t fire_reset;              /* 1: episodes begin with FIRE if it is one of the actions */
  uint8_t episodic_life;           /* 0; 1: a lost life ends the episode */
  uint8_t life_loss_info;          /* 0; 1: a lost life is reported as terminated, but the episode continues */
  uint8_t reward_clipping;         /* 1: rewards are clamped to -1 .. 1 */
  uint8_t full_action_space;       /* 0: actions are indices into the game's minimal set; 1: into its legal set */
  uint8_t stack_in_place; /* 0; 1: stacks are kept only in `observations`, which must be the same buffer in every call
                             and must not be modified. Needs batch_size to be all environments. */
  uint8_t sound;          /* 0; 1: environments compute sound */
  uint64_t players;       /* 0: 0 and 1 mean one player; 2 and 4: so many, in every environment */
  uint64_t reserved[7];   /* 0 */
} vcs_batch_options_t;
VCS_API void vcs_batch_defaults(vcs_batch_options_t *options);

/* What an environment plays. A negative mode or difficulty is the game's default for the number of players. The seed is
 * used until a reset sets another. */
typedef struct {
  int32_t cart; /* index into the array of cartridges */
  int32_t mode, difficulty;
  uint32_t seed;
} vcs_batch_env_t;

/* Creates a batch. `envs` has options->envs entries; with NULL environment i plays cartridge i modulo cart_count with
 * seed i. Each combination of cartridge, mode and difficulty boots once. On a GPU neighbouring environments should play
 * the same cartridge. On failure *batch is NULL. */
VCS_API vcs_status_t vcs_batch_create(const vcs_cart_t *const *carts, int32_t cart_count, const vcs_batch_env_t *envs,
                                      const vcs_batch_options_t *options, vcs_batch_t **batch, vcs_error_t *error);
VCS_API void vcs_batch_free(vcs_batch_t *batch);
VCS_API const vcs_batch_options_t *vcs_batch_options(const vcs_batch_t *batch); /* with zeros replaced */

/* The caller's arrays for results, with batch_size entries each; every pointer may be NULL. With several players
 * `rewards` and `lives` have an entry for each player of each environment: batch_size x players. */
typedef struct {
  uint8_t *observations;       /* stack x height x width bytes (x 3 for rgb), oldest picture first; pictures from before
                                  the episode are 0 */
  uint8_t *final_observations; /* same shape; written only for terminated or truncated environments in same-step mode */
  int32_t *env_ids, *rewards, *lives, *frame_numbers, *episode_frame_numbers;
  uint8_t *terminated, *truncated;
  uint8_t *ram;   /* 128 bytes per entry */
  uint8_t *sound; /* VCS_SOUND_SAMPLES per entry, of the last frame (vcs_env_set_sound); 0 without the option */
} vcs_batch_results_t;

/* Returns the number of bytes of one observation. */
VCS_API size_t vcs_batch_observation_size(const vcs_batch_t *batch);

/* Set the stream (a cudaStream_t, NULL for the default stream) on which later calls queue their work, and wait for all
 * work that is queued there. The stream must exist as long as it is set. Calls on the CPU finish before they return. */
VCS_API void vcs_batch_set_stream(vcs_batch_t *batch, void *stream);
VCS_API vcs_status_t vcs_batch_wait(const vcs_batch_t *batch, vcs_error_t *error);

/* Starts episodes in `count` environments (ids NULL: in all). An environment with a seed of 0 or more is reloaded with
 * it; with a negative seed, or seeds NULL, it keeps its state and generators. The first reset must include all
 * environments. If batch_size is less than envs, a reset always includes all environments, drops steps that are under
 * way, and returns the first batch_size results; the remaining results are received later. Otherwise the results are
 * those of all environments, with unchanged observations where there was no reset. On a device the results of
 * environments that were not reset are not written, and episodes always begin from starts. */
VCS_API vcs_status_t vcs_batch_reset(vcs_batch_t *batch, const int32_t *ids, const int32_t *seeds, int32_t count,
                                     const vcs_batch_results_t *results, vcs_error_t *error);

/* Step the environments of the last results (if batch_size is envs: all, in order). `actions` has one index into each
 * environment's own set (vcs_batch_actions); `strengths` (NULL: all 1) are those of vcs_env_act_strength. With several
 * players both have an entry for each player of each environment: count x players. An action out of range is refused
 * before any environment steps. vcs_batch_step is vcs_batch_send and vcs_batch_receive. */
VCS_API vcs_status_t vcs_batch_step(vcs_batch_t *batch, const int32_t *actions, const float *strengths,
                                    const vcs_batch_results_t *results, vcs_error_t *error);
VCS_API vcs_status_t vcs_batch_send(vcs_batch_t *batch, const int32_t *actions, const float *strengths,
                                    vcs_error_t *error);

/* The two halves of vcs_batch_step, if batch_size is envs. vcs_batch_begin_step returns while the pool's threads work;
 * they write the results themselves, so the arrays must stay until vcs_batch_end_step, where the calling thread works
 * too and waits. In between no other call with this batch is allowed except vcs_batch_free. On a device the first half
 * queues the step and the second does nothing. */
VCS_API vcs_status_t vcs_batch_begin_step(vcs_batch_t *batch, const int32_t *actions, const float *strengths,
                                          const vcs_batch_results_t *results, vcs_error_t *error);
VCS_API vcs_status_t vcs_batch_end_step(vcs_batch_t *batch, vcs_error_t *error);

/* Lets two batches share threads: from now on the threads of `other` step the environments of both, and the threads of
 * `batch` end. If steps of the two are begun in turn, a thread that finds nothing left to do in one goes on with the
 * other, instead of waiting for the slowest environment of a step or for the caller, who looks at results. Both must be
 * on the CPU and have a batch_size of envs, with no step under way. Either may be freed first. Several threads may call
 * functions of different batches at the same time, as without sharing, but not this one. */
VCS_API vcs_status_t vcs_batch_share_threads(vcs_batch_t *batch, vcs_batch_t *other, vcs_error_t *error);

/* Start a step, or a new episode, of `count` environments (ids NULL: of all) and return at once. The result of an
 * environment must be received before the next send to it. A reset of all environments drops steps that are under way;
 * the first reset must include all. */
VCS_API vcs_status_t vcs_batch_send_to(vcs_batch_t *batch, const int32_t *ids, int32_t count, const int32_t *actions,
                                       const float *strengths, vcs_error_t *error);
VCS_API vcs_status_t vcs_batch_send_reset(vcs_batch_t *batch, const int32_t *ids, const int32_t *seeds, int32_t count,
                                          vcs_error_t *error);

/* Waits for and writes the first batch_size results that are ready; if batch_size is envs, in the order of the sends.
 * vcs_batch_next returns the number of results of the next receive: fewer than batch_size after fewer sends, 0 after
 * none. */
VCS_API vcs_status_t vcs_batch_receive(vcs_batch_t *batch, const vcs_batch_results_t *results, vcs_error_t *error);
VCS_API int32_t vcs_batch_next(const vcs_batch_t *batch);

/* Writes the actions of an environment as vcs_action_t and returns their number, or 0 if `env` is out of range. */
VCS_API int vcs_batch_actions(const vcs_batch_t *batch, int32_t env, int32_t actions[VCS_ACTIONS]);

/* Returns the 128 bytes of RAM of an environment between a receive and the next send, or NULL if `env` is out of range
 * or the batch is on a device (use results->ram there). */
VCS_API const uint8_t *vcs_batch_ram(const vcs_batch_t *batch, int32_t env);

/* States of environments: everything that a later step depends on, including generators and stack. Two environments
 * with the same state and the same actions behave identically. vcs_batch_copy writes `count` states (ids NULL: of all)
 * at intervals of vcs_batch_state_size bytes; most of this space is unused and not written. vcs_batch_restore writes
 * states into environments with the same cartridge, mode and difficulty, in this batch or in one with observations of
 * the same shape, and returns results of all environments like a reset. VCS_BAD_ARGUMENT: a state of another game,
 * impossible values, a batch before its first reset, results that were not received, or batch_size less than envs; then
 * nothing changes. On a device the results of environments that were not restored are not written, nor are any rewards,
 * terminated and truncated. */
VCS_API size_t vcs_batch_state_size(const vcs_batch_t *batch);
VCS_API vcs_status_t vcs_batch_copy(const vcs_batch_t *batch, const int32_t *ids, int32_t count, void *states,
                                    vcs_error_t *error);
VCS_API vcs_status_t vcs_batch_restore(vcs_batch_t *batch, const int32_t *ids, int32_t count, const void *states,
                                       const vcs_batch_results_t *results, vcs_error_t *error);

/* Converts ale-py's continuous actions, `count` triples of radius, angle and fire, to `count` actions of the full
 * action space and `count` strengths. A direction or fire above the threshold counts as held; ale-py's default is 0.5.
 */
VCS_API void vcs_batch_continuous(const float *polar, int32_t count, float threshold, int32_t *actions,
                                  float *strengths);

/* Returns the bytes of memory per environment (on a device: of device memory), without untouched reservations, and
 * writes the bytes per thread. */
VCS_API size_t vcs_batch_bytes(const vcs_batch_t *batch, size_t *per_thread);

#ifdef __cplusplus
}
#endif
#endif
