"""The program that is the image of its supervisor's Pod."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from footplate.backends.kubernetes import image_pods
from footplate.containers.registry import ImageConfig
from footplate.protocol.task import BoundBucket, ContainerTask
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.container import mounts
from footplate.replica.container.image import POD_IMAGE
from footplate.replica.container.pod_image import (
    compose_command,
    compose_own_variables,
    link_buckets,
)
from footplate.replica.launcher.bootstrap import SCRATCH
from footplate.replica.program_spec import TaskError
from tests.support.replica_context import make_task

BOTH = {"Entrypoint": ["/train"], "Cmd": ["--fast"]}


@pytest.mark.parametrize(
    ("program", "config", "argv"),
    [
        (ContainerTask("i"), BOTH, ["/train", "--fast"]),
        (ContainerTask("i", args=("--slow",)), BOTH, ["/train", "--slow"]),
        (ContainerTask("i", args=()), BOTH, ["/train", "--fast"]),
        (ContainerTask("i", command=("sh",)), BOTH, ["sh"]),
        (ContainerTask("i", command=("sh",), args=("-c", "x")), BOTH, ["sh", "-c", "x"]),
        (
            ContainerTask("i", args=("--slow",)),
            {"Cmd": ["python3", "t.py"]},
            ["python3", "t.py", "--slow"],
        ),
        (ContainerTask("i", args=("ls",)), {"Entrypoint": None, "Cmd": ["python3"]}, ["ls"]),
    ],
)
def test_a_command_line_is_that_of_engines(
    program: ContainerTask, config: dict[str, Any], argv: list[str]
) -> None:
    assert compose_command(program, config) == argv


def test_an_image_without_a_command_is_refused() -> None:
    with pytest.raises(TaskError, match="neither ENTRYPOINT nor CMD"):
        compose_command(ContainerTask("i"), {"Entrypoint": None, "Cmd": None})


def test_a_program_has_the_variables_of_its_image_whatever_its_pod_sets() -> None:
    own = ["PATH=/bin", "LD_PRELOAD=/lib/$ORIGIN/x.so", "LD_AUDIT=y.so", "LC_CTYPE=C"]
    image = ImageConfig("x@sha256:0", "amd64", {"Env": own})
    pod = image_pods.variables(image)
    host = {"PATH": "/bin", **{each["name"]: each["value"].replace("$$", "$") for each in pod}}
    loader = json.loads(host[POD_IMAGE])["loader"]
    assert compose_own_variables(host, loader) == dict(pair.split("=") for pair in own)
    assert (SCRATCH in host, image_pods.BUCKETS) == (True, mounts.BUCKETS)


def test_what_is_of_our_python_does_not_reach_the_program() -> None:
    host = {
        "PATH": "/bin",
        "LD_LIBRARY_PATH": "/footplate/lib",
        "LD_PRELOAD": "",
        "LC_CTYPE": "C.UTF-8",
        "FOOTPLATE_IMAGE": "{}",
        "FOOTPLATE_RANK": "0",
        "FOOTPLATE_OF_THE_IMAGE": "1",
    }
    assert compose_own_variables(host, {"LD_PRELOAD": "/own.so"}) == {
        "PATH": "/bin",
        "LD_PRELOAD": "/own.so",
        "FOOTPLATE_OF_THE_IMAGE": "1",
    }


def test_buckets_are_found_again_after_a_restart(tmp_path: Path) -> None:
    buckets, place, bound = tmp_path / "buckets", tmp_path / "gcs", tmp_path / "bound"
    for folder in (buckets / "one", buckets / "two", buckets / ".trash", place, bound):
        folder.mkdir(parents=True)
    ticket = SupervisorTicket(buckets=str(buckets))
    shared = make_task(bound_buckets=(BoundBucket("three", str(bound), read_only=True),))
    for _ in range(2):
        link_buckets(ticket, shared, str(place))
    assert sorted(each.name for each in place.iterdir()) == ["one", "three", "two"]
    assert (place / "three").resolve() == bound
    alone = tmp_path / "alone"
    alone.mkdir()
    link_buckets(ticket, make_task(buckets=("two",)), str(alone))
    assert [each.name for each in alone.iterdir()] == ["two"]
