"""NumPy's sums in rank order, and its conversions to and from the wire format: what the library
must make of the same bits.

float16 and bfloat16 are added in float32 and rounded once, at the end; to nearest, ties to even.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from footplate_reduction.frames import Op, WireType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Array = NDArray[Any]

_PLAIN: dict[WireType, np.dtype[Any]] = {
    WireType.FLOAT32: np.dtype("<f4"),
    WireType.FLOAT64: np.dtype("<f8"),
}
_SINGLE = np.dtype("<f4")
_HALF = np.dtype("<f2")
_WORD = np.dtype("<u4")
_UPPER = np.dtype("<u2")
_QUIET_NAN = 0x7FC0


def add(parts: Sequence[Bytes], wire: WireType, op: Op, out: Bytes) -> None:
    """``out`` becomes the sum of ``parts``, in their order, or that divided by their number."""
    with np.errstate(all="ignore"):
        if wire in _PLAIN:
            views = [part.view(_PLAIN[wire]) for part in parts]
            _accumulate(views, op, out.view(_PLAIN[wire]))
        else:
            total = np.empty(out.size // 2, _SINGLE)
            _accumulate([widened(part, wire) for part in parts], op, total)
            narrow(total, wire, out)


def widened(part: Bytes, wire: WireType) -> Array:
    """Elements of FLOAT16 or BFLOAT16 as float32: exact."""
    if wire is WireType.FLOAT16:
        return part.view(_HALF).astype(_SINGLE)
    words = part.view(_UPPER).astype(_WORD)
    np.left_shift(words, 16, out=words)
    return words.view(_SINGLE)


def narrow(single: Array, wire: WireType, out: Bytes) -> None:
    """Elements of float32, rounded to FLOAT16 or BFLOAT16."""
    if wire is WireType.FLOAT16:
        with np.errstate(all="ignore"):
            out.view(_HALF)[:] = single
        return
    words = single.view(_WORD)
    upper = (words >> 16) & 1
    upper += 0x7FFF
    upper += words  # of a NaN it may overflow: mended below
    upper >>= 16
    out.view(_UPPER)[:] = np.where(np.isnan(single), _QUIET_NAN, upper)


def same(found: Array, expected: Array, wire: WireType) -> bool:
    """Bit for bit, but that a NaN is as good as any other."""
    found, expected = _floats(found, wire), _floats(expected, wire)
    nan = np.isnan(found)
    words = np.dtype(f"u{found.itemsize}")
    equal = found.view(words) == expected.view(words)
    return bool(np.array_equal(nan, np.isnan(expected)) and (equal | nan).all())


def _floats(held: Array, wire: WireType) -> Array:
    if wire is WireType.BFLOAT16:
        return widened(held.view(np.uint8), wire)
    return held.copy().view(_HALF if wire is WireType.FLOAT16 else _PLAIN[wire])


def _accumulate(views: Sequence[Array], op: Op, total: Array) -> None:
    if len(views) == 1:
        total[:] = views[0]
    else:
        np.add(views[0], views[1], out=total)
    for view in views[2:]:
        np.add(total, view, out=total)
    if op is Op.AVERAGE:
        np.divide(total, total.dtype.type(len(views)), out=total)
