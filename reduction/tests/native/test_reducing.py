"""Workers and lanes: the same bits everywhere, whatever the shapes, numbers and ways."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from footplate_reduction.frames import Op, WireType
from footplate_reduction.limits import Limits
from footplate_reduction.native.sender import Sender
from reduction.tests import summation
from reduction.tests.native.lanes import Lanes
from reduction.tests.rig import LONG_S
from reduction.tests.vectors import ops, vector, wires
from tests.support.profiles import scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Way(NamedTuple):
    """One all-reduce: of what, and as what it travels."""

    held: WireType
    wire: WireType
    op: Op
    length: int
    seed: int

    def part(self, rank: int) -> bytes:
        return vector(self.seed + rank, self.held, self.length)

    def is_result(self, held: bytes, world: int) -> bool:
        """Whether this is what the parts of so many ranks add up to."""
        parts = [np.frombuffer(self.part(rank), np.uint8) for rank in range(world)]
        if self.held is not self.wire:
            parts = [self._narrowed(part) for part in parts]
        total = np.empty(self.length * self.wire.itemsize, np.uint8)
        summation.add(parts, self.wire, self.op, total)
        if self.held is not self.wire:
            total = summation.widened(total, self.wire)
        return summation.same(np.frombuffer(held, np.uint8), total, self.held)

    def _narrowed(self, part: NDArray[np.uint8]) -> NDArray[np.uint8]:
        out = np.empty(self.length * self.wire.itemsize, np.uint8)
        summation.narrow(part.view(np.float32), self.wire, out)
        return out


class Shape(NamedTuple):
    world: int
    endpoints: int
    limits: Limits


narrow = st.sampled_from([WireType.FLOAT16, WireType.BFLOAT16])
types = st.tuples(wires, st.none()) | st.tuples(st.just(WireType.FLOAT32), narrow)
counts = st.sampled_from([0, 1, 2]) | st.integers(0, 1500)
ways = st.builds(
    lambda kind, op, count, seed: Way(kind[0], kind[1] or kind[0], op, count, seed),
    types,
    ops,
    counts,
    st.integers(0, 1 << 32),
)
limits = st.builds(
    Limits,
    timeout_s=st.just(LONG_S),
    patience_s=st.just(LONG_S),
    budget_bytes=st.sampled_from([1, 1 << 16, 1 << 20]),
    chunk_bytes=st.sampled_from([0, 1, 64, 100, 512, 1 << 20]),
)
shapes = st.builds(Shape, st.integers(1, 4) | st.just(16), st.integers(1, 4), limits)


def all_reduced(shape: Shape, ways: list[Way]) -> list[list[bytes]]:
    """What each worker holds in the end. All collectives are started before any is awaited."""
    with Lanes(shape.world, shape.endpoints, shape.limits) as lanes:

        def work(rank: int) -> list[bytes]:
            sender = Sender(lanes.connections[rank], rank, shape.world, shape.limits)
            held = [bytearray(way.part(rank)) for way in ways]
            under_way = [
                sender.start(memoryview(each), way.held, way.op, way.wire)
                for each, way in zip(held, ways, strict=True)
            ]
            for pending in under_way:
                pending.wait()
            sender.close()
            return [bytes(each) for each in held]

        with ThreadPoolExecutor(shape.world) as pool:
            results = list(pool.map(work, range(shape.world), timeout=LONG_S))
        assert [lanes.outcome(each) for each in range(shape.endpoints)] == [None] * shape.endpoints
    return results


@given(shape=shapes, ways=st.lists(ways, min_size=1, max_size=4))
@settings(max_examples=scaled(60), deadline=None)
def test_all_workers_hold_what_numpy_adds_up(shape: Shape, ways: list[Way]) -> None:
    results = all_reduced(shape, ways)
    assert all(result == results[0] for result in results)
    for way, held in zip(ways, results[0], strict=True):
        assert way.is_result(held, shape.world)


def test_a_large_vector_comes_through_small_windows() -> None:
    limits = Limits(timeout_s=LONG_S, patience_s=LONG_S, budget_bytes=1, chunk_bytes=64)
    shape = Shape(2, 3, limits)
    way = Way(WireType.FLOAT32, WireType.FLOAT32, Op.AVERAGE, 50_000, 7)
    for held in all_reduced(shape, [way]):
        assert way.is_result(held[0], 2)


def test_counters_say_what_went_through() -> None:
    limits = Limits(timeout_s=LONG_S, patience_s=LONG_S)
    with Lanes(1, 1, limits) as lanes:
        sender = Sender(lanes.connections[0], 0, 1, limits)
        for _ in range(3):
            sender.start(memoryview(bytearray(4096)), WireType.FLOAT32, Op.SUM).wait()
        sender.close()
        assert lanes.outcome() is None
        assert lanes.counters[0].received_bytes == 3 * 4096
        assert lanes.counters[0].sent_bytes >= 3 * 4096
        assert lanes.counters[0].collectives == 3
