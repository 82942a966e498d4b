"""A client that nobody holds any more."""

from __future__ import annotations

import socket

from footplate_reduction.frames import HEADER_BYTES, FrameType, Header
from footplate_reduction.limits import Limits
from footplate_reduction.native.sender import Sender

LONG_S = 60.0


def test_a_sender_that_is_dropped_says_goodbye() -> None:
    here, there = socket.socketpair()
    there.settimeout(LONG_S)
    sender = Sender([here], rank=0, world=1, limits=Limits())
    del sender
    assert Header.unpack(there.recv(HEADER_BYTES)).type is FrameType.BYE
    there.close()
