/* facts.c: short sections about facts that the paper states in passing: its modes and fixed settings, the seed of the
 * Superchip's RAM, and the derivative of the program counter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paper/paper.h"
#include "core/state.h"
#include "diffvcs/relax.h"
#include "diffvcs/study.h"
#include "grad/tape.h"

static const char invaders[] = "space_invaders";

/* ---- Modes and settings ----------------------------------------------------------------------------------------- */

enum { MODE_FRAMES = 60, OPCODES = 256 };

/* The first of some frames after which a relaxed run differs from the exact one; 0: none, -1: no memory. */
static int relaxed_differs(const vcs_paper_game_t *game, double alpha, double temperature) {
  const vcs_cart_t *cart = game->rom.cart;
  vcs_relax_options_t options = vcs_paper_relaxed(alpha, temperature);
  vcs_relax_t *relax;
  int differs = 0;
  options.window = 4;
  options.wrap = 1;
  vcs_t *m = malloc(vcs_state_size(cart));
  if (!m || vcs_relax_create(cart, &options, &relax, NULL)) {
    free(m);
    return -1;
  }
  memcpy(m, game->start, vcs_state_size(cart));
  vcs_relax_load(relax, m);
  for (int f = 1; f <= MODE_FRAMES && !differs; f++) {
    vcs_frame(cart, m, NULL);
    vcs_relax_frame(relax, NULL);
    if (memcmp(vcs_relax_machine(relax), m, vcs_state_size(cart)) != 0) differs = f;
  }
  vcs_relax_free(relax);
  free(m);
  return differs;
}

/* The same for the run that SOFT-STE differentiates. */
static int soft_differs(const vcs_paper_game_t *game) {
  const vcs_cart_t *cart = game->rom.cart;
  const size_t size = vcs_state_size(cart);
  vcs_t *hard = malloc(size), *soft = malloc(size);
  vcs_tape_t *tape = NULL;
  int differs = -1;
  if (hard && soft && vcs_tape_create(cart, &tape, NULL) == VCS_OK) {
    memcpy(hard, game->start, size);
    memcpy(soft, game->start, size);
    differs = 0;
    for (int f = 1; f <= MODE_FRAMES && !differs; f++) {
      vcs_frame(cart, hard, NULL);
      if (!vcs_tape_record(tape, cart, soft, NULL) || memcmp(hard, soft, size) != 0) differs = f;
    }
  }
  vcs_tape_free(tape);
  free(hard);
  free(soft);
  return differs;
}

static void write_modes(vcs_section_t *section, const vcs_paper_game_t *game) {
  const int soft = soft_differs(game), inside = relaxed_differs(game, 6, 0.14),
            outside = relaxed_differs(game, 5.5, 0.145);
  vcs_section_say(section, "The modes, each run for %d frames of Space Invaders:", MODE_FRAMES);
  vcs_table_begin(section, "mode|paper: forward|ours: first frame that differs from HARD|verdict|gradient|used for");
  vcs_table_row(section, "HARD|bit-exact|-||none (here: exact effects by running again)|conformance");
  vcs_table_row(section, "SOFT-STE|= HARD|%s|%s|surrogate (<code>ste</code>)|attribution", soft ? "differs" : "none",
                vcs_verdict(section, soft == 0));
  vcs_table_row(section, "FULL (6, 0.14)|exact in the corner|%s|%s|relaxed|the limit T to 0",
                inside ? "differs" : "none", vcs_verdict(section, inside == 0));
  vcs_table_row(section, "FULL (5.5, 0.145)|not exact|%d|%s|relaxed|the limit T to 0", outside,
                vcs_verdict(section, outside > 0));
  vcs_table_end(section);
}

static void write_parameters(vcs_section_t *section, const vcs_paper_game_t *game) {
  const unsigned frames = game->start->frames;
  vcs_section_say(section, "Fixed settings:");
  vcs_table_begin(section, "setting|paper|here|verdict");
  vcs_table_row(section, "sharpness alpha, gradient shapes|2, 6, 20|2, 6, 20|");
  vcs_table_row(section, "temperature T|swept|swept, 0.02 to 0.30|");
  vcs_table_row(section,
                "numbers|float32, integers within 2^24|integers (HARD, SOFT-STE); double (FULL; float on the reduced "
                "bus)|");
  vcs_table_row(section, "boot|60 NOOP and 4 RESET frames|%u frames: 60 to probe the television, 60 NOOP, 4 RESET|%s",
                frames, vcs_verdict(section, frames == 124));
  vcs_table_row(section, "start of an episode|0 to 30 NOOPs at random|the same (batches); none on this page|");
  vcs_table_row(section, "conformance window|30 frames (RAM), 60 (screen)|60,000 frames a game|");
  vcs_table_row(section, "throughput: rollout|3,000 instructions|whole frames for two seconds|");
  vcs_table_row(section, "throughput: batches|1 to 65,536|1 to 128 on the CPU, 1 to 65,536 on a GPU|");
  vcs_table_row(section, "opcode bytes|189|%d|%s", OPCODES, vcs_verdict(section, OPCODES == 189));
  vcs_table_row(section, "cartridge mappers|9|%d|%s", VCS_SCHEME_COUNT - 1,
                vcs_verdict(section, VCS_SCHEME_COUNT - 1 == 9));
  vcs_table_end(section);
  vcs_section_say(section,
                  "The paper's nine mappers do not include FE, which its own table of games gives for Robot Tank.");
}

vcs_status_t vcs_paper_settings(vcs_section_t *section, vcs_error_t *error) {
  vcs_paper_game_t game;
  vcs_status_t status = vcs_paper_game_open(section->paper, invaders, VCS_PROFILE_XITARI, &game, error);
  if (status) return status;
  vcs_section_assume(section,
                     "the whole machine, profile xitari, NOOP; FULL with hard dispatch, rounding, reads over +-4 "
                     "cells.");
  write_modes(section, &game);
  write_parameters(section, &game);
  vcs_paper_game_free(&game);
  return VCS_OK;
}

/* ---- The Superchip's seed --------------------------------------------------------------------------------------- */

enum { SEEDS = 5, SEED_FRAMES = 600, PAPER_RAM_FRAMES = 30 };

typedef struct {
  int ram, screen; /* the first frame after which they differ from those of seed 0; 0: none */
  int frames;      /* with another picture */
  bool extra;      /* cartridge RAM is another one after the boot, ... */
  bool at_boot;    /* ... and so is RAM */
} seed_result_t;

/* Elevator Action beside itself, its cartridge RAM seeded with 0 and with `seed`. */
static vcs_status_t compare_seeds(const vcs_paper_t *paper, uint32_t seed, int frames, seed_result_t *result,
                                  vcs_error_t *error) {
  vcs_rom_options_t choice = paper->choice;
  vcs_rom_t rom[2] = {{0}};
  vcs_env_t *env[2] = {NULL, NULL};
  vcs_status_t status = VCS_OK;
  choice.profile = VCS_PROFILE_XITARI;
  memset(result, 0, sizeof *result);
  for (int i = 0; i < 2 && status == VCS_OK; i++) {
    status = vcs_rom_open("elevator_action", &choice, &rom[i], error);
    if (status) break;
    rom[i].cart->random_seed = i ? seed : 0;
    status = vcs_env_create(rom[i].cart, &env[i], error);
  }
  if (status == VCS_OK) {
    const vcs_t *a = vcs_env_machine(env[0]), *b = vcs_env_machine(env[1]);
    const size_t pixels = (size_t)(VCS_WIDTH * rom[0].cart->frame_height);
    result->extra = memcmp(a->cart_ram, b->cart_ram, 128) != 0;
    result->at_boot = memcmp(a->ram, b->ram, sizeof a->ram) != 0;
    for (int f = 1; f <= frames; f++) {
      for (int i = 0; i < 2; i++) vcs_env_act_on(env[i], VCS_NOOP, VCS_NOOP);
      a = vcs_env_machine(env[0]), b = vcs_env_machine(env[1]);
      const bool other = memcmp(vcs_env_screen(env[0]), vcs_env_screen(env[1]), pixels) != 0;
      if (!result->ram && memcmp(a->ram, b->ram, sizeof a->ram) != 0) result->ram = f;
      if (!result->screen && other) result->screen = f;
      result->frames += other;
    }
  }
  for (int i = 0; i < 2; i++) {
    vcs_env_free(env[i]);
    if (rom[i].cart) vcs_rom_free(&rom[i]);
  }
  return status;
}

vcs_status_t vcs_paper_superchip(vcs_section_t *section, vcs_error_t *error) {
  const int frames = section->paper->quick ? 60 : SEED_FRAMES;
  seed_result_t results[SEEDS];
  for (uint32_t seed = 0; seed < SEEDS; seed++) {
    vcs_status_t status = compare_seeds(section->paper, seed, frames, &results[seed], error);
    if (status) return status;
  }
  vcs_section_say(section,
                  "Elevator Action reads the 128 bytes of its cartridge's RAM before it writes them. xitari fills them "
                  "from a generator that it seeds with the time, whatever seed is set. Here the seed is a setting of "
                  "the cartridge: runs with other seeds beside the run with seed 0.");
  vcs_section_assume(section, "the exact machine, profile xitari, the usual boot, NOOP, %d frames.", frames);
  vcs_table_begin(section,
                  "seed|cartridge RAM after the boot|RIOT RAM after the boot|RIOT RAM differs, frame|screen differs, "
                  "frame|frames with another picture");
  for (int i = 0; i < SEEDS; i++) {
    char ram[16] = "never", screen[16] = "never";
    if (results[i].ram) snprintf(ram, sizeof ram, "%d", results[i].ram);
    if (results[i].screen) snprintf(screen, sizeof screen, "%d", results[i].screen);
    vcs_table_row(section, "%d|%s|%s|%s|%s|%d", i, results[i].extra ? "another" : "the same",
                  results[i].at_boot ? "another" : "the same", ram, screen, results[i].frames);
  }
  vcs_table_end(section);
  bool differ = true, hidden = true;
  for (int i = 1; i < SEEDS; i++) {
    differ = differ && results[i].screen;
    hidden = hidden && (!results[i].ram || results[i].ram > PAPER_RAM_FRAMES);
  }
  vcs_table_begin(section, "claim|paper|ours|verdict");
  vcs_table_row(section, "the picture depends on the seed|yes|%s|%s", differ ? "yes" : "no",
                vcs_verdict(section, differ));
  vcs_table_row(section, "with the seed pinned, runs are equal|yes|%s|%s", results[0].screen ? "no" : "yes",
                vcs_verdict(section, !results[0].screen && !results[0].ram));
  vcs_table_row(section, "a RAM check of %d frames does not see it|yes|RIOT RAM differs from frame %d on|%s",
                PAPER_RAM_FRAMES, results[1].ram, vcs_verdict(section, hidden));
  vcs_table_end(section);
  return VCS_OK;
}

/* ---- The counter's derivative ----------------------------------------------------------------------------------- */

enum { BRANCHES = 8, COUNTER_FRAMES = 300, COUNTER_STEPS = 4 };
static const double counter_alphas[] = {2, 6, 20};

/* The eight branches: opcode, name, the flag, and 1 if they branch when it is set. */
static const struct {
  uint8_t opcode;
  const char *name;
  int slot, when;
} branches[BRANCHES] = {{0x10, "BPL", VCS_SLOT_N, 0}, {0x30, "BMI", VCS_SLOT_N, 1}, {0x50, "BVC", VCS_SLOT_V, 0},
                        {0x70, "BVS", VCS_SLOT_V, 1}, {0x90, "BCC", VCS_SLOT_C, 0}, {0xB0, "BCS", VCS_SLOT_C, 1},
                        {0xD0, "BNE", VCS_SLOT_Z, 0}, {0xF0, "BEQ", VCS_SLOT_Z, 1}};

static int branch_number(uint8_t opcode) {
  for (int i = 0; i < BRANCHES; i++) {
    if (branches[i].opcode == opcode) return i;
  }
  return -1;
}

/* The derivatives of all numbers after some instructions with respect to one number before them: an array of
 * *count, which is allocated. */
static vcs_status_t derivatives_of(const vcs_cart_t *cart, const vcs_t *m, const vcs_relax_options_t *options, int slot,
                                   int steps, double **d_state, size_t *count, vcs_error_t *error) {
  vcs_relax_t *relax;
  *d_state = NULL;
  vcs_status_t status = vcs_relax_create(cart, options, &relax, error);
  if (status) return status;
  double *d_input = calloc(vcs_relax_input_slots(relax), sizeof *d_input);
  *count = vcs_relax_state_slots(relax);
  *d_state = calloc(*count, sizeof **d_state);
  if (d_input && *d_state) {
    vcs_relax_load(relax, m);
    d_input[slot] = 1;
    status = vcs_relax_jvp(relax, steps, d_input, *d_state, error);
  } else {
    status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  free(d_input);
  vcs_relax_free(relax);
  return status;
}

/* d(program counter)/d(flag) of one branch by a product forwards, for each alpha. */
static vcs_status_t branch_derivatives(const vcs_cart_t *cart, const vcs_t *m, int branch, double found[3],
                                       vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  for (int a = 0; a < 3 && status == VCS_OK; a++) {
    const vcs_relax_options_t options = vcs_paper_relaxed(counter_alphas[a], 0.02);
    double *d_state;
    size_t count;
    status = derivatives_of(cart, m, &options, branches[branch].slot, 1, &d_state, &count, error);
    if (status == VCS_OK) found[a] = d_state[VCS_SLOT_PC];
    free(d_state);
  }
  return status;
}

/* The largest derivative of a register other than the counter and of RAM, some instructions after the counter moved. */
static vcs_status_t counter_reaches(const vcs_cart_t *cart, const vcs_t *m, double temperature, int steps,
                                    double *largest, vcs_error_t *error) {
  vcs_relax_options_t options;
  vcs_relax_defaults(&options);
  options.temperature = temperature;
  double *d_state;
  size_t count;
  const vcs_status_t status = derivatives_of(cart, m, &options, VCS_SLOT_PC, steps, &d_state, &count, error);
  *largest = 0;
  for (size_t i = 0; status == VCS_OK && i < count; i++) {
    if (i != VCS_SLOT_PC) *largest = fmax(*largest, fabs(d_state[i]));
  }
  free(d_state);
  return status;
}

static vcs_status_t write_reach(vcs_section_t *section, const vcs_cart_t *cart, const vcs_t *m, vcs_error_t *error) {
  static const double hot[] = {0.02, 0.05, 0.08, 0.11, 0.14};
  static const int steps[COUNTER_STEPS] = {1, 10, 100, 1000};
  vcs_section_say(section,
                  "Where it goes from there: the largest derivative of a register, a cell of RAM or a number of the "
                  "chips with respect to the counter, some instructions later. In SOFT-STE a read has no derivative "
                  "with respect to its address, so that the counter's derivative reaches nothing but return addresses "
                  "on the stack. FULL reads between the bytes of the program:");
  vcs_table_begin(section, "instructions|FULL, T = 0.02|0.05|0.08|0.11|0.14");
  for (int s = 0; s < COUNTER_STEPS; s++) {
    double found[5] = {0};
    for (int t = 0; t < 5; t++) {
      vcs_status_t status = counter_reaches(cart, m, hot[t], steps[s], &found[t], error);
      if (status) return status;
    }
    vcs_table_row(section, "%d|%.2g|%.2g|%.2g|%.2g|%.2g", steps[s], found[0], found[1], found[2], found[3], found[4]);
  }
  vcs_table_end(section);
  return VCS_OK;
}

/* Walks through frames until every branch has been met, and writes a row for the first of each. */
static vcs_status_t write_branches(vcs_section_t *section, const vcs_cart_t *cart, vcs_t *m, vcs_error_t *error) {
  bool met[BRANCHES] = {false};
  vcs_status_t status = VCS_OK;
  vcs_table_begin(section,
                  "branch|offset|taken|2 s alpha g (1 - g) offset: alpha = 2|alpha = 6|alpha = 20|ours: 2|6|20|"
                  "verdict");
  vcs_frame_begin(cart, m);
  for (int i = 0; i < 4 * VCS_FRAME_INSTRUCTIONS && status == VCS_OK; i++) {
    vcs_step_t step;
    const int branch = branch_number(vcs_peek(cart, m, m->pc));
    if (branch >= 0 && !met[branch]) {
      const int offset = (int8_t)vcs_peek(cart, m, (uint16_t)(m->pc + 1));
      static const uint8_t bits[] = {0x80, 0x80, 0x40, 0x40, 0x01, 0x01, 0x02, 0x02};
      const int flag = (m->p & bits[branch]) != 0, sign = branches[branch].when ? 1 : -1;
      double found[3] = {0}, expected[3];
      bool same = true;
      met[branch] = true;
      status = branch_derivatives(cart, m, branch, found, error);
      for (int a = 0; a < 3; a++) {
        const double z = sign * (2 * flag - 1), g = 1 / (1 + exp(-counter_alphas[a] * z));
        expected[a] = 2 * sign * counter_alphas[a] * g * (1 - g) * offset;
        same = same && fabs(found[a] - expected[a]) < 1e-9 * (1 + fabs(expected[a]));
      }
      vcs_table_row(section, "%s|%d|%s|%.4g|%.4g|%.4g|%.4g|%.4g|%.4g|%s", branches[branch].name, offset,
                    flag == branches[branch].when ? "yes" : "no", expected[0], expected[1], expected[2], found[0],
                    found[1], found[2], vcs_verdict(section, same));
    }
    vcs_step(cart, m, NULL, &step);
    if (!step.frame_over) continue;
    vcs_frame_end(cart, m, NULL);
    vcs_frame_begin(cart, m);
  }
  vcs_table_end(section);
  return status;
}

vcs_status_t vcs_paper_counter(vcs_section_t *section, vcs_error_t *error) {
  vcs_paper_game_t game;
  vcs_status_t status = vcs_paper_game_open(section->paper, invaders, VCS_PROFILE_XITARI, &game, error);
  if (status) return status;
  const vcs_cart_t *cart = game.rom.cart;
  for (int f = 0; f < COUNTER_FRAMES; f++) vcs_frame(cart, game.start, NULL);
  vcs_section_say(
      section,
      "Theorem 1: the counter that a branch returns carries the derivative alpha g (1 - g) delta with "
      "respect to z = s (2f - 1), so 2 s alpha g (1 - g) delta with respect to the flag f. The first branch "
      "of each kind in Space Invaders from frame %d on:",
      COUNTER_FRAMES);
  vcs_section_assume(section,
                     "the whole machine, rounding with the derivative of the identity, hard dispatch; T = 0.02 for the "
                     "branches, which it does not enter.");
  status = write_branches(section, cart, game.start, error);
  if (status == VCS_OK) status = write_reach(section, cart, game.start, error);
  if (status == VCS_OK)
    vcs_section_say(section,
                    "So the derivative of the counter is the one that the paper gives. What the other side of the "
                    "branch would do is not in it in any mode "
                    "(<a href=\"#joystick\">joystick</a>).");
  vcs_paper_game_free(&game);
  return status;
}
