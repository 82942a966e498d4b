"""Writes event files byte by byte, by nothing but the specifications of their formats."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DT_FLOAT, DT_STRING = 1, 7


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _divide((crc ^ byte) & 0xFF) ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


@cache
def _divide(byte: int) -> int:
    """Bit by bit."""
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    return byte


def masked(data: bytes) -> bytes:
    crc = crc32c(data)
    rotated = (crc >> 15) | ((crc << 17) & 0xFFFFFFFF)
    return struct.pack("<I", (rotated + 0xA282EAD8) & 0xFFFFFFFF)


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def double(field: int, value: float) -> bytes:
    return varint(field << 3 | 1) + struct.pack("<d", value)


def text(field: int, value: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(value)) + value


def single(field: int, value: float) -> bytes:
    return varint(field << 3 | 5) + struct.pack("<f", value)


def simple(tag: str, value: float) -> bytes:
    """A Summary.Value of v1."""
    return text(1, tag.encode()) + single(2, value)


def tensor(dtype: int, *rest: bytes, sizes: tuple[int, ...] = ()) -> bytes:
    shape = b"".join(text(2, number(1, size)) for size in sizes)
    return number(1, dtype) + text(2, shape) + b"".join(rest)


def scalar(tag: str, held: bytes, plugin: str = "scalars") -> bytes:
    """A Summary.Value of v2; ``held``: its tensor."""
    metadata = text(9, text(1, text(1, plugin.encode()))) if plugin else b""
    return text(1, tag.encode()) + text(8, held) + metadata


def event(*values: bytes, step: int = 0, time: float = 1_000.0) -> bytes:
    summary = b"".join(text(1, value) for value in values)
    return double(1, time) + (number(2, step) if step else b"") + text(5, summary)


HEADER = double(1, 1_000.0) + text(3, b"brain.Event:2")


def write(path: Path, *events: bytes) -> Path:
    """A file, or more of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.exists()
    with path.open("ab") as file:
        if not begun:
            file.write(record(HEADER))
        for each in events:
            file.write(record(each))
    return path
