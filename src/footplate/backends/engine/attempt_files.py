"""The files of attempts on an engine: see the package."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from footplate.backends.gang_names import NAME
from footplate.domain.errors import Unavailable
from footplate.domain.launchers import LauncherReport, LauncherState
from footplate.domain.names import AttemptId
from footplate.ports.backend import EndCause, Ticket

Content = dict[str, "Any"]
_MAKING, _TRASH = ".making-", ".trash-"


@dataclass(frozen=True)
class Allocation:
    number: int
    replicas: tuple[str, ...]
    job: str = ""
    """Empty: none is bound to it yet."""
    ended: str | None = None
    """Why nothing of it runs any more; None: that isn't so."""
    cause: EndCause = EndCause.UNKNOWN
    silent: bool = False
    """A node of its job did not answer when that had ended."""


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


class AttemptFiles:
    """The files of attempts. Every method may be called by several processes at once.

    What is written only once is read only once: ``_written`` has it by attempt and file name. The
    id of an attempt is never used again.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._written: dict[AttemptId, dict[str, Content]] = {}

    def open(self) -> None:
        """Removes what an earlier server left half-created or half-removed. Raises OSError."""
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path in (*self._root.glob(f"{_MAKING}*"), *self._root.glob(f"{_TRASH}*")):
            shutil.rmtree(path, ignore_errors=True)

    def attempts(self) -> tuple[AttemptId, ...]:
        try:
            with os.scandir(self._root) as entries:
                names = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return ()
        found = tuple(AttemptId(name) for name in sorted(names) if NAME.fullmatch(name))
        for attempt_id in self._written.keys() - set(found):
            self._written.pop(attempt_id, None)
        return found

    def stamp(self, attempt_id: AttemptId) -> int | None:
        """Returns a number that changes with each file that is made or removed, though perhaps not
        for two within the same moment; None for an unknown attempt.
        """
        try:
            return (self._root / attempt_id).stat().st_mtime_ns
        except (FileNotFoundError, NotADirectoryError):
            return None

    def load(self, attempt_id: AttemptId) -> Attempt | None:
        """Returns the attempt, or None if it is unknown."""
        if not NAME.fullmatch(attempt_id):
            return None
        path = f"{self._root}/{attempt_id}"
        try:
            names = os.listdir(path)  # noqa: PTH208  a Path for each name would cost as much again
        except (FileNotFoundError, NotADirectoryError):
            self._written.pop(attempt_id, None)
            return None
        newest = _find_starts(names)
        numbers = [int(n[1:].partition(".")[0]) for n in names if n.endswith(".allocation")]
        files = _Directory(path, frozenset(names), self._written.setdefault(attempt_id, {}))
        order = files.read("order")
        place = {name: index for index, name in enumerate(order.get("replicas", ()))}
        replicas = {
            name: _load_replica(files, name, newest[name])
            for name in sorted(newest, key=lambda n: place.get(n, len(place)))
        }
        region, project = (str(order.get(name, "")) for name in ("region", "project"))
        limit_s, labels = float(order.get("run_limit_s", 0.0)), dict(order.get("labels", {}))
        allocations = {n: _load_allocation(files, n) for n in sorted(numbers)}
        return Attempt(attempt_id, region, limit_s, replicas, allocations, project, labels)

    def newest_starts(self, attempt_id: AttemptId) -> dict[str, int]:
        """Returns the number of each replica's newest start, whatever its files contain."""
        try:
            return _find_starts(os.listdir(self._root / attempt_id))  # noqa: PTH208  as in ``load``
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def make(
        self,
        attempt_id: AttemptId,
        region: str,
        tickets: Iterable[Content],
        run_limit_s: float = 0.0,
        project: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """Creates the attempt with its first allocation, all at once. Raises Unavailable."""
        making = self._root / f"{_MAKING}{secrets.token_hex(8)}"
        found = tuple(tickets)
        names = [ticket["replica"] for ticket in found]
        try:
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            making.mkdir(mode=0o700)
            about = {"region": region, "project": project, "labels": dict(labels or {})}
            order = {"replicas": names, **about, "run_limit_s": run_limit_s}
            _write(making / "order", order)
            _write(making / "~0.allocation", {"replicas": names})
            for ticket in found:
                _write(making / _start(ticket["replica"], ticket["restart"], "ticket"), ticket)
            making.rename(self._root / attempt_id)
            _sync(self._root)
        except OSError as error:
            shutil.rmtree(making, ignore_errors=True)
            if (self._root / attempt_id).is_dir():  # another server was faster
                return
            raise Unavailable(f"the server can't store the request: {error.strerror}") from error

    def add_allocation(self, attempt_id: AttemptId, first: int, replicas: list[str]) -> int:
        """Adds an allocation; returns its number, ``first`` or a later one. Raises OSError."""
        content = {"replicas": replicas}
        directory, number = self._root / attempt_id, first
        while write_once(directory / f"~{number}.allocation", content) != content:
            number += 1
        return number

    def add_ticket(self, attempt_id: AttemptId, ticket: Content) -> None:
        """Writes the ticket of a replica's start. Raises OSError."""
        name = _start(ticket["replica"], ticket["restart"], "ticket")
        write_once(self._root / attempt_id / name, ticket)

    def bind(self, attempt_id: AttemptId, number: int, job: str) -> str:
        """Binds a job to the allocation; returns the job bound first. Raises OSError."""
        path = self._root / attempt_id / f"~{number}.job"
        return str(write_once(path, {"id": job})["id"])

    def unbind(self, attempt_id: AttemptId, number: int) -> None:
        """Lets the allocation have another job. Raises OSError.

        Nothing of the one that is bound may have run, or ever run: no launcher can name it.
        """
        (self._root / attempt_id / f"~{number}.job").unlink(missing_ok=True)

    def end(
        self, attempt_id: AttemptId, number: int, reason: str, cause: EndCause = EndCause.UNKNOWN
    ) -> None:
        """Marks the allocation as ended, with the reason. Raises OSError."""
        path = self._root / attempt_id / f"~{number}.ended"
        write_once(path, _make_end(reason, cause))

    def mark_silent(self, attempt_id: AttemptId, number: int) -> None:
        """Marks that nodes of the allocation's job didn't answer the engine. Raises OSError."""
        write_once(self._root / attempt_id / f"~{number}.silent", {})

    def stop(
        self,
        attempt_id: AttemptId,
        replica: Replica,
        reason: str = "the replica was stopped before it started",
        cause: EndCause = EndCause.UNKNOWN,
    ) -> None:
        """Marks the start as stopped and, without a launcher, as gone. Raises OSError."""
        write_once(self._path(attempt_id, replica, "stop"), {})
        if not self._is_given(attempt_id, replica):
            self.set_gone(attempt_id, replica, reason, cause)

    def _is_given(self, attempt_id: AttemptId, replica: Replica) -> bool:
        path = self._run_path(attempt_id, replica)
        if not path.exists():
            return False
        moved = _read_moved(path)
        return moved is None or self._path(attempt_id, replica, _run_kind(moved)).exists()

    def give(self, attempt_id: AttemptId, replica: Replica) -> bool:
        """Gives this start to the launcher of its allocation; returns False if it was moved to
        another one.

        ``stop`` writes its mark first and then looks for the mark of this method, so one of the two
        sees the other. Callers must therefore read ``is_stopped`` after this call. Raises OSError.
        """
        return not write_once(self._run_path(attempt_id, replica), {})

    def is_stopped(self, attempt_id: AttemptId, replica: Replica) -> bool:
        return self._path(attempt_id, replica, "stop").exists()

    def move(self, attempt_id: AttemptId, replica: Replica, first: int) -> None:
        """Moves a start to a new allocation numbered ``first`` or higher. Raises OSError.

        Has no effect on a start that was given to its launcher: only one of both marks can be
        written.
        """
        number = self.add_allocation(attempt_id, first, [replica.name])
        write_once(self._run_path(attempt_id, replica), {"allocation": number})

    def set_gone(
        self,
        attempt_id: AttemptId,
        replica: Replica,
        reason: str,
        cause: EndCause = EndCause.UNKNOWN,
    ) -> None:
        """Marks the start as gone, with the reason. Raises OSError."""
        write_once(self._path(attempt_id, replica, "gone"), _make_end(reason, cause))

    def claim(self, attempt_id: AttemptId, replica: Replica, claim: Content) -> Content:
        """Records a launcher's claim on the replica in its allocation; returns the first one.
        Raises OSError.
        """
        return write_once(self._note_path(attempt_id, replica, "claim"), claim)

    def keep_note(
        self, attempt_id: AttemptId, replica: Replica, kind: str, content: Content
    ) -> None:
        """Stores a note on the replica's launcher, in place of an earlier one. Raises OSError."""
        replace(self._note_path(attempt_id, replica, kind), content)

    def read_note(self, attempt_id: AttemptId, replica: Replica, kind: str) -> Content | None:
        return _read(self._note_path(attempt_id, replica, kind))

    def keep_report(self, attempt_id: AttemptId, replica: Replica, report: LauncherReport) -> None:
        """Stores a launcher's report; an unchanged one only renews its time. Raises OSError."""
        path = self._note_path(attempt_id, replica, "report")
        if report == replica.report:
            os.utime(path)
        else:
            said = {
                each.name: getattr(report, each.name) for each in fields(report) if each.compare
            }
            replace(path, {**said, "state": report.state.value})

    def discard(self, attempt_id: AttemptId) -> None:
        """Removes the attempt's files. Raises OSError if they can't be moved away."""
        trash = self._root / f"{_TRASH}{secrets.token_hex(8)}"
        try:
            # In one step: replicas of half an attempt could look as if they had yet to start.
            (self._root / attempt_id).rename(trash)
        except FileNotFoundError:
            return
        finally:
            self._written.pop(attempt_id, None)
        shutil.rmtree(trash, ignore_errors=True)

    def _path(self, attempt_id: AttemptId, replica: Replica, kind: str) -> Path:
        return self._root / attempt_id / _start(replica.name, replica.restart, kind)

    def _note_path(self, attempt_id: AttemptId, replica: Replica, kind: str) -> Path:
        return self._root / attempt_id / f"{replica.name}.{replica.allocation}.{kind}"

    def _run_path(self, attempt_id: AttemptId, replica: Replica) -> Path:
        return self._path(attempt_id, replica, _run_kind(replica.moved))


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


def _start(replica: str, restart: int, kind: str) -> str:
    return f"{replica}~{restart}.{kind}"


def _run_kind(moved: int | None) -> str:
    return "run" if moved is None else f"{moved}.run"


def _read_moved(path: Path) -> int | None:
    """Returns the allocation that the start was moved to; None without such a mark."""
    return (_read(path) or {}).get("allocation")


def _find_starts(names: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        if name.endswith(".ticket"):
            replica, _, number = name.removesuffix(".ticket").rpartition("~")
            found[replica] = max(int(number), found.get(replica, -1))
    return found


@dataclass(frozen=True)
class _Directory:
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
            found = _read(f"{self.path}/{name}")
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
            content = _read(f"{self.path}/{name}") or {}
            known = self.written[name] = {"file": file, "content": content}
        return status.st_mtime, known["content"]


def _load_replica(files: _Directory, name: str, restart: int) -> Replica:
    ticket = files.read(_start(name, restart, "ticket")) or {"allocation": 0}
    gone = _start(name, restart, "gone")
    end = files.read(gone)
    run = files.read(_start(name, restart, _run_kind(None)))
    moved = run.get("allocation") if ticket.get("in_place") else None
    about = f"{name}.{ticket['allocation'] if moved is None else moved}"
    contact, said = files.read_replaced(f"{about}.report")
    return Replica(
        name=name,
        restart=restart,
        ticket=ticket,
        stopped=_start(name, restart, "stop") in files.present,
        moved=moved,
        given=_start(name, restart, _run_kind(moved)) in files.present,
        gone=str(end.get("reason", "it ended")) if gone in files.present else None,
        cause=_read_cause(end),
        claim=files.read(f"{about}.claim") or None,
        report=_decode(said) if said else None,
        contact=contact,
    )


def _decode(said: Content) -> LauncherReport:
    return LauncherReport(**{**said, "state": LauncherState(said["state"])})


def _make_end(reason: str, cause: EndCause) -> Content:
    # Earlier servers read `cancelled` alone.
    return {"reason": reason, "cause": cause.value, "cancelled": cause is EndCause.CANCELLED}


def _read_cause(end: Content) -> EndCause:
    """Returns the cause in a file of an end; one of a later server's is unknown."""
    try:
        return EndCause(end["cause"])
    except (KeyError, ValueError):
        return EndCause.CANCELLED if end.get("cancelled") else EndCause.UNKNOWN


def _load_allocation(files: _Directory, number: int) -> Allocation:
    ended = files.read(f"~{number}.ended")
    _, bound = files.read_replaced(f"~{number}.job")  # it may be removed and made again
    return Allocation(
        number,
        tuple(files.read(f"~{number}.allocation").get("replicas", ())),
        str(bound.get("id", "")),
        str(ended["reason"]) if ended else None,
        _read_cause(ended),
        f"~{number}.silent" in files.present,
    )


def _read(path: str | Path) -> Content | None:
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_once(path: Path, content: Content) -> Content:
    """Writes ``content`` if the file doesn't exist; returns the file's content. Raises OSError."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        _write(part, content)
        # A link, not a rename: it fails where the name exists. So one of several servers writes the
        # file, and the others read what that has written.
        os.link(part, path)
        # What follows from the file, such as a running job, may outlive a power cut: so must it.
        _sync(path.parent)
    except FileExistsError:
        return _read(path) or content
    finally:
        part.unlink(missing_ok=True)
    return content


def replace(path: Path, content: Content) -> None:
    """Replaces a file at once: readers see the old content or the new one. Raises OSError."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        _write(part, content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _write(path: Path, content: Content) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
