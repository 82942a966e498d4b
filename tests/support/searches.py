"""Searches and trials for tests: whole and plausible, with only what a test cares about said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from footplate.domain.job_states import State
from footplate.domain.names import JobUid, run_uid, trial_run_name
from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import Algorithm, StudyConfig
from footplate.domain.studies.trials import TrialState
from footplate.domain.tuning.search import Search, TrialCounts
from footplate.domain.tuning.trial_spec import trial_spec
from tests.support.jobs import CREATED, make_job, make_spec

if TYPE_CHECKING:
    from footplate.domain.jobs import Ending, Job
    from footplate.domain.studies.space import Point
    from footplate.domain.studies.stopping import StoppingSpec

RMSE = Metric("rmse", Goal.MINIMIZE)
SPACE = SearchSpace(
    (
        DoubleParameter("learning_rate", 1e-4, 1.0, Scale.LOG),
        IntegerParameter("units", 1, 64),
        DiscreteParameter("batch", (16.0, 32.0, 64.5)),
        CategoricalParameter("optimizer", ("adam", "sgd")),
    )
)
POINT: Point = {"learning_rate": 0.25, "units": 8, "batch": 32.0, "optimizer": "adam"}


def make_search(
    *,
    trials: int = 4,
    parallel: int = 2,
    failed: int = 0,
    space: SearchSpace = SPACE,
    algorithm: Algorithm = Algorithm.BAYESIAN,
    stopping: StoppingSpec | None = None,
    metric: Metric = RMSE,
) -> Search:
    config = StudyConfig(space, (metric,), algorithm, stopping=stopping)
    return Search(config, TrialCounts(trials, parallel, failed))


def make_tuning_job(
    name: str = "projects/demo/jobs/search", search: Search | None = None, uid: str | None = None
) -> Job:
    request = '{"jobId": "search", "trainingInput": {"args": ["-v"]}}'
    if "/locations/" in name:
        request = '{"trialJobSpec": {"workerPoolSpecs": []}}'
    job = make_job(name, uid=uid, request=request)
    return replace(job, spec=replace(make_spec(job.name), search=search or make_search()))


def make_trial(
    number: int = 1,
    state: TrialState = TrialState.REQUESTED,
    *,
    point: Point = POINT,
    value: float | None = None,
    outcome: State | None = None,
    why: str = "",
) -> TrialRecord:
    """``value`` of rmse; a trial that has ended has ended in the order of the numbers."""
    final = None if value is None else Measurement({"rmse": value}, 10)
    ended = state.ended
    return TrialRecord(
        number=number,
        point=point,
        create_time=CREATED,
        state=state,
        start_time=None if state is TrialState.REQUESTED else CREATED,
        end_time=CREATED if ended else None,
        ended_as=number if ended else 0,
        final=final,
        outcome=outcome or (State.SUCCEEDED if state is TrialState.SUCCEEDED else None),
        infeasible_reason=why,
    )


def make_run(
    job: Job, number: int = 1, state: State = State.QUEUED, ending: Ending | None = None
) -> Job:
    """The job that runs a trial; one that has ended has run for a minute."""
    assert job.spec.search is not None, "not a tuning job"
    spec = trial_spec(job.spec, job.spec.search, number, POINT, job.name.job_id)
    run = make_job(trial_run_name(job.name, number), uid=run_uid(job.uid, number), spec=spec)
    ran = state not in (State.QUEUED, State.PREPARING)
    return replace(
        run,
        tuning_job=JobUid(job.uid),
        state=state,
        start_time=CREATED if ran else None,
        end_time=CREATED + timedelta(seconds=60) if state.terminal else None,
        ending=ending,
    )
