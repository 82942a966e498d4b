"""Planning faults without a service that runs: what is refused, and with which words."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from footplate.domain.names import JobUid, run_uid
from footplate.testing import FaultInjector
from footplate.testing.faults.fault_scheduler import find_attempts
from footplate.testing.faults.processes import find_program, find_supervisor
from tests.support.fake_service import FakeService


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """Of a server that was killed."""
    (tmp_path / "server.json").write_text(json.dumps({"url": "http://127.0.0.1:9", "pid": 1}))
    return tmp_path


def make_home(data_dir: Path, attempt: str, name: str, job: str = "") -> Path:
    home = data_dir / "replicas" / attempt / name
    home.mkdir(parents=True)
    if job:
        (home / "task.json").write_text(json.dumps({"job": job}))
    return home


def test_a_folder_that_is_no_data_directory(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"is not the data directory of a service.*footplate status"
    ):
        FaultInjector(tmp_path)


def test_a_service_whose_data_is_elsewhere() -> None:
    with FakeService() as service, pytest.raises(ValueError, match="where the replicas run"):
        FaultInjector(service.url)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"after_lines": 0}, "after_lines=0 given; allowed: 1 or more"),
        ({"after_s": -1}, "after_s=-1 given; allowed: 0 or more"),
        ({"after_s": float("nan")}, "after_s=nan given; allowed: 0 or more"),
        ({"after_lines": 1, "after_s": 1}, "at most one of them"),
        ({"times": 0}, "times=0 given; allowed: 1 or more"),
    ],
)
def test_what_can_not_be_planned(data_dir: Path, given: dict[str, int], told: str) -> None:
    faults = FaultInjector(data_dir)
    with pytest.raises(ValueError, match=told):
        faults.kill("chief", **given)  # type: ignore[arg-type]  # wrong on purpose


def test_nothing_is_planned_after_the_end(data_dir: Path) -> None:
    faults = FaultInjector(data_dir)
    faults.close()
    with pytest.raises(ValueError, match="closed"):
        faults.freeze("chief")


def test_a_job_without_such_a_replica(data_dir: Path) -> None:
    make_home(data_dir, "abc-1", "master-replica-0", "projects/p/jobs/j")
    make_home(data_dir, "abc-1", "worker-replica-0~2")
    faults = FaultInjector(data_dir)

    for job in ("j", "projects/p/jobs/j"):
        with pytest.raises(ValueError, match="it has: master-replica-0, worker-replica-0"):
            faults.kill("chief", job=job)


def test_runs_of_trials_are_found_too(data_dir: Path) -> None:
    """The id of such a job is that of the tuning job, with the trial's number."""
    make_home(
        data_dir, f"{run_uid(JobUid('abc'), 12)}-1", "master-replica-0", "projects/p/jobs/j-12"
    )

    (attempt,) = find_attempts(data_dir)

    assert (attempt.uid, attempt.number) == (run_uid(JobUid("abc"), 12), 1)
    assert attempt.job() == "projects/p/jobs/j-12"


def test_each_replica_has_its_newest_home(data_dir: Path) -> None:
    names = ("a-0", "a-0~2", "a-0~10", "b-0")
    homes = {name: make_home(data_dir, "abc-3", name) for name in names}
    make_home(data_dir, ".making", "x")

    (attempt,) = find_attempts(data_dir)
    assert (attempt.uid, attempt.number) == ("abc", 3)
    assert {name: home.path for name, home in attempt.homes().items()} == {
        "a-0": homes["a-0~10"],
        "b-0": homes["b-0"],
    }


OWN = "our own"


@pytest.mark.parametrize("pid", ["", "nonsense", "0", OWN, "999999999"])
def test_a_process_that_is_no_supervisor_of_that_home_is_left_alone(
    data_dir: Path, pid: str
) -> None:
    home = make_home(data_dir, "abc-1", "a-0")
    (home / "pid").write_text(str(os.getpid()) if pid == OWN else pid)

    assert find_supervisor(home) is None
    assert find_program(home) is None
