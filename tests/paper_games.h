/* paper_games.h: the 64 games of the paper's conformance table, by their names here. The first eight are of different
 * bank schemes, for tests that run some games only. */
#ifndef PAPER_GAMES_H
#define PAPER_GAMES_H

static const char *const paper_games[] = {
    "space_invaders", "pong",          "breakout",       "elevator_action", "montezuma_revenge",
    "robotank",       "seaquest",      "qbert",          "air_raid",        "alien",
    "amidar",         "assault",       "asterix",        "asteroids",       "atlantis",
    "bank_heist",     "battle_zone",   "beam_rider",     "berzerk",         "bowling",
    "boxing",         "carnival",      "centipede",      "chopper_command", "crazy_climber",
    "defender",       "demon_attack",  "double_dunk",    "enduro",          "fishing_derby",
    "freeway",        "frostbite",     "gopher",         "gravitar",        "hero",
    "ice_hockey",     "jamesbond",     "journey_escape", "kangaroo",        "krull",
    "kung_fu_master", "ms_pacman",     "name_this_game", "pacman",          "phoenix",
    "pitfall",        "pooyan",        "private_eye",    "riverraid",       "road_runner",
    "skiing",         "solaris",       "star_gunner",    "surround",        "tennis",
    "time_pilot",     "tutankham",     "up_n_down",      "venture",         "video_pinball",
    "videochess",     "wizard_of_wor", "yars_revenge",   "zaxxon"};
enum { PAPER_GAMES = sizeof paper_games / sizeof *paper_games };

#endif
