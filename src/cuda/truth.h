/* truth.h: exact effects (vcs_truth): many runs of one machine, each with one flip, and the run without flips.
 *
 * Each run uses two lanes of its own (single_lane.h). vcs_truth_view_t has the data of all runs. This file is host and
 * device code.
 */
#ifndef VCS_CUDA_TRUTH_H
#define VCS_CUDA_TRUTH_H

#include "engine.h"
#include "single_lane.h"

/* The runs of one or several bases. Each base has `count` runs with a flip, followed by the run without flips. */
struct vcs_truth_view {
  const vcs_cart_t *cart;         /* with device pointers */
  uint8_t *machines;              /* by run */
  uint8_t *frames;                /* by run, two frame buffers each */
  const vcs_controls_t *controls; /* by base and frame */
  const uint8_t *inputs;          /* by flip: number of the flipped input, or VCS_INPUTS */
  const uint16_t *input_frames;   /* by flip: frame of the flipped input */
  vcs_truth_t *rows;              /* by run and horizon */
  uint8_t *lost;                  /* by run: abandoned because the program has crashed; NULL: never abandon */
  vcs_single_lane_code_t *image;  /* the cartridge, coded for single_lane.h */
  uint64_t *logs;                 /* by run, VCS_LOG_SIZE entries each */
  const int8_t *signs;            /* by item: sign of maps, -1 if the bit was set, 0 without effect */
  const float *values;            /* values of pixels in maps, by palette index and channel */
  int32_t channels, height;       /* channels of `values`; rows of a picture */
  size_t machine_bytes;
  int32_t bases, count, frame_count;        /* number of frames of a run */
  int32_t horizon, horizon_count, from, to; /* current horizon, and its range of frames */
};

VCS_FN int32_t vcs_truth_runs(const vcs_truth_view_t *truth) { return truth->bases * (truth->count + 1); }
VCS_FN int32_t vcs_truth_base(const vcs_truth_view_t *truth, int32_t run) { return run / (truth->count + 1); }
VCS_FN int32_t vcs_truth_flip(const vcs_truth_view_t *truth, int32_t run) { return run % (truth->count + 1); }

/* Returns the run of the same base without flips. */
VCS_FN int32_t vcs_truth_plain(const vcs_truth_view_t *truth, int32_t run) {
  return run - vcs_truth_flip(truth, run) + truth->count;
}

/* Returns the run of an item. Items number the runs with a flip, in the order of the results. */
VCS_FN int32_t vcs_truth_run_of(const vcs_truth_view_t *truth, int32_t item) { return item + item / truth->count; }

/* Returns the controls in a frame of a run, with its flipped input. */
VCS_FN vcs_controls_t vcs_truth_controls(const vcs_truth_view_t *truth, int32_t run, int32_t frame) {
  const int32_t flip = vcs_truth_flip(truth, run);
  vcs_controls_t controls = truth->controls[vcs_truth_base(truth, run) * truth->frame_count + frame];
  if (flip == truth->count || truth->input_frames[flip] != frame) return controls;
  const int input = truth->inputs[flip], keys = VCS_INPUT_SECOND_PLAYER;
  if (input < VCS_INPUT_RESET) {
    controls.held[input / keys] ^= (uint8_t)(1 << input % keys);
  } else if (input < VCS_INPUTS) {
    controls.console ^= (uint8_t)(1 << (input - VCS_INPUT_RESET));
  }
  return controls;
}

VCS_FN vcs_t *vcs_truth_machine(const vcs_truth_view_t *truth, int32_t run) {
  return (vcs_t *)(void *)(truth->machines + (size_t)run * truth->machine_bytes);
}

VCS_FN const uint8_t *vcs_truth_picture(const vcs_truth_view_t *truth, int32_t run) {
  const size_t buffer = 2 * (size_t)run + vcs_truth_machine(truth, run)->front;
  return truth->frames + buffer * VCS_FRAME_BYTES;
}

/* Runs the frames up to a horizon; only the last picture is compared. With one horizon only the last frame is drawn,
 * unless a frame leaves rows uncovered: then all frames run again from `before` with drawing. With `before` NULL every
 * frame is drawn.
 *
 * A flip can crash the program. Its frames then have the largest number of instructions, five times as many as usual,
 * or it executes data, and every instruction needs core/cpu.h. Such a run takes much longer than all other runs, so the
 * GPU may abandon it, and the host reruns it. */
enum { VCS_TRUTH_PATIENCE = 9000 }; /* instructions per frame; games have up to seven thousand */

VCS_FN void vcs_truth_run(const vcs_truth_view_t *truth, int32_t run, vcs_t *m, const vcs_cpu_tia_pair_t *pair,
                          const vcs_t *before) {
  uint8_t *frames = truth->frames + 2 * (size_t)run * VCS_FRAME_BYTES;
  bool draws_all = !before || truth->horizon_count > 1;
  uint8_t *lost = truth->lost && run != vcs_truth_plain(truth, run) ? &truth->lost[run] : NULL;
  vcs_log_t log = {pair->log, 0, 1};
  for (int32_t frame = truth->from; frame < truth->to; frame++) {
    if (lost && *lost) return;
    const vcs_controls_t controls = vcs_truth_controls(truth, run, frame);
    vcs_console_control(truth->cart, m, &controls);
    uint8_t *into = draws_all || frame + 1 == truth->to ? frames : NULL;
    const bool given_up =
        vcs_frame_single_lane(truth->cart, truth->image, m, pair, &log, into, lost ? VCS_TRUTH_PATIENCE : 0);
    if (given_up) {
      *lost = 1;
      return;
    }
    vcs_read_all_ram(m);
    if (draws_all || vcs_frame_covers(truth->cart, m)) continue;
    vcs_copy_machine(m, before, vcs_machine_size(truth->cart));
    draws_all = true;
    frame = truth->from - 1;
  }
}

/* The CRC-32 of zlib, four bits at a time. */
VCS_TABLE(uint32_t, vcs_crc_nibble, 16,
          {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C, 0xEDB88320,
           0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C})

VCS_FN uint32_t vcs_crc_of(const uint8_t *bytes, int32_t size) {
  uint32_t crc = ~0u;
  for (int32_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    crc = crc >> 4 ^ vcs_crc_nibble(crc & 15);
    crc = crc >> 4 ^ vcs_crc_nibble(crc & 15);
  }
  return ~crc;
}

/* Multiplies two polynomials modulo that of CRC-32, with the coefficient of 1 in bit 31. */
VCS_FN uint32_t vcs_crc_multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (int i = 31; i >= 0; i--) {
    if (a >> i & 1) product ^= b;
    b = b >> 1 ^ (b & 1 ? 0xEDB88320 : 0);
  }
  return product;
}

/* Returns x to the power of 8 * bytes: the CRC-32 of data followed by `bytes` further bytes is the CRC of the data
 * times this, plus the CRC of the further bytes. */
VCS_FN uint32_t vcs_crc_power(int32_t bytes) {
  uint32_t power = 0x80000000;
  for (int32_t i = 0; i < 8 * bytes; i++) power = power >> 1 ^ (power & 1 ? 0xEDB88320 : 0);
  return power;
}

/* Counts the bytes that differ from those of the base run: from `first` on, every `step`-th. */
VCS_FN int32_t vcs_count_different(const uint8_t *a, const uint8_t *b, int32_t size, int32_t first, int32_t step) {
  int32_t count = 0;
  for (int32_t i = first; i < size; i += step) count += a[i] != b[i];
  return count;
}

/* ---- Maps: the effect of a flip on each pixel and each bit of RAM ------------------------------------------------ */

/* Returns the size of a map at one horizon; the maps of an item's horizons are consecutive. */
VCS_FN size_t vcs_truth_map_size(const vcs_truth_view_t *truth, bool ram) {
  return ram ? 8 * 128 : (size_t)VCS_WIDTH * (size_t)truth->height * (size_t)truth->channels;
}

VCS_FN int32_t vcs_truth_sign(const vcs_truth_view_t *truth, int32_t item) {
  const bool lost = truth->lost && truth->lost[vcs_truth_run_of(truth, item)];
  return lost ? 0 : truth->signs[item];
}

/* Adds the effect on pixels from `first` on, every `step`-th. The terms have the order of vcs_truth_pairs. */
VCS_FN void vcs_truth_map_pixels(const vcs_truth_view_t *truth, int32_t item, float *map, int32_t first, int32_t step) {
  const int32_t run = vcs_truth_run_of(truth, item), size = VCS_WIDTH * truth->cart->frame_height;
  const float sign = (float)vcs_truth_sign(truth, item);
  const uint8_t *now = vcs_truth_picture(truth, run), *base = vcs_truth_picture(truth, vcs_truth_plain(truth, run));
  for (int32_t i = first; sign != 0 && i < size; i += step) {
    if (now[i] == base[i]) continue;
    for (int32_t c = 0; c < truth->channels; c++) {
      const float before = truth->values[base[i] * truth->channels + c];
      map[i * truth->channels + c] += sign * (truth->values[now[i] * truth->channels + c] - before - before + before);
    }
  }
}

VCS_FN void vcs_truth_map_ram(const vcs_truth_view_t *truth, int32_t item, float *map, int32_t first, int32_t step) {
  const int32_t run = vcs_truth_run_of(truth, item), sign = vcs_truth_sign(truth, item);
  const uint8_t *now = vcs_truth_machine(truth, run)->ram;
  const uint8_t *base = vcs_truth_machine(truth, vcs_truth_plain(truth, run))->ram;
  for (int32_t i = first; sign != 0 && i < 8 * 128; i += step) {
    map[i] += (float)(sign * ((now[i >> 3] >> (i & 7) & 1) - (base[i >> 3] >> (i & 7) & 1)));
  }
}

#endif
