"""What programs find of the machines that their jobs ask for, as far as this machine has them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context, SharedServices

SMALL = {"scaleTier": "CUSTOM", "masterType": "own-small"}
GREEDY = "x = bytearray(2_000_000_000)"
CAUSE = "out of memory; machine type own-small has 0.5 GB"


def events(context: Context, name: TrainingJobName, kind: str) -> list[str]:
    with context.client() as client:
        return [event.message for event in client.events(name) if event.kind == kind]


def test_more_memory_than_the_machine_type_has_fails_the_job(enforcing: Context) -> None:
    name = enforcing.submit(GREEDY, **SMALL)

    job = enforcing.wait_for(name, State.FAILED)
    assert job.error_message == (
        "replica master-replica-0 was killed because memory ran out: the kernel killed the "
        f"program: {CAUSE}. Use smaller batches, less data at once, or a machine type with more "
        "memory"
    )
    assert events(enforcing, name, "LIMITS") == [
        (
            "at most 0.5 GB of memory and 1 vCPU, as own-small has; "
            "at most 1536 processes and 100 GB of disk (bootDiskSizeGb)"
        )
    ]
    assert events(enforcing, name, "RETRY") == []


@pytest.fixture
def limiting(shared_services: SharedServices) -> Iterator[Context]:
    """At a service that limits what programs use, and reserves nothing."""
    with shared_services.limiting(limits="on") as context:
        yield context


BOMB = """
import threading, time
while True:
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
"""


def test_bombs_end_their_own_job_only(limiting: Context) -> None:
    other = limiting.submit("import time; print('up', flush=True); time.sleep(600)", **SMALL)
    limiting.until(lambda: limiting.messages(other) == ["up"])

    threads = limiting.submit(BOMB, **SMALL)
    message = limiting.wait_for(threads, State.FAILED).error_message
    assert "its limit is 1536: 1024 and 512 for its vCPU" in message
    memory = limiting.submit(GREEDY, **SMALL)
    assert CAUSE in limiting.wait_for(memory, State.FAILED).error_message

    assert limiting.job(other).state is State.RUNNING
    with limiting.client() as client:
        client.cancel(other)
    limiting.wait_for(other, State.CANCELLED)


def test_a_package_whose_build_takes_too_much_memory_is_told_of(enforcing: Context) -> None:
    name = enforcing.submit("print('never')", setup=GREEDY, **SMALL)

    job = enforcing.wait_for(name, State.FAILED)
    assert CAUSE in job.error_message


FILL = """
import os, time
for path in ("model", "/tmp/model"):
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 5500 << 20)
time.sleep(600)
"""


def test_a_package_whose_build_takes_too_much_disk_is_ended(limiting: Context) -> None:
    if shutil.disk_usage(limiting.service.data_dir).free < 40 << 30:
        pytest.skip("needs 40 GB of disk, of which it takes 12")
    disk = {"masterConfig": {"diskConfig": {"bootDiskSizeGb": 10}}}
    name = limiting.submit("print('never')", setup=FILL, **SMALL, **disk)

    message = limiting.wait_for(name, State.FAILED).error_message
    assert re.search(
        r"at the limit of its disk: while the environment was prepared, "
        r"the program used 1[01]\.[0-9]+ GB of "
        "disk; its limit, bootDiskSizeGb, is 10 GB",
        message,
    )


SHOW = """
import os, pathlib, sys, time
print(os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
while "--wait" in sys.argv and not (out / "end").exists():
    time.sleep(0.05)
"""
T4: dict[str, Any] = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-standard-4",
    "masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "1"}},
}


@pytest.fixture
def with_gpus(tmp_path: Path) -> Iterator[Context]:
    settings = {"stop_grace_s": 1, "max_replicas": 4, "gpus": "simulated:NVIDIA_TESLA_T4=2"}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        yield Context(service)


def test_no_gpu_is_given_to_two_jobs(with_gpus: Context) -> None:
    context = with_gpus
    holders = [context.submit(SHOW, "--wait", **T4) for _ in range(2)]
    for holder in holders:
        context.wait_for(holder, State.RUNNING)
    waiting = context.submit(SHOW, **T4)
    without = context.submit(SHOW)
    context.wait_for(without, State.SUCCEEDED)

    assert context.messages(without) == [""]
    context.until(lambda: all(context.messages(holder) for holder in holders))
    assert sorted(context.messages(holder)[0] for holder in holders) == ["0", "1"]
    assert context.job(waiting).state is State.QUEUED
    [freed] = context.messages(holders[1])
    (context.out(holders[1]) / "end").touch()
    context.wait_for(waiting, State.SUCCEEDED)
    assert context.messages(waiting) == [freed]
    (context.out(holders[0]) / "end").touch()
    context.wait_for(holders[0], State.SUCCEEDED)


def test_gpus_that_do_not_exist_are_done_without(tmp_path: Path) -> None:
    settings = {"stop_grace_s": 1, "gpus": "none"}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        context = Context(service)
        name = context.submit(SHOW, **T4)
        context.wait_for(name, State.SUCCEEDED)
        assert events(context, name, "EMULATED") == [
            "the job runs without its 1 NVIDIA_TESLA_T4: this machine has none"
        ]
