"""Runs steps of ZenML's pipelines in jobs, on a stack that its command line registers."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.request import urlopen

from example_results import example, run_example
from google.cloud import aiplatform, storage

PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
BUCKET = "zenml"
LIMIT_S = 600.0
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
INSTALL = (
    "pip install -q --no-compile --target=/gcs/zenml/site-packages"
    " zenml==0.98.0 'gcsfs<=2024.12.0' google-cloud-aiplatform"
)


def main():
    storage.Client(project=PROJECT).create_bucket(BUCKET)
    aiplatform.init(project=PROJECT, location=REGION, staging_bucket="gs://" + BUCKET)
    installation = install_for_steps()
    with server():
        register_stack()
        installation.wait()
        run_pipelines()


@contextmanager
def server():
    """A server of ZenML as its image starts it, to which commands and steps are led: steps in jobs
    aren't run with one that `zenml login --local` starts.
    """
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    settings = {
        "ZENML_CONFIG_PATH": os.path.abspath("server"),
        "ZENML_SERVER_AUTO_ACTIVATE": "true",
        "ZENML_SERVER_AUTH_SCHEME": "NO_AUTH",
    }
    command = [sys.executable, "-m", "uvicorn", "zenml.zen_server.zen_server_api:app"]
    command += ["--host=127.0.0.1", "--port=%d" % port, "--log-level=warning"]
    process = subprocess.Popen(command, env={**os.environ, **settings})
    try:
        url = os.environ["ZENML_STORE_URL"] = "http://127.0.0.1:%d" % port
        os.environ["ZENML_STORE_TYPE"] = "rest"
        wait_for_answer(url + "/health")
        yield
    finally:
        process.terminate()
        process.wait()


def wait_for_answer(url):
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        try:
            urlopen(url, timeout=10).close()
        except OSError:
            time.sleep(1)
        else:
            return
    raise TimeoutError(url)


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
    job.run(sync=False)
    return job


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
        (tracked,) = aiplatform.ExperimentRun.list(experiment="zenml-losses")
        assert tracked.get_metrics() == {"loss": 6.0}, tracked.get_metrics()
        assert tracked.get_params() == {"rows": 3}, tracked.get_params()
        assert "vertex_run_name" in str(run.steps["evaluate"].run_metadata)
    with example("a step that fails in its job"):
        fails(pipelines.failing)
        assert Client().get_pipeline("failing").last_run.status.value == "failed"
        assert "JOB_STATE_FAILED" in [job.state.name for job in aiplatform.CustomJob.list()]


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
