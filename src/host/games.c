/* games.c: the table of games.
 *
 * Two tables of facts and the few functions that read them. A game is one row: where its RAM keeps score, lives and
 * ending, what its minimal actions are, how it starts, how SELECT leads to its variations. A console is one row: what
 * an image needs that differs from a joystick in each socket, an NTSC or PAL picture found by probing, scanlines 34 to
 * 243, switches on B and colour, and HMOVE blanks.
 *
 * The facts are those the two references go by, so that rewards, lives and endings are equal to theirs frame by frame;
 * where the references disagree on a game, the row has a second rule for profile `xitari`. Oddities are theirs too:
 * `adventure` and `alien` report lives after the end; `atlantis` and `chopper_command` of xitari show the lives of the
 * last frame before a reset (m3) until the next frame; `casino` repeats its last reward while it is busy. What profile
 * `fixed` does otherwise, and why, is in docs/games.md.
 */
#include "games.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words the tables use ----------------------------------------------------------------------------------- */

enum { XITARI = 1 << VCS_PROFILE_XITARI, ALE = 1 << VCS_PROFILE_ALE, BOTH = XITARI | ALE, TWO_PLAYERS = 128 | ALE };

/* Actions by direction (U, R, L, D) and fire. */
enum {
  N = 1 << 0,
  F = 1 << 1,
  U = 1 << 2,
  R = 1 << 3,
  L = 1 << 4,
  D = 1 << 5,
  UR = 1 << 6,
  UL = 1 << 7,
  DR = 1 << 8,
  DL = 1 << 9,
  UF = 1 << 10,
  RF = 1 << 11,
  LF = 1 << 12,
  DF = 1 << 13,
  URF = 1 << 14,
  ULF = 1 << 15,
  DRF = 1 << 16,
  DLF = 1 << 17,
  ALL = VCS_ALL_ACTIONS,
  MOVES = N | U | R | L | D | UR | UL | DR | DL,
  PAD = N | F | U | R | L | D,
  FOUR_WAYS = PAD | UF | RF | LF | DF,
  SIDEWAYS = N | F | R | L | RF | LF,
  UP_DOWN = N | F | U | D | UF | DF
};

/* Most modes: press SELECT, held for so many frames, until RAM says the mode is there; then reset. */
#define UNTIL(there, frames) "until (" there ") { select(" #frames ") }; reset()"

/* Double Dunk has a menu instead: walk down it line by line, and set four of its lines left or right. */
#define DUNK_DOWN "x = [B0]; until ([B0] != x) { act(DOWN); act(NOOP) }; "
#define DUNK_LINE(bit, flag) \
  DUNK_DOWN "until (!([80] & " #bit ") == !(m & " #flag ")) { act(m & " #flag " ? RIGHT : LEFT); act(NOOP) }; "
#define DUNK_MENU DUNK_DOWN DUNK_LINE(8, 1) DUNK_LINE(16, 2) DUNK_LINE(4, 4) DUNK_LINE(32, 8) "reset()"
#define DOUBLE_DUNK_SCRIPT "select(1); " DUNK_MENU "; act(UPFIRE); act(NOOP)"

/* Its first line is the number of players. */
#define DOUBLE_DUNK_PLAYERS_SCRIPT \
  "select(1); until (!([80] & 64) == !(m & 16)) { act(m & 16 ? RIGHT : LEFT); act(NOOP) }; " DUNK_MENU

/* ---- Games -------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const vcs_game_t games[] = {
    {"adventure", ALE, ALL,
     "4b27f5397c442d25f0c418ccdacf1926 "
     "157bddb7192754a45372be196797f284",
     .rule = "reward = [B9] == $12 ? 1 : reward; over = [E0] == 2 || [B9] == $12; lives_kept = 1",
     .start = "lives = 1", .difficulties = "0123", .modes = "0-2",
     .mode_script = "until ((([DD] >> 1) & 3) == m) { select(2, 256); act(NOOP) }; reset()"},
    {"air_raid", BOTH, SIDEWAYS, "35be55426c1fec32dfb503b4f0651572",
     .rule = "score = bcd(AA,A9,A8); over = [A7] == $FF",
     .wraps = 1000000, .start = "lives = 1", .press = "FIRE", .modes = "1-8",
     .mode_script = "select(20); " UNTIL("[AA] == m", 10)},
    {"alien", BOTH, ALL, "f1a0a23e6464d954e3a9579c4ccd01c8",
     .rule = "score = 10 * digits(8B,89,87,85,83: it == $80 ? 0 : it >> 3); lives_kept = [C0] & 15; "
             "over = lives == 0",
     .wraps = 1000000, .start = "lives = 3", .difficulties = "0123", .modes = "0-3",
     .mode_script = "until ([81] == m) { select(1) }; lives = [C0] & 15; reset()"},
    {"amidar", BOTH, FOUR_WAYS, "acb7750b4d0c4bd34969802a7deb2990",
     .rule = "score = bcd(D9,DA,DB); over = [D6] == $80; lives = [D6] & 15",
     .wraps = 1000000, .start = "lives = 3", .difficulties = "03"},
    {"assault", BOTH, N | F | U | R | L | RF | LF, "de78b3a064d374390ac0710f95edde92",
     .rule = "score = bcd(82,81,80); lives = [E5]; over = lives == 0",
     .start = "lives = 4"},
    {"asterix", BOTH, MOVES, "89a68746eff7f266bbf08de2483abe55",
     .rule = "score = bcd(E0,DF,DE); lives = [D3] & 15; over = [C7] == 1 && lives == 1",
     .wraps = 1000000, .start = "lives = 3", .press = "FIRE"},
    {"asteroids", BOTH, ALL & ~(DR | DL | DRF | DLF),
     "ccbd36746ed4525821a8083b0d6d2c2c "
     "b227175699e372b8fe10ce243ad6dda5 "
     "dd7884b4f93cab423ac471aa1935e3df",
     .rule = "score = 10 * bcd(BE,BD); reward = gain < 0 ? gain + 100000 : gain; lives = [BC] >> 4; "
             "over = lives == 0",
     .start = "lives = 4", .difficulties = "03", .modes = "0-31 128", .mode_script = UNTIL("[80] == m", 2)},
    {"atlantis", BOTH, N | F | RF | LF,
     "9ad36e699ef6f45d9eb6c4cf90475c9f "
     "cb8afcbc4a779b588b0428ea7af211d5 "
     "60345ae60f7c7010346de7aff9bfe6ea",
     .rule = "lives = [F1]; over = lives == $FF; score = over ? was : 100 * bcd(A2,A3,A1)",
     .xitari_rule = "score = 100 * bcd(A2,A3); m3 = [F1]; lives = m3; over = lives == $FF",
     .wraps = 100000000, .start = "lives = 6", .xitari_start = "lives = m3", .modes = "0-3",
     .mode_script = UNTIL("[8D] == m", 2)},
    {"atlantis2", ALE, N | F | RF | LF, "826481f6fc53ea47c9f272f7050eedf7",
     .rule = "m3 = [F1]; lives = m3; over = lives == $FF; score = over ? was : bcd(A1,A2,A3)",
     .wraps = 1000000, .start = "lives = m3"},
    {"backgammon", ALE, F | R | L, "8556b42aa05f94bc29ff39c39b11bff4",
     .rule = "x = signed(-signed([80])); y = signed([8E]); z = signed(sum(81..8D,8F..9B: it > 127 ? 256 - it : 0)); "
             "w = signed(sum(81..8D,8F..9B: it > 127 ? 0 : it)); "
             "z = x + z == 15 && y + w == 15 ? (x == 15) - (y == 15) : 0; reward = z ? z : reward; over = over || z",
     .start = "lives = 1", .paddle_max = 1000000, .difficulties = "3", .modes = "0",
     .mode_script = UNTIL("[DC] == 3", 1)},
    {"bank_heist", BOTH, ALL, "00ce0bdd43aed84a983bef38fe7f5ee3",
     .rule = "score = bcd(DA,D9,D8); lives = [D5]; over = [CE] == 1 && lives == 0",
     .wraps = 1000000, .start = "lives = 5", .difficulties = "0123", .modes = "0-28/4",
     .mode_script = UNTIL("[80] == m", 1)},
    {"basic_math", ALE, PAD, "819aeeb9a2e11deb54e6de334f843894",
     .rule = "score = bcd(84); over = [86] != 0",
     .start = "lives = 1", .difficulties = "023", .modes = "5-8", .mode_script = UNTIL("[C5] == m", 2)},
    {"battle_zone", BOTH, ALL, "41f252a66c6301f1e8ab3612c19bc5d4",
     .rule = "x = [9D] >> 4; y = [9E] & 15; z = [9E] >> 4; "
             "score = 1000 * ((x == 10 ? 0 : x) + 10 * (y == 10 ? 0 : y) + 100 * (z == 10 ? 0 : z)); "
             "lives = [BA] & 15; over = lives == 0",
     .wraps = 1000000, .start = "lives = 5", .modes = "1-3", .mode_script = UNTIL("[A1] == m", 2)},
    {"beam_rider", BOTH, N | F | U | R | L | UR | UL | RF | LF, "79ab4123a83dc11d468fb2108ea09e2e",
     .rule = "score = bcd(89,8A,8B); x = [85] + 1; m0 = x == m0 - 1 && [8C] != 1 ? m0 : x; lives = m0; "
             "over = [85] == $FF",
     .start = "lives = 3; m0 = 3", .press = "RIGHT", .difficulties = "01"},
    {"berzerk", BOTH, ALL, "136f75c4dd02c29283752b7e5799f978",
     .rule = "score = bcd(DF,DE,DD); over = [DA] == $FF; lives = [DA] + 1",
     .wraps = 1000000, .start = "lives = 3", .modes = "1-9 16-18",
     .mode_script = "until (x == 20) { act(NOOP); x = x + 1 }; " UNTIL("[80] == m", 2)},
    {"blackjack", ALE, N | F | U | D,
     "0a981c03204ac2b278ba392674682560 "
     "ff3bd0c684f7144aeaa18758d8281a78",
     .rule = "x = [86] == $0B && [89] == $BB; score = x ? 0 : bcd(89,86); over = x || score >= 1000",
     .start = "lives = 1", .paddle_max = 795000, .difficulties = "0123"},
    {"bowling", BOTH, UP_DOWN, "c9b7afad3bfd922e006a6bfc1d4f3fe7",
     .rule = "score = bcd(A1,A6); over = [A4] > $10; lives = 0",
     .difficulties = "01", .modes = "0-4/2", .mode_script = UNTIL("[82] == m", 2)},
    {"boxing", BOTH, ALL, "c3ef5c4653212088eda54dc91d787870",
     .rule = "x = [92] == $C0 ? 100 : bcd(92); y = [93] == $C0 ? 100 : bcd(93); score = x - y; "
             "over = x == 100 || y == 100 || [90] < 16 && [91] == 0; lives = 0",
     .difficulties = "0123",
     .players = {
      .modes2 = "2", .load = 1, .script = "select(1); " UNTIL("[D9] == 2 - m", 1), .press = "NOOP*2",
      .rule = "x = [92] == $C0 ? 100 : bcd(92); y = [93] == $C0 ? 100 : bcd(93); score = p ? y - x : x - y; "
              "over = x == 100 || y == 100 || [90] < 16 && [91] == 0"}},
    {"breakout", BOTH, N | F | R | L, "f34f08e5eb96e500e851a80be3277a56",
     .rule = "score = bcd(CD) + 100 * ([CC] & 15); m0 = m0 || [B9] == 5; over = m0 && [B9] == 0; lives = [B9]",
     .start = "lives = 5", .difficulties = "01", .modes = "0-44/4", .mode_script = UNTIL("[B2] == m", 1)},
    {"carnival", BOTH, SIDEWAYS, "028024fb8e5e5f18ea586652f9799c96",
     .rule = "score = 10 * bcd(AE,AD); over = [83] == 0; lives = 0",
     .wraps = 100000},
    {"casino", ALE, N | F | U | D, "b816296311019ab69a21cb9e9e235d12",
     .rule = "score = bcd(95,8C); x = [D4] == 3; y = [D3] >> 7; reward = x || !y ? gain : reward; "
             "over = x ? score > 0 && [9E] == $AA : score == 0 || y && [9E] != 0",
     .start = "lives = 1", .press = "NOOP*60 FIRE*2", .difficulties = "0123", .modes = "0 2-3",
     .mode_script = UNTIL("[D4] == m", 2)},
    {"centipede", BOTH, ALL, "91c2098e88a6b13f977af8c003e0bca5",
     .rule = "score = bcd(F6,F5,F4); reward = gain < 0 ? 0 : gain; lives = (([ED] >> 4) & 7) + 1; over = [A6] & $40",
     .wraps = 1000000, .start = "lives = 3", .modes = "22 86", .mode_script = UNTIL("[A7] == m", 2)},
    {"chopper_command", BOTH, ALL, "c1cb228470a87beb5f36e90ac745da26",
     .rule = "score = 100 * bcd(EE,EC); lives_kept = [E4] & 15; m0 = m0 || [C2] & 1; over = m0 && lives == 0",
     .xitari_rule = "score = 100 * bcd(EE,EC); m3 = [E4] & 15; lives_kept = m3; over = lives == 0",
     .start = "lives = 3", .xitari_start = "lives = m3", .difficulties = "01", .modes = "0 2",
     .mode_script = UNTIL("[E0] == m", 2)},
    {"combat", TWO_PLAYERS, ALL,
     "0ef64cdbecccb7049752a3de0b7ade14 "
     "4c8832ed387bbafc055320c05205bc08",
     .rule = "lives_kept = 1",
     .start = "lives = 1",
     .players = {
      .modes2 = "1-27", .load = 1, .script = UNTIL("[80] == m - 1", 1), .press = "NOOP*2",
      .rule = "x = bcd(A1) - bcd(A2); score = p ? -x : x; over = [88] == 0"}},
    {"crazy_climber", BOTH, MOVES, "55ef7b65066428367844342ed59f956c",
     .rule = "score = 100 * digits(82..85: it); reward = gain < 0 ? 0 : gain; lives = [AA]; over = lives == 0",
     .wraps = 1000000, .start = "lives = 5", .difficulties = "01", .modes = "0-3",
     .mode_script = UNTIL("[80] == m", 2)},
    {"crossbow", ALE, ALL, "8cd26dcf249456fe4aeb8db42d49df74",
     .rule = "score = bcd(8D,8C,8B); over = [E7] == $82",
     .start = "lives = 1", .difficulties = "01", .modes = "0-6/2", .mode_script = UNTIL("[8D] == m + 1", 2)},
    {"darkchambers", ALE, ALL, "106855474c69d08c8ffa308d47337269",
     .rule = "x = [D5] < m0; y = 10 * bcd(CC,CF); score = x || y < was ? was : y; m0 = x ? m0 : [D5]; "
             "over = over || x || y < was || ([CA] & 31) == 0",
     .start = "lives = 1", .press = "NOOP*486"},
    {"defender", BOTH, ALL, "0f643c34e40e3f1daafd9c524d3ffe64",
     .rule = "score = digits(9C..A1: (it & 15) == 10 ? 0 : it & 15); lives = [C2]; over = lives == 0",
     .wraps = 1000000, .start = "lives = 3", .difficulties = "01", .modes = "1-9 16",
     .mode_script = UNTIL("[9B] == m", 2)},
    {"demon_attack", BOTH, SIDEWAYS, "f0e0addc07971561ab80d9abe1b8d333",
     .rule = "x = [81] == $AB && [83] == $CD && [85] == $EA; score = x ? 0 : bcd(85,83,81); "
             "over = [F2] == 0 && [F1] == $BD && !m0; lives = [F2] + 1; m0 = 0",
     .wraps = 1000000, .start = "lives = 4", .difficulties = "01", .modes = "1-7/2",
     .mode_script = "until ([EA] == m) { select(1) }; m0 = 1; reset()"},
    {"donkey_kong", ALE, ALL, "36b20c427975760cb9cf4a47e41369e4",
     .rule = "score = 100 * bcd(88,87); lives = [A3]; over = lives == 0 && [8F] == 3 && [8B] == $1F",
     .wraps = 1000000, .start = "lives = 2"},
    {"double_dunk", BOTH, ALL, "368d88a6c071caba60b4f778615aae94",
     .rule = "x = bcd(F6); y = bcd(F7); score = x - y; over = (x >= 24 || y >= 24) && [FE] == $E7; lives = 0",
     .press = "UPFIRE", .modes = "0-15", .mode_script = DOUBLE_DUNK_SCRIPT,
     .players = {
      .modes2 = "16-31", .script = DOUBLE_DUNK_PLAYERS_SCRIPT, .press = "UPFIRE NOOP /UPFIRE NOOP",
      .rule = "x = bcd(F6); y = bcd(F7); score = p ? y - x : x - y; over = (x >= 24 || y >= 24) && [FE] == $E7; "
              "z = [89]; m2 = z == 0 || z & $C0 ? m2 + 1 : 1; w = m2 > 120; m2 = w ? 0 : m2; "
              "reward = gain - (w && (z == 0 || p == (z >> 6 & 1)))"}},
    {"earthworld", ALE, ALL,
     "5aea9974b975a6a844e6df10d2b861c4 "
     "05ebd183ea854c0a1b56c218246fbbae",
     .rule = "score = bcd(A7); over = score == 10",
     .start = "lives = 1"},
    {"elevator_action", BOTH, ALL, "71f8bacfbdca019113f3f0801849057e",
     .rule = "score = bcd(89,88,87); lives = [83]; over = lives == 0 && [81] != 0",
     .wraps = 1000000, .start = "lives = 4", .press = "FIRE*16"},
    {"enduro", BOTH, N | F | R | L | D | DR | DL | RF | LF,
     "94b92a882f6dbaa6993a46e2dcc58402 "
     "4279485e922b34f127a88904b31ce9fa",
     .rule = "x = [AD]; y = bcd(AB,AC); score = x == 0 ? 0 : x == 1 ? 200 - y : 300 * x - 100 - y; "
             "over = [AF] == $FF; lives = 0",
     .press = "FIRE"},
    {"entombed", ALE, ALL, "6b683be69f92958abe0e2a9945157ad5",
     .rule = "score = [E3]; over = ([C7] & 3) == 0",
     .wraps = 256, .start = "lives = 1", .press = "FIRE NOOP*5", .difficulties = "02",
     .players = {
      .modes2 = "2-3", .load = 1, .script = UNTIL("[F4] == (m == 1)", 1), .press = "FIRE NOOP*13",
      .rule = "x = [C7] & 3; y = [C7] >> 4 & 3; z = p ? y : x; w = lives - z - (m1 - (p ? x : y)); m1 = p ? x : y; "
              "lives = z; score = [EF]; reward = m2 == 3 ? gain > 0 : -w; over = x == 0 || y == 0",
      .start = "lives = 3; m1 = 3; m2 = m"}},
    {"et", ALE, ALL, "615a3bf251a38eb6638cdc7ffbde5480",
     .rule = "score = bcd(E1,E0,DF); lives = signed([E5] + 1); over = lives == 0 && [80] == 8",
     .difficulties = "0123", .modes = "0-2", .mode_script = UNTIL("[EA] == m + 1", 25)},
    {"fishing_derby", BOTH, ALL, "b8865f05676e64f3bec72b9defdacfa7",
     .rule = "score = bcd(BD) - bcd(BE); over = [BD] == $99 || [BE] == $99; lives = 0",
     .difficulties = "0123"},
    {"flag_capture", ALE, ALL, "30512e0e83903fc05541d2f6a6a62654",
     .rule = "score = bcd(EA); over = [EB] == 0",
     .start = "lives = 1", .modes = "8-10", .mode_script = UNTIL("[D6] == m", 2),
     .players = {
      .modes2 = "1-4", .load = 8, .script = UNTIL("[D6] == m", 10), .press = "NOOP*22", .minimal = MOVES | F,
      .rule = "score = p ? bcd(EB) : bcd(AB)",
      .fixed_rule = "score = p ? bcd(EB) : bcd(EA)"}},
    {"freeway", BOTH, N | U | D, "8e0ab801b1705a740b476b7f588c6d16",
     .rule = "score = bcd(E7); reward = gain < 0 ? 0 : gain > 1 ? 1 : gain; over = [96] == 1; lives = 0",
     .reward_max = 1, .difficulties = "01", .modes = "0-7", .mode_script = UNTIL("[80] == m", 1)},
    {"frogger", ALE, N | U | R | L | D, "081e2c114c9c20b61acf25fc95c71bf4",
     .rule = "score = bcd(CE,CC); lives = [D0]; over = lives == $FF",
     .wraps = 10000, .start = "lives = 4", .difficulties = "01", .modes = "0-2",
     .mode_script = UNTIL("[DD] == 2 * m + 1", 2)},
    {"frostbite", BOTH, ALL, "4ca73eb959299471788f0b685c3ba0b5",
     .rule = "score = bcd(CA,C9,C8); x = [CC] & 15; over = x == 0 && [F1] & $80; lives = x + 1",
     .xitari_rule = "score = bcd(CA,C9,C8); x = [CC] & 15; over = x == 0 && [F1] != 0; lives = x + 1",
     .wraps = 1000000, .start = "lives = 4", .modes = "0 2", .mode_script = UNTIL("[80] == m", 1)},
    {"galaxian", ALE, SIDEWAYS, "211774f4c5739042618be8ff67351177",
     .rule = "score = bcd(AE,AD,AC); reward = gain < 0 ? gain + 1000000 : gain; over = [BF] & $80; lives = [B9] + 1",
     .start = "lives = 3", .difficulties = "01", .modes = "1-9", .mode_script = UNTIL("[B3] == m", 1)},
    {"gopher", BOTH, N | F | U | R | L | UF | RF | LF, "c16c79aad6272baffb8aae9a7fff0864",
     .rule = "score = bcd(B2,B1,B0); lives = pick([B4] & 7, 0, 1, 1, 2, 1, 2, 2, 3); over = lives == 0",
     .wraps = 1000000, .start = "lives = 3", .press = "FIRE", .difficulties = "01", .modes = "0 2",
     .mode_script = "reset(); " UNTIL("[D3] == m", 5)},
    {"gravitar", BOTH, ALL,
     "8ac18076d01a6b63acf6e2cab4968940 "
     "7146dd477e019f81eac654a79be96cb5",
     .rule = "score = bcd(89,88,87); over = [81] == 1; lives = [81] == 0 ? 6 : [84] + 1",
     .wraps = 1000000, .start = "lives = 6", .press = "FIRE*16", .modes = "0-4",
     .mode_script = "until ([80] == m) { select(10) }; lives = pick(m, 6, 15, 6, 100, 25); reset()"},
    {"hangman", ALE, ALL, "f16c709df0a6c52f47ff52b9d95b7d8d",
     .rule = "score = bcd(EB) - bcd(EC); over = gain != 0 || [F1] == 0 && m0 == 255; m0 = [F1]",
     .start = "lives = 1; m0 = -1", .difficulties = "01", .modes = "0-3", .mode_script = UNTIL("[EE] == m", 2)},
    {"haunted_house", ALE, ALL, "f0a6e99f5875891246c3dbecbf2d2cea",
     .rule = "x = bcd(82); y = [99] == $44; reward = 100 * y - (x != m0); m0 = x; lives = [96]; "
             "over = lives == 0 || y",
     .start = "lives = 9", .difficulties = "01", .modes = "0-8", .mode_script = UNTIL("[CC] == m", 2)},
    {"hero", BOTH, ALL,
     "fca4a5be1251927027f2c24774a02160 "
     "c8df076c7e4349ca8dcbdb773bf3c985",
     .rule = "score = bcd(B9,B8,B7); lives = [B3]; over = lives == 0",
     .fixed_rule = "x = [B7] == $BB; score = x ? 1000000 : bcd(B9,B8,B7); lives = [B3]; over = lives == 0 || x",
     .start = "lives = 4", .modes = "0-4", .mode_script = UNTIL("[80] == m", 1)},
    {"human_cannonball", ALE, ALL, "7972e5101fa548b952d852db24ad6060",
     .rule = "score = bcd(B6); over = score == 7 || bcd(B7) == 7",
     .start = "lives = 1", .difficulties = "01", .modes = "0-7",
     .mode_script = UNTIL("[B6] == m + 1 && [B7] == 1", 2)},
    {"ice_hockey", BOTH, ALL, "a4c08c4994eb9d24fb78be1793e82e26",
     .rule = "score = bcd(8A) - bcd(8B); reward = gain > 1 ? 1 : gain; over = [87] == 0 && [86] == 0; lives = 0",
     .difficulties = "0123", .modes = "0 2", .mode_script = UNTIL("[80] == m", 2),
     .players = {
      .modes2 = "1 3", .script = UNTIL("[80] == m", 2), .press = "NOOP*2",
      .rule = "x = bcd(8A) - bcd(8B); score = p ? -x : x; over = [87] == 0 && [86] == 0"}},
    {"jamesbond", BOTH, ALL, "e51030251e440cffaab1ac63438b44ae",
     .rule = "score = bcd(DC,DD,DE); x = [86] & 15; over = x == 0 && [8C] == $68; lives = x + 1",
     .wraps = 1000000, .start = "lives = 6", .modes = "0-1", .mode_script = UNTIL("[8C] == m || [8C] == m + $48", 20)},
    {"journey_escape", BOTH, ALL & ~(F | UF), "718ae62c70af4e5fd8e932fee216948a",
     .rule = "score = bcd(92,91,90); reward = gain == 50000 ? 0 : gain; over = [95] == 0 && [96] == 0; lives = 0",
     .press = "FIRE", .difficulties = "01"},
    {"joust", TWO_PLAYERS, ALL, "3276c777cbe97cdd2b4a63ffc16b7151", /* SELECT leads to its first game for two */
     .rule = "lives_kept = 1",
     .start = "lives = 1", .press = "SELECT*2 NOOP*20 RESET*4",
     .players = {
      .modes2 = "1 3", .script = UNTIL("[F8] == m", 1), .press = "NOOP*2",
      .rule = "score = p ? bcd(88,86,84) : bcd(87,85,83); lives = signed(p ? [82] : [81]); over = [81] == $FF && [82] == $FF",
      .start = "lives = 4"}},
    {"kaboom", ALE, N | F | R | L, "5428cdfada281c569c74c7308c7f2c26",
     .rule = "score = bcd(A5,A4,A3); over = [A1] == 0 || score == 999999",
     .start = "lives = 1", .press = "FIRE"},
    {"kangaroo", BOTH, ALL, "4326edb70ff20d0ee5ba58fa5cb09d60",
     .rule = "score = 100 * bcd(A8,A7); over = [AD] == $FF; lives = ([AD] & 7) + 1",
     .wraps = 1000000, .start = "lives = 3", .modes = "0-1", .mode_script = UNTIL("[BA] == m || [BA] == m + $80", 2)},
    {"keystone_kapers", ALE, ALL & ~(URF | ULF | DRF | DLF),
     "6c1f3f2e359dbf55df462ccbcdd2f6bf "
     "be929419902e21bd7830a7a7d746195d",
     .rule = "score = bcd(9C,9B); lives = [96]; over = lives == 0 && [88] == 0",
     .wraps = 10000, .start = "lives = 3", .press = "RESET"},
    {"king_kong", ALE, PAD,
     "0dd4c69b5f9a7ae96a7a08329496779a "
     "0b1056f1091cfdc5eb0e2301f47ac6c3",
     .rule = "score = bcd(83,82); lives = [EE]; over = lives == 0",
     .wraps = 10000, .start = "lives = 3", .modes = "0-3", .mode_script = UNTIL("[EC] == 2 * m", 2)},
    {"klax", ALE, ALL,
     "eed9eaf1a0b6a2b9bc4c8032cb43e3fb "
     "2c29182edf0965a7f56fe0897d2f84ba",
     .rule = "score = bcd(F0B4,F0B5,F0B6); x = sum(B3..CB: it && (it % 4 != 2 || it > 14)); "
             "over = [F0E9] > 0 && [F0EE] == [F0E9] || [A8] == 4 && x == 25 || [F09D] == $99",
     .start = "lives = 1", .press = "FIRE NOOP", .modes = "0-2", .mode_script = UNTIL("[F0EA] == m", 2)},
    {"koolaid", ALE, MOVES, "534e23210dd1993c828d944c6ac4d9fb",
     .rule = "score = 100 * bcd(81,80); over = [D1] == $80; lives = 0",
     .wraps = 1000000},
    {"krull", BOTH, ALL, "4baada22435320d185c95b7dd2bcdb24",
     .rule = "score = bcd(9E,9D,9C); over = [9F] == 0 && [A2] == 3 && [80] == $80; lives = ([9F] & 7) + 1",
     .wraps = 1000000, .start = "lives = 3"},
    {"kung_fu_master", BOTH, ALL & ~(F | UR | UL | UF), "5b92a93b23523ff16e2789b820e2a4c5",
     .rule = "score = bcd(9A,99,98); over = [9D] == $FF; lives = ([9D] & 7) + 1",
     .fixed_rule = "x = [98] == $FF; score = x ? 1000000 : bcd(9A,99,98); over = [9D] == $FF || x; "
                   "lives = ([9D] & 7) + 1",
     .start = "lives = 4"},
    {"laser_gates", ALE, ALL, "8e4cd60d93fcde8065c1a2b972a26377",
     .rule = "score = bcd(82,81,80); over = [83] == 0; lives = 0",
     .press = "RESET"},
    {"lost_luggage", ALE, MOVES,
     "2d76c5d1aad506442b9e9fb67765e051 "
     "7c00e7a205d3fda98eb20da7c9c50a55",
     .rule = "score = bcd(96,95,94); lives = [CA]; over = lives == 0 && [C8] == 10 && [A5] == 0 && [A9] == 0",
     .wraps = 1000000, .start = "lives = 3", .press = "FIRE", .illegal = ALL & ~MOVES, .difficulties = "01",
     .modes = "0-1",
     .mode_script = UNTIL("[94] == 3 * m + 1", 2)},
    {"mario_bros", ALE, ALL, "e908611d99890733be31733a979c62d8",
     .rule = "score = 100 * bcd(8A,89); lives = [87]; over = lives == 0",
     .wraps = 1000000, .press = "NOOP*10 FIRE*7", .modes = "0-6/2", .mode_script = UNTIL("[80] == m", 5),
     .players = {
      .modes2 = "2-8/2", .load = 1, .script = UNTIL("[80] == m - 1", 5), .press = "NOOP*10 FIRE*7 NOOP*10 /FIRE*7 NOOP*2",
      .rule = "score = 100 * (p ? bcd(8C,8B) : bcd(8A,89)); lives = (p ? [88] : [87]) - 1; over = [87] == 0 && [88] == 0",
      .start = "lives = 4"}},
    {"maze_craze", TWO_PLAYERS, ALL,
     "ed2218b3075d15eaa34e3356025ccca3 "
     "f825c538481f9a7a46d1e9bc06200aaf",
     .rule = "lives_kept = 1",
     .start = "lives = 1",
     .players = {
      .modes2 = "0-63", .script = UNTIL("[BD] == m", 2), .press = "NOOP*2",
      .rule = "x = [EC] == $FF; y = [ED] == $FF; z = [EA] >> 6 & 1; w = [EB] >> 6 & 1; "
              "reward = (p ? y - x : x - y) - ((p ? w : z) > -lives); lives = -(p ? w : z); over = x || y || z && w"}},
    {"miniature_golf", ALE, ALL, "df62a658496ac98a3aa4a6ee5719c251",
     .rule = "x = bcd(87); y = bcd(88); z = bcd(AF); w = z != m0; reward = w && m3 + m2 > 0 ? m1 - m3 - m2 : 0; "
             "over = over || w && z == 0; m0 = z; m2 = w ? -m3 : m2; m1 = y ? y : m1; "
             "m2 = y == 0 && x < m3 ? m2 + m3 : m2; m3 = y ? m3 : x",
     .start = "lives = 1; m3 = 0", .difficulties = "01"},
    {"montezuma_revenge", BOTH, ALL, "3347a6dd59049b15a38394aa2dafa585",
     .rule = "score = bcd(95,94,93); over = [BA] == 0 && [FE] == $60; lives = ([BA] & 7) + 1",
     .start = "lives = 6"},
    {"mr_do", ALE, FOUR_WAYS,
     "aa7bb54d2c189a31bb1fa20099e42859 "
     "0164f26f6b38a34208cd4a2d0212afc3",
     .rule = "score = 10 * bcd(82,83); lives = [DB]; over = [DA] == $40",
     .wraps = 100000, .start = "lives = 4", .press = "FIRE", .modes = "0-3", .mode_script = UNTIL("[80] == m", 5)},
    {"ms_pacman", BOTH, MOVES, "87e79cd41ce136fd4f72cc6e2c161bee",
     .rule = "score = bcd(F8,F9,FA); over = ([FB] & 15) == 0 && [A7] == $53; lives = ([FB] & 7) + 1",
     .wraps = 1000000, .start = "lives = 3", .reward_max = 5000, .modes = "0-3",
     .mode_script = UNTIL("[99] == (m ? m : 1) && [A1] == !m", 10)},
    {"name_this_game", BOTH, SIDEWAYS, "36306070f0c90a72461551a7a4f3a209",
     .rule = "score = bcd(C6,C5,C4); lives = [C7] & 7; over = lives == 0",
     .wraps = 1000000, .start = "lives = 3", .difficulties = "01", .modes = "8-40/16",
     .mode_script = UNTIL("[DE] == m", 2)},
    {"othello", ALE, MOVES | F, "113cd09c9771ac278544b7e90efe7df2",
     .rule = "score = bcd(CE) - bcd(D0); m0 = [C0] == 0 ? m0 + 1 : 0; over = m0 > 50",
     .start = "lives = 1", .difficulties = "02", .modes = "0-2", .mode_script = UNTIL("[DE] == m + 1", 2),
     .players = {
      .modes2 = "4", .load = 1, .script = UNTIL("[DE] == m", 2), .press = "NOOP*2",
      .rule = "x = bcd(CE) - bcd(D0); score = p ? -x : x; m1 = (gain ? 0 : m1) + 1; z = m1 == 600; m1 = z ? 0 : m1; "
              "reward = gain - (z && p == ([C0] == 1)); m0 = [C0] == 0 ? m0 + 1 : 0; over = m0 > 75"}},
    {"pacman", BOTH, N | U | R | L | D,
     "fc2233fc116faef0d3c31541717ca2db "
     "6e372f076fb9586aff416144f5cfe1cb",
     .rule = "score = bcd(CC,CE,D0); lives = [98] + 1; over = lives == 1 && [E4] == $3F",
     .wraps = 1000000, .start = "lives = 4", .difficulties = "01", .modes = "0-7",
     .mode_script = UNTIL("[CC] == m + 1 && [E6] == 0", 2)},
    {"phoenix", BOTH, N | F | R | L | D | RF | LF | DF, "7e52a95074a66640fcfde124fffd491a",
     .rule = "score = 10 * (10 * bcd(C8,C9) + ([C7] >> 4)); over = [CC] == $80; lives = [CB] & 7",
     .wraps = 1000000, .start = "lives = 5"},
    {"pitfall", BOTH, ALL, "3e90cf23106f2e08b2781e41299de556",
     .rule = "score = bcd(D7,D6,D5); x = [80] >> 4; over = x == 0 && [9E] != 0; lives = x == 10 ? 3 : x == 8 ? 2 : 1",
     .fixed_rule = "score = bcd(D7,D6,D5); x = [80] >> 4; over = x == 0 && [9E] != 0 || [D8] == 0 && [D9] == 0; "
                   "lives = x == 10 ? 3 : x == 8 ? 2 : 1",
     .start = "score = 2000; lives = 3", .press = "UP"},
    {"pitfall2", ALE, ALL,
     "6d842c96d5a01967be9680080dd5be54 "
     "448c2a175afc8df174d6ff4cce12c794",
     .rule = "score = bcd(C9,C8,C7); over = score == 199000",
     .start = "score = 4000; lives = 1", .press = "UP"},
    {"pong", BOTH, SIDEWAYS, "60e0ea3cbe0913d39803477945e9e5ec",
     .rule = "score = [8E] - [8D]; over = [8D] == 21 || [8E] == 21; lives = 0",
     .xitari_minimal = N | R | L, .reward_min = -1, .reward_max = 1, .max_frames = 65000, .difficulties = "0123",
     .modes = "0-1", .mode_script = UNTIL("[96] == m", 2),
     .players = {
      .modes2 = "3-4 9-10 13-14 19-20 23-28 35-36 39-40 43-46",
      .modes4 = "5-8 11-12 15-18 21-22 29-34 37-38 41-42 47-50", .load = 1, .script = UNTIL("[96] == m - 1", 2), .press = "NOOP*2",
      .rule = "x = [8E] - [8D]; y = p % 2; score = y ? -x : x; m0 = [B6] == 0 ? m0 + 1 : 1; z = m0 == 120; "
              "m0 = z ? 0 : m0; reward = gain - (z && y == !([92] & 1)); over = [8D] == 21 || [8E] == 21"}},
    {"pooyan", BOTH, UP_DOWN, "4799a40b6e889370b7ee55c17ba65141",
     .rule = "score = bcd(8A,89,88); over = [96] == 0 && [98] == 5; lives = ([96] & 7) + 1",
     .wraps = 1000000, .start = "lives = 3", .modes = "10-70/20", .mode_script = "select(2); " UNTIL("[BD] == m", 2)},
    {"private_eye", BOTH, ALL, "ef3a4f64b6494ba770862768caf04b86",
     .rule = "score = bcd(CA,C9,C8); over = [C2] > 1; lives = 0",
     .start = "score = 1000", .press = "UP", .difficulties = "0123", .modes = "0-4",
     .mode_script = UNTIL("[80] == m", 2)},
    {"qbert", BOTH, PAD, "484b0076816a104875e00467d431c2d2",
     .rule = "over = [88] == $FE || [88] == 2 && m0 == -1; m1 = m1 - (signed([88]) == m0 - 1); m0 = signed([88]); "
             "score = over ? was : bcd(DB,DA,D9); lives = m1",
     .xitari_rule = "over = [88] == $FE || [88] == 2 && m0 == -1; m1 = m1 - (signed([88]) == m0 - 1); m0 = [88]; "
                    "score = over ? was : bcd(DB,DA,D9); lives = m1",
     .wraps = 1000000, .start = "lives = 4; m0 = 2; m1 = 4", .difficulties = "01"},
    {"riverraid", BOTH, ALL,
     "393948436d1f4cc3192410bb918f9724 "
     "291cc37604bc899e8e065c30153fc4b9 "
     "95c4576d6a14e2debfa0fd6f6ec254ab",
     .rule = "score = digits(D7,D5,D3,D1,CF,CD: it % 8 == 0 && it <= 72 ? it / 8 : 0); "
             "over = [C0] == $58 && m0 == $59; m0 = [C0]; lives = m0 == $58 ? 4 : m0 == $59 ? 1 : m0 / 8 + 1",
     .fixed_rule = "score = [D7] == $50 ? 1000000 : digits(D7,D5,D3,D1,CF,CD: it % 8 == 0 && it <= 72 ? it / 8 : 0); "
                   "over = [C0] == $58 && m0 == $59; m0 = [C0]; "
                   "lives = m0 == $58 ? 4 : m0 == $59 ? 1 : m0 / 8 + 1",
     .start = "lives = 4; m0 = $58", .difficulties = "01"},
    {"road_runner", BOTH, ALL,
     "ce5cc62608be2cd3ed8abd844efb8919 "
     "2bd00beefdb424fa39931a75e890695d",
     .rule = "score = 100 * digits(C9..CC: (it & 15) == 10 ? 0 : it & 15); x = [C4] & 7; "
             "over = x == 0 && ([B9] || [BD]); lives = x + 1",
     .wraps = 1000000, .start = "lives = 3"},
    {"robotank", BOTH, ALL, "4f618c2429138e0280969193ed6c107e",
     .rule = "score = 12 * [B6] + [B5]; over = [A8] == 0 && [B4] == $FF; lives = ([A8] & 15) + 1",
     .start = "lives = 4"},
    {"seaquest", BOTH, ALL, "240bfbac5163af4df5ae713985386f92",
     .rule = "score = bcd(BA,B9,B8); over = [A3] != 0; lives = [BB] + 1",
     .start = "lives = 4", .reward_max = 1200, .difficulties = "01"},
    {"sir_lancelot", ALE, SIDEWAYS,
     "dd0cbe5351551a538414fb9e37fc56e8 "
     "7ead257e8b5a44cac538f5f54c7a0023 "
     "4c8970f6c294a0a54c9c45e5e8445f93",
     .rule = "score = bcd(A0,9F,9E); lives = [A9]; over = lives == 0 && [A7] == $A0",
     .wraps = 1000000, .start = "lives = 3", .press = "RESET LEFT"},
    {"skiing", BOTH, N | R | L, "b76fbadc8ffb1f83e2ca08b6fb4d6c9f",
     .rule = "score = 6000 * [E8] + bcd(EA,E9); reward = -gain; over = [91] == $FF; lives = 0",
     .press = "DOWN*16", .illegal = ALL & ~MOVES},
    {"solaris", BOTH, ALL, "e72eb8d4410152bdcb69e7fba327b420",
     .rule = "score = 10 * bcd(DC,DD,DE); over = [D9] == 0; lives = [D9] & 15",
     .wraps = 10000000, .start = "lives = 3"},
    {"space_invaders", BOTH, SIDEWAYS, "72ffbef6504b75e69ee1045af9075f66",
     .rule = "score = bcd(E8,E6); reward = gain < 0 ? gain + 10000 : gain; lives = [C9]; "
             "over = [98] & $80 || lives == 0",
     .xitari_rule = "score = bcd(E8,E6); lives = [C9]; over = [98] & $80 || lives == 0",
     .start = "lives = 3", .reward_max = 200, .difficulties = "01", .modes = "0-15",
     .mode_script = UNTIL("[DC] == m", 2),
     .players = {
      .modes2 = "33-64", .load = 1, .script = UNTIL("[DC] == m - 1", 2), .press = "NOOP*2",
      .rule = "score = p ? bcd(E9,E7) : bcd(E8,E6); reward = gain < 0 ? gain + 10000 : gain; lives = [C9] - 1; "
              "over = [98] & $80 || [C9] == 0",
      .start = "lives = 2"}},
    {"space_war", ALE, ALL,
     "b702641d698c60bcdc922dbd8c9dd49c "
     "a7ef44ccb5b9000caf02df3e6da71a92",
     .rule = "score = bcd(A7); over = score == 10 || [80] == 0",
     .start = "lives = 1", .modes = "6-17", .mode_script = UNTIL("bcd(A7) == m", 2),
     .players = {
      .modes2 = "1-5", .load = 6, .script = UNTIL("bcd(A7) == m", 2), .press = "NOOP*2",
      .rule = "x = bcd(A7); y = bcd(A8); score = p ? y - x : x - y; over = x == 10 || y == 10 || [80] == 0"}},
    {"star_gunner", BOTH, ALL, "a3c1c70024d7aabb41381adbfb6d3b25",
     .rule = "score = 100 * digits(83..86: (it & 15) == 10 ? 0 : it & 15); m0 = m0 || [87] == 5; over = [87] == 0; "
             "lives = m0 ? [87] & 15 : 5",
     .wraps = 1000000, .start = "lives = 5", .modes = "0-3", .mode_script = UNTIL("[F4] == m", 15)},
    {"superman", ALE, ALL,
     "a9531c763077464307086ec9a1fd057d "
     "5de8803a59c36725888346fdc6e7429d",
     .rule = "over = [9F] & $40 && [80] == $AC && [81] == $F2; reward = over ? 5999 - 60 * bcd(E3) - bcd(E2) : 0",
     .start = "lives = 1", .difficulties = "0123"},
    {"surround", BOTH, N | U | R | L | D,
     "4d7517ae69f95cfbc053be01312b7dba "
     "52a0003efb3b1c49fcde4dbc2c685d8f",
     .rule = "score = bcd(F7) - bcd(F6); over = bcd(F6) == 10 || bcd(F7) == 10",
     .xitari_rule = "score = bcd(F7) - bcd(F6); over = bcd(F6) == 10 || bcd(F7) == 10; lives = 0",
     .start = "lives = 1", .xitari_start = "", .xitari_press = "SELECT RESET", .reward_min = -1, .reward_max = 1,
     .difficulties = "0123", .modes = "0 2", .mode_script = UNTIL("[F9] == m + 1", 2),
     .players = {
      .modes2 = "1 5-12", .load = 2, .script = "until ([F9] == m - 1) { select(m == 2 ? 1 : 2) }; reset()", .press = "NOOP*2",
      .rule = "x = bcd(F7); y = bcd(F6); score = p ? y - x : x - y; over = x == 10 || y == 10"}},
    {"tennis", BOTH, ALL, "42cdd6a9e42a3639e190722b8ea3fc51",
     .rule = "x = [C5] - [C6]; y = [C7] - [C8]; reward = y == m0 ? x - m1 : y - m0; m0 = y; m1 = x; "
             "over = [C7] >= 6 && y >= 2 || [C8] >= 6 && y <= -2 || [C7] == 7 || [C8] == 7; lives = 0",
     .difficulties = "0123", .modes = "0 2", .mode_script = UNTIL("[80] == m", 2),
     .players = {
      .modes2 = "2 4", .load = 1, .script = UNTIL("[80] == m - 1", 2), .press = "NOOP*2",
      .rule = "x = [C5] - [C6]; y = [C7] - [C8]; z = y == m0 ? x - m1 : y - m0; m0 = y; m1 = x; "
              "m2 = [CC] ? m2 + 1 : 1; w = m2 == 180; m2 = w ? 0 : m2; "
              "reward = (p ? -z : z) - (w && p == ([C7] + [C8]) % 2); "
              "over = [C7] >= 6 && y >= 2 || [C8] >= 6 && y <= -2 || [C7] == 7 || [C8] == 7"}},
    {"tetris", ALE, N | F | R | L | D, "b0e1ee07fbc73493eac5651a52f90f00",
     .rule = "score = bcd(F1,F2); reward = gain > 0 ? gain : 0; over = [F3] & $80; score = over ? 0 : score; "
             "lives = 0"},
    {"tic_tac_toe_3d", ALE, MOVES | F, "0db4f4150fecf77e4ce72ca4d04c052f",
     .rule = "x = [FE] == $10 && [FF] == $F3; reward = x ? ([E1] == 8 ? 1 : -1) : 0; "
             "over = over || x || sum(9A..D9: it == 0) == 0",
     .start = "lives = 1", .difficulties = "02", .modes = "0-8", .mode_script = UNTIL("[88] == m", 2)},
    {"time_pilot", BOTH, FOUR_WAYS, "fc2104dd2dadf9a6176c1c1c8f87ced9",
     .rule = "score = 100 * bcd(8D,8F); over = [A0]; m0 = ([80] & 15) == 2 ? ([8B] & 7) + 1 : m0; lives = m0",
     .wraps = 1000000, .start = "lives = 5; m0 = 5", .difficulties = "012"},
    {"trondead", ALE, ALL, "fb27afe896e7c928089307b32e5642ee",
     .rule = "score = bcd(BF,BE,BD); over = [C8] == 5; lives = 5 - [C8]",
     .wraps = 1000000, .start = "lives = 5", .difficulties = "01"},
    {"turmoil", ALE, N | F | U | R | L | D | UR | UL | DR | DL | RF | LF,
     "7a5463545dfb2dcfdafa6074b2f2c15e "
     "152e55f88af3ff647e75a3070b7b6842",
     .rule = "score = 10 * (bcd(89,8A) + [D3]); lives = [B9]; over = lives == 0 && [C5] == 1",
     .wraps = 100000, .start = "lives = 4", .press = "FIRE", .modes = "0-8", .mode_script = UNTIL("[EA] == m", 2)},
    {"tutankham", BOTH, N | U | R | L | D | UF | RF | LF, "085322bae40d904f53bdcc56df0593fc",
     .rule = "score = bcd(9C,9A); over = [9E] == 0 && [81] != $84; lives = [9E] & 3",
     .wraps = 10000, .start = "lives = 3", .modes = "0-12/4", .mode_script = UNTIL("[AB] == m", 2)},
    {"up_n_down", BOTH, UP_DOWN, "a499d720e7ee35c62424de882a3351b6",
     .rule = "score = bcd(82,81,80); x = [86] & 15; over = x == 0 && [94] > $40; lives = x + 1",
     .wraps = 1000000, .start = "lives = 5", .press = "FIRE", .difficulties = "0123"},
    {"venture", BOTH, ALL,
     "3e899eba0ca8cd2972da1ae5479b4f0d "
     "c63a98ca404aa5ee9fcff1de488c3f43",
     .rule = "score = 100 * bcd(C8,C7); over = [C6] == 0 && [CD] == $FF && [BF] & $80; lives = ([C6] & 7) + 1",
     .start = "lives = 4", .difficulties = "0123"},
    {"video_checkers", ALE, F | UR | UL | DR | DL, "539d26b6e9df0da8e7465f0f5ad863b7",
     .rule = "x = sum(80..87,89..90,92..99,9B..A2: it == $10 || it == $20); "
             "y = sum(80..87,89..90,92..99,9B..A2: it == $90 || it == $A0); z = x == 0 ? -1 : y == 0; "
             "z = m3 ? -z : z; reward = z ? z : reward; over = over || z",
     .start = "lives = 1", .modes = "1-9 11-19",
     .mode_script = "m3 = m >= 11; " UNTIL("[F6] == (m >= 11 ? m + 6 : m)", 1),
     .players = {
      .modes2 = "10", .load = 1, .script = UNTIL("[F6] == (m == 10 ? 16 : m)", 1), .press = "NOOP*2",
      .rule = "x = sum(80..87,89..90,92..99,9B..A2: it == $10 || it == $20); "
              "y = sum(80..87,89..90,92..99,9B..A2: it == $90 || it == $A0); z = x == 0 ? -1 : y == 0; "
              "m1 = ([C0] == m0 ? m1 : 0) + 1; m0 = [C0]; w = m1 == 601; m1 = w ? 0 : m1; "
              "reward = (p ? -z : z) - (w && p == ([BB] != 0)); over = z != 0"}},
    {"video_chess", BOTH, MOVES | F, "f0b7db930ca0e548c41a97160b9f6275",
     .alias = "videochess",
     .rule = "x = [E1] == $82; reward = x ? ([EE] == 0) - ([EE] == 1) : 0; over = over || x && [EE] < 2",
     .xitari_rule = "x = [E1] == $82; "
                    "y = sum(80..BF: pick(it & 15, 0, 0, -9, -3, -3, -5, -1, 0, 0, 0, 9, 3, 3, 5, 1)); "
                    "score = x ? y : was; reward = x ? gain + 10000 * (([EE] == 0) - ([EE] == 1)) : 0; "
                    "over = over || x && [EE] < 2",
     .start = "lives = 1", .modes = "0-4", .mode_script = UNTIL("[EA] == m", 1)},
    {"video_cube", ALE, ALL, "3f540a30fdee0b20aed7288e4a5ea528",
     .rule = "x = (sum(A1..A8: it != [A0]) == 0) + (sum(AA..B1: it != [A9]) == 0) + "
             "(sum(B3..BA: it != [B2]) == 0) + (sum(BC..C3: it != [BB]) == 0) + (sum(C5..CC: it != [C4]) == 0) + "
             "(sum(CE..D5: it != [CD]) == 0); y = [DB] == 0 && m3 == 255; m3 = [DB]; reward = y ? -1 : x - m0; "
             "m0 = x; over = y || x == 6",
     .start = "lives = 1", .press = "NOOP*61 FIRE NOOP*2", .difficulties = "01", .modes = "0-5000/100x3",
     .mode_script = UNTIL("[FB] % 32 == pick(m % 100, 0, 2, 8)", 2) "; "
                    "until (bcd(9F) == (m < 100 ? 1 : m / 100)) { act(RIGHT) }"},
    {"video_pinball", BOTH, N | F | U | R | L | D | UF | RF | LF, "107cc025334211e6d29da0b6be46aec7",
     .rule = "score = bcd(B0,B2,B4); over = [AF] & 1; lives = 4 + ([A8] & 1) - ([99] & 7)",
     .wraps = 1000000, .start = "lives = 3", .difficulties = "01", .modes = "0 2",
     .mode_script = UNTIL("[C1] == m", 2)},
    {"warlords", TWO_PLAYERS, ALL, "cbe5a166550a8129a5e6d374901dffad",
     .rule = "lives_kept = 1",
     .start = "lives = 1",
     .players = {
      .modes2 = "3 5 8 10 13 15 18 20 23", .modes4 = "1-21/5", .load = 4, .script = UNTIL("[D9] == m - 1", 1), .press = "NOOP*2", .minimal = SIDEWAYS,
      .rule = "x = [EE] >> 4; y = -(x >> (3 - p) & 1); z = (x & 1) + (x >> 1 & 1) + (x >> 2 & 1) + (x >> 3 & 1) >= 3; "
              "reward = (y < lives ? -1 : 0) + (z && !over && y == 0); lives = y; over = z"}},
    {"wizard_of_wor", BOTH, FOUR_WAYS, "7e8aa18bc9502eb57daaf5e7c1e94da7",
     .rule = "x = bcd(86,88); score = 100 * (x >= 8000 ? x - 8000 : x); y = [8D] & 15; "
             "over = y == 0 && [F4] == $F8; m0 = [D7] & 1 ? m0 : y; lives = m0",
     .start = "lives = 3; m0 = 3", .difficulties = "01",
     .players = {
      .modes2 = "1", .script = UNTIL("[81] == m", 1), .minimal = FOUR_WAYS & ~N, .press = "NOOP*2",
      .rule = "x = p ? bcd(85,87) : bcd(86,88); score = 100 * (x >= 8000 ? x - 8000 : x); "
              "lives = (p ? [D6] : [D7]) & 1 ? lives : (p ? [8C] & 15 : [8D] & 15) - 1; "
              "y = [D7] & 1 ? m0 : ([8D] & 15) - 1; z = [D6] & 1 ? m1 : ([8C] & 15) - 1; m0 = y; m1 = z; "
              "over = y < 0 && z < 0",
      .start = "lives = 2; m0 = 2; m1 = 2"}},
    {"word_zapper", ALE, ALL, "ec3beb6d8b5689e867bafb5d5f507491",
     .rule = "x = [CF] != 0; score = x ? 2 - signed([DC]) : was; reward = x ? gain : reward; "
             "over = x ? score == 3 || [DE] == 0 : over",
     .start = "lives = 1", .press = "NOOP*486 FIRE NOOP*2", .difficulties = "0123", .modes = "0-23",
     .mode_script = UNTIL("[DB] == m", 2)},
    {"yars_revenge", BOTH, ALL,
     "c5930d0e8cdae3e037349bfa08e871be "
     "5f681403b1051a0822344f467b05a94d",
     .rule = "score = bcd(E2,E1,E0); lives = [9E] >> 4; over = lives == 0",
     .wraps = 1000000, .start = "lives = 4", .press = "FIRE", .difficulties = "01", .modes = "0-96/32",
     .mode_script = "select(2); " UNTIL("[E3] == m", 1)},
    {"zaxxon", BOTH, ALL, "eea0da9b987d661264cce69a7c13c3bd",
     .rule = "score = 100 * bcd(E9,E8); lives = [EA] & 7; over = lives == 0",
     .xitari_rule = "score = 100 * bcd(E9,E8); lives = [EA] & 15; over = lives == 0",
     .wraps = 1000000, .start = "lives = 5", .modes = "0-24/8", .mode_script = UNTIL("[82] == m", 10)},

    /* Our own cartridge (demo/). No reference has it, so it comes after the games that are counted. */
    {"contour", BOTH, ALL, "99bdedb18cbad5b1029a5b15e5683023",
     .rule = "score = bcd(81,80); lives = [82]; over = [83]",
     .start = "lives = 3", .modes = "0-3", .mode_script = UNTIL("[84] == m", 2)},
};
/* clang-format on */

enum { GAMES = sizeof games / sizeof *games, OWN_GAMES = 1 };

/* ---- Consoles ----------------------------------------------------------------------------------------------- */

enum {
  LEFT_PADDLES = 1 << 0,
  RIGHT_PADDLES = 1 << 1,
  SWAP_PADDLES = 1 << 2,
  SWAP_PORTS = 1 << 3,
  LEFT_A = 1 << 4,
  RIGHT_A = 1 << 5,
  NO_BLANKS = 1 << 6,
  PAL = 1 << 7,
  IS_2K = 1 << 8
};

typedef struct {
  const char *md5;
  uint8_t profiles;
  int16_t ystart, height;
  uint16_t flags;
} console_t;

/* clang-format off */
static const console_t consoles[] = {
    {"acb7750b4d0c4bd34969802a7deb2990", BOTH, 34, 210, LEFT_A | RIGHT_A}, /* amidar */
    {"ccbd36746ed4525821a8083b0d6d2c2c", BOTH, 34, 210, NO_BLANKS}, /* asteroids */
    {"b227175699e372b8fe10ce243ad6dda5", BOTH, 34, 210, NO_BLANKS}, /* asteroids */
    {"8556b42aa05f94bc29ff39c39b11bff4", BOTH, 34, 210, LEFT_PADDLES}, /* backgammon */
    {"41f252a66c6301f1e8ab3612c19bc5d4", BOTH, 34, 210, NO_BLANKS}, /* battle_zone */
    {"0a981c03204ac2b278ba392674682560", BOTH, 34, 210, LEFT_PADDLES}, /* blackjack */
    {"ff3bd0c684f7144aeaa18758d8281a78", BOTH, 48, 210, LEFT_PADDLES | RIGHT_PADDLES}, /* blackjack */
    {"f34f08e5eb96e500e851a80be3277a56", BOTH, 34, 210, LEFT_PADDLES}, /* breakout */
    {"028024fb8e5e5f18ea586652f9799c96", BOTH, 26, 214, 0}, /* carnival */
    {"b816296311019ab69a21cb9e9e235d12", BOTH, 34, 210, LEFT_PADDLES}, /* casino */
    {"0ef64cdbecccb7049752a3de0b7ade14", BOTH, 39, 256, 0}, /* combat */
    {"106855474c69d08c8ffa308d47337269", BOTH, 34, 210, NO_BLANKS}, /* darkchambers */
    {"718ae62c70af4e5fd8e932fee216948a", BOTH, 34, 230, 0}, /* journey_escape */
    {"5428cdfada281c569c74c7308c7f2c26", BOTH, 34, 210, LEFT_PADDLES}, /* kaboom */
    {"0b1056f1091cfdc5eb0e2301f47ac6c3", BOTH, 20, 210, 0}, /* king_kong */
    {"ed2218b3075d15eaa34e3356025ccca3", BOTH, 34, 210, PAL}, /* maze_craze */
    {"0164f26f6b38a34208cd4a2d0212afc3", BOTH, 26, 210, 0}, /* mr_do */
    {"87e79cd41ce136fd4f72cc6e2c161bee", BOTH, 34, 210, NO_BLANKS}, /* ms_pacman */
    {"6e372f076fb9586aff416144f5cfe1cb", BOTH, 33, 210, 0}, /* pacman */
    {"60e0ea3cbe0913d39803477945e9e5ec", BOTH, 34, 210, LEFT_PADDLES | RIGHT_PADDLES | SWAP_PADDLES}, /* pong */
    {"4799a40b6e889370b7ee55c17ba65141", BOTH, 26, 220, 0}, /* pooyan */
    {"484b0076816a104875e00467d431c2d2", BOTH, 40, 210, 0}, /* qbert */
    {"95c4576d6a14e2debfa0fd6f6ec254ab", BOTH, 10, 210, 0}, /* riverraid */
    {"2bd00beefdb424fa39931a75e890695d", BOTH, 20, 210, 0}, /* road_runner */
    {"4d7517ae69f95cfbc053be01312b7dba", ALE, 34, 210, SWAP_PORTS}, /* surround */
    {"52a0003efb3b1c49fcde4dbc2c685d8f", ALE, 34, 210, IS_2K | SWAP_PORTS}, /* surround */
    {"52a0003efb3b1c49fcde4dbc2c685d8f", XITARI, 34, 210, IS_2K}, /* surround */
    {"a499d720e7ee35c62424de882a3351b6", BOTH, 30, 210, 0}, /* up_n_down */
    {"cbe5a166550a8129a5e6d374901dffad", BOTH, 34, 210, LEFT_PADDLES | RIGHT_PADDLES}, /* warlords */
    {"7e8aa18bc9502eb57daaf5e7c1e94da7", BOTH, 34, 210, SWAP_PORTS}, /* wizard_of_wor */
};
/* clang-format on */

/* Whether a set of profiles has one; what profile `ale` has, `fixed` has. */
static bool has_profile(uint8_t profiles, vcs_profile_t profile) {
  return profiles >> (profile == VCS_PROFILE_FIXED ? VCS_PROFILE_ALE : profile) & 1;
}

void vcs_game_props(vcs_profile_t profile, const char *md5_hex, vcs_console_props_t *out) {
  console_t found = {NULL, BOTH, 34, 210, 0};
  for (size_t i = 0; md5_hex && i < sizeof consoles / sizeof *consoles; i++) {
    if (has_profile(consoles[i].profiles, profile) && strcmp(consoles[i].md5, md5_hex) == 0) found = consoles[i];
  }
  *out = (vcs_console_props_t){
      .scheme = found.flags & IS_2K ? VCS_SCHEME_2K : VCS_SCHEME_AUTO,
      .format = found.flags & PAL ? VCS_FORMAT_PAL : VCS_FORMAT_AUTO,
      .left = found.flags & LEFT_PADDLES ? VCS_CONTROLLER_PADDLES : VCS_CONTROLLER_JOYSTICK,
      .right = found.flags & RIGHT_PADDLES ? VCS_CONTROLLER_PADDLES : VCS_CONTROLLER_JOYSTICK,
      .ystart = found.ystart,
      .height = found.height,
      .swap_ports = (found.flags & SWAP_PORTS) != 0,
      .swap_paddles = (found.flags & SWAP_PADDLES) != 0,
      .left_pro = (found.flags & LEFT_A) != 0,
      .right_pro = (found.flags & RIGHT_A) != 0,
      .black_and_white = false,
      .hmove_blanks = !(found.flags & NO_BLANKS),
  };
}

/* ---- Finding a game ----------------------------------------------------------------------------------------- */

int vcs_game_count(void) { return GAMES - OWN_GAMES; }

const vcs_game_t *vcs_game_at(int index) { return index >= 0 && index < vcs_game_count() ? &games[index] : NULL; }

bool vcs_game_has(const vcs_game_t *game, vcs_profile_t profile) { return has_profile(game->profiles, profile); }

bool vcs_game_is_two_player(const vcs_game_t *game) { return game->profiles == TWO_PLAYERS; }

static bool same_word(const char *a, const char *b, bool any_case) {
  if (!any_case) return strcmp(a, b) == 0;
  while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
  return tolower((unsigned char)*a) == tolower((unsigned char)*b);
}

static bool is_named(const vcs_game_t *game, const char *name, bool any_case) {
  return name && (same_word(game->name, name, any_case) || (game->alias && same_word(game->alias, name, any_case)));
}

static bool is_main_dump(const vcs_game_t *game, const char *md5) { return md5 && strncmp(game->md5, md5, 32) == 0; }

static bool is_dump(const vcs_game_t *game, const char *md5) {
  return md5 && strlen(md5) == 32 && strstr(game->md5, md5) != NULL;
}

const vcs_game_t *vcs_game_find(vcs_profile_t profile, const char *md5_hex, const char *name) {
  const bool ale = profile != VCS_PROFILE_XITARI;
  for (int i = 0; i < GAMES; i++) {
    if (!vcs_game_has(&games[i], profile)) continue;
    if (is_named(&games[i], name, ale) || (ale && is_main_dump(&games[i], md5_hex))) return &games[i];
  }
  for (int i = 0; i < GAMES; i++) {
    if (vcs_game_has(&games[i], profile) && is_dump(&games[i], md5_hex)) return &games[i];
  }
  return NULL;
}

/* ---- What a profile makes of a row -------------------------------------------------------------------------- */

static const char *choose(vcs_profile_t profile, const char *ale, const char *xitari) {
  return profile == VCS_PROFILE_XITARI && xitari ? xitari : ale;
}

const char *vcs_game_rule(const vcs_game_t *game, vcs_profile_t profile) {
  if (profile == VCS_PROFILE_FIXED && game->fixed_rule) return game->fixed_rule;
  return choose(profile, game->rule, game->xitari_rule);
}

const char *vcs_game_start(const vcs_game_t *game, vcs_profile_t profile) {
  return choose(profile, game->start, game->xitari_start);
}

uint32_t vcs_game_minimal(const vcs_game_t *game, vcs_profile_t profile) {
  return profile == VCS_PROFILE_XITARI && game->xitari_minimal ? game->xitari_minimal : game->minimal;
}

void vcs_game_reward_range(const vcs_game_t *game, int32_t *min, int32_t *max) {
  const bool known = game->reward_max != 0;
  *min = known ? game->reward_min : -65536;
  *max = known ? game->reward_max : 65536;
}

int32_t vcs_game_max_frames(const vcs_game_t *game, vcs_profile_t profile) {
  if (profile != VCS_PROFILE_XITARI) return 0;
  return game->max_frames ? game->max_frames : 8 * 60 * 60 * 60;
}

/* ---- Compiled programs -------------------------------------------------------------------------------------- */

/* The only state of the table: programs are compiled at their first use, into storage that never moves. The first
 * thread compiles; all other threads wait for a few microseconds. */
enum { RAW, COMPILING, READY, RULE_TEXT = 1024 };
enum { FOR_PLAYERS = VCS_PROFILE_COUNT, CODES = 2 * VCS_PROFILE_COUNT };
static vcs_game_code_t codes[GAMES][CODES];
static atomic_int code_state[GAMES][CODES];

/* A score that falls by more than half of its counter's range has wrapped. */
static void write_rule(const vcs_game_t *game, vcs_profile_t profile, char text[RULE_TEXT]) {
  const char *rule = vcs_game_rule(game, profile), *usual = strstr(rule, "reward =") ? "reward" : "gain";
  if (profile == VCS_PROFILE_FIXED && game->wraps) {
    snprintf(text, RULE_TEXT, "%s; reward = gain < -%d ? gain + %d : %s", rule, (int)game->wraps / 2, (int)game->wraps,
             usual);
  } else {
    snprintf(text, RULE_TEXT, "%s", rule);
  }
}

vcs_status_t vcs_game_compile(const vcs_game_t *game, vcs_profile_t profile, vcs_game_code_t *out, vcs_error_t *error) {
  char rule[RULE_TEXT];
  write_rule(game, profile, rule);
  vcs_status_t status = vcs_rule_compile(vcs_game_start(game, profile), VCS_RULE_FOR_START, &out->start, error);
  if (status == VCS_OK) status = vcs_rule_compile(rule, VCS_RULE_FOR_STEP, &out->step, error);
  if (status == VCS_OK) {
    const char *script = profile != VCS_PROFILE_XITARI ? game->mode_script : NULL;
    status = vcs_rule_compile(script, VCS_RULE_FOR_MODE, &out->mode, error);
  }
  return status;
}

vcs_status_t vcs_game_compile_players(const vcs_game_t *game, vcs_profile_t profile, vcs_game_code_t *out,
                                      vcs_error_t *error) {
  const vcs_players_t *players = &game->players;
  const char *rule = profile == VCS_PROFILE_FIXED && players->fixed_rule ? players->fixed_rule : players->rule;
  vcs_status_t status = vcs_rule_compile(players->start, VCS_RULE_FOR_START, &out->start, error);
  if (status == VCS_OK) status = vcs_rule_compile(rule, VCS_RULE_FOR_PLAYERS, &out->step, error);
  if (status == VCS_OK) status = vcs_rule_compile(players->script, VCS_RULE_FOR_MODE, &out->mode, error);
  return status;
}

static const vcs_game_code_t *code_of(const vcs_game_t *game, int which) {
  const ptrdiff_t i = game - games;
  atomic_int *state = &code_state[i][which];
  int expected = RAW;
  if (atomic_load_explicit(state, memory_order_acquire) != READY) {
    if (atomic_compare_exchange_strong(state, &expected, COMPILING)) {
      if (which >= FOR_PLAYERS) {
        vcs_game_compile_players(game, (vcs_profile_t)(which - FOR_PLAYERS), &codes[i][which], NULL);
      } else {
        vcs_game_compile(game, (vcs_profile_t)which, &codes[i][which], NULL);
      }
      atomic_store_explicit(state, READY, memory_order_release);
    } else {
      while (atomic_load_explicit(state, memory_order_acquire) != READY) {
      }
    }
  }
  return &codes[i][which];
}

const vcs_game_code_t *vcs_game_code(const vcs_game_t *game, vcs_profile_t profile) { return code_of(game, profile); }

const vcs_game_code_t *vcs_game_players_code(const vcs_game_t *game, vcs_profile_t profile) {
  return profile == VCS_PROFILE_XITARI || !game->players.rule ? NULL : code_of(game, FOR_PLAYERS + (int)profile);
}

void vcs_game_reset(const vcs_game_t *game, vcs_profile_t profile, vcs_play_t *play) {
  vcs_game_code_reset(vcs_game_code(game, profile), play);
}

void vcs_game_step(const vcs_game_t *game, vcs_profile_t profile, vcs_play_t *play, const uint8_t ram[128],
                   const uint8_t *cart_ram) {
  vcs_game_code_step(vcs_game_code(game, profile), play, ram, cart_ram);
}

vcs_rule_op_t vcs_game_mode_next(const vcs_game_code_t *code, vcs_rule_run_t *run, vcs_play_t *play,
                                 const uint8_t ram[128], const uint8_t *cart_ram) {
  return vcs_rule_continue(&code->mode, run, play, ram, cart_ram);
}

/* ---- Lists in the rows -------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  uint8_t action;
} presses[] = {
    {"NOOP", 0},
    {"FIRE", 1},
    {"UP", 2},
    {"RIGHT", 3},
    {"LEFT", 4},
    {"DOWN", 5},
    {"UPFIRE", 10},
    {"RESET", VCS_PRESS_RESET},
    {"SELECT", VCS_PRESS_SELECT},
};

int vcs_game_presses(const vcs_game_t *game, vcs_profile_t profile, int players, vcs_press_t out[VCS_GAME_PRESSES]) {
  const char *at = choose(profile, game->press, game->xitari_press);
  if (players > 1) at = game->players.press;
  int count = 0;
  while (at && *at && count < VCS_GAME_PRESSES) {
    const bool second = *at == '/';
    at += second;
    const size_t n = strcspn(at, "* ");
    for (size_t i = 0; i < sizeof presses / sizeof *presses; i++) {
      if (strlen(presses[i].name) == n && strncmp(at, presses[i].name, n) == 0) {
        const uint16_t frames = at[n] == '*' ? (uint16_t)atoi(at + n + 1) : 1;
        out[count++] =
            second ? (vcs_press_t){0, presses[i].action, frames} : (vcs_press_t){presses[i].action, 0, frames};
      }
    }
    at += strcspn(at, " ");
    at += *at == ' ';
  }
  return count;
}

/* "7", "0-3", every fourth "0-28/4", three from every hundredth "0-5000/100x3" */
int vcs_game_modes(const vcs_game_t *game, int players, uint16_t out[VCS_GAME_MODES]) {
  const char *list = players == 2 ? game->players.modes2 : players == 4 ? game->players.modes4 : NULL;
  if (players == 1) list = game->modes ? game->modes : "0";
  char *at = (char *)(uintptr_t)(list ? list : "");
  int count = 0;
  while (*at) {
    const long first = strtol(at, &at, 10);
    const long last = *at == '-' ? strtol(at + 1, &at, 10) : first;
    const long step = *at == '/' ? strtol(at + 1, &at, 10) : 1;
    const long width = *at == 'x' ? strtol(at + 1, &at, 10) : 1;
    for (long mode = first; mode <= last; mode += step) {
      for (long i = 0; i < width && count < VCS_GAME_MODES; i++) out[count++] = (uint16_t)(mode + i);
    }
    at += *at == ' ';
  }
  return count;
}

bool vcs_game_has_mode(const vcs_game_t *game, int mode) {
  uint16_t modes[VCS_GAME_MODES];
  const int count = vcs_game_modes(game, 1, modes);
  for (int i = 0; i < count; i++) {
    if (modes[i] == mode) return true;
  }
  return false;
}

bool vcs_game_has_difficulty(const vcs_game_t *game, int difficulty) {
  const char *list = game->difficulties ? game->difficulties : "0";
  return difficulty >= 0 && difficulty < 4 && strchr(list, '0' + difficulty) != NULL;
}
