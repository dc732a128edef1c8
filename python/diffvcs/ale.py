"""ale-py's interface on our machine: the same names, the same results.

    from diffvcs import ALEInterface      # instead of: from ale_py import ALEInterface

Settings take effect when a ROM is loaded, as in ale-py, and have its defaults. Where ale-py would crash (acting without a ROM,
for example), an exception is raised.
"""

from __future__ import annotations

import ctypes
import enum
import os
import struct
import time
from typing import Any
from pathlib import Path

import numpy as np

from . import _c, png, roms
from ._bind import fraction, whole
from ._c import lib
from .cartridge import Cartridge
from .machine import ACTION_NAMES, Machine

Action = enum.IntEnum("Action", [(n, i) for i, n in enumerate(ACTION_NAMES)], module=__name__)  # type: ignore[misc]
Action.__doc__ = "The 18 actions of a joystick, by the names and numbers of ale-py."


class LoggerMode(enum.IntEnum):
    """The levels of ale-py's log, which the library does not write."""

    Info = 0
    Warning = 1
    Error = 2


DEFAULTS: dict[str, int | float | bool | str] = {
    "random_seed": -1,  # the time
    "frame_skip": 1,
    "max_num_frames": 0,
    "max_num_frames_per_episode": 0,
    "reward_min": -(2**31),
    "reward_max": 2**31 - 1,
    "repeat_action_probability": 0.25,
    "color_averaging": False,
    "truncate_on_loss_of_life": False,
    "sound_obs": False,
    "display_screen": False,
    "sound": False,
    "record_screen_dir": "",
    "record_sound_filename": "",
    "rom_file": "",
}


NOT_RECORDED = {  # settings that have no effect here: any value but "" is refused
    "record_screen_dir": "saveScreenPNG writes the picture of a frame",
    "record_sound_filename": 'after setBool("sound_obs", True), getAudio returns the sound of a step',
}


class ALEState:
    """A cloned state. Two states are equal if every later frame is; states without generators, if it would be with the same ones."""

    _HEADER = struct.Struct("<4s?qqii")

    def __init__(self, serialized: bytes = b"") -> None:
        if not isinstance(serialized, (bytes, bytearray, memoryview)):
            raise TypeError(f"a state is the bytes that ALEState.serialize gave, not {type(serialized).__name__}")
        self._bytes = serialized = bytes(serialized)
        if not serialized:
            self._fields, self._state = (b"ALES", False, 0, 0, 0, 0), b""
            return
        if len(serialized) < self._HEADER.size or serialized[:4] != b"ALES":
            raise ValueError("these bytes are no state that ALEState.serialize gave")
        self._fields = self._HEADER.unpack_from(self._bytes)
        self._state = self._bytes[self._HEADER.size :]

    @classmethod
    def _of(cls, machine: Machine, include_rng: bool) -> ALEState:
        options = machine._settings()
        header = cls._HEADER.pack(
            b"ALES", include_rng, machine.frame_number, machine.episode_frame_number, options.mode, options.difficulty
        )
        return cls(header + machine.save(generators=include_rng).tobytes())

    def _into(self, machine: Machine) -> None:
        machine.restore(np.frombuffer(self._state, np.uint8), generators=self._fields[1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ALEState) and self._bytes == other._bytes

    def equals(self, other: ALEState) -> bool:
        return self == other

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return ALEState, (self._bytes,)

    def serialize(self) -> bytes:
        return self._bytes

    def getFrameNumber(self) -> int:
        return self._fields[2]

    def getEpisodeFrameNumber(self) -> int:
        return self._fields[3]

    def getCurrentMode(self) -> int:
        return self._fields[4]

    def getDifficulty(self) -> int:
        return self._fields[5]


class ALEInterface:
    """A game, by ale-py's method names.

    Example:
        >>> ale = diffvcs.ALEInterface()
        >>> ale.loadROM("demo")
        >>> ale.act(0), ale.getScreenDims()
        (0, (210, 160))
    """

    def __init__(self) -> None:
        self._settings = dict(DEFAULTS)
        self._machine: Machine | None = None
        self._env: _c.Env | None = None
        self._window: Any = None

    @property
    def machine(self) -> Machine:
        """The Machine below: its fields by name, its derivatives."""
        if self._machine is None:
            raise RuntimeError("no ROM is loaded: call loadROM first")
        return self._machine

    # ---- settings --------------------------------------------------------------------------------------------------

    def _set(self, key: str, value: Any, kind: type) -> None:
        known = DEFAULTS.get(key)
        if known is None:
            raise RuntimeError(f"there is no setting {key!r}; there are {', '.join(DEFAULTS)}")
        if key in NOT_RECORDED and value:
            raise RuntimeError(f"{key}: this interface records nothing by itself; {NOT_RECORDED[key]}")
        if kind is int:
            value = whole(value, key, -(2**31), 2**31 - 1)
        elif kind is float:
            value = fraction(value, key, ctypes.c_double)
        self._settings[key] = type(known)(kind(value))

    def setInt(self, key: str, value: int) -> None:
        self._set(key, value, int)

    def setFloat(self, key: str, value: float) -> None:
        self._set(key, value, float)

    def setBool(self, key: str, value: bool) -> None:
        self._set(key, value, bool)

    def setString(self, key: str, value: str) -> None:
        self._set(key, value, str)

    def getInt(self, key: str) -> int:
        return int(self._settings.get(key, -1))

    def getFloat(self, key: str) -> float:
        return float(self._settings.get(key, -1.0))

    def getBool(self, key: str) -> bool:
        return bool(self._settings.get(key, False))

    def getString(self, key: str) -> str:
        return str(self._settings.get(key, ""))

    @staticmethod
    def setLoggerMode(mode: LoggerMode) -> None:
        LoggerMode(mode)  # there is nothing to log, but a wrong mode is one

    # ---- loading ---------------------------------------------------------------------------------------------------

    @staticmethod
    def isSupportedROM(rom: str | os.PathLike[str]) -> str | None:
        """Returns the game's name if the library knows the content of the image, else None."""
        path = Path(rom)
        if not path.is_file() and str(path) != roms.DEMO:
            raise RuntimeError(f"there is no ROM image {path}")
        try:
            return Cartridge(Cartridge._read(str(path))[0]).game  # by content alone
        except _c.VCSError:
            return None

    def loadROM(self, rom: str | os.PathLike[str]) -> None:
        path = Path(rom)
        if not path.is_file() and str(path) != roms.DEMO:
            raise RuntimeError(f"there is no ROM image {path}")
        settings: dict[str, Any] = self._settings
        seed = settings["random_seed"]
        machine = Machine(
            Cartridge.find(path),
            seed=(time.time_ns() // 1_000_000 if seed == -1 else seed) & 0xFFFFFFFF,
            frame_skip=max(settings["frame_skip"], 1),
            repeat_action_probability=settings["repeat_action_probability"],
            max_episode_frames=max(settings["max_num_frames_per_episode"], 0),
            reward_min=settings["reward_min"],
            reward_max=settings["reward_max"],
            life_loss=int(settings["truncate_on_loss_of_life"]),
            colour_averaging=settings["color_averaging"],
        )
        settings["rom_file"] = str(path)
        machine.listen(settings["sound_obs"] or settings["sound"])
        self._use(machine)

    def _use(self, machine: Machine) -> None:
        """Plays on this machine."""
        self._machine, self._env = machine, machine.handle
        self._legal = [Action(a) for a in machine.legal_actions]
        self._minimal = [Action(a) for a in machine.minimal_actions]
        if self._settings["display_screen"] and self._window is None:
            from .window import Window

            self._window = Window(Path(str(self._settings["rom_file"])).stem, machine, bool(self._settings["sound"]))
        elif self._window:
            self._window.machine = machine

    def __getstate__(self) -> dict[str, Any]:
        """Pickled and copied interfaces go on from the same state."""
        return {"settings": dict(self._settings), "machine": self._machine}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self._settings = state["settings"]
        if state["machine"] is not None:
            self._use(state["machine"])

    def _vary(self, **variation: int) -> None:
        try:
            self.machine.configure(**variation)
        except _c.VCSError as problem:  # exactly a RuntimeError, as in ale-py
            raise RuntimeError(str(problem)) from None

    def setMode(self, mode: int) -> None:
        self._vary(mode=mode)

    def setDifficulty(self, difficulty: int) -> None:
        self._vary(difficulty=difficulty)

    def getAvailableModes(self) -> list[int]:
        return self.machine.modes

    def getAvailableDifficulties(self) -> list[int]:
        return self.machine.difficulties

    def getLegalActionSet(self) -> list[Action]:
        return list(self._legal) if self._machine else list(Action)

    def getMinimalActionSet(self) -> list[Action]:
        return list(self._minimal) if self.machine else []

    # ---- playing ---------------------------------------------------------------------------------------------------

    def reset_game(self) -> None:
        self.machine.reset()

    def act(self, action: Action | int, paddle_strength: float = 1.0) -> int:
        if self._env is None or not 0 <= action < _c.ACTIONS:
            self.machine.act(action)  # which says what is wrong
        reward = lib.vcs_env_act_strength(self._env, action, 0, paddle_strength, 1.0)
        if self._window is not None:
            self._window.show()
        return reward

    def game_over(self, with_truncation: bool = True) -> bool:
        env = self._env or self.machine.handle
        return bool(lib.vcs_env_over(env) or (with_truncation and lib.vcs_env_truncated(env)))

    def game_truncated(self) -> bool:
        return bool(lib.vcs_env_truncated(self._env or self.machine.handle))

    def lives(self) -> int:
        return lib.vcs_env_lives(self._env or self.machine.handle)

    def getFrameNumber(self) -> int:
        return lib.vcs_env_frame_number(self._env or self.machine.handle)

    def getEpisodeFrameNumber(self) -> int:
        return lib.vcs_env_episode_frame_number(self._env or self.machine.handle)

    # ---- looking ---------------------------------------------------------------------------------------------------

    @staticmethod
    def _fill(array: np.ndarray | None, source: np.ndarray) -> np.ndarray | None:
        if array is None:
            return source
        if not isinstance(array, np.ndarray) or array.dtype != np.uint8 or array.size != source.size:
            raise TypeError(
                "incompatible function arguments. The following argument types are supported: "
                f"nothing, or a uint8 array of shape {source.shape}"
            )
        array.reshape(source.shape)[...] = source
        return None

    def getScreenDims(self) -> tuple[int, int]:
        return self.machine.shape

    def getScreen(self, array: np.ndarray | None = None) -> np.ndarray | None:
        return self._fill(array, self.machine.screen())

    def getScreenRGB(self, array: np.ndarray | None = None) -> np.ndarray | None:
        return self._fill(array, self.machine.rgb())

    def getScreenGrayscale(self, array: np.ndarray | None = None) -> np.ndarray | None:
        return self._fill(array, self.machine.gray())

    def saveScreenPNG(self, path: str | os.PathLike[str]) -> None:
        png.write(path, self.machine.rgb())

    def getRAMSize(self) -> int:
        return _c.RAM_BYTES

    def getRAM(self, array: np.ndarray | None = None) -> np.ndarray | None:
        return self._fill(array, self.machine.ram.copy())

    def setRAM(self, index: int, value: int) -> None:
        if not 0 <= value <= 255:
            raise TypeError(f"incompatible function arguments: a byte is a number from 0 to 255, and {value} is none")
        self.machine.set_ram(index, value)

    def getAudioSize(self) -> int:
        return _c.SOUND_SAMPLES

    def getAudio(self, array: np.ndarray | None = None) -> np.ndarray | None:
        if not (self._settings["sound_obs"] or self._settings["sound"]):
            raise RuntimeError('there is no sound: setBool("sound_obs", True) before loadROM')
        return self._fill(array, self.machine.sound)

    # ---- states ----------------------------------------------------------------------------------------------------

    def cloneState(self, *, include_rng: bool = False) -> ALEState:
        return ALEState._of(self.machine, include_rng)

    def restoreState(self, state: ALEState) -> None:
        if not isinstance(state, ALEState):
            raise TypeError(f"a state is what cloneState gave, not {type(state).__name__}")
        state._into(self.machine)

    def cloneSystemState(self) -> ALEState:
        return self.cloneState(include_rng=True)

    def restoreSystemState(self, state: ALEState) -> None:
        self.restoreState(state)
