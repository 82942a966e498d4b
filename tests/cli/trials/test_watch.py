"""``trials --watch``."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

from footplate.cli.trials import watch
from tests.support.fake_service import FakeService

from .conftest import JOB, answer, measured, trial

FIRST = trial(1, parameters={"learning_rate": 0.1}, final=measured(0.5, 100))
RUNNING = trial(2, "ACTIVE", parameters={"learning_rate": 0.2}, latest=measured(0.4, 30))
SECOND = trial(2, parameters={"learning_rate": 0.2}, final=measured(0.3, 100))
STOPPED = trial(3, parameters={"learning_rate": 0.3}, final=measured(0.9, 10), stopReason="late")
FAILED = trial(4, "INFEASIBLE", parameters={"learning_rate": 0.4}, infeasibleReason="it broke")


@pytest.fixture
def ended(fake: FakeService, job: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A job that has ended when it is looked at for the third time; its id."""
    monkeypatch.setattr(watch, "RETRY_S", 0.0)
    fake.trials[JOB] = [
        answer(FIRST, RUNNING, best=[1]),
        answer(FIRST, SECOND, STOPPED, best=[2]),
        answer(FIRST, SECOND, STOPPED, FAILED, best=[2], state="SUCCEEDED"),
    ]
    fake.jobs[JOB] = _Ending(fake.jobs[JOB], after=2)
    return job


class _Ending(dict[str, object]):
    """A job that ends after it was read so many times."""

    def __init__(self, job: dict[str, object], after: int) -> None:
        super().__init__(job)
        self._left = after

    def items(self) -> object:  # type: ignore[override]  # what json reads
        self._left -= 1
        if self._left < 0:
            self["state"] = "SUCCEEDED"
        return super().items()


def test_lines_where_there_is_no_terminal(invoke: Callable[..., Result], ended: str) -> None:
    result = invoke("ai-platform", "jobs", "trials", ended, "--watch")
    assert result.stdout == (
        "trial 1: rmse 0.5 at step 100\n"
        "trial 2: rmse 0.3 at step 100\n"
        "trial 3: rmse 0.9 at step 10, stopped early: late\n"
        "trial 4: FAILED: it broke\n"
        "census_1 is SUCCEEDED: 4 of 9 trials (3 succeeded, 1 without result)\n"
        "Best: trial 2 with rmse 0.3 at step 100.\n"
    )
    assert result.exit_code == 0
    assert result.stderr == (
        "census_1 is RUNNING: 2 of 9 trials (1 succeeded, 1 running)\nJob census_1 succeeded.\n"
    )


def test_that_it_waits_is_told_before_any_trial_has_begun(
    invoke: Callable[..., Result], fake: FakeService, ended: str
) -> None:
    requested = {**trial(1, "REQUESTED", parameters={"learning_rate": 0.1}), "startTime": ""}
    fake.trials[JOB][0] = answer(requested, state="QUEUED")
    fake.jobs[JOB]["pendingExplanation"] = "Trial 1: Waits for room."
    result = invoke("ai-platform", "jobs", "trials", ended, "--watch")
    assert result.stderr.startswith(
        "census_1 is QUEUED: 1 of 9 trials (1 not started yet)\nTrial 1: Waits for room.\n"
    )


def test_it_goes_with_no_other_look(invoke: Callable[..., Result], job: str) -> None:
    for option in ("--curves", "--trial=1", "--format=csv"):
        result = invoke("ai-platform", "jobs", "trials", job, "--watch", option)
        assert result.exit_code == 2
        assert "--watch can't be combined with --curves, --trial or --format" in result.stderr
