"""The library's sums and casts, bit for bit as NumPy's, by each set of instructions that it has."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate_reduction.frames import Op, WireType
from footplate_reduction.native.library import Library
from reduction.tests import summation

_HALVES = (WireType.FLOAT16, WireType.BFLOAT16)
_seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("baseline", [False, True])
@given(
    wire=st.sampled_from(WireType),
    op=st.sampled_from(Op),
    world=st.integers(1, 9),
    count=st.integers(0, 200),
    seed=_seeds,
    shift=st.integers(0, 3),
)
def test_sums_have_the_same_bits(
    library: Library,
    baseline: bool,  # noqa: FBT001
    wire: WireType,
    op: Op,
    world: int,
    count: int,
    seed: int,
    shift: int,
) -> None:
    # Any bits at all: of NaNs, infinities and subnormals, too; at addresses of any alignment.
    random = np.random.default_rng(seed)
    nbytes = count * wire.itemsize
    held = [random.integers(0, 256, nbytes + shift, np.uint8)[shift:] for _ in range(world)]
    expected = np.empty(nbytes, np.uint8)
    summation.add(held, wire, op, expected)
    addresses = (ctypes.c_void_p * world)(*(each.ctypes.data for each in held))
    into = held[0].ctypes.data  # the first part's place, as a lane has it
    library.sum(baseline, wire, op is Op.AVERAGE, world, into, addresses, count)
    assert summation.same(held[0], expected, wire)


@pytest.mark.parametrize("baseline", [False, True])
@pytest.mark.parametrize("wire", _HALVES)
def test_every_half_is_widened_as_numpy_does(
    library: Library,
    baseline: bool,  # noqa: FBT001
    wire: WireType,
) -> None:
    halves = np.arange(1 << 16, dtype=np.uint16)
    single = np.empty(halves.size, np.float32)
    assert library.cast(baseline, wire, False, halves.ctypes.data, single.ctypes.data, halves.size)
    assert summation.same(single, summation.widened(halves.view(np.uint8), wire), WireType.FLOAT32)


@pytest.mark.parametrize("baseline", [False, True])
@given(wire=st.sampled_from(_HALVES), seed=_seeds, exponent=st.integers(0, 255))
def test_floats_are_narrowed_as_numpy_does(
    library: Library,
    baseline: bool,  # noqa: FBT001
    wire: WireType,
    seed: int,
    exponent: int,
) -> None:
    random = np.random.default_rng(seed)
    words = random.integers(0, 1 << 23, 1003, np.uint32) | np.uint32(exponent << 23)
    words[::3] &= 0xFFFFE000 | np.uint32(1 << 12)  # ties, for either half
    words[1::3] &= 0xFFFF8000
    single = words.view(np.float32)
    halves, expected = np.empty((2, single.size), np.uint16)
    assert library.cast(baseline, wire, True, single.ctypes.data, halves.ctypes.data, single.size)
    summation.narrow(single, wire, expected.view(np.uint8))
    assert summation.same(halves, expected, wire)


@pytest.mark.parametrize("baseline", [False, True])
def test_the_order_of_ranks_is_the_order_of_adding(library: Library, *, baseline: bool) -> None:
    big, one = 2.0**24, 1.0
    for order, expected in (([one, one, big], big + 2), ([big, one, one], big)):
        held = [np.array([number], np.float32) for number in order]
        addresses = (ctypes.c_void_p * 3)(*(each.ctypes.data for each in held))
        library.sum(baseline, WireType.FLOAT32, False, 3, held[0].ctypes.data, addresses, 1)
        assert held[0][0] == expected


def test_nothing_is_cast_that_is_no_half(library: Library) -> None:
    assert not library.cast(False, WireType.FLOAT64, True, 0, 0, 0)
