/* test_riot.c: RAM, timer, ports and controllers.
 *
 * The timer is compared with one that counts: it is stepped cycle by cycle, as the chip does, where the machine
 * computes what a counter would show. Controllers are driven through vcs_control and read back the way a program does,
 * through a small program that copies a port to RAM.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "core/riot.h"

static vcs_cart_t cart;
static vcs_t m;

/* Before each test: the cartridge as loaded, but with an image that can be written, and a fresh machine. */
static int switch_on(void **state) {
  (void)state;
  cart = *loaded;
  cart.rom = rom;
  cart.code = NULL;
  erase_rom();
  memset(&m, 0, sizeof m);
  vcs_boot(&cart, &m, NULL);
  return 0;
}

/* LDA address, as a program would; the value it gets. */
static uint8_t lda(uint16_t addr) {
  vcs_step_t step;
  rom[0] = 0xAD;
  rom[1] = (uint8_t)addr;
  rom[2] = (uint8_t)(addr >> 8);
  m.pc = 0xF000;
  vcs_step(&cart, &m, NULL, &step);
  return step.a;
}

static void sta(uint16_t addr, uint8_t value) {
  vcs_step_t step;
  rom[0] = 0x8D;
  rom[1] = (uint8_t)addr;
  rom[2] = (uint8_t)(addr >> 8);
  m.pc = 0xF000;
  m.a = value;
  vcs_step(&cart, &m, NULL, &step);
}

static void hold(vcs_controls_t controls) { vcs_control(&cart, &m, &controls); }

/* ---- RAM ---------------------------------------------------------------------------------------------------- */

static void test_riot_ram_appears_wherever_a7_is_high_and_a9_and_a12_are_low(void **state) {
  (void)state;
  for (unsigned addr = 0; addr < 0x10000; addr++) {
    if (addr & 0x1000 || !(addr & 0x80) || addr & 0x200) continue;
    uint8_t value = (uint8_t)(addr * 7 + (addr >> 8));
    sta((uint16_t)addr, value);
    assert_int_equal(m.ram[addr & 0x7F], value);
    assert_int_equal(lda((uint16_t)(addr ^ 0x2500)), value);
    assert_int_equal(vcs_peek(&cart, &m, (uint16_t)addr), value);
  }
}

static void test_riot_ram_does_not_answer_where_the_ports_do(void **state) {
  (void)state;
  memset(m.ram, 0x77, 128);
  for (unsigned addr = 0x280; addr < 0x300; addr++) sta((uint16_t)addr, 0x11);
  for (int i = 0; i < 128; i++) assert_int_equal(m.ram[i], 0x77);
}

static void test_riot_ram_survives_a_reset(void **state) {
  (void)state;
  for (int i = 0; i < 128; i++) m.ram[i] = (uint8_t)(i ^ 0x5A);
  vcs_reset(&cart, &m, NULL);
  for (int i = 0; i < 128; i++) assert_int_equal(m.ram[i], i ^ 0x5A);
}

/* ---- Timer -------------------------------------------------------------------------------------------------- */

/* A timer that counts. It is set at some cycle; the first step comes with the next cycle, then one every interval; at
 * zero the next step expires it, from where it counts every cycle. */
typedef struct {
  int value, prescale, interval, expired;
} counter_t;

static void counter_set(counter_t *c, uint8_t value, int interval) {
  c->value = value;
  c->interval = interval;
  c->prescale = 1;
  c->expired = 0;
}

static void counter_tick(counter_t *c) {
  if (c->expired) {
    c->value = (c->value + 255) % 256;
  } else if (--c->prescale == 0) {
    c->prescale = c->interval;
    if (c->value == 0) {
      c->expired = 1;
      c->value = 255;
    } else {
      c->value--;
    }
  }
}

static const struct {
  uint16_t addr;
  int interval;
} intervals[4] = {{0x294, 1}, {0x295, 8}, {0x296, 64}, {0x297, 1024}};

static void test_riot_timer_agrees_with_a_counter_at_every_cycle_until_it_expires(void **state) {
  (void)state;
  static const uint8_t values[] = {0, 1, 2, 25, 76, 128, 254, 255};
  for (int i = 0; i < 4; i++) {
    for (size_t v = 0; v < sizeof values; v++) {
      counter_t counter;
      m.cycles = 12345;
      vcs_riot_write(&m, intervals[i].addr, values[v]);
      counter_set(&counter, values[v], intervals[i].interval);
      /* a read in a cycle sees the timer as the cycle before it left it */
      for (m.cycles = 12346;; m.cycles++) {
        counter_tick(&counter);
        if (counter.expired) break;
        if (vcs_riot_read(&cart, &m, 0x284) != counter.value) {
          fail_msg("interval %d, set to %d: %d cycles later it shows %d, not %d", intervals[i].interval, values[v],
                   (int)m.cycles - 12345, vcs_riot_read(&cart, &m, 0x284), counter.value);
        }
        assert_int_equal(vcs_riot_read(&cart, &m, 0x285), 0x00);
      }
      assert_int_equal(m.cycles - 12345, (unsigned)values[v] * (unsigned)intervals[i].interval + 1);
      assert_int_equal(vcs_riot_read(&cart, &m, 0x285), 0x80);
    }
  }
}

/* The first read at each distance after expiry, on a fresh timer each time. */
static void test_riot_timer_counts_every_cycle_after_it_expired_until_it_is_read(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    counter_t counter;
    uint32_t set = 1000;
    int value = 3;
    counter_set(&counter, (uint8_t)value, intervals[i].interval);
    for (int t = 1; t < value * intervals[i].interval + 600; t++) {
      counter_tick(&counter);
      if (!counter.expired) continue;
      m.cycles = set;
      vcs_riot_write(&m, intervals[i].addr, (uint8_t)value);
      m.cycles = set + (uint32_t)t;
      int past = t - value * intervals[i].interval; /* cycles since it showed zero, from 1 */
      uint8_t shown = vcs_riot_read(&cart, &m, 0x284);
      if (past == 1) {
        assert_int_equal(shown, counter.value); /* 255, and this read is too early to count as one */
        assert_int_equal(m.timer_was_read, 0);
      } else { /* this read turns the timer back to its interval: it shows what is left of its value less the delay */
        assert_int_equal(m.timer_was_read, 1);
        int steps = (t - 1) / intervals[i].interval;
        assert_int_equal(shown, (uint8_t)(value - steps - past));
      }
    }
  }
}

static void test_riot_timer_after_a_late_read_spelled_out(void **state) {
  (void)state;
  m.cycles = 0;
  vcs_riot_write(&m, 0x296, 10); /* TIM64T: zero from cycle 577 on, expired at 641 */
  m.cycles = 1;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), 9);
  m.cycles = 64;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), 9);
  m.cycles = 65;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), 8);
  m.cycles = 640;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), 0);
  assert_int_equal(vcs_riot_read(&cart, &m, 0x285), 0x00);
  m.cycles = 641;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x285), 0x80);
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), 0xFF);
  assert_int_equal(vcs_riot_read(&cart, &m, 0x285), 0x80); /* reading at the very moment does not count */
  m.cycles = 645;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), (uint8_t)(10 - 10 - 5)); /* read five cycles late */
  assert_int_equal(vcs_riot_read(&cart, &m, 0x285), 0x00);                   /* the flag is gone */
  m.cycles = 705;                                                            /* 64 cycles on: a step of the interval */
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), (uint8_t)(10 - 11 - 5));
  m.cycles = 768;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), (uint8_t)(10 - 11 - 5));
  m.cycles = 769;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), (uint8_t)(10 - 12 - 5));
}

static void test_riot_instat_does_not_touch_the_timer(void **state) {
  (void)state;
  m.cycles = 100;
  vcs_riot_write(&m, 0x295, 2);
  m.cycles = 1000;
  vcs_t before = m;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x285), 0x80);
  assert_int_equal(vcs_riot_read(&cart, &m, 0x287), 0x80);
  assert_memory_equal(&before, &m, sizeof m);
}

static void test_riot_setting_the_timer_clears_the_flag_and_the_late_read(void **state) {
  (void)state;
  m.cycles = 0;
  vcs_riot_write(&m, 0x294, 1);
  m.cycles = 50;
  vcs_riot_read(&cart, &m, 0x284);
  assert_int_equal(m.timer_was_read, 1);
  vcs_riot_write(&m, 0x297, 200);
  m.cycles = 51;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), 199);
  assert_int_equal(vcs_riot_read(&cart, &m, 0x285), 0x00);
}

static void test_riot_timer_registers_are_mirrored(void **state) {
  (void)state;
  for (unsigned addr = 0x280; addr < 0x300; addr++) {
    m.cycles = 0;
    vcs_riot_write(&m, 0x297, 99);
    m.cycles = 0;
    vcs_riot_write(&m, (uint16_t)addr, 7);
    bool timer = addr & 4 && addr & 16;
    static const uint8_t shifts[4] = {0, 3, 6, 10};
    assert_int_equal(m.timer, timer ? 7 : 99);
    assert_int_equal(m.timer_shift, timer ? shifts[addr & 3] : 10);
    m.cycles = 1;
    if (addr & 4) assert_int_equal(vcs_riot_read(&cart, &m, (uint16_t)addr), addr & 1 ? 0x00 : timer ? 6 : 98);
  }
}

static void test_riot_timer_goes_on_through_the_start_of_a_frame(void **state) {
  (void)state;
  sta(0x297, 100);
  uint32_t set = m.cycles;
  m.cycles = set + 5 * 1024 + 1;
  vcs_frame_begin(&cart, &m); /* time restarts */
  assert_int_equal(m.cycles, 0);
  m.cycles = 10 * 1024;
  assert_int_equal(vcs_riot_read(&cart, &m, 0x284), 100 - 15 - 1);
}

static void test_riot_reset_leaves_25_intervals_of_64(void **state) {
  (void)state;
  sta(0x294, 3);
  sta(0x281, 0xFF);
  vcs_reset(&cart, &m, NULL);
  assert_int_equal(m.timer, 25);
  assert_int_equal(m.timer_shift, 6);
  assert_int_equal(m.timer_cycle, 0);
  assert_int_equal(m.timer_was_read, 0);
  assert_int_equal(m.ddra, 0);
  assert_int_equal(lda(0x284), 24);
  m.cycles = 64 * 25 + 1 - 4;
  assert_int_equal(lda(0x285), 0x80);
}

static void test_riot_timer_may_run_for_days(void **state) {
  (void)state;
  static const uint32_t late[] = {0x3FFFFFFFu, 0x7FFFFFF0u, 0x80000010u, 0xC0000000u, 0xFFFFFFFFu};
  for (int i = 0; i < 4; i++) {
    for (size_t k = 0; k < sizeof late / sizeof *late; k++) {
      m.cycles = 0;
      vcs_riot_write(&m, intervals[i].addr, 255);
      m.cycles = late[k];
      uint8_t first = vcs_riot_read(&cart, &m, 0x284);
      assert_int_equal(vcs_riot_read(&cart, &m, 0x284), first);
    }
  }
}

/* ---- Ports -------------------------------------------------------------------------------------------------- */

static void test_riot_port_a_reads_pins_whatever_its_direction(void **state) {
  (void)state;
  hold((vcs_controls_t){.held = {VCS_HELD_UP, VCS_HELD_LEFT}});
  for (int direction = 0; direction < 256; direction += 17) {
    sta(0x281, (uint8_t)direction);
    assert_int_equal(lda(0x281), direction);
    sta(0x280, 0x3C);
    assert_int_equal(m.port_a_out, 0x3C & direction);
    assert_int_equal(lda(0x280), 0xEB);
  }
}

static void test_riot_port_b_direction_reads_zero_and_writes_do_nothing(void **state) {
  (void)state;
  uint8_t switches = lda(0x282);
  sta(0x283, 0xFF);
  sta(0x282, 0x00);
  assert_int_equal(lda(0x283), 0);
  assert_int_equal(lda(0x282), switches);
}

static void test_riot_joysticks_pull_their_pins_low(void **state) {
  (void)state;
  assert_int_equal(lda(0x280), 0xFF);
  for (int held = 0; held < 16; held++) {
    hold((vcs_controls_t){.held = {(uint8_t)held, 0}});
    assert_int_equal(lda(0x280), 0xFF & ~(held << 4));
    hold((vcs_controls_t){.held = {0, (uint8_t)held}});
    assert_int_equal(lda(0x280), 0xFF & ~held);
  }
  hold((vcs_controls_t){.held = {VCS_HELD_FIRE, 0}});
  assert_int_equal(lda(0x280), 0xFF);
  assert_int_equal(lda(0x3C) & 0x80, 0x00);
  assert_int_equal(lda(0x3D) & 0x80, 0x80);
  hold((vcs_controls_t){.held = {0, VCS_HELD_FIRE}});
  assert_int_equal(lda(0x3C) & 0x80, 0x80);
  assert_int_equal(lda(0x3D) & 0x80, 0x00);
}

static void test_riot_swapped_ports_exchange_the_players(void **state) {
  (void)state;
  cart.swap_ports = 1;
  hold((vcs_controls_t){.held = {VCS_HELD_UP | VCS_HELD_FIRE, VCS_HELD_RIGHT}});
  assert_int_equal(lda(0x280), 0x7E);
  assert_int_equal(lda(0x3C) & 0x80, 0x80);
  assert_int_equal(lda(0x3D) & 0x80, 0x00);
}

static void test_riot_paddle_buttons_are_on_the_left_and_right_pins(void **state) {
  (void)state;
  cart.controller[0] = cart.controller[1] = VCS_CONTROLLER_PADDLES;
  static const struct {
    uint8_t swap, held, pins;
  } cases[] = {{0, 0, 0xF},
               {0, VCS_HELD_FIRE, 0x7},
               {0, VCS_HELD_FIRE_2, 0xB},
               {0, VCS_HELD_FIRE | VCS_HELD_FIRE_2, 0x3},
               {1, VCS_HELD_FIRE, 0xB},
               {1, VCS_HELD_FIRE_2, 0x7},
               {0, 0x0F, 0xF}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cart.swap_paddles = cases[i].swap;
    hold((vcs_controls_t){.held = {cases[i].held, 0}});
    assert_int_equal(lda(0x280), cases[i].pins << 4 | 0x0F);
    hold((vcs_controls_t){.held = {0, cases[i].held}});
    assert_int_equal(lda(0x280), 0xF0 | cases[i].pins);
    assert_int_equal(lda(0x3C) & 0x80, 0x80); /* not on the fire pins */
    assert_int_equal(lda(0x3D) & 0x80, 0x80);
  }
}

static void test_riot_paddles_reach_their_inputs_also_swapped(void **state) {
  (void)state;
  cart.controller[0] = cart.controller[1] = VCS_CONTROLLER_PADDLES;
  vcs_controls_t controls = {.paddle = {11, 22, 33, 44}};
  static const int32_t expected[4][4] = {{11, 22, 33, 44}, {22, 11, 44, 33}, {33, 44, 11, 22}, {44, 33, 22, 11}};
  for (int i = 0; i < 4; i++) {
    cart.swap_paddles = i & 1;
    cart.swap_ports = (uint8_t)(i >> 1);
    hold(controls);
    assert_memory_equal(m.paddle, expected[i], sizeof m.paddle);
  }
}

static void test_riot_paddles_are_held_a_step_to_either_side(void **state) {
  (void)state;
  cart.controller[0] = cart.controller[1] = VCS_CONTROLLER_PADDLES;
  const int32_t at = 100000, left = at + VCS_PADDLE_STEP, right = at - VCS_PADDLE_STEP;
  static const uint8_t held[] = {VCS_HELD_LEFT, VCS_HELD_RIGHT, VCS_HELD_DOWN, VCS_HELD_UP, 15};
  const int32_t expected[][2] = {{left, at}, {right, at}, {at, left}, {at, right}, {at, at}};
  for (size_t i = 0; i < sizeof held; i++) {
    vcs_controls_t controls = {.held = {held[i], 0}, .paddle = {at, at, at, at}};
    cart.swap_paddles = 0;
    hold(controls);
    const int32_t plain[] = {expected[i][0], expected[i][1], at, at};
    assert_memory_equal(m.paddle, plain, sizeof m.paddle);
    cart.swap_paddles = 1;
    hold(controls);
    const int32_t swapped[] = {expected[i][1], expected[i][0], at, at};
    assert_memory_equal(m.paddle, swapped, sizeof m.paddle);
    assert_int_equal(lda(0x280), 0xFF);
  }
  cart.swap_paddles = 0;
  hold((vcs_controls_t){.held = {VCS_HELD_RIGHT, VCS_HELD_LEFT}, .paddle = {5, 0, VCS_RESISTANCE_MAX - 5, 0}});
  assert_int_equal(m.paddle[0], VCS_RESISTANCE_MIN); /* the track has ends */
  assert_int_equal(m.paddle[2], VCS_RESISTANCE_MAX);
}

static void test_riot_joystick_pots_are_not_connected_and_the_booster_shorts_them(void **state) {
  (void)state;
  hold((vcs_controls_t){.held = {0x7F, 0x7F}});
  for (int i = 0; i < 4; i++) assert_int_equal(m.paddle[i], VCS_RESISTANCE_MAX);
  cart.controller[0] = VCS_CONTROLLER_BOOSTER;
  hold((vcs_controls_t){.held = {VCS_HELD_TRIGGER, 0}});
  assert_int_equal(lda(0x38) & 0x80, 0x80);
  assert_int_equal(lda(0x39) & 0x80, 0x00);
  hold((vcs_controls_t){.held = {VCS_HELD_FIRE_2 | VCS_HELD_DOWN, 0}});
  assert_int_equal(lda(0x38) & 0x80, 0x00);
  assert_int_equal(lda(0x39) & 0x80, 0x80);
  assert_int_equal(lda(0x280), 0xDF);
}

static void test_riot_keyboard_rows_read_back_what_port_a_drives(void **state) {
  (void)state;
  cart.controller[0] = cart.controller[1] = VCS_CONTROLLER_KEYBOARD;
  cart.passive_ports = 0;
  sta(0x281, 0xFF);
  for (int rows = 0; rows < 256; rows++) {
    sta(0x280, (uint8_t)rows);
    assert_int_equal(lda(0x280), rows);
  }
}

static void test_riot_keyboard_matrix_finds_every_key(void **state) {
  (void)state;
  cart.controller[0] = cart.controller[1] = VCS_CONTROLLER_KEYBOARD;
  cart.passive_ports = 0;
  sta(0x281, 0xFF);
  for (int player = 0; player < 2; player++) {
    for (int key = 0; key < 12; key++) {
      vcs_controls_t controls = {.keys = {0, 0}};
      controls.keys[player] = (uint16_t)(1 << key);
      hold(controls);
      for (int scanned = 0; scanned < 4; scanned++) { /* one row low at a time */
        sta(0x280, (uint8_t) ~(player ? 1 << scanned : 16 << scanned));
        for (int column = 0; column < 3; column++) {
          uint16_t input = (uint16_t)(column == 2 ? 0x3C + player : 0x38 + 2 * player + column);
          bool pressed = key == 3 * scanned + column;
          assert_int_equal(lda(input) & 0x80, pressed ? 0x00 : 0x80);
        }
      }
    }
  }
}

static void test_riot_driving_controllers_turn_in_gray_code_every_twenty_reads(void **state) {
  (void)state;
  static const uint8_t clockwise[4] = {3, 1, 0, 2}, counter[4] = {3, 2, 0, 1};
  cart.controller[0] = cart.controller[1] = VCS_CONTROLLER_DRIVING;
  cart.passive_ports = 0;
  hold((vcs_controls_t){.held = {VCS_HELD_RIGHT, VCS_HELD_LEFT}});
  for (int reads = 1; reads < 400; reads++) {
    uint8_t pins = lda(0x280);
    assert_int_equal(pins >> 4, 12 | clockwise[reads / 20 % 4]);
    assert_int_equal(pins & 15, 12 | counter[reads / 20 % 4]);
  }
  hold((vcs_controls_t){.held = {VCS_HELD_FIRE, 0}}); /* held still, both code pins are low; reads count on */
  uint8_t wheel = m.wheel[0];
  assert_int_equal(lda(0x280), 0xCC);
  assert_int_equal(m.wheel[0], (wheel + 1) % 80);
  assert_int_equal(lda(0x3C) & 0x80, 0x00);
}

static void test_riot_console_switches_read_as_the_console_was_set(void **state) {
  (void)state;
  assert_int_equal(lda(0x282), cart.switches);
  assert_int_equal(cart.switches & 0x3F, 0x3F); /* RESET and SELECT up, colour, unused bits high */
  hold((vcs_controls_t){.console = VCS_CONSOLE_RESET});
  assert_int_equal(lda(0x282), cart.switches & ~1);
  hold((vcs_controls_t){.console = VCS_CONSOLE_SELECT});
  assert_int_equal(lda(0x282), cart.switches & ~2);
  hold((vcs_controls_t){.console = VCS_CONSOLE_RESET | VCS_CONSOLE_SELECT});
  assert_int_equal(lda(0x282), cart.switches & ~3);
  hold((vcs_controls_t){.console = 0});
  assert_int_equal(lda(0x282), cart.switches);
}

static void test_riot_ports_are_mirrored(void **state) {
  (void)state;
  hold((vcs_controls_t){.held = {VCS_HELD_DOWN, 0}, .console = VCS_CONSOLE_SELECT});
  for (unsigned addr = 0x280; addr < 0x1000; addr++) {
    if ((addr & 0x280) != 0x280) continue;
    if ((addr & 7) == 0) assert_int_equal(lda((uint16_t)addr), 0xDF);
    if ((addr & 7) == 2) assert_int_equal(lda((uint16_t)addr), cart.switches & ~2);
  }
}

#define RIOT_TEST(name) cmocka_unit_test_setup(name, switch_on)

int main(void) {
  const struct CMUnitTest tests[] = {
      RIOT_TEST(test_riot_ram_appears_wherever_a7_is_high_and_a9_and_a12_are_low),
      RIOT_TEST(test_riot_ram_does_not_answer_where_the_ports_do),
      RIOT_TEST(test_riot_ram_survives_a_reset),
      RIOT_TEST(test_riot_timer_agrees_with_a_counter_at_every_cycle_until_it_expires),
      RIOT_TEST(test_riot_timer_counts_every_cycle_after_it_expired_until_it_is_read),
      RIOT_TEST(test_riot_timer_after_a_late_read_spelled_out),
      RIOT_TEST(test_riot_instat_does_not_touch_the_timer),
      RIOT_TEST(test_riot_setting_the_timer_clears_the_flag_and_the_late_read),
      RIOT_TEST(test_riot_timer_registers_are_mirrored),
      RIOT_TEST(test_riot_timer_goes_on_through_the_start_of_a_frame),
      RIOT_TEST(test_riot_reset_leaves_25_intervals_of_64),
      RIOT_TEST(test_riot_timer_may_run_for_days),
      RIOT_TEST(test_riot_port_a_reads_pins_whatever_its_direction),
      RIOT_TEST(test_riot_port_b_direction_reads_zero_and_writes_do_nothing),
      RIOT_TEST(test_riot_joysticks_pull_their_pins_low),
      RIOT_TEST(test_riot_swapped_ports_exchange_the_players),
      RIOT_TEST(test_riot_paddle_buttons_are_on_the_left_and_right_pins),
      RIOT_TEST(test_riot_paddles_reach_their_inputs_also_swapped),
      RIOT_TEST(test_riot_paddles_are_held_a_step_to_either_side),
      RIOT_TEST(test_riot_joystick_pots_are_not_connected_and_the_booster_shorts_them),
      RIOT_TEST(test_riot_keyboard_rows_read_back_what_port_a_drives),
      RIOT_TEST(test_riot_keyboard_matrix_finds_every_key),
      RIOT_TEST(test_riot_driving_controllers_turn_in_gray_code_every_twenty_reads),
      RIOT_TEST(test_riot_console_switches_read_as_the_console_was_set),
      RIOT_TEST(test_riot_ports_are_mirrored),
  };
  return cmocka_run_group_tests_name("riot", tests, plug_in, unplug);
}
