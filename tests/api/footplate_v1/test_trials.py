"""Trials of tuning jobs over HTTP, with all that is known of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1.trials import trials_routes
from footplate.api.security import Access
from footplate.domain.admission import Explanation
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.names import CustomJobName, StudyUid
from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.records import (
    PredictionRecord,
    StudyRecord,
    StudyState,
    SuggestionRecord,
    TrialRecord,
)
from footplate.domain.studies.stopping import MedianSpec, ReplayedStop
from footplate.domain.studies.trials import TrialState
from footplate.domain.tuning.search import Search
from tests.support.http_server import serve
from tests.support.jobs import CREATED, make_job, make_spec
from tests.support.store import MemoryStore
from tests.support.trials import LOSS, SEARCH, STUDY, MemoryTrials, succeeded

NAME = "projects/demo/locations/us-central1/hyperparameterTuningJobs/9"
PLAIN = "projects/demo/jobs/plain"


@dataclass
class World:
    job: Job
    url: str
    store: MemoryStore
    trials: MemoryTrials = field(default_factory=MemoryTrials)

    def get(self, path: str = "", name: str = NAME) -> httpx.Response:
        return httpx.get(f"{self.url}/footplate/v1/{name}/trials{path}")

    def search(self, search: Search) -> None:
        job = replace(self.job, spec=replace(self.job.spec, search=search), version=2)
        self.store.update(job, ())


def explain(job: Job) -> Explanation | None:
    return Explanation(1, "2 GPUs", "Waits for 2 GPUs") if job.state is State.QUEUED else None


@pytest.fixture
def world() -> Iterator[World]:
    job = make_job(NAME, spec=replace(make_spec(), search=SEARCH), state=State.RUNNING)
    store, trials = MemoryStore(), MemoryTrials()
    store.create(job, ())
    store.create(make_job(PLAIN), ())
    with serve(create_app(trials_routes(trials, store.get, explain), Access())) as url:
        yield World(job, url, store, trials)


def test_a_search_that_has_only_begun(world: World) -> None:
    assert world.get().json() == {
        "name": NAME,
        "displayName": "9",
        "state": "RUNNING",
        "metrics": [{"name": "loss", "goal": "MINIMIZE"}],
        "parameters": ["rate", "layers"],
        "algorithm": "BAYESIAN",
        "selection": "LAST",
        "counts": {"trials": 9, "parallel": 2, "failed": 0},
        "best": [],
        "trials": [],
    }


def test_a_trial_that_has_ended(world: World) -> None:
    world.trials.keep(world.job, replace(succeeded(1, 0.5), outcome=State.SUCCEEDED))
    (trial,) = world.get().json()["trials"]
    assert trial == {
        "number": 1,
        "state": "SUCCEEDED",
        "outcome": "SUCCEEDED",
        "parameters": {"rate": 0.01, "layers": 1},
        "createTime": "2026-01-02T03:05:05.678901Z",
        "startTime": "2026-01-02T03:05:05.678901Z",
        "endTime": "2026-01-02T03:06:05.678901Z",
        "machineSeconds": 60.0,
        "stoppedEarly": False,
        "final": {"step": 10, "elapsedSeconds": 60.0, "values": {"loss": 0.5}},
    }


def test_where_a_point_came_from(world: World) -> None:
    suggestion = SuggestionRecord(
        reason="exploit",
        sentence="exploit: expects loss between 0.1 and 0.3",
        finished=5,
        pending=(7, 8),
        model=5,
        seed=2**62,
        version="1",
        predictions=(PredictionRecord("loss", 0.2, 0.1, math.inf),),
        distance=0.25,
    )
    world.trials.keep(world.job, replace(succeeded(9, 0.2), suggestion=suggestion))
    assert world.get().json()["trials"][0]["suggestion"] == {
        "reason": "exploit",
        "sentence": "exploit: expects loss between 0.1 and 0.3",
        "finished": 5,
        "pending": [7, 8],
        "model": 5,
        "seed": "4611686018427387904",
        "version": "1",
        "predictions": [{"metric": "loss", "value": 0.2, "low": 0.1, "high": "Infinity"}],
        "distance": 0.25,
    }


def test_a_trial_that_waits(world: World) -> None:
    run = make_job(CustomJobName("demo", "us-central1", "9-3"), state=State.QUEUED)
    world.trials.keep(world.job, TrialRecord(3, {"rate": 0.5}, CREATED))
    world.trials.running[world.job.uid] = {3: run}
    (answer,) = world.get().json()["trials"]
    told = {"name": str(run.name), "state": "QUEUED", "pendingExplanation": "Waits for 2 GPUs"}
    assert answer["run"] == told


def test_a_trial_that_runs(world: World) -> None:
    run = make_job(CustomJobName("demo", "us-central1", "9-3"), state=State.RUNNING)
    trial = TrialRecord(3, {"rate": 0.5, "layers": 1}, CREATED, TrialState.ACTIVE, CREATED)
    world.trials.keep(world.job, trial)
    world.trials.running[world.job.uid] = {3: run}
    world.trials.report(world.job, 3, 1, loss=0.9)
    world.trials.report(world.job, 3, 2, loss=math.nan)
    (answer,) = world.get().json()["trials"]
    assert answer["run"] == {"name": str(run.name), "state": "RUNNING"}
    assert answer["latest"] == {
        "step": 2,
        "time": "2026-01-02T03:04:07.678901Z",
        "elapsedSeconds": 2.0,
        "source": "hypertune",
        "values": {"loss": "NaN"},
    }


def test_why_a_trial_ended_so(world: World) -> None:
    stopped = replace(succeeded(1, 0.5), stop_reason="at step 10: 0.5, above 0.4")
    failed = replace(
        succeeded(2, 0.5),
        state=TrialState.INFEASIBLE,
        final=None,
        infeasible_reason="metric loss ; tags seen: lost",
        tags_seen=("lost",),
        client_id="me",
    )
    world.trials.keep(world.job, stopped, failed)
    one, two = world.get().json()["trials"]
    assert (one["stoppedEarly"], one["stopReason"]) == (True, "at step 10: 0.5, above 0.4")
    assert two["infeasibleReason"] == "metric loss ; tags seen: lost"
    assert (two["tagsSeen"], two["clientId"]) == (["lost"], "me")


def test_the_best_of_equal_ones_says_why(world: World) -> None:
    dear, cheap = succeeded(1, 0.5, machine_s=90.0), succeeded(2, 0.5, machine_s=30.0)
    world.trials.keep(world.job, dear, cheap, succeeded(3, 0.6))
    answer = world.get().json()
    assert answer["best"] == [2]
    assert "the cheapest" in answer["tie"]


def test_the_best_by_several_metrics(world: World) -> None:
    metrics = (LOSS, Metric("speed", Goal.MAXIMIZE))
    world.search(replace(SEARCH, study=replace(STUDY, metrics=metrics)))
    values = {1: (0.1, 1.0), 2: (0.2, 2.0), 3: (0.3, 1.5)}
    world.trials.keep(
        world.job,
        *(
            replace(succeeded(n, 0.0), final=Measurement({"loss": loss, "speed": speed}))
            for n, (loss, speed) in values.items()
        ),
    )
    assert world.get().json()["best"] == [1, 2]


def test_how_the_study_stands(world: World) -> None:
    study = StudyRecord(
        uid=StudyUid(world.job.uid),
        name=None,
        display_name="",
        config=STUDY,
        request="{}",
        seed=1,
        create_time=CREATED,
        state=StudyState.INACTIVE,
        why_inactive="4 trials in a row brought nothing better",
    )
    world.trials.studies[world.job.uid] = study
    answer = world.get().json()
    assert answer["studyState"] == "INACTIVE"
    assert answer["whyInactive"] == "4 trials in a row brought nothing better"


def test_all_that_a_trial_reported(world: World) -> None:
    world.trials.keep(world.job, succeeded(1, 0.5))
    world.trials.report(world.job, 1, 10, loss=0.7)
    world.trials.report(world.job, 1, 20, loss=-math.inf, speed=3.0)
    measurements = world.get("/1/measurements").json()["measurements"]
    assert [(m["position"], m["step"], m["values"]) for m in measurements] == [
        (1, 10, {"loss": 0.7}),
        (2, 20, {"loss": "-Infinity", "speed": 3.0}),
    ]


@pytest.mark.parametrize("number", ["2", "0", "-1", "x", "1" * 30, "\u0661"])
def test_a_trial_that_is_not_there(world: World, number: str) -> None:
    world.trials.keep(world.job, succeeded(1, 0.5))
    answer = world.get(f"/{number}/measurements")
    assert answer.status_code == 404
    assert answer.json()["error"]["status"] == "NOT_FOUND"


def test_jobs_without_trials(world: World) -> None:
    assert world.get(name="projects/demo/jobs/none").status_code == 404
    plain = world.get(name=PLAIN)
    assert plain.status_code == 400
    assert plain.json()["error"]["message"] == f"{PLAIN} is not a tuning job, so it has no trials"


@pytest.fixture
def several(world: World) -> World:
    """Losses 0.5, 0.2 and none; the last was cancelled."""
    world.trials.keep(
        world.job,
        replace(succeeded(1, 0.5), point={"rate": 0.1, "layers": 3}),
        replace(succeeded(2, 0.2), point={"rate": 0.01, "layers": 1}),
        TrialRecord(3, {"rate": 0.5}, CREATED, TrialState.INFEASIBLE, outcome=State.CANCELLED),
    )
    return world


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({"filter": "loss<0.3"}, [2]),
        ({"filter": "metrics.loss>=0.2 AND parameters.layers=3"}, [1]),
        ({"filter": "layers=3 OR number=3"}, [1, 3]),
        ({"filter": "training_steps>=10"}, [1, 2]),
        ({"filter": "NOT state=SUCCEEDED"}, [3]),
        ({"filter": "state=cancelled"}, [3]),
        ({"filter": "state=FAILED"}, []),
        ({"filter": "state:FEAS"}, [3]),
        ({"filter": "state!=INFEASIBLE"}, [1, 2]),
        ({"filter": "stoppedEarly=false"}, [1, 2, 3]),
        ({"filter": 'endTime>"2020-01-01T00:00:00Z"'}, [1, 2]),
        ({"orderBy": "loss"}, [2, 1, 3]),
        ({"orderBy": "step, rate desc"}, [1, 2, 3]),
        ({"order_by": "layers desc", "filter": "step=10"}, [1, 2]),
    ],
)
def test_filters_and_orders(several: World, query: dict[str, str], numbers: list[int]) -> None:
    found = several.get(f"?{urlencode(query)}").json()["trials"]
    assert [trial["number"] for trial in found] == numbers


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"filter": "speed<1"}, "unknown field; allowed: rate, layers, loss, parameters.rate"),
        ({"filter": "loss<low"}, "no number"),
        ({"filter": "loss<"}, "filter"),
        ({"orderBy": "loss down"}, "'loss down' given; allowed: FIELD, or FIELD desc, of rate"),
        ({"orderBy": "loss,,rate"}, "'' given; allowed: FIELD"),
    ],
)
def test_what_is_no_filter_or_order_is_refused(
    several: World, query: dict[str, str], message: str
) -> None:
    refused = several.get(f"?{urlencode(query)}")
    assert refused.status_code == 400
    assert message in refused.text


def test_curves_of_all_trials_come_together(world: World) -> None:
    world.trials.keep(world.job, succeeded(1, 0.5), succeeded(2, 0.5))
    for step in range(1, 7):
        world.trials.report(world.job, 2, step, loss=1 / step if step < 6 else math.nan)
    answer = httpx.get(f"{world.url}/footplate/v1/{NAME}/curves?points=3")
    curve = {"trial": 2, "steps": [1, 3, 6], "values": {"loss": [1.0, 1 / 3, "NaN"]}}
    assert answer.json() == {"curves": [curve]}


@pytest.mark.parametrize("points", ["1", "x", "1001"])
def test_a_wrong_number_of_points_is_refused(world: World, points: str) -> None:
    answer = httpx.get(f"{world.url}/footplate/v1/{NAME}/curves?points={points}")
    assert answer.status_code == 400
    assert "points" in answer.text


def test_a_stopping_rule_is_replayed(world: World) -> None:
    world.trials.keep(world.job, succeeded(1, 0.5), succeeded(2, 0.75))
    world.trials.stops = (ReplayedStop(2, 4, "at step 4: bad", 20.0),)
    answer = httpx.get(f"{world.url}/footplate/v1/{NAME}/replay?rule=median").json()
    stop = {"number": 2, "step": 4, "reason": "at step 4: bad", "savedMachineSeconds": 20.0}
    assert answer == {
        "rule": "median",
        "stopped": [stop],
        "savedMachineSeconds": 20.0,
        "machineSeconds": 120.0,
        "bestStopped": False,
    }
    assert world.trials.replayed == [(world.job.uid, MedianSpec())]


def test_a_rule_that_is_unknown_is_refused(world: World) -> None:
    answer = httpx.get(f"{world.url}/footplate/v1/{NAME}/replay?rule=hope")
    assert answer.status_code == 400
    assert "halving, median, decayCurve, convex" in answer.text
