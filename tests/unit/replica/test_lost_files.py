"""What a program wrote to ``./gs:`` is reported, and kept where it succeeded."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.journal import Journal
from footplate.replica.launcher.launch import remove_expired
from footplate.replica.launcher.node_ticket import complete
from footplate.replica.lost_files import KEPT_S, find_lost, report
from tests.support.replica_context import make_context, make_task


class World:
    def __init__(self, folder: Path) -> None:
        self.work = folder / "home" / "work"
        self.work.mkdir(parents=True)
        self.kept = folder / "kept"
        self.events: list[tuple[str, str]] = []
        task = make_task(attempt_id="u-1", replica="master-replica-0")
        ticket = SupervisorTicket(kept=str(self.kept))
        self.context = make_context(folder / "home", task, ticket)
        journal = SimpleNamespace(event=lambda *event: self.events.append(event))
        self.context.journal = cast("Journal", journal)

    def write(self, path: str, text: str = "12345") -> None:
        (self.work / path).parent.mkdir(parents=True, exist_ok=True)
        (self.work / path).write_text(text)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_files_of_a_program_that_succeeded_are_named_and_kept(world: World) -> None:
    world.write("gs:/stage/out/model.joblib")
    report(world.context, succeeded=True)

    ((kind, message),) = world.events
    place = world.kept / "u-1.master-replica-0"
    assert kind == "LOST_FILES"
    assert message.startswith("the program wrote 1 file (5 bytes): gs:/stage/out/model.joblib ")
    assert "footplate-directories=paths" in message
    assert message.endswith(f" UTC in {place}")
    assert (place / "gs:/stage/out/model.joblib").read_text() == "12345"
    assert not (world.work / "gs:").exists()


def test_those_of_another_are_named(world: World) -> None:
    world.write("gs:/stage/a")
    report(world.context, succeeded=False)
    assert "They are" not in world.events[0][1]
    assert not world.kept.exists()


def test_what_can_not_be_kept_says_why(world: World) -> None:
    world.write("gs:/stage/a")
    world.kept.write_text("")
    report(world.context, succeeded=True)
    assert world.events[0][1].endswith("The files could not be kept: Not a directory")


def test_folders_without_files_and_links_are_nothing(world: World, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("x")
    (world.work / "gs:/stage").mkdir(parents=True)
    (world.work / "gs:/stage/link").symlink_to(tmp_path / "secret")
    (world.work / "gs:/stage/file").symlink_to(tmp_path / "secret" / "key")
    os.mkfifo(world.work / "gs:/stage/pipe")
    report(world.context, succeeded=True)
    assert world.events == []

    (world.work / "gs:").rename(tmp_path / "elsewhere")
    (world.work / "gs:").symlink_to(tmp_path / "secret")
    report(world.context, succeeded=True)
    assert world.events == []


def test_what_is_said_of_many_is_bounded(world: World) -> None:
    for number in range(7):
        world.write(f"gs:/{number}/{'x' * 250}")
    found = find_lost(str(world.work))
    assert str(found).startswith("7 files (35 bytes): ...xxx")
    assert str(found).endswith(", ...")
    assert len(found.names) == 5
    assert len(str(found)) < 1200

    (world.work / "gs:/many").mkdir()
    for number in range(1200):
        (world.work / "gs:/many" / str(number)).touch()
    assert str(find_lost(str(world.work))).startswith("at least ")


def test_a_node_keeps_files_for_an_hour(tmp_path: Path) -> None:
    places = (str(tmp_path), "server.json", "node1")
    kept = tmp_path / "kept"
    for ticket, folder in (
        (SupervisorTicket(keeps_files=True), str(kept)),
        (SupervisorTicket(), ""),
    ):
        complete(ticket, *places)
        assert ticket.kept == folder

    remove_expired(str(kept), 0)
    for name, changed_s in (("old", 1000), ("new", 1001)):
        (kept / name / "gs:").mkdir(parents=True)
        os.utime(kept / name, (changed_s, changed_s))
    remove_expired(str(kept), 1000 + KEPT_S)
    assert [path.name for path in kept.iterdir()] == ["new"]
