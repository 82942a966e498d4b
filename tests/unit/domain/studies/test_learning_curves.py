"""What a trial is judged by, of all that its program reported."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.learning_curves import is_evaluation, measurements, report_key
from footplate.domain.studies.metrics import Measurement, Metric, Selection, select
from footplate.domain.studies.records import Report

START = datetime(2026, 1, 2, tzinfo=UTC)
LOSS, ACCURACY = Metric("loss"), Metric("accuracy")


def report(source: str, step: int, value: float, at_s: float = 0.0, name: str = "loss") -> Report:
    time = START + timedelta(seconds=at_s)
    key = report_key(name, source, step, time.timestamp(), value)
    return Report(key, {name: value}, step, at_s, time, source)


def values(*reports: Report) -> list[tuple[int, float]]:
    return [(m.step, m.values["loss"]) for m in measurements(reports, [LOSS])]


def test_nothing_was_reported() -> None:
    assert measurements((), [LOSS]) == ()
    assert measurements((report(".", 1, 0.5, name="other"),), [LOSS]) == ()


def test_in_the_order_of_steps_whenever_they_came() -> None:
    assert values(report(".", 20, 0.2, 1), report(".", 10, 0.5, 2)) == [(10, 0.5), (20, 0.2)]


def test_the_evaluation_counts_though_training_is_further() -> None:
    found = values(
        report("train", 100, 0.1, 50),
        report("validation", 50, 0.4, 40),
        report("validation", 90, 0.3, 45),
        report("train", 110, 0.05, 60),
    )
    assert found == [(50, 0.4), (90, 0.3)]


def test_without_an_evaluation_the_folder_counts_that_was_written_last() -> None:
    old = [report("logs/1", step, 0.9, step) for step in (1, 2, 3)]
    new = [report("logs/2", 1, 0.5, 7)]
    assert values(*new, *old) == [(1, 0.5)]


def test_of_one_step_what_was_written_last_counts() -> None:
    assert values(report("eval", 5, 0.9, 30), report("eval", 5, 0.1, 20)) == [(5, 0.9)]
    assert values(report("eval", 5, 0.1, 20), report("eval", 5, 0.2, 20)) == [(5, 0.2)]


def test_hypertune_counts_before_event_files() -> None:
    found = values(report("hypertune", 1, 0.5, 1), report("eval", 9, 0.1, 9))
    assert found == [(1, 0.5)]


def test_several_metrics_are_joined_by_step_each_from_its_own_source() -> None:
    found = measurements(
        (
            report("train", 1, 0.9, 1),
            report("eval", 1, 0.8, 2),
            report("hypertune", 1, 0.7, 3, name="accuracy"),
            report("hypertune", 2, 0.6, 4, name="accuracy"),
        ),
        [LOSS, ACCURACY],
    )
    assert found == (
        Measurement({"loss": 0.8, "accuracy": 0.7}, 1, 3.0),
        Measurement({"accuracy": 0.6}, 2, 4.0),
    )
    assert select(found, [LOSS, ACCURACY], Selection.LAST) == found[0]


def test_what_is_not_a_number_is_kept() -> None:
    ((_, first), (_, last)) = values(report(".", 1, math.nan), report(".", 2, math.inf))
    assert math.isnan(first)
    assert last == math.inf


@pytest.mark.parametrize(
    "folder", ["eval", "a/b/Validation", "eval_holdout", "run-1/val", "x/test/v2", "train/eval"]
)
def test_folders_of_evaluations(folder: str) -> None:
    assert is_evaluation(folder)


@pytest.mark.parametrize(
    "folder",
    [".", "", "train", "test/train", "retrieval", "latest", "eval/a/b", "evaluate", "train_val"],
)
def test_other_folders(folder: str) -> None:
    assert not is_evaluation(folder)


SOURCES = ("", "hypertune", ".", "train", "eval", "logs/validation")
reports = st.lists(
    st.builds(
        report,
        st.sampled_from(SOURCES),
        st.integers(0, 5),
        st.floats(),
        st.integers(0, 20).map(float),
        st.sampled_from(["loss", "accuracy", "other"]),
    ),
    max_size=30,
)


@given(reports)
def test_whatever_was_reported(given_reports: list[Report]) -> None:
    found = measurements(given_reports, [LOSS, ACCURACY])
    steps = [measurement.step for measurement in found]
    assert steps == sorted(set(steps))
    for name in ("loss", "accuracy"):
        there = [r for r in given_reports if name in r.values]
        mine = [m for m in found if name in m.values]
        assert bool(mine) == bool(there)
        sources = [
            {r.source for r in there if r.step == m.step and r.values[name] is m.values[name]}
            for m in mine
        ]
        assert not mine or set.intersection(*sources), "all from one source"
    assert all(measurement.values for measurement in found)


@given(reports)
def test_reports_that_came_twice_change_nothing(given_reports: list[Report]) -> None:
    again = [*given_reports, *(replace(r) for r in given_reports)]
    assert repr(measurements(again, [LOSS])) == repr(measurements(given_reports, [LOSS]))


@given(reports, reports)
def test_training_changes_nothing_where_there_is_an_evaluation(
    given_reports: list[Report], more: list[Report]
) -> None:
    judged = [*given_reports, report("eval", 1, 0.5)]
    training = [r for r in more if r.source in ("train", ".")]
    assert repr(measurements([*judged, *training], [LOSS])) == repr(measurements(judged, [LOSS]))


def test_a_key_is_that_of_one_report() -> None:
    whole = ("loss", "eval", 1, 1.5, 0.5)
    keys = {
        report_key(*whole),
        report_key("los", "seval", 1, 1.5, 0.5),
        report_key("loss", "train", 1, 1.5, 0.5),
        report_key("loss", "eval", 2, 1.5, 0.5),
        report_key("loss", "eval", 1, 1.500001, 0.5),
        report_key("loss", "eval", 1, 1.5, math.nan),
    }
    assert len(keys) == 6
    assert report_key(*whole) == report_key(*whole)
    assert all(len(key) == 24 for key in keys)
