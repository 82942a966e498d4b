"""Reads attempts on an engine from their files: see the package."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from footplate.domain.launchers import LauncherReport, LauncherState
from footplate.domain.names import AttemptId
from footplate.ports.backend import EndCause, Ticket

Content = dict[str, "Any"]


@dataclass(frozen=True)
class JobEnd:
    """The end of a job, as the engine said it: engines forget jobs that have ended."""

    reason: str
    cause: EndCause


@dataclass(frozen=True)
class Allocation:
    number: int
    replicas: tuple[str, ...]
    job: str = ""
    """Empty: none is bound to it yet."""
    ended: str | None = None
    """Why nothing of it runs any more; None: that isn't so."""
    cause: EndCause = EndCause.UNKNOWN
    silent: JobEnd | None = None
    """The end of its job, when a node of that did not answer; None: that isn't so."""
    warm: bool = False
    """Its job was another attempt's before, whose launcher waited there."""


@dataclass(frozen=True)
class Replica:
    """The newest start of a replica."""

    name: str
    restart: int
    ticket: Content
    stopped: bool
    moved: int | None
    """The allocation that it was moved to; None: it is in that of its ticket."""
    given: bool
    """It was given to a launcher."""
    gone: str | None
    cause: EndCause
    """What the engine says of its end, if it is gone."""
    claim: Content | None
    report: LauncherReport | None
    contact: float
    """When its launcher called last: a modification time, only to be compared with others."""

    @property
    def allocation(self) -> int:
        return int(self.ticket["allocation"]) if self.moved is None else self.moved

    @property
    def may_move(self) -> bool:
        """Returns whether the start may move: it waits for an earlier start's launcher that doesn't
        have it yet.

        A start whose allocation was made for it stays there; otherwise one that can't run would
        move forever.
        """
        return bool(self.ticket.get("in_place")) and self.moved is None and not self.given


@dataclass(frozen=True)
class Attempt:
    id: AttemptId
    region: str = ""
    run_limit_s: float = 0.0
    replicas: dict[str, Replica] = field(default_factory=dict)
    allocations: dict[int, Allocation] = field(default_factory=dict)
    project: str = ""
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def all_gone(self) -> bool:
        return all(replica.gone is not None for replica in self.replicas.values())

    def served_by(self, allocation: Allocation) -> tuple[Replica, ...]:
        """Returns the replicas whose newest start belongs to the allocation."""
        return tuple(r for r in self.replicas.values() if r.allocation == allocation.number)


def make_ticket(
    ticket: Ticket, allocation: int, machine: Content, *, in_place: bool = False
) -> Content:
    """Returns the content of a ticket. ``in_place``: an earlier start's launcher may run it."""
    return {
        "replica": ticket.replica,
        "token": ticket.token,
        "restart": ticket.restart,
        "allocation": allocation,
        "in_place": in_place,
        "machine": machine,
        "image": ticket.image,
    }


def start_file(replica: str, restart: int, kind: str) -> str:
    return f"{replica}~{restart}.{kind}"


def run_kind(moved: int | None) -> str:
    return "run" if moved is None else f"{moved}.run"


def find_starts(names: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        if name.endswith(".ticket"):
            replica, _, number = name.removesuffix(".ticket").rpartition("~")
            found[replica] = max(int(number), found.get(replica, -1))
    return found


@dataclass(frozen=True)
class Directory:
    """The files of one attempt, as they were listed. ``written`` has what was read of them."""

    path: str
    present: frozenset[str]
    written: dict[str, Content]

    def read(self, name: str) -> Content:
        """Returns the content of a file that never changes; nothing if it isn't there."""
        if name not in self.present:
            return {}
        content = self.written.get(name)
        if content is None:
            found = read_file(f"{self.path}/{name}")
            if found is None:  # it was removed just now
                return {}
            content = self.written[name] = found
        return content

    def read_replaced(self, name: str) -> tuple[float, Content]:
        """Returns the time and the content of a file that may be replaced; 0 and nothing if it
        isn't there.
        """
        if name not in self.present:
            return 0.0, {}
        try:
            status = os.stat(f"{self.path}/{name}")  # noqa: PTH116  as in ``load``
        except FileNotFoundError:
            return 0.0, {}
        file = status.st_ino, status.st_mtime_ns, status.st_size
        known = self.written.get(name)
        if known is None or known["file"] != file:
            content = read_file(f"{self.path}/{name}") or {}
            known = self.written[name] = {"file": file, "content": content}
        return status.st_mtime, known["content"]


def load_replica(files: Directory, name: str, restart: int) -> Replica:
    ticket = files.read(start_file(name, restart, "ticket")) or {"allocation": 0}
    gone = start_file(name, restart, "gone")
    end = files.read(gone)
    run = files.read(start_file(name, restart, run_kind(None)))
    moved = run.get("allocation") if ticket.get("in_place") else None
    about = f"{name}.{ticket['allocation'] if moved is None else moved}"
    contact, said = files.read_replaced(f"{about}.report")
    return Replica(
        name=name,
        restart=restart,
        ticket=ticket,
        stopped=start_file(name, restart, "stop") in files.present,
        moved=moved,
        given=start_file(name, restart, run_kind(moved)) in files.present,
        gone=str(end.get("reason", "it ended")) if gone in files.present else None,
        cause=_read_cause(end),
        claim=files.read(f"{about}.claim") or None,
        report=_decode(said) if said else None,
        contact=contact,
    )


def _decode(said: Content) -> LauncherReport:
    return LauncherReport(**{**said, "state": LauncherState(said["state"])})


def _read_cause(end: Content) -> EndCause:
    """Returns the cause in a file of an end; one of a later server's is unknown."""
    try:
        return EndCause(end["cause"])
    except (KeyError, ValueError):
        return EndCause.CANCELLED if end.get("cancelled") else EndCause.UNKNOWN


def load_allocation(files: Directory, number: int) -> Allocation:
    ended, made = files.read(f"~{number}.ended"), files.read(f"~{number}.allocation")
    _, bound = files.read_replaced(f"~{number}.job")  # it may be removed and made again
    return Allocation(
        number,
        tuple(made.get("replicas", ())),
        str(bound.get("id", "")),
        str(ended["reason"]) if ended else None,
        _read_cause(ended),
        _read_silent(files, f"~{number}.silent"),
        bool(made.get("warm")),
    )


def _read_silent(files: Directory, name: str) -> JobEnd | None:
    if name not in files.present:
        return None
    end = files.read(name)  # of an earlier server: without anything
    return JobEnd(str(end.get("reason", "the replica's job has ended")), _read_cause(end))


def read_file(path: str | Path) -> Content | None:
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None
