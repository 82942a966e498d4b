"""Containers that killed launchers have left on their node."""

from __future__ import annotations

import fcntl
from typing import TYPE_CHECKING

from footplate.replica.container.engine_api import Engine
from footplate.replica.container.leftovers import remove_leftovers

if TYPE_CHECKING:
    from pathlib import Path


class FakeEngine(Engine):
    def __init__(self, homes: dict[str, str]) -> None:
        super().__init__("/nowhere")
        self.homes = homes
        self.removed: list[str] = []

    def list_containers(self, label: str) -> list[tuple[str, dict[str, str]]]:
        assert label == "io.footplate.service=mine"
        return [(name, {"io.footplate.home": home}) for name, home in self.homes.items()]

    def remove(self, name: str) -> None:
        self.removed.append(name)


def test_those_without_a_supervisor_are_removed(tmp_path: Path) -> None:
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
        assert remove_leftovers(engine, "mine", str(launchers)) == 2
    assert engine.removed == ["dead", "vanished"]
