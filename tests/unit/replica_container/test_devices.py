"""The GPUs of a replica whose container a node runs."""

from __future__ import annotations

import pytest

from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.container.container_spec import find_devices
from tests.support.replica_context import make_task

HERE, NODE = SupervisorTicket(), SupervisorTicket(launchers="/scratch/launchers")


@pytest.mark.parametrize(
    ("host", "devices"),
    [
        ({}, []),
        ({"CUDA_VISIBLE_DEVICES": "0,1"}, ["0", "1"]),
        ({"CUDA_VISIBLE_DEVICES": "0", "SLURM_STEP_GPUS": "3"}, ["3"]),
        ({"CUDA_VISIBLE_DEVICES": "NoDevFiles"}, []),
    ],
)
def test_a_node_s_engine_says_which_they_are(host: dict[str, str], devices: list[str]) -> None:
    assert find_devices(make_task(), NODE, host) == devices


def test_here_the_task_says_it() -> None:
    assert find_devices(make_task(devices=("2",)), HERE, {"CUDA_VISIBLE_DEVICES": "0"}) == ["2"]
    assert find_devices(make_task(), HERE, {"CUDA_VISIBLE_DEVICES": "0"}) == []
