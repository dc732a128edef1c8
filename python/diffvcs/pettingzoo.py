"""Games for several players as PettingZoo environments, under PettingZoo's names.

    from diffvcs.pettingzoo import boxing_v2

    env = boxing_v2.parallel_env(obs_type="ram")   # or boxing_v2.env(), which asks one agent after the other
    observations, infos = env.reset(seed=1)

Each of the 24 names of `pettingzoo.atari` is here an object with `env`, `raw_env` and `parallel_env`, which take the same
arguments, and with `vector_env`: many games at once, with actions and rewards of shape num_envs x players (docs/players.md).
"""

from __future__ import annotations

import copy
import inspect
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

try:
    import gymnasium
    from gymnasium.utils import EzPickle
    from pettingzoo.utils import wrappers
    from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec
    from pettingzoo.utils.env import AECEnv, ParallelEnv
except ImportError as problem:
    raise ImportError("diffvcs.pettingzoo needs PettingZoo: pip install pettingzoo") from problem

from . import _c
from ._bind import whole
from ._c import lib
from .batch import ALEVectorInterface
from .cartridge import Cartridge
from .machine import Machine

AGENTS = ("first_0", "second_0", "third_0", "fourth_0")
OBSERVATIONS = ("rgb_image", "grayscale_image", "ram")


class ParallelAtariEnv(ParallelEnv[str, np.ndarray, int], EzPickle):
    """A game in which all players act at the same time.

    Args:
        game: a name, a path or a Cartridge.
        num_players: 2 or 4.
        mode_num: the mode, numbered as PettingZoo does; None: the first one for so many players.
        seed: that of the first episode. Without sticky actions a game does not depend on it.
        obs_type: "rgb_image", "grayscale_image" or "ram"; all agents observe the same.
        full_action_space: True: all 18 actions; False: those that the game uses.
        env_name: the name in `metadata`.
        max_cycles: frames after which an episode is truncated.
        render_mode: "human" or "rgb_array".
        auto_rom_install_path: a folder with ROM images; None: where diffvcs finds games.
        profile: "ale" or None: rewards as multi_agent_ale_py has them; "fixed": with the corrections in docs/players.md.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array"], "render_fps": 60}

    def __init__(
        self,
        game: str,
        num_players: int = 2,
        mode_num: int | None = None,
        seed: int | None = None,
        obs_type: str = "rgb_image",
        full_action_space: bool = False,
        env_name: str | None = None,
        max_cycles: int = 100000,
        render_mode: str | None = None,
        auto_rom_install_path: str | None = None,
        profile: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self, game, num_players, mode_num, seed, obs_type, full_action_space, env_name, max_cycles, render_mode,
            auto_rom_install_path, profile,
        )  # fmt: skip
        if obs_type not in OBSERVATIONS:
            raise ValueError(f"obs_type is one of {', '.join(OBSERVATIONS)}; {obs_type!r} is none of them")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is None, 'human' or 'rgb_array', not {render_mode!r}")
        num_players = int(whole(num_players, "num_players", 1, _c.PLAYERS_MAX))
        max_cycles = int(whole(max_cycles, "max_cycles", 1, 2**63 - 1))
        path = game if auto_rom_install_path is None else f"{auto_rom_install_path}/{game}.bin"
        settings: dict[str, Any] = {} if mode_num is None else {"mode": mode_num}
        self._use(Machine(Cartridge.find(path, profile), players=num_players, **settings), OBSERVATIONS.index(obs_type))
        self.machine.draw(obs_type != "ram" or render_mode is not None)
        self.metadata = {**type(self).metadata, "name": env_name or f"custom_{game}"}
        self.obs_type, self.max_cycles, self.render_mode = obs_type, max_cycles, render_mode
        actions = range(_c.ACTIONS) if full_action_space else self.machine.minimal_actions
        self.action_mapping = np.array(actions, np.int32)
        self._choices = dict(enumerate(actions))  # in which -1 is not the last one
        height, width = self.machine.shape
        shape = {"ram": (_c.RAM_BYTES,), "rgb_image": (height, width, 3), "grayscale_image": (height, width, 1)}[
            obs_type
        ]
        self._shape = shape
        here, more = f"{num_players}i", f"{4 * (_c.PLAYERS_MAX - num_players)}x"
        self._put_actions = struct.Struct(here).pack_into
        self._get_results = struct.Struct(f"16x{here}{more}{here}{more}4x?").unpack_from  # rewards, lives, over
        self.possible_agents = list(AGENTS[:num_players])
        self.agents = self.possible_agents[:]
        space = gymnasium.spaces.Box(0, 255, shape, np.uint8)
        self.observation_spaces = {agent: space for agent in self.possible_agents}
        self.action_spaces = {agent: gymnasium.spaces.Discrete(len(actions)) for agent in self.possible_agents}
        self._window: Any = None
        self.frame = 0
        if seed is not None:
            self.machine.reload(seed)

    def _use(self, machine: Machine, see: int) -> None:
        """Plays on this machine."""
        self.machine, self._joint = machine, _c.Joint()
        self._play = lib.bound(
            "vcs_play_players",
            own="observation",
            env=machine.handle,
            joint=self._joint,
            count=machine.players,
            see=see,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Pickled and copied environments continue the episode."""
        going_on = {"machine": copy.copy(self.machine), "agents": self.agents[:], "frame": self.frame}
        return {**EzPickle.__getstate__(self), **going_on}

    def __setstate__(self, state: dict[str, Any]) -> None:
        EzPickle.__setstate__(self, state)
        self._use(state["machine"], OBSERVATIONS.index(self.obs_type))
        self.agents, self.frame = state["agents"], state["frame"]

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """What an agent observes."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """What an agent may do."""
        return self.action_spaces[agent]

    def _observe(self) -> np.ndarray:
        if self.obs_type == "ram":
            return self.machine.ram.copy()
        if self.obs_type == "rgb_image":
            return self.machine.rgb()
        return self.machine.gray()[..., None]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, dict[str, Any]]]:
        """Starts an episode; a seed loads the game again."""
        if seed is not None:
            self.machine.reload(seed)
        self.machine.reset()
        self.agents, self.frame = self.possible_agents[:], 0
        seen = self._observe()
        return {agent: seen for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Runs one frame. Agents that are out, or that `actions` does not name, do action 0."""
        everyone, agents, joint, choices = self.possible_agents, self.agents, self._joint, self._choices
        count, seen = len(everyone), np.empty(self._shape, np.uint8)
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions are a dictionary, by agent, not {type(actions).__name__}")
        with self.machine.handle.lock:
            try:
                chosen = [choices[actions.get(agent, 0)] for agent in everyone]
            except (KeyError, TypeError):  # an array of one number, or no action
                chosen = self._chosen(actions)
            self._put_actions(joint, 0, *chosen)
            self._play(seen)
            numbers = self._get_results(joint)
        rewards, lives, over = numbers[:count], numbers[count:-1], numbers[-1]
        self.frame += 1
        truncated = self.frame >= self.max_cycles
        results: Any
        if over or truncated or len(agents) < count or min(lives) < 0:
            terminations = {agent: over or left < 0 for agent, left in zip(everyone, lives) if agent in agents}
            results = (
                dict.fromkeys(agents, seen),
                {agent: reward for agent, reward in zip(everyone, rewards) if agent in agents},
                terminations,
                dict.fromkeys(agents, truncated),
                {agent: {} for agent in agents},
            )
            self.agents = [agent for agent in agents if not (terminations[agent] or truncated)]
        else:  # everyone plays on
            going_on = dict.fromkeys(agents, False)
            infos: dict[str, Any] = {agent: {} for agent in agents}
            results = dict.fromkeys(agents, seen), dict(zip(agents, rewards)), going_on, going_on.copy(), infos
        if self.render_mode == "human":
            self.render()
        return results

    def _chosen(self, actions: dict[str, Any]) -> list[int]:
        """The players' actions as the machine numbers them; raises an error that names one which is no action."""
        most = len(self._choices) - 1
        return [
            self._choices[whole(actions.get(agent, 0), f"the action of {agent}", 0, most)]
            for agent in self.possible_agents
        ]

    def render(self) -> np.ndarray | None:
        """Returns the picture (render_mode "rgb_array"), or shows it ("human")."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode: 'human' or 'rgb_array'")
            return None
        picture = self.machine.rgb()
        if self.render_mode == "rgb_array":
            return picture
        import pygame

        size = (4 * picture.shape[1], 4 * picture.shape[0])
        if self._window is None:
            pygame.display.init()
            self._window = pygame.display.set_mode(size)
        surface = pygame.image.frombuffer(picture.tobytes(), picture.shape[1::-1], "RGB")
        self._window.blit(pygame.transform.scale(surface, size), (0, 0))
        pygame.display.flip()
        return None

    def close(self) -> None:
        """Closes the environment, and its window, if there is one: later steps raise an error."""
        self.machine.close()
        if self._window is not None:
            import pygame

            pygame.display.quit()
            self._window = None

    def clone_state(self) -> np.ndarray:
        """Returns everything that later frames depend on."""
        return self.machine.save()

    def restore_state(self, state: np.ndarray) -> None:
        """Continues from a state that clone_state returned."""
        self.machine.restore(state)

    clone_full_state, restore_full_state = clone_state, restore_state


class Environment:
    """One of PettingZoo's Atari environments: functions that make it. `choose` turns its own arguments into players and mode."""

    def __init__(self, name: str, game: str, choose: Callable[..., tuple[int, int | None]]) -> None:
        self.name, self.game, self._choose = name, game, choose

    def __repr__(self) -> str:
        return f"diffvcs.pettingzoo.{self.name}"

    def _split(self, settings: dict[str, Any]) -> tuple[int, int | None, dict[str, Any]]:
        own = {name: settings.pop(name) for name in inspect.signature(self._choose).parameters if name in settings}
        return (*self._choose(**own), settings)

    def parallel_raw_env(self, **settings: Any) -> ParallelAtariEnv:
        """The environment without wrappers, in which all agents act at the same time."""
        players, mode, others = self._split(dict(settings))
        return ParallelAtariEnv(self.game, players, mode, env_name=self.name, **others)

    def raw_env(self, **settings: Any) -> AECEnv[Any, Any, Any]:
        """The environment in which agents act one after the other, without wrappers."""
        return parallel_to_aec(self.parallel_raw_env(**settings))

    def env(self, **settings: Any) -> AECEnv[Any, Any, Any]:
        """The same with PettingZoo's checks of actions and of the order of calls."""
        return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(self.raw_env(**settings)))

    def parallel_env(self, **settings: Any) -> ParallelEnv[Any, Any, Any]:
        """The environment in which all agents act at the same time, with PettingZoo's checks."""
        return aec_to_parallel(self.env(**settings))

    def vector_env(self, num_envs: int, **settings: Any) -> ALEVectorInterface:
        """Many games at once: actions and rewards have the shape num_envs x players (batch.py has the arguments)."""
        players, mode, others = self._split(dict(settings))
        return ALEVectorInterface(self.game, num_envs, players=players, mode=mode, **others)


# ---- the environments: players and mode from each one's arguments -----------------------------------------------------

PONG = {
    2: dict(classic=4, two_paddles=10, soccer=14, foozpong=19, hockey=27, handball=35, volleyball=39, basketball=45),
    4: dict(
        classic=6, two_paddles=11, soccer=16, foozpong=21, hockey=29, quadrapong=33, handball=37, volleyball=41,
        basketball=49,
    ),
}  # fmt: skip


def _pong(num_players: int, game_version: str) -> tuple[int, int]:
    if num_players not in PONG:
        raise ValueError(f"Pong has 2 or 4 players, not {num_players}")
    if game_version not in PONG[num_players]:
        raise ValueError(
            f"Pong has no {game_version!r} for {num_players} players; there are {', '.join(PONG[num_players])}"
        )
    return num_players, PONG[num_players][game_version]


def _combat_plane(game_version: str = "bi-plane", guided_missile: bool = True) -> tuple[int, int]:
    first = {"bi-plane": 15, "jet": 21}
    if game_version not in first:
        raise ValueError(f"game_version is 'bi-plane' or 'jet', not {game_version!r}")
    return 2, first[game_version] + (not guided_missile)


def _combat_tank(has_maze: bool = True, is_invisible: bool = False, billiard_hit: bool = True) -> tuple[int, int]:
    return 2, (10 if is_invisible else 1) + (billiard_hit and (3 if is_invisible else 7)) + bool(has_maze)


def _maze_craze(game_version: str = "robbers", visibilty_level: int = 0) -> tuple[int, int]:
    games = {"robbers": 2, "race": 1, "capture": 12}
    if game_version not in games or visibilty_level not in range(4):
        raise ValueError(f"game_version is one of {', '.join(games)}, and visibilty_level goes from 0 to 3")
    return 2, 4 * (games[game_version] - 1) + visibilty_level


def _space_invaders(
    alternating_control: bool = False,
    moving_shields: bool = True,
    zigzaging_bombs: bool = False,
    fast_bomb: bool = False,
    invisible_invaders: bool = False,
) -> tuple[int, int]:
    bits = (moving_shields, zigzaging_bombs, fast_bomb, invisible_invaders, alternating_control)
    return 2, 33 + sum(bool(bit) << place for place, bit in enumerate(bits))


def _two() -> tuple[int, None]:
    return 2, None


def _four() -> tuple[int, None]:
    return 4, None


basketball_pong_v3 = Environment("basketball_pong_v3", "pong", lambda num_players=2: _pong(num_players, "basketball"))
boxing_v2 = Environment("boxing_v2", "boxing", _two)
combat_plane_v2 = Environment("combat_plane_v2", "combat", _combat_plane)
combat_tank_v2 = Environment("combat_tank_v2", "combat", _combat_tank)
double_dunk_v3 = Environment("double_dunk_v3", "double_dunk", _two)
entombed_competitive_v3 = Environment("entombed_competitive_v3", "entombed", lambda: (2, 2))
entombed_cooperative_v3 = Environment("entombed_cooperative_v3", "entombed", lambda: (2, 3))
flag_capture_v2 = Environment("flag_capture_v2", "flag_capture", _two)
foozpong_v3 = Environment("foozpong_v3", "pong", lambda num_players=4: _pong(num_players, "foozpong"))
ice_hockey_v2 = Environment("ice_hockey_v2", "ice_hockey", _two)
joust_v3 = Environment("joust_v3", "joust", _two)
mario_bros_v3 = Environment("mario_bros_v3", "mario_bros", _two)
maze_craze_v3 = Environment("maze_craze_v3", "maze_craze", _maze_craze)
othello_v3 = Environment("othello_v3", "othello", _two)
pong_v3 = Environment("pong_v3", "pong", lambda num_players=2, game_version="classic": _pong(num_players, game_version))
quadrapong_v4 = Environment("quadrapong_v4", "pong", lambda: _pong(4, "quadrapong"))
space_invaders_v2 = Environment("space_invaders_v2", "space_invaders", _space_invaders)
space_war_v2 = Environment("space_war_v2", "space_war", _two)
surround_v2 = Environment("surround_v2", "surround", _two)
tennis_v3 = Environment("tennis_v3", "tennis", _two)
video_checkers_v4 = Environment("video_checkers_v4", "video_checkers", _two)
volleyball_pong_v3 = Environment("volleyball_pong_v3", "pong", lambda num_players=4: _pong(num_players, "volleyball"))
warlords_v3 = Environment("warlords_v3", "warlords", _four)
wizard_of_wor_v3 = Environment("wizard_of_wor_v3", "wizard_of_wor", _two)

environments: dict[str, Environment] = {
    value.name: value for value in list(globals().values()) if isinstance(value, Environment)
}


def modes(game: str, players: int) -> list[int]:
    """Returns the modes of a game for so many players.

    Example:
        >>> diffvcs.pettingzoo.modes("tennis", 2)
        [2, 4]
    """
    numbers = np.zeros(_c.MODES_MAX, np.int32)
    return numbers[: lib.vcs_cart_modes(Cartridge.find(game).handle, players, numbers)].tolist()
