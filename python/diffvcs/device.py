"""Devices: where a batch runs and where its arrays are.

A device is "cpu", "cuda" (the first GPU), "cuda:1", or "cpu-as-gpu": the CPU executing a GPU's code, for tests and for
writing programs without a GPU (docs/cuda.md). PyTorch, JAX, CuPy and, on the CPU, NumPy share the memory of a device's
arrays through DLPack, as in torch.from_dlpack(array).
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _c
from ._c import lib

CPU, GPU, CPU_AS_GPU = 0, 1, -1
ON_CPU, ON_CUDA = 1, 2  # DLPack's kinds of devices
KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}  # DLPack's kinds of numbers, by NumPy's


def number(device: str) -> int:
    """Returns the library's number of a device, or raises an error that names the missing library or GPU."""
    found = isinstance(device, str) and re.fullmatch(r"(cpu)|(cpu-as-gpu)|(?:cuda|gpu)(?::(\d+))?", device)
    if not found:
        raise ValueError(f"a device is cpu, cuda, cuda:1 ... or cpu-as-gpu; {device!r} is none of them")
    chosen = CPU if found[1] else CPU_AS_GPU if found[2] else GPU + int(found[3] or 0)
    missing = lib.vcs_device_missing(chosen)
    if missing:
        raise _c.VCSError(missing)
    return chosen


class _Tensor(ctypes.Structure):
    """DLPack's DLManagedTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("dimensions", ctypes.c_int32),
        ("kind", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_NAME = b"dltensor"
# Not ctypes.pythonapi itself, because other packages set prototypes there.
_python = ctypes.PyDLL("python", handle=ctypes.pythonapi._handle)
_new = _python.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_is_valid = _python.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
_pointer = _python.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]

_end = lib.raw("vcs_capsule_end")  # the destructor of capsules
lib.raw("vcs_capsule_prepare")(
    *(
        ctypes.cast(function, ctypes.c_void_p)
        for function in (_python.PyErr_Fetch, _python.PyErr_Restore, _is_valid, _pointer)
    )
)

_lent: dict[int, tuple[Any, Any]] = {}  # tensors with a consumer: their memory, and the library's deleter


@_DELETER
def _take_back(tensor: int) -> None:
    _memory, delete = _lent.pop(tensor)
    delete(tensor)


def _bytes(array: np.ndarray) -> np.ndarray:
    """The memory of a contiguous array."""
    return array.reshape(-1).view(np.uint8)


class Array:
    """Numbers in a device's memory. `ready` waits until they are computed; it is called before they are read."""

    def __init__(self, device: int, shape: tuple[int, ...], dtype: Any, ready: Callable[[], None]) -> None:
        self.device, self._shape, self._dtype, self.ready = device, tuple(shape), np.dtype(dtype), ready
        self.memory = lib.allocate(device, self.nbytes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, which stays that of the memory: `array.shape = ...` is refused, unlike NumPy's."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        where = f"cuda:{self.device - GPU}" if self.device >= GPU else "the CPU"
        return f"<{self.dtype} array of shape {self.shape} on {where}>"

    def numpy(self) -> np.ndarray:
        """Returns a copy in host memory."""
        self.ready()
        copied = np.empty(self.shape, self.dtype)
        lib.vcs_device_move(self.device, _bytes(copied), self, self.nbytes)
        return copied

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.numpy(), dtype)

    def fill(self, values: Any) -> None:
        """Copies numbers from host memory."""
        numbers = np.require(values, self.dtype, ["C", "A"])
        if numbers.shape != self.shape:
            raise ValueError(f"numbers of shape {self.shape} are expected, not {numbers.shape}")
        lib.vcs_device_move(self.device, self, _bytes(numbers), self.nbytes)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (ON_CUDA, self.device - GPU) if self.device >= GPU else (ON_CPU, 0)

    def __dlpack__(self, stream: Any = None, **_: Any) -> Any:
        """Shares the memory: the consumer sees the values that later steps write. All queued work is complete when this
        returns, so the consumer's stream does not matter.
        """
        self.ready()
        shape, dtype = self.shape, self.dtype
        if dtype.fields:  # records: each is a row of 16-bit numbers
            shape, dtype = (*shape, dtype.itemsize // 2), np.dtype(np.int16)
        found = lib.tensor(self.memory, shape, KINDS[dtype.kind], 8 * dtype.itemsize)
        tensor = _Tensor.from_address(found)
        _lent[found] = self.memory, _DELETER(tensor.deleter)
        tensor.deleter = ctypes.cast(_take_back, ctypes.c_void_p).value
        return _new(found, _NAME, ctypes.cast(_end, ctypes.c_void_p))


def put(device: int, array: np.ndarray) -> Array:
    """Returns a copy of an array on the device."""
    copied = Array(device, array.shape, array.dtype, lambda: None)
    copied.fill(array)
    return copied


class Borrowed:
    """An array of another library on a device, through DLPack. This object holds the array."""

    def __init__(self, array: Any, device: int, on_gpu: bool, stream: int) -> None:
        self._held = array, array.__dlpack__(stream=stream or 1) if on_gpu else array.__dlpack__()
        tensor = _Tensor.from_address(_pointer(id(self._held[1]), _NAME))
        self.shape = tuple(tensor.shape[: tensor.dimensions])
        self.size = int(np.prod(self.shape))
        kind = {v: k for k, v in KINDS.items()}.get(tensor.kind, "V")
        self.dtype = np.dtype(f"{kind}{max(tensor.bits // 8, 1)}")
        steps = [int(np.prod(self.shape[i + 1 :])) for i in range(len(self.shape))]
        self.dense = not tensor.strides or tensor.strides[: tensor.dimensions] == steps
        nbytes = self.size * self.dtype.itemsize if self.dense else 0
        self.memory = _c.Memory((tensor.data or 0) + tensor.offset, nbytes, device, self._held)

    def __repr__(self) -> str:
        return f"{self.dtype} of shape {self.shape}{'' if self.dense else ' with gaps'}"


def as_int32(array: Any, name: str) -> Any:
    """Converts an array of PyTorch, JAX, CuPy or the like to int32, by its own library on its own device. Numbers
    outside the range of int32 become -1 or 2^31 - 1, which are no actions, either. NumPy's arrays and lists are
    returned unchanged."""
    if isinstance(array, (np.ndarray, Array)) or not hasattr(array, "__dlpack__"):
        return array
    kind = str(array.dtype).rpartition(".")[2]  # "torch.int64" and "int64"
    if kind == "int32":
        return array
    if not kind.startswith(("int", "uint")):
        raise TypeError(f"{name} must be whole numbers, of an integer type, not {kind}")
    if hasattr(array, "long"):  # PyTorch has no clip for its unsigned types
        array, kind = array.long(), "int64"
    if kind.endswith(("int64", "uint32")):
        array = array.clip(0 if kind.startswith("u") else -1, 2**31 - 1)
    return array.int() if hasattr(array, "int") else array.astype("int32")


def borrow(array: Any, device: int, stream: int) -> Borrowed | None:
    """Returns an array that is already on the device, or None. NumPy's arrays are always the host's."""
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
        return None
    kind, which = (int(n) for n in array.__dlpack_device__())
    place = GPU + which if kind == ON_CUDA else CPU
    return Borrowed(array, device, kind == ON_CUDA, stream) if place == max(device, CPU) else None
