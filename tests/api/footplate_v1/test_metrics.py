"""Reported metrics over HTTP."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1.metrics import metrics_routes
from footplate.api.security import Access
from footplate.domain.metric_series import MetricPoint, MetricSeries, ReportedMetrics
from footplate.domain.names import TrainingJobName, TuningJobName
from tests.support.http_server import serve
from tests.support.jobs import make_job, make_search, make_spec
from tests.support.store import MemoryStore

NAME = TrainingJobName("demo", "census_1")
TUNING = TuningJobName("demo", "us-central1", "17")
_POINTS = [MetricPoint(step, 1000.0 + step, float(step)) for step in range(10)]
_REPORTED = ReportedMetrics(
    (
        MetricSeries("loss", "train", tuple(_POINTS)),
        MetricSeries("rmse", ".", (MetricPoint(1, 0.5, math.nan),)),
    ),
    more=True,
    omitted=False,
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    store = MemoryStore()
    store.create(make_job(NAME), ())
    spec = replace(make_spec(TUNING), search=make_search())
    store.create(make_job(TUNING, spec=spec), ())
    with serve(create_app(metrics_routes(lambda _: _REPORTED, store.get), Access())) as url:
        yield f"{url}/footplate/v1"


def test_series_are_thinned(url: str) -> None:
    assert httpx.get(f"{url}/{NAME}/metrics?points=3").json() == {
        "series": [
            {
                "metric": "loss",
                "source": "train",
                "steps": [0, 4, 9],
                "times": [f"1970-01-01T00:16:{40 + step}.000000Z" for step in (0, 4, 9)],
                "values": [0.0, 4.0, 9.0],
            },
            {
                "metric": "rmse",
                "source": ".",
                "steps": [1],
                "times": ["1970-01-01T00:00:00.500000Z"],
                "values": ["NaN"],
            },
        ],
        "more": True,
        "omitted": False,
    }


@pytest.mark.parametrize("points", ["1", "x", "501", "-3"])
def test_a_wrong_number_of_points_is_refused(url: str, points: str) -> None:
    answer = httpx.get(f"{url}/{NAME}/metrics?points={points}")
    assert answer.status_code == 400
    assert "points" in answer.text


def test_jobs_that_run_nothing_say_who_does(url: str) -> None:
    answer = httpx.get(f"{url}/{TUNING}/metrics")
    assert answer.status_code == 400
    assert "trials" in answer.text
    assert httpx.get(f"{url}/projects/demo/jobs/none/metrics").status_code == 404
