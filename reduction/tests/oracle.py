"""What a sum must be, worked out element by element in Python's own numbers: slow, and obvious.

A double holds two floats' sum or quotient so well that rounding it once more, to float, gives the
same as rounding the exact one.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from footplate_reduction.frames import Op, WireType

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORDS = {2: "H", 4: "I", 8: "Q"}


def reduced(parts: Sequence[bytes], wire: WireType, op: Op) -> bytes:
    """Of the parts of all ranks, in their order, as they travel."""
    numbers = [_numbers(part, wire) for part in parts]
    totals = [_total(column, wire, op) for column in zip(*numbers, strict=True)]
    return b"".join(_packed(total, wire) for total in totals)


def rounded(held: bytes, wire: WireType) -> bytes:
    """Elements of float32 as they travel where they travel narrower."""
    return b"".join(_packed(number, wire) for number in _numbers(held, WireType.FLOAT32))


def widened(travelled: bytes, wire: WireType) -> bytes:
    return b"".join(_packed(number, WireType.FLOAT32) for number in _numbers(travelled, wire))


def same(one: bytes, other: bytes, wire: WireType) -> bool:
    """Bit for bit, but that one NaN is as good as another."""
    code = _WORDS[wire.itemsize]
    words = zip(_unpacked(one, code), _unpacked(other, code), strict=True)
    for index, (left, right) in enumerate(words):
        if left != right and not (_is_nan(one, index, wire) and _is_nan(other, index, wire)):
            return False
    return True


def _total(column: Sequence[float], wire: WireType, op: Op) -> float:
    double = wire is WireType.FLOAT64
    total = column[0]
    for number in column[1:]:
        total = total + number if double else _single(total + number)
    if op is Op.AVERAGE:
        total = total / len(column) if double else _single(total / len(column))
    return total


def _numbers(held: bytes, wire: WireType) -> list[float]:
    if wire is WireType.BFLOAT16:
        return [
            float(struct.unpack("<f", struct.pack("<I", int(upper) << 16))[0])
            for upper in _unpacked(held, "H")
        ]
    code = {WireType.FLOAT32: "f", WireType.FLOAT64: "d", WireType.FLOAT16: "e"}[wire]
    return [float(number) for number in _unpacked(held, code)]


def _packed(number: float, wire: WireType) -> bytes:
    if wire is WireType.BFLOAT16:
        return struct.pack("<H", _upper_half(number))
    code = {WireType.FLOAT32: "<f", WireType.FLOAT64: "<d", WireType.FLOAT16: "<e"}[wire]
    try:
        return struct.pack(code, number)
    except OverflowError:
        return struct.pack(code, math.copysign(math.inf, number))


def _upper_half(number: float) -> int:
    if math.isnan(number):
        return 0x7FC0
    (word,) = struct.unpack("<I", _packed(number, WireType.FLOAT32))
    upper, rest = int(word) >> 16, int(word) & 0xFFFF
    if rest > 0x8000 or (rest == 0x8000 and upper % 2):
        upper += 1
    return upper


def _single(number: float) -> float:
    return float(struct.unpack("<f", _packed(number, WireType.FLOAT32))[0])


def _unpacked(held: bytes, code: str) -> tuple[float, ...]:
    return struct.unpack(f"<{len(held) // struct.calcsize('<' + code)}{code}", held)


def _is_nan(held: bytes, index: int, wire: WireType) -> bool:
    element = held[index * wire.itemsize : (index + 1) * wire.itemsize]
    return math.isnan(_numbers(element, wire)[0])
