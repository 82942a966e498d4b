"""The Helm chart, as it was rendered, at a real Kubernetes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from footplate.backends.kubernetes.cluster_check import NEEDED_RIGHTS
from tests.support.kubernetes import Kubernetes

RENDERED = Path(__file__).resolve().parents[3] / "deploy" / "rendered.yaml"
NAMESPACE = "training"
ACCESS = ("ServiceAccount", "Role", "RoleBinding")


@pytest.fixture
def namespace(kubernetes: Kubernetes) -> Iterator[Kubernetes]:
    kubernetes.kubectl("create", "namespace", NAMESPACE)
    yield kubernetes
    kubernetes.kubectl("delete", "namespace", NAMESPACE, "--wait=false")


def may(kubernetes: Kubernetes, verb: str, resource: str, namespace: str = NAMESPACE) -> bool:
    who = f"--as=system:serviceaccount:{NAMESPACE}:footplate"
    command = ("kubectl", f"--kubeconfig={kubernetes.kubeconfig}", "auth", "can-i", verb, resource)
    done = subprocess.run((*command, who, "-n", namespace), capture_output=True, check=False)
    return done.stdout.strip() == b"yes"


def test_kubernetes_takes_the_chart_and_grants_what_the_backend_calls(
    namespace: Kubernetes, tmp_path: Path
) -> None:
    namespace.kubectl("apply", "--dry-run=server", "-n", NAMESPACE, "-f", str(RENDERED))
    objects = [each for each in yaml.safe_load_all(RENDERED.read_text()) if each]
    access = tmp_path / "access.yaml"
    access.write_text(yaml.safe_dump_all(each for each in objects if each["kind"] in ACCESS))
    namespace.kubectl("apply", "-n", NAMESPACE, "-f", str(access))
    assert [right for right in NEEDED_RIGHTS if not may(namespace, right[1], right[0])] == []
    assert not may(namespace, "list", "configmaps")
    assert not may(namespace, "get", "pods")
    assert not may(namespace, "list", "secrets", "default")
