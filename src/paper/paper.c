/* paper.c: `diffvcs paper`: reproduces every table and figure of "A Differentiable Atari VCS", on one page.
 *
 * The work is in the sections (the other files of src/paper). Each one's HTML is kept in the folder as
 * sections/NAME.html, whose first line is a key: a digest of this program, the images, the records and the options. A
 * section whose key is unchanged is not computed again, so an interrupted run resumes where it stopped.
 */
#include "paper/paper.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/state.h"
#include "diffvcs/grad.h"
#include "host/arena.h"
#include "host/hash.h"
#include "host/os.h"
#include "host/parallel.h"

static const char command[] = "diffvcs paper";
static const vcs_usage_t usage = {
    command,
    "Makes every table and figure of the paper again, and the checks of its theorems: DIR/index.html, figures as SVG "
    "and PNG, tables as .tsv. Tables are settings, conformance, superchip, gate, alpha, temperature, joystick, "
    "theorem1, counter, theorem2, ndiv, pstep, delayed, corner, games, full, dispatch, video and throughput. What was "
    "made is kept and only made again if this program, an image or a record has changed. docs/paper.md has the "
    "results." VCS_ROMS_NOTE,
    "diffvcs paper\n"
    "diffvcs paper --only ndiv --out ndiv\n"
    "diffvcs paper --only games --games demo,pitfall,frostbite --out margins\n"
    "diffvcs paper --quick --out quick\n"};

static const struct {
  const char *name, *title;
  vcs_section_make_t make;
} sections[] = {
    {"settings", "Modes, and fixed settings", vcs_paper_settings},
    {"conformance", "Per-game conformance (PXC1, PXC2, PXC-S)", vcs_paper_conformance},
    {"superchip", "The seed of the Superchip's RAM", vcs_paper_superchip},
    {"gate", "The sigmoid gate and its gradient", vcs_paper_gate},
    {"alpha", "The gradient at z = 0.25 over alpha", vcs_paper_alpha},
    {"temperature", "Temperature: expected occupancy", vcs_paper_temperature},
    {"joystick", "From the joystick to the screen, and back", vcs_paper_joystick},
    {"theorem1", "Theorem 1: soft equals hard", vcs_paper_theorem1},
    {"counter", "The Jacobian through the program counter", vcs_paper_counter},
    {"theorem2", "Theorem 2: the fully relaxed map and its bound", vcs_paper_theorem2},
    {"ndiv", "N_div: when the relaxed run leaves the exact one", vcs_paper_ndiv},
    {"pstep", "P_step over alpha and T", vcs_paper_pstep},
    {"delayed", "Delayed divergence", vcs_paper_delayed},
    {"corner", "Sixty seconds at the corner", vcs_paper_corner},
    {"games", "The same on twelve more games", vcs_paper_games_table},
    {"full", "FULL beside the truth: is the corner the most informative one?", vcs_paper_full},
    {"dispatch", "FULL with softmax dispatch beside the truth", vcs_paper_dispatch},
    {"video", "Four panels, sixty seconds", vcs_paper_video},
    {"throughput", "Throughput", vcs_paper_throughput},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

const char *const vcs_paper_games[VCS_PAPER_GAMES] = {"air_raid",
                                                      "alien",
                                                      "amidar",
                                                      "assault",
                                                      "asterix",
                                                      "asteroids",
                                                      "atlantis",
                                                      "bank_heist",
                                                      "battle_zone",
                                                      "beam_rider",
                                                      "berzerk",
                                                      "bowling",
                                                      "boxing",
                                                      "breakout",
                                                      "carnival",
                                                      "centipede",
                                                      "chopper_command",
                                                      "crazy_climber",
                                                      "defender",
                                                      "demon_attack",
                                                      "double_dunk",
                                                      "elevator_action",
                                                      "enduro",
                                                      "fishing_derby",
                                                      "freeway",
                                                      "frostbite",
                                                      "gopher",
                                                      "gravitar",
                                                      "hero",
                                                      "ice_hockey",
                                                      "jamesbond",
                                                      "journey_escape",
                                                      "kangaroo",
                                                      "krull",
                                                      "kung_fu_master",
                                                      "montezuma_revenge",
                                                      "ms_pacman",
                                                      "name_this_game",
                                                      "pacman",
                                                      "phoenix",
                                                      "pitfall",
                                                      "pong",
                                                      "pooyan",
                                                      "private_eye",
                                                      "qbert",
                                                      "riverraid",
                                                      "road_runner",
                                                      "robotank",
                                                      "seaquest",
                                                      "skiing",
                                                      "solaris",
                                                      "space_invaders",
                                                      "star_gunner",
                                                      "surround",
                                                      "tennis",
                                                      "time_pilot",
                                                      "tutankham",
                                                      "up_n_down",
                                                      "venture",
                                                      "video_pinball",
                                                      "videochess",
                                                      "wizard_of_wor",
                                                      "yars_revenge",
                                                      "zaxxon"};

/* ---- Work ------------------------------------------------------------------------------------------------------- */

typedef struct {
  vcs_paper_work_t work;
  void *job;
  vcs_status_t *status; /* by item */
  vcs_error_t *errors;
} items_t;

static bool do_item(void *context, size_t item, int worker) {
  const items_t *items = context;
  (void)worker;
  items->status[item] = items->work(items->job, item, &items->errors[item]);
  return items->status[item] == VCS_OK;
}

vcs_status_t vcs_paper_parallel(const vcs_section_t *section, size_t count, vcs_paper_work_t work, void *job,
                                vcs_error_t *error) {
  vcs_arena_t arena = {0};
  items_t items = {.work = work, .job = job};
  items.status = vcs_arena_take(&arena, count, sizeof *items.status);
  items.errors = vcs_arena_take(&arena, count, sizeof *items.errors);
  vcs_status_t status = vcs_arena_status(&arena, error);
  if (status == VCS_OK) vcs_parallel(count, (int)section->paper->threads, do_item, &items);
  for (size_t i = 0; i < count && status == VCS_OK; i++) {
    status = items.status[i];
    if (status && error) *error = items.errors[i];
  }
  vcs_arena_free(&arena);
  return status;
}

vcs_relax_options_t vcs_paper_relaxed(double alpha, double temperature) {
  vcs_relax_options_t options;
  vcs_relax_defaults(&options);
  options.alpha = alpha;
  options.temperature = temperature;
  return options;
}

/* ---- Writing --------------------------------------------------------------------------------------------------- */

/* &, < and > are written as they are: all text here is ours. */
static void write_paragraph(vcs_section_t *section, const char *begin, const char *format, va_list arguments) {
  vcs_text_printf(&section->html, "%s", begin);
  vcs_text_vprintf(&section->html, format, arguments);
  vcs_text_printf(&section->html, "</p>\n");
}

void vcs_section_say(vcs_section_t *section, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_paragraph(section, "<p>", format, arguments);
  va_end(arguments);
}

void vcs_section_assume(vcs_section_t *section, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_paragraph(section, "<p class=assumes>Assumes: ", format, arguments);
  va_end(arguments);
}

/* The class of a cell that is a verdict, or "". */
static const char *class_of(const char *cell) {
  static const char *const verdicts[][2] = {{"equal", " class=equal"},
                                            {"different", " class=different"},
                                            {"holds", " class=holds"},
                                            {"fails", " class=fails"}};
  for (int i = 0; i < 4; i++) {
    if (strncmp(cell, verdicts[i][0], strlen(verdicts[i][0])) == 0) return verdicts[i][1];
  }
  return "";
}

/* A row of cells, each in <tag>. */
static void write_cells(vcs_section_t *section, const char *tag, char *cells) {
  vcs_text_printf(&section->html, "<tr>");
  for (char *cell = cells, *end; cell; cell = end) {
    end = strchr(cell, '|');
    if (end) *end++ = '\0';
    vcs_text_printf(&section->html, "<%s%s>%s</%s>", tag, class_of(cell), cell, tag);
    vcs_text_printf(&section->tsv, "%s%s", cell, end ? "\t" : "\n");
  }
  vcs_text_printf(&section->html, "</tr>\n");
}

void vcs_table_begin(vcs_section_t *section, const char *headings) {
  char cells[1024];
  vcs_text_printf(&section->html, "<table>\n");
  snprintf(cells, sizeof cells, "%s", headings);
  write_cells(section, "th", cells);
}

void vcs_table_row(vcs_section_t *section, const char *format, ...) {
  char cells[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cells, sizeof cells, format, arguments);
  va_end(arguments);
  write_cells(section, "td", cells);
}

void vcs_table_end(vcs_section_t *section) {
  vcs_text_printf(&section->html, "</table>\n");
  vcs_text_printf(&section->tsv, "\n");
}

const char *vcs_verdict(vcs_section_t *section, bool equal) {
  if (equal)
    section->equal++;
  else
    section->different++;
  return equal ? "equal" : "different";
}

const char *vcs_check(vcs_section_t *section, bool holds) {
  section->fails += !holds;
  return holds ? "holds" : "fails";
}

static vcs_status_t path_in(const vcs_paper_t *paper, char path[VCS_PATH_SIZE], const char *folder, const char *name,
                            const char *ending, vcs_error_t *error) {
  int length = snprintf(path, VCS_PATH_SIZE, "%s/%s%s%s", paper->out, folder, name, ending);
  if (length < VCS_PATH_SIZE) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the path of --out is too long");
}

vcs_status_t vcs_section_figure(vcs_section_t *section, vcs_drawing_t *drawing, const char *name, const char *caption,
                                vcs_error_t *error) {
  char path[VCS_PATH_SIZE];
  if (!drawing) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  vcs_status_t status = path_in(section->paper, path, "figures/", name, "", error);
  if (status == VCS_OK) status = vcs_drawing_write(drawing, path, error);
  vcs_drawing_free(drawing);
  vcs_text_printf(&section->html,
                  "<figure><img src=\"figures/%s.png\" alt=\"%s\"><figcaption>%s (<a href=\"figures/%s.svg\">SVG</a>)"
                  "</figcaption></figure>\n",
                  name, name, caption, name);
  return status;
}

/* ---- Games ----------------------------------------------------------------------------------------------------- */

vcs_status_t vcs_paper_game_open(const vcs_paper_t *paper, const char *name, vcs_profile_t profile,
                                 vcs_paper_game_t *game, vcs_error_t *error) {
  vcs_rom_options_t choice = paper->choice;
  vcs_env_t *env = NULL;
  vcs_run_t run;
  choice.profile = profile;
  memset(game, 0, sizeof *game);
  vcs_status_t status = vcs_rom_open(name, &choice, &game->rom, error);
  if (status) return status;
  size_t size = vcs_state_size(game->rom.cart);
  game->start = malloc(size);
  status =
      game->start ? vcs_env_create(game->rom.cart, &env, error) : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  if (status == VCS_OK) {
    vcs_run_idle(env, 1, &game->idle, &run);
    memcpy(game->start, vcs_env_machine(env), size);
    vcs_control(game->rom.cart, game->start, &game->idle);
  } else {
    vcs_paper_game_free(game);
  }
  vcs_env_free(env);
  return status;
}

void vcs_paper_game_free(vcs_paper_game_t *game) {
  free(game->start);
  if (game->rom.cart) vcs_rom_free(&game->rom);
}

int vcs_paper_game_over(const vcs_paper_game_t *game, int most) {
  vcs_env_t *env;
  int over = 0;
  if (vcs_env_create(game->rom.cart, &env, NULL)) return 0;
  for (int f = 1; f <= most && !over; f++) {
    vcs_env_act_on(env, VCS_NOOP, VCS_NOOP);
    if (vcs_env_over(env)) over = f;
  }
  vcs_env_free(env);
  return over;
}

/* ---- Keys ------------------------------------------------------------------------------------------------------ */

enum { FILE_LIMIT = 1 << 28 };

static uint64_t add_file(uint64_t key, const char *path) {
  uint8_t *data;
  size_t size;
  if (vcs_file_read(path, FILE_LIMIT, &data, &size, NULL)) return vcs_hash64(path, strlen(path), key);
  key = vcs_hash64(data, size, key);
  free(data);
  return key;
}

/* Every file of a directory: a sum, for readdir has no order. */
static uint64_t add_directory(uint64_t key, const char *directory) {
  uint64_t sum = key;
  DIR *entries = opendir(directory);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    char path[VCS_PATH_SIZE];
    if (vcs_path_join(path, sizeof path, directory, entry->d_name) && vcs_path_is_file(path))
      sum += add_file(vcs_hash64(entry->d_name, strlen(entry->d_name), key), path);
  }
  if (entries) closedir(entries);
  return sum;
}

/* What all sections depend on: this program, the images, the records. */
static uint64_t key_of_inputs(const vcs_paper_t *paper) {
  char path[VCS_PATH_SIZE];
  uint64_t key = paper->quick;
  if (vcs_os_executable(path, sizeof path)) key = add_file(key, path);
  for (int i = 0; i < VCS_PAPER_GAMES; i++) {
    if (vcs_rom_find(vcs_paper_games[i], paper->choice.roms, path, sizeof path, NULL) == VCS_OK)
      key = add_file(key, path);
  }
  static const char *const folders[] = {"xitari", "xitari-cpu", "gpu"};
  for (int i = 0; i < 3; i++) {
    if (vcs_path_join(path, sizeof path, paper->records, folders[i])) key = add_directory(key, path);
  }
  return key;
}

/* ---- Sections -------------------------------------------------------------------------------------------------- */

enum { KEY_SIZE = 64 };

static void key_of(const vcs_paper_t *paper, const char *name, uint64_t inputs, char key[KEY_SIZE]) {
  uint64_t digest = vcs_hash64(name, strlen(name), inputs);
  if (strcmp(name, "games") == 0 && paper->games) digest = vcs_hash64(paper->games, strlen(paper->games), digest);
  snprintf(key, KEY_SIZE, "<!-- key %016" PRIx64 " -->\n", digest);
}

/* The section as it was kept, if its key is this one. */
static bool find_kept(const vcs_paper_t *paper, const char *name, const char *key, vcs_text_t *html) {
  char path[VCS_PATH_SIZE];
  uint8_t *data;
  size_t size, length = strlen(key);
  if (path_in(paper, path, "sections/", name, ".html", NULL)) return false;
  if (vcs_file_read(path, FILE_LIMIT, &data, &size, NULL)) return false;
  bool right = size > length && memcmp(data, key, length) == 0;
  if (right) vcs_text_append(html, data, size);
  free(data);
  return right;
}

/* Writes the section's files, and adds what find_kept would to *html. */
static vcs_status_t keep(const vcs_section_t *section, const char *key, vcs_text_t *html, vcs_error_t *error) {
  char path[VCS_PATH_SIZE];
  vcs_text_t kept = {0};
  vcs_text_printf(&kept, "%s%s", key, section->html.text ? section->html.text : "");
  vcs_status_t status = path_in(section->paper, path, "sections/", section->name, ".tsv", error);
  if (status == VCS_OK && section->tsv.length) status = vcs_file_write_text(path, &section->tsv, error);
  if (status == VCS_OK) status = path_in(section->paper, path, "sections/", section->name, ".html", error);
  if (status == VCS_OK) status = vcs_file_write_text(path, &kept, error);
  vcs_text_append(html, kept.text ? kept.text : "", kept.length);
  vcs_text_free(&kept);
  return status;
}

/* Makes a section, or takes it as it was kept; its HTML, the key in front, is added to *html. */
static vcs_status_t make(const vcs_paper_t *paper, int number, uint64_t inputs, vcs_text_t *html, vcs_error_t *error) {
  char key[KEY_SIZE];
  const char *name = sections[number].name;
  key_of(paper, name, inputs, key);
  if (find_kept(paper, name, key, html)) {
    printf("%-12s kept\n", name);
    return VCS_OK;
  }
  vcs_section_t section = {.paper = paper, .name = name};
  double start = vcs_seconds();
  vcs_text_printf(&section.html, "<h2 id=\"%s\">%s</h2>\n", name, sections[number].title);
  vcs_status_t status = sections[number].make(&section, error);
  if (status == VCS_OK && !vcs_interrupted()) {
    status = keep(&section, key, html, error);
    printf("%-12s %3d equal, %2d different, %.0f s\n", name, section.equal, section.different, vcs_seconds() - start);
    if (section.fails) printf("%-12s %3d of our own checks fail\n", name, section.fails);
    fflush(stdout);
  }
  vcs_text_free(&section.html);
  vcs_text_free(&section.tsv);
  return status;
}

/* ---- The page -------------------------------------------------------------------------------------------------- */

static const char style[] =
    "body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0;font-size:12px;line-height:1.35;display:block;overflow-x:auto}"
    "td,th{border:1px solid #ccc;padding:2px 5px;text-align:left}th{background:#eee;font-weight:normal}"
    ".equal,.holds{color:#0a7a2f}.different,.fails{color:#b3261e}.assumes{font-size:13px;color:#555}"
    "figure{margin:1em 0}img,video{max-width:100%;image-rendering:pixelated}figcaption{font-size:13px;color:#555}";

/* How often a string occurs in a stretch of text. */
static int occurrences(const char *from, const char *to, const char *string) {
  int count = 0;
  for (const char *at = strstr(from, string); at && at < to; at = strstr(at + 1, string)) count++;
  return count;
}

/* The verdicts of every section that is on the page, before the sections. */
static void write_summary(vcs_text_t *page, const vcs_text_t *body) {
  int equal = 0, different = 0, holds = 0, fails = 0;
  vcs_text_printf(page, "<table><tr><th>section<th>equal<th>different<th>our own checks: hold<th>fail</tr>\n");
  for (int i = 0; i < SECTIONS && body->text; i++) {
    char heading[64];
    snprintf(heading, sizeof heading, "<h2 id=\"%s\">", sections[i].name);
    const char *from = strstr(body->text, heading), *to = from ? strstr(from + 1, "<h2 id=") : NULL;
    if (!from) continue;
    if (!to) to = body->text + body->length;
    const int counts[] = {occurrences(from, to, "<td class=equal"), occurrences(from, to, "<td class=different"),
                          occurrences(from, to, "<td class=holds"), occurrences(from, to, "<td class=fails")};
    equal += counts[0], different += counts[1], holds += counts[2], fails += counts[3];
    vcs_text_printf(page,
                    "<tr><td><a href=\"#%s\">%s</a><td class=equal>%d<td class=different>%d<td class=holds>%d"
                    "<td class=fails>%d</tr>\n",
                    sections[i].name, sections[i].title, counts[0], counts[1], counts[2], counts[3]);
  }
  vcs_text_printf(page, "<tr><th>together<th>%d<th>%d<th>%d<th>%d</tr>\n", equal, different, holds, fails);
  vcs_text_printf(page, "</table>\n");
}

static vcs_status_t write_page(const vcs_paper_t *paper, vcs_text_t *body, vcs_error_t *error) {
  char path[VCS_PATH_SIZE];
  vcs_text_t page = {0};
  vcs_text_printf(&page,
                  "<!doctype html>\n<html lang=en><meta charset=utf-8><title>A Differentiable Atari VCS, made again"
                  "</title>\n<style>%s</style>\n<h1>A Differentiable Atari VCS, made again</h1>\n",
                  style);
  vcs_text_printf(&page,
                  "<p>Every table and figure of Maier, Bayer and Krauss, by <code>diffvcs paper%s</code>. Each number "
                  "stands beside the paper's; where they differ the text says why.",
                  paper->quick ? " --quick" : "");
  vcs_text_printf(&page, "</p>\n");
  write_summary(&page, body);
  vcs_text_append(&page, body->text ? body->text : "", body->length);
  vcs_text_printf(&page, "</html>\n");
  vcs_status_t status = path_in(paper, path, "", "index", ".html", error);
  if (status == VCS_OK) status = vcs_file_write_text(path, &page, error);
  if (status == VCS_OK) printf("wrote        %s\n", path);
  vcs_text_free(&page);
  return status;
}

static int find_section(const char *name) {
  for (int i = 0; i < SECTIONS; i++) {
    if (strcmp(name, sections[i].name) == 0) return i;
  }
  return -1;
}

static vcs_status_t make_all(const vcs_paper_t *paper, int only, vcs_error_t *error) {
  const uint64_t inputs = key_of_inputs(paper);
  vcs_text_t body = {0};
  vcs_status_t status = VCS_OK;
  for (int i = 0; i < SECTIONS && status == VCS_OK && !vcs_interrupted(); i++) {
    if (only < 0 || only == i) {
      status = make(paper, i, inputs, &body, error);
    } else { /* what is there from before belongs on the page, too */
      char key[KEY_SIZE];
      key_of(paper, sections[i].name, inputs, key);
      find_kept(paper, sections[i].name, key, &body);
    }
  }
  if (status == VCS_OK && !vcs_interrupted()) status = write_page(paper, &body, error);
  vcs_text_free(&body);
  return status;
}

/* ---- The command ----------------------------------------------------------------------------------------------- */

enum { FOLDERS = 3 };

/* The folder of the page and those inside it, and which of them this command has made. */
typedef struct {
  char paths[FOLDERS][VCS_PATH_SIZE];
  bool made[FOLDERS];
} folders_t;

static int make_folders(const vcs_paper_t *paper, folders_t *folders) {
  static const char *const names[FOLDERS] = {"", "figures", "sections"};
  for (int i = 0; i < FOLDERS; i++) {
    char *path = folders->paths[i];
    const bool fits = i ? vcs_path_join(path, VCS_PATH_SIZE, paper->out, names[i])
                        : snprintf(path, VCS_PATH_SIZE, "%s", paper->out) < VCS_PATH_SIZE;
    if (!fits) return vcs_cli_complain(command, VCS_EXIT_USAGE, "the path of --out is too long");
    int exit_code = vcs_output_directory(command, path, &folders->made[i]);
    if (exit_code != VCS_ARGS_GO) return exit_code;
  }
  return VCS_ARGS_GO;
}

/* Removes the folders that the command has made and that are still empty. */
static void remove_folders(const folders_t *folders) {
  for (int i = FOLDERS - 1; i >= 0; i--) {
    if (folders->made[i]) rmdir(folders->paths[i]);
  }
}

static int end(const vcs_paper_t *paper, vcs_status_t status, const vcs_error_t *error) {
  if (vcs_interrupted())
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted; what is done is kept: run it again to go on");
  if (status == VCS_NOT_FOUND) {
    vcs_rom_advise(paper->choice.roms);
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error->message);
  }
  return status ? vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error->message) : VCS_EXIT_OK;
}

static int check_section(const char *name, int *number) {
  const char *names[SECTIONS];
  *number = -1;
  if (!name) return VCS_ARGS_GO;
  *number = find_section(name);
  if (*number >= 0) return VCS_ARGS_GO;
  vcs_text_t list = {0};
  for (int i = 0; i < SECTIONS; i++) {
    names[i] = sections[i].name;
    vcs_text_printf(&list, "%s%s", i ? ", " : "", names[i]);
  }
  int near = vcs_args_nearest(name, names, SECTIONS);
  int exit_code =
      near >= 0
          ? vcs_cli_complain(command, VCS_EXIT_USAGE, "there is no table '%s'; did you mean %s?", name, names[near])
          : vcs_cli_complain(command, VCS_EXIT_USAGE, "there is no table '%s'; there are %s", name, list.text);
  vcs_text_free(&list);
  return exit_code;
}

/* Where the records of the reference are unless --records names a folder: $DIFFVCS_RECORDS, tests/golden here, or that
 * of the source tree in which the program was built (the program is in its build folder). `path` has room. */
static const char *find_records(char path[VCS_PATH_SIZE]) {
  static const char *const from_program[] = {"../tests/golden", "../../tests/golden", "../share/diffvcs/golden"};
  const char *named = getenv("DIFFVCS_RECORDS"), *here = "tests/golden";
  char program[VCS_PATH_SIZE];
  if (named && *named) return named;
  if (vcs_path_is_directory(here) || !vcs_os_executable(program, sizeof program)) return here;
  char *slash = strrchr(program, '/');
  if (slash) *slash = '\0';
  for (int i = 0; i < 3; i++) {
    if (vcs_path_join(path, VCS_PATH_SIZE, program, from_program[i]) && vcs_path_is_directory(path)) return path;
  }
  return here;
}

int vcs_cli_paper(int argc, char **argv) {
  char records[VCS_PATH_SIZE];
  vcs_paper_t paper = {.out = "paper", .records = find_records(records)};
  const char *only = NULL;
  int number;
  const vcs_arg_t args[] = {
      VCS_ARG_TEXT("only", &only, "TABLE", "only this table; all other tables stay unchanged"),
      VCS_ARG_TEXT("out", &paper.out, "DIR", "where to write"),
      VCS_ARG_TEXT("games", &paper.games, "LIST", "of the table `games`: where they diverge, and their cast margins"),
      VCS_ARG_FLAG("quick", &paper.quick, "a reduced version: fewer games, shorter runs"),
      VCS_ARG_TEXT("records", &paper.records, "DIR", "records of the reference, for the conformance table"),
      VCS_ARG_JOBS(&paper.threads),
      VCS_ARG_TEXT("roms", &paper.choice.roms, "DIR", "where ROM images are; see above for the other places"),
      VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code == VCS_ARGS_GO) exit_code = check_section(only, &number);
  static folders_t folders;
  if (exit_code == VCS_ARGS_GO) {
    exit_code = make_folders(&paper, &folders);
    if (exit_code != VCS_ARGS_GO) remove_folders(&folders);
  }
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_error_t error = {""};
  vcs_interrupt_catch();
  exit_code = end(&paper, make_all(&paper, number, &error), &error);
  if (exit_code) remove_folders(&folders);
  return exit_code;
}
