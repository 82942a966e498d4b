"""What programs find of the machines that their jobs ask for, as far as this machine has them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from footplate.domain.states import State
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from footplate.domain.names import TrainingJobName

CATALOGUE = """
[machine_types.own-small]
family = "COMPUTE_ENGINE"
vcpus = 1
memory_gb = 0.5
"""
SMALL = {"scaleTier": "CUSTOM", "masterType": "own-small"}
GREEDY = "x = bytearray(2_000_000_000)"
CAUSE = "out of memory; its machine own-small has 0.5 GB"


@pytest.fixture
def enforcing(tmp_path: Path) -> Iterator[Desk]:
    """A service that limits what programs use; skipped where nothing can limit it."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("limits need control groups, and here root")
    catalogue = tmp_path / "catalogue.toml"
    catalogue.write_text(CATALOGUE)
    settings = {"stop_grace_s": 1, "mode": "enforce", "catalogue": catalogue}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        if "limited by control groups" not in service.log.read_text():
            pytest.skip(service.log.read_text())
        yield Desk(service)


def events(desk: Desk, name: TrainingJobName, kind: str) -> list[str]:
    with desk.client() as client:
        return [event.message for event in client.events(name) if event.kind == kind]


def test_more_memory_than_the_machine_type_has_fails_the_job(enforcing: Desk) -> None:
    name = enforcing.submit(GREEDY, **SMALL)

    job = enforcing.wait_for(name, State.FAILED)
    assert job.error_message == (
        f"replica master-replica-0 was killed for want of memory: the kernel ended it: {CAUSE}. "
        "Smaller batches, less data at once, or a machine type with more memory are ways out"
    )
    assert events(enforcing, name, "LIMITS") == [
        "at most 0.5 GB of memory and 1 vCPU, as own-small has"
    ]
    assert events(enforcing, name, "RETRY") == []


def test_a_package_whose_build_takes_too_much_memory_is_told_of(enforcing: Desk) -> None:
    name = enforcing.submit("print('never')", setup=GREEDY, **SMALL)

    job = enforcing.wait_for(name, State.FAILED)
    assert CAUSE in job.error_message


SHOW = """
import os, pathlib, sys, time
print(os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1])
while "--wait" in sys.argv and not (out / "end").exists():
    time.sleep(0.05)
"""
T4: dict[str, Any] = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-standard-4",
    "masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "1"}},
}


@pytest.fixture
def with_gpus(tmp_path: Path) -> Iterator[Desk]:
    settings = {"stop_grace_s": 1, "max_replicas": 4, "gpus": "simulated:NVIDIA_TESLA_T4=2"}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        yield Desk(service)


def test_no_gpu_is_given_to_two_jobs(with_gpus: Desk) -> None:
    desk = with_gpus
    holders = [desk.submit(SHOW, "--wait", **T4) for _ in range(2)]
    for holder in holders:
        desk.wait_for(holder, State.RUNNING)
    waiting = desk.submit(SHOW, **T4)
    without = desk.submit(SHOW)
    desk.wait_for(without, State.SUCCEEDED)

    assert desk.messages(without) == [""]
    desk.until(lambda: all(desk.messages(holder) for holder in holders))
    assert sorted(desk.messages(holder)[0] for holder in holders) == ["0", "1"]
    assert desk.job(waiting).state is State.QUEUED
    [freed] = desk.messages(holders[1])
    (desk.out(holders[1]) / "end").touch()
    desk.wait_for(waiting, State.SUCCEEDED)
    assert desk.messages(waiting) == [freed]
    (desk.out(holders[0]) / "end").touch()
    desk.wait_for(holders[0], State.SUCCEEDED)


def test_gpus_that_do_not_exist_are_done_without(tmp_path: Path) -> None:
    settings = {"stop_grace_s": 1, "gpus": "none"}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        desk = Desk(service)
        name = desk.submit(SHOW, **T4)
        desk.wait_for(name, State.SUCCEEDED)
        assert events(desk, name, "EMULATED") == [
            "runs without its 1 NVIDIA_TESLA_T4: this machine has none"
        ]
