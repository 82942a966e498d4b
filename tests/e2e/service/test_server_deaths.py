"""The server is killed at any moment of the life of gangs, and nobody notices."""

from __future__ import annotations

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from tests.e2e.service.conftest import Context
from tests.e2e.service.test_fault_injector import MASTER, PAIR, WORKER
from tests.support.profiles import scaled, seeded
from tests.support.supervisor_process import find_living

ROUNDS = scaled(6)
COUNTER = """
import time
for number in range(150):
    print(f"line {number}", flush=True)
    time.sleep(0.002)
"""
LAST = 150


def progress(context: Context, name: TrainingJobName) -> int:
    """How much has become known of the job: its events, and its lines."""
    with context.client() as client:
        return sum(1 for _ in client.events(name)) + sum(1 for _ in client.logs(name))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.soak)])
def test_kills_at_random_moments(context: Context, seed: int) -> None:
    """A moment is some number of events and lines after the last one."""
    rng = seeded(seed)
    names = [context.submit(COUNTER, **PAIR) for _ in range(2)]
    for _ in range(ROUNDS):
        name = rng.choice(names)
        wanted = progress(context, name) + rng.choice([0, 1, 2, 4, 8, 30, 100])
        context.until(
            lambda name=name, wanted=wanted: (  # type: ignore[misc]  # bound on purpose
                context.job(name).state.terminal or progress(context, name) >= wanted
            )
        )
        context.service.kill()
        with pytest.raises(Unavailable):
            context.job(name)
        context.service.start()

    for name in names:
        job = context.wait_for(name, State.SUCCEEDED)
        assert "startTime" in job.resource
        lines = context.lines(name)
        for replica in (MASTER, WORKER):
            printed = [line.message for line in lines if line.replica == replica]
            assert printed == [f"line {n}" for n in range(len(printed))]
            assert replica == WORKER or len(printed) == LAST
        with context.client() as client:
            assert {"RESTART", "RETRY"}.isdisjoint(event.kind for event in client.events(name))
    assert find_living(str(context.service.data_dir / "replicas")) == []
