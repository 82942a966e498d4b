"""How long an Estimator's evaluator is waited for: until it has evaluated the last checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.evaluations import POLL_S, Evaluations
from footplate.domain.jobs import Directory, Job
from footplate.domain.tracking.log_uploads import FilePosition
from footplate.ports.event_files import EventPiece, LoggedScalar
from tests.support.clock import FakeClock
from tests.support.jobs import make_job, make_spec
from tests.unit.control.reconciler_rig import EVALUATOR, GRACE_S, OK, Rig

LIMIT_S = 900.0


class Events:
    """Event files of which only steps and folders are known."""

    def __init__(self, **steps: int) -> None:
        self.steps = steps

    def read(
        self, directory: str, positions: Mapping[str, FilePosition], most_bytes: int
    ) -> EventPiece:
        assert Path(directory).is_dir()
        assert most_bytes > 0
        scalars = [LoggedScalar(name, "loss", step, 0.5, 0.0) for name, step in self.steps.items()]
        return EventPiece(tuple(scalars), positions, more=False)


@pytest.fixture
def buckets(tmp_path: Path) -> FolderBuckets:
    buckets = FolderBuckets(tmp_path, FakeClock())
    buckets.create_bucket("bucket")
    return buckets


def evaluated(*uris: str) -> Job:
    spec = make_spec(workers=1, evaluators=1)
    return make_job(spec=replace(spec, directories=tuple(Directory(None, uri) for uri in uris)))


def save(buckets: FolderBuckets, *names: str) -> None:
    for name in names:
        buckets.write("bucket", name, [b"x"])


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ({"eval": 500}, "the last evaluation is of step 500"),
        ({"eval_census": 500, "train": 2000}, "the last evaluation is of step 500"),
        ({}, "none was"),
        ({"eval": 500, "eval_more": 2000}, None),
        ({"eval": 2000}, None),
    ],
)
def test_an_evaluator_is_behind_whose_last_evaluation_is_of_an_older_step(
    buckets: FolderBuckets, steps: dict[str, int], said: str | None
) -> None:
    save(buckets, *(f"out/model.ckpt-{step}.index" for step in (0, 2000, 500)))
    job = evaluated("gs://bucket/out/", "/data/out")
    behind = Evaluations(buckets, Events(**steps), LIMIT_S).behind(job)
    expected = f"the checkpoint of step 2000 has not been evaluated, {said}" if said else ""
    assert behind == expected


def test_nothing_is_known_of_other_programs_and_directories(buckets: FolderBuckets) -> None:
    save(buckets, "out/ckpt-7.index", "out/saved_model.pb", "other/model.ckpt-9.index")
    job = evaluated("gs://bucket/out", "gs://absent/out", "/data/out")
    assert Evaluations(buckets, Events(), LIMIT_S).behind(job) == ""


class Lags(Evaluations):
    """Returns what the test sets."""

    def __init__(self, said: str) -> None:
        self.limit_s = LIMIT_S
        self.said = said

    def behind(self, job: Job) -> str:
        return self.said


def ended(said: str) -> tuple[Rig, Lags]:
    """A job whose primary has succeeded, and whose evaluator still runs."""
    rig, lags = Rig(evaluators=1), Lags(said)
    rig.reconciler._evaluations = lags
    rig.run(EVALUATOR)
    rig.exit(OK)
    return rig, lags


def test_one_that_is_behind_has_its_grace_after_the_evaluation() -> None:
    rig, lags = ended("the checkpoint of step 2000 has not been evaluated")
    passed_s = 0.0
    while passed_s < 300.0:
        due_s = rig.reconcile()
        assert due_s <= POLL_S
        rig.clock.advance(due_s)
        passed_s += due_s
    assert rig.backend.stopping == {}
    told = [e.event for e in rig.store.events(rig.uid) if e.event.kind == "EVALUATOR_BEHIND"]
    waits = "the job waits for its evaluator, at most 900 s after the end of the primary replica"
    said = f"the checkpoint of step 2000 has not been evaluated; {waits}"
    assert [event.message for event in told] == [said]

    rig.reconcile()
    lags.said = ""
    rig.clock.advance(GRACE_S - 1)
    rig.reconcile()
    assert rig.backend.stopping == {}, "it exports what it has evaluated"
    rig.clock.advance(1.0)
    rig.reconcile()
    assert EVALUATOR in rig.backend.stopping[rig.job.attempt_id]


def test_it_is_not_waited_for_longer_than_the_limit() -> None:
    rig, _ = ended("it is behind")
    for seconds in (0.0, LIMIT_S - 1.0):
        rig.clock.advance(seconds)
        rig.reconcile()
        assert rig.backend.stopping == {}
    rig.clock.advance(1.0)
    rig.reconcile()
    assert EVALUATOR in rig.backend.stopping[rig.job.attempt_id]
