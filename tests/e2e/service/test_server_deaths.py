"""The server is killed at any moment of the life of gangs, and nobody notices."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.states import State
from tests.e2e.service.test_fault_injector import MASTER, PAIR, WORKER
from tests.support.profiles import scaled
from tests.support.supervised import find_living

if TYPE_CHECKING:
    from footplate.domain.names import TrainingJobName
    from tests.e2e.service.conftest import Desk

ROUNDS = scaled(6)
COUNTER = """
import time
for number in range(150):
    print("line", number, flush=True)
    time.sleep(0.002)
"""
LAST = 150


def progress(desk: Desk, name: TrainingJobName) -> int:
    """How much has become known of the job: its events, and its lines."""
    with desk.client() as client:
        return sum(1 for _ in client.events(name)) + sum(1 for _ in client.logs(name))


@pytest.mark.parametrize("seed", range(2))
def test_kills_at_random_moments(desk: Desk, seed: int) -> None:
    """A moment is some number of events and lines after the last one."""
    rng = random.Random(seed)  # noqa: S311  not a secret
    names = [desk.submit(COUNTER, **PAIR) for _ in range(2)]
    for _ in range(ROUNDS):
        name = rng.choice(names)
        wanted = progress(desk, name) + rng.choice([0, 1, 2, 4, 8, 30, 100])
        desk.until(
            lambda name=name, wanted=wanted: (  # type: ignore[misc]  # bound on purpose
                desk.job(name).state.terminal or progress(desk, name) >= wanted
            )
        )
        desk.service.kill()
        with pytest.raises(Unavailable):
            desk.job(name)
        desk.service.start()

    for name in names:
        job = desk.wait_for(name, State.SUCCEEDED)
        assert "startTime" in job.resource
        lines = desk.lines(name)
        for replica in (MASTER, WORKER):
            printed = [line.message for line in lines if line.replica == replica]
            assert printed == [f"line {n}" for n in range(len(printed))]
            assert replica == WORKER or len(printed) == LAST
        with desk.client() as client:
            assert {"RESTART", "RETRY"}.isdisjoint(event.kind for event in client.events(name))
    assert find_living(str(desk.service.data_dir / "replicas")) == []
