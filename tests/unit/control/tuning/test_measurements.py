"""What of a replica's records is kept of a trial, and when its tuning job is woken."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from math import nan

import pytest

from footplate.control.tuning.measurements import MeasurementRecorder
from footplate.control.tuning.trial_jobs import TAGS
from footplate.domain.jobs import Job
from footplate.domain.names import JobUid, StudyUid
from footplate.domain.replica_records import MetricRecord, TagsRecord
from tests.support.tuning_rig import SearchRig

REPLICA = "chief-0"


class Measured:
    """A search with a running trial, whose replica reports."""

    def __init__(self) -> None:
        self.rig = SearchRig()
        self.rig.submit()
        self.rig.settle()
        self.rig.begin(1)
        self.run = self.rig.runs()[1]
        self.woken: list[JobUid] = []
        self.recorder = MeasurementRecorder(
            self.rig.store, self.rig.store.studies, self.rig.clock, self.woken.append
        )

    def metric(self, value: float, tag: str = "rmse", after_s: float = 5.0) -> MetricRecord:
        time = self.rig.clock.now() + timedelta(seconds=after_s)
        return MetricRecord(1, time, tag, 3, value, "hypertune")

    def kept(self) -> list[tuple[dict[str, float], int, float, str]]:
        stored = self.rig.store.studies.reports(StudyUid(self.rig.job.uid))
        reports = [each.report for each in stored]
        return [(dict(r.values), r.step, r.elapsed_s, r.source) for r in reports]

    def tags(self) -> list[str]:
        events = self.rig.store.events(self.run.uid)
        return [each.event.message for each in events if each.event.kind == TAGS]


@pytest.fixture
def measured() -> Measured:
    return Measured()


def test_a_tuning_job_is_woken_by_what_is_new_alone(measured: Measured) -> None:
    for value in (0.5, 0.5, 0.25):
        measured.recorder.keep(measured.run, REPLICA, [measured.metric(value)])
    assert measured.woken == [measured.rig.job.uid] * 2
    assert [values for values, *_ in measured.kept()] == [{"rmse": 0.5}, {"rmse": 0.25}]


@pytest.mark.parametrize(("after_s", "elapsed_s"), [(5.0, 5.0), (0.0, 0.0), (-1.0, 0.0)])
def test_a_measurement_is_as_old_as_its_run(
    measured: Measured, after_s: float, elapsed_s: float
) -> None:
    measured.recorder.keep(measured.run, REPLICA, [measured.metric(0.5, after_s=after_s)])
    assert measured.kept() == [({"rmse": 0.5}, 3, elapsed_s, "hypertune")]


def test_a_run_that_has_no_start_yet_has_no_age(measured: Measured) -> None:
    run = replace(measured.run, start_time=None)
    measured.recorder.keep(run, REPLICA, [measured.metric(0.5)])
    assert measured.kept() == [({"rmse": 0.5}, 3, 0.0, "hypertune")]


def test_a_value_of_another_tag_is_not_kept(measured: Measured) -> None:
    measured.recorder.keep(measured.run, REPLICA, [measured.metric(0.5, tag="loss")])
    assert (measured.kept(), measured.woken) == ([], [])


@pytest.mark.parametrize("lacks", ["tuning_job", "trial"])
def test_a_job_that_runs_no_trial_reports_in_vain(measured: Measured, lacks: str) -> None:
    run: Job = measured.run
    if lacks == "trial":
        run = replace(run, spec=replace(run.spec, trial=None))
    else:
        run = replace(run, tuning_job=None)
    tags = TagsRecord(1, measured.rig.clock.now(), ("loss",))
    measured.recorder.keep(run, REPLICA, [measured.metric(0.5), tags])
    assert (measured.kept(), measured.woken, measured.tags()) == ([], [], [])


def test_reports_of_a_deleted_search_are_dropped(measured: Measured) -> None:
    measured.rig.store.studies.delete(StudyUid(measured.rig.job.uid))
    measured.recorder.keep(measured.run, REPLICA, [measured.metric(nan)])
    assert measured.woken == []


def test_tags_are_noted_once_for_each_record(measured: Measured) -> None:
    tags = TagsRecord(7, measured.rig.clock.now(), ("loss", "auc"))
    for record in (tags, tags, replace(tags, sequence=8)):
        measured.recorder.keep(measured.run, REPLICA, [record])
    assert measured.tags() == ['["loss", "auc"]'] * 2
