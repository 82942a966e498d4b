"""Workers and reducers together, over loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footplate_reduction.client import Client, Op, WireType
from reduction.tests.rig import as_workers

if TYPE_CHECKING:
    from reduction.tests.rig import ReducerProcesses


def test_eight_workers_and_eight_reducers(reducers: ReducerProcesses) -> None:
    addresses = [each.address for each in reducers.start(8)]

    def act(client: Client) -> list[bool]:
        right = []
        for size in (1, 1000, 300_000):
            vector = np.full(size, client.rank, np.float32)
            client.all_reduce(vector, WireType.FLOAT32)
            right.append(bool((vector == sum(range(8))).all()))
        return right

    assert as_workers(8, addresses, act) == [[True] * 3] * 8


def test_workers_get_sums_averages_and_rounded_wires(reducers: ReducerProcesses) -> None:
    addresses = [each.address for each in reducers.start(2, "--lanes", "2")]

    def act(client: Client) -> list[list[float]]:
        total = np.arange(100_000, dtype=np.float32) + client.rank
        mean, half = total.copy(), np.full(3, 1 + client.rank, np.float16)
        under_way = [
            client.start(total, WireType.FLOAT32),
            client.start(mean, WireType.FLOAT32, Op.AVERAGE, WireType.BFLOAT16),
            client.start(half, WireType.FLOAT16),
        ]
        for each in under_way:
            each.wait()
        assert client.collectives == 3
        return [total[[0, 1, -1]].tolist(), mean[[0, 1, -1]].tolist(), half.tolist()]

    expected = [[3.0, 6.0, 300_000.0], [1.0, 2.0, 99_840.0], [6.0, 6.0, 6.0]]
    assert as_workers(3, addresses, act) == [expected] * 3
