"""Trials that are whole clusters, that fail, find no room, and are cancelled."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.domain.job_states import State
from footplate.domain.names import (
    CustomJobName,
    GcsUri,
    JobName,
    TrainingJobName,
    TuningJobName,
    trial_run_name,
)
from footplate.testing.faults import FaultInjector
from footplate.testing.service import running_service
from tests.e2e.service.conftest import BUCKET, CACHE, Context
from tests.e2e.service.test_clusters import CLUSTER, EXECUTOR
from tests.e2e.service.tuning_helpers import REPORTER, leftovers, search, starts, told, trials
from tests.support.trainers import pack_trainer
from tests.support.trees import paths_below

REPLICAS = 4
MEMBER = REPORTER + (
    """
described = json.loads(os.environ.get("CLUSTER_SPEC") or os.environ["TF_CONFIG"])
task = described["task"]
me = "%s-%d" % (task["type"], task["index"])
places = sorted(place for members in described["cluster"].values() for place in members)
print(json.dumps({"trial": trial, "task": task.get("trial"), "me": me, "places": places,
    "dir": given.job_dir.name, "restart": os.environ["FOOTPLATE_RESTART"]}), flush=True)
(given.job_dir / f"{me}.here").touch()
end = given.job_dir.parent / "end"
members = sum(map(len, described["cluster"].values()))
def may_end():
    # Whoever ends earlier stops the others before they have said that they are here.
    return end.exists() and len(list(given.job_dir.glob("*.here"))) == members
while task["type"] == "ps" or not may_end():
    time.sleep(0.05)
if task["type"] in ("chief", "master"):
    if trial == 2:
        sys.exit("trial 2 fails")
    HyperTune().tell("loss", given.x, 1)
"""
)
WAITING = REPORTER + (
    """
end = given.job_dir.parent / "end"
while not end.exists():
    time.sleep(0.05)
HyperTune().tell("loss", given.x, 1)
"""
)
FAILING = REPORTER + "sys.exit(3)\n"


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Context]:
    """A service that runs one replica at once."""
    settings = {"stop_grace_s": 1, "max_replicas": 1}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        yield Context(service)


def run_of(name: TrainingJobName, number: int) -> TrainingJobName:
    run = trial_run_name(name, number)
    assert isinstance(run, TrainingJobName)
    return run


def await_run(context: Context, run: JobName, state: State) -> None:
    """Which doesn't exist before its trial begins."""

    def there() -> bool:
        with suppress(NotFound):
            return context.job(run).state is state
        return False

    context.until(there)


def finish(context: Context, name: TrainingJobName) -> None:
    context.out(name).mkdir(parents=True, exist_ok=True)
    (context.out(name) / "end").touch()


def submit_vertex(context: Context, trial_count: int, parallel: int) -> TuningJobName:
    """One whose trials wait for a file, like WAITING."""
    package = GcsUri(BUCKET, "waiting.tar.gz")
    program = {
        "executorImageUri": EXECUTOR,
        "packageUris": [str(package)],
        "pythonModule": "trainer.task",
        "args": ["--job-dir", str(context.bucket / "out" / "1")],
    }
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
    x = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}
    job = {
        "displayName": "waiting",
        "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [x],
        },
        "maxTrialCount": trial_count,
        "parallelTrialCount": parallel,
        "trialJobSpec": {"workerPoolSpecs": [{**pool, "pythonPackageSpec": program}]},
    }
    with context.client() as client:
        client.storage.upload(package, pack_trainer(WAITING))
        return client.tuning_jobs.create("demo", "us-central1", job).name  # type: ignore[arg-type]  # JSON by hand


def kept_of(context: Context) -> list[str]:
    """Tables with rows of jobs and studies, and files of logs and utilisation."""
    data = context.service.data_dir
    with closing(sqlite3.connect(data / "footplate.db")) as database:
        names = database.execute("select name from sqlite_master where type = 'table'").fetchall()
        tables = [name for (name,) in names if name.startswith(("job", "stud", "trial"))]
        assert len(tables) > 5
        full = [
            table
            for table in tables
            if database.execute(f"select 1 from {table}").fetchone()  # noqa: S608 - its own names
        ]
    files = (path for folder in ("logs", "usage") for path in paths_below(data / folder))
    return full + [str(path) for path in files if path.is_file()]


def test_trials_are_clusters_of_their_own(shared: Context) -> None:
    """A lost worker comes back within its trial, and one whose program fails ends nothing else."""
    name = shared.submit(MEMBER, **CLUSTER, hyperparameters=search(3, 2))
    shared.until(lambda: sum(map(len, starts(shared, name).values())) == 2 * REPLICAS)
    with FaultInjector(shared.service) as faults:
        faults.stop_machine("worker-replica-1", job=str(run_of(name, 1))).wait()
    shared.until(lambda: len(starts(shared, name)["1"]) == REPLICAS + 1)
    finish(shared, name)
    shared.wait_for(name, State.SUCCEEDED)

    ran = starts(shared, name)
    assert ran.keys() == {"1", "2", "3"}
    for number, members in ran.items():
        assert {said["task"] for said in members} == {number}
        assert {said["dir"] for said in members} == {number}
        assert len({said["me"] for said in members}) == REPLICAS
        assert len({tuple(said["places"]) for said in members}) == 1
    assert set(ran["1"][0]["places"]).isdisjoint(ran["2"][0]["places"])
    back = [said["me"] for said in ran["1"] if said["restart"] == "1"]
    assert back == ["worker-1"]
    assert [t.state for t in trials(shared, name)] == ["SUCCEEDED", "INFEASIBLE", "SUCCEEDED"]
    assert "trial 2: " in told(shared, name, "TRIAL_FAILED")[0]
    shared.until(lambda: leftovers(shared) == [])


def test_so_many_failed_trials_end_the_job(shared: Context) -> None:
    name = shared.submit(FAILING, hyperparameters=search(6, 2, maxFailedTrials=2))
    job = shared.wait_for(name, State.FAILED)

    assert "2 trials failed, which is the job's limit" in job.error_message
    shared.until(lambda: leftovers(shared) == [])


def test_trials_that_find_no_room_wait_and_say_why_and_can_be_cancelled(narrow: Context) -> None:
    """To delete is refused before the end, and leaves nothing after it."""
    name = submit_vertex(narrow, 4, 2)
    first, second = (trial_run_name(name, number) for number in (1, 2))
    assert isinstance(first, CustomJobName)
    await_run(narrow, first, State.RUNNING)
    narrow.until(lambda: bool(narrow.job(second).resource.get("pendingExplanation")))
    with narrow.client() as client:
        with pytest.raises(FailedPrecondition, match="cancel it"):
            client.tuning_jobs.delete(name)

        client.tuning_jobs.cancel(name)
        narrow.wait_for(name, State.CANCELLED)
        assert [client.job(run).state for run in (first, second)] == [State.CANCELLED] * 2
        assert [t.state for t in client.trials(name).trials] == ["INFEASIBLE"] * 2
        narrow.until(lambda: leftovers(narrow) == [])
        with pytest.raises(FailedPrecondition, match="runs trial 1"):
            client.custom_jobs.delete(first)
        assert kept_of(narrow)
        client.tuning_jobs.delete(name)
    narrow.until(lambda: kept_of(narrow) == [])


def test_one_run_is_cancelled_and_the_search_goes_on(shared: Context) -> None:
    name = shared.submit(WAITING, hyperparameters=search(3, 2))
    await_run(shared, run_of(name, 2), State.RUNNING)
    with shared.client() as client:
        client.cancel(run_of(name, 2))
    shared.wait_for(run_of(name, 2), State.CANCELLED)
    await_run(shared, run_of(name, 3), State.RUNNING)
    finish(shared, name)
    shared.wait_for(name, State.SUCCEEDED)

    found = trials(shared, name)
    assert [t.state for t in found] == ["SUCCEEDED", "INFEASIBLE", "SUCCEEDED"]
    assert found[1].infeasible_reason == "cancelled by request of footplate at 127.0.0.1"
    assert [run.state for run in (shared.job(run_of(name, n)) for n in (1, 2, 3))] == [
        State.SUCCEEDED,
        State.CANCELLED,
        State.SUCCEEDED,
    ]
    shared.until(lambda: leftovers(shared) == [])
