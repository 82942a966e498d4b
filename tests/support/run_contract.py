"""What every store does with jobs that run trials: subclass this and give it ``store``, and
``elsewhere``, another one on the same data.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest

from footplate.domain.daily_hours import daily_hours
from footplate.domain.errors import Aborted, NotFound
from footplate.domain.job_states import State
from footplate.domain.jobs import Directory, Job, MachineSpec
from footplate.domain.names import JobUid, trial_run_name
from footplate.domain.tuning.search import Search, TrialCounts
from tests.support.catalogue import built_in
from tests.support.concurrent_calls import together
from tests.support.jobs import CREATED, make_job, make_spec
from tests.support.store_contract import HOSTILE, SECOND, make_event, next_version
from tests.support.study_records import CONFIG, make_study

if TYPE_CHECKING:
    from footplate.ports.store import Store
    from footplate.store.observed_store import CombinedStore

DAY = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
TUNING_JOBS = (
    "projects/demo/jobs/tuning",
    "projects/demo/locations/us-central1/hyperparameterTuningJobs/17",
)


def make_tuning_job(name: str = "projects/demo/jobs/tuning") -> Job:
    job = make_job(name)
    search = Search(CONFIG, TrialCounts(20, 2, 3), resumes="older", regions=("here", "there"))
    spec = replace(job.spec, search=search, metrics=("loss", HOSTILE))
    return replace(job, spec=spec)


def make_run(parent: Job, number: int) -> Job:
    """The job that runs a trial."""
    job = make_job(trial_run_name(parent.name, number))
    directories = (Directory("AIP_MODEL_DIR", f"gs://b/{number}/model/", leaf="model/"),)
    spec = replace(job.spec, directories=directories, trial=str(number), metrics=("loss",))
    return replace(job, spec=spec, tuning_job=parent.uid)


class RunContract:
    """Jobs that run trials: found by name, in no list, and gone with their tuning job."""

    @pytest.mark.parametrize("tuning", TUNING_JOBS)
    def test_a_tuning_job_and_its_run_come_back_as_they_were(
        self, store: Store, tuning: str
    ) -> None:
        parent = make_tuning_job(tuning)
        run = make_run(parent, 1)
        store.create(parent, ())
        store.create(run, [make_event("made")])
        assert store.get(parent.name) == parent
        assert store.get(run.name) == store.get_by_uid(run.uid) == run
        assert store.runs(parent.uid) == (run,)
        assert set(store.active()) == {parent, run}
        changed = replace(next_version(run), state=State.RUNNING)
        store.update(changed, ())
        assert store.runs(parent.uid) == (changed,)

    @pytest.mark.parametrize("tuning", TUNING_JOBS)
    def test_a_run_is_in_no_list(self, store: Store, tuning: str) -> None:
        parent = make_tuning_job(tuning)
        run = make_run(parent, 1)
        store.create(parent, ())
        store.create(run, ())
        store.update(next_version(run), ())
        found = store.list(parent.name.collection, where=None, limit=9, after=None).jobs
        assert found == (parent,)
        for collection in {run.name.collection, ""} - {parent.name.collection}:
            assert store.list(collection, where=None, limit=9, after=None).jobs == ()

    @pytest.mark.parametrize("directory", ["gs://demo-bucket/out", 'gs://demo-bucket/50%_"ä"!'])
    def test_jobs_are_found_by_the_directory_that_they_write_to(
        self, store: Store, directory: str
    ) -> None:
        def make(name: str, *directories: Directory) -> Job:
            job = make_job(name)
            job = replace(job, spec=replace(job.spec, directories=directories))
            store.create(job, ())
            return job

        here = "projects/demo/locations/us-central1/customJobs"
        plain = make("projects/demo/jobs/plain", Directory(None, directory))
        slashed = make("projects/other/jobs/slashed", Directory(None, f"{directory}/"))
        custom = make(f"{here}/1", Directory("AIP_MODEL_DIR", f"{directory}/model/", "", "model/"))
        make("projects/demo/jobs/below", Directory(None, f"{directory}/model"))
        make("projects/demo/jobs/beside", Directory(None, f"{directory}2"))
        make("projects/demo/jobs/capitals", Directory(None, directory.upper()))
        make("projects/demo/jobs/none")
        parent = make_tuning_job()
        run = make_run(parent, 1)
        spec = replace(run.spec, directories=(Directory(None, directory),))
        store.create(parent, ())
        store.create(replace(run, spec=spec), ())

        assert {*store.writing_to(directory)} == {plain, slashed, custom}
        assert store.writing_to(f"{directory}/model/nothing") == ()

    def test_runs_are_counted_by_themselves(self, store: Store) -> None:
        parent = replace(make_tuning_job(), state=State.RUNNING)
        states = (State.QUEUED, State.RUNNING, State.RUNNING, State.FAILED)
        store.create(parent, ())
        for number, state in enumerate(states, 1):
            store.create(replace(make_run(parent, number), state=state), ())
        assert store.counts() == {State.RUNNING: 1}
        assert store.counts(runs=True) == {State.QUEUED: 1, State.RUNNING: 2}

    def test_hours_of_days_are_summed_from_runs_and_jobs_that_run_themselves(
        self, store: Store
    ) -> None:
        def make(name: str, start: float | None, end: float | None, gpus: int = 0) -> Job:
            kind = MachineSpec("n1-standard-4", "NVIDIA_TESLA_T4" if gpus else None, gpus)
            job = make_job(name, spec=make_spec(workers=2, machine=kind))
            store.create(job, ())
            return ran(job, start, end)

        def ran(job: Job, start: float | None, end: float | None) -> Job:
            begun, ended = (None if at is None else DAY + at * HOUR for at in (start, end))
            state = State.RUNNING if end is None else State.SUCCEEDED
            job = replace(next_version(job), state=state, start_time=begun, end_time=ended)
            store.update(job, ())
            return job

        make("projects/demo/jobs/before", -30, -24)
        make("projects/demo/jobs/over_three_days", -25, 25)
        make("projects/demo/jobs/within", 2, 3.5)
        make("projects/demo/jobs/like_it", 4, 5, gpus=2)
        make("projects/demo/jobs/runs", 22, None)
        make("projects/demo/jobs/back_in_time", 9, 8)
        make("projects/demo/jobs/never_began", None, 2)
        make("projects/demo/jobs/after", 48, 50)
        parent = make_tuning_job("projects/other/jobs/tuning")
        store.create(parent, ())
        ran(parent, 0, 1)
        run = make_run(parent, 1)
        store.create(run, ())
        ran(run, 0, 1)

        def hours(begin: float, end: float) -> dict[tuple[int, str], tuple[float, float]]:
            found = store.running_times(DAY + begin * HOUR, DAY + end * HOUR)
            return {
                ((each.day - DAY.date()).days, each.project): (
                    sum(each.hours.machines.values()),
                    sum(each.hours.accelerators.values()),
                )
                for each in daily_hours(found, built_in())
            }

        assert hours(0, 23) == {
            (0, "demo"): (3 * (23 + 1.5 + 1 + 1), 3 * 2),
            (0, "other"): (1, 0),
        }
        assert hours(-24, 47) == {
            (-1, "demo"): (3 * 24, 0),
            (0, "demo"): (3 * (24 + 1.5 + 1 + 2), 3 * 2),
            (0, "other"): (1, 0),
            (1, "demo"): (3 * (1 + 23), 0),
        }
        assert hours(60, 61) == {(2, "demo"): (3, 0)}

    def test_runs_come_in_the_order_of_their_making(self, store: Store) -> None:
        parent, other = make_tuning_job(), make_tuning_job("projects/demo/jobs/other")
        for job in (parent, other, make_run(other, 1)):
            store.create(job, ())
        numbers = (10, 9, 2, 11)
        runs = {number: make_run(parent, number) for number in numbers}
        runs[2] = replace(runs[2], create_time=CREATED + SECOND, state=State.FAILED)
        for number in numbers:
            store.create(runs[number], ())
        assert store.runs(parent.uid) == tuple(runs[number] for number in (9, 10, 11, 2))

    @pytest.mark.parametrize("uid", ["nobody", "nul\0", "half\ud800"])
    def test_a_run_of_no_tuning_job_is_refused(self, store: Store, uid: str) -> None:
        run = replace(make_run(make_tuning_job(), 1), tuning_job=JobUid(uid))
        with pytest.raises(NotFound):
            store.create(run, ())
        assert store.runs(JobUid(uid)) == ()
        assert store.active() == ()

    def test_a_run_has_no_runs(self, store: Store) -> None:
        parent = make_tuning_job()
        run = make_run(parent, 1)
        store.create(parent, ())
        store.create(run, ())
        with pytest.raises(NotFound):
            store.create(make_run(run, 2), ())

    def test_runs_are_deleted_with_their_tuning_job(self, store: Store) -> None:
        parent, other = make_tuning_job(), make_tuning_job("projects/demo/jobs/other")
        runs = [make_run(parent, number) for number in (1, 2)]
        for job in (parent, other, *runs, make_run(other, 1)):
            store.create(job, [make_event("made")])
        with pytest.raises(Aborted):
            store.delete(parent.name, 2)
        assert len(store.runs(parent.uid)) == 2

        store.delete(parent.name, 1)
        for job in (parent, *runs):
            with pytest.raises(NotFound):
                store.get(job.name)
            assert store.events(job.uid) == ()
        assert store.runs(parent.uid) == ()
        assert set(store.active()) == {other, make_run(other, 1)}

    def test_its_study_is_deleted_with_a_tuning_job(self, store: CombinedStore) -> None:
        parent, run = make_tuning_job(), make_run(make_tuning_job(), 1)
        studies = [make_study(None, uid=uid) for uid in (parent.uid, "other")]
        for job in (parent, run):
            store.create(job, ())
        for study in studies:
            store.studies.create(study)

        store.delete(run.name, 1)
        assert store.studies.load(studies[0].uid).study == studies[0]
        store.delete(parent.name, 1)
        with pytest.raises(NotFound):
            store.studies.load(studies[0].uid)
        assert store.studies.load(studies[1].uid).study == studies[1]

    def test_a_deleted_run_leaves_its_tuning_job(self, store: Store) -> None:
        parent = make_tuning_job()
        store.create(parent, ())
        store.create(make_run(parent, 1), ())
        store.delete(make_run(parent, 1).name, 1)
        assert store.runs(parent.uid) == ()
        assert store.get(parent.name) == parent

    def test_a_run_made_while_its_tuning_job_is_deleted_is_no_orphan(
        self, store: Store, elsewhere: Store
    ) -> None:
        parent = make_tuning_job()
        store.create(parent, ())
        makers = [
            partial(to.create, make_run(parent, number), ())
            for number, to in enumerate((store, elsewhere) * 2, 1)
        ]
        errors = together([*makers, partial(elsewhere.delete, parent.name, 1)])
        assert {type(error) for error in errors} <= {NotFound}
        assert store.active() == ()
