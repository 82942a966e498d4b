"""Trials as aiplatform v1 answers them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.names import CustomJobName
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.trials import TrialState
from footplate.wire.durations import format_duration, seconds
from footplate.wire.vertex_v1.trials import evenly, measurement_json, trial_json
from tests.support.jobs import CREATED

STUDY = "projects/demo/locations/us-central1/studies/7"
TRIAL = TrialRecord(3, {"lr": 0.1, "layers": 2, "opt": "adam"}, CREATED)


def report(step: int, loss: float, elapsed_s: float = 0.0) -> Measurement:
    return Measurement({"loss": loss}, step, elapsed_s)


def test_a_trial_that_is_only_suggested() -> None:
    assert trial_json(STUDY, TRIAL) == {
        "name": f"{STUDY}/trials/3",
        "id": "3",
        "state": "REQUESTED",
        "parameters": [
            {"parameterId": "lr", "value": 0.1},
            {"parameterId": "layers", "value": 2},
            {"parameterId": "opt", "value": "adam"},
        ],
    }


def test_a_trial_that_has_ended() -> None:
    measurement = Measurement({"loss": 0.5, "speed": 2.0}, step=7, elapsed_s=1.25)
    trial = replace(
        TRIAL,
        state=TrialState.SUCCEEDED,
        start_time=CREATED,
        end_time=CREATED + timedelta(seconds=2),
        client_id="me",
        measurements=(measurement,),
        final=measurement,
    )
    answer = trial_json(STUDY, trial)
    document = {
        "elapsedDuration": "1.25s",
        "stepCount": "7",
        "metrics": [{"metricId": "loss", "value": 0.5}, {"metricId": "speed", "value": 2.0}],
    }
    assert answer["finalMeasurement"] == document
    assert answer["measurements"] == [document]
    assert (answer["startTime"], answer["endTime"], answer["clientId"]) == (
        "2026-01-02T03:04:05.678901Z",
        "2026-01-02T03:04:07.678901Z",
        "me",
    )


def test_the_run_behind_a_trial() -> None:
    run, shells = CustomJobName("demo", "us-central1", "9-3"), {"workerpool0-0": "http://x/"}
    answer = trial_json(STUDY, replace(TRIAL, state=TrialState.ACTIVE), (), run, shells)
    assert answer["customJob"] == "projects/demo/locations/us-central1/customJobs/9-3"
    assert answer["webAccessUris"] == shells


def test_why_a_trial_is_infeasible() -> None:
    trial = replace(TRIAL, state=TrialState.INFEASIBLE, infeasible_reason="it blew up")
    assert trial_json(STUDY, trial)["infeasibleReason"] == "it blew up"


def test_measurements_are_in_the_order_of_their_steps() -> None:
    trial = replace(TRIAL, measurements=(Measurement({"loss": 4.0}, 2, 9.0),))
    reported = (report(3, 1.0), report(1, 2.0), report(2, 3.0, 5.0))
    answer: Any = trial_json(STUDY, trial, reported)
    values = [m["metrics"][0]["value"] for m in answer["measurements"]]
    assert values == [2.0, 3.0, 4.0, 1.0]


def test_of_very_many_measurements_some_are_told() -> None:
    answer: Any = trial_json(STUDY, TRIAL, [report(step, step / 2) for step in range(100_000)])
    steps = [int(m["stepCount"]) for m in answer["measurements"]]
    assert len(steps) == 100
    assert (steps[0], steps[-1]) == (0, 99_999)
    gaps = {b - a for a, b in pairwise(steps)}
    assert max(gaps) - min(gaps) <= 1


@given(st.integers(0, 400), st.integers(2, 150))
def test_some_of_many_are_distinct_and_in_order(count: int, most: int) -> None:
    every = [Measurement({}, step) for step in range(count)]
    some = evenly(every, most)
    assert len(some) == min(count, most)
    assert [m.step for m in some] == sorted({m.step for m in some})
    assert some[:1] == every[:1]
    assert some[-1:] == every[-1:]


@pytest.mark.parametrize(
    ("value", "text"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")]
)
def test_what_is_not_finite_is_a_text(value: float, text: str) -> None:
    answer = measurement_json(Measurement({"loss": value}, elapsed_s=value))
    assert answer["metrics"] == [{"metricId": "loss", "value": text}]
    json.dumps(answer, allow_nan=False)


@given(st.floats())
def test_durations_are_such_as_messages_hold(duration_s: float) -> None:
    text = format_duration(duration_s)
    assert text.endswith("s")
    assert abs(seconds(text)) <= 315_576_000_000
    if abs(duration_s) < 1e6:
        assert seconds(text) == pytest.approx(duration_s, abs=1e-6)


@pytest.mark.parametrize(("duration_s", "text"), [(0.0, "0s"), (-0.0, "0s"), (100.0, "100s")])
def test_durations_are_short(duration_s: float, text: str) -> None:
    assert format_duration(duration_s) == text
