"""The process beside a container ends as its program did."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from footplate.containers.engine_api import Attachment, Engine, EngineError
from footplate.replica.container.guard import READY
from footplate.replica.container.runner import MAPPING_RUNTIME, Runner, end_as


@pytest.mark.parametrize(
    ("status", "code"),
    [(0, 0), (3, 3), (127, 127), (128 + 9, -9), (128 + 11, -11), (128 + 15, -15), (255, 255)],
)
def test_an_exit_code_or_the_signal(status: int, code: int) -> None:
    child = os.fork()
    if child == 0:
        end_as(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code


class RecordingEngine(Engine):
    """Remembers what was asked of it. ``config``: of the image."""

    def __init__(self, config: dict[str, Any], *, home: bool = True, runtime: str = "") -> None:
        super().__init__("")
        self.asked: list[str] = []
        self.environments: list[list[str]] = []
        self.first_ids: list[int] = []
        self._config = config
        self._home = home
        self._runtime = runtime

    def create(self, name: str, spec: dict[str, Any], first_id: int = 0, id_count: int = 0) -> None:
        self.asked.append("create")
        self.environments.append(list(spec["Env"]))
        self.first_ids.append(first_id)

    def inspect(self, name: str) -> dict[str, Any]:
        return {"Config": self._config, "State": {"Pid": 0}}

    def has_home(self, name: str, user: str) -> bool:
        self.asked.append(f"has_home {user}")
        return self._home

    def find_runtime(self, name: str) -> str:
        if not self._runtime:
            raise EngineError(500, "no such field")
        return self._runtime

    def remove(self, name: str) -> None:
        self.asked.append("remove")

    def attach(self, name: str) -> Attachment:
        self.asked.append("attach")
        ours, theirs = socket.socketpair()
        theirs.close()
        return Attachment(ours, b"", multiplexed=True)

    def start(self, name: str) -> None:
        self.asked.append("start")


def start(engine: Engine, status: Path, first_id: int = 0) -> dict[str, Any]:
    """What the runner says of the start."""
    with status.open("wb") as file:
        runner = Runner(engine, "c", 1, 2, file.fileno(), first_id)
        runner._start({"Env": ["A=1"]}).close()
    started: dict[str, Any] = json.loads(status.read_text())["started"]
    return started


@pytest.mark.parametrize(
    ("config", "home", "asked"),
    [
        ({}, False, False),
        ({"User": "root"}, False, False),
        ({"User": "0:0"}, False, False),
        ({"User": "trainer", "Env": ["HOME=/srv"]}, False, False),
        ({"User": "trainer", "Env": ["PATH=/bin"]}, True, True),
        ({"User": "trainer"}, False, True),
    ],
)
def test_only_a_user_without_a_home_gets_one(
    tmp_path: Path, config: dict[str, Any], *, home: bool, asked: bool
) -> None:
    engine = RecordingEngine(config, home=home)
    start(engine, tmp_path / "status")
    begun = ["create", *([f"has_home {config['User']}"] if asked else [])]
    if asked and not home:
        assert engine.asked == [*begun, "remove", "create", "attach", "start"]
        assert engine.environments == [["A=1"], ["A=1", "HOME=/tmp"]]
    else:
        assert engine.asked == [*begun, "attach", "start"]
        assert engine.environments == [["A=1"]]


@pytest.mark.parametrize(
    ("runtime", "first_ids", "unmapped"),
    [
        (MAPPING_RUNTIME, [7000], ""),
        ("runc", [7000, 0], f"runc can't, and {MAPPING_RUNTIME} can"),
    ],
)
def test_users_are_mapped_where_the_runtime_can(
    tmp_path: Path, runtime: str, first_ids: list[int], unmapped: str
) -> None:
    engine = RecordingEngine({}, runtime=runtime)
    started = start(engine, tmp_path / "status", 7000)
    assert engine.first_ids == first_ids
    assert engine.asked.count("remove") == len(first_ids) - 1
    assert (started["first_id"], started["unmapped"]) == (first_ids[-1], unmapped)


def test_users_that_an_engine_fails_to_map_are_not_left_unmapped(tmp_path: Path) -> None:
    engine = RecordingEngine({}, runtime="")
    with pytest.raises(EngineError, match="no such field"):
        start(engine, tmp_path / "status", 7000)
    assert engine.first_ids == [7000]
    assert "start" not in engine.asked


class GuardedEngine(RecordingEngine):
    """Its guard is ready and dies, as the container ends by itself."""

    def attach(self, name: str) -> Attachment:
        ours, theirs = socket.socketpair()
        if name == "c-guard":
            theirs.sendall(bytes((1, 0, 0, 0)) + len(READY).to_bytes(4, "big") + READY)
        theirs.close()
        return Attachment(ours, b"", multiplexed=True)

    def signal(self, name: str, number: str) -> None:
        self.asked.append(f"signal {name} {number}")


def test_a_container_whose_guard_ends_is_killed_and_says_so(tmp_path: Path) -> None:
    engine, spec = GuardedEngine({}), {"Env": ["A=1"]}
    with (tmp_path / "status").open("wb") as file:
        runner = Runner(engine, "c", 1, 2, file.fileno(), guard=spec)
        attachment = runner._start(spec)
        runner._pass_output(attachment)
        attachment.close()
    told = [json.loads(line) for line in (tmp_path / "status").read_text().splitlines()]
    assert told[1:] == [{"fault": "the process that guards the container has ended"}]
    assert engine.asked[-1] == "signal c KILL"
