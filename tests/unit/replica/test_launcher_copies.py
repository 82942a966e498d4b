"""What a launcher runs beside a replica whose buckets are copies."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.launcher.replica_process import ReplicaProcess, find_last

LIMIT_S = 60
ARCHIVE = """\
import json, os, sys, time
verb, home = sys.argv[1:]
with open(os.path.join(os.path.dirname(home), "verbs"), "a") as file:
    file.write(f"{verb} {os.getpid()}\\n")
if verb == "run":
    open(os.path.join(home, "pid"), "w").close()
if verb == "sweep":
    with open(os.path.join(home, "gone.new"), "w") as file:
        json.dump({"reason": "its supervisor died"}, file)
    os.rename(os.path.join(home, "gone.new"), os.path.join(home, "gone"))
if verb in ("run", "follow-buckets"):
    time.sleep(600)
"""


@pytest.fixture
def replica(tmp_path: Path) -> Iterator[ReplicaProcess]:
    archive = tmp_path / "archive.py"
    archive.write_text(ARCHIVE)
    replica = ReplicaProcess(str(tmp_path), str(archive), 0)
    yield replica
    replica.kill()
    until(lambda: replica.ended)
    wait_for_rest(replica)


def wait_for_rest(replica: ReplicaProcess) -> None:
    """What it runs after its supervisor ends."""
    for process in (replica._sweep, replica._last_save):
        if process is not None:
            process.wait(LIMIT_S)


def verbs(tmp_path: Path) -> dict[str, int]:
    """What has been started, with its process."""
    path = tmp_path / "verbs"
    lines = path.read_text().splitlines() if path.exists() else []
    return {verb: int(pid) for verb, pid in (line.split() for line in lines)}


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_files_are_written_back_while_it_runs_and_after_its_supervisors_death(
    replica: ReplicaProcess, tmp_path: Path
) -> None:
    replica.start(SupervisorTicket(copies=str(tmp_path / "copies")))
    until(lambda: replica.lives and "follow-buckets" in verbs(tmp_path))
    replica.kill()
    until(lambda: replica.ended)
    replica.sweep()
    until(replica.gone)
    assert "save-buckets" in verbs(tmp_path), "it is gone only when its files were written back"
    assert replica.gone() == "its supervisor died"


def test_without_copies_nothing_runs_beside_it(replica: ReplicaProcess, tmp_path: Path) -> None:
    replica.start(SupervisorTicket())
    until(lambda: replica.lives)
    replica.kill()
    until(lambda: replica.ended)
    replica.sweep()
    until(replica.gone)
    assert set(verbs(tmp_path)) == {"run", "sweep"}


@pytest.mark.parametrize("copies", [True, False])
def test_a_launcher_that_starts_again_writes_back_for_its_dead_supervisor(
    tmp_path: Path, *, copies: bool
) -> None:
    """By what the ticket says, since the launcher that started the replica is dead, too."""
    archive = tmp_path / "archive.py"
    archive.write_text(ARCHIVE)
    for restart, owner in enumerate(("same", "same", "other")):
        folder = str(tmp_path / "copies") if copies else ""
        ticket = SupervisorTicket(launcher=owner, copies=folder)
        home = tmp_path / f"home~{restart}"
        home.mkdir()
        (home / "ticket.json").write_text(json.dumps(ticket.encode()))
        (home / "pid").write_text("")
    replica = find_last(str(tmp_path), "same", str(archive))
    assert replica is not None
    assert replica.restart == 1
    assert replica.ended
    replica.sweep()
    until(replica.gone)
    wait_for_rest(replica)
    assert set(verbs(tmp_path)) == {"sweep", *(["save-buckets"] if copies else [])}
    assert find_last(str(tmp_path), "nobody", str(archive)) is None
