"""The frames of the protocol: a header of 32 bytes, then a payload (PROTOCOL.md)."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

MAGIC = 0x31525046
"""``FPR1``, as the bytes stand on the wire."""
VERSION = 1
NOBODY = 0xFFFFFFFF
"""The rank of an ERROR of which no worker is the culprit."""
MAX_HANDSHAKE_FRAME = 4096
LONGEST_ERROR = 1024
LONGEST_CHUNK = 4 << 20
"""Payload of a DATA frame."""
WINDOW = 4 << 20
"""A reducer reads on from a connection while it keeps fewer bytes of it, and adds on while fewer
bytes of results wait for the slowest worker."""
_HEADER = struct.Struct("<IBBBBIIQII")
HEADER_BYTES = _HEADER.size


class FrameType(IntEnum):
    CHALLENGE = 1
    HELLO = 2
    WELCOME = 3
    DATA = 4
    RESULT = 5
    ERROR = 6
    BYE = 7


class WireType(IntEnum):
    """The type of the elements on the wire."""

    FLOAT32 = 0
    FLOAT16 = 1
    BFLOAT16 = 2
    FLOAT64 = 3

    @property
    def itemsize(self) -> int:
        return _ITEM_BYTES[self]


class Op(IntEnum):
    SUM = 0
    AVERAGE = 1


class Header(NamedTuple):
    """The header of a frame: the fields of PROTOCOL.md without magic and flags."""

    type: FrameType
    wire: WireType = WireType.FLOAT32
    op: Op = Op.SUM
    seq: int = 0
    nbytes: int = 0
    offset: int = 0
    rank: int = 0
    total: int = 0

    def pack(self) -> bytes:
        return _HEADER.pack(
            MAGIC,
            self.type,
            self.wire,
            self.op,
            0,
            self.seq,
            self.nbytes,
            self.offset,
            self.rank,
            self.total,
        )

    @classmethod
    def unpack(cls, packed: bytes | bytearray | memoryview) -> Header:
        """Returns the header from its packed form. Raises ValueError for another protocol."""
        magic, kind, wire, op, flags, seq, nbytes, offset, rank, total = _HEADER.unpack(packed)
        if magic != MAGIC or flags:
            raise ValueError("not a frame of this protocol")
        return cls(FrameType(kind), WireType(wire), Op(op), seq, nbytes, offset, rank, total)


_ITEM_BYTES = {
    WireType.FLOAT32: 4,
    WireType.FLOAT16: 2,
    WireType.BFLOAT16: 2,
    WireType.FLOAT64: 8,
}
