"""Pods whose container is an image of the user's."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from kubernetes.client import ApiClient

from footplate.backends.kubernetes.manifests import PodSettings, make_pod, make_secret
from footplate.backends.kubernetes.pod_states import see_pod
from footplate.containers.registry import ImageConfig
from tests.unit.backends.kubernetes.test_pods import CHIEF, REQUEST, TEMPLATE

REFERENCE = "example.com/team/model@sha256:" + "0" * 64
IMAGE = ImageConfig(
    REFERENCE,
    "amd64",
    {
        "Entrypoint": ["/train", "$(HOME)"],
        "Env": ["A=1", "LD_PRELOAD=/evil.so", "LD_LIBRARY_PATH=/own"],
        "User": "1000",
        "WorkingDir": "/srv",
    },
)
LAUNCHER = replace(CHIEF, image="example.com/team/model:1")


def make(settings: PodSettings) -> dict[str, Any]:
    secret = make_secret(replace(REQUEST, launchers=(LAUNCHER,)))
    secret["metadata"]["uid"] = "0-1"
    return make_pod(settings, secret, 0, LAUNCHER, IMAGE)


def variables(container: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in container["env"]}


def test_all_fields_are_those_of_the_api() -> None:
    made = make(PodSettings(template=TEMPLATE))
    client = ApiClient()
    found = client.deserialize(json.dumps(made), "V1Pod", "application/json")
    assert client.sanitize_for_serialization(found) == made


def test_the_image_is_the_pods_and_its_python_comes_from_the_regions() -> None:
    spec = make(PodSettings(template=TEMPLATE))["spec"]
    ours, beside = spec["containers"]
    (copier,) = spec["initContainers"]
    assert (ours["image"], copier["image"]) == (REFERENCE, "example.com/python:3.11")
    assert beside["name"] == "beside"
    assert ours["command"] == ["/footplate/bin/python3", "-I", "/var/run/footplate/bootstrap.py"]
    assert copier["command"] == [
        *("python3", "-I", "/var/run/footplate/python_copy.py", "/footplate"),
    ]
    assert {"name": "data", "mountPath": "/data"} in ours["volumeMounts"]
    named = {each["name"] for each in spec["volumes"]}
    for container in (ours, copier):
        assert {each["name"] for each in container["volumeMounts"]} <= named


def test_the_secret_has_what_copies_the_python_where_images_run() -> None:
    with_images = make_secret(replace(REQUEST, launchers=(LAUNCHER,)))
    assert "def copy_python" in with_images["stringData"]["python_copy.py"]
    assert list(make_secret(REQUEST)["stringData"]) == ["bootstrap.py"]


def test_a_user_of_the_images_reads_the_program_of_its_launcher() -> None:
    (program,) = [v for v in make(PodSettings(image="python"))["spec"]["volumes"] if "secret" in v]
    assert program["secret"]["defaultMode"] == 0o444


def test_variables_of_the_loader_are_kept_for_the_program_alone() -> None:
    (container,) = make(PodSettings(image="python"))["spec"]["containers"]
    found = variables(container)
    assert found["LD_LIBRARY_PATH"] == "/footplate/lib"
    assert found["LD_PRELOAD"] == ""
    known = json.loads(found["FOOTPLATE_IMAGE"].replace("$$", "$"))
    assert known["loader"] == {"LD_PRELOAD": "/evil.so", "LD_LIBRARY_PATH": "/own"}
    assert known["config"]["WorkingDir"] == "/srv"


def test_kubernetes_expands_nothing_of_what_the_image_runs() -> None:
    (container,) = make(PodSettings(image="python"))["spec"]["containers"]
    assert "$$(HOME)" in variables(container)["FOOTPLATE_IMAGE"]


def test_what_copies_the_python_takes_no_gpu() -> None:
    (copier,) = make(PodSettings(template=TEMPLATE))["spec"]["initContainers"]
    assert copier["resources"]["limits"] == {
        "ephemeral-storage": "10Gi",
        "cpu": "8",
        "memory": "30000Mi",
    }


def test_why_the_python_cannot_be_copied_is_the_end_of_the_pod() -> None:
    pod = make(PodSettings(image="python"))
    ended = {"terminated": {"exitCode": 1, "message": "the region's Python can't be copied: full"}}
    statuses = [{"name": "footplate-python", "image": "python", "state": ended}]
    pod["status"] = {"phase": "Failed", "initContainerStatuses": statuses}
    assert see_pod(pod).reason == (
        "the Pod can't install Python: the region's Python can't be copied: full"
    )
