"""Runs the job clients of TFX's extension for AI Platform, and its start of cloud training."""

import os
import time

from example_results import example
from tfx.extensions.google_cloud_ai_platform import runner, training_clients
from tfx.types import standard_artifacts

PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
EXECUTOR = "tfx.components.trainer.executor.GenericExecutor"
PRINT, FAIL = (["python3", "-c", code] for code in ("print(6 * 7)", "raise SystemExit(3)"))


def on_ai_platform(command, name):
    return {
        "job_id": name,
        "training_input": {
            "region": REGION,
            "scaleTier": "BASIC",
            "masterConfig": {"imageUri": IMAGE, "containerCommand": command},
        },
        "labels": {"team": "a"},
    }


def on_vertex(command, name):
    pool = {
        "machine_spec": {"machine_type": "n1-standard-4"},
        "replica_count": 1,
        "container_spec": {"image_uri": IMAGE, "command": command},
    }
    return {"display_name": name, "job_spec": {"worker_pool_specs": [pool]}, "labels": {"a": "b"}}


def watch(client, job):
    """As its runner does, whose pause is 30 s."""
    client.launch_job(PROJECT, job)
    deadline = time.monotonic() + 240
    while True:
        state = client.get_job_state(client.get_job())
        if state in client.JOB_STATES_COMPLETED:
            return state not in client.JOB_STATES_FAILED
        assert time.monotonic() < deadline, state
        time.sleep(1)


def main():
    for name, more, write in (
        ("CAIPJobClient", {}, on_ai_platform),
        ("VertexJobClient", {"enable_vertex": True, "vertex_region": REGION}, on_vertex),
    ):
        with example(name):
            assert watch(training_clients.get_job_client(**more), write(PRINT, f"ends_{name}"))
        with example(f"{name}, whose program fails"):
            job = write(FAIL, f"fails_{name}")
            assert not watch(training_clients.get_job_client(**more), job)
        with example(f"start_cloud_training by {name}"):
            runner.start_cloud_training(
                {"examples": [standard_artifacts.Examples()]},
                {"model": [standard_artifacts.Model()]},
                {"custom_config": "{}"},
                EXECUTOR,
                {"project": PROJECT, **job_args(more)},
                None,
                **more,
            )


def job_args(more):
    """As the documentation of its trainer has them: the image is TFX's own."""
    if not more:
        return {"region": REGION, "scaleTier": "BASIC"}
    machine = {"machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1}
    return {"job_spec": {"worker_pool_specs": [machine]}}


if __name__ == "__main__":
    main()
