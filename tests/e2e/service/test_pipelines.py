"""The server is killed at the steps of training pipelines, and nothing is lost or doubled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from footplate.domain.names import GcsUri
from tests.e2e.service.conftest import BUCKET, Context
from tests.support.trainers import pack_trainer

LOCATION = "projects/demo/locations/us-central1"
SCHEMA = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
TRAINER = """
import glob, os, pathlib, time
data = os.environ["AIP_TRAINING_DATA_URI"].replace("gs://", "/gcs/")
print(pathlib.Path(glob.glob(data)[0]).read_text(), flush=True)
folder = pathlib.Path(os.environ["AIP_MODEL_DIR"].replace("gs://", "/gcs/"))
while not (folder.parent / "go").exists():
    time.sleep(0.05)
(folder / "model.txt").write_text("42")
"""


def pipeline(package: GcsUri) -> dict[str, Any]:
    pool = {
        "replica_count": 1.0,
        "machine_spec": {"machine_type": "n1-standard-4"},
        "python_package_spec": {
            "executor_image_uri": IMAGE,
            "package_uris": [str(package)],
            "python_module": "trainer.task",
        },
    }
    base = {"output_uri_prefix": f"gs://{BUCKET}/out"}
    return {
        "displayName": "killed",
        "trainingTaskDefinition": SCHEMA,
        "trainingTaskInputs": {"worker_pool_specs": [pool], "base_output_directory": base},
        "inputDataConfig": {"gcsDestination": {"outputUriPrefix": f"gs://{BUCKET}/data/"}},
        "modelToUpload": {"displayName": "mymodel"},
    }


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=60) as http:
        yield http


def test_kills_in_a_pipeline(context: Context, http: httpx.Client) -> None:
    package = GcsUri(BUCKET, "trainer.tar.gz")
    with context.client() as client:
        client.storage.upload(package, pack_trainer(TRAINER, None))
        client.storage.upload(GcsUri(BUCKET, "data/training-0.csv"), b"a,b")

    def get(path: str) -> dict[str, Any]:
        answer = http.get(f"{context.service.url}/v1/{path}")
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def restart() -> None:
        context.service.kill()
        context.service.start()

    url = f"{context.service.url}/v1/{LOCATION}/trainingPipelines"
    name = http.post(url, json=pipeline(package)).raise_for_status().json()["name"]
    restart()
    context.until(lambda: get(name)["state"] == "PIPELINE_STATE_RUNNING")
    restart()
    job = get(get(name)["trainingTaskMetadata"]["backingCustomJob"])
    assert job["displayName"] == "killed-custom-job"
    refused = http.delete(f"{context.service.url}/v1/{name}").json()
    assert refused["error"]["status"] == "FAILED_PRECONDITION"
    (context.bucket / "out" / "go").touch()
    context.until(lambda: get(job["name"])["state"] == "JOB_STATE_SUCCEEDED")
    restart()
    context.until(lambda: get(name)["state"] == "PIPELINE_STATE_SUCCEEDED")
    model = get(name)["modelToUpload"]
    assert get(model["name"])["artifactUri"] == f"gs://{BUCKET}/out/model/"
    assert len(get(f"{model['name']}:listVersions")["models"]) == 1
    assert len(get(f"{LOCATION}/customJobs")["customJobs"]) == 1

    check_pages(context.service.url, name, job["name"], model["name"])


ROWS = 20_000
READER = """
import glob, os
names = ("TRAINING", "VALIDATION", "TEST")
places = [os.environ[f"AIP_{name}_DATA_URI"].replace("gs://", "/gcs/") for name in names]
rows = [line for place in places for path in glob.glob(place) for line in list(open(path))[1:]]
print("rows", len(rows), len(set(rows)), flush=True)
"""


def test_kills_while_data_is_written(context: Context, http: httpx.Client) -> None:
    package = GcsUri(BUCKET, "reader.tar.gz")
    table = "a\n" + "".join(f"{number}\n" for number in range(ROWS))
    with context.client() as client:
        client.storage.upload(package, pack_trainer(READER, None))
        client.storage.upload(GcsUri(BUCKET, "table.csv"), table.encode())
    base = f"{context.service.url}/v1/{LOCATION}"
    schema = "gs://google-cloud-aiplatform/schema/dataset/metadata/tabular_1.0.0.yaml"
    source = {"inputConfig": {"gcsSource": {"uri": [f"gs://{BUCKET}/table.csv"]}}}
    dataset = {"displayName": "table", "metadataSchemaUri": schema, "metadata": source}
    made = http.post(f"{base}/datasets", json=dataset).raise_for_status().json()
    request = pipeline(package)
    request["inputDataConfig"]["datasetId"] = made["response"]["name"].rpartition("/")[2]
    del request["modelToUpload"]
    name = http.post(f"{base}/trainingPipelines", json=request).raise_for_status().json()["name"]
    for _ in range(3):
        context.service.kill()
        context.service.start()

    def get(path: str) -> dict[str, Any]:
        answer = http.get(f"{context.service.url}/v1/{path}").raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    context.until(lambda: get(name)["state"].endswith(("SUCCEEDED", "FAILED")))
    ended = get(name)
    assert ended["state"] == "PIPELINE_STATE_SUCCEEDED", ended
    files = sorted(path.name for path in (context.bucket / "data").glob("dataset-*/*"))
    assert files == [f"{each}-00000-of-00001.csv" for each in ("test", "training", "validation")]
    job = ended["trainingTaskMetadata"]["backingCustomJob"]
    page = http.get(f"{context.service.url}/jobs/{job}/log.txt", headers={"Accept": "text/html"})
    log = page.raise_for_status().text
    assert f"rows {ROWS} {ROWS}" in log
    assert len(get(f"{LOCATION}/customJobs")["customJobs"]) == 1


def check_pages(url: str, pipeline: str, job: str, model: str) -> None:
    """The console shows the pipeline as one row, and on its page what its job did."""
    with httpx.Client(base_url=url, headers={"Accept": "text/html"}) as console:
        rows = console.get("/jobs").raise_for_status().text
        assert f'href="/jobs/{pipeline}"' in rows
        assert f'href="/jobs/{job}"' not in rows
        page = console.get(f"/jobs/{pipeline}").raise_for_status().text
        assert f'data-base="/jobs/{job}"' in page
        assert f'data-url="/jobs/{job}/metrics"' in page
        assert f'data-url="/jobs/{job}/usage"' in page
        assert 'data-replicas="1"' in page
        assert "workerpool0-0" in page
        assert f'href="/models/{model}?version=1"' in page
        assert "a,b" in console.get(f"/jobs/{job}/log.txt").raise_for_status().text
        assert f'href="/jobs/{pipeline}"' in console.get(f"/jobs/{job}").raise_for_status().text
        console.delete(f"/v1/{job}").raise_for_status()
        assert "was deleted" in console.get(f"/jobs/{pipeline}").raise_for_status().text
