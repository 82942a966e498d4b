"""ctypes bindings of core.cpp, with the types of all arguments."""

from __future__ import annotations

import ctypes
from ctypes import (
    POINTER,
    c_bool,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import NOBODY

if TYPE_CHECKING:
    import socket
    from ctypes import Array, c_char
    from typing import Sequence

INTERFACE = 1
"""What ``footplate_interface`` of core.cpp says."""
PATH = Path(__file__).with_name("core.so")
LONGEST_SENTENCE = 4096


class LibraryError(ReductionError):
    """The library is missing or of another version, so no group can form."""


class Status(IntEnum):
    DONE = 0
    GOING_ON = 1
    LOST = 2
    CUT_OFF = 3
    FAILED = 4


class LaneCounters(ctypes.Structure):
    _fields_ = (
        ("received_bytes", c_uint64),
        ("sent_bytes", c_uint64),
        ("collectives", c_uint64),
        ("adding_s", c_double),
        ("waiting_s", c_double),
    )


_DESCRIPTORS = POINTER(c_int32)
_TEXT = (c_char_p, c_size_t)
_LOSS = (c_void_p, *_TEXT, POINTER(c_uint32))
_FUNCTIONS = {
    "interface": (c_uint32, ()),
    "instructions": (c_char_p, ()),
    "failure": (c_size_t, _TEXT),
    "sum": (None, (c_bool, c_uint8, c_bool, c_uint32, c_void_p, POINTER(c_void_p), c_uint64)),
    "cast": (c_bool, (c_bool, c_uint8, c_bool, c_void_p, c_void_p, c_uint64)),
    "lane_open": (
        c_void_p,
        (_DESCRIPTORS, c_uint32, c_char_p, c_double, c_double, c_uint64, c_int32),
    ),
    "lane_run": (c_int32, (c_void_p, c_int32, POINTER(LaneCounters))),
    "lane_loss": (c_size_t, _LOSS),
    "lane_close": (None, (c_void_p,)),
    "sender_open": (
        c_void_p,
        (
            _DESCRIPTORS,
            POINTER(c_char_p),
            c_uint32,
            c_uint32,
            c_uint32,
            c_double,
            c_double,
            c_uint64,
        ),
    ),
    "sender_start": (
        c_int64,
        (
            c_void_p,
            c_void_p,
            c_uint8,
            c_uint8,
            c_uint8,
            c_uint64,
            POINTER(c_uint64),
            POINTER(c_uint32),
            POINTER(c_uint64),
        ),
    ),
    "sender_wait": (c_int32, (c_void_p, c_uint32, c_int32)),
    "sender_loss": (c_size_t, _LOSS),
    "sender_say_bye": (None, (c_void_p, c_char_p)),
    "sender_close": (None, (c_void_p,)),
}


class Library:
    """The C functions by name, without ``footplate_``. All of them release the GIL."""

    def __init__(self, path: Path) -> None:
        loaded = ctypes.CDLL(str(path))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, "footplate_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # for type checkers: __init__ has set all there are
        raise AttributeError(name)

    def instruction_set(self) -> str:
        """Returns the CPU instructions with which the library adds, for people: ``AVX2``."""
        return str(self.instructions().decode())

    def last_failure(self) -> str:
        """Returns why the last call of this thread failed."""
        text = ctypes.create_string_buffer(LONGEST_SENTENCE)
        return _decoded(text, self.failure(text, len(text)))

    def lane_error(self, lane: int) -> ReductionError:
        """Returns the error that has ended the lane's group."""
        return self._error(self.lane_loss, lane)

    def sender_error(self, sender: int) -> ReductionError:
        return self._error(self.sender_loss, sender)

    @staticmethod
    def _error(ask: Callable[..., int], handle: int) -> ReductionError:
        text = ctypes.create_string_buffer(LONGEST_SENTENCE)
        culprit = c_uint32(NOBODY)
        size = ask(handle, text, len(text), ctypes.byref(culprit))
        known = culprit.value != NOBODY
        return ReductionError(_decoded(text, size), culprit.value if known else None)


@lru_cache(maxsize=1)
def load() -> Library:
    """Loads the C++ library. Raises LibraryError, which says how to install it."""
    if not PATH.exists():
        raise LibraryError(
            "footplate-reduction was installed without its C++ library: install a C++ compiler "
            "(g++), then install footplate-reduction again"
        )
    try:
        library = Library(PATH)
    except (OSError, AttributeError) as error:
        raise LibraryError(
            f"the C++ library of footplate-reduction can't be loaded: {error}; {_AGAIN}"
        ) from error
    found = library.interface()
    if found != INTERFACE:
        message = (
            "the C++ library of footplate-reduction has interface {}, not {}: it was compiled from "
            "another version; {}"
        )
        raise LibraryError(message.format(found, INTERFACE, _AGAIN))
    return library


def descriptors(connections: Sequence[socket.socket]) -> Array[c_int32]:
    """Detaches the connections' descriptors; the library closes them from here on."""
    return (c_int32 * len(connections))(*(each.detach() for each in connections))


def _decoded(text: Array[c_char], size: int) -> str:
    return text.raw[:size].decode("utf-8", "replace")


_AGAIN = "install footplate-reduction again on the machine that runs it"
