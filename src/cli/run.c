/* run.c: `diffvcs run ROM`: plays a game without a window.
 *
 * Actions come from the records' stream (seed 0: nothing is pressed) or from a file. A game that is over starts again,
 * which takes no frame, as in the records. Frames are drawn only if a picture or a video is wanted; the machine, and so
 * the hash of its final state, is the same either way. Sound is computed on a copy of the machine.
 *
 * Ctrl-C ends the run after the current frame: picture, video, sound and summary are those of the frames so far.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "core/state.h"
#include "host/picture.h"
#include "host/progress.h"

static const char command[] = "diffvcs run";
static const vcs_usage_t usage = {
    command,
    "Runs a game and prints its scores, a hash of its final state and the speed. A game that is over starts again. "
    "Ctrl-C ends the run; the files written so far are complete." VCS_ROMS_NOTE,
    "diffvcs run demo --frames 6000\n"
    "diffvcs run pong --seed 1 --frames 6000 --screenshot pong.png\n"
    "diffvcs run breakout --actions moves.txt --video breakout.mp4 --zoom 3\n"};

enum { ACTION_FILE_LIMIT = 256 << 20, DEFAULT_FRAMES = 600, SCORES_SHOWN = 20, WAV_FRAMES_MAX = 1000000 };

/* ---- Actions from a file ------------------------------------------------------------------------------------ */

typedef struct {
  uint8_t *actions;
  int64_t count;
} script_t;

/* The action whose name is nearest, or NULL. */
static const char *nearest_action(const char *word) {
  const char *names[VCS_ACTIONS];
  for (int i = 0; i < VCS_ACTIONS; i++) names[i] = vcs_action_name(i);
  const int near = isdigit((unsigned char)*word) ? -1 : vcs_args_nearest(word, names, VCS_ACTIONS);
  return near >= 0 ? names[near] : NULL;
}

static vcs_status_t wrong_action(const char *path, int64_t line, const char *word, vcs_error_t *error) {
  const char *near = nearest_action(word);
  if (near) {
    return vcs_error_fill(error, VCS_BAD_FILE, "%.100s, line %" PRId64 ": no action '%.40s'; did you mean %s?", path,
                          line, word, near);
  }
  return vcs_error_fill(error, VCS_BAD_FILE,
                        "%.100s, line %" PRId64 ": no action '%.40s'; actions are 0 to %d or names from NOOP to %s",
                        path, line, word, VCS_ACTIONS - 1, vcs_action_name(VCS_ACTIONS - 1));
}

/* One action a line: a name in any case or a number; empty lines and what follows a '#' do not count. */
static vcs_status_t read_script(const char *path, script_t *script, vcs_error_t *error) {
  uint8_t *data;
  size_t size;
  vcs_status_t status = vcs_file_read(path, ACTION_FILE_LIMIT, &data, &size, error);
  if (status) return status;
  int64_t line = 0;
  for (const char *at = (const char *)data, *end = at + size; at < end && status == VCS_OK;) {
    char word[64];
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *stop = newline ? newline : end, *hash = memchr(at, '#', (size_t)(stop - at));
    line++;
    if (hash) stop = hash;
    while (at < stop && isspace((unsigned char)*at)) at++;
    while (stop > at && isspace((unsigned char)stop[-1])) stop--;
    if (stop > at) {
      snprintf(word, sizeof word, "%.*s", (int)(stop - at < 63 ? stop - at : 63), at);
      int action = vcs_action_by_name(word);
      if (action < 0) status = wrong_action(path, line, word, error);
      data[script->count++] = (uint8_t)action; /* a line has at least one byte, so the actions fit in its place */
    }
    at = newline ? newline + 1 : end;
  }
  if (status == VCS_OK && script->count == 0) {
    status = vcs_error_fill(error, VCS_BAD_FILE, "%.200s has no actions: one name (FIRE) or number a line", path);
  }
  script->actions = data;
  if (status) {
    free(data);
    *script = (script_t){0};
  }
  return status;
}

/* ---- Video -------------------------------------------------------------------------------------------------- */

/* Frames a second, times 1000: the colour clock over 228 clocks a line and the lines of a frame. */
static int frame_rate(vcs_format_t format) {
  return format == VCS_FORMAT_PAL || format == VCS_FORMAT_SECAM ? 49861 : 59923;
}

/* A GIF shows at most 50 pictures a second, so of 60 one in six is left out and time stays true. */
typedef struct {
  vcs_gif_t *gif;
  vcs_mp4_t *mp4;
  vcs_format_t format;
  int64_t frames;
} video_t;

static vcs_status_t video_open(video_t *video, const char *path, const vcs_env_t *env, int zoom, vcs_error_t *error) {
  int height = vcs_env_height(env);
  video->format = vcs_cart_info(vcs_env_cart(env))->format;
  if (vcs_path_ends(path, ".gif")) {
    return vcs_gif_open(&video->gif, path, VCS_WIDTH, height, video->format, zoom, 2, error);
  }
  return vcs_mp4_open(&video->mp4, path, VCS_WIDTH, height, 2, zoom, frame_rate(video->format), error);
}

static vcs_status_t video_frame(video_t *video, const uint8_t *screen, vcs_error_t *error) {
  int64_t k = video->frames++;
  if (video->mp4) return vcs_mp4_frame(video->mp4, screen, video->format, error);
  int rate = frame_rate(video->format);
  bool shown = rate <= 50000 || k * 50000 / rate != (k - 1) * 50000 / rate || k == 0;
  return video->gif && shown ? vcs_gif_frame(video->gif, screen, error) : VCS_OK;
}

/* Without a single frame there is no video, and no file. */
static vcs_status_t video_close(video_t *video, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  if (video->frames == 0) {
    vcs_gif_abandon(video->gif);
    vcs_mp4_abandon(video->mp4);
  } else if (video->gif) {
    status = vcs_gif_close(video->gif, error);
  } else if (video->mp4) {
    status = vcs_mp4_close(video->mp4, error);
  }
  *video = (video_t){0};
  return status;
}

/* ---- The run ------------------------------------------------------------------------------------------------ */

typedef struct {
  const char *rom, *actions, *screenshot, *video, *wav;
  vcs_rom_options_t choice;
  int64_t frames, seed, zoom;
} options_t;

typedef struct {
  int64_t frames, episodes; /* episodes: those that are over */
  int64_t score, best, sum; /* of the episode under way; over those that are over */
  vcs_text_t scores, sound; /* sound: samples, if they are wanted */
  double seconds;
} summary_t;

static void end_episode(summary_t *summary) {
  if (summary->episodes == 0 || summary->score > summary->best) summary->best = summary->score;
  if (summary->episodes < SCORES_SHOWN) vcs_text_printf(&summary->scores, " %" PRId64, summary->score);
  summary->episodes++;
  summary->sum += summary->score;
  summary->score = 0;
}

static void listen(vcs_env_t *env, vcs_t *listener, vcs_text_t *sound) {
  uint8_t samples[VCS_SOUND_LENGTH_MAX];
  const int count = vcs_cli_listen(vcs_env_cart(env), vcs_env_machine(env), listener, samples);
  vcs_text_append(sound, samples, (size_t)count);
}

static vcs_status_t play(vcs_env_t *env, const options_t *options, const script_t *script, video_t *video,
                         summary_t *summary, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  vcs_t *listener = options->wav ? calloc(1, sizeof *listener) : NULL;
  if (options->wav && !listener) return vcs_error_fill(error, VCS_NO_MEMORY, "no memory for the sound");
  if (listener) memcpy(listener, vcs_env_machine(env), vcs_state_size(vcs_env_cart(env)));
  vcs_stream_t stream;
  vcs_progress_t progress;
  vcs_stream_start(&stream, (uint64_t)options->seed);
  vcs_progress_start(&progress, options->rom, (uint64_t)options->frames, VCS_PROGRESS_AUTO);
  double start = vcs_seconds();
  while (summary->frames < options->frames && status == VCS_OK && !vcs_interrupted()) {
    int action = vcs_stream_next(&stream);
    if (options->actions) action = summary->frames < script->count ? script->actions[summary->frames] : VCS_NOOP;
    if (vcs_env_over(env)) vcs_env_reset(env);
    summary->score += vcs_env_act(env, action, VCS_NOOP);
    summary->frames++;
    if (vcs_env_over(env)) end_episode(summary);
    if (options->wav) listen(env, listener, &summary->sound);
    status = video_frame(video, vcs_env_screen(env), error);
    vcs_progress_add(&progress, 1);
  }
  summary->seconds = vcs_seconds() - start;
  vcs_progress_finish(&progress);
  free(listener);
  return status;
}

/* Whether the processor has met an opcode that stops it for good. */
static bool is_jammed(vcs_env_t *env) {
  const vcs_field_t *field;
  for (int i = 0; (field = vcs_field(i)); i++) {
    if (strcmp(field->name, "jammed") == 0) return ((const uint8_t *)vcs_env_machine(env))[field->offset] != 0;
  }
  return false;
}

static void print_summary(vcs_env_t *env, const char *name, const summary_t *s) {
  const vcs_cart_t *cart = vcs_env_cart(env);
  const vcs_cart_info_t *info = vcs_cart_info(cart);
  printf("game      %s (%s, %s, profile %s)%s\n", info->game ? info->game : name, info->scheme_name,
         vcs_format_name(info->format), vcs_profile_name(info->profile), info->game ? "" : ", no rules known");
  printf("frames    %" PRId64 "%s\n", s->frames, is_jammed(env) ? " (the processor has jammed)" : "");
  if (info->game) {
    bool more = s->episodes > SCORES_SHOWN, unfinished = s->frames > 0 && !vcs_env_over(env);
    printf("episodes  %" PRId64 " over%s\n", s->episodes, unfinished ? ", one under way" : "");
    printf("scores   %s%s", s->scores.text ? s->scores.text : "", more ? " ..." : "");
    if (unfinished) printf(" %" PRId64 " so far", s->score);
    if (s->episodes > 1) printf(" (mean %.1f, best %" PRId64 ")", (double)s->sum / (double)s->episodes, s->best);
    printf("\n");
  }
  printf("state     %016" PRIx64 "\n", vcs_hash(cart, vcs_env_machine(env)));
  printf("speed     %.0f frames/s\n", s->seconds > 0 ? (double)s->frames / s->seconds : 0.0);
}

/* What can be known to be wrong before the run. Returns VCS_ARGS_GO or an exit code. */
static int check_options(const options_t *options) {
  vcs_error_t error = {""};
  if (options->actions && options->seed) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--seed and --actions both say what to press: give one of them");
  }
  if (options->screenshot && !vcs_path_ends(options->screenshot, ".png")) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--screenshot writes PNG: the name must end with .png, not '%s'",
                            options->screenshot);
  }
  if (options->video && !vcs_path_ends(options->video, ".mp4") && !vcs_path_ends(options->video, ".gif")) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE,
                            "--video writes videos: the name must end with .mp4 or .gif, not '%s'", options->video);
  }
  if (options->wav && !vcs_path_ends(options->wav, ".wav")) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--wav writes sound: the name must end with .wav, not '%s'",
                            options->wav);
  }
  if ((options->screenshot && vcs_output_try(options->screenshot, &error)) ||
      (options->wav && vcs_output_try(options->wav, &error))) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  }
  return VCS_ARGS_GO;
}

static int run(options_t *options, const script_t *script) {
  vcs_rom_t rom;
  vcs_env_t *env = NULL;
  vcs_error_t error = {""};
  video_t video = {0};
  summary_t summary = {0};
  int exit_code = vcs_rom_open_or_complain(command, options->rom, &options->choice, &rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_interrupt_catch();
  vcs_status_t status = vcs_env_create(rom.cart, &env, &error);
  if (status == VCS_OK && options->video) status = video_open(&video, options->video, env, (int)options->zoom, &error);
  if (status == VCS_OK) {
    vcs_env_set_drawing(env, options->screenshot || options->video);
    vcs_env_reset(env); /* records begin with an explicit reset, and so does what they are compared with */
    status = play(env, options, script, &video, &summary, &error);
    vcs_error_t second;
    vcs_status_t closed = video_close(&video, status ? &second : &error);
    if (status == VCS_OK) status = closed;
    print_summary(env, rom.name, &summary);
  }
  if (status == VCS_OK && options->screenshot) {
    status = vcs_png_write(options->screenshot, vcs_env_screen(env), VCS_WIDTH, vcs_env_height(env),
                           vcs_cart_info(rom.cart)->format, (int)options->zoom, &error);
  }
  if (status == VCS_OK && options->wav) {
    status = summary.sound.failed ? vcs_error_fill(&error, VCS_NO_MEMORY, "no memory for %s", options->wav)
                                  : vcs_wav_write(options->wav, summary.sound.text, summary.sound.length, 1, 8,
                                                  vcs_sound_rate(vcs_cart_info(rom.cart)->format), &error);
  }
  vcs_text_free(&summary.scores);
  vcs_text_free(&summary.sound);
  vcs_env_free(env);
  vcs_rom_free(&rom);
  if (status) return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  if (vcs_interrupted() && summary.frames < options->frames) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted after %" PRId64 " of %" PRId64 " frames",
                            summary.frames, options->frames);
  }
  return VCS_EXIT_OK;
}

int vcs_cli_run(int argc, char **argv) {
  options_t options = {.zoom = 2};
  const vcs_arg_t args[] = {
      VCS_ARG_POSITIONAL("ROM", &options.rom, "a ROM image, the name of a game, or demo"),
      VCS_ARG_INTEGER("frames", &options.frames, 0, INT64_C(1000000000000),
                      "frames to run; 0: all of the action file, else 600"),
      VCS_ARG_INTEGER("seed", &options.seed, 0, INT64_MAX, "the action stream of the records; 0: NOOP only"),
      VCS_ARG_TEXT("actions", &options.actions, "FILE", "one action on each line, name or number; then NOOP"),
      VCS_ARG_TEXT("screenshot", &options.screenshot, "FILE", "the last frame, as .png"),
      VCS_ARG_TEXT("video", &options.video, "FILE", "all frames, as .mp4 or .gif"),
      VCS_ARG_TEXT("wav", &options.wav, "FILE", "the sound of all frames, as .wav"),
      VCS_ARG_INTEGER("zoom", &options.zoom, 1, 32, "scale of pictures"),
      VCS_ARGS_CART(&options.choice),
      VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code == VCS_ARGS_GO) exit_code = check_options(&options);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  script_t script = {0};
  vcs_error_t error = {""};
  if (options.actions && read_script(options.actions, &script, &error)) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  }
  if (options.frames == 0) options.frames = script.count ? script.count : DEFAULT_FRAMES;
  if (options.wav && options.frames > WAV_FRAMES_MAX) {
    free(script.actions);
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--wav keeps the sound of at most %d frames", WAV_FRAMES_MAX);
  }
  exit_code = run(&options, &script);
  free(script.actions);
  return exit_code;
}
