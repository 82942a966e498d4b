"""The SDK's classes of studies over gRPC, under ``footplate run``.

Run in a process of its own, by tests/support/own_process.py.
"""

from __future__ import annotations

from typing import Any

from google.cloud import aiplatform
from google.cloud.aiplatform.vizier import Study, pyvizier


def _problem(most: float) -> Any:
    problem = pyvizier.StudyConfig()
    problem.algorithm = pyvizier.Algorithm.RANDOM_SEARCH
    problem.metric_information.append(
        pyvizier.MetricInformation(name="loss", goal=pyvizier.ObjectiveMetricGoal.MINIMIZE)
    )
    root = problem.search_space.select_root()
    root.add_float_param("rate", 0.0, most, scale_type=pyvizier.ScaleType.LINEAR)
    return problem


def case_a_study_is_created_or_loaded() -> None:
    """Also where its spec is another one, which over REST the SDK doesn't understand."""
    aiplatform.init(project="demo", location="us-central1")
    study = Study.create_or_load(display_name="loaded", problem=_problem(1.0))
    for most in (1.0, 2.0):
        found = Study.create_or_load(display_name="loaded", problem=_problem(most))
        assert found.resource_name == study.resource_name
    (trial,) = study.suggest(count=1, worker="a")
    trial.add_measurement(pyvizier.Measurement(metrics={"loss": pyvizier.Metric(1.0)}, steps=1))
    trial.complete()
    assert [each.uid for each in study.optimal_trials()] == [trial.uid]
