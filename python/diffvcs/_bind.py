"""Makes Python functions from lines of C. The functions access only memory that the caller has passed.

_c.py has the lines. A prototype names its arguments, and states after each array how many elements C reads or writes:

    void vcs_env_screen_rgb(const vcs_env_t *env, uint8_t *rgb[3 * env.pixels])
    vcs_status_t vcs_batch_step(vcs_batch_t *batch, const int32_t *actions@batch[batch.batch_size],
                                const float *strengths?@batch[batch.batch_size], ...)

A length is a Python expression of the call's other arguments; `?` allows None (NULL), `@batch` means the memory of the
batch's device. A struct is declared in the same way, with lengths that may name its own fields and arguments of the
call that it is passed to. From each prototype `Binding` writes and compiles a Python function that

- takes arrays, bytes, structs and handles, never addresses; no function returns an address;
- checks dtype, C-contiguity, writability and number of elements of every array before C accesses it;
- checks that whole numbers are in the range of their C type, and that other numbers are finite;
- holds references to everything that C reads or writes until C returns;
- holds the lock of every handle (an environment, a batch), so that threads take turns, and raises an error if a signal
  handler uses a handle of the call that it interrupts (`_Busy`);
- raises the library's message where C returns a status, and returns results as arrays that keep their owner alive;
- ends soon after Ctrl-C if it is a long call in the main thread (`_promptly`).

A `Handle` owns an object that C has allocated. The object is freed when neither the handle nor an array in the object's
memory is left; after `close` every call with the handle raises an error.
"""

from __future__ import annotations

import _thread
import ctypes
import math
import os
import re
import threading
import weakref
from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

BAD_ARGUMENT = 1
HOST = 0  # the number of the device whose memory NumPy's arrays are in

NUMBERS: dict[str, Any] = {
    "int": ctypes.c_int, "float": ctypes.c_float, "double": ctypes.c_double, "size_t": ctypes.c_size_t,
    "uint8_t": ctypes.c_uint8, "uint16_t": ctypes.c_uint16, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64,
    "int16_t": ctypes.c_int16, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64,
}  # fmt: skip
FRACTIONS = ("float", "double")
BYTES = ("void", "char", "vcs_t")  # memory whose contents have no declared type


class VCSError(RuntimeError):
    """An error of the library; the message states what was wrong and what to do."""


class BadArgument(VCSError, ValueError):
    """A value outside its range."""


class Closed(VCSError):
    """An object was used after it was closed."""


# ---- objects of C ---------------------------------------------------------------------------------------------------


class _Owner:
    """Frees an object of the library when nothing holds it any more. `needs` is what must outlive the object."""

    def __init__(self, free: Callable[[int], None], pointer: int, needs: object) -> None:
        self._free, self._pointer, self.needs = free, pointer, needs

    def __del__(self) -> None:
        self._free(self._pointer)

    def __reduce__(self) -> Any:
        raise TypeError("an object of the library cannot be copied or pickled")


_handles: weakref.WeakSet[Handle] = weakref.WeakSet()


class Handle:
    """An object of the library. Its subclasses, in _c.py, name it and hold the numbers that lengths depend on."""

    what = "object"
    free = ""
    constant = False  # C never changes it: threads need not take turns

    def __init__(self, binding: Binding, pointer: int, needs: tuple[Any, ...]) -> None:
        self.owner: _Owner | None = _Owner(binding.raw(self.free), pointer, _owners(needs))
        self.pointer = ctypes.c_void_p(pointer)
        self.lock: Any = threading.RLock()
        self.why = ""
        _handles.add(self)

    def close(self, why: str = "was closed") -> None:
        """Makes every later call raise an error. The memory is freed when no array is in it any more."""
        with self.lock:
            self.pointer, self.owner, self.why = ctypes.c_void_p(), None, why

    @property
    def is_closed(self) -> bool:
        return not self.pointer

    def need_open(self) -> None:
        """Raises an error after `close`: for functions that read memory of the object, which arrays may keep."""
        if not self.pointer:
            _closed(self)

    def __reduce__(self) -> Any:
        """Refuses to copy: a copy would free the object twice. Classes that can be copied define __reduce__."""
        raise TypeError(f"a {self.what} lives in the library and cannot be copied or pickled")


class _Busy:
    """The lock of a handle while another thread calls C with the handle for the main thread (`_promptly`). A signal
    handler runs in the main thread, which holds the handle's own lock already, so this lock raises an error there.
    Other threads wait, as usual."""

    def __init__(self, handle: Handle, ended: threading.Event) -> None:
        self.what, self.lock, self.ended = handle.what, handle.lock, ended

    def acquire(self, blocking: bool = True) -> bool:
        if threading.current_thread() is not threading.main_thread():
            return (not blocking or self.ended.wait()) and self.lock.acquire(blocking)
        if blocking:
            raise VCSError(
                f"this {self.what} is in use: a signal handler cannot use it during a call that it interrupts"
            )
        return False

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


class NotCopied:
    """For objects that step a machine of the library: a shallow copy would be the same machine, so it is refused."""

    def __copy__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be copied: make another one from the same start")


def _owners(needs: tuple[Any, ...]) -> list[_Owner | None]:
    """The owners of the memory behind handles and lists of handles, which live on even if the handles are closed."""
    return [h.owner for some in needs for h in (some if isinstance(some, (list, tuple)) else [some])]


def _closed(handle: Handle) -> Any:
    raise Closed(f"this {handle.what} {handle.why}; make a new one")


def _after_fork() -> None:
    """A child process has only the thread that forked. In the child, a handle that another thread was using is
    closed."""
    for handle in list(_handles):
        idle = handle.lock.acquire(blocking=False)
        handle.lock = threading.RLock()
        if not idle:
            handle.close("was in use by another thread when the process forked")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Memory:
    """Memory of a device, allocated by the library or borrowed through DLPack; `needs` must outlive it."""

    def __init__(self, pointer: int | None, nbytes: int, device: int, needs: object) -> None:
        self.pointer, self.nbytes, self.device, self.needs = ctypes.c_void_p(pointer), nbytes, device, needs


# ---- arrays ----------------------------------------------------------------------------------------------------------

_char, _byref = ctypes.c_char, ctypes.byref
_NOTHING = ctypes.create_string_buffer(1)  # the address of arrays without elements


def _same_numbers(found: np.dtype, wanted: np.dtype) -> bool:
    return found == wanted or (wanted == np.uint8 and found == np.bool_)


def pin(value: Any, name: str, dtype: np.dtype, count: int, writes: bool) -> Any:
    """Returns C's argument for an array of the host: a pointer to exactly `count` elements, which holds the array."""
    if type(value) is np.ndarray and value.dtype == dtype and value.size == count and count and value.flags.carray:
        return _byref(_char.from_buffer(value))  # type: ignore[arg-type]
    return _pin_slowly(value, name, dtype, count, writes)


def _pin_slowly(value: Any, name: str, dtype: np.dtype, count: int, writes: bool) -> Any:
    if isinstance(value, bytes) and dtype == np.uint8 and not writes:
        if len(value) != count:
            raise BadArgument(f"{name} has {len(value)} bytes, and {count} are expected")
        return value
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array of {dtype}, not {type(value).__name__}")
    value = np.asarray(value)  # a subclass may report a wrong dtype or shape
    if not _same_numbers(value.dtype, dtype):
        raise TypeError(f"{name} must be an array of {dtype}, not of {value.dtype}")
    if value.size != count:
        raise BadArgument(f"{name} has {value.size} elements (shape {value.shape}), and {count} are expected")
    if not value.flags.c_contiguous:
        raise TypeError(f"{name} must be contiguous in memory, row by row: numpy.ascontiguousarray makes it so")
    if not value.flags.aligned:
        raise TypeError(f"{name} must be aligned in memory: a copy of it is")
    if writes and not value.flags.writeable:
        raise TypeError(f"{name} must be writable: results go there")
    if not count:
        return _NOTHING
    pointer = ctypes.c_void_p(value.ctypes.data)
    pointer.holds = value  # type: ignore[attr-defined]
    return pointer


def pin_machine(value: Any, name: str, dtype: np.dtype, count: int, writes: bool) -> Any:
    """The same for the bytes of a machine, which C reads as a struct: their address is a multiple of 8."""
    pinned = pin(value, name, dtype, count, writes)
    if isinstance(value, np.ndarray) and value.ctypes.data % 8:
        if writes:
            raise TypeError(f"{name} must begin at a multiple of 8 bytes: a copy of it does")
        return pin(value.copy(), name, dtype, count, writes)
    return pinned


def pin_there(value: Any, name: str, dtype: np.dtype, count: int, writes: bool, device: int) -> Any:
    """The same in the memory of a device."""
    if device == HOST:
        return pin(value, name, dtype, count, writes)
    memory = getattr(value, "memory", None)
    if not isinstance(memory, Memory) or memory.device != device:
        raise TypeError(
            f"{name} must be an array in the memory of the environments' device, not {type(value).__name__}"
        )
    if not _same_numbers(value.dtype, dtype):
        raise TypeError(f"{name} must be an array of {dtype}, not of {value.dtype}")
    if value.size != count or memory.nbytes < count * dtype.itemsize:
        raise BadArgument(f"{name} has {value.size} elements, and {count} are expected")
    return memory.pointer


def pin_anywhere(value: Any, name: str, dtype: np.dtype, count: int, writes: bool) -> Any:
    """The same on the host or on any device."""
    memory = getattr(value, "memory", None)
    if not isinstance(memory, Memory):
        return pin(value, name, dtype, count, writes)
    if memory.nbytes < count * dtype.itemsize:
        raise BadArgument(f"{name} has {memory.nbytes} bytes, and {count * dtype.itemsize} are expected")
    return memory.pointer


def _pin_handles(handles: Any, name: str, kind: type[Handle], count: int) -> Any:
    """An array of pointers to objects of the library."""
    handles = list(handles)
    if len(handles) != count or not all(type(h) is kind for h in handles):
        raise TypeError(f"{name} must be {count} of {kind.__name__}")
    pointers = (ctypes.c_void_p * max(count, 1))(*[(h.pointer or _closed(h)).value for h in handles])
    pointers.holds = handles  # type: ignore[attr-defined]
    return pointers


def _fixed(value: Any) -> Any:
    """Returns a weak reference to an array. While one exists, NumPy refuses to move the array's memory (`resize`), even
    with refcheck=False. A struct needs that, because it keeps the address of the memory between calls."""
    return weakref.ref(value) if isinstance(value, np.ndarray) else None


def view(pointer: int, count: int, dtype: np.dtype, writable: bool, owner: object) -> np.ndarray:
    """Returns memory of the library as an array, which keeps its owner alive."""
    memory: Any = (ctypes.c_uint8 * (int(count) * dtype.itemsize)).from_address(
        pointer
    )  # a NumPy 1 integer may become a float
    memory.owner = owner
    return np.frombuffer(memory if writable else memoryview(memory).toreadonly(), dtype)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def limits(kind: Any) -> tuple[int, int]:
    """Returns the least and the greatest whole number of a C type."""
    bits = 8 * ctypes.sizeof(kind)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind(-1).value < 0 else (0, (1 << bits) - 1)


def whole(value: Any, name: str, low: int, high: int) -> int:
    """Returns a whole number in a range, or raises an error that names it."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None
    if not low <= number <= high:
        raise BadArgument(f"{name} is {number}, but goes from {low} to {high}")
    return number


def fraction(value: Any, name: str, kind: Any) -> float:
    """Returns a finite number that its C type can hold, or raises an error that names it."""
    try:
        number = math.nan if isinstance(value, (str, bytes, bytearray)) else float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(kind(number).value):
        raise BadArgument(f"{name} is {value!r}; it must be a finite number")
    return number


def _text(value: Any, name: str) -> bytes:
    found = os.fsencode(value) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(found, bytes):
        raise TypeError(f"{name} must be text, not {value!r}")
    if b"\0" in found:
        raise BadArgument(f"{name} has a zero byte in it: {value!r}")
    return found


# ---- declarations ----------------------------------------------------------------------------------------------------


class _Item:
    """An argument of a function, a field of a struct, or a function's result: `const float *name?@batch[length]`."""

    def __init__(self, text: str) -> None:
        found = re.match(r"\s*(const\s+)?(\w+)\s*((?:\*\s*(?:const\s*)?)*)(\w+)(\?)?(?:@(\w+))?\s*", text)
        if not found:
            raise SyntaxError(f"not a declaration: {text!r}")
        const, self.type, stars, self.name, optional, self.where = found.groups()
        self.const, self.stars, self.optional = bool(const), stars.count("*"), bool(optional)
        self.pointer = stars.replace(" ", "")
        self.lengths = _brackets(text[found.end() :])

    def c(self) -> str:
        """The type alone, as C has it."""
        return f"{'const ' if self.const else ''}{self.type} {self.pointer}"

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self.type)


def _brackets(text: str) -> list[str]:
    """ "[a][b[0]]" is "a" and "b[0]"."""
    found, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        if letter == "[":
            start, depth = (i + 1 if depth == 0 else start), depth + 1
        elif letter == "]":
            depth -= 1
            if depth == 0:
                found.append(text[start:i])
        elif depth == 0 and not letter.isspace():
            raise SyntaxError(f"not a length: {text!r}")
    return found


def _split(text: str, at: str) -> list[str]:
    """Splits where no bracket is open."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == at and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _names(expression: str) -> set[str]:
    """The variables of an expression: not attributes, not numbers."""
    return set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", expression))


def dtype_of(kind: str) -> np.dtype:
    """The NumPy type of the elements of a C array."""
    if kind in BYTES:
        return np.dtype(np.uint8)
    return np.dtype(STRUCTS[kind] if kind in STRUCTS else NUMBERS[kind])


# ---- structs ---------------------------------------------------------------------------------------------------------

STRUCTS: dict[str, type[Struct]] = {}
CONSTANTS: dict[str, int] = {}  # constants that lengths may name


class Struct(ctypes.Structure):
    """A struct of the headers. An array or handle to which a field points is checked when the field is set, and held.
    When the struct is passed to a call, the length of every array is compared with what the call will access."""

    _setters: dict[str, Callable[[Struct, Any], None]] = {}
    _has_checks = False
    _requires: tuple[str, ...] = ()  # arguments of a call that the lengths depend on

    def __init__(self, **values: Any) -> None:
        super().__init__()
        self.__dict__.update(held={}, counts={}, checked_for=None)
        for name, value in values.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        setter = self._setters.get(name)
        if setter is None:
            raise AttributeError(f"{type(self).__name__} has no field {name!r} that can be set")
        setter(self, value)
        self.__dict__["checked_for"] = None

    def check(self, *arguments: Any) -> None:
        """Compares the length of every array with what C will access; written by `struct`."""


def _copied(kind: type[Struct], pointer: int, owner: object) -> Struct:
    """A struct of the library's; `owner` is what its strings live in."""
    found = kind.from_buffer_copy(kind.from_address(pointer))
    found.__dict__.update(held={"": owner}, counts={}, checked_for=None)
    return found


def _number_setter(field: str, kind: Any, is_fraction: bool) -> Callable[..., Any]:
    descriptor: Any = None
    low, high = (0, 0) if is_fraction else limits(kind)

    def put(struct: Struct, value: Any) -> None:
        nonlocal descriptor
        descriptor = descriptor or getattr(type(struct), field)
        number = fraction(value, field, kind) if is_fraction else whole(value, field, low, high)
        descriptor.__set__(struct, number)

    return put


def _pointer_setter(item: _Item, handles: dict[str, type[Handle]]) -> Callable[..., Any]:
    """Sets a field that is a pointer."""

    def put(struct: Struct, value: Any) -> None:
        held: Any
        raw = getattr(type(struct), "_" + item.name)
        struct.held.pop(item.name, None)
        struct.counts[item.name] = None
        raw.__set__(struct, None)
        if value is None:
            return
        if item.type in handles:
            if type(value) is not handles[item.type]:
                raise TypeError(f"{item.name} must be a {handles[item.type].__name__}, not {type(value).__name__}")
            held, pointer = value, (value.pointer or _closed(value)).value
        elif not item.lengths:  # another struct
            if type(value) is not STRUCTS.get(item.type):
                raise TypeError(f"{item.name} must be a {item.type}, not {type(value).__name__}")
            held, pointer = value, ctypes.addressof(value)
        elif item.where and isinstance(getattr(value, "memory", None), Memory):
            held, pointer = (
                value,
                pin_there(value, item.name, item.dtype, value.size, not item.const, value.memory.device).value,
            )
            struct.counts[item.name] = value.size
        else:
            value = np.asarray(value) if isinstance(value, np.ndarray) else value
            size = getattr(value, "size", -1)
            how = pin_machine if item.type == "vcs_t" else pin
            pinned = how(value, item.name, item.dtype, size, not item.const)
            held = (value, pinned, _fixed(value))
            pointer = ctypes.cast(pinned, ctypes.c_void_p).value
            struct.counts[item.name] = size
        struct.held[item.name] = held
        raw.__set__(struct, pointer)

    return put


def _text_setter(field: str) -> Callable[..., Any]:
    def put(struct: Struct, value: Any) -> None:
        getattr(type(struct), "_" + field).__set__(struct, None if value is None else _text(value, field))

    return put


def _text_property(field: str) -> property:
    def get(struct: Struct) -> str | None:
        found = getattr(struct, "_" + field)
        return None if found is None else found.decode("utf-8", "replace")

    return property(get)


def _held_property(name: str) -> property:
    def get(struct: Struct) -> Any:
        held = struct.held.get(name)
        return held[0] if isinstance(held, tuple) else held

    return property(get)


def _rows_check(struct: Struct, name: str, rows: int, each: int) -> None:
    """Makes an array of pointers, one to each row of an array, when the number of rows is known."""
    array, *_ = struct.held[name]
    table = (ctypes.c_void_p * max(rows, 1))()
    start = array.ctypes.data
    for i in range(rows):
        table[i] = start + i * each * array.itemsize
    struct.held[name] = (array, table, _fixed(array))
    getattr(type(struct), "_" + name).__set__(struct, ctypes.addressof(table))


def _mismatch(name: str, found: int, wanted: int) -> None:
    raise BadArgument(f"{name} has {found} elements, and {wanted} are expected")


def _misplaced(name: str) -> None:
    raise TypeError(f"{name} must be in the memory of the environments' device")


def _device_of(held: Any) -> int:
    return HOST if isinstance(held, tuple) else held.memory.device


def struct(name: str, text: str, handles: dict[str, type[Handle]], enums: tuple[str, ...] = ()) -> type[Struct]:
    """Declares a struct: `type field, field[count]; const float *array[length]; ...`."""
    rows: list[tuple[str, Any]] = []
    setters: dict[str, Callable[..., Any]] = {}
    members: dict[str, Any] = {"_setters": setters}
    checks: list[str] = []
    required: list[str] = []
    items: list[_Item] = []
    for line in _split(text, ";"):
        first, *others = _split(line, ",")
        kind = first[: re.match(r"\s*(?:const\s+)?\w+", first).end()]  # type: ignore[union-attr]
        items += [_Item(first)] + [_Item(f"{kind} {other}") for other in others]
    own = {item.name for item in items}

    def expression(length: str) -> str:
        for used in sorted(_names(length) - own - set(CONSTANTS)):
            if used not in required:
                required.append(used)
        return re.sub(r"(?<![\w.])([A-Za-z_]\w*)", lambda m: f"self.{m[1]}" if m[1] in own else m[1], length)

    for item in items:
        if item.type == "char" and item.pointer:
            rows.append(("_" + item.name, ctypes.c_char_p))
            setters[item.name] = _text_setter(item.name)
            members[item.name] = _text_property(item.name)
        elif item.pointer:
            rows.append(("_" + item.name, ctypes.c_void_p))
            setters[item.name] = _pointer_setter(item, handles)
            members[item.name] = _held_property(item.name)
            if not item.optional:
                checks.append(f"if {item.name!r} not in held: missing({name!r}, {item.name!r})")
            if item.type in handles:
                checks.append(f"if {item.name!r} in held: held[{item.name!r}].pointer or closed(held[{item.name!r}])")
            elif item.type in STRUCTS and not item.lengths:
                checks.append(f"if {item.name!r} in held: held[{item.name!r}].check()")
            elif item.lengths:
                count = " * ".join(f"({expression(length)})" for length in item.lengths)
                checks.append(f"if {item.name!r} in held and counts[{item.name!r}] != {count}: "
                              f"mismatch({item.name!r}, counts[{item.name!r}], {count})")  # fmt: skip
                if item.where:
                    checks.append(f"if {item.name!r} in held and device_of(held[{item.name!r}]) != {item.where}.device: "
                                  f"misplaced({item.name!r})")  # fmt: skip
            if len(item.lengths) == 2:
                checks.append(f"if {item.name!r} in held: rows_check(self, {item.name!r}, "
                              f"{expression(item.lengths[0])}, {expression(item.lengths[1])})")  # fmt: skip
        elif item.type in STRUCTS:
            if STRUCTS[item.type]._requires:
                raise SyntaxError(f"{name}: lengths of {item.type} depend on a call")
            rows.append((item.name, STRUCTS[item.type]))
            setters[item.name] = _nested_setter(item.name, STRUCTS[item.type])
            checks.append(f"if {item.name!r} in held: held[{item.name!r}].check()")
        else:
            number: Any = (
                ctypes.c_char if item.type == "char" else ctypes.c_int if item.type in enums else NUMBERS[item.type]
            )
            elements = eval(item.lengths[0], dict(CONSTANTS)) if item.lengths else 0
            rows.append((item.name, number * elements if elements else number))
            if not elements:
                setters[item.name] = _number_setter(item.name, number, item.type in FRACTIONS)
    source = f"def check(self{''.join(', ' + r for r in required)}):\n    held, counts = self.held, self.counts\n"
    source += "".join(f"    {check}\n" for check in checks)
    space = {
        **CONSTANTS, "mismatch": _mismatch, "misplaced": _misplaced, "device_of": _device_of, "closed": _closed,
        "rows_check": _rows_check, "missing": _missing,
    }  # fmt: skip
    exec(compile(source, f"<{name}>", "exec"), space)
    members.update(check=space["check"], _requires=tuple(required), _has_checks=bool(checks), _fields_=rows)
    STRUCTS[name] = type(name, (Struct,), members)
    return STRUCTS[name]


def _missing(name: str, field: str) -> None:
    raise TypeError(f"{name} needs {field}")


def _nested_setter(field: str, kind: type[Struct]) -> Callable[..., Any]:
    def put(struct: Struct, value: Any) -> None:
        if type(value) is not kind:
            raise TypeError(f"{field} must be a {kind.__name__}, not {type(value).__name__}")
        getattr(type(struct), field).__set__(struct, value)
        struct.held[field] = value

    return put


# ---- functions -------------------------------------------------------------------------------------------------------


class _Message(threading.local):
    """A buffer for the error messages of C, one for each thread."""

    def __init__(self) -> None:
        self.buffer = ctypes.create_string_buffer(256)


_message = _Message()
_kept_for_ever: dict[int, Handle] = {}


_watched = threading.local()


class Binding:
    """The functions of a library, by name, made from their prototypes. For functions that may run for long, `long` has
    an expression of their arguments that is true if a call does."""

    def __init__(
        self,
        path: str,
        prototypes: list[str],
        handles: dict[str, type[Handle]],
        enums: tuple[str, ...],
        long: dict[str, str],
    ) -> None:
        self.__library = ctypes.CDLL(path)
        self._handles, self._enums, self._long = handles, enums, long
        self._parts: dict[str, Any] = {}
        for line in prototypes:
            name, function = self._function(line)
            setattr(self, name, function)

    def raw(self, name: str) -> Any:
        """A function of the library without any checks: for handles, which free with it, and for XLA."""
        function = getattr(self.__library, name)
        if name.endswith("_free"):
            function.restype, function.argtypes = None, [ctypes.c_void_p]
        return function

    def allocate(self, device: int, nbytes: int) -> Memory:
        """Allocates memory of a device, which is freed with the last object that holds it."""
        make, free, found = self.__library.vcs_device_allocate, self.__library.vcs_device_free, ctypes.c_void_p()
        make.argtypes = [ctypes.c_int32, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
        free.restype, free.argtypes = None, [ctypes.c_int32, ctypes.c_void_p]
        status = make(device, max(nbytes, 1), ctypes.byref(found), _message.buffer)
        if status:
            _fail(status, _message.buffer)
        assert found.value
        return Memory(found.value, nbytes, device, _Owner(lambda pointer: free(device, pointer), found.value, None))

    def tensor(self, memory: Memory, shape: tuple[int, ...], kind: int, bits: int) -> int:
        """Returns a DLManagedTensor of this memory, for device.py, which keeps the memory until its consumer is done."""
        make = self.__library.vcs_device_dlpack
        make.restype = ctypes.c_void_p
        make.argtypes = [
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
        ]
        sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        found = make(memory.device, memory.pointer, len(shape), sizes, kind, bits)
        if not found:
            raise MemoryError("out of memory, or more than 8 dimensions")
        return found

    def watch(self, flag: ctypes.c_int32) -> None:
        """Gives the calling thread a flag. When the flag is not 0, the thread's long calls end soon, without a
        result."""
        self.__library.vcs_call_watch(_byref(flag))
        _watched.flag = flag  # held as long as the thread lives

    def _promptly(self, handles: tuple[Handle, ...], raw: Any, *arguments: Any) -> Any:
        """Calls C so that Ctrl-C ends the call. Python raises KeyboardInterrupt only in the main thread, and only after
        C returns; so another thread calls C, while the main thread waits and sets that thread's flag if it is
        interrupted. `handles` are the handles whose locks the main thread holds."""
        if threading.current_thread() is not threading.main_thread():
            return raw(*arguments)
        flag, ended, results = ctypes.c_int32(), threading.Event(), []
        locks, busy = [handle.lock for handle in handles], [_Busy(handle, ended) for handle in handles]

        def put(found: list[Any]) -> None:
            for handle, lock in zip(handles, found):
                handle.lock = lock

        def call() -> None:  # holds the arguments of C until C returns, even if the main thread ends
            try:
                self.watch(flag)
                results.append(raw(*arguments))
            finally:
                put(locks)
                ended.set()

        interrupted: BaseException | None = None
        try:
            put(busy)
        except BaseException:
            put(locks)
            raise
        try:
            _thread.start_new_thread(call, ())
        except RuntimeError:  # no thread can be started
            put(locks)
            return raw(*arguments)
        except BaseException as problem:
            interrupted, flag.value = problem, 1
        while not ended.is_set():  # also after a second Ctrl-C: C uses the caller's arrays until it returns
            try:
                ended.wait(0.5)  # on Windows a wait without a time limit cannot be interrupted
            except BaseException as problem:
                interrupted, flag.value = problem, 1
        if interrupted:
            raise interrupted
        return results[0]

    def for_ever(self, handle: Handle) -> int:
        """Returns the number of a cartridge for XLA's compiled programs. From now on the cartridge is never freed."""
        if not handle.constant:
            raise TypeError("only what does not change can be part of a compiled program")
        pointer: int = (handle.pointer or _closed(handle)).value  # type: ignore[assignment]
        _kept_for_ever[pointer] = handle
        return pointer

    def _function(self, line: str) -> tuple[str, Callable[..., Any]]:
        head, arguments = line[: _opening(line)], line[_opening(line) + 1 : line.rindex(")")]
        result = _Item(head)
        items = [_Item(a) for a in _split(arguments, ",") if a != "void"]
        name, raw = result.name, getattr(self.__library, result.name)
        space: dict[str, Any] = {
            **CONSTANTS, "raw": raw, "pin": pin, "pin_machine": pin_machine, "pin_there": pin_there, "pin_anywhere": pin_anywhere,
            "whole": whole, "fraction": fraction, "closed": _closed, "byref": ctypes.byref, "ndarray": np.ndarray,
            "from_buffer": ctypes.c_char.from_buffer, "text": _text, "wrong": _wrong, "fail": _fail,
            "view": view, "message": _message, "pin_handles": _pin_handles, "made": self._made, "owners": _owners,
            "promptly": self._promptly, "copied": _copied,
        }  # fmt: skip
        raw.restype, raw.argtypes = self._result_type(result), [self._argument_type(i) for i in items]
        given = [i for i in items if i.type != "vcs_error_t" and i.stars < 2 or i.lengths]
        locked, kept = [], []  # the arguments that are handles: handles that C may change, and all handles
        parts: list[tuple[_Item, list[str], list[str], str]] = []  # for each: checks, preparation, C's argument
        for i, item in enumerate(items):
            checks: list[str] = []
            lines: list[str] = []
            at, n = f"p{i}", item.name
            none = f"None if {n} is None else " if item.optional else ""
            if item.type == "vcs_error_t":
                at = "message.buffer"
            elif item.type in self._handles and item.stars == 1:
                space[f"H{i}"] = self._handles[item.type]
                checks.append(f"if {n}.__class__ is not H{i}: wrong({name!r}, {n!r}, H{i}.__name__, {n})")
                if not self._handles[item.type].constant:
                    locked.append(n)
                kept.append(n)
                at = f"{n}.pointer or closed({n})"
            elif item.type in self._handles and item.lengths:
                space[f"H{i}"] = self._handles[item.type]
                lines.append(f"{at} = pin_handles({n}, {n!r}, H{i}, {item.lengths[0]})")
                kept.append(n)
            elif item.type in self._handles:
                space[f"H{i}"], space["c_void_p"] = self._handles[item.type], ctypes.c_void_p
                lines.append(f"{at} = c_void_p()")
                at = f"byref({at})"
            elif item.type in STRUCTS and not item.lengths:
                space[f"S{i}"], needed = STRUCTS[item.type], STRUCTS[item.type]._requires
                unknown = set(needed) - {other.name for other in items}
                fills = name.endswith("_defaults")  # writes the whole struct and reads no array
                if unknown and not fills:
                    raise SyntaxError(f"{name}: {item.type} needs an argument {', '.join(unknown)}")
                check = f"{n}.check({', '.join(needed)})"
                if len(needed) == 1 and any(o.name == needed[0] and o.type in self._handles for o in items):
                    # the numbers of handles do not change: a struct that is passed again is not checked again
                    check = f"if {n}.checked_for is not {needed[0]}: {check}; {n}.__dict__['checked_for'] = {needed[0]}"
                checks.append(f"if {n}.__class__ is not S{i}: wrong({name!r}, {n!r}, {item.type!r}, {n})")
                if STRUCTS[item.type]._has_checks and not fills:
                    lines.append(check)
                at = f"byref({n})"
            elif item.lengths:
                space[f"D{i}"], length = item.dtype, item.lengths[0]
                how, more, here = "pin", "", ""
                if item.where == "any":
                    how = "pin_anywhere"
                elif item.where:
                    how, more, here = "pin_there", f", {item.where}.device", f"{item.where}.device == {HOST} and "
                elif item.type == "vcs_t":
                    how = "pin_machine"
                pinned = f"{how}({n}, {n!r}, D{i}, {length}, {not item.const}{more})"
                if how in ("pin", "pin_there"):  # the usual case without a function call, which would slow a step down
                    pinned = (f"byref(from_buffer({n})) if {here}{n}.__class__ is ndarray and {n}.dtype is D{i} and "
                              f"{n}.size == {length} and {n}.size and {n}.flags.carray else {pinned}")  # fmt: skip
                lines.append(f"{at} = {none}{pinned}")
            elif item.type == "char":
                lines.append(f"{at} = {none}text({n}, {n!r})")
            elif item.pointer:  # a handle of a device driver, which only the caller can check
                lines.append(f"{at} = whole({n}, {n!r}, 0, {2**64 - 1})")
            elif item.type in FRACTIONS:
                space[f"T{i}"], most = NUMBERS[item.type], float(np.finfo(NUMBERS[item.type]).max)
                quick = f"{n} if {n}.__class__ is float and {-most!r} <= {n} <= {most!r}"
                lines.append(f"{at} = {quick} else fraction({n}, {n!r}, T{i})")
            else:
                low, high = limits(ctypes.c_int if item.type in self._enums else NUMBERS[item.type])
                quick = f"{n} if {n}.__class__ is int and {low} <= {n} <= {high}"
                lines.append(f"{at} = {quick} else whole({n}, {n!r}, {low}, {high})")
            parts.append((item, checks, lines, at))
        passed = ", ".join(at for *_, at in parts)
        call_of_c = f"raw({passed})"
        if name in self._long:
            call_of_c = f"(promptly(({''.join(own + ', ' for own in locked)}), raw, {passed}) if {self._long[name]} else raw({passed}))"
        call = self._result_lines(result, items, call_of_c, kept, space)
        source = "".join(f"    {check}\n" for _, checks, *_ in parts for check in checks)
        if locked:
            source += f"    with {', '.join(f'{own}.lock' for own in locked)}:\n"
        # numbers and texts first: converting one may run the caller's Python, which might move an array
        parts_in_order = sorted(
            parts, key=lambda part: bool(part[0].lengths or part[0].pointer and part[0].type != "char")
        )
        inside = [line for _, _, lines, _ in parts_in_order for line in lines] + call
        source += "".join(f"    {'    ' if locked else ''}{line}\n" for line in inside)
        source = f"def {name}({', '.join(i.name for i in given)}):\n{source}"
        exec(compile(source, f"<{name}>", "exec"), space)
        function = space[name]
        function.__doc__ = declaration(line)
        self._parts[name] = given, parts, space
        return name, function

    def bound(self, name: str, own: str = "", **fixed: Any) -> Callable[..., Any]:
        """Returns a function with some arguments fixed: handles, structs and numbers, which are checked here, once. It
        is for steps, which every check slows down. The caller holds the locks of the handles. The function has no
        result.

        ctypes converts an argument of a declared type more slowly than an argument that is already a C value or an int,
        so types are not declared here, and numbers other than ints become C values. `own` is an array that the caller
        makes for every call with the right type and length, so it is not checked."""
        given, parts, space = self._parts[name]
        before, inside, passed = [], [], []
        for i, (item, checks, lines, at) in enumerate(parts):
            kind = self._argument_type(item)
            if kind is not ctypes.c_int and (not item.pointer or item.type == "void" and not item.lengths):
                space[f"C{i}"], at = kind, f"C{i}({at})"
            if item.name == own:
                at = f"byref(from_buffer({own}))"
            elif item.name in fixed:
                before += checks + lines
                if at.startswith("byref"):
                    before.append(f"q{i} = {at}")
                    at = f"q{i}"
            else:
                length = item.lengths[0] if item.lengths else ""
                if length and _names(length) <= {*fixed, *CONSTANTS}:  # known from now on
                    before.append(f"n{i} = {length}")
                    lines = [line.replace(length, f"n{i}") for line in lines]
                inside += checks + lines
            passed.append(at)
        rest = ", ".join(item.name for item in given if item.name not in fixed)
        source = f"def make({', '.join(fixed)}):\n" + "".join(f"    {line}\n" for line in before)
        source += f"    def {name}({rest}):\n" + "".join(f"        {line}\n" for line in inside)
        source += f"        raw({', '.join(passed)})\n    return {name}\n"
        local = {**space, "raw": self.__library[name]}  # a function object of its own, unlike the library's attribute
        local["raw"].restype = None
        exec(compile(source, f"<{name}>", "exec"), local)
        return local["make"](**fixed)

    def _result_lines(
        self, result: _Item, items: list[_Item], call: str, kept: list[str], space: dict[str, Any]
    ) -> list[str]:
        needs = f"({', '.join(kept)},)" if kept else "()"
        owner = f"owners({needs})"
        if result.type == "vcs_status_t" and items and items[-1].type == "vcs_error_t":
            lines = [f"status = {call}", "if status: fail(status, message.buffer)"]
            for i, item in enumerate(items):
                if item.type in self._handles and item.stars == 2 and not item.lengths:
                    lines.append(f"return made(H{i}, p{i}.value, {needs})")
            return lines
        if not result.pointer:
            return [call if result.type == "void" else f"return {call}"]
        if result.type == "char":
            return [f"found = {call}", "return None if found is None else found.decode('utf-8', 'replace')"]
        if result.lengths:
            space["D"] = result.dtype
            return [f"found = {call}", f"return view(found, {result.lengths[0]}, D, {not result.const}, {owner})"]
        if result.type in STRUCTS:
            space["S"] = STRUCTS[result.type]
            return [f"found = {call}", f"return None if not found else copied(S, found, {owner})"]
        return [f"return {call}"]

    def _made(self, kind: type[Handle], pointer: int | None, needs: tuple[Any, ...]) -> Handle:
        assert pointer
        return kind(self, pointer, needs)

    def _result_type(self, item: _Item) -> Any:
        if item.pointer:
            return ctypes.c_char_p if item.type == "char" else ctypes.c_void_p
        return None if item.type == "void" else ctypes.c_int if item.type in self._enums else NUMBERS[item.type]

    def _argument_type(self, item: _Item) -> Any:
        if item.pointer:
            return ctypes.c_char_p if item.type == "char" and not item.lengths else ctypes.c_void_p
        return ctypes.c_int if item.type in self._enums else NUMBERS[item.type]


def _opening(line: str) -> int:
    """Where the list of arguments begins: the first parenthesis outside brackets."""
    depth = 0
    for i, letter in enumerate(line):
        depth += (letter == "[") - (letter == "]")
        if letter == "(" and depth == 0:
            return i
    raise SyntaxError(f"not a prototype: {line!r}")


def declaration(line: str) -> str:
    """A prototype as C has it, without names and lengths."""
    head, arguments = line[: _opening(line)], line[_opening(line) + 1 : line.rindex(")")]
    result = _Item(head)
    return f"{result.c()}{result.name}({', '.join(_Item(a).c() for a in _split(arguments, ',')) or 'void'})"


def _wrong(function: str, name: str, wanted: str, found: Any) -> None:
    raise TypeError(f"{function}: {name} must be a {wanted}, not {type(found).__name__}")


def _fail(status: int, message: Any) -> None:
    raise (BadArgument if status == BAD_ARGUMENT else VCSError)(message.value.decode("utf-8", "replace"))
