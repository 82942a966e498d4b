"""Eight workers and eight reducers, each on a host of its own."""

from __future__ import annotations

import hashlib

from reduction.tests.network import Network, needs_network
from reduction.tests.worker import numbers

HOSTS = 8
ELEMENTS = 50_000
TIMEOUT_S = 30.0


def test_all_ranks_get_the_same_bits_and_they_are_the_sum_in_the_order_of_ranks() -> None:
    needs_network()
    total = numbers(0, ELEMENTS)
    for rank in range(1, HOSTS):
        total += numbers(rank, ELEMENTS)
    with Network() as network:
        reducers = network.reducers(HOSTS)
        workers = network.workers(HOSTS, reducers, TIMEOUT_S)
        for worker in workers:
            worker.tell(f"digest {ELEMENTS}")
        digests = [worker.answer()["digest"] for worker in workers]
    assert digests == [hashlib.sha256(total.tobytes()).hexdigest()] * HOSTS
