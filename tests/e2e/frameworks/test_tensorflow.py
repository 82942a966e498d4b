"""TensorFlow's strategies for several machines, which find each other by TF_CONFIG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.e2e.frameworks.conftest import read_report

from footplate.domain.states import State

if TYPE_CHECKING:
    from tests.e2e.frameworks.conftest import Clusters

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("frameworks")]


def test_multi_worker_mirrored_strategy(clusters: Clusters) -> None:
    name = clusters.send("tf_mirrored")
    job = clusters.wait_for(name)
    assert job.state is State.SUCCEEDED, job.error_message

    report = read_report(clusters.out(name))
    assert report["replicas"] == 2
    assert report["ranks"] == [0, 1]
    chief, worker = report["kernels"]
    assert chief == worker
    assert report["losses"][-1] < report["losses"][0] / 100
    assert (clusters.out(name) / "model.keras").stat().st_size > 0
    said = clusters.replicas_that_said(name, "{'replicas': 2")
    assert said == {"master-replica-0", "worker-replica-0"}


def test_parameter_server_strategy(clusters: Clusters) -> None:
    """Workers and parameter servers never end by themselves; the chief's end is the job's."""
    name = clusters.send("tf_parameter_server", "--steps", "150")
    job = clusters.wait_for(name)
    assert job.state is State.SUCCEEDED, job.error_message

    report = read_report(clusters.out(name))
    assert report["steps"] == 150
    assert report["workers"] == 2
    assert report["place"].startswith("/job:ps/replica:0/task:0/")
    assert report["weights"] == pytest.approx([1, 2, 3, 4, 5, 6, 7, 8], abs=0.1)
    workers = {"worker-replica-0", "worker-replica-1"}
    assert clusters.replicas_that_said(name, "step ") == workers
    assert clusters.replicas_that_said(name, "ps 0 serves") == {"ps-replica-0"}
