"""Hosts that nobody reaches any more: everybody learns who it was, the host itself included."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reduction.tests.network import Network, needs_network

TIMEOUT_S = 2.0
LARGE = 1 << 20


@pytest.fixture
def network() -> Iterator[Network]:
    needs_network()
    with Network() as made:
        yield made


@pytest.mark.parametrize("moment", ["idle", "in a collective"])
def test_a_worker_that_is_cut_off_is_named_and_learns_it(network: Network, moment: str) -> None:
    reducers = network.reducers(2)
    workers = network.workers(3, reducers, TIMEOUT_S)
    if moment == "in a collective":
        workers[1].expect(f"start {LARGE}")
    network.cut("w1")
    for worker in workers:
        worker.tell(f"reduce {LARGE}")
    for sentence, culprit in (workers[0].loss(), workers[2].loss()):
        assert culprit == 1, sentence
        assert sentence.startswith("worker 1 was lost")
    sentence, culprit = workers[1].loss()
    assert culprit is None
    assert "cut off" in sentence
    for each in reducers:
        each.await_line("worker 1")
        assert each.process.poll() is None


@pytest.mark.parametrize("moment", ["idle", "in a collective"])
def test_a_reducer_that_is_cut_off_is_named_and_ends(network: Network, moment: str) -> None:
    reducers = network.reducers(2)
    workers = network.workers(3, reducers, TIMEOUT_S)
    if moment == "in a collective":
        workers[0].expect(f"start {LARGE}")
    network.cut("r1")
    for worker in workers:
        worker.tell(f"reduce {LARGE}")
    for sentence, culprit in [worker.loss() for worker in workers]:
        assert culprit is None
        assert f"reducer {reducers[1].address} was lost" in sentence
    assert reducers[1].await_end() == 3
    assert "cut off" in reducers[1].await_line("cut off")
    assert reducers[0].process.poll() is None


def test_a_link_that_is_mended_in_time_is_no_loss(network: Network) -> None:
    reducers = network.reducers(1)
    workers = network.workers(2, reducers, 30.0)
    network.cut("w0")
    for worker in workers:
        worker.tell(f"reduce {LARGE}")
    network.restart_in_place("w0")
    for worker in workers:
        assert "said" in worker.answer()


def test_a_worker_whose_old_host_is_gone_waits_until_that_is_known(network: Network) -> None:
    """Its old connection waits for the others still, and nobody is behind it."""
    reducers = network.reducers(1)
    old = network.worker("old", 0, 2, reducers, TIMEOUT_S)
    new = network.worker("new", 0, 2, reducers, TIMEOUT_S)
    other = network.worker("other", 1, 2, reducers, TIMEOUT_S)
    old.tell("join")
    reducers[0].await_line("worker 0 of 2 joined")
    network.cut("old")
    new.tell("join")
    reducers[0].await_line("taken: ")
    reducers[0].await_line("worker 0 left")
    other.tell("join")
    for worker in (new, other):
        assert worker.answer().get("said") == "join"
    for worker in (new, other):
        worker.tell(f"reduce {LARGE}")
    for worker in (new, other):
        assert "said" in worker.answer()


def test_a_group_that_begins_with_a_host_that_is_gone_ends_and_sums_nothing(
    network: Network,
) -> None:
    reducers = network.reducers(1)
    old = network.worker("old", 0, 2, reducers, 5.0)
    other = network.worker("other", 1, 2, reducers, 5.0)
    old.tell("join")
    reducers[0].await_line("worker 0 of 2 joined")
    network.cut("old")
    other.expect("join")
    other.tell(f"reduce {LARGE}")
    sentence, culprit = other.loss()
    assert culprit == 0
    assert sentence.startswith("worker 0 was lost")


def test_a_group_of_several_lanes_learns_of_a_cut_link(network: Network) -> None:
    """On each lane, and through each other's."""
    reducers = network.reducers(2, "--lanes", "2")
    workers = network.workers(3, reducers, TIMEOUT_S)
    network.cut("w2")
    for worker in workers:
        worker.tell(f"reduce {LARGE}")
    for sentence, culprit in [worker.loss() for worker in workers[:2]]:
        assert culprit == 2, sentence
    workers[2].loss()
