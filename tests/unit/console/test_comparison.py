"""What differs between jobs."""

from __future__ import annotations

from typing import Any

from footplate.console.job_choices import NONE, Line, compare


def job(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "customJobs",
        "project": "demo",
        "region": "us-central1",
        "state": "SUCCEEDED",
        "machines": [{"machineType": "e2", "count": 1}],
        "restarts": 0,
        "startTime": "2026-01-01T00:00:00Z",
        "endTime": "2026-01-01T00:01:30Z",
        "request": {},
        **changes,
    }


def request(*args: str, **more: Any) -> dict[str, Any]:
    pool = {"replicaCount": 1, "pythonPackageSpec": {"args": list(args)}}
    return {"jobSpec": {"workerPoolSpecs": [pool]}, **more}


def test_what_differs_is_apart_from_what_is_alike() -> None:
    first = job(request=request("--rate", "0.1"), labels={"team": "ads"})
    second = job(request=request("--rate", "0.2", encryptionSpec={"kmsKeyName": "k"}))
    found = compare([first, second], [[], []])
    pool = "jobSpec.workerPoolSpecs[0]"
    assert found.different == (
        Line(f"{pool}.pythonPackageSpec.args", ("--rate 0.1", "--rate 0.2")),
        Line("labels.team", ("ads", NONE)),
        Line("encryptionSpec.kmsKeyName", (NONE, "k")),
    )
    assert found.same == (Line(f"{pool}.replicaCount", ("1", "1")),)


def test_how_they_ran_and_what_they_reported_last() -> None:
    failed = job(state="FAILED", message="bad shapes", endTime="")
    series = [
        {"metric": "loss", "source": "train", "values": [2, 0.123456789]},
        {"metric": "loss", "source": "eval", "values": [3, None]},
        {"metric": "rmse", "source": "hypertune", "values": []},
    ]
    found = compare([job(), failed], [series, [{"metric": "acc", "source": "", "values": [7]}]])
    ran = {line.title: line for line in found.runs}
    assert ran["state"].differs
    assert ran["why"].values == ("", "bad shapes")
    assert ran["ran"].values == ("1 min 30 s", NONE)
    assert found.metrics == (
        Line("loss (train)", ("0.123457", NONE)),
        Line("loss (eval)", ("3", NONE)),
        Line("acc", (NONE, "7")),
    )
