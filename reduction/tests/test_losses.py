"""Processes that die, stop or disagree: all others learn of it, and of whose doing it was."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from reduction.tests.rig import ReducerProcess, ReducerProcesses, WorkerProcess

LARGE = 1 << 20


@pytest.fixture
def pair(reducers: ReducerProcesses) -> Iterator[list[ReducerProcess]]:
    """Two reducers, which serve on after whatever the test did."""
    both = reducers.start(2)
    yield both
    if all(each.process.poll() is None for each in both):
        _serves(reducers, both)


def _serves(reducers: ReducerProcesses, some: list[ReducerProcess]) -> None:
    for worker in (members := reducers.workers(2, some, group="after")):
        worker.tell(f"reduce {LARGE}")
    for worker in members:
        assert "said" in worker.answer()
        worker.expect("close")


def _all_raise(workers: list[WorkerProcess], culprit: int | None, *words: str) -> None:
    """What was told before ends with the same culprit, and words, for all."""
    for worker in workers:
        sentence, named = worker.loss()
        assert named == culprit, sentence
        for word in words:
            assert word in sentence


def test_a_worker_that_is_killed_in_a_collective_is_named_to_all(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    workers = reducers.workers(3, pair)
    workers[1].expect(f"start {LARGE}")
    workers[0].tell(f"reduce {LARGE}")
    workers[1].signal(signal.SIGKILL)
    workers[2].tell(f"reduce {LARGE}")
    _all_raise([workers[0], workers[2]], 1, "worker 1")
    for each in pair:
        assert "worker 1" in each.await_line("ended")


def test_a_worker_that_is_killed_between_collectives_is_named_to_all(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    workers = reducers.workers(3, pair)
    for worker in workers:
        worker.tell(f"reduce {LARGE}")
    for worker in workers:
        worker.answer()
    workers[2].signal(signal.SIGKILL)
    for each in pair:
        each.await_line("ended")
    for worker in workers[:2]:
        worker.tell(f"reduce {LARGE}")
    _all_raise(workers[:2], 2, "worker 2")


def test_a_worker_that_is_killed_is_named_although_its_children_live(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    """As the processes of a data loader do."""
    workers = reducers.workers(2, pair)
    workers[0].tell("fork")
    child = workers[0].answer()["child"]
    assert isinstance(child, int)
    try:
        workers[0].signal(signal.SIGKILL)
        workers[1].tell(f"reduce {LARGE}")
        _all_raise([workers[1]], 0, "worker 0 was lost")
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_worker_that_ends_without_a_word_has_left(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    workers = reducers.workers(2, pair)
    for worker in workers:
        worker.tell(f"reduce {LARGE}")
    for worker in workers:
        worker.answer()
        worker.end()
    for each in pair:
        each.await_line("all workers have left")


def test_a_worker_that_raises_tells_all_others_what(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    workers = reducers.workers(3, pair)
    for worker in workers[:2]:
        worker.tell(f"reduce {LARGE}")
    workers[2].tell("raise")
    _all_raise(workers[:2], 2, "worker 2 left", "OSError: the data set is gone")


def test_a_reducer_that_is_killed_is_named_to_all(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    workers = reducers.workers(3, pair)
    for worker in workers[:2]:
        worker.tell(f"reduce {LARGE}")
    pair[0].signal(signal.SIGKILL)
    pair[1].await_line("ended")
    workers[2].tell(f"reduce {LARGE}")
    _all_raise(workers, None, f"reducer {pair[0].address} was lost")
    _serves(reducers, pair[1:])


def test_a_reducer_that_is_told_to_end_says_so(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    workers = reducers.workers(3, pair)
    for worker in workers[:2]:
        worker.tell(f"reduce {LARGE}")
    pair[1].signal(signal.SIGTERM)
    assert pair[1].await_end() == 0
    pair[0].await_line("ended")
    workers[2].tell(f"reduce {LARGE}")
    _all_raise(workers, None, f"reducer {pair[1].address} was told to end")
    _serves(reducers, pair[:1])


def test_a_reducer_that_is_stopped_is_named(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    workers = reducers.workers(3, pair, patience_s=1, timeout_s=1)
    pair[0].signal(signal.SIGSTOP)
    for worker in workers:
        worker.tell(f"reduce {LARGE}")
    _all_raise(workers, None, f"reducer {pair[0].address}")
    pair[0].signal(signal.SIGCONT)


def test_a_worker_that_is_stopped_is_named(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    workers = reducers.workers(3, pair, patience_s=1)
    workers[1].signal(signal.SIGSTOP)
    for worker in (workers[0], workers[2]):
        worker.tell(f"reduce {LARGE}")
    _all_raise([workers[0], workers[2]], 1, "worker 1 sent no part of collective 0")
    workers[1].signal(signal.SIGCONT)
    workers[1].tell(f"reduce {LARGE}")
    _all_raise([workers[1]], 1, "worker 1 sent no part of collective 0")


@pytest.mark.parametrize("other", ["8192", "4096 FLOAT64"])
def test_workers_that_disagree_are_named(
    reducers: ReducerProcesses, pair: list[ReducerProcess], other: str
) -> None:
    workers = reducers.workers(3, pair)
    for worker in workers:
        worker.tell("start 4096" if worker is workers[0] else f"start {other}")
        worker.tell("wait")
    sentences = []
    for worker in workers:
        while "error" not in (answer := worker.answer()):
            pass
        assert answer["culprit"] is None
        sentences.append(str(answer["error"]))
    for sentence in sentences:
        assert sentence.startswith("workers disagree: worker ")
        assert "worker 0 sends" in sentence


def test_a_group_goes_on_beside_one_that_is_lost(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    lost = reducers.workers(2, pair, group="lost")
    lives = reducers.workers(2, pair, group="lives")
    lost[0].signal(signal.SIGKILL)
    for each in pair:
        each.await_line("ended")
    for worker in lives:
        worker.tell(f"reduce {LARGE}")
    for worker in lives:
        assert "said" in worker.answer()


def test_the_name_of_a_lost_group_is_free_again(
    reducers: ReducerProcesses, pair: list[ReducerProcess]
) -> None:
    first = reducers.workers(2, pair, group="1/0")
    first[0].signal(signal.SIGKILL)
    second = reducers.workers(2, pair, group="1/0")
    first[1].tell("reduce 64")
    _all_raise([first[1]], 0, "worker 0")
    for worker in second:
        worker.tell(f"reduce {LARGE}")
    for worker in second:
        assert "said" in worker.answer()
