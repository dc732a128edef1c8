"""A machine that plays: what it holds, what it shows, and how time goes on.

`Machine` is a vcs_env_t, the console with the rules of its game: nothing is hidden in it. `state` is every field by name,
seen in place; `save` is all of it as bytes, and `restore` makes every later frame the same.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _arrays, _c
from ._bind import whole
from ._c import lib
from .annotations import Meanings
from .cartridge import Cartridge

ACTION_NAMES: list[str] = [lib.vcs_action_name(i) for i in range(_c.ACTIONS)]
INPUT_NAMES: list[str] = [
    f"{player}{key}" for player in ("", "p2_") for key in ("up", "down", "left", "right", "fire")
] + ["reset", "select"]
OBJECTS = ("player 0", "player 1", "missile 0", "missile 1", "ball", "playfield")  # kinds of objects
OPTIONS = [name for name, *_ in _c.EnvOptions._fields_ if name != "reserved"]  # all of them numbers


def action_number(action: int | float | str) -> int:
    """An action by number or name, checked."""
    if isinstance(action, str):
        if action.upper() not in ACTION_NAMES:
            raise ValueError(f"no action {action!r}; there are {', '.join(ACTION_NAMES)}")
        return ACTION_NAMES.index(action.upper())
    if isinstance(action, float) and action.is_integer():
        action = int(action)
    return whole(action, "an action", 0, _c.ACTIONS - 1)


def inputs_of(action: int | str, player: int = 0) -> np.ndarray:
    """What an action holds down, as the twelve inputs that have derivatives (INPUT_NAMES)."""
    held = np.zeros(_c.INPUTS, np.float32)
    name = ACTION_NAMES[action_number(action)]
    for i, key in enumerate(("UP", "DOWN", "LEFT", "RIGHT", "FIRE")):
        held[5 * player + i] = key in name
    return held


class Machine:
    """A cartridge being played. Options are those of vcs_env_options_t, without sticky actions unless asked for:
    frame_skip, repeat_action_probability, seed, max_episode_frames, noop_max, reward_min, reward_max, mode, difficulty,
    life_loss, fire_reset, colour_averaging.
    """

    def __init__(self, cart: Cartridge | str | os.PathLike[str], profile: str = "ale", **options: Any) -> None:
        self.cart = Cartridge.find(cart, profile)
        settings = _c.EnvOptions()
        lib.vcs_env_defaults(self.cart.handle, settings)
        settings.repeat_action_probability = 0
        self._change(settings, options)
        self.handle = lib.vcs_env_create_with(self.cart.handle, settings)
        self._state = lib.vcs_env_machine(self.handle)
        self._ram = lib.vcs_env_ram(self.handle)
        self._seen_state = np.frombuffer(memoryview(self._state).toreadonly(), self.cart.state_dtype).reshape(())
        self._meanings: Meanings | None = None
        self._tracks = np.zeros(_c.TRACK_BYTES, np.uint8)
        self.shape: tuple[int, int] = (lib.vcs_env_height(self.handle), _c.WIDTH)

    def __repr__(self) -> str:
        return f"Machine({self.cart!r}, frame {self.frame_number})"

    # ---- options ---------------------------------------------------------------------------------------------------

    @staticmethod
    def _change(settings: Any, options: dict[str, Any]) -> None:
        for name, value in options.items():
            if name not in OPTIONS:
                raise TypeError(f"no option {name!r}; there are {', '.join(OPTIONS)}")
            setattr(settings, name, value)

    def _settings(self) -> Any:
        return lib.vcs_env_options(self.handle)

    def configure(self, **options: Any) -> None:
        """Changes options. The mode counts from the next reset on, the seed from the next reload, others from now."""
        with self.handle.lock:
            settings = self._settings()
            self._change(settings, options)
            lib.vcs_env_configure(self.handle, settings)

    @property
    def options(self) -> dict[str, Any]:
        settings = self._settings()
        return {name: getattr(settings, name) for name in OPTIONS}

    def _numbers(self, list_them: Any, most: int) -> list[int]:
        numbers = np.zeros(most, np.int32)
        return numbers[: list_them(self.handle, numbers)].tolist()

    @property
    def minimal_actions(self) -> list[int]:
        return self._numbers(lib.vcs_env_minimal_actions, _c.ACTIONS)

    @property
    def legal_actions(self) -> list[int]:
        return self._numbers(lib.vcs_env_legal_actions, _c.ACTIONS)

    @property
    def modes(self) -> list[int]:
        return self._numbers(lib.vcs_env_modes, _c.MODES_MAX)

    @property
    def difficulties(self) -> list[int]:
        return self._numbers(lib.vcs_env_difficulties, _c.DIFFICULTIES_MAX)

    # ---- time ------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Starts an episode."""
        lib.vcs_env_reset(self.handle)

    def reload(self, seed: int) -> None:
        """As if it had just been made, with this seed."""
        lib.vcs_env_reload(self.handle, seed & 0xFFFFFFFF)

    def act(self, action: int | str, strength: float = 1.0, player_b: int | str = 0, strength_b: float = 1.0) -> int:
        """One step, and its reward. Nothing happens once the game is over or truncated."""
        return lib.vcs_env_act_strength(
            self.handle, action_number(action), action_number(player_b), strength, strength_b
        )

    def act_on(self, action: int | str, player_b: int | str = 0) -> int:
        """One frame of just this action: no frame skip, no sticky actions, and on after the game is over."""
        return lib.vcs_env_act_on(self.handle, action_number(action), action_number(player_b))

    # ---- what it shows ---------------------------------------------------------------------------------------------

    @property
    def lives(self) -> int:
        return lib.vcs_env_lives(self.handle)

    @property
    def over(self) -> bool:
        return bool(lib.vcs_env_over(self.handle))

    @property
    def truncated(self) -> bool:
        return bool(lib.vcs_env_truncated(self.handle))

    @property
    def done(self) -> bool:
        return bool(lib.vcs_env_done(self.handle))

    @property
    def frame_number(self) -> int:
        return lib.vcs_env_frame_number(self.handle)

    @property
    def episode_frame_number(self) -> int:
        return lib.vcs_env_episode_frame_number(self.handle)

    @property
    def ram(self) -> np.ndarray:
        """The 128 bytes, seen in place; read only (write them with `set`)."""
        return self._ram

    def _picture(self, fill: Any, shape: tuple[int, ...], out: np.ndarray | None) -> np.ndarray:
        if out is None:
            out = np.empty(shape, np.uint8)
        elif not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.uint8 or not out.flags.carray:
            raise TypeError(f"a picture goes into a writable, contiguous uint8 array of shape {shape}")
        fill(self.handle, out)
        return out

    def screen(self, out: np.ndarray | None = None) -> np.ndarray:
        """The picture in palette indices."""
        return self._picture(lib.vcs_env_screen_indices, self.shape, out)

    def rgb(self, out: np.ndarray | None = None) -> np.ndarray:
        return self._picture(lib.vcs_env_screen_rgb, (*self.shape, 3), out)

    def gray(self, out: np.ndarray | None = None) -> np.ndarray:
        return self._picture(lib.vcs_env_screen_gray, self.shape, out)

    def objects(self, playfield: bool = True, track: bool = False) -> np.ndarray:
        """What the TIA drew in the last frame, an entry for each object, top to bottom: x, y, w, h, colour, kind (OBJECTS)
        and the other fields of vcs_object_t. `track`: objects keep their `id` from one call to the next; call it once per
        frame."""
        found = np.zeros(_c.OBJECTS_MAX, np.dtype(_c.Object))
        found = found[: lib.vcs_env_objects(self.handle, found, _c.OBJECTS_MAX)]
        if track:
            lib.vcs_track(self._tracks, found, len(found))
        return found if playfield else found[found["kind"] != 5]

    def listen(self, on: bool = True) -> None:
        """Whether steps make sound."""
        lib.vcs_env_set_sound(self.handle, on)

    def draw(self, on: bool = True) -> None:
        """Whether frames are drawn; not drawing is faster."""
        lib.vcs_env_set_drawing(self.handle, on)

    @property
    def sound(self) -> np.ndarray:
        """The 512 samples of the last step."""
        return lib.vcs_env_sound(self.handle).copy()

    # ---- what it holds ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> np.ndarray:
        """Every field of the machine by name, seen in place: state["ram"], state["pc"], state.dtype.names. Read only,
        because not every value is one a machine can have; `set` writes, and checks."""
        return self._seen_state

    @property
    def bits(self) -> np.ndarray:
        """The machine as the floats that have derivatives: 8 for each byte, lowest bit first."""
        return np.unpackbits(self._state, bitorder="little").astype(np.float32)

    def set(self, meaning: str | None = None, value: int | None = None, /, **fields: Any) -> None:
        """Writes fields by name, as in machine.set(ram=values, a=3); refuses, changing nothing, what cannot be.
        Or sets what a byte means, as in machine.set("player 0 x", 80), by the game's annotations; `intervene` checks the
        result."""
        if meaning is not None:
            if value is None:
                raise TypeError('a meaning needs a value: machine.set("player 0 x", 80)')
            self.set_ram(*self.meanings.value(meaning, value))
        with self.handle.lock:
            self._set(fields)

    @property
    def meanings(self) -> Meanings:
        """The bytes of RAM by meaning (annotations.py)."""
        if self._meanings is None:
            self._meanings = Meanings(self.cart.game or self.cart.name)
        return self._meanings

    def variables(self) -> dict[str, int]:
        """The values of the bytes that have a meaning, by name."""
        return self.meanings.variables(self.ram)

    def intervene(self, meaning: str, value: int, frames: int = 3, check: bool = True) -> bool:
        """Sets what a byte means and, with `check`, runs a few frames of a copy: whether the object is then at that pixel,
        or the byte has that value. The machine itself does not run."""
        self.set(meaning, value)
        if not check:
            return True
        byte, role = self.meanings.find(meaning)
        kept = self.save()
        try:
            for _ in range(frames):
                self.act_on(0)
                if role["role"] not in ("x", "y"):
                    return bool(self.ram[byte] == value)
                kind = OBJECTS.index(role["object"].split(" #")[0])
                seen = self.objects()
                seen = seen[seen["kind"] == kind]
                if (abs(seen[role["role"]].astype(int) - value) <= 2).any():
                    return True
            return False
        finally:
            self.restore(kept)

    def _set(self, fields: dict[str, Any]) -> None:
        before, kept = self._state.copy(), self.save()
        record, names = self._state.view(self.cart.state_dtype).reshape(()), self.cart.state_dtype.names or ()
        try:
            for name, value in fields.items():
                if name not in names:
                    raise KeyError(f"no field {name!r}; there are {', '.join(names)}")
                record[name] = value
            self.restore(self.save())
        except Exception:
            self._state[:] = before
            self.restore(kept)
            raise

    def set_ram(self, index: int, value: int) -> None:
        """Writes a byte of RAM."""
        lib.vcs_env_set_ram(self.handle, index, whole(value, "a byte", 0, 255))

    def hash(self) -> int:
        """64 bits that differ when machines do."""
        with self.handle.lock:
            return lib.vcs_hash(self.cart.handle, self._state)

    def peek(self, addr: int) -> int:
        """A byte as the CPU would read it, without side effects."""
        with self.handle.lock:
            return lib.vcs_peek(self.cart.handle, self._state, addr & 0xFFFF)

    def disassemble(self, addr: int | None = None, count: int = 1) -> list[str]:
        """So many instructions, from the program counter or an address on."""
        addr, lines = int(self.state["pc"]) if addr is None else addr, []
        text = np.zeros(_c.TEXT_BYTES, np.uint8)
        with self.handle.lock:
            for _ in range(count):
                step = lib.vcs_disassemble(self.cart.handle, self._state, addr & 0xFFFF, text, text.size)
                lines.append(text.tobytes().split(b"\0")[0].decode())
                addr += step
        return lines

    def save(self, generators: bool = True) -> np.ndarray:
        """Everything that changes while a game is played, as bytes; `generators`: those of sticky actions and no-ops too
        (else they are zero, and only `restore` without them makes sense)."""
        state = np.zeros(self.handle.state_size, np.uint8)
        (lib.vcs_env_state_copy if generators else lib.vcs_env_state_copy_play)(self.handle, state)
        return state

    def restore(self, state: np.ndarray, generators: bool = True) -> None:
        """Back to a saved state, of this or another machine with the same cartridge."""
        state = _arrays.state_bytes(state)
        restore = lib.vcs_env_state_restore if generators else lib.vcs_env_state_restore_play
        restore(self.handle, state, state.size)

    def save_file(self, path: str | os.PathLike[str]) -> None:
        """A save file, which other versions and other kinds of machines read."""
        lib.vcs_env_save(self.handle, path)

    def load_file(self, path: str | os.PathLike[str]) -> None:
        lib.vcs_env_load(self.handle, path)

    def close(self) -> None:
        """Every later call is refused; arrays that look into the machine keep its memory."""
        self.handle.close()
