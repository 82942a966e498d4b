"""Tuning jobs whose server dies at any moment: no trial is lost, doubled or renumbered."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from footplate.control.suggesting import Suggester
from footplate.control.suggesting.models import Models
from footplate.domain.states import State
from footplate.store import open_store
from tests.e2e.service.searching import (
    REPORTER,
    curve,
    database,
    kept,
    leftovers,
    search,
    starts,
    told,
    trials,
)
from tests.support.clock import FakeClock

if TYPE_CHECKING:
    from footplate.domain.names import JobName
    from footplate.domain.studies.space import Point
    from tests.e2e.service.conftest import Desk

KILLS = 7
TRIALS = 40
"""Each kill lets some three of them pass."""
STEPS = 3
MEASURED = REPORTER + (
    """
print(json.dumps({"trial": trial, "x": given.x, "dir": given.job_dir.name}), flush=True)
reporter = HyperTune()
for step in range(1, 4):
    reporter.tell("loss", (given.x - 0.3) ** 2 + 1 / step, step)
    time.sleep(0.15)
"""
)


def progress(desk: Desk, name: JobName) -> int:
    """How much has become known of the job: its events, and its lines."""
    with desk.client() as client:
        return sum(1 for _ in client.events(name)) + sum(1 for _ in client.logs(name))


def replay(desk: Desk, name: JobName) -> dict[int, Point]:
    """The points of all trials, suggested again from what is stored; the last one first."""
    study = kept(desk, name)
    with closing(open_store(database(desk))) as store:
        models = Models(store.studies)
        suggester = Suggester(store.studies, models, FakeClock())
        numbers = [trial.number for trial in reversed(study.trials)]
        points = {number: suggester.replay(study.study.uid, number) for number in numbers}
        models.close()
    return points


def test_kills_at_random_moments_lose_and_double_nothing(desk: Desk) -> None:
    """A moment is some number of events and lines after the last one."""
    rng = random.Random(5)  # noqa: S311  not a secret
    name = desk.submit(MEASURED, hyperparameters=search(TRIALS, 3))
    for _ in range(KILLS):
        wanted = progress(desk, name) + rng.choice([0, 1, 2, 3, 5])
        desk.until(
            lambda wanted=wanted: (  # type: ignore[misc]  # bound on purpose
                desk.job(name).state.terminal or progress(desk, name) >= wanted
            )
        )
        assert not desk.job(name).state.terminal, "it ended too early for this test"
        desk.service.kill()
        desk.service.start()
    desk.wait_for(name, State.SUCCEEDED)

    found = trials(desk, name)
    assert [trial.number for trial in found] == list(range(1, TRIALS + 1))
    assert {trial.state for trial in found} == {"SUCCEEDED"}
    ran = starts(desk, name)
    for trial in found:
        said = {"trial": trial.number, "x": trial.parameters["x"], "dir": str(trial.number)}
        assert ran[str(trial.number)] == [said], "it ran once, with its own point and folder"
        assert [point.step for point in curve(desk, name, trial.number)] == [1, 2, 3]
        assert trial.final is not None
        assert trial.final.step == STEPS
    events = Counter(message.split(":")[0] for message in told(desk, name, "TRIAL_ENDED"))
    assert events == {f"trial {number}": 1 for number in range(1, TRIALS + 1)}
    assert replay(desk, name) == {trial.number: trial.point for trial in kept(desk, name).trials}
    desk.until(lambda: leftovers(desk) == [])
