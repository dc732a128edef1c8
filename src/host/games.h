/* games.h: the games we know, one row each.
 *
 * A row holds everything that makes a cartridge a game for a learner: where the score, the lives and the ending are
 * (rule programs, see game_rules.h), which actions mean something, how the game is started and how its variations are
 * selected. Beside the games stands a table of consoles: how each known image wants its television and controllers.
 * Profiles follow their references: `xitari` picks a game by the file's name, `ale` by MD5 or name; both pick the
 * console by MD5 alone, and an unknown image gets the defaults. Profile `fixed` is `ale` with other rules for the games
 * whose rewards or endings ale-py has wrong (docs/games.md).
 */
#ifndef VCS_HOST_GAMES_H
#define VCS_HOST_GAMES_H

#include "game_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Console ------------------------------------------------------------------------------------------------ */

typedef struct vcs_console_props {
  vcs_scheme_t scheme; /* VCS_SCHEME_AUTO: detect from the image */
  vcs_format_t format; /* VCS_FORMAT_AUTO: probe by running */
  vcs_controller_t left, right;
  int16_t ystart, height;        /* first scanline shown and how many; a PAL image shows 250 where this says 210 */
  bool swap_ports, swap_paddles; /* left and right socket exchanged; paddle 0 and 1 exchanged */
  bool left_pro, right_pro;      /* difficulty switches: false is B, true is A */
  bool black_and_white;          /* television type switch */
  bool hmove_blanks;             /* the comb of blanks that HMOVE draws */
} vcs_console_props_t;

/* Properties of an image by MD5 (32 lower-case hex digits); the reference's defaults when it is unknown. */
void vcs_game_props(vcs_profile_t profile, const char *md5_hex, vcs_console_props_t *out);

/* ---- Games -------------------------------------------------------------------------------------------------- */

/* Actions are ALE's codes 0 (NOOP) to 17 (DOWNLEFTFIRE); boots also press the console's switches. */
enum { VCS_PRESS_RESET = 40, VCS_PRESS_SELECT = 46 };

enum { VCS_ALL_ACTIONS = (1 << 18) - 1 };
enum { VCS_GAME_MODES = 160, VCS_GAME_PRESSES = 8 }; /* the longest lists */

typedef struct vcs_press {
  uint8_t action, second; /* of the first and the second player */
  uint16_t frames;
} vcs_press_t;

/* What a row says about several players (game_rules.h). The modes are those of multi_agent_ale_py, which PettingZoo's
 * environments name; other programs for one player number modes differently. */
typedef struct vcs_players {
  const char *modes2, *modes4; /* lists of modes for two and four players, or NULL; the first is the default */
  const char *script;          /* how a mode is selected */
  int32_t load;                /* the mode in which multi_agent_ale_py loads the game, often one for one player */
  const char *rule, *start;    /* programs; score, reward, lives, over and m0..m2 are 0 before `start` runs */
  const char *fixed_rule;      /* profile fixed; NULL: as in profile ale */
  const char *press;           /* starting actions; "/FIRE" is one of the second player */
  uint32_t minimal;            /* the actions that mean something; 0: those of one player */
} vcs_players_t;

/* A row. In profile xitari the members named xitari_ replace those without the prefix, unless they are NULL (0). */
typedef struct vcs_game {
  const char *name;
  uint8_t profiles;                 /* bit p: profile p has the game */
  uint32_t minimal;                 /* the actions that mean something, a bit each */
  const char *md5;                  /* known dumps, separated by blanks; the first is the one ale-py carries */
  const char *alias;                /* another name, or NULL */
  const char *rule, *xitari_rule;   /* after every frame */
  const char *fixed_rule;           /* profile fixed; NULL: as in profile ale, where nothing is known to be wrong */
  int32_t wraps;                    /* profile fixed: the score is counted modulo this; 0: it does not wrap */
  const char *start, *xitari_start; /* after a reset; score, reward, lives, over and m0..m2 are 0 before it runs */
  const char *press, *xitari_press; /* starting actions: "FIRE*16 NOOP RESET" */
  uint32_t xitari_minimal;
  uint32_t illegal;                           /* actions that become NOOP */
  int32_t reward_min, reward_max, max_frames; /* profile xitari; see the functions below */
  int32_t paddle_max;                         /* profile ale: upper end of the paddle's range; 0: the usual one */
  const char *difficulties; /* profile ale: "03"; bit 0 is the left switch on A, bit 1 the right; NULL: "0" */
  const char *modes;        /* profile ale: "0-3 16 32-96/32", the first one is the default; NULL: "0" */
  const char *mode_script;  /* profile ale: how a mode is selected; NULL: nothing to do */
  vcs_players_t players;    /* profiles ale and fixed */
} vcs_game_t;

/* A game's programs, compiled. Plain data without pointers. */
typedef struct vcs_game_code {
  vcs_rule_t start, step, mode;
} vcs_game_code_t;

/* The games of the references; our own cartridge is found like them, but not counted. */
int vcs_game_count(void);
const vcs_game_t *vcs_game_at(int index); /* NULL outside 0 .. count - 1; rows are in alphabetical order */

/* The game of an image, or NULL. Either argument may be NULL. Name is a file's stem or a game's name or alias. Profile
 * `xitari` goes by the name, profile `ale` takes the first row with that name (in any case) or that MD5; then both try
 * the other dumps we know. Games the profile does not have are not found. */
const vcs_game_t *vcs_game_find(vcs_profile_t profile, const char *md5_hex, const char *name);
bool vcs_game_has(const vcs_game_t *game, vcs_profile_t profile);
bool vcs_game_is_two_player(const vcs_game_t *game); /* no rules known: no reward, never over */

/* The row as a profile sees it; compiling adds what follows from `wraps`. */
const char *vcs_game_rule(const vcs_game_t *game, vcs_profile_t profile);
const char *vcs_game_start(const vcs_game_t *game, vcs_profile_t profile);
uint32_t vcs_game_minimal(const vcs_game_t *game, vcs_profile_t profile);
void vcs_game_reward_range(const vcs_game_t *game, int32_t *min, int32_t *max); /* of one frame, as xitari states it */
int32_t vcs_game_max_frames(const vcs_game_t *game, vcs_profile_t profile);     /* an episode ends then; 0: never */

/* Compiles a row's programs. */
vcs_status_t vcs_game_compile(const vcs_game_t *game, vcs_profile_t profile, vcs_game_code_t *out, vcs_error_t *error);
vcs_status_t vcs_game_compile_players(const vcs_game_t *game, vcs_profile_t profile, vcs_game_code_t *out,
                                      vcs_error_t *error);

/* The compiled programs of a row of the table (of no other): made at the first call, safe from several threads. */
const vcs_game_code_t *vcs_game_code(const vcs_game_t *game, vcs_profile_t profile);

/* The programs of several players, or NULL if the game has none for them in this profile. */
const vcs_game_code_t *vcs_game_players_code(const vcs_game_t *game, vcs_profile_t profile);

/* The values after the reference resets its settings, and after a frame. `cart_ram` is Superchip RAM (128 bytes, by low
 * seven address bits) or NULL. */
void vcs_game_reset(const vcs_game_t *game, vcs_profile_t profile, vcs_play_t *play);
void vcs_game_step(const vcs_game_t *game, vcs_profile_t profile, vcs_play_t *play, const uint8_t ram[128],
                   const uint8_t *cart_ram);

/* The same on compiled programs, for batches and for the GPU. */
VCS_FN void vcs_game_code_reset(const vcs_game_code_t *code, vcs_play_t *play) {
  const int32_t kept = play->mem[3];
  play->score = play->reward = play->lives = play->over = 0;
  for (int i = 0; i < 3; i++) play->mem[i] = 0;
  play->mem[3] = kept;
  vcs_rule_run_t run;
  vcs_rule_begin(&run, 0);
  vcs_rule_continue(&code->start, &run, play, NULL, NULL);
}

/* The same for one of several players. */
VCS_FN void vcs_game_code_reset_player(const vcs_game_code_t *code, vcs_play_t *play, int32_t player, int32_t mode) {
  play->score = play->reward = play->lives = play->over = 0;
  for (int i = 0; i < 3; i++) play->mem[i] = 0;
  play->mem[3] = player;
  vcs_rule_run_t run;
  vcs_rule_begin(&run, mode);
  vcs_rule_continue(&code->start, &run, play, NULL, NULL);
}

VCS_FN void vcs_game_code_step(const vcs_game_code_t *code, vcs_play_t *play, const uint8_t *ram,
                               const uint8_t *cart_ram) {
  vcs_rule_run_t run;
  vcs_rule_begin(&run, 0);
  vcs_rule_continue(&code->step, &run, play, ram, cart_ram);
}

/* ---- Starting actions, modes, difficulties ------------------------------------------------------------------ */

/* Starting actions, in order; returns how many entries. Each is emulated for `frames` frames as it is (no filter of
 * illegal actions), and the rules step after each frame. */
int vcs_game_presses(const vcs_game_t *game, vcs_profile_t profile, int players, vcs_press_t out[VCS_GAME_PRESSES]);

/* The modes of profile `ale` for so many players, ascending; returns how many, 0 if the game has none. The first is the
 * default. */
int vcs_game_modes(const vcs_game_t *game, int players, uint16_t out[VCS_GAME_MODES]);

/* Whether profile `ale` offers a mode of one player, a difficulty. */
bool vcs_game_has_mode(const vcs_game_t *game, int mode);
bool vcs_game_has_difficulty(const vcs_game_t *game, int difficulty);

/* How a mode is selected (profile `ale`): a script that makes requests until it ends.
 *
 *     vcs_rule_run_t run;
 *     vcs_rule_op_t ask;
 *     vcs_rule_begin(&run, mode);
 *     while ((ask = vcs_game_mode_next(code, &run, &play, ram, cart_ram)) != VCS_RULE_END) ...
 *
 *   VCS_RULE_SELECT  hold SELECT for run.arg[0] frames (and rng % run.arg[1] more if that is not 0) in which the rules
 *                    do not step, then one NOOP frame in which they do
 *   VCS_RULE_ACT     one act of action run.arg[0]: as from a player, so refused once the game is over
 *   VCS_RULE_RESET   a soft reset: four RESET frames
 *
 * Every script ends on its own cartridge; with another image in the slot it may not, so a caller gives up after
 * VCS_MODE_PATIENCE requests. */
enum { VCS_MODE_PATIENCE = 4096 };
vcs_rule_op_t vcs_game_mode_next(const vcs_game_code_t *code, vcs_rule_run_t *run, vcs_play_t *play,
                                 const uint8_t ram[128], const uint8_t *cart_ram);

#ifdef __cplusplus
}
#endif

#endif
