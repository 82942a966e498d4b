from __future__ import annotations

import pytest

from tests.support.fake_service import TIME, FakeService

JOB = "projects/demo/jobs/census_1"


def trial(number: int, state: str = "SUCCEEDED", **more: object) -> dict[str, object]:
    """As the service tells of it; it began in minute ``number`` and ran for 30 seconds."""
    ended = {"endTime": f"2026-11-21T08:{number:02d}:30Z"}
    return {
        "number": number,
        "state": state,
        "createTime": TIME,
        "startTime": f"2026-11-21T08:{number:02d}:00Z",
        "machineSeconds": 60.0,
        "stoppedEarly": "stopReason" in more,
        **(ended if state in ("SUCCEEDED", "INFEASIBLE") else {}),
        **more,
    }


def measured(rmse: float | str, step: int) -> dict[str, object]:
    return {"step": step, "elapsedSeconds": float(step), "values": {"rmse": rmse}}


def answer(*trials: dict[str, object], **more: object) -> dict[str, object]:
    return {
        "name": JOB,
        "state": "RUNNING",
        "metrics": [{"name": "rmse", "goal": "MINIMIZE"}],
        "parameters": ["learning_rate", "optimizer", "momentum"],
        "counts": {"trials": 9, "parallel": 2, "failed": 0},
        "best": [],
        **more,
        "trials": list(trials),
    }


@pytest.fixture
def job(fake: FakeService) -> str:
    """A tuning job of four trials; its id."""
    spec = {"hyperparameters": {"maxTrials": 9}}
    fake.jobs[JOB] = {"jobId": "census_1", "state": "RUNNING", "createTime": TIME}
    fake.jobs[JOB]["trainingInput"] = spec
    expected = {"metric": "rmse", "value": 0.4, "low": 0.3, "high": 0.5}
    suggestion = {"reason": "exploit", "sentence": "exploit: expects rmse between 0.3 and 0.5"}
    fake.trials[JOB] = [
        answer(
            trial(
                1, parameters={"learning_rate": 0.1, "optimizer": "adam"}, final=measured(0.5, 100)
            ),
            trial(
                2,
                parameters={"learning_rate": 0.001, "optimizer": "sgd", "momentum": 0.9},
                final=measured(0.21234567, 100),
                suggestion={**suggestion, "predictions": [expected]},
            ),
            trial(
                3,
                "INFEASIBLE",
                parameters={"learning_rate": 0.01, "optimizer": "adam"},
                infeasibleReason="the program ended with exit code 1",
            ),
            trial(
                4,
                parameters={"learning_rate": 0.002, "optimizer": "adam"},
                final=measured(0.9, 10),
                stopReason="at step 10: 0.9, above 0.7",
            ),
            best=[2],
            tie="trial 9 is as good; this trial came first",
        )
    ]
    return "census_1"
