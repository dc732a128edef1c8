/* setup.h: what the commands about derivatives share: a game played up to a frame, the frames of nothing that follow
 * (the run that is differentiated), and the names of inputs and methods. The run may instead be the last frames of the
 * game itself, with what was pressed in them.
 *
 * Whether the game is over does not matter here: frames go on, as on a real machine.
 */
#ifndef VCS_STUDY_SETUP_H
#define VCS_STUDY_SETUP_H

#include "cli/common.h"
#include "diffvcs/grad.h"

typedef struct {
  const char *rom, *actions; /* actions: "NOOP*60,RIGHT*4", or NULL: those of the stream */
  int64_t seed, frame, horizon;
  bool replay; /* the run is the last `horizon` of the `frame` frames, as they were played, instead of frames behind
                  them */
  vcs_cart_choice_t choice;
} vcs_setup_choice_t;

typedef struct {
  vcs_rom_t rom;
  vcs_env_t *env; /* after `frame` frames */
  vcs_controls_t *controls;
  int64_t frame;
  vcs_run_t run; /* `horizon` frames, in which nobody does anything unless they are replayed; points into the others */
} vcs_setup_t;

/* Completes a choice from the command line: one of --seed and --actions; 300 frames, if nothing says how many. Returns
 * VCS_ARGS_GO or the exit code, having complained. */
int vcs_setup_complete(vcs_setup_choice_t *choice, const char *command);

/* Opens the cartridge and plays. On success vcs_setup_free is due. A frame of -1 means: as many as there are actions.
 */
vcs_status_t vcs_setup_open(const vcs_setup_choice_t *choice, vcs_setup_t *setup, vcs_error_t *error);
void vcs_setup_free(vcs_setup_t *setup);

/* ---- Inputs ------------------------------------------------------------------------------------------------- */

const char *vcs_input_name(int input);         /* "up" ... "fire", "up2" ... "fire2", "reset", "select" */
int vcs_input_by_name(const char *name);       /* in any case; -1: none */
void vcs_input_names(char *text, size_t size); /* all of them, for complaints */

/* ---- Methods ------------------------------------------------------------------------------------------------ */

#define VCS_METHOD_CHOICES "naive|ste|bit|bit+fork"
enum { VCS_CLI_METHODS = 4, VCS_CLI_BIT = 2, VCS_CLI_BIT_FORK = 3, VCS_CLI_WINDOW = 256 };

const char *vcs_cli_method_name(int method);                 /* of the choices above */
int vcs_cli_method_by_name(const char *name, size_t length); /* -1: none */

/* The defaults of that method, with forks of at most `window` instructions where it has forks. */
void vcs_cli_method_options(int method, int64_t window, vcs_grad_options_t *options);

#endif
