/* conformance.c: how exact the machine is, game by game, and how fast.
 *
 * PXC1, PXC2 and PXC-S are the paper's harnesses. PXC1 compares the CPU with the reference, instruction by instruction;
 * PXC-S compares RAM and the whole picture, frame by frame: both against records of the reference (vcs_verify),
 * whose chains cover every instruction and every frame. PXC2 compares two ports with each other: the machine, and a
 * console that was written apart from it and shares no function with it (src/oracle). A weaker comparison stands beside
 * it: three ways to run the same machine, the loop over decoded instructions (run.h), the CPU that takes every byte
 * over the bus (cpu.h), and that CPU on a softened bus at its sharpest (src/relax).
 */
#include <stdlib.h>
#include <string.h>

#include "paper/paper.h"
#include "core/state.h"
#include "diffvcs/grad.h"
#include "diffvcs/relax.h"
#include "host/parallel.h"
#include "oracle/oracle_port.h"
#include "diffvcs/study.h"

enum { RECORD_LIMIT = 1 << 28, SEEDS = 5 };

/* Mapper and the first digits of the SHA-256 that the paper lists, in the order of vcs_paper_games. */
static const struct {
  const char *mapper, *sha;
} listed[VCS_PAPER_GAMES] = {
    {"4K", "6b5a22ec074a"}, {"4K", "9cd556c7d7f5"},   {"4K", "da5b760d3ada"}, {"4K", "d32ca4dd9e84"},
    {"F8", "b6161db0530d"}, {"F8", "d1a6e808412b"},   {"4K", "cef4b7b91ea2"}, {"4K", "c32daffdb926"},
    {"F8", "efd6f639e724"}, {"F8", "83b30cb52649"},   {"4K", "cdff0422329d"}, {"2K", "dff44a85289f"},
    {"2K", "54760d7e0710"}, {"2K", "376323f051c3"},   {"4K", "80eab759b6bd"}, {"F8", "6def669f54bd"},
    {"4K", "055637282252"}, {"F8", "486ad4cc8956"},   {"4K", "e3c7ed7a073f"}, {"4K", "8d72feeb267d"},
    {"F6", "c0ea53a91a39"}, {"F8SC", "f3b3ad03fd8c"}, {"4K", "ca9bb89755a6"}, {"2K", "84753bc6ecb4"},
    {"2K", "3ef620234b98"}, {"4K", "cbfdad89480d"},   {"4K", "b4aff03aeb0f"}, {"F8", "17a19cd7b5ca"},
    {"F8", "75bd02ec7545"}, {"4K", "06df1fc568d9"},   {"E0", "995253f0d3a2"}, {"4K", "963e2d3da52b"},
    {"F8", "a2826eaea3a8"}, {"F8", "b40f10d14217"},   {"F8", "3f6501a649ad"}, {"E0", "69d363a74754"},
    {"F8", "dde0b43c5dee"}, {"4K", "cc219a7246e8"},   {"4K", "58e781b472e0"}, {"F8", "b01085bc5227"},
    {"4K", "c719b47714d8"}, {"2K", "41623e3c2614"},   {"4K", "ac9abbfc272d"}, {"F8", "c8f9ce1b2e80"},
    {"4K", "3257221832a7"}, {"4K", "4c6842b8af64"},   {"F6", "4b6c2e68d693"}, {"FE", "c186409481e6"},
    {"4K", "fbc29f4678f6"}, {"2K", "804eff5f0196"},   {"F6", "0afa36e5f4d8"}, {"4K", "7224b17462b9"},
    {"4K", "3ad501a39280"}, {"2K", "c6864f5c9f43"},   {"2K", "5a2052f020bf"}, {"F8", "8ea97e335a2f"},
    {"E0", "403397fe8583"}, {"F8", "74890a43e591"},   {"4K", "1870b0dd6fb1"}, {"4K", "cef82c39bbb0"},
    {"4K", "d44f2a115393"}, {"4K", "d69ee89e65c3"},   {"4K", "ff777c8d4ea0"}, {"F8", "e1c323ce00cc"}};

/* ---- Records --------------------------------------------------------------------------------------------------- */

typedef struct {
  char mapper[8], sha[13];
  int records;            /* play records found */
  int64_t frames;         /* compared */
  bool ram, screen, play; /* something differs */
  bool has_cpu, cpu_differs;
  int64_t instructions;       /* compared */
  int crossed, cross_differs; /* frames by three engines, and the first that differs */
  int ported, port_differs;   /* frames by the second port, and the first that differs */
  const char *port_part;      /* what differs there */
} conformance_t;

typedef struct {
  const vcs_section_t *section;
  vcs_progress_t progress;
  int seeds, cross_frames, port_frames;
  conformance_t games[VCS_PAPER_GAMES];
} job_t;

/* NULL: no such record. */
static char *read_record(const vcs_paper_t *paper, const char *folder, const char *game, int seed) {
  char name[VCS_PATH_SIZE];
  uint8_t *text;
  size_t size;
  int length = seed < 0 ? snprintf(name, sizeof name, "%s/%s/%s.tsv.gz", paper->records, folder, game)
                        : snprintf(name, sizeof name, "%s/%s/%s.%d.tsv.gz", paper->records, folder, game, seed);
  if (length >= (int)sizeof name || vcs_file_read(name, RECORD_LIMIT, &text, &size, NULL)) return NULL;
  return (char *)text;
}

static vcs_status_t verify(const vcs_paper_t *paper, const vcs_cart_t *cart, const char *game, int seeds,
                           conformance_t *c, vcs_error_t *error) {
  vcs_record_check_t check;
  vcs_status_t status = VCS_OK;
  for (int seed = 0; seed < seeds && status == VCS_OK && !vcs_interrupted(); seed++) {
    char *text = read_record(paper, "xitari", game, seed);
    if (!text) continue;
    status = vcs_verify(cart, text, (uint64_t)seed, NULL, &check, error);
    free(text);
    if (status) break;
    c->records++;
    c->frames += check.checked;
    if (check.differs_at < 0) continue;
    c->ram |= check.ram;
    c->screen |= check.screen;
    c->play |= check.play;
  }
  char *text = status == VCS_OK ? read_record(paper, "xitari-cpu", game, -1) : NULL;
  if (text) {
    status = vcs_verify(cart, text, 0, NULL, &check, error);
    c->has_cpu = true;
    c->cpu_differs = check.differs_at >= 0;
    c->instructions = check.checked;
    free(text);
  }
  return status;
}

/* ---- Three engines --------------------------------------------------------------------------------------------- */

static void frame_by_steps(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_step_t step = {0};
  vcs_frame_begin(cart, m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !step.frame_over && !step.jammed; i++) vcs_step(cart, m, frames, &step);
  vcs_frame_end(cart, m, frames);
}

typedef struct {
  vcs_t *loop, *steps;
  vcs_relax_t *relax;
  uint8_t *pictures[3];
} engines_t;

static vcs_status_t open_engines(const vcs_paper_game_t *game, engines_t *e, vcs_error_t *error) {
  const size_t size = vcs_state_size(game->rom.cart);
  const vcs_relax_options_t options = vcs_paper_relaxed(1000, 0.001);
  memset(e, 0, sizeof *e);
  e->loop = malloc(size);
  e->steps = malloc(size);
  for (int i = 0; i < 3; i++) e->pictures[i] = calloc(2, VCS_FRAME_BYTES);
  if (!e->loop || !e->steps || !e->pictures[0] || !e->pictures[1] || !e->pictures[2])
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  memcpy(e->loop, game->start, size);
  memcpy(e->steps, game->start, size);
  vcs_status_t status = vcs_relax_create(game->rom.cart, &options, &e->relax, error);
  if (status == VCS_OK) vcs_relax_load(e->relax, game->start);
  return status;
}

static void free_engines(engines_t *e) {
  vcs_relax_free(e->relax);
  free(e->loop);
  free(e->steps);
  for (int i = 0; i < 3; i++) free(e->pictures[i]);
}

/* Runs one frame with each of the three; returns whether machines and pictures are equal afterwards. */
static bool agree(const vcs_cart_t *cart, const engines_t *e, const vcs_controls_t *controls) {
  const size_t size = vcs_state_size(cart), two = 2 * VCS_FRAME_BYTES;
  vcs_control(cart, e->loop, controls);
  vcs_control(cart, e->steps, controls);
  vcs_relax_control(e->relax, controls);
  vcs_frame(cart, e->loop, e->pictures[0]);
  frame_by_steps(cart, e->steps, e->pictures[1]);
  vcs_relax_frame(e->relax, e->pictures[2]);
  return memcmp(e->loop, e->steps, size) == 0 && memcmp(e->loop, vcs_relax_machine(e->relax), size) == 0 &&
         memcmp(e->pictures[0], e->pictures[1], two) == 0 && memcmp(e->pictures[0], e->pictures[2], two) == 0;
}

static vcs_status_t cross(const vcs_paper_game_t *game, int frames, conformance_t *c, vcs_error_t *error) {
  engines_t engines;
  vcs_controls_t controls = game->idle;
  vcs_status_t status = open_engines(game, &engines, error);
  for (int f = 1; f <= frames && status == VCS_OK && !c->cross_differs && !vcs_interrupted(); f++) {
    controls.held[0] = (uint8_t)(f * 0x9E3779B9u >> 27);
    c->crossed = f;
    if (!agree(game->rom.cart, &engines, &controls)) c->cross_differs = f;
  }
  free_engines(&engines);
  return status;
}

/* ---- The second port -------------------------------------------------------------------------------------------- */

/* Random input: presses in most frames, each held for eight frames. */
static uint8_t some_buttons(int frame) { return (uint8_t)((uint32_t)(frame / 8 + 1) * 0x9E3779B9u >> 27); }

static vcs_status_t compare_ports(const vcs_paper_game_t *game, int frames, conformance_t *c, vcs_error_t *error) {
  const vcs_cart_t *cart = game->rom.cart;
  oracle_vcs_t *v = malloc(sizeof *v);
  vcs_t *m = malloc(vcs_state_size(cart));
  uint8_t *pictures = calloc(2, VCS_FRAME_BYTES);
  const bool room = v && m && pictures;
  vcs_controls_t controls = game->idle;
  if (room) {
    memcpy(m, game->start, vcs_state_size(cart));
    oracle_load(v, cart, m);
  }
  for (int f = 1; f <= frames && room && !c->port_differs && !vcs_interrupted(); f++) {
    controls.held[0] = some_buttons(f);
    vcs_control(cart, m, &controls);
    oracle_connect(v, m);
    vcs_frame(cart, m, pictures);
    oracle_frame(v);
    c->ported = f;
    c->port_part = oracle_difference(v, cart, m, vcs_picture(m, pictures));
    if (c->port_part) c->port_differs = f;
  }
  free(v);
  free(m);
  free(pictures);
  return room ? VCS_OK : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
}

/* ---- Conformance ----------------------------------------------------------------------------------------------- */

static vcs_status_t check_game(void *context, size_t item, vcs_error_t *error) {
  job_t *job = context;
  conformance_t *c = &job->games[item];
  vcs_paper_game_t game;
  vcs_status_t status =
      vcs_paper_game_open(job->section->paper, vcs_paper_games[item], VCS_PROFILE_XITARI, &game, error);
  if (status == VCS_OK) {
    const vcs_cart_info_t *info = vcs_cart_info(game.rom.cart);
    snprintf(c->mapper, sizeof c->mapper, "%s", info->scheme_name);
    snprintf(c->sha, sizeof c->sha, "%.12s", info->sha256);
    status = verify(job->section->paper, game.rom.cart, vcs_paper_games[item], job->seeds, c, error);
    if (status == VCS_OK) status = cross(&game, job->cross_frames, c, error);
    if (status == VCS_OK) status = compare_ports(&game, job->port_frames, c, error);
    vcs_paper_game_free(&game);
  }
  vcs_progress_add(&job->progress, 1);
  return status;
}

static const char *mark(bool known, bool differs) { return !known ? "no record" : differs ? "differs" : "exact"; }

static void write_games(vcs_section_t *section, const job_t *job, int count) {
  vcs_table_begin(
      section,
      "game|mapper|SHA-256|image|PXC-S: RAM|screen|rewards, lives|frames|PXC1: CPU|PXC2: second port|three engines");
  for (int i = 0; i < count; i++) {
    const conformance_t *c = &job->games[i];
    const bool same = strcmp(c->sha, listed[i].sha) == 0, seen = c->records > 0;
    vcs_table_row(section, "%s|%s%s%s|%s|%s|%s|%s|%s|%lld|%s|%s|%s", vcs_paper_games[i], c->mapper,
                  strcmp(c->mapper, listed[i].mapper) ? ", paper: " : "",
                  strcmp(c->mapper, listed[i].mapper) ? listed[i].mapper : "", c->sha,
                  same ? "the paper's" : "another dump", mark(seen, c->ram), mark(seen, c->screen), mark(seen, c->play),
                  (long long)c->frames, mark(c->has_cpu, c->cpu_differs), mark(c->ported > 0, c->port_differs),
                  mark(c->crossed > 0, c->cross_differs));
  }
  vcs_table_end(section);
}

static void write_sums(vcs_section_t *section, const job_t *job, int count) {
  int ram = 0, screen = 0, cpu = 0, crossed = 0, ported = 0, recorded = 0;
  long long frames = 0, instructions = 0;
  for (int i = 0; i < count; i++) {
    const conformance_t *c = &job->games[i];
    recorded += c->records > 0;
    ram += c->records > 0 && !c->ram;
    screen += c->records > 0 && !c->screen;
    cpu += c->has_cpu && !c->cpu_differs;
    crossed += c->crossed == job->cross_frames && !c->cross_differs;
    ported += c->ported == job->port_frames && !c->port_differs;
    if (c->port_differs)
      vcs_section_say(section, "%s: the second port differs in frame %d: %s", vcs_paper_games[i], c->port_differs,
                      c->port_part);
    frames += c->frames;
    instructions += c->instructions;
  }
  vcs_table_begin(section, "what|paper|ours|verdict");
  if (recorded == count) {
    vcs_table_row(section, "RAM-exact|64 of 64, 30 frames|%d of %d, %lld frames in all|%s", ram, count, frames,
                  vcs_verdict(section, ram == count));
    vcs_table_row(section, "pixel-exact|64 of 64, 60 frames|%d of %d, %lld frames in all|%s", screen, count, frames,
                  vcs_verdict(section, screen == count));
    vcs_table_row(section, "PXC1, per instruction|pass|%d of %d, %lld instructions|%s", cpu, count, instructions,
                  vcs_verdict(section, cpu == count));
  }
  vcs_table_row(section, "PXC2, a second port|pass|%d of %d, %d frames each|%s", ported, count, job->port_frames,
                vcs_verdict(section, ported == count));
  vcs_table_row(section, "three engines of the machine against each other|-|%d of %d, %d frames each|%s", crossed,
                count, job->cross_frames, vcs_check(section, crossed == count));
  vcs_table_end(section);
  if (recorded < count)
    vcs_section_say(section, "Records of the reference were found for %d of %d games in `%s` (--records).", recorded,
                    count, section->paper->records);
}

vcs_status_t vcs_paper_conformance(vcs_section_t *section, vcs_error_t *error) {
  const int count = section->paper->quick ? 3 : VCS_PAPER_GAMES;
  job_t *job = calloc(1, sizeof *job);
  if (!job) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  job->section = section;
  job->seeds = section->paper->quick ? 1 : SEEDS;
  job->cross_frames = section->paper->quick ? 20 : 120;
  job->port_frames = section->paper->quick ? 5 : 120;
  vcs_progress_start(&job->progress, section->name, (uint64_t)count, VCS_PROGRESS_AUTO);
  vcs_status_t status = vcs_paper_parallel(section, (size_t)count, check_game, job, error);
  vcs_progress_finish(&job->progress);
  if (status == VCS_OK && !vcs_interrupted()) {
    vcs_section_say(
        section,
        "PXC-S and PXC1 are against records of the reference (xitari): RAM, the whole picture, rewards and lives of "
        "every frame of five action streams, one of them of 36,000 frames (the paper: 30 and 60 frames), and every "
        "instruction of a million. PXC2 is against a second console, which shares no function and no table with the "
        "machine (src/oracle): registers, time, RAM, positions, collisions and pixels after each of %d frames. Weaker, "
        "and no claim of the paper's: three engines of the machine, which share its definitions of the operations, "
        "over %d frames.",
        job->port_frames, job->cross_frames);
    vcs_section_assume(section,
                       "profile xitari, whose generator is seeded before the console is made; the second port starts "
                       "from the booted machine, and buttons are pressed at random.");
    write_sums(section, job, count);
    write_games(section, job, count);
  }
  free(job);
  return status;
}

/* ---- Throughput ------------------------------------------------------------------------------------------------ */

typedef struct {
  const vcs_paper_game_t *game;
  double seconds; /* to measure for */
  vcs_relax_options_t options;
  uint64_t instructions, frames; /* that were run */
  double took;                   /* seconds */
} measure_t;

static void measure_hard(measure_t *measure) {
  const vcs_cart_t *cart = measure->game->rom.cart;
  vcs_t *m = malloc(vcs_state_size(cart));
  if (!m) return;
  memcpy(m, measure->game->start, vcs_state_size(cart));
  const uint32_t before = m->instructions, first = m->frames;
  const double start = vcs_seconds();
  while (vcs_seconds() - start < measure->seconds) {
    for (int i = 0; i < 20; i++) vcs_frame(cart, m, NULL);
  }
  measure->took = vcs_seconds() - start;
  measure->instructions = m->instructions - before;
  measure->frames = m->frames - first;
  free(m);
}

/* Starts anew again and again: a relaxed run diverges from the exact one, and may end in an endless loop. */
static void measure_relaxed(measure_t *measure) {
  vcs_relax_t *relax;
  if (vcs_relax_create(measure->game->rom.cart, &measure->options, &relax, NULL)) return;
  const bool reduced = measure->options.bus == VCS_BUS_REDUCED;
  const double start = vcs_seconds();
  while (vcs_seconds() - start < measure->seconds) {
    if (reduced)
      vcs_relax_load_reduced(relax);
    else
      vcs_relax_load(relax, measure->game->start);
    if (!reduced) vcs_relax_frame(relax, NULL);
    for (int i = 0; i < 3000 && reduced; i++) vcs_relax_step(relax, NULL);
    measure->instructions += vcs_relax_report(relax)->instructions;
  }
  measure->took = vcs_seconds() - start;
  vcs_relax_free(relax);
}

/* Forward and the gradient of one RAM byte with respect to everything, by `ste`, a frame at a time. */
static void measure_gradient(measure_t *measure) {
  const vcs_cart_t *cart = measure->game->rom.cart;
  const size_t slots = 8 * vcs_state_size(cart);
  float *state = calloc(slots, sizeof *state), *rom = calloc(8 * (size_t)cart->rom_size, sizeof *rom);
  float *adjoint = calloc(slots, sizeof *adjoint);
  vcs_grad_workspace_t *workspace = vcs_grad_workspace_create();
  const vcs_run_t run = {.cart = cart, .start = measure->game->start, .controls = &measure->game->idle, .frames = 1};
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.method = VCS_METHOD_STE;
  if (state && rom && adjoint && workspace) {
    const vcs_grad_inputs_t inputs = {.state = state, .rom = rom};
    const vcs_grad_outputs_t outputs = {.state = adjoint};
    adjoint[8 * (size_t)offsetof(vcs_t, ram)] = 1;
    const double start = vcs_seconds();
    while (vcs_seconds() - start < measure->seconds) {
      vcs_grad_report_t report;
      if (vcs_grad_vjp_in(workspace, &run, &options, &inputs, &outputs, &report, NULL)) break;
      measure->instructions += report.instructions;
    }
    measure->took = vcs_seconds() - start;
  }
  vcs_grad_workspace_free(workspace);
  free(state);
  free(rom);
  free(adjoint);
}

static bool measure_one(void *context, size_t item, int worker) {
  (void)worker;
  measure_hard(&((measure_t *)context)[item]);
  return true;
}

/* An array of NOOPs in the memory of a device; NULL: none. */
static int32_t *device_noops(int32_t device, int envs) {
  const size_t size = (size_t)envs * sizeof(int32_t);
  int32_t *zeros = calloc((size_t)envs, sizeof *zeros);
  void *actions = NULL;
  if (zeros && vcs_device_allocate(device, size, &actions, NULL) == VCS_OK &&
      vcs_device_move(device, actions, zeros, size, NULL) != VCS_OK) {
    vcs_device_free(device, actions);
    actions = NULL;
  }
  free(zeros);
  return actions;
}

/* A batch of environments whose pictures are not requested and that do nothing, a frame a step; frames a second, 0: it
 * could not be made.
 */
static double measure_batch(const vcs_paper_game_t *game, int32_t device, int envs, int threads, double seconds) {
  enum { QUEUED = 8 }; /* steps between two looks at the clock: a GPU's are queued */
  const vcs_cart_t *cart = game->rom.cart;
  int32_t *actions = device_noops(device, envs);
  const vcs_batch_results_t nothing = {0};
  vcs_batch_options_t options;
  vcs_batch_t *batch = NULL;
  uint64_t steps = 0;
  vcs_batch_defaults(&options);
  options.envs = envs;
  options.threads = threads;
  options.device = device;
  options.frame_skip = 1;
  options.max_pool = 0;
  if (device != VCS_CPU) { /* the only options for a batch without pictures */
    options.width = options.height = options.stack = 0;
    options.autoreset = VCS_AUTORESET_SAME_STEP;
    options.stack_in_place = 1;
  }
  vcs_status_t status =
      actions ? vcs_batch_create(&cart, 1, NULL, &options, &batch, NULL) : (vcs_status_t)VCS_NO_MEMORY;
  if (status == VCS_OK) status = vcs_batch_reset(batch, NULL, NULL, envs, &nothing, NULL);
  if (status == VCS_OK) status = vcs_batch_wait(batch, NULL);
  const double start = vcs_seconds();
  while (status == VCS_OK && vcs_seconds() - start < seconds) {
    for (int i = 0; i < QUEUED && status == VCS_OK; i++) {
      status = vcs_batch_step(batch, actions, NULL, &nothing, NULL);
      steps += (uint64_t)envs;
    }
    if (status == VCS_OK) status = vcs_batch_wait(batch, NULL);
  }
  const double took = vcs_seconds() - start;
  vcs_batch_free(batch);
  vcs_device_free(device, actions);
  return status == VCS_OK && steps ? (double)steps / took : 0;
}

/* The paper's batches, with a frame counted as the instructions that it has here. */
static void write_batches(vcs_section_t *section, const vcs_paper_game_t *game, double per_frame, double seconds) {
  static const struct {
    int envs;
    const char *paper;
  } rows[] = {{1, "30,200"}, {16, "35,200"}, {64, "48,300"}, {128, "55,900"}};
  vcs_section_say(
      section,
      "Batches on the CPU, all threads: environment frames a second, and as instructions (%.0f a frame):", per_frame);
  vcs_table_begin(section, "environments|frames/s|steps/s|paper: jaxtari on a CPU, steps/s");
  for (int i = 0; i < 4; i++) {
    const double frames = measure_batch(game, VCS_CPU, rows[i].envs, (int)section->paper->threads, seconds);
    vcs_table_row(section, "%d|%.0f|%.0f|%s", rows[i].envs, frames, frames * per_frame, rows[i].paper);
  }
  vcs_table_end(section);
}

static const char gpu_columns[] = "environments\tframes/s\tsteps/s\tpaper: jaxtari on a GTX 1080 Ti, steps/s";

/* The table of GPU batches in the record of a run on a GPU, tests/golden/gpu/throughput.tsv: that run's
 * sections/throughput.tsv below a line that names the machine. NULL: none; the caller frees *record. */
static const char *recorded_gpu_table(const vcs_paper_t *paper, char **record) {
  char name[VCS_PATH_SIZE];
  uint8_t *text = NULL;
  size_t size;
  const int length = snprintf(name, sizeof name, "%s/gpu/throughput.tsv", paper->records);
  const bool found = length < (int)sizeof name && !vcs_file_read(name, RECORD_LIMIT, &text, &size, NULL);
  *record = found ? (char *)text : NULL;
  return found ? strstr(*record, gpu_columns) : NULL;
}

/* The same on a GPU: measured where there is one, else as recorded. */
static void write_gpu(vcs_section_t *section, const vcs_paper_game_t *game, double per_frame, double seconds) {
  static const struct {
    int envs;
    const char *forward, *gradient;
  } rows[] = {{1, "2,458", "1,265"},
              {64, "258,747", "224,194"},
              {256, "677,299", "595,776"},
              {1024, "2,024,825", "1,819,602"},
              {4096, "2,949,204", "2,799,834"},
              {16384, "2,848,876", "2,575,793"},
              {65536, "2,599,829", "2,534,157"}};
  const char *missing = vcs_device_missing(VCS_GPU);
  char *record = NULL;
  const char *table = missing ? recorded_gpu_table(section->paper, &record) : NULL;
  if (!missing)
    vcs_section_say(section, "Batches on this computer's GPU:");
  else if (table)
    vcs_section_say(section, "Batches on a GPU, not measured here (%s) but recorded: %.*s.", missing,
                    (int)strcspn(record, "\n"), record);
  else
    vcs_section_say(section, "Batches on a GPU: not measured here, %s.", missing);
  vcs_table_begin(section,
                  "environments|frames/s|steps/s|paper: jaxtari on a GTX 1080 Ti, steps/s|"
                  "paper: forward and gradient");
  for (size_t i = 0; i < sizeof rows / sizeof *rows && !vcs_interrupted(); i++) {
    char beginning[16];
    double frames = missing ? 0 : measure_batch(game, VCS_GPU, rows[i].envs, 0, seconds), steps = frames * per_frame;
    snprintf(beginning, sizeof beginning, "\n%d\t", rows[i].envs);
    const char *row = table ? strstr(table, beginning) : NULL;
    if (row && sscanf(row + strlen(beginning), "%lf\t%lf", &frames, &steps) != 2) frames = 0;
    if (frames > 0)
      vcs_table_row(section, "%d|%.0f|%.0f|%s|%s", rows[i].envs, frames, steps, rows[i].forward, rows[i].gradient);
    else
      vcs_table_row(section, "%d|not measured here|not measured here|%s|%s", rows[i].envs, rows[i].forward,
                    rows[i].gradient);
  }
  vcs_table_end(section);
  free(record);
}

vcs_status_t vcs_paper_throughput(vcs_section_t *section, vcs_error_t *error) {
  enum { MACHINES_MAX = 64 };
  vcs_paper_game_t game;
  vcs_status_t status = vcs_paper_game_open(section->paper, "pong", VCS_PROFILE_XITARI, &game, error);
  if (status) return status;
  const double seconds = section->paper->quick ? 0.05 : 2;
  measure_t one = {.game = &game, .seconds = seconds}, gradient = one, many[MACHINES_MAX] = {{0}}, soft[5] = {{0}};
  static const char *const names[] = {"FULL, round, reduced bus (the paper's machine)", "FULL, round, real bus, +-4",
                                      "FULL, none, hard dispatch", "FULL, none, softmax over 256 opcodes",
                                      "FULL, round, real bus, whole array"};
  int machines = vcs_thread_count((int)section->paper->threads, MACHINES_MAX);
  double aggregate = 0;
  vcs_progress_t progress;
  vcs_progress_start(&progress, section->name, 8, VCS_PROGRESS_AUTO);
  measure_hard(&one);
  vcs_progress_add(&progress, 1);
  for (int i = 0; i < machines; i++) many[i] = one, many[i].instructions = 0;
  vcs_parallel((size_t)machines, machines, measure_one, many);
  for (int i = 0; i < machines; i++) aggregate += (double)many[i].instructions / many[i].took;
  vcs_progress_add(&progress, 1);
  measure_gradient(&gradient);
  vcs_progress_add(&progress, 1);
  for (int i = 0; i < 5 && !vcs_interrupted(); i++) {
    soft[i] = one;
    soft[i].instructions = 0;
    vcs_relax_defaults(&soft[i].options);
    soft[i].options.bus = i == 0 ? VCS_BUS_REDUCED : VCS_BUS_REAL;
    soft[i].options.single = i == 0;
    soft[i].options.window = i == 1 ? 4 : 0;
    soft[i].options.cast = i == 2 || i == 3 ? VCS_CAST_NONE : VCS_CAST_ROUND;
    soft[i].options.dispatch = i == 3 ? VCS_DISPATCH_ONE_HOT : VCS_DISPATCH_HARD;
    measure_relaxed(&soft[i]);
    vcs_progress_add(&progress, 1);
  }
  vcs_progress_finish(&progress);
  if (vcs_interrupted()) {
    vcs_paper_game_free(&game);
    return VCS_OK;
  }
  vcs_section_say(
      section,
      "Pong; a step is an instruction, as in the paper. Its numbers are of the CPU on a reduced bus, without a TIA; "
      "ours "
      "are of the whole console unless they say otherwise. Measured on this machine, now: `diffvcs paper --only "
      "throughput` measures again when something changed, docs/benchmarks.md has careful numbers.");
  vcs_section_assume(section,
                     "Pong, NOOP, profile xitari, pictures not drawn, whatever else this computer does at the moment. "
                     "Another unit and another machine than the paper's, so no verdicts.");
  vcs_table_begin(section, "what|steps/s|beside the paper's|paper");
  const double hard = (double)one.instructions / one.took, grad = (double)gradient.instructions / gradient.took;
  vcs_table_row(section, "HARD, one core|%.0f|%.0f x jutari|370,100 (jutari, M1 Max, one env)", hard, hard / 370100);
  vcs_table_row(section, "HARD, %d threads|%.0f|%.1f x jaxtari on a GPU|3,119,115 (jaxtari, GPU, 4096 envs)", machines,
                aggregate, aggregate / 3119115);
  vcs_table_row(
      section,
      "SOFT-STE, forward and gradient, one core|%.0f|%.1f x jaxtari on a GPU|2,799,834 (jaxtari, GPU, 4096 envs)", grad,
      grad / 2799834);
  for (int i = 0; i < 5; i++) {
    const double rate = (double)soft[i].instructions / soft[i].took;
    vcs_table_row(section, "%s, one core|%.0f|%.2f x jutari|370,100 (SOFT-STE; FULL was not timed)", names[i], rate,
                  rate / 370100);
  }
  vcs_table_end(section);
  const double per_frame = (double)one.instructions / (double)one.frames;
  write_batches(section, &game, per_frame, seconds);
  write_gpu(section, &game, per_frame, seconds);
  vcs_paper_game_free(&game);
  return VCS_OK;
}
