"""Containers whose supervisors are dead."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from footplate.containers.engine_api import Engine, EngineError
from footplate.containers.leftovers import remove_leftovers
from footplate.replica.container.image import is_left


class FakeEngine(Engine):
    """``faults``: status and reason by container that can't be removed."""

    def __init__(self, homes: dict[str, str]) -> None:
        super().__init__("/nowhere")
        self.homes = homes
        self.removed: list[str] = []
        self.faults: dict[str, EngineError] = {}

    def list_containers(self, label: str) -> list[tuple[str, dict[str, str]]]:
        assert label == "io.footplate.service=mine"
        return [(name, {"io.footplate.home": home}) for name, home in self.homes.items()]

    def remove(self, name: str) -> None:
        if name in self.faults:
            raise self.faults[name]
        self.removed.append(name)


def test_on_a_node_those_without_a_supervisor_are_removed(tmp_path: Path) -> None:
    launchers = tmp_path / "launchers"
    live, dead = launchers / "a" / "home~0", launchers / "b" / "home~0"
    for home in (live, dead):
        home.mkdir(parents=True)
        (home / "lock").touch()
    engine = FakeEngine(
        {
            "live": str(live),
            "dead": str(dead),
            "vanished": str(launchers / "c" / "home~0"),
            "elsewhere": str(tmp_path / "replicas" / "x"),
            "nameless": "",
        }
    )
    with (live / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = remove_leftovers(engine, "mine", lambda home: is_left(home, f"{launchers}{os.sep}"))
    assert found == (2, [])
    assert engine.removed == ["dead", "vanished"]


def test_what_the_engine_does_not_remove_is_told_unless_another_removes_it() -> None:
    engine = FakeEngine({"a": "/a", "b": "/b", "c": "/c"})
    engine.faults = {"a": EngineError(500, "it is busy"), "b": EngineError(409, "in progress")}
    found = remove_leftovers(engine, "mine", lambda _home: True)
    assert found == (1, ["container a: it is busy"])
