"""A machine that plays a cartridge: its state, its screen, and its steps in time.

`Machine` is a vcs_env_t, the console with the rules of its game; nothing in it is hidden. `state` shows every field by name,
`save` returns all of it as bytes, and `restore` makes every later frame the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _c, files
from ._bind import dtype_of, whole
from ._c import lib
from .meanings import POSITIONS, Meanings
from .cartridge import Cartridge

ACTION_NAMES: list[str] = [lib.vcs_action_name(i) for i in range(_c.ACTIONS)]
INPUT_NAMES: list[str] = [
    f"{key}{player}" for player in ("", "2") for key in ("up", "down", "left", "right", "fire")
] + ["reset", "select"]
OBJECTS = ("player 0", "player 1", "missile 0", "missile 1", "ball", "playfield")  # kinds of objects
SAVE_LIMIT = 4 << 20  # bytes of a save file, as in src/host/save.c
OPTIONS = [name for name, *_ in _c.EnvOptions._fields_ if name != "reserved"]  # all of them numbers


def action_number(action: int | str) -> int:
    """Returns the number of an action that is given by number (of any integer type) or name, or raises an error."""
    if isinstance(action, str):
        if action.upper() not in ACTION_NAMES:
            raise ValueError(f"no action {action!r}; there are {', '.join(ACTION_NAMES)}")
        return ACTION_NAMES.index(action.upper())
    return whole(action, "an action", 0, _c.ACTIONS - 1)


def inputs_of(action: int | str, player: int = 0) -> np.ndarray:
    """Returns what an action holds down, as the twelve inputs that have derivatives (INPUT_NAMES).

    Args:
        action: the number or name of an action.
        player: 0 for the left player, 1 for the right one.

    Example:
        >>> diffvcs.inputs_of("UPFIRE")[:5]
        array([1., 0., 0., 0., 1.], dtype=float32)
    """
    held, player = np.zeros(_c.INPUTS, np.float32), whole(player, "player", 0, 1)
    name = ACTION_NAMES[action_number(action)]
    for i, key in enumerate(("UP", "DOWN", "LEFT", "RIGHT", "FIRE")):
        held[5 * player + i] = key in name
    return held


class Machine:
    """A cartridge that is being played.

    Args:
        cart: a Cartridge, the name of a game ("demo" is built in), or a path.
        profile: whose boot protocol and rules count: "ale" (that of names and paths, unless given), "xitari" or "fixed"; a
            Cartridge has its own.
        options: those of vcs_env_options_t: frame_skip, repeat_action_probability (0 unless given), seed,
            max_episode_frames, noop_max, reward_min, reward_max, mode, difficulty, life_loss, fire_reset, colour_averaging,
            players (docs/players.md).

    Example:
        >>> machine = diffvcs.Machine("demo")
        >>> reward = machine.act_on("RIGHT")
        >>> machine.screen().shape, machine.frame_number
        ((210, 160), 1)
    """

    def __init__(self, cart: Cartridge | str | os.PathLike[str], profile: str | None = None, **options: Any) -> None:
        self.cart = Cartridge.find(cart, profile)
        settings = _c.EnvOptions()
        lib.vcs_env_defaults_players(self.cart.handle, whole(options.get("players") or 1, "players", 1, 4), settings)
        settings.repeat_action_probability = 0
        self._change(settings, options)
        self.handle = lib.vcs_env_create_with(self.cart.handle, settings)
        self._state = lib.vcs_env_machine(self.handle)
        self._ram = lib.vcs_env_ram(self.handle)
        self._seen_state = np.frombuffer(memoryview(self._state).toreadonly(), self.cart.state_dtype).reshape(())
        self._meanings: Meanings | None = None
        self._tracks = np.zeros(_c.TRACK_BYTES, np.uint8)
        self.shape: tuple[int, int] = (lib.vcs_env_height(self.handle), _c.WIDTH)
        self._listening, self._drawing, self._recording = False, True, False
        self._list_objects: Any = None
        self._found: _arrays.Structs | None = None
        self._joint = _c.Joint()
        self._joint_actions = self._joint.actions
        self._play_players = lib.bound(
            "vcs_play_players",
            env=self.handle,
            joint=self._joint,
            see=_c.SEE_NOTHING,
            observation=np.empty(0, np.uint8),
        )

    def __reduce__(self) -> Any:
        """Pickled and copied machines go on from the same state, with the same options, sound, drawing, recording and
        ids of objects."""
        with self.handle.lock:
            state, tracks = self.save(), self._tracks.copy()
        return _revive, (self.cart, self.options, state, self._listening, self._drawing, self._recording, tracks)

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
        """Changes options. A new mode counts from the next reset on, a new seed from the next reload, all other options at once."""
        with self.handle.lock:
            settings = self._settings()
            self._change(settings, options)
            lib.vcs_env_configure(self.handle, settings)

    @property
    def options(self) -> dict[str, Any]:
        """The values of all options, by name."""
        settings = self._settings()
        return {name: getattr(settings, name) for name in OPTIONS}

    def _numbers(self, list_them: Any, most: int) -> list[int]:
        numbers = np.zeros(most, np.int32)
        return numbers[: list_them(self.handle, numbers)].tolist()

    @property
    def minimal_actions(self) -> list[int]:
        """The numbers of the actions that do something in this game."""
        return self._numbers(lib.vcs_env_minimal_actions, _c.ACTIONS)

    @property
    def legal_actions(self) -> list[int]:
        """The numbers of the actions that the game allows."""
        return self._numbers(lib.vcs_env_legal_actions, _c.ACTIONS)

    @property
    def modes(self) -> list[int]:
        """The modes of the game that `mode` may choose."""
        return self._numbers(lib.vcs_env_modes, _c.MODES_MAX)

    @property
    def difficulties(self) -> list[int]:
        """The difficulties that `difficulty` may choose."""
        return self._numbers(lib.vcs_env_difficulties, _c.DIFFICULTIES_MAX)

    # ---- time ------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Starts an episode."""
        lib.vcs_env_reset(self.handle)

    def reload(self, seed: int) -> None:
        """Returns to the state of a new Machine with this seed, 0 to 2**32 - 1."""
        lib.vcs_env_reload(self.handle, whole(seed, "seed", 0, 2**32 - 1))

    def act(self, action: int | str, strength: float = 1.0, player_b: int | str = 0, strength_b: float = 1.0) -> int:
        """Makes one step, of frame_skip frames, and returns its reward. Does nothing once the game is over or truncated.

        Args:
            action, player_b: the actions of both players, by number or name.
            strength, strength_b: how far their sticks are moved, from 0 to 1; for paddles.

        Example:
            >>> machine.act("FIRE")
            0
        """
        return lib.vcs_env_act_strength(
            self.handle, action_number(action), action_number(player_b), strength, strength_b
        )

    def act_players(self, actions: Sequence[int | str], strengths: Sequence[float] | None = None) -> list[int]:
        """Makes one step with the actions of all players and returns their rewards.

        Example:
            >>> diffvcs.Machine("pong", players=2).act_players(["LEFT", "RIGHT"])
            [0, 0]
        """
        numbers = [
            action if action.__class__ is int and 0 <= action < _c.ACTIONS else action_number(action)
            for action in actions
        ]
        count = len(numbers)
        if count > _c.PLAYERS_MAX or (strengths is not None and len(strengths) != count):
            self._miscounted()
        if strengths is not None:
            return self._act_by_strength(numbers, strengths)
        with self.handle.lock:
            self._joint_actions[:count] = numbers
            self._play_players(count)
            if self._joint.players != count:
                self._miscounted()
            return self._joint.rewards[:count]

    def _miscounted(self) -> None:
        raise ValueError(f"there are {self.players} players, and an action (and a strength) for each is needed")

    def _act_by_strength(self, numbers: list[int], strengths: Sequence[float]) -> list[int]:
        count, rewards = len(numbers), np.empty(_c.PLAYERS_MAX, np.int32)
        if count != self.players:
            self._miscounted()
        rest = [0] * (_c.PLAYERS_MAX - count)
        all_strengths = _arrays.floats([*strengths, *rest], "strengths")
        lib.vcs_env_act_players(self.handle, np.array(numbers + rest, np.int32), all_strengths, rewards)
        return rewards[:count].tolist()

    def act_on(self, action: int | str, player_b: int | str = 0) -> int:
        """Runs one frame with exactly this action and returns its reward.

        There is no frame skip and no sticky action, and frames go on after the game is over.

        Example:
            >>> machine.act_on("RIGHT")
            0
        """
        return lib.vcs_env_act_on(self.handle, action_number(action), action_number(player_b))

    def act_on_traced(self, action: int | str, player_b: int | str = 0) -> tuple[int, np.ndarray]:
        """Runs one frame like act_on; returns its reward and every instruction that it executed.

        The array has a row for each instruction: number, pc_before, pc, opcode, a, x, y, sp, p (after it), frame_over,
        jammed, cycles, text; and frame, state_chain, cycle_chain, which are 0 here (`diffvcs.trace` fills them).

        Example:
            >>> reward, rows = machine.act_on_traced("NOOP")
            >>> int(rows["cycles"].sum()) // 76  # scan lines
            262
        """
        count, rows = np.zeros(1, np.uintp), np.zeros(_c.FRAME_INSTRUCTIONS, dtype_of("vcs_trace_row_t"))
        numbers = action_number(action), action_number(player_b)
        reward = lib.vcs_call_act_watched(self.handle, *numbers, rows, len(rows), count)
        return reward, _arrays.flat_rows(rows[: count[0]].copy())

    # ---- what it shows ---------------------------------------------------------------------------------------------

    @property
    def players(self) -> int:
        """The number of players."""
        return lib.vcs_env_players(self.handle)

    @property
    def player_lives(self) -> list[int]:
        """The lives of each player; -1 for a player who is out while the game for several goes on."""
        return [lib.vcs_env_player_lives(self.handle, player) for player in range(self.players)]

    @property
    def lives(self) -> int:
        """The lives that are left; 0 in games without lives."""
        return lib.vcs_env_lives(self.handle)

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return bool(lib.vcs_env_over(self.handle))

    @property
    def truncated(self) -> bool:
        """Whether the episode has reached max_episode_frames."""
        return bool(lib.vcs_env_truncated(self.handle))

    @property
    def done(self) -> bool:
        """Whether the game is over or the episode truncated."""
        return bool(lib.vcs_env_done(self.handle))

    @property
    def frame_number(self) -> int:
        """Frames since the machine was made or reloaded."""
        return lib.vcs_env_frame_number(self.handle)

    @property
    def episode_frame_number(self) -> int:
        """Frames since the last reset."""
        return lib.vcs_env_episode_frame_number(self.handle)

    @property
    def ram(self) -> np.ndarray:
        """The 128 bytes of RAM, seen in place and read only; `set` and `set_ram` write them."""
        return self._ram

    def _picture(self, fill: Any, shape: tuple[int, ...], out: np.ndarray | None) -> np.ndarray:
        if out is None:
            out = np.empty(shape, np.uint8)
        elif not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.uint8 or not out.flags.carray:
            raise TypeError(f"a picture goes into a writable, contiguous uint8 array of shape {shape}")
        fill(self.handle, out)
        return out

    def screen(self, out: np.ndarray | None = None) -> np.ndarray:
        """Returns the picture in palette indices, height x 160; `out` is an array to write it into.

        Example:
            >>> machine.screen().dtype
            dtype('uint8')
        """
        return self._picture(lib.vcs_env_screen_indices, self.shape, out)

    def rgb(self, out: np.ndarray | None = None) -> np.ndarray:
        """Returns the picture in colours, height x 160 x 3; `out` is an array to write it into."""
        return self._picture(lib.vcs_env_screen_rgb, (*self.shape, 3), out)

    def gray(self, out: np.ndarray | None = None) -> np.ndarray:
        """Returns the picture in grey levels, height x 160; `out` is an array to write it into."""
        return self._picture(lib.vcs_env_screen_gray, self.shape, out)

    def objects(self, playfield: bool = True, track: bool = False) -> np.ndarray:
        """What the TIA drew in the last frame, an entry for each object, top to bottom: x, y, w, h, colour, kind (OBJECTS)
        and the other fields of vcs_object_t. `track`: objects keep their `id` from one call to the next; call it once per
        frame. If objects are not recorded (record_objects), the last frame is run again for this."""
        with self.handle.lock:  # one thread at a time lists and follows objects
            if self._list_objects is None:
                self._list_objects = lib.bound("vcs_list_objects", env=self.handle, **self._object_arrays())
            self._list_objects(track)
            found = self.listed()
        return found if playfield else found[found["kind"] != 5]

    def _object_arrays(self) -> dict[str, np.ndarray]:
        """The arrays that C lists objects into."""
        if self._found is None:
            self._found, self._count = _arrays.Structs(_c.Object, _c.OBJECTS_MAX), np.zeros(1, np.int32)
        return {"tracks": self._tracks, "objects": self._found.array, "count": self._count}

    def listed(self) -> np.ndarray:
        """The objects of the last list. The caller holds the lock of the handle."""
        assert self._found is not None  # a list was made into it
        return self._found.first(self._count.item())

    def bound_step(self, see: int, seen: Any, objects: bool) -> Any:
        """Returns vcs_play with these arguments fixed. With `objects` it also lists the objects, with their ids; `listed`
        has them. The caller holds the lock of the handle."""
        if objects:
            return lib.bound("vcs_play_objects", env=self.handle, see=see, seen=seen, **self._object_arrays())
        return lib.bound("vcs_play", env=self.handle, see=see, seen=seen)

    def record_objects(self, on: bool = True) -> None:
        """Chooses whether frames record their objects while they are drawn, so that `objects` need not run a frame again.
        A recording takes 1.2 MB."""
        lib.vcs_env_set_objects(self.handle, on)
        self._recording = bool(on)

    def listen(self, on: bool = True) -> None:
        """Chooses whether steps make sound."""
        lib.vcs_env_set_sound(self.handle, on)
        self._listening = bool(on)

    def draw(self, on: bool = True) -> None:
        """Chooses whether frames are drawn; without drawing steps are faster."""
        lib.vcs_env_set_drawing(self.handle, on)
        self._drawing = bool(on)

    @property
    def sound(self) -> np.ndarray:
        """The 512 samples of the last step."""
        return lib.vcs_env_sound(self.handle).copy()

    # ---- what it holds ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> np.ndarray:
        """Every field of the machine by name, seen in place: state["ram"], state["pc"]; state.dtype.names lists them.

        It is read only, because not every value is one that a machine can have; `set` writes fields and checks them.
        """
        return self._seen_state

    @property
    def bits(self) -> np.ndarray:
        """The machine as the floats that have derivatives: eight for each byte, lowest bit first."""
        self.handle.need_open()
        return np.unpackbits(self._state, bitorder="little").astype(np.float32)

    def set(self, meaning: str | None = None, value: int | None = None, /, **fields: Any) -> None:
        """Writes fields by name, or what a byte of RAM means, as machine.set("player 0 x", 80), by the game's annotations.

        Values that no machine can have are refused, and nothing is changed. `intervene` also checks the result of a meaning.

        Example:
            >>> machine.set(a=3, x=4)
            >>> int(machine.state["a"])
            3
        """
        cell = None
        if meaning is not None:
            if value is None:
                raise TypeError('a meaning needs a value: machine.set("player 0 x", 80)')
            cell = self.meanings.value(meaning, value)
        with self.handle.lock:
            self._set(cell, fields)

    @property
    def meanings(self) -> Meanings:
        """The bytes of RAM by meaning (annotations.py)."""
        if self._meanings is None:
            self._meanings = Meanings(self.cart.game or self.cart.name, self.cart.height)
        return self._meanings

    def variables(self) -> dict[str, int]:
        """The values of the bytes that have a meaning, by name."""
        return self.meanings.variables(self.ram)

    def intervene(self, meaning: str, value: int, frames: int = 3, check: bool = True) -> bool:
        """Sets what a byte means and, with `check`, runs a few frames of two copies, with and without the change: whether
        such an object is then at that pixel, and was moved there (or the byte had that value before); or, for what is no
        position, whether the byte has that value. The machine itself does not run."""
        whole(frames, "frames", 1, 2**31 - 1)
        with self.handle.lock:
            byte, role = self.meanings.find(meaning)
            before = self.save()
            had = self.ram[byte]
            self.set(meaning, value)
            if not check:
                return True
            if role["role"] in POSITIONS:
                return self._is_moved(role, value, None if self.ram[byte] == had else before, frames)
            return self._keeps(byte, value)

    def _keeps(self, byte: int, value: int) -> bool:
        """Whether a byte has a value after a frame, which is then taken back."""
        kept = self.save()
        try:
            self.act_on(0)
            return bool(self.ram[byte] == value)
        finally:
            self.restore(kept)

    def _is_moved(self, role: dict[str, Any], value: int, before: np.ndarray | None, frames: int) -> bool:
        """Whether in one of the next frames, which are then taken back, an object is where a role says, and the objects are
        not those of the run from the state `before`; None: there is no such run."""
        kind = OBJECTS.index(role["object"].split(" #")[0])
        kept = state = self.save()
        try:
            for _ in range(frames):
                state, seen = self._next_objects(state)
                near = abs(seen[role["role"]].astype(int) - value) <= 2
                found = bool((near & (seen["kind"] == kind)).any())
                if before is not None:
                    before, usual = self._next_objects(before)
                    found = found and not np.array_equal(seen, usual)
                if found:
                    return True
            return False
        finally:
            self.restore(kept)

    def _next_objects(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The state one frame after another one, and the objects of that frame."""
        self.restore(state)
        self.act_on(0)
        return self.save(), self.objects()

    def _set(self, cell: tuple[int, int] | None, fields: dict[str, Any]) -> None:
        kind, chosen = self.cart.state_dtype, {}
        for name, value in fields.items():  # all of them first: converting a value may run the caller's Python
            if name not in (kind.names or ()):
                raise KeyError(f"no field {name!r}; there are {', '.join(kind.names or ())}")
            try:
                chosen[name] = _arrays.integers(value, "a value", kind[name].base)
            except _c.BadArgument as problem:
                raise _c.BadArgument(f"the field {name} cannot hold {value!r}: {problem}") from None
        before, kept = self._state.copy(), self.save()
        changed = before.copy()
        record = changed.view(kind).reshape(())
        for name, numbers in chosen.items():
            record[name] = numbers
        if not lib.vcs_bits_is_possible(self.cart.handle, changed):
            raise _c.BadArgument("this state has values that no machine can have")
        try:
            self._state[:] = changed
            if cell:
                self.set_ram(*cell)
            self.restore(self.save())
        except BaseException:
            self._state[:] = before
            self.restore(kept)
            raise

    def set_ram(self, index: int, value: int) -> None:
        """Writes a byte of RAM; `index` counts from 0 ($80) to 127 ($FF)."""
        lib.vcs_env_set_ram(self.handle, index, whole(value, "a byte", 0, 255))

    def hash(self) -> int:
        """Returns 64 bits that differ when machines differ."""
        with self.handle.lock:
            self.handle.need_open()
            return lib.vcs_hash(self.cart.handle, self._state)

    def peek(self, addr: int) -> int:
        """Returns a byte as the CPU would read it at an address, 0 to $FFFF, without side effects."""
        with self.handle.lock:
            self.handle.need_open()
            return lib.vcs_peek(self.cart.handle, self._state, addr)

    def disassemble(self, addr: int | None = None, count: int = 1) -> list[str]:
        """Returns the texts of `count` instructions, from an address on (None: from the program counter).

        Example:
            >>> machine.disassemble(0xF000, 2)
            ['LDY #$07', 'STY $A9']
        """
        addr, lines = int(self.state["pc"]) if addr is None else whole(addr, "addr", 0, 0xFFFF), []
        text = np.zeros(_c.TEXT_BYTES, np.uint8)
        with self.handle.lock:
            self.handle.need_open()
            for _ in range(whole(count, "count", 0, 65536)):
                step = lib.vcs_disassemble(self.cart.handle, self._state, addr & 0xFFFF, text, text.size)
                lines.append(text.tobytes().split(b"\0")[0].decode())
                addr += step
        return lines

    def save(self, generators: bool = True) -> np.ndarray:
        """Returns everything that changes while a game is played, as an array of bytes.

        With generators=False the random generators of sticky actions and no-ops are left out (as zeros); such a state is
        restored with generators=False too.

        Example:
            >>> saved = machine.save()
            >>> reward = machine.act_on("RIGHT")
            >>> machine.restore(saved)
            >>> bool((machine.save() == saved).all())
            True
        """
        state = np.zeros(self.handle.state_size, np.uint8)
        (lib.vcs_env_state_copy if generators else lib.vcs_env_state_copy_play)(self.handle, state)
        return state

    def restore(self, state: np.ndarray, generators: bool = True) -> None:
        """Returns to a saved state, of this machine or of another one with the same cartridge."""
        state = np.array(_arrays.state_bytes(state))  # a copy: what is checked is what is restored
        if state.size != self.handle.state_size:
            raise _c.BadArgument(
                f"this is no state of {self.cart}: it has {state.size} bytes, and a state has {self.handle.state_size}; "
                "restore takes what save() gave"
            )
        restore = lib.vcs_env_state_restore if generators else lib.vcs_env_state_restore_play
        restore(self.handle, state, state.size)

    def save_file(self, path: str | os.PathLike[str]) -> None:
        """Writes a save file, which other versions of the library and the command line can read."""
        lib.vcs_env_save(self.handle, path)

    @staticmethod
    def save_info(path: str | os.PathLike[str]) -> dict[str, Any]:
        """Describes a save file: its version, the profile, the SHA-256 of the cartridge's image, and the frame number.

        Example:
            >>> machine.save_file("game.sav")
            >>> diffvcs.Machine.save_info("game.sav")["profile"]
            'ale'
        """
        data, found = files.read(path, SAVE_LIMIT), _c.SaveInfo()
        lib.vcs_save_info(data, len(data), found)
        return {
            "version": found.version,
            "profile": _c.PROFILES[found.profile],
            "sha256": found.sha256.decode(),
            "frame_number": found.frame_number,
        }

    def load_file(self, path: str | os.PathLike[str]) -> None:
        """Returns to the state of a save file."""
        lib.vcs_env_load(self.handle, path)

    def close(self) -> None:
        """Closes the machine: later calls raise an error. Arrays that look into it keep its memory."""
        self.handle.close()


def _revive(
    cart: Cartridge,
    options: dict[str, Any],
    state: np.ndarray,
    listening: bool,
    drawing: bool,
    recording: bool,
    tracks: np.ndarray,
) -> Machine:
    """A machine in a state: what pickles and copies of machines are made by."""
    machine = Machine(cart, **options)
    machine.listen(listening)
    machine.draw(drawing)
    if recording:
        machine.record_objects()
    machine.restore(state)
    machine._tracks[:] = tracks
    return machine
