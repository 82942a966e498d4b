"""PyTorch's own ways to work together, sent by the Vertex SDK."""

from __future__ import annotations

from footplate.domain.job_states import State
from tests.e2e.frameworks.conftest import Clusters, read_report


def test_data_parallel_training_on_three_ranks(clusters: Clusters) -> None:
    name = clusters.send_by_sdk("torch_ddp", replicas=3)
    job = clusters.wait_for_end(name)
    assert job.state is State.SUCCEEDED, job.error_message

    model = clusters.bucket / "torch_ddp" / "model"
    report = read_report(model)
    assert report["ranks"] == [0, 1, 2]
    assert report["rows"] == [200, 200, 200]  # of 600: each has seen its own third
    assert report["weights"][1:] == report["weights"][:1] * 2
    assert report["losses"][-1] < report["losses"][0] / 100
    assert (model / "model.pt").stat().st_size > 0
    assert clusters.replicas_that_said(name, "epoch 4") == {
        "workerpool0-0",
        "workerpool1-0",
        "workerpool1-1",
    }


def test_torchrun_meets_at_an_open_port(clusters: Clusters) -> None:
    """Two nodes with two ranks each, of which the service knows nothing."""
    name = clusters.send_by_sdk("torch_elastic", replicas=2)
    job = clusters.wait_for_end(name)
    assert job.state is State.SUCCEEDED, job.error_message

    report = read_report(clusters.bucket / "torch_elastic" / "model")
    assert report == {"sum": 0 + 1 + 4 + 9, "nodes": [0, 0, 1, 1]}
    assert clusters.replicas_that_said(name, "rank ") == {"workerpool0-0", "workerpool1-0"}
