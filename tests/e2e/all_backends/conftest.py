"""One service with four regions: this machine, a real Slurm, a real Kubernetes and a real Ray."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from footplate.domain.job_states import State
from footplate.testing.service import RunningService, running_service
from tests.clients.conftest import (
    anonymous,
    bucket,
    finish,
    footplate,
    home,
    ml,
    storage_client,
    trainers,
)
from tests.e2e.service.conftest import CACHE, Context
from tests.support.kubernetes import IMAGE, Kubernetes
from tests.support.kubernetes_rig import package_template
from tests.support.ports import free_port
from tests.support.ray_cluster import RayCluster
from tests.support.slurm import PARTITION, SlurmCluster

__all__ = ["anonymous", "bucket", "finish", "footplate", "home", "ml", "storage_client", "trainers"]

SETTINGS = """\
cluster_address = "{address}:0"

[[regions]]
name = "us-central1"
backend = "local"

[[regions]]
name = "europe-west4"
backend = "slurm"
partition = "{partition}"
scratch = "{folder}/slurm"
shared = "{shared}"

[regions.machines]
"*" = "--cpus-per-task=1 --mem-per-cpu=200"

[[regions]]
name = "asia-east1"
backend = "kubernetes"
kubeconfig = "{kubeconfig}"
namespace = "default"
image = "{image}"
pod_template = "{template}"
scratch = "{folder}/kubernetes"
shared = "{shared}"
reserve = false

[[regions]]
name = "us-east1"
backend = "ray"
address = "{ray}"
python = "{python}"
scratch = "{folder}/ray"
shared = "{shared}"
reserve = false
"""


@pytest.fixture(scope="session")
def service(
    slurm: SlurmCluster,
    kubernetes: Kubernetes,
    ray_cluster: RayCluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RunningService]:
    """At one port, also after a restart. Nodes of all three engines reach it at Ray's network."""
    folder = tmp_path_factory.mktemp("all-backends")
    data, template = folder / "data", folder / "pod.yaml"
    data.mkdir()
    template.write_text(json.dumps(package_template(folder, CACHE.parent)))
    text = SETTINGS.format(
        address=ray_cluster.here,
        partition=PARTITION,
        folder=folder,
        shared=CACHE.parent,
        kubeconfig=kubernetes.kubeconfig,
        image=IMAGE,
        template=template,
        ray=ray_cluster.address,
        python=ray_cluster.python,
    )
    (data / "footplate.toml").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
        with running_service(data, CACHE, stop_grace_s=1, port=free_port()) as found:
            yield found
    kubernetes.delete_all()
    slurm.cancel_all()
    ray_cluster.stop_jobs()


@pytest.fixture(scope="session")
def context(service: RunningService) -> Context:
    """The environment of jobs is made: Ray's node, which reaches nothing, finds Slurm's."""
    context = Context(service)
    for region in ("us-central1", "europe-west4"):
        name = context.submit("", region=region)
        assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    return context
