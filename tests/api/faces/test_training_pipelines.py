"""``trainingPipelines`` over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from footplate.domain.data_splits import DataSplit, Fractions, SplitMethod
from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.names import parse_job_name
from footplate.domain.pipelines import InputData, ModelUpload
from tests.support.jobs_service import MemoryJobs

if TYPE_CHECKING:
    import httpx

P = "projects/demo/locations/us-central1"
URL = f"/v1/{P}/trainingPipelines"
SCHEMA = "gs://google-cloud-aiplatform/schema/trainingjob/definition/"
INPUTS: dict[str, Any] = {
    "worker_pool_specs": [
        {
            "replica_count": 1.0,
            "machine_spec": {"machine_type": "n1-standard-4"},
            "disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100.0},
            "python_package_spec": {
                "executor_image_uri": (
                    "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6.py311:latest"
                ),
                "python_module": "trainer.task",
                "package_uris": ["gs://b/trainer-0.1.tar.gz"],
                "args": ["--x"],
            },
        }
    ],
    "base_output_directory": {"output_uri_prefix": "gs://b/out"},
    "scheduling": {
        "strategy": 4.0,
        "timeout": "99s",
        "max_wait_duration": None,
        "disable_retries": False,
        "restart_job_on_worker_restart": False,
    },
}
"""As the SDK writes them."""
MODEL = {"displayName": "m", "containerSpec": {"imageUri": "serve:1"}}


def body(**more: object) -> dict[str, Any]:
    return {
        "displayName": "p",
        "trainingTaskDefinition": f"{SCHEMA}custom_task_1.0.0.yaml",
        "trainingTaskInputs": INPUTS,
        **more,
    }


def fields(response: httpx.Response) -> list[str]:
    assert response.status_code == 400, response.text
    return [v["field"] for v in response.json()["error"]["details"][0]["fieldViolations"]]


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_create_get_cancel_delete(http: httpx.Client, version: str) -> None:
    url = f"/{version}/{P}/trainingPipelines"
    created = http.post(url, json=body(labels={"a": "b"})).json()
    name = created["name"]
    assert name.startswith(f"{P}/trainingPipelines/")
    assert created["state"] == "PIPELINE_STATE_QUEUED"
    assert created["trainingTaskInputs"] == INPUTS
    assert "trainingTaskMetadata" not in created
    assert http.get(f"/{version}/{name}").json() == created
    assert http.get(url).json() == {"trainingPipelines": [created]}
    assert http.delete(f"/{version}/{name}").json()["error"]["status"] == "FAILED_PRECONDITION"
    assert http.post(f"/{version}/{name}:cancel", json={}).json() == {}
    assert http.get(f"/{version}/{name}").json()["state"] == "PIPELINE_STATE_CANCELLING"


def test_the_job_behind_it_is_named_once_it_runs(http: httpx.Client, jobs: MemoryJobs) -> None:
    created = http.post(URL, json=body()).json()
    name = parse_job_name(created["name"])
    jobs.run(name)
    found = http.get(f"/v1/{name}").json()
    assert found["state"] == "PIPELINE_STATE_RUNNING"
    job = f"{P}/customJobs/{name.job_id}"
    assert found["trainingTaskMetadata"] == {"backingCustomJob": job}
    listed = http.get(URL, params={"filter": 'state="PIPELINE_STATE_RUNNING"'}).json()
    assert listed["trainingPipelines"] == [found]
    assert http.get(URL, params={"filter": "state=PIPELINE_STATE_FAILED"}).json() == {}


def test_a_failure_has_an_error_and_a_success_says_why_it_has_no_model(
    http: httpx.Client, jobs: MemoryJobs
) -> None:
    first, second = (http.post(URL, json=body()).json()["name"] for _ in range(2))
    jobs.end(parse_job_name(first), Ending(State.FAILED, Code.ABORTED, "why"))
    assert http.get(f"/v1/{first}").json()["error"] == {"code": 10, "message": "why"}
    jobs.end(parse_job_name(second), Ending(State.SUCCEEDED, message="the training made no model"))
    assert http.get(f"/v1/{second}").json()["endExplanation"] == "the training made no model"
    operation = http.delete(f"/v1/{first}").json()
    assert http.get(f"/v1/{operation['name']}").json() == operation


def test_the_spec_is_that_of_a_custom_job(http: httpx.Client, jobs: MemoryJobs) -> None:
    assert http.post(URL, json=body(modelToUpload=MODEL)).status_code == 200
    submission = jobs.submissions[0]
    assert submission.spec.scheduling.max_running_time_s == 99.0
    assert submission.spec.directories[0].uri == "gs://b/out/model/"
    assert submission.pipeline is not None
    assert submission.pipeline.job_display_name == "p-custom-job"
    assert isinstance(submission.pipeline.upload, ModelUpload)
    assert submission.pipeline.upload.directory == "gs://b/out/model/"


def test_container_specs_in_camel_case_are_understood(http: httpx.Client, jobs: MemoryJobs) -> None:
    pool = {
        "replica_count": 1.0,
        "machine_spec": {"machine_type": "n1-standard-4"},
        "containerSpec": {"imageUri": "me/train:1", "args": ["a"]},
    }
    answer = http.post(URL, json=body(trainingTaskInputs={"worker_pool_specs": [pool]})).json()
    assert answer["trainingTaskInputs"] == {"worker_pool_specs": [pool]}
    assert jobs.submissions[0].spec.pools[0].field == (
        "trainingTaskInputs.workerPoolSpecs[0].containerSpec"
    )


def test_files_that_are_split_are_given_to_the_program(
    http: httpx.Client, jobs: MemoryJobs
) -> None:
    data = {"gcsDestination": {"outputUriPrefix": "gs://b/data/"}}
    assert http.post(URL, json=body(inputDataConfig=data)).status_code == 200
    spec = jobs.submissions[0].spec
    assert ("AIP_DATA_FORMAT", "csv") in spec.environment
    assert spec.data == (
        ("AIP_TRAINING_DATA_URI", "gs://b/data/training-*.csv"),
        ("AIP_VALIDATION_DATA_URI", "gs://b/data/validation-*.csv"),
        ("AIP_TEST_DATA_URI", "gs://b/data/test-*.csv"),
    )
    annotated = {**data, "annotationSchemaUri": "gs://google-cloud-aiplatform/x.yaml"}
    http.post(URL, json=body(inputDataConfig=annotated))
    assert ("AIP_DATA_FORMAT", "jsonl") in jobs.submissions[1].spec.environment


def test_a_dataset_is_split_and_its_files_are_named_later(
    http: httpx.Client, jobs: MemoryJobs
) -> None:
    data = {
        "datasetId": "17",
        "gcsDestination": {"outputUriPrefix": "gs://b/out"},
        "timestampSplit": {"trainingFraction": 0.9, "key": "time"},
    }
    created = http.post(URL, json=body(inputDataConfig=data)).json()
    assert created["inputDataConfig"] == data
    submission = jobs.submissions[0]
    assert submission.pipeline is not None
    split = DataSplit(SplitMethod.TIMES, Fractions(0.9), "time")
    assert submission.pipeline.data == InputData(f"{P}/datasets/17", "gs://b/out", split)
    data = {"datasetId": "17", "gcsDestination": data["gcsDestination"]}
    assert http.post(URL, json=body(inputDataConfig=data)).status_code == 200
    found = jobs.submissions[1].pipeline
    assert found is not None
    assert found.data == InputData(f"{P}/datasets/17", "gs://b/out")


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        ({"datasetId": "a/b"}, ["datasetId"]),
        (
            {"datasetId": "1", "bigqueryDestination": {"outputUri": "bq://p"}},
            ["bigqueryDestination"],
        ),
        ({"datasetId": "1", "gcsDestination": {}}, ["gcsDestination.outputUriPrefix"]),
        ({"gcsDestination": None}, ["gcsDestination.outputUriPrefix"]),
        ({"fractionSplit": {"trainingFraction": 0.8}}, ["fractionSplit"]),
        (
            {"datasetId": "1", "fractionSplit": {"trainingFraction": 2}},
            ["fractionSplit.trainingFraction", "fractionSplit"],
        ),
        (
            {"datasetId": "1", "fractionSplit": {}, "predefinedSplit": {"key": "k"}},
            ["predefinedSplit"],
        ),
        ({"datasetId": "1", "stratifiedSplit": {}}, ["stratifiedSplit.key"]),
        ({"datasetId": "1", "timestampSplit": {"key": 1}}, ["timestampSplit.key"]),
        (
            {"datasetId": "1", "filterSplit": {"trainingFilter": "x=1", "testFilter": "-"}},
            ["filterSplit.trainingFilter", "filterSplit.validationFilter"],
        ),
        ({"datasetId": "1", "annotationsFilter": "x"}, ["annotationsFilter"]),
        ({"datasetId": "1", "persistMlUseAssignment": True}, ["persistMlUseAssignment"]),
    ],
)
def test_wrong_data_is_refused_at_its_field(
    http: httpx.Client, data: dict[str, Any], wrong: list[str]
) -> None:
    data = {"gcsDestination": {"outputUriPrefix": "gs://b/out"}, **data}
    answer = http.post(URL, json=body(inputDataConfig=data))
    assert sorted(fields(answer)) == sorted(f"inputDataConfig.{each}" for each in wrong)


def test_automl_is_refused_with_the_way_out(http: httpx.Client, jobs: MemoryJobs) -> None:
    automl = f"{SCHEMA}automl_tabular_1.0.0.yaml"
    answer = http.post(URL, json=body(trainingTaskDefinition=automl, trainingTaskInputs={}))
    assert fields(answer) == ["trainingTaskDefinition"]
    message = answer.json()["error"]["message"]
    assert "Footplate has no AutoML: train a program of your own" in message
    assert fields(http.post(URL, json={})) == ["trainingTaskDefinition"]
    assert jobs.submissions == []


def test_what_is_wrong_with_the_job_is_told_at_its_field(http: httpx.Client) -> None:
    pool = {**INPUTS["worker_pool_specs"][0], "machine_spec": {"machine_type": "n1-standard-5"}}
    answer = http.post(
        URL, json=body(displayName="", trainingTaskInputs={"worker_pool_specs": [pool]})
    )
    assert fields(answer) == [
        "displayName",
        "trainingTaskInputs.workerPoolSpecs[0].machineSpec.machineType",
    ]


def test_a_model_needs_a_directory_and_a_name(http: httpx.Client) -> None:
    inputs = {key: value for key, value in INPUTS.items() if key != "base_output_directory"}
    wrong = {"displayName": "", "artifactUri": "gs://b/x", "versionAliases": ["1"]}
    answer = http.post(URL, json=body(modelToUpload=wrong, trainingTaskInputs=inputs))
    assert fields(answer) == [
        "modelToUpload.displayName",
        "modelToUpload.versionAliases[0]",
        "modelToUpload.artifactUri",
        "trainingTaskInputs.baseOutputDirectory",
    ]
    assert fields(http.post(URL, json=body(modelId="m"))) == ["modelId"]


def test_a_pipeline_may_tune_hyperparameters(http: httpx.Client, jobs: MemoryJobs) -> None:
    parameter = {"parameterId": "lr", "doubleValueSpec": {"minValue": 0.1, "maxValue": 1}}
    inputs = {
        "studySpec": {"metrics": [{"metricId": "loss"}], "parameters": [parameter]},
        "maxTrialCount": 4.0,
        "parallelTrialCount": 2.0,
        "trialJobSpec": INPUTS,
    }
    tuning = {"trainingTaskDefinition": f"{SCHEMA}hyperparameter_tuning_task_1.0.0.yaml"}
    created = http.post(URL, json=body(trainingTaskInputs=inputs, **tuning)).json()
    assert created["trainingTaskInputs"] == inputs
    jobs.run(parse_job_name(created["name"]))
    found = http.get(f"/v1/{created['name']}").json()
    number = created["name"].rpartition("/")[2]
    job = f"{P}/hyperparameterTuningJobs/{number}"
    assert found["trainingTaskMetadata"] == {"backingHyperparameterTuningJob": job}
    wrong = {**inputs, "studySpec": {}, "maxTrialCount": 0}
    refused = http.post(URL, json=body(trainingTaskInputs=wrong, **tuning))
    assert "trainingTaskInputs.maxTrialCount" in fields(refused)
    metrics = [{"metricId": "loss"}, {"metricId": "cost"}]
    inputs["studySpec"] = {"metrics": metrics, "parameters": [parameter]}
    inputs["trialJobSpec"] = {**INPUTS, "base_output_directory": None}
    refused = http.post(URL, json=body(trainingTaskInputs=inputs, modelToUpload=MODEL, **tuning))
    place = "trainingTaskInputs.trialJobSpec.baseOutputDirectory"
    assert fields(refused) == ["modelToUpload", place]
