"""Jobs for slurmrestd, made of the same options that sbatch gets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.backends.engine.engine import JobRequest, LauncherRequest
from footplate.backends.slurm.job_script import SlurmSettings
from footplate.backends.slurm.rest_job import OptionError, check_options, compose, read_memory_mb

PAIR = (LauncherRequest("a", "m", 3, 1000), LauncherRequest("b"))
GPUS = (LauncherRequest("a", accelerator_type="NVIDIA_TESLA_T4", accelerators=2),)


def request(*launchers: LauncherRequest) -> JobRequest:
    return JobRequest("footplate-s-u-1.0", "europe-west4", launchers, b"print('hello')\n")


def test_a_gang_for_the_first_version() -> None:
    settings = SlurmSettings(
        partition="pool", qos="high", options=("--nice=5",), environment={"UV_INDEX": "x"}
    )
    made = compose(settings, request(*PAIR), 38)
    assert made["script"].startswith("#!/bin/sh\n")
    environment = made["job"].pop("environment")
    assert environment["UV_INDEX"] == "x"
    assert environment["SLURM_CPUS_PER_TASK"] == "3"
    assert "/usr/bin" in environment["PATH"]
    assert made["job"] == {
        "name": "footplate-s-u-1.0",
        "comment": "footplate",
        "tasks": 2,
        "cpus_per_task": 3,
        "memory_per_cpu": 334,
        "no_kill": "set",
        "nice": 5,
        "partition": "pool",
        "qos": "high",
        "current_working_directory": "/",
        "standard_input": "/dev/null",
        "standard_output": "/dev/null",
        "standard_error": "/dev/null",
    }


def test_a_gang_for_later_versions() -> None:
    job = compose(SlurmSettings(), request(*PAIR), 41)["job"]
    assert job["memory_per_cpu"] == {"set": True, "infinite": False, "number": 334}
    assert "SLURM_CPUS_PER_TASK=3" in job["environment"]
    assert job["script"].startswith("#!/bin/sh\n")
    assert (job["requeue"], job["kill_on_node_fail"]) == (False, False)


def test_what_a_project_and_labels_choose_has_fields() -> None:
    settings = SlurmSettings(
        projects={"atlas": {"account": "physics"}}, admit=("reservation", "licenses")
    )
    chosen = {"footplate-slurm-reservation": "week-7", "footplate-slurm-licenses": "root"}
    given = replace(request(*PAIR), project="atlas", labels=chosen)
    for version in (38, 41):
        job = compose(settings, given, version)["job"]
        assert job["account"] == "physics"
        assert (job["reservation"], job["licenses"]) == ("week-7", "root")


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (38, {"gres": "gpu:t4:2"}),
        (39, {"tres_per_node": "gres:gpu:t4:2"}),
        (43, {"tres_per_node": "gres/gpu:t4:2"}),
    ],
)
def test_gpus_have_the_names_of_each_version(version: int, expected: dict[str, str]) -> None:
    settings = SlurmSettings(accelerators={"NVIDIA_TESLA_T4": "gpu:t4"})
    job = compose(settings, request(*GPUS), version)["job"]
    assert job.items() >= {**expected, "nodes": "1", "tasks_per_node": 1}.items()


def test_options_of_a_machine_type_replace_ours() -> None:
    mapped = ("-C", "c8&ib", "--mem=4G", "--exclusive", "-t1-2:30:05", "--priority", "7", "-c", "2")
    settings = SlurmSettings(machines={"m": mapped})
    old, new = (compose(settings, request(PAIR[0]), v)["job"] for v in (38, 40))
    assert (old["constraints"], old["cpus_per_task"], old["exclusive"]) == ("c8&ib", 2, "exclusive")
    assert (old["memory_per_node"], old["time_limit"], old["priority"]) == (4096, 1591, 7)
    assert "memory_per_cpu" not in old
    assert new["shared"] == ["none"]
    assert new["time_limit"]["number"] == 1591


def test_what_a_version_lacks_is_said() -> None:
    settings = SlurmSettings(machines={"m": ("--nodelist=n1,n2",)})
    assert compose(settings, request(PAIR[0]), 40)["job"]["required_nodes"] == ["n1", "n2"]
    with pytest.raises(OptionError, match=r"--nodelist needs slurmrestd v0\.0\.39"):
        compose(settings, request(PAIR[0]), 38)
    assert check_options(("--nodelist=n1",)) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--switches=2",),
            ("slurmrestd has no field for the option --switches=2; allowed: --account"),
        ),
        (("-X",), "slurmrestd has no field for the option -X"),
        (("c8",), "slurmrestd has no field for the option c8"),
        (("--constraint",), "--constraint has no value"),
        (("--mem=4X",), "'4X' is not an amount of memory"),
        (("--cpus-per-task=two",), "--cpus-per-task=two is not a whole number"),
        (("--time=soon",), "--time=soon is not a time"),
        (("--propagate=ALL",), "slurmrestd passes on no limits: --propagate=ALL given"),
        (("--exclusive=topo",), "slurmrestd has no field for the option --exclusive=topo"),
    ],
)
def test_options_that_slurmrestd_does_not_know(words: tuple[str, ...], said: str) -> None:
    assert (check_options(words) or "").startswith(said)


def test_memory() -> None:
    assert [read_memory_mb(text) for text in ("4000", "4000M", "4G", "1T", "512k", "0")] == [
        4000,
        4000,
        4096,
        1048576,
        1,
        0,
    ]
