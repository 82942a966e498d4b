"""Tuning jobs by the unmodified google-cloud-aiplatform, new and old, with trials that run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.clients.tuned import SLEEPING, TAG, TRAINER, loss_of

MAKE = f"""
from google.cloud.aiplatform import hyperparameter_tuning as hpt

def tune(name, text, **more):
    return aiplatform.HyperparameterTuningJob(
        display_name=name, custom_job=from_script(name, text),
        metric_spec={{{TAG!r}: "minimize"}},
        parameter_spec={{"x": hpt.DoubleParameterSpec(min=0, max=1, scale="linear")}},
        parallel_trial_count=2, **more)
"""


def test_a_job_runs_to_its_end(sdk: Callable[[str], list[str]]) -> None:
    lines = sdk(f"""{MAKE}
job = tune("tuned", {TRAINER!r}, max_trial_count=3)
job.run()
say(job.state.name, job.error.code)
for trial in job.trials:
    (x,), (metric,) = trial.parameters, trial.final_measurement.metrics
    say(trial.id, trial.state.name, trial.final_measurement.step_count, metric.metric_id)
    say(x.value, metric.value)
again = aiplatform.HyperparameterTuningJob.get(job.resource_name)
say(again.display_name, [trial.id for trial in again.trials])
found = aiplatform.HyperparameterTuningJob.list(filter='display_name="tuned"')
say(job.resource_name in [each.resource_name for each in found])
job.delete()
""")
    ended = [f"{number} SUCCEEDED 3 {TAG}" for number in (1, 2, 3)]
    assert [lines[0], *lines[1:7:2]] == ["JOB_STATE_SUCCEEDED 0", *ended]
    for line in lines[2:7:2]:
        x, loss = map(float, line.split())
        assert loss == pytest.approx(loss_of(x))
    assert lines[7:] == ["tuned ['1', '2', '3']", "True"]


def test_a_job_is_cancelled_and_one_whose_first_trial_fails_has_failed(
    sdk: Callable[[str], list[str]],
) -> None:
    lines = sdk(f"""{MAKE}
long = tune("long", {SLEEPING!r}, max_trial_count=4)
long.run(sync=False)
long.wait_for_resource_creation()
failing = tune("failing", "raise ValueError('the answer is not 42')", max_trial_count=4)
try:
    failing.run()
except RuntimeError as error:
    say("the answer is not 42" in error.args[0])
say(failing.state.name)
wait_for(long, "RUNNING")
long.cancel()
wait_for(long, "CANCELLED")
say(long.state.name)
""")
    assert lines == ["True", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED"]
