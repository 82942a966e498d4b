"""A gang that loses one of its own in mid-training, and goes on from its checkpoint."""

from __future__ import annotations

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.testing.faults import FaultInjector
from tests.e2e.frameworks.conftest import Clusters, read_report

EPOCHS = 12
REPLICAS = {"chief": "master-replica-0", "worker": "worker-replica-0"}


@pytest.mark.parametrize("victim", REPLICAS)
def test_a_lost_replica_costs_no_epoch(clusters: Clusters, victim: str) -> None:
    """The other one fails within milliseconds, of a broken connection: an echo, not a cause."""
    args = ("--epochs", str(EPOCHS), "--seconds-per-step", "0.03")
    name = clusters.send("checkpoints", *args)
    clusters.wait_for(name, State.RUNNING)
    clusters.until(lambda: has_trained(clusters, name))
    with FaultInjector(clusters.service) as faults:
        faults.kill(REPLICAS[victim], job=str(name)).wait()

    job = clusters.wait_for(name)
    assert job.state is State.SUCCEEDED, job.error_message
    history = read_report(clusters.out(name))["epochs"]
    assert [entry["epoch"] for entry in history] == list(range(EPOCHS))
    assert {entry["shares"] for entry in history} == {2}
    assert len({entry["run"] for entry in history}) == 2
    assert history[-1]["loss"] < history[0]["loss"] / 2
    restarts = clusters.events(name, "RESTART")
    (lost,) = [event for event in restarts if event.replica == REPLICAS[victim]]
    assert lost.message.startswith(f"replica {REPLICAS[victim]} was killed by signal 9")
    assert {line.restart for line in clusters.lines(name)} == {0, 1}


def has_trained(clusters: Clusters, name: TrainingJobName) -> bool:
    """For two epochs; a job that ended before it is a failure."""
    assert not clusters.job(name).state.terminal, clusters.job(name).error_message
    return any(message.startswith("epoch 1:") for message in clusters.messages(name))
