"""NumPy's sums, by which the library's are judged, against those of Python's own numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from footplate_reduction.frames import Op, WireType
from reduction.tests import oracle, summation
from reduction.tests.vectors import ops, vector, wires
from tests.support.profiles import scaled


@given(wires, ops, st.integers(1, 16), st.integers(1, 67), st.integers(0, 1 << 32))
@settings(max_examples=scaled(300))
def test_sums_are_bit_exact(wire: WireType, op: Op, world: int, count: int, seed: int) -> None:
    parts = [vector(seed + rank, wire, count) for rank in range(world)]
    out = np.empty(count * wire.itemsize, np.uint8)
    summation.add([np.frombuffer(part, np.uint8) for part in parts], wire, op, out)
    assert oracle.same(out.tobytes(), oracle.reduced(parts, wire, op), wire)


@pytest.mark.parametrize("wire", [WireType.FLOAT16, WireType.BFLOAT16])
def test_every_short_number_widens_exactly_and_comes_back(wire: WireType) -> None:
    every = np.arange(1 << 16, dtype="<u2").view(np.uint8)
    single = summation.widened(every, wire)
    assert oracle.same(single.tobytes(), oracle.widened(every.tobytes(), wire), WireType.FLOAT32)
    back = np.empty_like(every)
    summation.narrow(single, wire, back)
    assert oracle.same(back.tobytes(), every.tobytes(), wire)


@pytest.mark.parametrize("wire", [WireType.FLOAT16, WireType.BFLOAT16])
@given(st.integers(0, 1 << 32))
def test_rounding_goes_to_the_nearest_and_ties_to_even(wire: WireType, seed: int) -> None:
    held = vector(seed, WireType.FLOAT32, 64)
    out = np.empty(128, np.uint8)
    summation.narrow(np.frombuffer(held, "<f4"), wire, out)
    assert oracle.same(out.tobytes(), oracle.rounded(held, wire), wire)


def test_parts_are_left_as_they_are() -> None:
    parts = [np.full(8, rank, np.uint8) for rank in range(3)]
    summation.add(parts, WireType.FLOAT32, Op.SUM, np.empty(8, np.uint8))
    assert [part.tolist() for part in parts] == [[rank] * 8 for rank in range(3)]


def test_the_order_of_ranks_is_the_order_of_adding() -> None:
    big, one = 2.0**24, 1.0
    for order, expected in (([one, one, big], big + 2), ([big, one, one], big)):
        parts = [np.array([number], "<f4").view(np.uint8) for number in order]
        out = np.empty(4, np.uint8)
        summation.add(parts, WireType.FLOAT32, Op.SUM, out)
        assert out.view("<f4")[0] == expected
