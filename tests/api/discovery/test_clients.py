"""google-api-python-client, whose methods are made of the documents of this service."""

from __future__ import annotations

import io
from typing import Any

import pytest
from googleapiclient.errors import HttpError
from googleapiclient.http import MediaInMemoryUpload, MediaIoBaseDownload

from tests.api.discovery.conftest import World

PROJECT = "projects/demo"
PLACE = f"{PROJECT}/locations/us-central1"
TRAINING = {
    "scaleTier": "BASIC",
    "region": "us-central1",
    "runtimeVersion": "2.21",
    "pythonVersion": "3.11",
    "packageUris": ["gs://stage/trainer-0.1.tar.gz"],
    "pythonModule": "trainer.task",
}
CONTAINER = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
CUSTOM = {"workerPoolSpecs": [{**CONTAINER, "containerSpec": {"imageUri": "trainer:1"}}]}
BATCHES = {"storage": "batch/storage/v1"}
STUDY = {
    "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
    "parameters": [{"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}],
}
CONFIG = {
    "metrics": [{"metric": "loss", "goal": "MINIMIZE"}],
    "parameters": [
        {
            "parameter": "x",
            "type": "INTEGER",
            "integerValueSpec": {"minValue": "1", "maxValue": "9"},
        }
    ],
    "algorithm": "RANDOM_SEARCH",
}


def test_ml(world: World) -> None:
    with world.client("ml", "v1") as ml:
        jobs = ml.projects().jobs()
        sent = {"jobId": "job_1", "trainingInput": TRAINING, "labels": {"team": "a"}}
        made = jobs.create(parent=PROJECT, body=sent).execute()
        assert (made["state"], made["trainingInput"]) == ("QUEUED", TRAINING)
        assert jobs.get(name=f"{PROJECT}/jobs/job_1").execute() == made
        jobs.create(parent=PROJECT, body={**sent, "jobId": "job_2"}).execute()
        request = jobs.list(parent=PROJECT, pageSize=1, filter="labels.team=a")
        names = []
        while request is not None:
            answer = request.execute()
            names += [job["jobId"] for job in answer["jobs"]]
            request = jobs.list_next(request, answer)
        assert names == ["job_2", "job_1"]
        patched = jobs.patch(
            name=f"{PROJECT}/jobs/job_1", updateMask="labels", body={"labels": {"team": "b"}}
        )
        assert patched.execute()["labels"] == {"team": "b"}
        assert jobs.cancel(name=f"{PROJECT}/jobs/job_1").execute() == {}
        with pytest.raises(TypeError, match="does not match the pattern"):
            jobs.get(name="job_1")
        with pytest.raises(HttpError, match="jobs/job_3"):
            jobs.get(name=f"{PROJECT}/jobs/job_3").execute()


def test_what_a_job_answers_is_in_its_schema(world: World) -> None:
    with world.client("ml", "v1") as ml:
        sent = {"jobId": "job_9", "trainingInput": TRAINING}
        made = ml.projects().jobs().create(parent=PROJECT, body=sent).execute()
        schemas = ml._schema.schemas
        assert made.keys() <= schemas["GoogleCloudMlV1__Job"]["properties"].keys()
        inputs = schemas["GoogleCloudMlV1__TrainingInput"]["properties"]
        assert TRAINING.keys() <= inputs.keys()
        assert inputs["packageUris"] == {"type": "array", "items": {"type": "string"}}
        assert "BASIC_GPU" in inputs["scaleTier"]["enum"]
        assert inputs["workerCount"] == {"type": "string", "format": "int64"}
        assert inputs["scheduling"] == {"$ref": "GoogleCloudMlV1__Scheduling"}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_aiplatform(world: World, version: str) -> None:
    with world.client("aiplatform", version) as client:
        locations = client.projects().locations()
        assert locations.get(name=PLACE).execute()["locationId"] == "us-central1"
        jobs = locations.customJobs()
        body = {"displayName": version, "jobSpec": CUSTOM}
        made = jobs.create(parent=PLACE, body=body).execute()
        assert jobs.get(name=made["name"]).execute()["displayName"] == version
        found = jobs.list(parent=PLACE, filter=f'displayName="{version}"', pageSize=5).execute()
        assert [job["name"] for job in found["customJobs"]] == [made["name"]]
        assert jobs.cancel(name=made["name"], body={}).execute() == {}
        done = jobs.delete(name=made["name"]).execute()
        assert locations.operations().get(name=done["name"]).execute() == done


def test_studies_of_aiplatform(world: World) -> None:
    with world.client("aiplatform", "v1") as client:
        studies = client.projects().locations().studies()
        body = {"displayName": "s", "studySpec": STUDY}
        study = studies.create(parent=PLACE, body=body).execute()["name"]
        point = {"parameters": [{"parameterId": "x", "value": 0.5}]}
        trial = studies.trials().create(parent=study, body=point).execute()["name"]
        measured = {"measurement": {"metrics": [{"metricId": "loss", "value": 0.5}]}}
        studies.trials().addTrialMeasurement(trialName=trial, body=measured).execute()
        ended = studies.trials().complete(name=trial, body={}).execute()
        assert ended["finalMeasurement"]["metrics"] == [{"metricId": "loss", "value": 0.5}]
        assert studies.lookup(parent=PLACE, body={"displayName": "s"}).execute()["name"] == study


def test_studies_of_ml(world: World) -> None:
    with world.client("ml", "v1") as client:
        locations = client.projects().locations()
        studies = locations.studies()
        made = studies.create(parent=PLACE, studyId="mine", body={"studyConfig": CONFIG}).execute()
        assert made["studyConfig"] == CONFIG
        assert studies.get(name=made["name"]).execute() == made
        assert made in studies.list(parent=PLACE).execute()["studies"]
        trials = studies.trials()
        asked = {"suggestionCount": 1, "clientId": "a"}
        done = trials.suggest(parent=made["name"], body=asked).execute()
        assert locations.operations().get(name=done["name"]).execute() == done
        assert locations.operations().cancel(name=done["name"]).execute() == {}
        (trial,) = (each["name"] for each in done["response"]["trials"])
        measured = {"measurement": {"metrics": [{"metric": "loss", "value": 0.5}]}}
        trials.addMeasurement(name=trial, body=measured).execute()
        checked = trials.checkEarlyStoppingState(name=trial, body={}).execute()
        assert checked["response"]["shouldStop"] is False
        assert trials.stop(name=trial, body={}).execute()["state"] == "STOPPING"
        ended = trials.complete(name=trial, body={}).execute()
        assert trials.list(parent=made["name"]).execute() == {"trials": [ended]}
        best = trials.listOptimalTrials(parent=made["name"], body={}).execute()
        assert best == {"trials": [ended]}
        schemas = client._schema.schemas
        assert ended.keys() <= schemas["GoogleCloudMlV1__Trial"]["properties"].keys()
        assert made.keys() <= schemas["GoogleCloudMlV1__Study"]["properties"].keys()
        point = schemas["GoogleCloudMlV1__TrialParameter"]["properties"]
        assert point["intValue"] == {"type": "string", "format": "int64"}
        assert trials.delete(name=trial).execute() == {}
        assert studies.delete(name=made["name"]).execute() == {}


def test_storage(world: World) -> None:
    with world.client("storage", "v1") as storage:
        objects = storage.objects()
        storage.buckets().insert(project="demo", body={"name": "made"}).execute()
        names = [
            bucket["name"] for bucket in storage.buckets().list(project="demo").execute()["items"]
        ]
        assert names == ["made", "stage"]
        put(objects, "a/1.txt", b"one", resumable=False)
        put(objects, "a/2.txt", b"two", resumable=True)
        listed = objects.list(bucket="made", prefix="a/", maxResults=1).execute()
        assert [item["name"] for item in listed["items"]] == ["a/1.txt"]
        assert objects.get(bucket="made", object="a/2.txt").execute()["size"] == "3"
        assert read(objects, "a/2.txt") == b"two"
        parts = {"sourceObjects": [{"name": "a/1.txt"}, {"name": "a/2.txt"}], "destination": {}}
        compose = {"destinationBucket": "made", "destinationObject": "both"}
        objects.compose(**compose, body=parts).execute()
        copied = objects.copy(
            sourceBucket="made",
            sourceObject="both",
            destinationBucket="stage",
            destinationObject="c",
            body={},
        )
        assert copied.execute()["bucket"] == "stage"
        assert read(objects, "both") == b"onetwo"
        objects.delete(bucket="made", object="both").execute()
        with pytest.raises(HttpError, match="both"):
            objects.get(bucket="made", object="both").execute()


def put(objects: Any, name: str, content: bytes, *, resumable: bool) -> None:
    media = MediaInMemoryUpload(content, "text/plain", resumable=resumable)
    objects.insert(bucket="made", body={"name": name}, media_body=media).execute()


def read(objects: Any, name: str) -> bytes:
    found = io.BytesIO()
    download = MediaIoBaseDownload(found, objects.get_media(bucket="made", object=name))
    _, done = download.next_chunk()
    assert done
    return found.getvalue()


def test_logging(world: World) -> None:
    with world.client("ml", "v1") as ml, world.client("logging", "v2") as logging:
        sent = {"jobId": "job_logs", "trainingInput": TRAINING}
        ml.projects().jobs().create(parent=PROJECT, body=sent).execute()
        text = 'resource.type="ml_job" AND resource.labels.job_id="job_logs"'
        body = {"resourceNames": [PROJECT], "filter": text}
        assert logging.entries().list(body=body).execute() == {}


@pytest.mark.parametrize("api", ["ml", "aiplatform", "storage"])
def test_through_the_proxy_a_client_goes_on_with_the_apis_own_host(world: World, api: str) -> None:
    """The client finds the document at the API's host, as it does for most of Google's."""
    host = f"{api}.googleapis.com"
    with world.client(api, "v1", host) as client:
        assert client._baseUrl.startswith(f"https://{host}/")
        assert client._rootDesc["auth"]["oauth2"]["scopes"]
        assert client._rootDesc.get("batchPath") == BATCHES.get(api)
        if api == "ml":
            assert client.projects().getConfig(name=PROJECT).execute()["config"] == {}
