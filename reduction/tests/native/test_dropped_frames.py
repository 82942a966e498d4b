"""A client that nobody holds any more."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from footplate_reduction.frames import HEADER_BYTES, FrameType, Header
from footplate_reduction.limits import Limits
from footplate_reduction.native.cpp_engine import Native

if TYPE_CHECKING:
    from footplate_reduction.native.library import Library

LONG_S = 60.0


def test_a_sender_that_is_dropped_says_goodbye(library: Library) -> None:
    here, there = socket.socketpair()
    there.settimeout(LONG_S)
    sender = Native(library).sender([here], rank=0, world=1, limits=Limits())
    del sender
    assert Header.unpack(there.recv(HEADER_BYTES)).type is FrameType.BYE
    there.close()
