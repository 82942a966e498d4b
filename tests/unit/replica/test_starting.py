"""The start of what comes next, on a disk that others fill."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from footplate.protocol.ticket import SupervisorTicket
from footplate.replica import isolation_cache
from footplate.replica.context import Context
from footplate.replica.isolation.containment import Unavailable
from footplate.replica.isolation.spawn import SpawnFailed
from footplate.replica.phase import Delivering, Phase
from footplate.replica.program_spec import TaskError
from footplate.replica.starting import POLL_INTERVAL_S, Starting


@dataclass
class FakeJournal:
    told: list[str] = field(default_factory=list)

    def event(self, kind: str, message: str) -> None:
        self.told.append(f"{kind}: {message}")

    def exit(self, kind: str, code: int, cause: str, advice: str = "") -> None:
        self.told.append(f"{kind} {code}: {cause}")


@dataclass
class FakeHome:
    path: str
    tmp: str = "/nowhere"
    work: str = "/nowhere"


@dataclass
class FakeContext:
    """What a start uses of a replica's context; its clock goes on by ``now``."""

    home: FakeHome
    journal: FakeJournal = field(default_factory=FakeJournal)
    now: float = 0.0
    child: object = None
    containment: None = None
    ticket: SupervisorTicket = field(default_factory=SupervisorTicket)

    def monotonic(self) -> float:
        return self.now

    def end(self) -> None:
        pass

    def end_child(self) -> None:
        self.child = None


class Next(Phase):
    def advance(self) -> Phase:
        return self

    stop = advance


class Rig:
    """A start whose step fails with ``failures``, one after the other."""

    def __init__(self, path: Path, *failures: Exception) -> None:
        self.context = FakeContext(FakeHome(str(path)))
        self._failures = list(failures)
        self.phase: Phase = Starting(cast("Context", self.context), self._step)

    def _step(self) -> Phase:
        if self._failures:
            raise self._failures.pop(0)
        return Next(cast("Context", self.context))

    def advance(self, seconds: float = 0.0) -> type[Phase]:
        self.context.now += seconds
        following = self.phase.advance()
        assert following is not None
        return type(following)


def full(number: int = errno.ENOSPC) -> OSError:
    return OSError(number, os.strerror(number))


def wrapped() -> TaskError:
    error = TaskError("the directory /d can't be made")
    error.__cause__ = full()
    return error


@pytest.mark.parametrize("failure", [full(), full(errno.EDQUOT), wrapped()])
def test_a_step_that_finds_no_space_is_taken_again(tmp_path: Path, failure: Exception) -> None:
    rig = Rig(tmp_path, failure, full())
    assert rig.advance() is Starting
    assert rig.phase.deadline() == POLL_INTERVAL_S
    assert rig.advance(POLL_INTERVAL_S / 2) is Starting
    assert rig.advance(POLL_INTERVAL_S / 2) is Starting
    assert rig.advance(POLL_INTERVAL_S) is Next
    told = ["DISK_FULL: the disk is full: the program starts when there is space"]
    assert rig.context.journal.told == told


def test_space_that_is_there_and_refused_for_ever_ends_the_start(tmp_path: Path) -> None:
    rig = Rig(tmp_path, *(full() for _ in range(9)))
    while rig.advance(POLL_INTERVAL_S) is Starting:
        assert rig.context.now < 9 * POLL_INTERVAL_S
    (said,) = [each for each in rig.context.journal.told if each.startswith("UNPREPARED")]
    assert said.endswith(
        "the supervisor can't start the program: [Errno 28] No space left on device"
    )


@pytest.mark.parametrize(
    "failure",
    [
        OSError(errno.EMFILE, "Too many open files"),
        SpawnFailed("unshare: Cannot allocate memory", errno.ENOMEM),
        SpawnFailed("fork: Resource temporarily unavailable", errno.EAGAIN),
    ],
)
def test_what_the_machine_lacks_for_a_while_is_tried_again(
    tmp_path: Path, failure: Exception
) -> None:
    rig = Rig(tmp_path, failure, failure)
    assert rig.advance() is Starting
    assert rig.advance(POLL_INTERVAL_S) is Starting
    assert rig.advance(POLL_INTERVAL_S) is Next
    (said,) = rig.context.journal.told
    assert (
        said == f"PREPARING: the supervisor can't start the program now, and tries again: {failure}"
    )


def test_what_the_machine_lacks_for_ever_ends_the_start(tmp_path: Path) -> None:
    rig = Rig(tmp_path, *(SpawnFailed("unshare: no", errno.EAGAIN) for _ in range(9)))
    while rig.advance(POLL_INTERVAL_S) is Starting:
        assert rig.context.now < 9 * POLL_INTERVAL_S
    assert rig.context.journal.told[-1] == "UNPREPARED 0: unshare: no"


def test_what_has_made_a_process_is_not_taken_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path, full())
    rig.context.child = object()
    assert rig.advance() is Delivering


@pytest.mark.parametrize("failure", [TaskError("wrong"), ValueError("wrong"), OSError(2, "none")])
def test_another_failure_ends_the_start(tmp_path: Path, failure: Exception) -> None:
    rig = Rig(tmp_path, failure)
    assert rig.advance() is Delivering


def test_a_start_without_what_its_node_promises_lets_the_next_one_try_again(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, Unavailable("the server promised isolation by cgroup"))
    rig.context.ticket.launchers = str(tmp_path / "launchers")
    (tmp_path / isolation_cache.FILE).touch()
    assert rig.advance() is Delivering
    assert not (tmp_path / isolation_cache.FILE).exists()
