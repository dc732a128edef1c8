/* state.h: the machine as plain data (vcs_t), and what does not change while it runs (vcs_cart_t).
 *
 * A snapshot is `vcs_t saved = *m;`. vcs_t contains no pointers, and two states are equal when their bytes are equal.
 * vcs_cart_t is the cartridge with the console it is plugged into: image, bank scheme, television, controllers.
 */
#ifndef VCS_CORE_STATE_H
#define VCS_CORE_STATE_H

#include "base.h"
#include "fields.h"

enum { VCS_CART_RAM_MAX = 32768 };

/* An instruction of the image, decoded for vcs_cpu_run (decode.h). */
typedef struct {
  uint16_t row, operand;
} vcs_code_t;

typedef struct vcs_native vcs_native_t; /* compiled code (host/native.h) */

/* A field of count 1 is declared as a scalar, any other as an array. */
#define VCS_DECLARE(type, name, count, meaning) VCS_DECLARE_##count(type, name)
#define VCS_DECLARE_1(type, name) type name;
#define VCS_DECLARE_2(type, name) type name[2];
#define VCS_DECLARE_3(type, name) type name[3];
#define VCS_DECLARE_4(type, name) type name[4];
#define VCS_DECLARE_5(type, name) type name[5];
#define VCS_DECLARE_6(type, name) type name[6];
#define VCS_DECLARE_8(type, name) type name[8];
#define VCS_DECLARE_24(type, name) type name[24];
#define VCS_DECLARE_128(type, name) type name[128];
#define VCS_DECLARE_VCS_CART_RAM_MAX(type, name) type name[VCS_CART_RAM_MAX];

struct vcs {
  VCS_FIELDS(VCS_DECLARE)
};

/* No padding: the sizes of the fields add up to the size of the struct. The registers of the TIA that make the picture
 * are VCS_TIA_BYTES from vsync on. */
#define VCS_SIZE_OF(type, name, count, meaning) +sizeof(type) * (count)
enum { VCS_TIA_BYTES = 0 VCS_FIELDS_TIA(VCS_SIZE_OF) };
#if defined(__cplusplus)
#define VCS_ASSERT static_assert
#else
#define VCS_ASSERT _Static_assert
#endif
VCS_ASSERT(sizeof(struct vcs) == 0 VCS_FIELDS(VCS_SIZE_OF), "vcs_t has padding: reorder fields.h");
VCS_ASSERT(offsetof(struct vcs, vsync) + VCS_TIA_BYTES == offsetof(struct vcs, dump),
           "vsync is the first of the registers that make the picture, and dump follows the last");

/* The cartridge and its console: constant while the machine runs. */
struct vcs_cart {
  /* The cartridge (set up by cart_detect.c) */
  const uint8_t *rom;     /* the image; every slice a scheme can select lies inside it */
  const vcs_code_t *code; /* what begins at each byte of the image (decode.h), or NULL: then the CPU only steps */
  vcs_native_t *native;   /* what of it is compiled, or NULL: then it is interpreted */
  uint32_t rom_size;
  uint32_t ram_size;  /* cartridge RAM in bytes, at most VCS_CART_RAM_MAX */
  uint64_t hot_pages; /* one bit for each 64 bytes of the 4 KiB window: accesses there go through cart.h */
  uint8_t scheme;     /* vcs_scheme_t */
  uint8_t snoops;     /* the scheme also watches addresses below $1000 */

  /* The console */
  uint8_t format;       /* vcs_format_t */
  uint8_t probed;       /* the format was found by running 60 frames, which every power-on then does (console.h) */
  uint8_t colour_loss;  /* odd frames lose their colour (PAL) */
  uint8_t hmove_blanks; /* HMOVE blanks eight pixels */
  uint8_t switches;     /* console switches at power-on, as SWCHB reads them */
  uint8_t timer_spread; /* the RIOT timer starts at 25 plus a random value below this; 0: at 25 */
  uint8_t random_ram;   /* RAM starts from the random generator instead of zero */
  uint32_t random_seed; /* of that generator (riot_random.h) */
  int32_t max_lines;    /* a frame without VSYNC ends after this many lines */
  int32_t top_line;     /* the scan line shown in the top row of the picture */
  int32_t height;       /* rows drawn */
  int32_t probe_height; /* rows drawn while probing */
  int32_t frame_height; /* rows of the picture, at least 200 */

  /* The controllers. Player 0's is plugged into port 0, on the left, unless the ports are swapped. */
  uint8_t controller[2]; /* vcs_controller_t by port */
  uint8_t swap_ports;    /* player 0's controller is in the right port and the other way round */
  uint8_t swap_paddles;  /* the two paddles of a port are exchanged */
  uint8_t passive_ports; /* both controllers are plain switches: port A reads m->swcha */
};

/* The number of bytes of a machine that are used (vcs_state_size). */
VCS_FN size_t vcs_machine_size(const vcs_cart_t *cart) { return offsetof(vcs_t, cart_ram) + cart->ram_size; }

/* What the reference does after a frame: it reads all of RAM over the bus, where the last byte stays. A program that
 * executes addresses of the TIA, which leaves bits of a byte undriven, finds it there. */
VCS_FN void vcs_read_all_ram(vcs_t *m) { m->bus = m->ram[127]; }

#endif
