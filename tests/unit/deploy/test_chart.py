"""The Helm chart, as Helm has rendered it: against Kubernetes' models, and what the service needs.

Helm itself isn't needed here: ``deploy/render.sh`` keeps what it makes of the chart.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.client import ApiClient

from footplate.backends.engine.engine import JobRequest, LauncherRequest
from footplate.backends.kubernetes.cluster_check import NEEDED_RIGHTS
from footplate.backends.kubernetes.manifests import PodSettings, make_pod, make_secret
from footplate.settings import load_settings

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
CHART = DEPLOY / "helm"
RENDERED = DEPLOY / "rendered.yaml"
MODELS = {
    "ClusterRole": "V1ClusterRole",
    "ClusterRoleBinding": "V1ClusterRoleBinding",
    "ConfigMap": "V1ConfigMap",
    "PersistentVolumeClaim": "V1PersistentVolumeClaim",
    "Role": "V1Role",
    "RoleBinding": "V1RoleBinding",
    "Secret": "V1Secret",
    "Service": "V1Service",
    "ServiceAccount": "V1ServiceAccount",
    "StatefulSet": "V1StatefulSet",
}
OBJECTS = [each for each in yaml.safe_load_all(RENDERED.read_text()) if each]


def one(kind: str, name: str = "footplate") -> dict[str, Any]:
    (found,) = (e for e in OBJECTS if (e["kind"], e["metadata"]["name"]) == (kind, name))
    return dict(found)


def server() -> dict[str, Any]:
    (container,) = one("StatefulSet")["spec"]["template"]["spec"]["containers"]
    return dict(container)


def test_it_was_rendered_after_the_last_change() -> None:
    files = sorted(path for path in CHART.rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    assert RENDERED.read_text().splitlines()[1] == f"# {digest}", "run deploy/render.sh"


@pytest.mark.parametrize("body", OBJECTS, ids=lambda o: f"{o['kind']}-{o['metadata']['name']}")
def test_no_field_is_unknown_to_kubernetes(body: dict[str, Any]) -> None:
    client = ApiClient()
    found = client.deserialize(json.dumps(body), MODELS[body["kind"]], "application/json")
    assert client.sanitize_for_serialization(found) == body


def test_the_role_grants_what_the_backend_calls_and_no_more() -> None:
    granted = {
        (resource, verb)
        for rule in one("Role")["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert granted == set(NEEDED_RIGHTS)
    (nodes,) = one("ClusterRole", "training-footplate-nodes")["rules"]
    assert (nodes["resources"], nodes["verbs"]) == (["nodes"], ["list"])


def test_the_service_takes_its_settings(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text(one("ConfigMap")["data"]["footplate.toml"])
    secret = one("Secret")["stringData"]
    variables = {
        "FOOTPLATE_DATA_DIR": str(tmp_path),
        "FOOTPLATE_TOKEN": secret["token"],
        "FOOTPLATE_DATABASE_URL": secret["databaseUrl"],
    }
    settings = load_settings(variables)
    (region,) = settings.regions
    assert (region.name, region.namespace) == ("us-central1", "training")
    assert region.pod_template == "/etc/footplate/pod.yaml"
    assert not region.reserve, "as render.sh says"
    name = "footplate-0.footplate-cluster.training.svc.cluster.local"
    assert settings.cluster_address == (name, 8474)


def test_launchers_find_the_address_that_does_not_change() -> None:
    stateful = one("StatefulSet")
    headless = one("Service", stateful["spec"]["serviceName"])
    assert headless["spec"]["clusterIP"] == "None"
    assert headless["spec"]["publishNotReadyAddresses"], "it listens before it is ready"
    labels = stateful["spec"]["template"]["metadata"]["labels"]
    for service in (headless, one("Service")):
        assert service["spec"]["selector"].items() <= labels.items()
        named = {port["name"]: port["containerPort"] for port in server()["ports"]}
        for port in service["spec"]["ports"]:
            assert named[port["targetPort"]] == port["port"]


def test_each_port_names_its_protocol() -> None:
    """By which an old Kubernetes tells ports apart when Helm 4 applies them."""
    services = [each for each in OBJECTS if each["kind"] == "Service"]
    containers = [
        container
        for each in OBJECTS
        if each["kind"] == "StatefulSet"
        for container in each["spec"]["template"]["spec"]["containers"]
    ]
    ports = [port for each in services for port in each["spec"]["ports"]]
    ports += [port for each in containers for port in each["ports"]]
    assert {port["protocol"] for port in ports} == {"TCP"}


@pytest.mark.parametrize("name", ["footplate", "footplate-postgresql"])
def test_a_pod_that_never_gets_ready_is_mended_by_an_upgrade(name: str) -> None:
    assert one("StatefulSet", name)["spec"]["podManagementPolicy"] == "Parallel"


@pytest.mark.parametrize("name", ["footplate", "footplate-postgresql"])
def test_files_keep_their_rights_when_a_pod_starts_again(name: str) -> None:
    """PostgreSQL refuses a folder that its group may write to."""
    context = one("StatefulSet", name)["spec"]["template"]["spec"]["securityContext"]
    assert context["fsGroupChangePolicy"] == "OnRootMismatch"


def test_pods_of_jobs_see_buckets_and_environments_and_nothing_else_of_the_volume() -> None:
    template = yaml.safe_load(one("ConfigMap")["data"]["pod.yaml"])
    request = JobRequest("footplate-x", "us-central1", (LauncherRequest("master"),), b"")
    secret = make_secret(request)
    secret["metadata"]["uid"] = "1"
    settings = PodSettings(image="i", template=template)
    spec = make_pod(settings, secret, 0, request.launchers[0])["spec"]
    mount, shared = spec["containers"][0]["volumeMounts"][:2]
    text = one("ConfigMap")["data"]["footplate.toml"]
    assert shared["mountPath"] == tomllib.loads(text)["regions"][0]["shared"]
    assert shared["subPath"] == "environments"
    (data,) = (e["value"] for e in server()["env"] if e["name"] == "FOOTPLATE_DATA_DIR")
    assert mount["mountPath"] == f"{data}/buckets"
    assert f"{server()['volumeMounts'][0]['mountPath']}/{mount['subPath']}" == mount["mountPath"]
    assert [each["name"] == "data" for each in spec["containers"][0]["volumeMounts"]].count(
        True
    ) == 2
    assert spec["volumes"][0]["persistentVolumeClaim"]["claimName"] == "footplate-data"
    assert spec["securityContext"]["runAsUser"] == 1000


def test_an_uninstallation_leaves_the_data() -> None:
    """The claim of the database is left, too, as those of a StatefulSet are."""
    annotations = one("PersistentVolumeClaim", "footplate-data")["metadata"]["annotations"]
    assert annotations == {"helm.sh/resource-policy": "keep"}
    (claim,) = one("StatefulSet", "footplate-postgresql")["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "data"


def test_no_secret_stands_outside_the_secret() -> None:
    others = [each for each in OBJECTS if each["kind"] != "Secret"]
    for value in ("a-token", "a-password"):
        assert value not in json.dumps(others)
