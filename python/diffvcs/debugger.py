"""A debugger that also goes backwards: vcs_debugger_t of include/diffvcs/study.h.

    machine = diffvcs.Machine("demo")
    run = diffvcs.run("demo", machine.save(), ["NOOP"])
    debugger = diffvcs.Debugger(run)
    debugger.add_breakpoint("write COLUBK if scanline > 100")
    debugger.resume()            # to the breakpoint
    debugger.back(3)             # three instructions back; the state is the same to the bit
    debugger.value("[$80] + x")

`diffvcs debug` is the same debugger in a terminal (docs/debug.md).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from . import _c
from ._bind import BadArgument, NotCopied, dtype_of, whole
from ._c import lib
from .functional import CONTROLS, Run, need_run

REASONS = ("arrived", "breakpoint", "jammed", "beginning")
UNITS = ("instruction", "line", "frame")
STEP, LINE, FRAME, BACK_STEP, BACK_LINE, BACK_FRAME, REVERSE = range(7)  # vcs_move_t
CHUNK = (20000, 200, 1)  # of each unit, how many are moved between two looks at Ctrl-C


@dataclass(frozen=True)
class Position:
    """Where a debugger is: a frame, the instructions executed in it, and the beam.

    `scanline` counts from the first line of the frame, `clock` from 0 to 227 in the line.
    """

    frame: int
    instruction: int
    scanline: int
    clock: int


@dataclass(frozen=True)
class Stop:
    """Why a move ended, and where.

    `reason` is "arrived" (the move was completed), "breakpoint", "jammed" (the processor executed a halt opcode) or
    "beginning" (of the history). `breakpoint` is the number of the breakpoint, from 1 on, or 0.
    """

    reason: str
    breakpoint: int
    position: Position


class Debugger(NotCopied):
    """A machine that moves by instruction, scan line and frame, forwards and backwards, and stops at breakpoints.

    Args:
        run: what diffvcs.run gave; the debugger starts before its first frame, with the controls of that frame held.
        frame: the number of that frame.
        symbols: a symbol file of dasm (-s) with names for expressions and disassembly.

    Example:
        >>> debugger = diffvcs.Debugger(diffvcs.run("demo", diffvcs.Machine("demo").save(), ["NOOP"]))
        >>> debugger.step(1000).position.instruction
        1000
    """

    def __init__(self, run: Run, frame: int = 0, symbols: str | os.PathLike[str] | None = None) -> None:
        need_run(run)
        self.cart = run.cart
        given = run._c_run()  # refuses a state that no machine can have
        self.handle = lib.vcs_debugger_create(
            run.cart.handle, given.start, given.picture, given.controls[:1].copy(), frame
        )
        if symbols is not None:
            self.read_symbols(symbols)

    # ---- moving ----------------------------------------------------------------------------------------------------

    def _move(self, how: int, count: int, chunk: int) -> Stop:
        left, stop = whole(count, "count", 0, 2**63 - 1), _c.Stop()
        while left > 0:
            part = min(left, chunk)
            lib.vcs_debugger_move(self.handle, how, part, stop)
            left = left - part if stop.reason == 0 else 0
        return Stop(REASONS[stop.reason], stop.breakpoint, self.position)

    def step(self, count: int = 1) -> Stop:
        """Executes `count` instructions. Breakpoints do not stop it. Returns why and where it stopped."""
        return self._move(STEP, count, CHUNK[0])

    def next_line(self, count: int = 1) -> Stop:
        """Runs to the beginning of the next scan line, `count` times, or to a breakpoint."""
        return self._move(LINE, count, CHUNK[1])

    def next_frame(self, count: int = 1) -> Stop:
        """Runs to the beginning of the next frame, `count` times, or to a breakpoint."""
        return self._move(FRAME, count, CHUNK[2])

    def resume(self, frames: int = 3600) -> Stop:
        """Runs to the next breakpoint, but at most `frames` frames.

        Example:
            >>> number = debugger.add_breakpoint("scanline 100")
            >>> debugger.resume().reason
            'breakpoint'
        """
        return self._move(FRAME, frames, CHUNK[2])

    def back(self, count: int = 1, unit: str = "instruction") -> Stop:
        """Goes back by `count` instructions, or to the beginning of the previous "line" or "frame", `count` times.

        The reason is "beginning" where the history does not reach that far.

        Example:
            >>> before = debugger.position
            >>> stop = debugger.step(700)
            >>> debugger.back(700).position == before
            True
        """
        if unit not in UNITS:
            raise BadArgument(f"no unit {unit!r}; there are {', '.join(UNITS)}")
        number = UNITS.index(unit)
        return self._move(BACK_STEP + number, count, (CHUNK[0], 1, 1)[number])

    def reverse(self) -> Stop:
        """Runs backwards to the previous breakpoint; the reason is "beginning" if there is none."""
        return self._move(REVERSE, 1, 1)

    # ---- looking ---------------------------------------------------------------------------------------------------

    @property
    def position(self) -> Position:
        """The frame, the instructions executed in it, and the beam's scan line and clock."""
        found = _c.Position()
        lib.vcs_debugger_position(self.handle, found)
        return Position(found.frame, found.instruction, found.scanline, found.clock)

    @property
    def state(self) -> np.ndarray:
        """A copy of the machine as a record with all its fields: debugger.state["pc"], debugger.state["ram"]."""
        with self.handle.lock:
            return lib.vcs_debugger_machine(self.handle).copy().view(self.cart.state_dtype)[0]

    @property
    def screen(self) -> np.ndarray:
        """The picture in palette indices, height x 160: drawn up to the beam, below it the frame before."""
        picture = np.zeros((self.cart.height, _c.WIDTH), np.uint8)
        with self.handle.lock:
            machine, frames = lib.vcs_debugger_machine(self.handle), lib.vcs_debugger_frames(self.handle)
            lib.vcs_picture_copy(self.cart.handle, machine.copy(), frames.copy(), picture)
        return picture

    def value(self, expression: str) -> int:
        """The value of an expression on the present machine.

        Numbers are 12, $1F and %1010; names are a x y sp p pc cycle scanline clock frame, the registers of the chips and
        symbols; [address] is a byte of memory; operators are those of C.

        Example:
            >>> debugger.value("2 + 3 * [$80]") == 2 + 3 * int(debugger.state["ram"][0])
            True
        """
        found = np.zeros(1, np.int64)
        lib.vcs_debugger_value(self.handle, expression, found)
        return int(found[0])

    def disassemble(self, address: int | None = None, count: int = 16) -> list[tuple[int, str]]:
        """Addresses and texts of `count` instructions from an address on (None: from the program counter).

        Example:
            >>> debugger.disassemble(0xF000, 1)
            [(61440, 'LDY #$07')]
        """
        rows = np.zeros(whole(count, "count", 0, 65536), dtype_of("vcs_disassembly_t"))
        start = int(self.state["pc"]) if address is None else address
        lib.vcs_debugger_disassemble(self.handle, start, rows, len(rows))
        return [(int(row["address"]), row["text"].tobytes().split(b"\0")[0].decode()) for row in rows]

    # ---- breakpoints, controls, symbols ----------------------------------------------------------------------------

    def add_breakpoint(self, text: str) -> int:
        """Adds a breakpoint and returns its number.

        Kinds: "pc $F123", "cycle 5000", "scanline 100", "pixel 80,100" (column, row), "read SWCHA", "write COLUBK",
        "access $80", each with " if CONDITION" behind it if wanted, and "if CONDITION" alone.
        """
        with self.handle.lock:
            lib.vcs_debugger_break(self.handle, text)
            return len(self.breakpoints)

    @property
    def breakpoints(self) -> list[str]:
        """The texts of all breakpoints; the first has the number 1."""
        found: list[str] = []
        while text := lib.vcs_debugger_breakpoint(self.handle, len(found) + 1):
            found.append(text)
        return found

    def delete_breakpoint(self, number: int) -> None:
        """Deletes a breakpoint; those after it move up by one number."""
        lib.vcs_debugger_delete(self.handle, number)

    def hold(self, inputs: str = "") -> int:
        """Holds inputs ("right,fire"; "": none) from the next frame on, and returns the number of that frame.

        Frames that were already run after the present one are forgotten. Paddles stay where they are.
        """
        with self.handle.lock:
            controls = lib.vcs_debugger_controls(self.handle).copy().view(CONTROLS)
            lib.vcs_controls_parse(inputs, controls)
            return lib.vcs_debugger_hold(self.handle, controls)

    def read_symbols(self, path: str | os.PathLike[str]) -> int:
        """Adds the symbols of a file that dasm writes (-s); returns how many there are."""
        count = np.zeros(1, np.int32)
        lib.vcs_debugger_read_symbols(self.handle, path, count)
        return int(count[0])
