"""The page on deviations: what it says of refusals is what the service answers."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from pydantic.alias_generators import to_camel

from footplate.testing.workbench import Workbench
from footplate.wire.json_model import JsonModel
from footplate.wire.vertex_v1 import submissions, tracking_kinds, vizier_requests  # noqa: F401
from tests.docs.walk import ROOT

PAGE = (ROOT / "docs" / "reference" / "coverage.md").read_text("utf-8")
LOCATION = "/v1/projects/demo/locations/us-central1"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
POOL = {
    "machineSpec": {"machineType": "n1-standard-4"},
    "replicaCount": "1",
    "pythonPackageSpec": {
        "executorImageUri": IMAGE,
        "packageUris": ["gs://stage/trainer.tar.gz"],
        "pythonModule": "trainer.task",
    },
}
OWN_IMAGE = {
    "machineSpec": {"machineType": "n1-standard-4"},
    "replicaCount": "1",
    "containerSpec": {"imageUri": "gcr.io/mine/image"},
}
BATCH = "\r\n".join(
    [
        "--b",
        "Content-Type: application/http",
        "",
        "GET /storage/v1/b/stage/o/x?alt=media HTTP/1.1",
        "",
        "",
        "--b--",
        "",
    ]
)


def custom_job(pool: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"displayName": "x", "jobSpec": {"workerPoolSpecs": [pool], **more}}


NOTE = {"logName": "projects/demo/logs/notes", "textPayload": "a note"}
REFUSED: list[tuple[str, str, str, Any, int]] = [
    ("containers of your own", "POST", f"{LOCATION}/customJobs", custom_job(OWN_IMAGE), 400),
    (
        "all runtimes there ever were",
        "POST",
        "/v1/projects/demo/jobs",
        {"jobId": "old", "trainingInput": {"region": "us-central1", "runtimeVersion": "1.2"}},
        400,
    ),
    ("models, versions, prediction", "GET", "/v1/projects/demo/models/m", None, 404),
    (
        "models, versions, prediction",
        "POST",
        "/v1/projects/demo/jobs",
        {"jobId": "predict", "predictionInput": {}},
        400,
    ),
    (
        "AutoML, BigQuery",
        "POST",
        f"{LOCATION}/trainingPipelines",
        {"trainingTaskDefinition": "gs://google-cloud-aiplatform/automl_tabular_1.0.0.yaml"},
        400,
    ),
    ("one resource by its name", "POST", f"{LOCATION}/endpoints/1:predict", {}, 404),
    ("create, and each other method", "POST", f"{LOCATION}/endpoints", {}, 400),
    (
        "persistent resources",
        "POST",
        f"{LOCATION}/persistentResources?persistentResourceId=r",
        {"resourceRuntimeSpec": {"raySpec": {}}},
        400,
    ),
    ("access control, notifications", "GET", "/storage/v1/b/stage/acl", None, 404),
    ("fields of buckets", "PATCH", "/storage/v1/b/stage", {"versioning": {"enabled": True}}, 400),
    ("query parameters", "GET", "/storage/v1/b/stage/o?filter=a", None, 400),
    ("entries of anything", "POST", "/v2/entries:list", {"resourceNames": ["folders/1"]}, 400),
    ("the whole query language", "POST", "/v2/entries:list", {"filter": 'SEARCH("x")'}, 400),
    ("a program writes to any log", "POST", "/v2/entries:write", {"entries": [NOTE]}, 400),
    ("`protoPayload`", "POST", "/v2/entries:write", {"entries": [{"protoPayload": {}}]}, 400),
    ("deleting logs, sinks, metrics", "DELETE", "/v2/projects/demo/logs/python", None, 404),
    ("deleting logs, sinks, metrics", "GET", "/v2/projects/demo/sinks", None, 404),
]


@pytest.fixture
def footplate_settings() -> dict[str, object]:
    return {"token": "sesame"}


def test_what_is_refused(footplate: Workbench) -> None:
    with httpx.Client(base_url=footplate.url) as client:
        assert client.get("/v1/projects/demo/jobs").status_code == 403
        client.headers["authorization"] = "Bearer sesame"
        client.post("/storage/v1/b", json={"name": "stage"})
        for row, method, path, body, status in REFUSED:
            assert f"| {row}" in PAGE
            answer = client.request(method, path, json=body)
            assert answer.status_code == status, f"{row}: {answer.text}"
            assert answer.json()["error"]["message"]
        kind = {"content-type": "multipart/mixed; boundary=b"}
        batch = client.post("/batch/storage/v1", content=BATCH, headers=kind)
        assert batch.status_code == 400
        for collection in ("trainingPipelines", "endpoints"):
            assert client.get(f"{LOCATION}/{collection}").json() == {}


def test_each_field_that_a_message_refuses_or_does_not_heed_is_listed() -> None:
    models: list[type[JsonModel]] = [JsonModel]
    for model in models:
        models += [each for each in model.__subclasses__() if each.__module__[:4] != "test"]
        for name in (*model.REFUSED, *model.WITHOUT_EFFECT):
            assert f"`{to_camel(name)}`" in PAGE, (model, name)
    assert len(models) > 60


def test_what_is_kept_of_no_effect(footplate: Workbench) -> None:
    kept = {
        "serviceAccount": "a@b.iam.gserviceaccount.com",
        "network": "projects/1/global/networks/n",
    }
    job = custom_job(POOL | {"bogus": 1}, **kept)
    path = f"/footplate{LOCATION}/customJobs:validate"
    headers = {"authorization": "Bearer sesame"}
    answer = httpx.post(f"{footplate.url}{path}", json=job, headers=headers).json()
    warned = {re.split(r"[. ]", text.removeprefix("jobSpec."))[0] for text in answer["warnings"]}
    assert {*kept, "workerPoolSpecs[0]"} <= warned
