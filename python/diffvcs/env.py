"""Gymnasium environments: ale-py's AtariEnv on our machine, with the same arguments."""

from __future__ import annotations

import copy
import operator
from typing import Any, Literal

import numpy as np

try:
    import gymnasium
    from gymnasium import error, spaces
    from gymnasium.utils import EzPickle, seeding
except ImportError as problem:
    raise ImportError("environments need Gymnasium: pip install gymnasium") from problem

from . import _c, roms
from ._c import lib
from .meanings import Meanings
from .ale import Action, ALEInterface, ALEState, LoggerMode

KEYS = {"UP": "w", "LEFT": "a", "RIGHT": "d", "DOWN": "s", "FIRE": " "}
OBSERVATIONS = ("rgb", "grayscale", "ram")
DERIVED = ("objects", "variables")  # made from what the machine holds


def continuous_space() -> spaces.Box:
    """The space of continuous actions: radius, angle, fire."""
    low, high = np.array([0, -np.pi, 0], np.float32), np.array([1, np.pi, 1], np.float32)
    return spaces.Box(low, high, dtype=np.float32)


def check_frameskip(frameskip: int | tuple[int, int]) -> None:
    """Checks a frame skip: a positive number, or a range (low, high) to draw one from."""
    if type(frameskip) is int:
        fine = frameskip > 0
    else:
        fine = type(frameskip) is tuple and len(frameskip) == 2 and 0 < frameskip[0] < frameskip[1]
    if not fine:
        raise error.Error(f"frameskip is a positive number, or a tuple 0 < low < high; {frameskip!r} is neither")


class AtariEnv(gymnasium.Env, EzPickle):
    """A game. Defaults are those of Machado et al. 2018, as in ale-py.

    Args:
        game: its name in snake_case, such as "ms_pacman".
        mode, difficulty: the variation; None: the game's default.
        obs_type: "rgb", "grayscale" or "ram"; or "objects": 64 rows of kind, x, y, w, h, colour, reflected, id (-1: no object;
            without the playfield); or "variables": the bytes of positions, directions and counters (meanings.py).
        objects: info["objects"] has the objects of the last frame (Machine.objects), with their ids.
        frameskip: frames a step, or a range to draw it from.
        repeat_action_probability: of sticky actions.
        full_action_space: all 18 actions instead of those that do something.
        continuous: actions are radius, angle and fire, which count from continuous_action_threshold on.
        max_num_frames_per_episode: episodes are truncated then.
        render_mode: "human" opens a window (pip install pygame-ce), "rgb_array" makes render() return the picture.
        sound_obs: observations are {"image": ..., "sound": 512 samples}.
    """

    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 30}

    def __init__(
        self,
        game: str,
        mode: int | None = None,
        difficulty: int | None = None,
        obs_type: Literal["rgb", "grayscale", "ram", "objects", "variables"] = "rgb",
        frameskip: tuple[int, int] | int = 4,
        repeat_action_probability: float = 0.25,
        full_action_space: bool = False,
        continuous: bool = False,
        continuous_action_threshold: float = 0.5,
        max_num_frames_per_episode: int | None = None,
        render_mode: Literal["human", "rgb_array"] | None = None,
        sound_obs: bool = False,
        objects: bool = False,
    ) -> None:
        if obs_type not in OBSERVATIONS + DERIVED:
            raise error.Error(f"obs_type is one of {', '.join(OBSERVATIONS + DERIVED)}; {obs_type!r} is none of them")
        if render_mode not in (None, "human", "rgb_array"):
            raise error.Error(f"render_mode is human, rgb_array or None; {render_mode!r} is none of them")
        check_frameskip(frameskip)
        EzPickle.__init__(
            self, game, mode, difficulty, obs_type, frameskip, repeat_action_probability, full_action_space, continuous,
            continuous_action_threshold, max_num_frames_per_episode, render_mode, sound_obs, objects,
        )  # fmt: skip
        self._game, self._variation = game, (mode, difficulty)
        self._frameskip, self._obs_type = frameskip, obs_type
        self._objects, self._last_objects = objects or obs_type == "objects", np.zeros(0, np.dtype(_c.Object))
        self._objects_in_info = objects
        self._variables = Meanings(game).variable_bytes() if obs_type == "variables" else None
        self.render_mode, self.sound_obs = render_mode, sound_obs
        self.continuous, self.continuous_action_threshold = continuous, continuous_action_threshold

        self.ale = ALEInterface()
        self.ale.setLoggerMode(LoggerMode.Error)
        self.ale.setFloat("repeat_action_probability", repeat_action_probability)
        if max_num_frames_per_episode is not None:
            self.ale.setInt("max_num_frames_per_episode", max_num_frames_per_episode)
        self.ale.setBool("display_screen", render_mode == "human")
        self.ale.setBool("sound", render_mode == "human")
        self.ale.setBool("sound_obs", sound_obs)
        self.seed_game()
        self.load_game()
        everything = full_action_space or continuous
        self._action_set = self.ale.getLegalActionSet() if everything else self.ale.getMinimalActionSet()
        self._choices = [int(action) for action in self._action_set]
        self.action_space = continuous_space() if continuous else spaces.Discrete(len(self._action_set))
        self.observation_space = self._space()
        self._seen = _c.Seen()
        self._played_on: _c.Env | None = None
        self._begun = False  # reset() has been called
        self._play: Any = None
        self._see = OBSERVATIONS.index("ram" if obs_type in DERIVED else obs_type)
        self._shape = self._image_shape()

    def _image_shape(self) -> tuple[int, ...]:
        screen = self.ale.getScreenDims()
        return {"rgb": (*screen, 3), "grayscale": screen}.get(self._obs_type, (self.ale.getRAMSize(),))

    def _space(self) -> spaces.Space[Any]:
        image: spaces.Space[Any] = spaces.Box(0, 255, self._image_shape(), np.uint8)
        if self._obs_type == "objects":
            image = spaces.Box(low=-1, high=32767, shape=(_c.OBJECT_ROWS, _c.OBJECT_COLUMNS), dtype=np.int16)
        elif self._variables is not None:
            image = spaces.Box(0, 255, (len(self._variables),), np.uint8)
        if not self.sound_obs:
            return image
        return spaces.Dict(image=image, sound=spaces.Box(0, 255, (self.ale.getAudioSize(),), np.uint8))

    # ---- seeds and episodes ----------------------------------------------------------------------------------------

    def seed_game(self, seed: int | None = None) -> tuple[np.uint32, np.uint32]:
        """Seeds the generator of frame skips, and the game's generator for the next time it is loaded."""
        own, game = np.random.SeedSequence(seed).generate_state(n_words=2)
        self._np_random, _ = seeding.np_random(int(own))
        self.ale.setInt("random_seed", int(game.astype(np.int32)))
        return own, game

    def load_game(self) -> None:
        """Loads the game, in its mode and difficulty."""
        self.ale.loadROM(roms.require(self._game))
        mode, difficulty = self._variation
        if mode is not None:
            self.ale.setMode(mode)
        if difficulty is not None:
            self.ale.setDifficulty(difficulty)
        if self._objects:
            self.ale.machine.record_objects()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray | dict[str, np.ndarray], dict[str, Any]]:
        super().reset(seed=seed, options=options)
        seeds = None
        if seed is not None:
            seeds = self.seed_game(seed)
            self.load_game()
        self.ale.reset_game()
        self._begun = True
        observation, info = self._get_obs(), self._numbers()
        if seeds is not None:
            info["seeds"] = seeds
        return observation, info

    # ---- steps -----------------------------------------------------------------------------------------------------

    def step(
        self, action: int | np.ndarray
    ) -> tuple[np.ndarray | dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        if not self._begun:
            raise error.ResetNeeded("step() comes after reset(): call env.reset() first")
        frameskip = self._frameskip
        if isinstance(frameskip, tuple):
            frameskip = int(self.np_random.integers(*frameskip))
        choice: int
        if self.continuous:
            choice, strength = self._direct(action)
        else:
            choice, strength = self._choices[self._number(action)], 1.0
        seen, image, ale = self._seen, np.empty(self._shape, np.uint8), self.ale
        assert ale._env is not None  # load_game has loaded it
        if self._played_on is not ale._env:  # loaded, and loaded again
            self._play = ale.machine.bound_step(self._see, seen, self._objects)
            self._played_on = ale._env  # set last, because another thread may read it
        with ale._env.lock:
            if ale._window is None:
                self._play(choice, strength, frameskip, image)
                if self._objects:
                    self._last_objects = ale.machine.listed()
                reward = float(seen.reward)
            else:  # every frame is seen
                reward = sum(ale.act(choice, strength) for _ in range(frameskip))
                lib.vcs_see(ale._env, self._see, image, seen)
                self._list_objects()
            return (
                self._with_sound(self._shown(image)),
                float(reward),
                bool(seen.over),
                bool(seen.truncated),
                self._numbers(),
            )

    def _number(self, action: Any) -> int:
        """The action as a number of this environment's set; of any integer type, also of NumPy, PyTorch and JAX."""
        if type(action) is not int:
            if isinstance(action, (np.ndarray, np.generic)) and (action.dtype.kind not in "iu" or action.size != 1):
                raise TypeError(f"an action is one whole number, not {action!r}")
            try:
                action = operator.index(action.item() if isinstance(action, np.ndarray) else action)
            except TypeError:
                raise TypeError(f"an action is a whole number, not {action!r}") from None
        if not 0 <= action < len(self._choices):
            raise _c.BadArgument(f"an action is {action}, but this environment has 0 to {len(self._choices) - 1}")
        return action

    def _direct(self, action: int | np.ndarray) -> tuple[Action, float]:
        if not isinstance(action, np.ndarray) or action.dtype != np.float32 or action.shape != (3,):
            raise ValueError("a continuous action is a float32 array of radius, angle and fire")
        radius, angle, fire = action
        x, y, enough = radius * np.cos(angle), radius * np.sin(angle), self.continuous_action_threshold
        across, along = int(x > enough) - int(x < -enough), int(y > enough) - int(y < -enough)
        return self.map_action_idx(across, along, bool(fire > enough)), radius

    @staticmethod
    def map_action_idx(left_center_right: int, down_center_up: int, fire: bool) -> Action:
        """Returns the action of a joystick held in these directions (-1, 0 or 1)."""
        try:
            name = ("DOWN", "", "UP")[down_center_up + 1] + ("LEFT", "", "RIGHT")[left_center_right + 1]
        except IndexError:
            raise LookupError(f"directions are -1, 0 or 1, not {left_center_right} and {down_center_up}") from None
        return Action[name + "FIRE" * bool(fire) or "NOOP"]

    def render(self) -> np.ndarray | None:
        if self.render_mode == "rgb_array":
            return self.ale.getScreenRGB()
        if self.render_mode == "human":
            return None
        raise error.Error('there is nothing to render: make the environment with render_mode="rgb_array" or "human"')

    def _with_sound(self, image: np.ndarray) -> np.ndarray | dict[str, np.ndarray]:
        if not self.sound_obs:
            return image
        sound = self.ale.getAudio()
        assert sound is not None  # it is filled in place only where an array is given
        return {"image": image, "sound": sound}

    def _numbers(self) -> dict[str, Any]:
        seen = self._seen
        numbers = {
            "lives": seen.lives,
            "episode_frame_number": seen.episode_frame_number,
            "frame_number": seen.frame_number,
        }
        return {**numbers, "objects": self._last_objects} if self._objects_in_info else numbers

    def _get_obs(self) -> np.ndarray | dict[str, np.ndarray]:
        """The present observation."""
        image = np.empty(self._shape, np.uint8)
        lib.vcs_see(self.ale.machine.handle, self._see, image, self._seen)
        self._list_objects()
        return self._with_sound(self._shown(image))

    def _list_objects(self) -> None:
        if self._objects:
            self._last_objects = self.ale.machine.objects(track=True)

    def _shown(self, image: np.ndarray) -> np.ndarray:
        """The observation, from what the machine gave."""
        if self._obs_type == "objects":
            rows = np.empty((_c.OBJECT_ROWS, _c.OBJECT_COLUMNS), np.int16)
            lib.vcs_object_rows(self._last_objects, len(self._last_objects), rows)
            return rows
        return image if self._variables is None else image[self._variables]

    def _get_info(self) -> dict[str, Any]:
        nothing = np.empty(0, np.uint8)
        lib.vcs_see(self.ale.machine.handle, len(OBSERVATIONS), nothing, self._seen)  # the numbers alone
        return self._numbers()

    # ---- what people ask -------------------------------------------------------------------------------------------

    def get_action_meanings(self) -> list[str]:
        return [Action(action).name for action in self._action_set]

    def get_keys_to_action(self) -> dict[tuple[str, ...], int]:
        """Returns the keys to play with: w, a, s, d, space; e for NOOP."""
        if self.continuous:
            raise AttributeError(
                "`get_keys_to_action` can't be provided for this Atari environment as `continuous=True`."
            )
        found = {}
        for i, name in enumerate(self.get_action_meanings()):
            found[tuple(key for part, key in KEYS.items() if part in name) or ("e",)] = i
        return found

    def ram_variables(self) -> dict[str, int]:
        """The values of the bytes that have a meaning, by name: "player 0 x", "score", ..."""
        return self.ale.machine.variables()

    def intervene(self, meaning: str, value: int, check: bool = True) -> bool:
        """Sets what a byte means, as in env.intervene("player 0 x", 80), and says whether it has the effect
        (Machine.intervene)."""
        return self.ale.machine.intervene(meaning, value, check=check)

    def clone_state(self, include_rng: bool = False) -> ALEState:
        return self.ale.cloneState(include_rng=include_rng)

    def restore_state(self, state: ALEState) -> None:
        self.ale.restoreState(state)
        self._begun = True

    def __getstate__(self) -> dict[str, Any]:
        """Pickled and copied environments continue the episode."""
        return {
            **EzPickle.__getstate__(self),
            "settings": dict(self.ale._settings),
            "machine": copy.copy(self.ale.machine),
            "generator": copy.deepcopy(self._np_random),
            "begun": self._begun,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        made = type(self)(*state["_ezpickle_args"], **state["_ezpickle_kwargs"])
        self.__dict__.update(made.__dict__)
        self.ale._settings = state["settings"]
        self.ale._use(state["machine"])
        self._np_random, self._begun = state["generator"], state["begun"]

    def close(self) -> None:
        """Closes the environment: later steps raise an error."""
        self.ale.machine.close()
        if self.ale._window is not None:
            self.ale._window.close()
            self.ale._window = None
