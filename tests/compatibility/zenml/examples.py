"""Runs steps of ZenML's pipelines in jobs, on a stack that its command line registers."""

import os
import socket
import subprocess

from example_results import example, run_example
from google.cloud import aiplatform, storage

PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
BUCKET = "zenml"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
INSTALL = (
    "pip install -q --no-compile --target=/gcs/zenml/site-packages"
    " 'zenml[connectors-gcp]==0.98.0' 'gcsfs<=2024.12.0' google-cloud-aiplatform"
)


def main():
    storage.Client(project=PROJECT).create_bucket(BUCKET)
    aiplatform.init(project=PROJECT, location=REGION, staging_bucket="gs://" + BUCKET)
    install_for_steps()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    zenml("zenml login --local", "login", "--local", "--port", str(port))
    try:
        register_stack()
        run_pipelines()
    finally:
        subprocess.run(["zenml", "logout", "--local"], check=False)


def install_for_steps():
    """Have a job put ZenML into the bucket, as a prebuilt image doesn't hold it."""
    job = aiplatform.CustomJob(
        display_name="zenml",
        worker_pool_specs=[
            {
                "machine_spec": {"machine_type": "e2-standard-4"},
                "replica_count": 1,
                "container_spec": {"image_uri": IMAGE, "command": ["bash", "-c", INSTALL]},
            }
        ],
    )
    job.run()


def register_stack():
    place = ("--project=" + PROJECT, "--region=" + REGION)
    components = {
        "artifact-store": ("gcs_store", "--flavor=gcp", "--path=gs://" + BUCKET),
        "container-registry": ("registry", "--flavor=gcp", "--uri=us-docker.pkg.dev/demo/zenml"),
        "image-builder": ("builder", "--flavor=local"),
        "step-operator": ("vertex", "--flavor=vertex", *place),
        "experiment-tracker": (
            *("tracker", "--flavor=vertex", "--project=" + PROJECT, "--location=" + REGION),
            "--staging_bucket=gs://" + BUCKET,
        ),
    }
    for kind, words in components.items():
        zenml("zenml %s register" % kind, kind, "register", *words)
    parts = ("-a", "gcs_store", "-o", "default", "-c", "registry", "-i", "builder")
    parts += ("-s", "vertex", "-e", "tracker", "--set")
    zenml("zenml stack register", "stack", "register", "vertex", *parts)


def run_pipelines():
    with example("a pipeline with a step in a job and a tracked step"):
        import pipelines
        from zenml.client import Client

        pipelines.training()
        run = Client().get_pipeline("training").last_run
        assert run.status.value == "completed", run.status
        assert run.steps["train"].output.load() == 6.0
    with example("the Vertex experiment tracker"):
        frame = aiplatform.get_experiment_df("zenml-losses")
        assert list(frame["metric.loss"]) == [6.0], frame
        assert list(frame["param.rows"]) == [3], frame
        assert "vertex_run_name" in str(run.steps["evaluate"].run_metadata)
    with example("a step that fails in its job"):
        fails(pipelines.failing)
        assert Client().get_pipeline("failing").last_run.status.value == "failed"
    with example("a step that is stopped in its job"):
        fails(pipelines.stopped)
        assert "JOB_STATE_CANCELLED" in [job.state.name for job in aiplatform.CustomJob.list()]


def fails(pipeline):
    try:
        pipeline()
    except Exception as error:
        print("failed, as expected:", error)
    else:
        raise AssertionError("it should have failed")


def zenml(name, *command):
    run_example(name, ["zenml", *command])


if __name__ == "__main__":
    main()
