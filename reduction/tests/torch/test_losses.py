"""A worker that is lost ends the training of all others, who hear which one it was."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reduction.tests.rig import ReducerProcesses
    from reduction.tests.torch.ranks import Ranks


@pytest.mark.parametrize("way", [{"backend": "gloo", "hook": True}, {"backend": "footplate"}])
def test_a_killed_worker(ranks: Ranks, reducers: ReducerProcesses, way: dict[str, Any]) -> None:
    ended = ranks.run("lose", 3, reducers.start(2), how="kill", **way)
    assert [one.status for one in ended] == [0, 0, -signal.SIGKILL], ended[0].output
    for one in ended[:2]:
        for error in one.value["errors"]:
            assert "ReductionError: " in error
            assert "worker 2" in error
            assert "cast" not in error


def test_a_worker_whose_program_fails_says_why(ranks: Ranks, reducers: ReducerProcesses) -> None:
    ended = ranks.run("lose", 3, reducers.start(1), backend="gloo", hook=True, how="raise")
    assert [one.status for one in ended] == [0, 0, 1], ended[0].output
    for one in ended[:2]:
        assert "worker 2" in one.value["errors"][0]
        assert "ZeroDivisionError: a bug of the program" in one.value["errors"][0]


def test_all_reduce_raises_the_error_itself(ranks: Ranks, reducers: ReducerProcesses) -> None:
    first, second = ranks.run("lose_one_sum", 2, reducers.start(1))
    assert (first.status, second.status) == (0, -signal.SIGKILL), first.output
    assert first.value["culprit"] == 1
    assert "worker 1" in first.value["error"]
