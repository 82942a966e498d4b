"""The form of a job, its request, and jobs that are given as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.console.job_form import JobForm, field_of, to_form, to_request
from footplate.console.submit_view import MAX_CHARACTERS, read_job
from footplate.domain.errors import InvalidArgument

PACKAGE = JobForm(
    project="demo",
    region="us-central1",
    name="resnet",
    runtime="us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-13.py311:latest",
    packages="gs://stage/a.tar.gz\ngs://stage/b.tar.gz",
    module="trainer.task",
    args="--epochs=3\n--name=a b",
    env="A=1\nB=x=y",
    accelerator="NVIDIA_TESLA_T4",
    count="2",
    replicas="3",
    labels="team=ads",
    output="gs://stage/out",
    limit="3600",
)
IMAGE = JobForm(
    project="demo",
    region="us-central1",
    name="image",
    program="image",
    image="gcr.io/p/t:v1",
    command="python\n-c",
    args="print(1)",
)


@pytest.mark.parametrize("form", [PACKAGE, IMAGE], ids=["package", "image"])
def test_a_request_leads_back_to_its_form(form: JobForm) -> None:
    assert to_form(to_request(form), "demo", "us-central1") == form


def test_further_replicas_are_a_pool_of_their_own() -> None:
    request = to_request(PACKAGE)
    spec = request["jobSpec"]
    assert isinstance(spec, dict)
    pools = spec["workerPoolSpecs"]
    assert isinstance(pools, list)
    assert [pool["replicaCount"] for pool in pools if isinstance(pool, dict)] == [1, 2]
    assert spec["scheduling"] == {"timeout": "3600s"}


def test_what_is_no_number_is_left_to_the_service() -> None:
    request = to_request(replace(IMAGE, replicas="<b>", accelerator="T4", count="-1"))
    assert "'replicaCount': '<b>'" in str(request)
    assert "'acceleratorCount': '-1'" in str(request)


def test_a_request_that_the_form_cannot_hold_has_none() -> None:
    request = to_request(IMAGE)
    assert to_form({**request, "encryptionSpec": {"kmsKeyName": "x"}}, "demo", "r") is None
    for other in ({}, {"displayName": "x"}, {"displayName": "x", "jobSpec": []}):
        assert to_form(other, "demo", "r") is None


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("displayName", "name"),
        ("jobSpec.workerPoolSpecs[1].machineSpec.machineType", "machine"),
        ("jobSpec.workerPoolSpecs[0].machineSpec.acceleratorCount", "count"),
        ("jobSpec.workerPoolSpecs[0].containerSpec.env[3].name", "env"),
        ("jobSpec.workerPoolSpecs[0].pythonPackageSpec.packageUris[0]", "packages"),
        ("labels.A", "labels"),
        ("jobSpec.workerPoolSpecs", ""),
        ("network", ""),
    ],
)
def test_mistakes_stand_at_the_field_that_they_are_in(path: str, name: str) -> None:
    assert field_of(path) == name


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"displayName": "a", "jobSpec": {}}', "customJobs"),
        ("jobId: a\ntrainingInput: {runtimeVersion: 2.10}", "jobs"),
        ("studySpec: {}\ntrialJobSpec: {}", "hyperparameterTuningJobs"),
        ("workerPoolSpecs: []", "customJobs"),
    ],
)
def test_the_kind_of_a_text_is_seen_by_its_fields(text: str, kind: str) -> None:
    assert read_job(text)[0] == kind


def test_versions_and_dates_stay_as_they_are_written() -> None:
    text = "jobId: 2026-01-02\ntrainingInput: {runtimeVersion: 2.10}"
    assert read_job(text)[1] == {"jobId": "2026-01-02", "trainingInput": {"runtimeVersion": "2.10"}}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a job"),
        ("[]", "not a job"),
        ("{a: 1}", "none of the fields"),
        ("a: &x [1]\nb: *x", "aliases"),
        ("jobSpec: {a: [}", "line 1, column 15"),
        ("jobSpec: \x01", "not YAML"),
        ("[" * 3_000, "too deeply"),
        ("jobSpec: !!python/object:os.system {}", "not YAML"),
        ("jobSpec: {a: .nan}", "JSON"),
        ("jobSpec: !!set {a, b}", "JSON"),
        ("? [1, 2]\n: jobSpec", "not YAML|JSON"),
        ("? {a: 1}\n: jobSpec", "not YAML|JSON"),
        ("runtimeVersion: &a 1\n? [a]\n: 2", "not YAML|JSON"),
        ("a" * (MAX_CHARACTERS + 1), "characters"),
    ],
    ids=lambda text: text[:20],
)
def test_a_text_that_is_no_job_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        read_job(text)
