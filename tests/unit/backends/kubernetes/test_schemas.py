"""The objects of jobs and of the Helm chart, against what versions of Kubernetes publish."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from footplate.backends.engine.engine import JobRequest, LauncherRequest
from footplate.backends.kubernetes.manifests import PodSettings, make_pod, make_secret
from footplate.containers.registry import ImageConfig
from tests.support.kubernetes_schemas import VERSIONS, find_faults

CHIEF = LauncherRequest("master-replica-0", "n1-standard-8", 8, 30_000, "NVIDIA_TESLA_T4", 2, "i:1")
REQUEST = JobRequest("footplate-x-u1-1.0", "asia-east1", (CHIEF, CHIEF), b"print()")
PLAIN = PodSettings(image="python", machines={"*": {"pool": "large"}}, topology="zone")
IMAGE = ImageConfig("i@sha256:1", "amd64", {"Entrypoint": ["/run"], "Env": ["A=b"], "User": "1"})
RENDERED = Path(__file__).parents[4] / "deploy" / "rendered.yaml"


def make(settings: PodSettings, image: ImageConfig | None = None) -> dict[str, Any]:
    secret = make_secret(REQUEST)
    secret["metadata"]["uid"] = "0-1"
    return make_pod(settings, secret, 0, CHIEF, image)


OBJECTS = {
    "secret": make_secret(REQUEST),
    "pod": make(PLAIN),
    "pod of an image": make(PLAIN, IMAGE),
    "pod in a zone": make(replace(PLAIN, requires_topology=True)),
    "pod of a queue": make(replace(PLAIN, queue="team-a")),
    **{
        f"{each['kind']} {each['metadata']['name']}": each
        for each in yaml.safe_load_all(RENDERED.read_text())
        if each
    },
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", OBJECTS)
def test_each_version_knows_all_fields(version: str, name: str) -> None:
    assert find_faults(version, OBJECTS[name]) == []


def test_these_are_versions_that_clusters_have() -> None:
    assert VERSIONS == ("1.30", "1.33", "1.36")


def test_faults_are_found() -> None:
    body = make(PLAIN)
    container = body["spec"]["containers"][0]
    container.update(comand=[], command="python", stdin=1)
    del container["name"]
    body["spec"]["terminationGracePeriodSeconds"] = "90"
    body["metadata"]["labels"] = ["a"]
    assert sorted(find_faults("1.30", body)) == [
        "Pod.metadata.labels: ['a'] is no object",
        "Pod.spec.containers[0].comand is unknown",
        "Pod.spec.containers[0].command: 'python' is no list",
        "Pod.spec.containers[0].name is missing",
        "Pod.spec.containers[0].stdin: 1 is no bool",
        "Pod.spec.terminationGracePeriodSeconds: '90' is no int",
    ]
