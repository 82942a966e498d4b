"""What a job reported: of its event files a piece for each question, and what its trial told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control import job_metrics as module
from footplate.control.job_metrics import JobMetrics
from footplate.domain.jobs import Directory, Job
from footplate.domain.metric_series import MOST_POINTS, MetricPoint, ReportedMetrics, SeriesPoints
from footplate.domain.names import JobUid
from footplate.domain.studies.records import Report, StoredReport
from footplate.server.event_files import LocalEventFiles
from tests.support.clock import FakeClock
from tests.support.jobs import CREATED, make_job, make_spec
from tests.unit.replica_metrics.event_writer import event, simple, write


@pytest.fixture
def buckets(tmp_path: Path) -> FolderBuckets:
    buckets = FolderBuckets(tmp_path / "buckets", FakeClock())
    buckets.create_bucket("out", "US", None)
    return buckets


def _reader(buckets: FolderBuckets, reports: Sequence[StoredReport] = ()) -> JobMetrics:
    return JobMetrics(LocalEventFiles(), buckets, lambda _uid, _number: reports)


def _job(*uris: str, trial: str | None = None) -> Job:
    directories = tuple(Directory(None, uri) for uri in uris)
    tuning_job = JobUid("tuning") if trial else None
    spec = replace(make_spec(), directories=directories, trial=trial)
    return replace(make_job(spec=spec), tuning_job=tuning_job)


def _listed(reported: ReportedMetrics) -> dict[tuple[str, str], list[tuple[int, float]]]:
    return {
        (each.metric, each.source): [(point.step, point.value) for point in each.points]
        for each in reported.series
    }


def test_event_files_in_all_directories_of_a_job(buckets: FolderBuckets, tmp_path: Path) -> None:
    metrics, root = _reader(buckets), tmp_path / "buckets" / "out" / "run"
    job = _job("gs://out/run/model/", "gs://out/run/logs/")
    assert _listed(metrics.read(job)) == {}
    write(root / "logs" / "events.out.tfevents.1", event(simple("lr", 0.5), step=1, time=1000.0))
    write(root / "logs" / "eval" / "events.out.tfevents.2", event(simple("loss", 2.0), step=1))
    write(root / "model" / "events.out.tfevents.3", event(simple("loss", 3.0), step=2))
    assert _listed(metrics.read(job)) == {
        ("loss", "logs/eval"): [(1, 2.0)],
        ("loss", "model"): [(2, 3.0)],
        ("lr", "logs"): [(1, 0.5)],
    }
    assert _listed(_reader(buckets).read(_job("gs://gone/run/"))) == {}


def test_one_directory_needs_no_name_and_what_is_added_comes(
    buckets: FolderBuckets, tmp_path: Path
) -> None:
    metrics, job = _reader(buckets), _job("gs://out/run")
    file = tmp_path / "buckets" / "out" / "run" / "events.out.tfevents.1"
    write(file, event(simple("loss", 2.0), step=1, time=1000.0))
    (series,) = metrics.read(job).series
    assert (series.source, series.points) == (".", (MetricPoint(1, 1000.0, 2.0),))
    write(file, event(simple("loss", 1.0), step=2))
    assert _listed(metrics.read(job)) == {("loss", "."): [(1, 2.0), (2, 1.0)]}
    assert _listed(metrics.read(job)) == {("loss", "."): [(1, 2.0), (2, 1.0)]}


def test_a_large_file_comes_in_pieces(
    buckets: FolderBuckets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PIECE_BYTES", 1000)
    metrics, job = _reader(buckets), _job("gs://out/run")
    events = [event(simple("loss", 1.0), step=step) for step in range(3000)]
    write(tmp_path / "buckets" / "out" / "run" / "events.out.tfevents.1", *events)
    answers = [metrics.read(job)]
    while answers[-1].more:
        answers.append(metrics.read(job))
    assert len(answers) > 2
    (series,) = answers[-1].series
    assert (series.points[0].step, series.points[-1].step) == (0, 2999)
    assert len(series.points) <= MOST_POINTS + 1


def test_series_are_bounded(
    buckets: FolderBuckets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SERIES", 3)
    events = [event(simple(f"tag{at}", 1.0), step=1) for at in range(5)]
    write(tmp_path / "buckets" / "out" / "run" / "events.out.tfevents.1", *events)
    reported = _reader(buckets).read(_job("gs://out/run"))
    assert (len(reported.series), reported.omitted) == (3, True)


def test_jobs_are_forgotten_and_read_anew(
    buckets: FolderBuckets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_JOBS", 1)
    write(
        tmp_path / "buckets" / "out" / "run" / "events.out.tfevents.1",
        event(simple("loss", 2.0), step=1),
    )
    metrics, job = _reader(buckets), _job("gs://out/run")
    other = replace(job, uid=JobUid("other"))
    for each in (job, other, job):
        assert _listed(metrics.read(each)) == {("loss", "."): [(1, 2.0)]}


def test_a_trial_also_has_what_it_reported(buckets: FolderBuckets, tmp_path: Path) -> None:
    def stored(metric: str, value: float, source: str) -> StoredReport:
        time = CREATED + timedelta(seconds=1)
        return StoredReport(1, 7, Report(f"{metric}{value}", {metric: value}, 3, 1.0, time, source))

    reports = [stored("rmse", 0.5, "hypertune"), stored("loss", 9.0, "logs")]
    write(
        tmp_path / "buckets" / "out" / "7" / "events.out.tfevents.1",
        event(simple("loss", 2.0), step=1),
    )
    found = _listed(_reader(buckets, reports).read(_job("gs://out/7", trial="7")))
    assert found == {("loss", "."): [(1, 2.0)], ("rmse", "hypertune"): [(3, 0.5)]}


def test_a_long_series_is_thinned_and_keeps_its_last_point() -> None:
    series = SeriesPoints()
    for step in range(10 * MOST_POINTS + 1):
        series.add(step, float(step), 1.0)
    points = series.points()
    assert MOST_POINTS // 2 <= len(points) <= MOST_POINTS + 1
    assert (points[0].step, points[-1].step) == (0, 10 * MOST_POINTS)
    assert sorted({point.step for point in points}) == [point.step for point in points]


def test_steps_and_times_that_cannot_be() -> None:
    series = SeriesPoints()
    series.add(-(1 << 63), float("nan"), float("inf"))
    series.add(1 << 63, 1e300, 1.0)
    assert series.points() == (
        MetricPoint(0, 0.0, float("inf")),
        MetricPoint(1 << 53, 0.0, 1.0),
    )


@pytest.mark.parametrize("part", ["run", "run/logs"])
@pytest.mark.parametrize("target", ["theirs", "out/aside"])
def test_nothing_is_read_through_a_link(
    buckets: FolderBuckets, tmp_path: Path, part: str, target: str
) -> None:
    root = tmp_path / "buckets"
    write(root / target / "logs" / "events.out.tfevents.1", event(simple("m", 0.5), step=1))
    (root / "out" / part).parent.mkdir(exist_ok=True)
    (root / "out" / part).symlink_to(root / target / part.removeprefix("run").lstrip("/"))
    assert _listed(_reader(buckets).read(_job("gs://out/run/logs/"))) == {}
