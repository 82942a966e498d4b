"""Programs on nodes of Slurm that call the service's API, through their launcher."""

import json
import sys
from collections.abc import Iterator

import pytest

from footplate.domain.job_states import State
from tests.e2e.service.conftest import Context
from tests.e2e.slurm.conftest import REGION, ServeRegion

ACCOUNT = "trainer@demo.iam.gserviceaccount.com"
RUN = """
import subprocess, sys
subprocess.run([sys.argv[1], "-W", "ignore", "-c", sys.argv[2]], check=True)
"""
SDK = """
import json, os, urllib.request
from google.cloud import aiplatform
aiplatform.init(
    project="demo",
    location=os.environ["CLOUD_ML_REGION"],
    staging_bucket="gs://stage",
    experiment="first",
    experiment_tensorboard=False,
)
with aiplatform.start_run("one"):
    aiplatform.log_params({"rate": 0.5})
    aiplatform.log_metrics({"loss": 0.25})
run = aiplatform.ExperimentRun("one", "first")


from google.cloud import storage
storage.Client().bucket("stage").blob("model/weights").upload_from_string("weights")
model = aiplatform.Model.upload(
    display_name="net",
    artifact_uri="gs://stage/model",
    serving_container_image_uri="registry.example/server",
)
aiplatform.init()  # without a project the SDK goes over REST
assert aiplatform.CustomJob.list() == []
own = "/v1/projects/demo/jobs/" + os.environ["CLOUD_ML_JOB_ID"]
token = {"Authorization": "Bearer " + os.environ["FOOTPLATE_TOKEN"]}
request = urllib.request.Request(os.environ["FOOTPLATE_URL"] + own, headers=token)
with urllib.request.urlopen(request) as answer:
    state = json.load(answer)["state"]
print(json.dumps([run.get_params(), run.get_metrics(), model.resource_name, state]), flush=True)
"""
HOSTILE = """
import base64, json, os, socket, urllib.error, urllib.request

address, key = os.environ["STORAGE_EMULATOR_HOST"].split("/programs/")
host, port = address.removeprefix("http://").split(":")
METADATA = "/computeMetadata/v1/project/project-id"

def call(path, body=None, **headers):
    try:
        request = urllib.request.Request(address + path, body, headers)
        with urllib.request.urlopen(request) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()

def tunnel(user, password):
    shown = base64.b64encode((user + ":" + password).encode()).decode()
    with socket.create_connection((host, int(port)), 60) as connection:
        lines = "CONNECT aiplatform.googleapis.com:443 HTTP/1.1\\r\\nProxy-Authorization: Basic "
        connection.sendall((lines + shown + "\\r\\n\\r\\n").encode())
        return int(connection.recv(1000).split()[1])

bearer = {"Authorization": "Bearer " + key}
print(json.dumps({
    "led": sorted({"FOOTPLATE_TOKEN", "grpc_proxy"} & set(os.environ)),
    "refused": [call("/v1/projects/demo/jobs", **bearer), call("/footplate/v1/status", **bearer)],
    "hidden": [call("/v1/projects/demo/jobs")[0], call("/healthz")[0]],
    "supervisor": [
        call("/replica/v1/task", **bearer)[0],
        call("/replica/v1/reports", b"{}", **bearer)[0],
        call("/replica/v1/launcher/archives/x", **bearer)[0],
    ],
    "tunnels": [tunnel(*shown) for shown in (("program", key), ("caller", key), ("", ""))],
    "buckets": call("/storage/v1/b/stage/o", **bearer)[0],
    "metadata": call("/programs/" + key + METADATA, **{"Metadata-Flavor": "Google"})[0],
}), flush=True)
"""


@pytest.fixture
def context(serve_region: ServeRegion) -> Iterator[Context]:
    """Without containment programs see the Python of the tests, which has Google's SDK."""
    settings = {"isolation": "best-effort", "allow_root": "true"}
    if sys.prefix.startswith("/tmp/"):
        settings["tmp_paths"] = sys.prefix
    with serve_region("", api_access="demo", **settings) as context:
        yield context


def test_googles_sdk_works_in_a_program_that_may_call_and_others_are_refused(
    context: Context,
) -> None:
    """One service for both: each needs a Slurm and a server."""
    allowed = context.submit(RUN, sys.executable, SDK, region=REGION, serviceAccount=ACCOUNT)
    hostile = context.submit(HOSTILE, region=REGION)

    job = context.wait_for(allowed)
    assert job.state is State.SUCCEEDED, (job.error_message, context.messages(allowed))
    params, metrics, model, state = json.loads(_find_line(context.messages(allowed), "["))
    assert (params, metrics) == ({"rate": 0.5}, {"loss": 0.25})
    assert model.startswith(f"projects/demo/locations/{REGION}/models/")
    assert state == "RUNNING"

    job = context.wait_for(hostile)
    assert job.state is State.SUCCEEDED, (job.error_message, context.messages(hostile))
    got = json.loads(_find_line(context.messages(hostile), "{"))
    assert got["led"] == []
    for status, text in got["refused"]:
        assert (status, "its job has no serviceAccount" in text) == (403, True)
    assert got["hidden"] == [404, 404]
    assert got["supervisor"] == [403, 403, 403]
    assert got["tunnels"] == [403, 403, 403]
    assert got["buckets"] == 200
    assert got["metadata"] == 200


def _find_line(lines: list[str], start: str) -> str:
    return next(line for line in lines if line.startswith(start))
