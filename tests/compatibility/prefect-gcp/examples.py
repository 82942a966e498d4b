"""Runs flows in jobs as Prefect's documentation does: a server, a work pool, a worker."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.request import urlopen

from example_results import example, run_example
from google.cloud import storage

PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
POOL, BUCKET = "my-vertex-pool", "prefect-code"
PREFECT = (sys.executable, "-m", "prefect", "--no-prompt")
LIMIT_S = 600.0


def main():
    storage.Client(project=PROJECT).create_bucket(BUCKET)
    with prefect_server():
        prefect("prefect block register", "block", "register", "-m", "prefect_gcp")
        prefect("prefect work-pool create", "work-pool", "create", POOL, "--type", "vertex-ai")
        prefect("prefect deploy, push_to_gcs", "deploy", "--all")
        with running("worker", "start", "--pool", POOL, "--name", "vertex"):
            run_deployments()
        call_decorated_flow()


def run_deployments():
    """Flows that end and fail, jobs that are refused and fail, a job that is cancelled."""
    from prefect.deployments import run_deployment
    from prefect_gcp import GcpCredentials

    with example("run_deployment"):
        greeting = run_deployment("greet/vertex", parameters={"name": "Vertex"}, timeout=0).id
        failing, broken, refused, waiting = (
            run_deployment(name + "/vertex", timeout=0).id
            for name in ("fail", "broken", "refused", "wait")
        )
    with example("GcpCredentials.get_job_service_client"):
        GcpCredentials(project=PROJECT).save("vertex")
        jobs = GcpCredentials.load("vertex").get_job_service_client(
            client_options={"api_endpoint": REGION + "-aiplatform.googleapis.com"}
        )
        parent = "projects/%s/locations/%s" % (PROJECT, REGION)
        list(jobs.list_custom_jobs(parent=parent))
    with example("prefect flow-run cancel"):
        wait_for(lambda: inspect(waiting).infrastructure_pid, "the job's name")
        subprocess.run([*PREFECT, "flow-run", "cancel", str(waiting)], check=True)
        ends_as(waiting, "CANCELLED")
        job = inspect(waiting).infrastructure_pid
        wait_for(
            lambda: jobs.get_custom_job(name=job).state.name == "JOB_STATE_CANCELLED",
            "the end of job %s" % job,
        )
    with example("a job that is refused crashes its flow run"):
        ends_as(refused, "CRASHED")
    with example("a job that fails crashes its flow run"):
        ends_as(broken, "CRASHED")
    with example("a flow that fails in its job"):
        ends_as(failing, "FAILED")
        assert "no rows" in logs(failing)
    with example("a flow that ends in its job, pull_from_gcs"):
        ends_as(greeting, "COMPLETED")
        assert "Hello, Vertex!" in logs(greeting)


def call_decorated_flow():
    prefect(
        "prefect work-pool storage configure gcs",
        *("work-pool", "storage", "configure", "gcs", POOL),
        *("--bucket", BUCKET, "--gcp-credentials-block-name", "vertex"),
    )
    with example("@vertex_ai"):
        from decorated import add

        assert add(1, 2) == 3


@contextmanager
def prefect_server():
    """A server of Prefect at a free port, to which commands, the worker and jobs are led."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    url = "http://127.0.0.1:%d/api" % port
    os.environ["PREFECT_API_URL"] = url
    with running("server", "start", "--port", str(port)):
        wait_for(lambda: answers(url + "/health"), "the server's answer")
        yield


@contextmanager
def running(*command):
    process = subprocess.Popen([*PREFECT, *command])
    try:
        yield
    finally:
        process.kill()  # a worker may never end by itself
        process.wait()


def prefect(name, *command):
    run_example(name, [*PREFECT, *command])


def ends_as(run, expected):
    ends = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
    wait_for(lambda: inspect(run).state_type.value in ends, "the end of run %s" % run)
    assert inspect(run).state_type.value == expected, inspect(run).state


def inspect(run):
    from prefect import get_client

    with get_client(sync_client=True) as client:
        return client.read_flow_run(run)


def logs(run):
    from prefect import get_client
    from prefect.client.schemas.filters import LogFilter, LogFilterFlowRunId

    with get_client(sync_client=True) as client:
        read = client.read_logs(LogFilter(flow_run_id=LogFilterFlowRunId(any_=[run])))
    return "\n".join(log.message for log in read)


def answers(url):
    try:
        with urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def wait_for(condition, what):
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(1)


if __name__ == "__main__":
    main()
