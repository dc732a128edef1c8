/* test_cart.c: the bank schemes, their detection, and the power-on content of RAM.
 *
 * Expected addresses and numbers are written out here, not taken from the table under test. An image is filled so that
 * a byte tells where it comes from. Built with -fsanitize=address,undefined, the image is exactly as long as allocated,
 * so that an access outside it is caught. DIFFVCS_ROMS names a folder with ale-py's images for the last test.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cart.h"
#include "core/splitmix.h"
#include "host/cart_detect.h"
#include "need.h"

/* ---- A machine with one cartridge ---------------------------------------------------------------------------- */

typedef struct {
  vcs_cart_t cart;
  vcs_t m;
  uint8_t *rom;
} rig_t;

static uint8_t byte_at(size_t offset) {
  uint32_t x = (uint32_t)offset * 2654435761u;
  return (uint8_t)(x >> 24 ^ x >> 13);
}

static uint8_t *make_image(size_t size) {
  uint8_t *image = malloc(size);
  assert_non_null(image);
  for (size_t i = 0; i < size; ++i) image[i] = byte_at(i);
  return image;
}

static rig_t *plug(vcs_scheme_t scheme, size_t size) {
  rig_t *rig = calloc(1, sizeof *rig);
  uint8_t *image = make_image(size);
  vcs_error_t error;
  assert_non_null(rig);
  rig->rom = malloc(vcs_scheme_rom_size(scheme, size));
  assert_non_null(rig->rom);
  vcs_status_t status = vcs_cart_setup(&rig->cart, scheme, image, size, rig->rom, &error);
  if (status != VCS_OK) fail_msg("%s", error.message);
  free(image);
  vcs_cart_init(&rig->cart, &rig->m);
  vcs_cart_reset(&rig->cart, &rig->m);
  return rig;
}

static void unplug(rig_t *rig) {
  free(rig->rom);
  free(rig);
}

static uint8_t rd(rig_t *rig, uint16_t addr) { return vcs_cart_read(&rig->cart, &rig->m, addr); }
static bool wr(rig_t *rig, uint16_t addr, uint8_t value) { return vcs_cart_write(&rig->cart, &rig->m, addr, value); }
static bool low_rd(rig_t *rig, uint16_t addr) {
  uint8_t value = 0;
  return vcs_cart_snoop_read(&rig->cart, &rig->m, addr, &value);
}
static void low_wr(rig_t *rig, uint16_t addr, uint8_t value) { vcs_cart_snoop_write(&rig->cart, &rig->m, addr, value); }

/* Slice `slice` of the window shows the image from `offset` on. */
static void assert_shows(rig_t *rig, int slice, uint32_t offset) {
  assert_int_equal(rig->m.bank[slice], offset);
  assert_int_equal(vcs_cart_peek(&rig->cart, &rig->m, (uint16_t)(0x1000 + slice * 0x400 + 0x3B7)),
                   byte_at(offset + 0x3B7));
}

/* The window shows 4 KiB bank n. */
static void assert_shows_bank(rig_t *rig, uint32_t n) {
  for (int slice = 0; slice < 4; ++slice) assert_shows(rig, slice, n * 4096 + (uint32_t)slice * 1024);
}

static const vcs_scheme_t first_scheme = VCS_SCHEME_2K;

static size_t size_of(int scheme, bool largest) {
  static const size_t sizes[VCS_SCHEME_COUNT][2] = {
      {0, 0},         {2048, 4096},   {4096, 8192}, {8192, 8192}, {16384, 16384}, {32768, 32768},  {8192, 8192},
      {16384, 16384}, {32768, 32768}, {8192, 8192}, {8192, 8192}, {10240, 10496}, {2048, 524288},  {2048, 524288},
      {16384, 16384}, {12288, 12288}, {8192, 8192}, {2048, 4096}, {8192, 8192},   {131072, 262144}};
  return sizes[scheme][largest];
}

/* ---- Random content of RAM ----------------------------------------------------------------------------------- */

static void test_random_mt19937_gives_the_published_10000th_value(void **state) {
  (void)state;
  vcs_mt19937_t mt; /* the value that the C++ standard asks of a default-seeded std::mt19937 */
  vcs_mt19937_start(&mt, 5489, 0);
  for (int i = 1; i < 10000; ++i) vcs_mt19937_draw(&mt);
  assert_int_equal(vcs_mt19937_draw(&mt), 4123659995u);
  vcs_mt19937_start(&mt, 5489, 9999);
  assert_int_equal(vcs_mt19937_draw(&mt), 4123659995u);
}

static void test_random_fill_continues_where_the_last_draw_stopped(void **state) {
  (void)state;
  vcs_cart_t cart = {.random_ram = 1, .random_seed = 4753849};
  static vcs_t m, whole;
  uint8_t parts[1300], once[1300];
  vcs_random_fill(&cart, &m, parts, 128);
  parts[128] = (uint8_t)vcs_random_next(&cart, &m);
  vcs_random_fill(&cart, &m, parts + 129, 1300 - 129);
  vcs_random_fill(&cart, &whole, once, 1300);
  assert_memory_equal(parts, once, 1300);
  assert_int_equal(m.rng_draws, 1300);
}

static void test_random_congruential_fill_starts_again_for_every_block(void **state) {
  (void)state;
  vcs_cart_t cart = {.random_seed = 0};
  static vcs_t m;
  uint8_t a[64], b[64];
  vcs_random_fill(&cart, &m, a, 64);
  vcs_random_fill(&cart, &m, b, 64);
  assert_memory_equal(a, b, 64);
  assert_int_equal(a[0], 374441 & 0xFF);
  assert_int_equal(a[1], (374441ull * 2416 + 374441) % 1771875 & 0xFF);
  assert_int_equal(m.rng_draws, 0);
}

static void test_cart_ram_survives_a_reset_with_xitari_and_is_drawn_anew_with_ale(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_F6SC, 16384);
  wr(rig, 0x1005, 0x5A);
  vcs_cart_reset(&rig->cart, &rig->m);
  assert_int_equal(rd(rig, 0x1085), 0x5A);

  rig->cart.random_ram = 1;
  rig->cart.random_seed = 4753849;
  vcs_cart_init(&rig->cart, &rig->m);
  assert_int_equal(rig->m.rng_draws, 0);
  rig->m.rng_draws = 130; /* RIOT RAM and two timers */
  vcs_cart_reset(&rig->cart, &rig->m);
  assert_int_equal(rig->m.rng_draws, 258);
  vcs_mt19937_t mt;
  vcs_mt19937_start(&mt, 4753849, 130);
  for (int i = 0; i < 128; ++i) assert_int_equal(rd(rig, (uint16_t)(0x1080 + i)), vcs_mt19937_draw(&mt) & 0xFF);
  unplug(rig);
}

/* ---- One bank at a time -------------------------------------------------------------------------------------- */

static void test_cart_2k_shows_twice(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_2K, 2048);
  for (uint32_t a = 0; a < 4096; ++a) assert_int_equal(rd(rig, (uint16_t)(0x1000 + a)), byte_at(a & 0x7FF));
  unplug(rig);
}

static void test_cart_4k_shows_whole_in_every_mirror(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_4K, 4096);
  for (uint32_t a = 0; a < 65536; ++a)
    if (a & 0x1000) assert_int_equal(rd(rig, (uint16_t)a), byte_at(a & 0xFFF));
  unplug(rig);
}

static const struct {
  vcs_scheme_t scheme;
  uint32_t size, first, count, start, ram, write, read;
} full[] = {
    {VCS_SCHEME_F8, 8192, 0x1FF8, 2, 1, 0, 0, 0},
    {VCS_SCHEME_F6, 16384, 0x1FF6, 4, 0, 0, 0, 0},
    {VCS_SCHEME_F4, 32768, 0x1FF4, 8, 0, 0, 0, 0},
    {VCS_SCHEME_F8SC, 8192, 0x1FF8, 2, 1, 128, 0x1000, 0x1080},
    {VCS_SCHEME_F6SC, 16384, 0x1FF6, 4, 0, 128, 0x1000, 0x1080},
    {VCS_SCHEME_F4SC, 32768, 0x1FF4, 8, 0, 128, 0x1000, 0x1080},
    {VCS_SCHEME_FA, 12288, 0x1FF8, 3, 2, 256, 0x1000, 0x1100},
    {VCS_SCHEME_DPC, 10240, 0x1FF8, 2, 1, 0, 0, 0},
};
enum { FULL_COUNT = sizeof full / sizeof *full };

static void test_cart_full_banks_start_where_the_references_start(void **state) {
  (void)state;
  for (int i = 0; i < FULL_COUNT; ++i) {
    rig_t *rig = plug(full[i].scheme, full[i].size);
    assert_shows_bank(rig, full[i].start);
    rd(rig, (uint16_t)(full[i].first + (full[i].start ? 0 : 1)));
    assert_int_not_equal(rig->m.bank[0], full[i].start * 4096);
    vcs_cart_reset(&rig->cart, &rig->m);
    assert_shows_bank(rig, full[i].start);
    unplug(rig);
  }
}

static void test_cart_full_banks_switch_when_a_hot_spot_is_read(void **state) {
  (void)state;
  for (int i = 0; i < FULL_COUNT; ++i) {
    rig_t *rig = plug(full[i].scheme, full[i].size);
    for (uint32_t n = 0; n < full[i].count; ++n) {
      uint32_t spot = full[i].first + n;
      assert_int_equal(rd(rig, (uint16_t)(spot | 0xE000)), byte_at(n * 4096 + (spot & 0xFFF))); /* from the new bank */
      assert_shows_bank(rig, n);
    }
    unplug(rig);
  }
}

static void test_cart_full_banks_switch_when_a_hot_spot_is_written(void **state) {
  (void)state;
  for (int i = 0; i < FULL_COUNT; ++i) {
    if (full[i].scheme == VCS_SCHEME_F4SC) continue;
    rig_t *rig = plug(full[i].scheme, full[i].size);
    for (uint32_t n = 0; n < full[i].count; ++n) {
      wr(rig, (uint16_t)(full[i].first + n), 0xFF);
      assert_shows_bank(rig, n);
    }
    unplug(rig);
  }
}

static void test_cart_f4sc_hot_spots_ignore_writes(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_F4SC, 32768);
  for (uint32_t a = 0x1F00; a < 0x2000; ++a) wr(rig, (uint16_t)a, 1);
  assert_shows_bank(rig, 0);
  unplug(rig);
}

static void test_cart_full_banks_stay_when_anything_else_is_touched(void **state) {
  (void)state;
  for (int i = 0; i < FULL_COUNT; ++i) {
    rig_t *rig = plug(full[i].scheme, full[i].size);
    for (uint32_t a = 0x1000; a < 0x2000; ++a) {
      if (a - full[i].first < full[i].count) continue;
      rd(rig, (uint16_t)a);
      wr(rig, (uint16_t)a, 0);
      assert_int_equal(rig->m.bank[0], full[i].start * 4096);
    }
    unplug(rig);
  }
}

static void test_cart_ram_is_written_at_one_port_and_read_at_the_other(void **state) {
  (void)state;
  for (int i = 0; i < FULL_COUNT; ++i) {
    if (!full[i].ram) continue;
    rig_t *rig = plug(full[i].scheme, full[i].size);
    assert_int_equal(rig->cart.ram_size, full[i].ram);
    for (uint32_t k = 0; k < full[i].ram; ++k) wr(rig, (uint16_t)(full[i].write + k), (uint8_t)(k * 5 + 1));
    rd(rig, (uint16_t)full[i].first); /* the same RAM in every bank */
    for (uint32_t k = 0; k < full[i].ram; ++k)
      assert_int_equal(rd(rig, (uint16_t)(full[i].read + k)), (uint8_t)(k * 5 + 1));
    unplug(rig);
  }
}

static void test_cart_ram_ports_are_one_way(void **state) {
  (void)state;
  for (int i = 0; i < FULL_COUNT; ++i) {
    if (!full[i].ram) continue;
    rig_t *rig = plug(full[i].scheme, full[i].size);
    wr(rig, (uint16_t)full[i].write, 0x77);
    wr(rig, (uint16_t)full[i].read, 0x11);
    assert_int_equal(rd(rig, (uint16_t)full[i].write), byte_at(full[i].start * 4096)); /* the image below */
    assert_int_equal(rd(rig, (uint16_t)full[i].read), 0x77);
    unplug(rig);
  }
}

/* ---- Slices -------------------------------------------------------------------------------------------------- */

static void test_cart_e0_switches_three_slices_and_keeps_the_last(void **state) {
  (void)state;
  for (int write = 0; write < 2; ++write) {
    rig_t *rig = plug(VCS_SCHEME_E0, 8192);
    for (int slice = 0; slice < 4; ++slice) assert_shows(rig, slice, 4096 + (uint32_t)slice * 1024);
    for (uint32_t a = 0x1FC0; a < 0x2000; ++a) {
      uint32_t before[4];
      memcpy(before, rig->m.bank, sizeof before);
      if (write)
        wr(rig, (uint16_t)a, 0);
      else
        rd(rig, (uint16_t)a);
      if (a >= 0x1FE0 && a < 0x1FF8) before[(a - 0x1FE0) / 8] = a % 8 * 1024;
      assert_memory_equal(before, rig->m.bank, sizeof before);
    }
    assert_shows(rig, 3, 7168);
    vcs_cart_reset(&rig->cart, &rig->m);
    for (int slice = 0; slice < 4; ++slice) assert_shows(rig, slice, 4096 + (uint32_t)slice * 1024);
    unplug(rig);
  }
}

static void test_cart_fe_bank_is_the_inverse_of_a13(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_FE, 8192);
  for (uint32_t a = 0; a < 65536; ++a) {
    if (!(a & 0x1000)) continue;
    assert_int_equal(rd(rig, (uint16_t)a), byte_at((a & 0xFFF) + (a & 0x2000 ? 0 : 4096)));
    assert_int_equal(vcs_cart_peek(&rig->cart, &rig->m, (uint16_t)a), rd(rig, (uint16_t)a));
  }
  unplug(rig);
}

static void test_cart_3f_switches_the_lower_half_when_page_zero_is_written(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_3F, 12288); /* six banks: numbers go round */
  assert_true(rig->cart.snoops);
  for (uint32_t n = 0; n < 256; ++n) {
    low_wr(rig, (uint16_t)(n & 0x3F), (uint8_t)n);
    assert_shows(rig, 0, n % 6 * 2048);
    assert_shows(rig, 1, n % 6 * 2048 + 1024);
    assert_shows(rig, 2, 10240);
    assert_shows(rig, 3, 11264);
  }
  low_wr(rig, 0x203F, 2); /* A13 is not connected */
  assert_shows(rig, 0, 4096);
  vcs_cart_reset(&rig->cart, &rig->m);
  assert_shows(rig, 0, 0);
  unplug(rig);
}

static void test_cart_3f_ignores_other_mirrors_of_the_tia(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_3F, 8192);
  low_wr(rig, 0x3F, 1);
  for (uint32_t a = 0x40; a < 0x1000; ++a) {
    low_wr(rig, (uint16_t)a, 3);
    assert_false(low_rd(rig, (uint16_t)a));
  }
  assert_shows(rig, 0, 2048);
  unplug(rig);
}

static void test_cart_3f_answers_reads_of_page_zero(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_3F, 8192);
  uint8_t value = 0;
  low_wr(rig, 0x3F, 2);
  for (uint16_t a = 0; a < 0x40; ++a) {
    assert_true(vcs_cart_snoop_read(&rig->cart, &rig->m, a, &value));
    assert_int_equal(value, byte_at(4096u + a));
  }
  assert_false(low_rd(rig, 0x40));
  unplug(rig);
}

static void test_cart_3f_writes_to_the_window_reach_the_tia(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_3F, 8192);
  assert_true(wr(rig, 0x1040, 1));
  assert_shows(rig, 0, 0);
  assert_true(wr(rig, 0x103F, 1));
  assert_shows(rig, 0, 2048);
  unplug(rig);
  rig = plug(VCS_SCHEME_F8, 8192);
  assert_false(wr(rig, 0x103F, 1));
  unplug(rig);
}

static void test_cart_3e_maps_rom_by_3f_and_ram_by_3e(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_3E, 8192);
  for (int page = 0; page < 32; ++page) {
    low_wr(rig, 0x3E, (uint8_t)(page + 32)); /* pages go round */
    for (uint16_t k = 0; k < 1024; ++k) assert_false(wr(rig, (uint16_t)(0x1400 + k), (uint8_t)(k + page)));
  }
  for (int page = 0; page < 32; ++page) {
    low_wr(rig, 0x3E, (uint8_t)page);
    for (uint16_t k = 0; k < 1024; ++k) {
      assert_int_equal(rd(rig, (uint16_t)(0x1000 + k)), (uint8_t)(k + page));
      assert_int_equal(rd(rig, (uint16_t)(0x1400 + k)), (uint8_t)(k + page)); /* the write port reads back */
    }
    assert_true(wr(rig, 0x1005, 0xEE)); /* the read port cannot be written */
    assert_int_equal(rd(rig, 0x1005), (uint8_t)(5 + page));
  }
  low_wr(rig, 0x3D, 1); /* only $3E and $3F are hot spots */
  assert_int_equal(rd(rig, 0x1005), 5 + 31);
  low_wr(rig, 0x3F, 1);
  assert_shows(rig, 0, 2048);
  assert_shows(rig, 1, 3072);
  assert_shows(rig, 2, 6144);
  low_wr(rig, 0x3E, 3);
  vcs_cart_reset(&rig->cart, &rig->m);
  assert_shows(rig, 0, 0);
  unplug(rig);
}

static void test_cart_e7_maps_seven_banks_or_ram_below(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_E7, 16384);
  for (uint32_t n = 0; n < 7; ++n) {
    if (n & 1)
      rd(rig, (uint16_t)(0x1FE0 + n));
    else
      wr(rig, (uint16_t)(0x1FE0 + n), 0);
    assert_shows(rig, 0, n * 2048);
    assert_shows(rig, 1, n * 2048 + 1024);
    assert_shows(rig, 3, 15360);
  }
  rd(rig, 0x1FE7);
  for (uint16_t k = 0; k < 1024; ++k) wr(rig, (uint16_t)(0x1000 + k), (uint8_t)(k * 3));
  for (uint16_t k = 0; k < 1024; ++k) {
    assert_int_equal(rd(rig, (uint16_t)(0x1400 + k)), (uint8_t)(k * 3));
    assert_int_equal(rd(rig, (uint16_t)(0x1000 + k)), byte_at(14336u + k)); /* the write port: the last 2 KiB */
  }
  vcs_cart_reset(&rig->cart, &rig->m);
  assert_shows(rig, 0, 0);
  assert_shows(rig, 1, 1024);
  unplug(rig);
}

static void test_cart_e7_has_four_pages_of_ram_above(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_E7, 16384);
  for (uint32_t page = 0; page < 4; ++page) {
    wr(rig, (uint16_t)(0x1FE8 + page), 0);
    for (uint32_t k = 0; k < 256; ++k) wr(rig, (uint16_t)(0x1800 + k), (uint8_t)(k ^ page << 6));
  }
  for (uint32_t page = 0; page < 4; ++page) {
    rd(rig, (uint16_t)(0x1FE8 + page));
    for (uint32_t k = 0; k < 256; ++k) assert_int_equal(rd(rig, (uint16_t)(0x1900 + k)), (uint8_t)(k ^ page << 6));
  }
  rd(rig, 0x1FEC); /* no hot spot */
  assert_int_equal(rd(rig, 0x1900), 0xC0);
  vcs_cart_reset(&rig->cart, &rig->m);
  assert_int_equal(rd(rig, 0x1900), 0x00);
  assert_int_equal(rd(rig, 0x1800), byte_at(14336));
  unplug(rig);
}

static void test_cart_cv_has_ram_below_and_rom_above(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_CV, 2048);
  for (uint16_t k = 0; k < 1024; ++k) wr(rig, (uint16_t)(0x1400 + k), (uint8_t)(k * 7));
  for (uint16_t k = 0; k < 1024; ++k) {
    assert_int_equal(rd(rig, (uint16_t)(0x1000 + k)), (uint8_t)(k * 7));
    assert_int_equal(rd(rig, (uint16_t)(0x1400 + k)), byte_at(1024u + k));
  }
  for (uint16_t k = 0; k < 2048; ++k) assert_int_equal(rd(rig, (uint16_t)(0x1800 + k)), byte_at(k));
  wr(rig, 0x1000, 0xAA);
  assert_int_equal(rd(rig, 0x1000), 0);
  unplug(rig);
}

static void test_cart_cv_image_of_4k_begins_with_the_ram(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_CV, 4096);
  for (uint16_t k = 0; k < 1024; ++k) assert_int_equal(rd(rig, (uint16_t)(0x1000 + k)), byte_at(k));
  for (uint16_t k = 0; k < 2048; ++k) assert_int_equal(rd(rig, (uint16_t)(0x1800 + k)), byte_at(2048u + k));
  unplug(rig);
}

/* ---- Hot spots below $1000 ------------------------------------------------------------------------------------ */

static void test_cart_ua_switches_at_220_and_240_only(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_UA, 8192);
  assert_true(rig->cart.snoops);
  assert_shows_bank(rig, 0);
  assert_false(low_rd(rig, 0x240)); /* the TIA answers */
  assert_shows_bank(rig, 1);
  for (uint32_t a = 0; a < 0x1000; ++a) {
    if (a == 0x220 || a == 0x240) continue;
    low_rd(rig, (uint16_t)a);
    low_wr(rig, (uint16_t)a, 0);
    wr(rig, (uint16_t)(a + 0x1000), 0);
    assert_int_equal(rig->m.bank[0], 4096);
  }
  low_wr(rig, 0x2220, 0);
  assert_shows_bank(rig, 0);
  low_wr(rig, 0x240, 0);
  vcs_cart_reset(&rig->cart, &rig->m);
  assert_shows_bank(rig, 0);
  unplug(rig);
}

static void test_cart_0840_bank_is_a6_when_a11_is_high(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_0840, 8192);
  assert_shows_bank(rig, 0);
  uint32_t bank = 0;
  for (uint32_t k = 0; k < 0x2000; ++k) {
    uint32_t a = k * 2654435761u >> 20; /* all of 0-$FFF in some order */
    if (k & 1)
      assert_false(low_rd(rig, (uint16_t)a));
    else
      low_wr(rig, (uint16_t)a, 0);
    if (a & 0x800) bank = a >> 6 & 1;
    assert_shows_bank(rig, bank);
  }
  unplug(rig);
}

static void test_cart_sb_bank_is_the_low_bits_when_a11_is_high(void **state) {
  (void)state;
  for (uint32_t banks = 32; banks <= 64; banks += 32) {
    rig_t *rig = plug(VCS_SCHEME_SB, banks * 4096);
    assert_shows_bank(rig, banks - 1);
    uint32_t bank = banks - 1;
    for (uint32_t k = 0; k < 0x2000; ++k) {
      uint32_t a = k * 2654435761u >> 20;
      if (k & 1)
        assert_false(low_rd(rig, (uint16_t)a));
      else
        low_wr(rig, (uint16_t)a, 0);
      if (a & 0x800) bank = a % banks;
      assert_shows_bank(rig, bank);
    }
    vcs_cart_reset(&rig->cart, &rig->m);
    assert_shows_bank(rig, banks - 1);
    unplug(rig);
  }
}

/* ---- DPC ----------------------------------------------------------------------------------------------------- */

static void set_counter(rig_t *rig, uint32_t fetcher, uint32_t value) {
  wr(rig, (uint16_t)(0x1050 + fetcher), (uint8_t)value);
  wr(rig, (uint16_t)(0x1058 + fetcher), (uint8_t)(value >> 8));
}

static void test_cart_dpc_fetchers_walk_the_display_rom(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_DPC, 10495);
  for (uint32_t f = 0; f < 8; ++f) {
    set_counter(rig, f, 2);
    assert_int_equal(rd(rig, (uint16_t)(0x1008 + f)), byte_at(8192 + 2045));
    assert_int_equal(rd(rig, (uint16_t)(0x1008 + f)), byte_at(8192 + 2046));
    assert_int_equal(rd(rig, (uint16_t)(0x1008 + f)), byte_at(8192 + 2047));
    assert_int_equal(rd(rig, (uint16_t)(0x1008 + f)), byte_at(8192)); /* and round */
    assert_int_equal(rig->m.cart_word[f], 0x7FE);
  }
  unplug(rig);
}

static void test_cart_dpc_flag_is_set_at_top_and_cleared_at_bottom(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_DPC, 10240);
  wr(rig, 0x1042, 20);
  wr(rig, 0x104A, 10);
  set_counter(rig, 2, 25);
  for (int counter = 25; counter >= 0; --counter) {
    uint8_t flag = counter <= 20 && counter > 10 ? 0xFF : 0x00;
    if (counter & 1)
      assert_int_equal(rd(rig, 0x103A), flag);
    else
      assert_int_equal(rd(rig, 0x1012), byte_at(8192u + 2047u - (uint32_t)counter) & flag);
  }
  unplug(rig);
}

static void test_cart_dpc_random_number_has_period_255(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_DPC, 10240);
  static const uint8_t sequence[8] = {0x03, 0x07, 0x0F, 0x1E, 0x3D, 0x7A, 0xF4, 0xE8};
  bool seen[256] = {false};
  wr(rig, 0x1070, 0);
  for (int i = 0; i < 8; ++i) assert_int_equal(rd(rig, 0x1000), sequence[i]);
  wr(rig, 0x1070, 0);
  for (int i = 0; i < 255; ++i) {
    uint8_t value = rd(rig, 0x1000);
    assert_false(seen[value]);
    seen[value] = true;
  }
  assert_false(seen[0xFF]); /* all ones would stay */
  wr(rig, 0x1070, 0);
  uint8_t first = rd(rig, 0x1003);
  for (int i = 0; i < 254; ++i) wr(rig, 0x1234, 0); /* a write anywhere clocks it too */
  assert_int_equal(rd(rig, 0x1000), first);
  unplug(rig);
}

static void test_cart_dpc_music_is_a_square_wave_of_its_own_clock(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_DPC, 10240);
  wr(rig, 0x1045, 99); /* a period of 100 clocks, high for 50 */
  wr(rig, 0x104D, 49);
  wr(rig, 0x105D, 0x10);
  wr(rig, 0x1055, 0);
  int rises = 0, high = 0;
  uint8_t last = 0;
  for (int i = 0; i < 60 * 131; ++i) {
    for (int k = 0; k < 2; ++k) { /* one read a line, 60 * 262 lines: about 15750 clocks */
      rig->m.cycles += 76;
      uint8_t value = rd(rig, 0x1004);
      assert_true(value == 0x0 || value == 0x4);
      rises += value && !last;
      high += value != 0;
      last = value;
    }
    vcs_cart_rebase_cycles(&rig->cart, &rig->m);
    rig->m.cycles = 0;
  }
  assert_in_range(rises, 156, 158);
  assert_in_range(high, 60 * 262 / 2 - 80, 60 * 262 / 2 + 80);
  unplug(rig);
}

static void test_cart_dpc_music_takes_many_clocks_at_once(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_DPC, 10240);
  wr(rig, 0x1047, 9);
  wr(rig, 0x104F, 4);
  wr(rig, 0x105F, 0x10);
  wr(rig, 0x1057, 0);    /* starts at the top */
  rig->m.cycles += 2046; /* 27.007 clocks: from 9 down to 2 the third time */
  assert_int_equal(rd(rig, 0x1004), 0x0);
  assert_int_equal(rig->m.cart_word[7], 2);
  rig->m.cycles += 302; /* 3.986 more: with the .007, not yet four */
  assert_int_equal(rd(rig, 0x1004), 0x6);
  assert_int_equal(rig->m.cart_word[7], 9);
  unplug(rig);
}

static void test_cart_dpc_registers_survive_a_reset(void **state) {
  (void)state;
  rig_t *rig = plug(VCS_SCHEME_DPC, 10240);
  set_counter(rig, 3, 0x345);
  rd(rig, 0x1FF8);
  vcs_cart_reset(&rig->cart, &rig->m);
  assert_shows_bank(rig, 1);
  assert_int_equal(rd(rig, 0x100B), byte_at(8192 + 2047 - 0x345));
  unplug(rig);
}

/* ---- Every scheme -------------------------------------------------------------------------------------------- */

static void random_access(rig_t *rig, uint64_t *seed) {
  uint64_t x = vcs_splitmix64(seed);
  uint16_t a = (uint16_t)x;
  if (x >> 32 & 1) a |= 0x1FC0;
  if ((x >> 33 & 3) == 0) a &= 0xE03F;
  rig->m.cycles += x >> 40 & 1023;
  if (a & 0x1000) {
    if (x >> 16 & 1)
      rd(rig, a);
    else
      wr(rig, a, (uint8_t)(x >> 24));
  } else if (x >> 16 & 1) {
    low_rd(rig, a);
  } else {
    low_wr(rig, a, (uint8_t)(x >> 24));
  }
}

static void test_cart_never_leaves_image_or_ram(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int scheme = first_scheme; scheme < VCS_SCHEME_COUNT; ++scheme) {
    for (int largest = 0; largest < 2; ++largest) {
      rig_t *rig = plug((vcs_scheme_t)scheme, size_of(scheme, largest));
      for (int i = 0; i < 20000; ++i) {
        random_access(rig, &seed);
        uint16_t a = (uint16_t)(vcs_splitmix64(&seed) | 0x1000);
        int32_t place = vcs_cart_read_place(&rig->cart, &rig->m, a);
        int32_t target = vcs_cart_write_place(&rig->cart, &rig->m, a);
        if (place == VCS_CART_REGISTER)
          assert_int_equal(scheme, VCS_SCHEME_DPC);
        else if (place < 0)
          assert_true((uint32_t)~place < rig->cart.ram_size);
        else
          assert_true((uint32_t)place < rig->cart.rom_size);
        assert_true(target < (int32_t)rig->cart.ram_size);
        vcs_cart_peek(&rig->cart, &rig->m, a);
      }
      unplug(rig);
    }
  }
}

static void test_cart_pages_that_are_not_hot_are_plain(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (int scheme = first_scheme; scheme < VCS_SCHEME_COUNT; ++scheme) {
    rig_t *rig = plug((vcs_scheme_t)scheme, size_of(scheme, true));
    static vcs_t before;
    for (int i = 0; i < 300; ++i) {
      random_access(rig, &seed);
      for (uint32_t page = 0; page < 64; ++page) {
        if (rig->cart.hot_pages >> page & 1) continue;
        uint16_t a = (uint16_t)(0x1000 + page * 64 + (vcs_splitmix64(&seed) & 63));
        memcpy(&before, &rig->m, sizeof before);
        uint8_t plain = rd(rig, a);
        assert_memory_equal(&before, &rig->m, sizeof before);
        assert_int_equal(vcs_cart_peek(&rig->cart, &rig->m, a), plain);
        if (scheme == VCS_SCHEME_DPC) continue; /* the slow path clocks the random number */
        assert_int_equal(vcs_cart_read_hot(&rig->cart, &rig->m, a), plain);
        assert_memory_equal(&before, &rig->m, sizeof before);
      }
    }
    unplug(rig);
  }
}

/* The same for single addresses, also of pages that are hot. */
static void test_cart_knows_which_addresses_are_rom(void **state) {
  (void)state;
  uint64_t seed = 4;
  for (int scheme = first_scheme; scheme < VCS_SCHEME_COUNT; ++scheme) {
    rig_t *rig = plug((vcs_scheme_t)scheme, size_of(scheme, true));
    static vcs_t before;
    for (int i = 0; i < 20; ++i) {
      random_access(rig, &seed);
      memcpy(&before, &rig->m, sizeof before);
      for (uint32_t offset = 0; offset < 4096; ++offset) {
        if (!vcs_cart_is_rom(&rig->cart, offset, offset)) continue;
        uint16_t a = (uint16_t)((vcs_splitmix64(&seed) & 0xE000) | 0x1000 | offset);
        uint32_t place = before.bank[offset >> 10] + (offset & 0x3FF);
        if (scheme == VCS_SCHEME_FE) place = (a & 0x2000 ? 0 : 4096) + offset;
        assert_int_equal(vcs_cart_read_place(&rig->cart, &rig->m, a), place);
        assert_int_equal(rd(rig, a), rig->cart.rom[place]);
      }
      assert_memory_equal(&before, &rig->m, sizeof before);
    }
    unplug(rig);
  }
  rig_t *rig = plug(VCS_SCHEME_F8, 8192);
  assert_true(vcs_cart_is_rom(&rig->cart, 0x000, 0xFF7));
  assert_false(vcs_cart_is_rom(&rig->cart, 0xFF7, 0xFF8));
  assert_false(vcs_cart_is_rom(&rig->cart, 0xFF9, 0xFFA));
  assert_true(vcs_cart_is_rom(&rig->cart, 0xFFA, 0xFFF));
  assert_false(vcs_cart_is_rom(&rig->cart, 0xF00, 0x1000));
  unplug(rig);
}

static void test_cart_peek_changes_nothing(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (int scheme = first_scheme; scheme < VCS_SCHEME_COUNT; ++scheme) {
    rig_t *rig = plug((vcs_scheme_t)scheme, size_of(scheme, true));
    static vcs_t before;
    for (int i = 0; i < 50; ++i) random_access(rig, &seed);
    memcpy(&before, &rig->m, sizeof before);
    for (uint32_t a = 0x1000; a < 0x2000; ++a) vcs_cart_peek(&rig->cart, &rig->m, (uint16_t)a);
    assert_memory_equal(&before, &rig->m, sizeof before);
    unplug(rig);
  }
}

/* ---- Names, sizes, detection --------------------------------------------------------------------------------- */

static void test_scheme_names_lead_back(void **state) {
  (void)state;
  for (int scheme = 0; scheme < VCS_SCHEME_COUNT; ++scheme)
    assert_int_equal(vcs_scheme_by_name(vcs_scheme_name((vcs_scheme_t)scheme)), scheme);
  assert_int_equal(vcs_scheme_by_name("f8sc"), VCS_SCHEME_F8SC);
  assert_int_equal(vcs_scheme_by_name("FASC"), VCS_SCHEME_FA);
  assert_int_equal(vcs_scheme_by_name("0840"), VCS_SCHEME_0840);
  assert_int_equal(vcs_scheme_by_name("F8S"), VCS_SCHEME_COUNT);
  assert_int_equal(vcs_scheme_by_name("F8SCX"), VCS_SCHEME_COUNT);
  assert_int_equal(vcs_scheme_by_name(NULL), VCS_SCHEME_COUNT);
  assert_null(vcs_scheme_name(VCS_SCHEME_COUNT));
}

static void test_scheme_check_refuses_wrong_sizes_with_a_message(void **state) {
  (void)state;
  vcs_error_t error;
  for (int scheme = first_scheme; scheme < VCS_SCHEME_COUNT; ++scheme) {
    for (int largest = 0; largest < 2; ++largest) {
      size_t size = size_of(scheme, largest);
      assert_int_equal(vcs_scheme_check((vcs_scheme_t)scheme, size, &error), VCS_OK);
      assert_string_equal(error.message, "");
      size_t wrong = largest ? size + 1 : size - 1;
      assert_int_equal(vcs_scheme_check((vcs_scheme_t)scheme, wrong, &error), VCS_BAD_IMAGE);
      assert_non_null(strstr(error.message, vcs_scheme_name((vcs_scheme_t)scheme)));
      assert_int_equal(vcs_scheme_check((vcs_scheme_t)scheme, wrong, NULL), VCS_BAD_IMAGE);
    }
  }
  assert_int_equal(vcs_scheme_check(VCS_SCHEME_3F, 5000, &error), VCS_BAD_IMAGE);
  assert_int_equal(vcs_scheme_check(VCS_SCHEME_3F, 4097, &error), VCS_BAD_IMAGE);
  assert_int_equal(vcs_scheme_check(VCS_SCHEME_SB, 196608, &error), VCS_BAD_IMAGE);
  assert_int_equal(vcs_scheme_check(VCS_SCHEME_AUTO, 4096, &error), VCS_BAD_IMAGE);
  assert_int_equal(vcs_scheme_check(VCS_SCHEME_COUNT, 4096, &error), VCS_BAD_ARGUMENT);
}

static vcs_scheme_t detect_with(size_t size, size_t at, const char *bytes, size_t count) {
  uint8_t *image = make_image(size);
  memcpy(image + at, bytes, count);
  vcs_scheme_t scheme = vcs_scheme_detect(image, size);
  free(image);
  return scheme;
}

static void test_scheme_detect_goes_by_size_first(void **state) {
  (void)state;
  static const struct {
    size_t size;
    vcs_scheme_t scheme;
  } plain[] = {{2048, VCS_SCHEME_2K},    {4096, VCS_SCHEME_4K},    {8192, VCS_SCHEME_F8},   {10240, VCS_SCHEME_DPC},
               {10495, VCS_SCHEME_DPC},  {10496, VCS_SCHEME_DPC},  {12288, VCS_SCHEME_FA},  {16384, VCS_SCHEME_F6},
               {32768, VCS_SCHEME_F4},   {65536, VCS_SCHEME_AUTO}, {8448, VCS_SCHEME_AUTO}, {131072, VCS_SCHEME_AUTO},
               {33792, VCS_SCHEME_AUTO}, {1024, VCS_SCHEME_AUTO},  {5000, VCS_SCHEME_AUTO}};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i)
    assert_int_equal(detect_with(plain[i].size, 0, "", 0), plain[i].scheme);
  assert_int_equal(vcs_scheme_detect(NULL, 0), VCS_SCHEME_AUTO);
}

static void test_scheme_detect_finds_signatures(void **state) {
  (void)state;
  assert_int_equal(detect_with(2048, 70, "\x9D\xFF\xF3", 3), VCS_SCHEME_CV);
  assert_int_equal(detect_with(4096, 70, "\x99\x00\xF4", 3), VCS_SCHEME_CV);
  assert_int_equal(detect_with(8192, 500, "\x8D\xE0\x1F", 3), VCS_SCHEME_E0);
  assert_int_equal(detect_with(8192, 500, "\xAD\xF3\xBF", 3), VCS_SCHEME_E0);
  assert_int_equal(detect_with(8192, 500, "\x85\x3E\xA9\x00", 4), VCS_SCHEME_3E);
  assert_int_equal(detect_with(8192, 500, "\x85\x3F\x00\x00\x85\x3F", 6), VCS_SCHEME_3F);
  assert_int_equal(detect_with(8192, 500, "\x85\x3F\x00\x00", 4), VCS_SCHEME_F8);
  assert_int_equal(detect_with(8192, 500, "\x85\x3F\x85\x3F", 4), VCS_SCHEME_F8); /* too close together */
  assert_int_equal(detect_with(8192, 500, "\x8D\x40\x02", 3), VCS_SCHEME_UA);
  assert_int_equal(detect_with(8192, 8189, "\x8D\x40\x02", 3), VCS_SCHEME_F8); /* the last place is not searched */
  assert_int_equal(detect_with(8192, 8188, "\x8D\x40\x02", 3), VCS_SCHEME_UA);
  assert_int_equal(detect_with(8192, 500, "\x20\x00\xD0\xC6\xC5", 5), VCS_SCHEME_FE);
  assert_int_equal(detect_with(16384, 500, "\x85\x3E\xA9\x00", 4), VCS_SCHEME_3E);
  assert_int_equal(detect_with(65536, 500, "\x85\x3F\x00\x00\x85\x3F", 6), VCS_SCHEME_3F);
  assert_int_equal(detect_with(131072, 500, "\xAD\x00\x08", 3), VCS_SCHEME_SB);
  assert_int_equal(detect_with(262144, 500, "\xBD\x00\x08", 3), VCS_SCHEME_SB);
}

static void test_scheme_detect_finds_repeated_halves(void **state) {
  (void)state;
  for (size_t size = 4096; size <= 8192; size *= 2) {
    uint8_t *image = make_image(size);
    memcpy(image + size / 2, image, size / 2);
    assert_int_equal(vcs_scheme_detect(image, size), size == 4096 ? VCS_SCHEME_2K : VCS_SCHEME_4K);
    free(image);
  }
}

static void test_scheme_detect_finds_blank_ram_areas(void **state) {
  (void)state;
  static const vcs_scheme_t superchip[3] = {VCS_SCHEME_F8SC, VCS_SCHEME_F6SC, VCS_SCHEME_F4SC};
  static const vcs_scheme_t bare[3] = {VCS_SCHEME_F8, VCS_SCHEME_F6, VCS_SCHEME_F4};
  for (int i = 0; i < 3; ++i) {
    size_t size = (size_t)8192 << i;
    uint8_t *image = make_image(size);
    for (size_t bank = 0; bank < size; bank += 4096) memset(image + bank, (int)(bank >> 12), 256);
    assert_int_equal(vcs_scheme_detect(image, size), superchip[i]);
    image[size - 4096 + 255] ^= 1;
    assert_int_equal(vcs_scheme_detect(image, size), bare[i]);
    free(image);
  }
  uint8_t *image = make_image(16384);
  memset(image + 0x3800, 0xFF, 512);
  image[0x3A00] = 0;
  assert_int_equal(vcs_scheme_detect(image, 16384), VCS_SCHEME_E7);
  memset(image + 0x3800 - 32, 0xFF, 512 + 64); /* a longer blank says nothing */
  assert_int_equal(vcs_scheme_detect(image, 16384), VCS_SCHEME_F6);
  free(image);
}

static void test_cart_setup_fails_without_touching_the_cartridge(void **state) {
  (void)state;
  vcs_cart_t cart = {.rom_size = 7, .format = 3};
  vcs_error_t error;
  uint8_t *image = make_image(65536), rom[1] = {0};
  assert_int_equal(vcs_cart_setup(&cart, VCS_SCHEME_F8, image, 4096, rom, &error), VCS_BAD_IMAGE);
  assert_string_equal(error.message, "F8 images have 8192 bytes, this one has 4096");
  assert_int_equal(vcs_cart_setup(&cart, VCS_SCHEME_AUTO, image, 65536, rom, &error), VCS_BAD_IMAGE);
  assert_int_equal(vcs_cart_setup(&cart, VCS_SCHEME_F8, NULL, 8192, rom, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_cart_setup(&cart, VCS_SCHEME_F8, image, 8192, NULL, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(cart.rom_size, 7);
  assert_null(cart.rom);
  free(image);
}

/* The images of ale-py and the schemes that the references detect; images that are not listed have the scheme of their
 * size (2K, 4K, F8). */
static const struct {
  const char *file;
  vcs_scheme_t scheme;
} games[] = {
    {"crossbow.bin", VCS_SCHEME_F6},          {"darkchambers.bin", VCS_SCHEME_F6SC}, {"double_dunk.bin", VCS_SCHEME_F6},
    {"elevator_action.bin", VCS_SCHEME_F8SC}, {"jamesbond.bin", VCS_SCHEME_E0},      {"klax.bin", VCS_SCHEME_F6SC},
    {"montezuma_revenge.bin", VCS_SCHEME_E0}, {"pitfall2.bin", VCS_SCHEME_DPC},      {"road_runner.bin", VCS_SCHEME_F6},
    {"robotank.bin", VCS_SCHEME_FE},          {"solaris.bin", VCS_SCHEME_F6},        {"tutankham.bin", VCS_SCHEME_E0},
};
enum { GAME_COUNT = sizeof games / sizeof *games };

static vcs_scheme_t expected_scheme(const char *file, size_t size) {
  for (int i = 0; i < GAME_COUNT; ++i)
    if (strcmp(games[i].file, file) == 0) return games[i].scheme;
  return size == 2048 ? VCS_SCHEME_2K : size == 4096 ? VCS_SCHEME_4K : VCS_SCHEME_F8;
}

static void test_scheme_detect_agrees_with_the_references_on_real_images(void **state) {
  (void)state;
  const char *folder = rom_folder();
  if (folder == NULL) NEED("roms", "set DIFFVCS_ROMS to ale-py's roms folder");
  DIR *list = opendir(folder);
  if (list == NULL) fail_msg("cannot open %s", folder);
  int seen = 0;
  for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
    const char *dot = strrchr(entry->d_name, '.');
    if (dot == NULL || strcmp(dot, ".bin") != 0) continue;
    char path[1024];
    static uint8_t image[65536];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("cannot open %s", path);
    size_t size = fread(image, 1, sizeof image, file);
    fclose(file);
    vcs_scheme_t scheme = vcs_scheme_detect(image, size);
    if (scheme != expected_scheme(entry->d_name, size))
      fail_msg("%s: detected %s", entry->d_name, vcs_scheme_name(scheme));
    ++seen;
  }
  closedir(list);
  if (seen < GAME_COUNT) fail_msg("only %d images in %s", seen, folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_mt19937_gives_the_published_10000th_value),
      cmocka_unit_test(test_random_fill_continues_where_the_last_draw_stopped),
      cmocka_unit_test(test_random_congruential_fill_starts_again_for_every_block),
      cmocka_unit_test(test_cart_ram_survives_a_reset_with_xitari_and_is_drawn_anew_with_ale),
      cmocka_unit_test(test_cart_2k_shows_twice),
      cmocka_unit_test(test_cart_4k_shows_whole_in_every_mirror),
      cmocka_unit_test(test_cart_full_banks_start_where_the_references_start),
      cmocka_unit_test(test_cart_full_banks_switch_when_a_hot_spot_is_read),
      cmocka_unit_test(test_cart_full_banks_switch_when_a_hot_spot_is_written),
      cmocka_unit_test(test_cart_f4sc_hot_spots_ignore_writes),
      cmocka_unit_test(test_cart_full_banks_stay_when_anything_else_is_touched),
      cmocka_unit_test(test_cart_ram_is_written_at_one_port_and_read_at_the_other),
      cmocka_unit_test(test_cart_ram_ports_are_one_way),
      cmocka_unit_test(test_cart_e0_switches_three_slices_and_keeps_the_last),
      cmocka_unit_test(test_cart_fe_bank_is_the_inverse_of_a13),
      cmocka_unit_test(test_cart_3f_switches_the_lower_half_when_page_zero_is_written),
      cmocka_unit_test(test_cart_3f_ignores_other_mirrors_of_the_tia),
      cmocka_unit_test(test_cart_3f_answers_reads_of_page_zero),
      cmocka_unit_test(test_cart_3f_writes_to_the_window_reach_the_tia),
      cmocka_unit_test(test_cart_3e_maps_rom_by_3f_and_ram_by_3e),
      cmocka_unit_test(test_cart_e7_maps_seven_banks_or_ram_below),
      cmocka_unit_test(test_cart_e7_has_four_pages_of_ram_above),
      cmocka_unit_test(test_cart_cv_has_ram_below_and_rom_above),
      cmocka_unit_test(test_cart_cv_image_of_4k_begins_with_the_ram),
      cmocka_unit_test(test_cart_ua_switches_at_220_and_240_only),
      cmocka_unit_test(test_cart_0840_bank_is_a6_when_a11_is_high),
      cmocka_unit_test(test_cart_sb_bank_is_the_low_bits_when_a11_is_high),
      cmocka_unit_test(test_cart_dpc_fetchers_walk_the_display_rom),
      cmocka_unit_test(test_cart_dpc_flag_is_set_at_top_and_cleared_at_bottom),
      cmocka_unit_test(test_cart_dpc_random_number_has_period_255),
      cmocka_unit_test(test_cart_dpc_music_is_a_square_wave_of_its_own_clock),
      cmocka_unit_test(test_cart_dpc_music_takes_many_clocks_at_once),
      cmocka_unit_test(test_cart_dpc_registers_survive_a_reset),
      cmocka_unit_test(test_cart_never_leaves_image_or_ram),
      cmocka_unit_test(test_cart_pages_that_are_not_hot_are_plain),
      cmocka_unit_test(test_cart_knows_which_addresses_are_rom),
      cmocka_unit_test(test_cart_peek_changes_nothing),
      cmocka_unit_test(test_scheme_names_lead_back),
      cmocka_unit_test(test_scheme_check_refuses_wrong_sizes_with_a_message),
      cmocka_unit_test(test_scheme_detect_goes_by_size_first),
      cmocka_unit_test(test_scheme_detect_finds_signatures),
      cmocka_unit_test(test_scheme_detect_finds_repeated_halves),
      cmocka_unit_test(test_scheme_detect_finds_blank_ram_areas),
      cmocka_unit_test(test_cart_setup_fails_without_touching_the_cartridge),
      cmocka_unit_test(test_scheme_detect_agrees_with_the_references_on_real_images),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
