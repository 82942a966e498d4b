"""Tuning jobs whose server dies at any moment: no trial is lost, doubled or renumbered."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import httpx

from footplate.control.suggestions import Suggester
from footplate.control.suggestions.model_fitting import Models
from footplate.domain.job_states import State
from footplate.domain.names import JobName
from footplate.domain.studies.space import Point
from footplate.store import open_store
from tests.e2e.service.conftest import Context
from tests.e2e.service.tuning_helpers import (
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
from tests.support.profiles import seeded

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


def progress(context: Context, name: JobName) -> int:
    """How much has become known of the job: its events, and its lines."""
    with context.client() as client:
        return sum(1 for _ in client.events(name)) + sum(1 for _ in client.logs(name))


def replay(context: Context, name: JobName) -> dict[int, Point]:
    """The points of all trials, suggested again from what is stored; the last one first."""
    study = kept(context, name)
    with closing(open_store(database(context))) as store:
        models = Models(store.studies)
        suggester = Suggester(store.studies, models, FakeClock())
        numbers = [trial.number for trial in reversed(study.trials)]
        points = {number: suggester.replay(study.study.uid, number) for number in numbers}
        models.close()
    return points


def test_kills_at_random_moments_lose_and_double_nothing(context: Context) -> None:
    """A moment is some number of events and lines after the last one."""
    rng = seeded(5)
    name = context.submit(MEASURED, hyperparameters=search(TRIALS, 3))
    for _ in range(KILLS):
        wanted = progress(context, name) + rng.choice([0, 1, 2, 3, 5])
        context.until(
            lambda wanted=wanted: (  # type: ignore[misc]  # bound on purpose
                context.job(name).state.terminal or progress(context, name) >= wanted
            )
        )
        assert not context.job(name).state.terminal, "it ended too early for this test"
        context.service.kill()
        context.service.start()
    context.wait_for(name, State.SUCCEEDED)

    found = trials(context, name)
    assert [trial.number for trial in found] == list(range(1, TRIALS + 1))
    assert {trial.state for trial in found} == {"SUCCEEDED"}
    ran = starts(context, name)
    for trial in found:
        said = {"trial": trial.number, "x": trial.parameters["x"], "dir": str(trial.number)}
        assert ran[str(trial.number)] == [said], "it ran once, with its own point and folder"
        assert [point.step for point in curve(context, name, trial.number)] == [1, 2, 3]
        assert trial.final is not None
        assert trial.final.step == STEPS
    events = Counter(message.split(":")[0] for message in told(context, name, "TRIAL_ENDED"))
    assert events == {f"trial {number}": 1 for number in range(1, TRIALS + 1)}
    assert replay(context, name) == {
        trial.number: trial.point for trial in kept(context, name).trials
    }
    context.until(lambda: leftovers(context) == [])


KEEPING = REPORTER + (
    """
kept = given.job_dir / "checkpoint"
found = kept.exists()
x = float(kept.read_text()) if found else given.x
kept.write_text(str(x))
task = json.loads(os.environ["TF_CONFIG"]).get("task", {})
print(json.dumps({"trial": trial, "task": task.get("trial"), "found": found}), flush=True)
HyperTune().tell("loss", x, 1)
"""
)
"""Like an Estimator: where it finds a checkpoint, it doesn't train, and reports that one's loss."""


def test_a_search_that_resumes_in_its_directory_finds_no_old_checkpoint(context: Context) -> None:
    name = context.submit(KEEPING, hyperparameters=search(2, 2))
    shared = f"gs://{context.bucket.name}/out/{name.job_id}"
    context.wait_for(name, State.SUCCEEDED)
    for first in (3, 5):
        again = {"resumePreviousJobId": name.job_id, "maxTrials": 2, "maxParallelTrials": 2}
        name = context.submit(KEEPING, jobDir=shared, hyperparameters=again)
        context.wait_for(name, State.SUCCEEDED)

        found = trials(context, name)
        assert [trial.number for trial in found] == [first, first + 1]
        for trial in found:
            assert trial.final is not None
            assert trial.final.values["loss"] == trial.parameters["x"]
        said = starts(context, name)
        assert said == {
            str(n): [{"trial": n, "task": str(n), "found": False}] for n in (first, first + 1)
        }
    answer = httpx.get(f"{context.service.url}/v1/{name}").json()
    assert {each["trialId"] for each in answer["trainingOutput"]["trials"]} == {"5", "6"}
