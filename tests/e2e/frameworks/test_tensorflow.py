"""TensorFlow's strategies for several machines, which find each other by TF_CONFIG."""

from __future__ import annotations

import os
import re

import pytest

from footplate.domain.job_states import State
from tests.e2e.frameworks.conftest import Clusters, read_report

CI = os.environ.get("CI") == "true"
GUESSING = 2.3
"""The loss of a model that takes all ten digits for equally likely: log 10."""


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


def test_an_evaluator_tests_the_last_checkpoint_after_the_chief_has_ended(
    clusters: Clusters,
) -> None:
    """It is seconds behind: without its grace it would be stopped before it says anything."""
    name = clusters.send("tf_evaluator", "--seconds-per-evaluation", "3")
    job = clusters.wait_for(name)
    assert job.state is State.SUCCEEDED, job.error_message

    chief = read_report(clusters.out(name), "chief")
    last = read_report(clusters.out(name), "evaluator")[-1]
    assert chief["losses"][-1] < chief["losses"][0] / 1.5
    assert last["step"] == chief["step"]
    assert last["loss"] == pytest.approx(chief["test_loss"], rel=1e-4)
    assert clusters.replicas_that_said(name, "evaluated ") == {"evaluator-replica-0"}


def test_an_estimator_of_tensorflow_1(clusters: Clusters) -> None:
    """Of runtime 1.15, whose trainers look for a master; the parameter server never ends."""
    name = clusters.send("tf_estimator", "--steps", "600")
    job = clusters.wait_for(name)
    if (
        re.search(r"Python \S+, which .* needs, isn't on this machine", job.error_message)
        and not CI
    ):
        pytest.skip(job.error_message)
    assert job.state is State.SUCCEEDED, job.error_message

    report = read_report(clusters.out(name))
    assert set(report["places"]) == {
        f"dense{n}/{w}" for n in ("", "_1") for w in ("kernel", "bias")
    }
    assert set(report["places"].values()) == {"/job:ps/replica:0/task:0/device:CPU:0"}
    last = report["evaluations"][-1]
    assert last["step"] >= 600
    assert last["loss"] < GUESSING / 3
    assert last["accuracy"] > 0.8
    trained = clusters.replicas_that_said(name, "INFO:tensorflow:loss = ")
    assert trained == {"master-replica-0", "worker-replica-0"}
