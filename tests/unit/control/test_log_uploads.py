"""Event files of jobs become runs and time series of their TensorBoards."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.tracking import LogUploads, Resources
from footplate.control.tracking import log_uploads as module
from footplate.domain.job_states import State
from footplate.domain.jobs import Directory, Ending, Job
from footplate.domain.names import CustomJobName, JobUid
from footplate.domain.tracking.log_uploads import LOGS, run_name, upload_of
from footplate.domain.tracking.names import parse_tracking_name
from footplate.domain.tracking.resources import Resource
from footplate.server.event_files import LocalEventFiles
from footplate.server.machine import RandomIds
from footplate.store import SqlStore, open_store
from tests.support.clock import FakeClock
from tests.support.jobs import make_job
from tests.support.log_uploads import MemoryLogUploads
from tests.support.store import MemoryStore
from tests.support.tracking import BOARD, make_resource
from tests.unit.replica_metrics.event_writer import event, record, simple, write

EXPERIMENT = f"{BOARD}/experiments/17"


class Rig:
    """``crashes``: how many writes of positions are lost, with the process."""

    def __init__(self, store: SqlStore, root: Path) -> None:
        self.clock = FakeClock()
        self.jobs, self.uploads, self.tracking = MemoryStore(), MemoryLogUploads(), store.tracking
        self.logs = root / "logs"
        self.buckets = FolderBuckets(root / "buckets", self.clock)
        self.tracking.create((make_resource(BOARD),))
        self.restart()

    def restart(self) -> None:
        resources = Resources(self.tracking, self.clock, RandomIds())
        self.log_uploads = LogUploads(
            self.uploads,
            self.jobs,
            self.tracking,
            resources,
            LocalEventFiles(),
            self.buckets,
            self.clock,
        )

    def send(self, job_id: str = "17", *, trial: str | None = None) -> Job:
        name = CustomJobName("demo", "us-central1", job_id)
        job = make_job(name, uid=f"uid{job_id.replace('-', 't')}", display_name="mnist")
        uri = f"{self.logs}/{trial}/logs/" if trial else f"{self.logs}/"
        spec = replace(
            job.spec,
            tensorboard=BOARD,
            directories=(Directory(LOGS, uri, leaf="logs/"),),
            trial=trial,
        )
        tuning_job = JobUid("tuning") if trial else None
        job = replace(job, spec=spec, state=State.RUNNING, tuning_job=tuning_job)
        self.jobs.create(job, ())
        self.log_uploads.note(job.uid)
        return job

    def end(self, job: Job) -> None:
        now = self.jobs.get_by_uid(job.uid)
        ending = Ending(State.SUCCEEDED)
        self.jobs.update(
            replace(now, state=State.SUCCEEDED, ending=ending, version=now.version + 1), ()
        )
        self.log_uploads.note(job.uid)

    def step(self) -> float | None:
        self.clock.advance(10.0)
        return self.log_uploads.step()

    def settle(self) -> float | None:
        for _ in range(1000):
            wait = self.step()
            if wait != module.BUSY_S:
                return wait
        raise AssertionError("there is always more to read")

    def listed(self, collection: str) -> tuple[Resource, ...]:
        return self.tracking.list(
            collection, where=None, limit=100, after=None, oldest_first=True
        ).items

    def values(self) -> dict[str, list[tuple[int, float | str]]]:
        """The points of each time series, as RUN/TAG."""
        found = {}
        for run in self.listed(f"{EXPERIMENT}/runs"):
            for series in self.listed(f"{run.name}/timeSeries"):
                points = self.tracking.points(series.name, limit=10_000)
                key = f"{run.text('displayName')}/{series.text('displayName')}"
                found[key] = [(point.step, point.value) for point in points]
        return found


def test_a_job_without_a_tensorboard_needs_no_step(rig: Rig) -> None:
    job = make_job()

    assert not rig.log_uploads.note(job.uid, job)
    assert rig.log_uploads.note(job.uid), "of which nothing is known"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with closing(open_store(f"sqlite:///{tmp_path}/footplate.db")) as store:
        rig = Rig(store, tmp_path)
        yield rig
        rig.buckets.close()


def test_scalars_are_shown_while_the_job_runs(rig: Rig) -> None:
    job = rig.send()
    assert rig.step() == module.INTERVAL_S
    file = rig.logs / "train" / "events.out.tfevents.1"
    write(file, event(simple("Loss", 0.5), step=1), event(simple("Loss", 0.25), step=2))
    write(rig.logs / "events.out.tfevents.2", event(simple("lr", 1.0), step=7, time=2_000.0))
    rig.settle()
    assert rig.values() == {"default/lr": [(7, 1.0)], "train/Loss": [(1, 0.5), (2, 0.25)]}
    write(file, event(simple("Loss", 0.125), step=3), event(simple("Loss", math.inf), step=4))
    rig.settle()
    assert rig.values()["train/Loss"][2:] == [(3, 0.125), (4, math.inf)]
    experiment = rig.tracking.get(parse_tracking_name(EXPERIMENT))
    assert dict(experiment.fields) == {"displayName": "mnist", "source": str(job.name)}
    kinds = [stored.event.kind for stored in rig.jobs.events(job.uid)]
    assert kinds.count("TENSORBOARD") == 1
    (series,) = rig.listed(f"{EXPERIMENT}/runs/default/timeSeries")
    assert series.text("valueType") == "SCALAR"


def test_what_was_written_last_is_read_after_the_end(rig: Rig) -> None:
    job = rig.send()
    rig.step()
    write(rig.logs / "events.out.tfevents.1", event(simple("a", 1.0), step=1))
    rig.end(job)
    assert rig.settle() is None
    assert rig.values() == {"default/a": [(1, 1.0)]}
    assert rig.uploads.all() == ()
    rig.log_uploads.note(job.uid)
    assert rig.step() is None
    assert rig.uploads.all() == (), "its labels were changed, which is no reason to read again"


def test_a_job_that_ended_before_it_was_seen_is_read_nevertheless(rig: Rig) -> None:
    write(rig.logs / "events.out.tfevents.1", event(simple("a", 1.0), step=1))
    rig.end(rig.send())
    assert rig.settle() is None
    assert rig.values() == {"default/a": [(1, 1.0)]}


@pytest.mark.parametrize("lost", [False, True])
def test_a_restart_reads_on_and_a_point_twice_is_one(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, *, lost: bool
) -> None:
    """``lost``: the positions were not noted any more."""
    monkeypatch.setattr(module, "PIECE_BYTES", 100)
    events = [event(simple("a", float(step)), step=step) for step in range(20)]
    write(rig.logs / "events.out.tfevents.1", *events[:10])
    job = rig.send()
    assert rig.step() == module.BUSY_S, "files are read in pieces"
    before = rig.uploads.all()
    rig.step()
    if lost:
        rig.uploads.put(before[0])
    rig.end(job)
    rig.restart()
    write(rig.logs / "events.out.tfevents.1", *events[10:])
    assert rig.settle() is None
    assert rig.values() == {"default/a": [(step, float(step)) for step in range(20)]}


def test_trials_share_the_experiment_of_their_tuning_job(rig: Rig) -> None:
    tuning_job = make_job("projects/demo/locations/us-central1/hyperparameterTuningJobs/17")
    rig.jobs.create(replace(tuning_job, uid=JobUid("tuning")), ())
    for number in ("1", "2"):
        rig.send(f"17-{number}", trial=number)
        folder = rig.logs / number / "logs"
        write(folder / "events.out.tfevents.1", event(simple("a", 1.0), step=1))
        write(folder / "eval" / "events.out.tfevents.1", event(simple("a", 2.0), step=1))
    rig.settle()
    assert sorted(rig.values()) == ["1/a", "1/eval/a", "2/a", "2/eval/a"]


def test_files_that_are_cut_or_corrupt_hold_up_nothing(rig: Rig) -> None:
    rig.logs.mkdir()
    whole = record(event(simple("a", 1.0), step=1))
    (rig.logs / "events.out.tfevents.1").write_bytes(whole + whole[:9])
    (rig.logs / "events.out.tfevents.2").write_bytes(whole + b"\xff" * 99)
    (rig.logs / "events.out.tfevents.3").write_bytes(record(b"\xff\xff\xff") + whole)
    (rig.logs / "events.out.tfevents.4").symlink_to("/etc/passwd")
    job = rig.send()
    assert rig.settle() == module.INTERVAL_S
    rig.end(job)
    assert rig.settle() is None
    assert rig.values() == {"default/a": [(1, 1.0)]}


def test_a_run_that_a_client_called_the_same_stays_the_clients(rig: Rig) -> None:
    run = f"{EXPERIMENT}/runs/mine"
    rig.tracking.create((make_resource(EXPERIMENT), make_resource(run, displayName="default")))
    write(rig.logs / "events.out.tfevents.1", event(simple("a", 1.0), step=1))
    rig.send()
    rig.settle()
    assert rig.values() == {"default (event files)/a": [(1, 1.0)]}


def test_a_link_in_the_place_of_a_directory_holds_up_no_other_job(rig: Rig, tmp_path: Path) -> None:
    """Which would be all that a program needs to stop the reading for everybody."""
    write(tmp_path / "theirs" / "events.out.tfevents.1", event(simple("secret", 1.0), step=1))
    write(rig.logs / "events.out.tfevents.1", event(simple("a", 1.0), step=1))
    rig.buckets.create_bucket("stage")
    (tmp_path / "buckets" / "stage" / "run").symlink_to(tmp_path / "theirs")
    spoilt, job = rig.send("16"), rig.send()
    directories = (Directory(LOGS, "gs://stage/run/", leaf="logs/"),)
    rig.jobs.update(
        replace(spoilt, spec=replace(spoilt.spec, directories=directories), version=2), ()
    )
    rig.settle()
    assert rig.values() == {"default/a": [(1, 1.0)]}
    messages = [stored.event.message for stored in rig.jobs.events(spoilt.uid)]
    assert [message for message in messages if "leads through a link" in message]
    assert [upload.uid for upload in rig.uploads.all()] == [job.uid]


def test_a_deleted_tensorboard_ends_it(rig: Rig) -> None:
    job = rig.send()
    write(rig.logs / "events.out.tfevents.1", event(simple("a", 1.0), step=1))
    rig.tracking.delete(parse_tracking_name(BOARD))
    assert rig.step() is None
    assert rig.uploads.all() == ()
    messages = [stored.event.message for stored in rig.jobs.events(job.uid)]
    assert any("no longer reads the job's event files" in message for message in messages)


def test_jobs_without_a_tensorboard_or_logs_are_left_alone(rig: Rig) -> None:
    job = rig.send()
    for spec in (replace(job.spec, tensorboard=None), replace(job.spec, directories=())):
        assert upload_of(replace(job, spec=spec)) is None
    upload = upload_of(job)
    assert upload is not None
    names = [run_name(upload, folder) for folder in (".", "default", "a/b")]
    assert names == ["default", "./default", "a/b"]
