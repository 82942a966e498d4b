"""Vectors to reduce, drawn by Hypothesis: raw bits, so that every kind of number is among them."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from footplate_reduction.frames import Op, WireType

if TYPE_CHECKING:
    from collections.abc import Callable

wires = st.sampled_from(list(WireType))
ops = st.sampled_from(list(Op))

_ODD = {
    WireType.FLOAT16: [0, 0x8000, 1, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E01],
    WireType.BFLOAT16: [0, 0x8000, 1, 0x807F, 0x0080, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FFF],
    WireType.FLOAT32: [
        0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
        0x7FFFFFFF, 0x3F808000, 0x3F818000, 0x3F800001,
    ],
    WireType.FLOAT64: [0, 1 << 63, 1, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000,
                       0x7FF8000000000001, 0x3FF0000000000001],
}  # fmt: skip
"""Zeros, denormals, the largest, infinities, a NaN, and halves between two neighbours."""

_CODES = {2: "H", 4: "I", 8: "Q"}


def _any_bits(rng: random.Random, wire: WireType) -> int:
    return rng.getrandbits(8 * wire.itemsize)


def _odd(rng: random.Random, wire: WireType) -> int:
    return rng.choice(_ODD[wire])


def _near_one(rng: random.Random, wire: WireType) -> int:
    """Numbers of like size: their sums round at every step."""
    one = {
        WireType.FLOAT16: 0x3C00,
        WireType.BFLOAT16: 0x3F80,
        WireType.FLOAT32: 0x3F800000,
        WireType.FLOAT64: 0x3FF0000000000000,
    }[wire]
    sign = rng.getrandbits(1) << (8 * wire.itemsize - 1)
    return sign | (one + rng.getrandbits(6 if wire.itemsize == 2 else 22))


_KINDS: list[Callable[[random.Random, WireType], int]] = [_any_bits, _odd, _near_one]


def vector(seed: int, wire: WireType, count: int) -> bytes:
    """Of ``count`` elements, always the same for a seed."""
    rng = random.Random(seed)  # noqa: S311 - no secrets
    kind = rng.choice(_KINDS)
    words = [kind(rng, wire) for _ in range(count)]
    return struct.pack(f"<{count}{_CODES[wire.itemsize]}", *words)
