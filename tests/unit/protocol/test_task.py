"""The JSON of a task."""

from __future__ import annotations

import json

import pytest

from footplate.protocol.message import DecodeError
from footplate.protocol.task import (
    Address,
    Allotment,
    ContainerTask,
    Package,
    PythonTask,
    Runtime,
    Slice,
    Start,
    Task,
)

PROGRAM: dict[str, object] = {"kind": "python", "module": "m"}


def test_a_task_as_supervisors_get_it() -> None:
    cpu = (Slice("sklearn", "a" * 64, ("tensorflow",)), Slice("all", "b" * 64, fallback=True))
    task = Task(
        attempt_id="uid-1",
        attempt=1,
        replica="master-replica-0",
        job="projects/p/jobs/j",
        program=PythonTask("trainer.task", ("--x", "1")),
        packages=(Package("trainer-0.1.tar.gz"),),
        runtime=Runtime("2.21", "3.11", {"cpu": cpu}),
        environment=(("NAME", "VALUE"),),
        directories=("/data/out/",),
        time_limit_s=604800.0,
        stop_grace_s=10.0,
        heartbeat_s=30.0,
        gpus=True,
        allotment=Allotment("n1-standard-4", 4, 15360, 200),
        restart=2,
        address=Address("127.0.0.1", 5001, (6001,)),
        usage_s=10.0,
        hang_s=600.0,
    )
    encoded = json.loads(json.dumps(task.encode()))
    assert encoded == {
        "attempt_id": "uid-1",
        "attempt": 1,
        "replica": "master-replica-0",
        "job": "projects/p/jobs/j",
        "program": {
            "kind": "python",
            "module": "trainer.task",
            "args": ["--x", "1"],
            "command": [],
        },
        "packages": [{"file": "trainer-0.1.tar.gz", "sha256": ""}],
        "preparation": "",
        "runtime": {
            "name": "2.21",
            "python": "3.11",
            "variants": {
                "cpu": [
                    {
                        "name": "sklearn",
                        "lock_sha256": "a" * 64,
                        "unless": ["tensorflow"],
                        "fallback": False,
                    },
                    {"name": "all", "lock_sha256": "b" * 64, "unless": [], "fallback": True},
                ]
            },
        },
        "environment": [["NAME", "VALUE"]],
        "directories": ["/data/out/"],
        "time_limit_s": 604800.0,
        "stop_grace_s": 10.0,
        "heartbeat_s": 30.0,
        "gpus": True,
        "allotment": {
            "machine_type": "n1-standard-4",
            "vcpus": 4,
            "memory_mb": 15360,
            "disk_gb": 200,
        },
        "web_access": False,
        "gathering_s": None,
        "restart": 2,
        "address": {"host": "127.0.0.1", "port": 5001, "open_ports": [6001]},
        "usage_s": 10.0,
        "hang_s": 600.0,
        "metrics": [],
        "build_environment": [],
        "devices": [],
        "buckets": None,
        "authority": "",
        "account": "",
        "bound_buckets": [],
        "persistent_resource": "",
    }
    assert Task.decode(encoded) == task


def test_the_task_of_an_older_server_has_defaults() -> None:
    assert Task.decode({"program": PROGRAM}) == Task(PythonTask("m"))
    container: dict[str, object] = {"kind": "container", "image": "i", "command": None}
    assert Task.decode({"program": container, "buckets": None}) == Task(ContainerTask("i"))


def test_the_task_of_a_newer_server_may_have_more() -> None:
    packages = [{"file": "f", "more": 2}]
    sent: dict[str, object] = {"program": {**PROGRAM, "m": 1}, "more": {}, "packages": packages}
    task = Task.decode(sent)
    assert task == Task(PythonTask("m"), packages=(Package("f"),))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"program": None}, "program is missing"),
        ({"program": {"kind": "x"}}, "program.kind is 'x'; allowed: python, command, container"),
        ({"program": 7}, "program.kind is None; allowed: python, command, container"),
        ({"program": {"kind": "command"}}, "program.argv is missing"),
        ({"program": {**PROGRAM, "args": [1]}}, "program.args[0] is not str: 1"),
        ({"environment": [["A"]]}, "environment[0] is not tuple[str, str]: ['A']"),
        ({"environment": [["A", 1]]}, "environment[0][1] is not str: 1"),
        ({"attempt": True}, "attempt is not int: True"),
        ({"heartbeat_s": "1"}, "heartbeat_s is not float: '1'"),
        ({"allotment": []}, "allotment is not an object: []"),
        (
            {"runtime": {"name": "n", "python": "3", "variants": {"cpu": [{"name": "s"}]}}},
            "runtime.variants.cpu[0].lock_sha256 is missing",
        ),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, object], words: str) -> None:
    with pytest.raises(DecodeError) as raised:
        Task.decode({"program": PROGRAM, **fields})
    assert str(raised.value) == words


def test_start_says_either() -> None:
    for start in (Start(environment=(("A", "1"),)), Start(awaited=("w-1",)), Start(awaited=())):
        assert Start.decode(json.loads(json.dumps(start.encode()))) == start


def test_a_field_that_there_is_not_is_refused() -> None:
    with pytest.raises(TypeError, match="unknown \\['imag'\\]"):
        ContainerTask("i", imag="j")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing \\['image'\\]"):
        ContainerTask()  # type: ignore[call-arg]
