"""Names for gymnasium.make: DiffVCS/Pong-v5 is ale-py's ALE/Pong-v5, DiffVCS/Pong-v4 its Pong-v4, and so on.

Importing diffvcs registers them where Gymnasium is installed.

    DiffVCS/Demo-v5                our own cartridge: needs no ROM image
    DiffVCS/Pong-v5                frame skip 4, sticky actions
    DiffVCS/Pong-v0, v4            frame skip 2 to 4 at random; v0 has sticky actions
    DiffVCS/PongDeterministic-v4   frame skip 4 (3 in Space Invaders)
    DiffVCS/PongNoFrameskip-v4     frame skip 1
    DiffVCS/Pong-ram-v4            RAM as observation; all of v0 and v4, and Pong-ram-v5
"""

from __future__ import annotations

import gymnasium
from typing import Any

from . import roms

VECTORS = {"diffvcs": "diffvcs.vector:DiffVCSVectorEnv", "ale_py": "ale_py.vector_env:AtariVectorEnv"}
EPISODE = 108_000  # frames: half an hour
STICKY = {"v0": 0.25, "v4": 0.0}

# The games of Gym's v0 and v4 environments.
LEGACY = (
    "adventure air_raid alien amidar assault asterix asteroids atlantis bank_heist battle_zone beam_rider berzerk bowling "
    "boxing breakout carnival centipede chopper_command crazy_climber defender demon_attack double_dunk elevator_action "
    "enduro fishing_derby freeway frostbite gopher gravitar hero ice_hockey jamesbond journey_escape kangaroo krull "
    "kung_fu_master montezuma_revenge ms_pacman name_this_game phoenix pitfall pong pooyan private_eye qbert riverraid "
    "road_runner robotank seaquest skiing solaris space_invaders star_gunner tennis time_pilot tutankham up_n_down venture "
    "video_pinball wizard_of_wor yars_revenge zaxxon"
).split()


def _games_v5() -> list[str]:
    """The demo, the games with an image, and LEGACY. Making a game without an image raises an error with advice."""
    return sorted({roms.DEMO, *roms.get_all_rom_ids(), *LEGACY} - roms.TWO_PLAYERS)


def _register(
    name: str, game: str, frameskip: Any, probability: float, obs_type: str = "rgb", module: str = "diffvcs"
) -> None:
    """One name; ale-py's are taken from it if it has been there before. Version 5 has a vector environment, of pictures."""
    if module == "ale_py":
        gymnasium.registry.pop(name, None)
    elif name in gymnasium.registry:
        return
    kwargs = dict(
        game=game, repeat_action_probability=probability, full_action_space=False, frameskip=frameskip,
        max_num_frames_per_episode=EPISODE,
    )  # fmt: skip
    if obs_type != "rgb":
        kwargs["obs_type"] = obs_type
    vector = VECTORS[module] if name.endswith("-v5") and obs_type == "rgb" else None
    gymnasium.register(name, f"{module}.env:AtariEnv", vector_entry_point=vector, kwargs=kwargs)


def register_envs() -> None:
    """Registers our names."""
    kinds = (("", "rgb"), ("-ram", "ram"))
    for game in _games_v5():
        for kind, obs_type in kinds:
            _register(f"DiffVCS/{roms.rom_id_to_name(game)}{kind}-v5", game, 4, 0.25, obs_type)
    for game in LEGACY:
        name = roms.rom_id_to_name(game)
        for suffix, frameskip in (
            ("", (2, 5)),
            ("Deterministic", 3 if game == "space_invaders" else 4),
            ("NoFrameskip", 1),
        ):
            for version, probability in STICKY.items():
                for kind, obs_type in kinds:
                    _register(f"DiffVCS/{name}{kind}{suffix}-{version}", game, frameskip, probability, obs_type)


def register_as_ale_py() -> None:
    """Registers ale-py's own names, for compat.py."""
    for game in sorted(set(_games_v5()) - {roms.DEMO}):
        _register(f"ALE/{roms.rom_id_to_name(game)}-v5", game, 4, 0.25, module="ale_py")
    for game in LEGACY:
        for suffix, frameskip in (("", (2, 5)), ("NoFrameskip", 1)):
            for version, probability in STICKY.items():
                _register(
                    f"{roms.rom_id_to_name(game)}{suffix}-{version}", game, frameskip, probability, module="ale_py"
                )
