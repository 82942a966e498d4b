"""Validation over HTTP: the verdict is the answer, whatever it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1.validation import validation_routes
from footplate.api.security import Access
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.tuning.prior_studies import PriorStudies
from footplate.control.tuning.resumed_searches import SearchResolver
from footplate.control.validation import Validation
from footplate.domain.jobs import RestartBounds
from footplate.domain.quotas import Quotas
from footplate.wire.footplate_v1.verdicts import Verdict
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.container_engine import FakeContainerEngine
from tests.support.http_server import serve
from tests.support.models import make_model
from tests.support.sites import make_regions
from tests.support.store import MemoryStore

JOBS = "/footplate/v1/projects/demo/jobs:validate"
CUSTOM = "/footplate/v1/projects/demo/locations/us-central1/customJobs:validate"
TUNING = "/footplate/v1/projects/demo/locations/us-central1/hyperparameterTuningJobs:validate"
PIPELINE = "/footplate/v1/projects/demo/locations/us-central1/trainingPipelines:validate"
MODELS = "projects/demo/locations/us-central1/models"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-21.py311:latest"
POOL = {
    "machineSpec": {"machineType": "n1-standard-4"},
    "replicaCount": "1",
    "pythonPackageSpec": {
        "executorImageUri": IMAGE,
        "packageUris": ["gs://stage/t.tar.gz"],
        "pythonModule": "trainer.task",
    },
}


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def http(tmp_path: Path, store: MemoryStore) -> Iterator[httpx.Client]:
    buckets, regions = FolderBuckets(tmp_path / "buckets", FakeClock()), make_regions()
    buckets.create_bucket("stage")
    buckets.write("stage", "t.tar.gz", [b"..."])
    searches = SearchResolver(store, PriorStudies(store, store.studies))
    gate = SubmissionChecks(
        buckets,
        built_in(),
        regions,
        Quotas,
        RestartBounds(),
        searches,
        FakeContainerEngine(),
        reduction=True,
        find_model=lambda name: make_model("9") if name.model_id == "9" else None,
    )
    validation = Validation(store, gate, built_in(), regions.site, lambda *_: None)
    app = create_app(validation_routes(validation, built_in()), Access(None, frozenset()))
    with serve(app) as url, httpx.Client(base_url=url, trust_env=False) as client:
        yield client


def training(**given: object) -> dict[str, object]:
    job = {
        "scaleTier": "BASIC",
        "region": "us-central1",
        "runtimeVersion": "1.15",
        "pythonVersion": "3.7",
        "pythonModule": "trainer.task",
        "packageUris": ["gs://stage/t.tar.gz"],
    }
    return {"jobId": "census_1", "trainingInput": {**job, **given}}


def verdict(http: httpx.Client, path: str, body: object) -> Any:
    answer = http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    Verdict.decode(answer.json())
    return answer.json()


def test_a_training_job_that_would_start(http: httpx.Client, store: MemoryStore) -> None:
    said = verdict(http, JOBS, training())

    assert (said["verdict"], said["queue"]) == ("ACCEPTED", {"startsNow": True})
    assert said["parity"]["accepted"] == "YES"
    (pool,) = said["plan"]["pools"]
    assert pool["replicas"] == ["master-replica-0"]
    assert pool["machine"]["machineType"] == "n1-standard-4"
    assert {"name": "CLOUD_ML_JOB_ID", "value": "census_1"} in pool["env"]
    assert store.active() == ()


def test_all_that_is_wrong_with_it_whoever_finds_it(http: httpx.Client) -> None:
    said = verdict(
        http,
        JOBS,
        training(
            scaleTier="CUSTOM",
            masterType="n1-highcpu-17",
            region="mars-north1",
            packageUris=["gs://stage/no.tar.gz"],
        ),
    )

    assert said["verdict"] == "REJECTED"
    assert {violation["field"] for violation in said["violations"]} >= {
        "trainingInput.masterType",
        "trainingInput.region",
        "trainingInput.packageUris[0]",
    }
    assert said["parity"]["accepted"] == "NO"
    assert "plan" not in said


def test_the_guides_three_gpu_types_that_no_zone_has_together(http: httpx.Client) -> None:
    def config(kind: str, count: int) -> dict[str, object]:
        return {"acceleratorConfig": {"type": kind, "count": str(count)}}

    said = verdict(
        http,
        JOBS,
        training(
            scaleTier="CUSTOM",
            masterType="n1-highcpu-16",
            masterConfig=config("NVIDIA_TESLA_T4", 4),
            workerType="n1-highcpu-16",
            workerCount="2",
            workerConfig=config("NVIDIA_TESLA_P100", 4),
            parameterServerType="n1-highmem-8",
            parameterServerCount="1",
            parameterServerConfig=config("NVIDIA_TESLA_K80", 1),
        ),
    )

    assert [v["field"] for v in said["violations"]] == ["trainingInput.region"]


def test_a_custom_job(http: httpx.Client) -> None:
    body = {"displayName": "census", "jobSpec": {"workerPoolSpecs": [POOL]}}

    said = verdict(http, CUSTOM, body)

    assert said["verdict"] == "ACCEPTED"
    assert said["parity"]["accepted"] == "UNKNOWN"
    assert said["plan"]["pools"][0]["role"] == "workerpool0"


@pytest.mark.parametrize("path", [CUSTOM, TUNING])
def test_a_request_of_which_no_job_can_be_made(http: httpx.Client, path: str) -> None:
    said = verdict(http, path, {"displayName": "census"})

    assert said["verdict"] == "REJECTED"
    assert said["violations"]
    assert said["parity"]["accepted"] == "NO"


def test_a_search_with_few_trials(http: httpx.Client) -> None:
    parameter = {"parameterId": "rate", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}
    study = {"metrics": [{"metricId": "loss", "goal": "MINIMIZE"}], "parameters": [parameter]}
    body = {
        "displayName": "census",
        "studySpec": study,
        "maxTrialCount": 5,
        "parallelTrialCount": 1,
        "trialJobSpec": {"workerPoolSpecs": [POOL]},
    }

    said = verdict(http, TUNING, body)

    assert said["verdict"] == "ACCEPTED"
    assert any("5 trials are few for 1 parameter" in warning for warning in said["warnings"])
    assert said["plan"]["steps"][0] == (
        "The search runs 5 trials of 1 machine, one after the other."
    )
    assert "--rate=..." in said["plan"]["pools"][0]["program"]["args"]


@pytest.mark.parametrize(
    ("query", "accepted"),
    [
        ("", False),
        ("?staging=gs://stage/job_1/", False),
        ("?staging=gs://new-bucket/job_1/", False),
        ("?staging=gs://new-bucket/job_1/&makesBucket=false", False),
        ("?staging=gs://new-bucket/job_1/&makesBucket=true", True),
    ],
)
def test_packages_that_are_uploaded_later(
    http: httpx.Client, query: str, *, accepted: bool
) -> None:
    body = training(packageUris=["gs://new-bucket/job_1/t.tar.gz"])

    assert (verdict(http, JOBS + query, body)["verdict"] == "ACCEPTED") is accepted


def test_what_the_client_found_in_packages_that_are_uploaded_later(http: httpx.Client) -> None:
    body = training(packageUris=["gs://stage/job_1/t.tar.gz"], runtimeVersion="2.21")
    query = "?staging=gs://stage/job_1/"
    assert not any("uses" in text for text in verdict(http, JOBS + query, body)["warnings"])

    found = "&uses=estimator:task.py:7&uses=multi-worker-keras:a:b.py:8"
    warnings = verdict(http, JOBS + query + found, body)["warnings"]
    assert [text.partition(",")[0] for text in warnings if "uses" in text] == [
        "task.py:7 uses tf.estimator",
        "a:b.py:8 uses MultiWorkerMirroredStrategy",
    ]


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        (JOBS, b"{", "not JSON"),
        (JOBS, b"[]", "allowed: a JSON object"),
        (CUSTOM, b"\xff", "not UTF-8"),
        (f"{JOBS}?staging=stage", b"{}", "staging: 'stage' given; allowed: gs://BUCKET/PATH"),
        (f"{JOBS}?staging=gs://b/&uses=x:y", b"{}", "uses: 'x' given; allowed: PATTERN:PLACE"),
        (JOBS.replace("demo", "-"), b"{}", "project"),
        (CUSTOM.replace("us-central1", "US"), b"{}", "location"),
    ],
)
def test_what_can_not_be_read_is_an_error(
    http: httpx.Client, path: str, content: bytes, said: str
) -> None:
    answer = http.post(path, content=content, headers={"content-type": "application/json"})

    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]


def pipeline(**given: object) -> dict[str, object]:
    inputs = {
        "workerPoolSpecs": [POOL],
        "baseOutputDirectory": {"outputUriPrefix": "gs://stage/out"},
    }
    schema = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
    return {
        "displayName": "p",
        "trainingTaskDefinition": schema,
        "trainingTaskInputs": inputs,
        "modelToUpload": {"displayName": "m"},
        **given,
    }


@pytest.mark.parametrize(
    "given",
    [{}, {"parentModel": f"{MODELS}/9"}, {"parentModel": f"{MODELS}/9@1"}, {"modelId": "m"}],
)
def test_a_pipeline_that_would_start(http: httpx.Client, given: dict[str, object]) -> None:
    assert verdict(http, PIPELINE, pipeline(**given))["verdict"] == "ACCEPTED"


@pytest.mark.parametrize(
    ("field", "given", "said"),
    [
        ("parentModel", f"{MODELS}/999", f"'{MODELS}/999' given, which doesn't exist; leave it"),
        ("parentModel", f"{MODELS}/9@7", f"{MODELS}/9@7 given, but the model has no version '7'"),
        (
            "parentModel",
            "projects/demo/locations/europe-west4/models/9",
            "'projects/demo/locations/europe-west4/models/9' given; allowed: a model in us-centr",
        ),
        ("parentModel", f"{MODELS}/a:b", f"'{MODELS}/a:b' is not the name of a model"),
        ("parentModel", "9", '"9" given; allowed: projects/PROJECT/locations/LOCATION/models/MOD'),
        ("modelId", "9", "'9' given, the id of a model that exists; allowed: another id, or paren"),
    ],
)
def test_where_a_pipelines_model_can_not_go_is_told_before_the_training(
    http: httpx.Client, field: str, given: str, said: str
) -> None:
    answer = verdict(http, PIPELINE, pipeline(**{field: given}))
    (violation,) = answer["violations"]
    assert (answer["verdict"], violation["field"]) == ("REJECTED", field)
    assert violation["description"].startswith(said)
