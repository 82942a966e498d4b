"""Pipelines whose steps run in jobs."""

from google.cloud import aiplatform
from zenml import pipeline, step
from zenml.config import DockerSettings
from zenml.integrations.gcp.flavors.vertex_experiment_tracker_flavor import (
    VertexExperimentTrackerSettings,
)
from zenml.integrations.gcp.flavors.vertex_step_operator_flavor import VertexStepOperatorSettings

IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
IN_JOB = {
    "step_operator": "vertex",
    "settings": {
        "docker": DockerSettings(parent_image=IMAGE, skip_build=True),
        "step_operator": VertexStepOperatorSettings(machine_type="e2-standard-4"),
    },
    "environment": {"PYTHONPATH": "/gcs/zenml/site-packages"},  # a job of examples.py fills it
}
TRACKED = {"experiment_tracker": VertexExperimentTrackerSettings(experiment="zenml-losses")}


@step
def load() -> list[float]:
    return [1.0, 2.0, 3.0]


@step(**IN_JOB)
def train(rows: list[float]) -> float:
    return sum(rows)


@step(experiment_tracker="tracker", settings=TRACKED)
def evaluate(model: float) -> float:
    aiplatform.log_params({"rows": 3})
    aiplatform.log_metrics({"loss": model})
    return model


@pipeline(enable_cache=False)
def training() -> None:
    evaluate(train(load()))


@step(**IN_JOB)
def fail_in_job() -> None:
    raise ValueError("no rows")


@pipeline(enable_cache=False)
def failing() -> None:
    fail_in_job()
