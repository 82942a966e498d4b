"""What names the environment of a program."""

from __future__ import annotations

from typing import Any

from footplate.control.preparations import name_preparation
from footplate.protocol.task import Package, PythonTask, Runtime, Slice, Task


def test_a_preparation_is_named_by_all_that_goes_into_it() -> None:
    """Whatever else tasks differ in: by replica, arguments and job, they share one."""

    def name(**changes: Any) -> object:
        cpu = (Slice("all", "b" * 64),)
        task = Task(
            attempt_id="uid-1",
            attempt=1,
            replica="master-replica-0",
            job="projects/p/jobs/j",
            program=PythonTask("trainer.task", ()),
            packages=(Package("trainer-0.1.tar.gz", "c" * 64),),
            runtime=Runtime("2.21", "3.11", {"cpu": cpu}),
            environment=(),
            directories=(),
            time_limit_s=1.0,
            stop_grace_s=10.0,
            heartbeat_s=30.0,
        )
        vars(task).update(changes)
        return name_preparation(task)

    alike: tuple[dict[str, Any], ...] = (
        {},
        {"attempt_id": "uid-2", "replica": "worker-replica-3"},
        {"program": PythonTask("trainer.task", ("--x", "1"))},
        {"environment": (("NAME", "VALUE"),)},
    )
    assert len({name(**changes) for changes in alike}) == 1
    others: tuple[dict[str, Any], ...] = (
        {},
        {"program": PythonTask("trainer.other", ())},
        {"packages": (Package("trainer-0.1.tar.gz", "d" * 64),)},
        {"packages": (Package("trainer-0.2.tar.gz", "c" * 64),)},
        {"packages": ()},
        {"runtime": Runtime("2.21", "3.11", {"cpu": (Slice("all", "e" * 64),)})},
        {"runtime": Runtime("2.21", "3.12", {"cpu": (Slice("all", "b" * 64),)})},
        {"gpus": True},
        {"environment": (("FOOTPLATE_RUNTIME_SLICE", "full"),)},
    )
    assert len({name(**changes) for changes in others}) == len(others)
    assert name(packages=(Package("large.tar.gz"),)) == ""
