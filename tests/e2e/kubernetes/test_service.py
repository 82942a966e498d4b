"""Jobs of a running service in a region that is a real Kubernetes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.domain.job_states import State
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.support.kubernetes import IMAGE, Kubernetes
from tests.support.kubernetes_rig import package_template

REGION = "asia-east1"
SETTINGS = """\
cluster_address = "127.0.0.1:0"

[[regions]]
name = "{region}"
backend = "kubernetes"
kubeconfig = "{kubeconfig}"
namespace = "default"
image = "{image}"
pod_template = "{template}"
scratch = "{scratch}"
reserve = false
"""
LINE = """\
import os
print("runs in", os.getcwd())
"""
SLEEPS = """\
import time
print("sleeps", flush=True)
time.sleep(600)
"""


def make_data(kubernetes: Kubernetes, folder: Path, template: dict[str, Any]) -> Path:
    """The data directory of a service with a region in the cluster."""
    data, file = folder / "data", folder / "pod.yaml"
    data.mkdir()
    file.write_text(json.dumps(template))
    text = SETTINGS.format(
        region=REGION,
        kubeconfig=kubernetes.kubeconfig,
        image=IMAGE,
        template=file,
        scratch=folder / "scratch",
    )
    (data / "footplate.toml").write_text(text)
    return data


@pytest.fixture
def context(kubernetes: Kubernetes, tmp_path: Path) -> Iterator[Context]:
    data = make_data(kubernetes, tmp_path, package_template(tmp_path))
    with running_service(data, CACHE, stop_grace_s=1) as service:
        yield Context(service)
    kubernetes.delete_all()


def test_a_job_runs_in_a_pod(context: Context) -> None:
    name = context.submit(LINE, region=REGION)
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    assert any("/launchers/" in line for line in context.messages(name))


def test_a_job_whose_pod_is_deleted_ends_cancelled(
    context: Context, kubernetes: Kubernetes
) -> None:
    name = context.submit(SLEEPS, region=REGION)
    context.until(lambda: "sleeps" in context.messages(name))
    kubernetes.kubectl("delete", "pods", "--all", "--wait=false")
    ended = context.wait_for(name, State.CANCELLED)
    assert "the replica's Pod was deleted in Kubernetes" in (ended.error_message or "")


def test_the_region_says_what_it_has(context: Context) -> None:
    found = httpx.get(f"{context.service.url}/footplate/v1/regions").json()
    (region,) = [each for each in found["regions"] if each["name"] == REGION]
    assert region["backend"] == "kubernetes"
