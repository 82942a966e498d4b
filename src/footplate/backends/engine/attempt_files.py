"""The files of attempts on an engine: see the package."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

from footplate.backends.engine.attempt import (
    Attempt,
    Content,
    Directory,
    Replica,
    find_starts,
    load_allocation,
    load_replica,
    read_file,
    run_kind,
    start_file,
)
from footplate.backends.gang_names import NAME
from footplate.domain.errors import Unavailable
from footplate.domain.launchers import LauncherReport
from footplate.domain.names import AttemptId
from footplate.ports.backend import EndCause

_MAKING, _TRASH = ".making-", ".trash-"


class AttemptFiles:
    """The files of attempts. Every method may be called by several processes at once.

    What is written only once is read only once: ``_written`` has it by attempt and file name. The
    id of an attempt is never used again.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._written: dict[AttemptId, dict[str, Content]] = {}

    def open(self) -> None:
        """Removes what an earlier server left half-created or half-removed. Raises OSError."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path in (*self.root.glob(f"{_MAKING}*"), *self.root.glob(f"{_TRASH}*")):
            shutil.rmtree(path, ignore_errors=True)

    def attempts(self) -> tuple[AttemptId, ...]:
        try:
            with os.scandir(self.root) as entries:
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
            return (self.root / attempt_id).stat().st_mtime_ns
        except (FileNotFoundError, NotADirectoryError):
            return None

    def load(self, attempt_id: AttemptId, only: str | None = None) -> Attempt | None:
        """Returns the attempt, or None if it is unknown; with ``only``, of its replicas this one
        alone.
        """
        if not NAME.fullmatch(attempt_id):
            return None
        path = f"{self.root}/{attempt_id}"
        try:
            names = os.listdir(path)  # noqa: PTH208  a Path for each name would cost as much again
        except (FileNotFoundError, NotADirectoryError):
            self._written.pop(attempt_id, None)
            return None
        newest = find_starts(n for n in names if only is None or n.startswith(f"{only}~"))
        numbers = [int(n[1:].partition(".")[0]) for n in names if n.endswith(".allocation")]
        files = Directory(path, frozenset(names), self._written.setdefault(attempt_id, {}))
        order = files.read("order")
        place = {name: index for index, name in enumerate(order.get("replicas", ()))}
        replicas = {
            name: load_replica(files, name, newest[name])
            for name in sorted(newest, key=lambda n: place.get(n, len(place)))
        }
        region, project = (str(order.get(name, "")) for name in ("region", "project"))
        limit_s, labels = float(order.get("run_limit_s", 0.0)), dict(order.get("labels", {}))
        allocations = {n: load_allocation(files, n) for n in sorted(numbers)}
        return Attempt(attempt_id, region, limit_s, replicas, allocations, project, labels)

    def newest_starts(self, attempt_id: AttemptId) -> dict[str, int]:
        """Returns the number of each replica's newest start, whatever its files contain."""
        try:
            return find_starts(os.listdir(self.root / attempt_id))  # noqa: PTH208  as in ``load``
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
        warm_job: str = "",
    ) -> None:
        """Creates the attempt with its first allocation, all at once. Raises Unavailable.

        ``warm_job`` is the engine's job in which a launcher waits for it.
        """
        making = self.root / f"{_MAKING}{secrets.token_hex(8)}"
        found = tuple(tickets)
        names = [ticket["replica"] for ticket in found]
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            making.mkdir(mode=0o700)
            about = {"region": region, "project": project, "labels": dict(labels or {})}
            order = {"replicas": names, **about, "run_limit_s": run_limit_s}
            _write(making / "order", order)
            _write(making / "~0.allocation", {"replicas": names, "warm": bool(warm_job)})
            if warm_job:
                _write(making / "~0.job", {"id": warm_job})
            for ticket in found:
                _write(making / start_file(ticket["replica"], ticket["restart"], "ticket"), ticket)
            making.rename(self.root / attempt_id)
            _sync(self.root)
        except OSError as error:
            shutil.rmtree(making, ignore_errors=True)
            if (self.root / attempt_id).is_dir():  # another server was faster
                return
            raise Unavailable(f"the server can't store the request: {error.strerror}") from error

    def add_allocation(self, attempt_id: AttemptId, first: int, replicas: list[str]) -> int:
        """Adds an allocation; returns its number, ``first`` or a later one. Raises OSError."""
        content = {"replicas": replicas}
        directory, number = self.root / attempt_id, first
        while write_once(directory / f"~{number}.allocation", content) != content:
            number += 1
        return number

    def add_ticket(self, attempt_id: AttemptId, ticket: Content) -> None:
        """Writes the ticket of a replica's start. Raises OSError."""
        name = start_file(ticket["replica"], ticket["restart"], "ticket")
        write_once(self.root / attempt_id / name, ticket)

    def bind(self, attempt_id: AttemptId, number: int, job: str) -> str:
        """Binds a job to the allocation; returns the job bound first. Raises OSError."""
        path = self.root / attempt_id / f"~{number}.job"
        return str(write_once(path, {"id": job})["id"])

    def unbind(self, attempt_id: AttemptId, number: int) -> None:
        """Lets the allocation have another job. Raises OSError.

        Nothing of the one that is bound may have run, or ever run: no launcher can name it.
        """
        (self.root / attempt_id / f"~{number}.job").unlink(missing_ok=True)

    def end(
        self, attempt_id: AttemptId, number: int, reason: str, cause: EndCause = EndCause.UNKNOWN
    ) -> None:
        """Marks the allocation as ended, with the reason. Raises OSError."""
        path = self.root / attempt_id / f"~{number}.ended"
        write_once(path, _make_end(reason, cause))

    def mark_silent(self, attempt_id: AttemptId, number: int, reason: str, cause: EndCause) -> None:
        """Marks that nodes of the allocation's job didn't answer the engine when it had ended as
        ``cause`` says. Raises OSError.
        """
        path = self.root / attempt_id / f"~{number}.silent"
        write_once(path, _make_end(reason, cause))

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
        return moved is None or self._path(attempt_id, replica, run_kind(moved)).exists()

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
        return read_file(self._note_path(attempt_id, replica, kind))

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

    def read_contact(self, attempt_id: AttemptId, replica: Replica) -> float:
        """Returns when the replica's launcher called last; 0 if it never has."""
        name = f"{replica.name}.{replica.allocation}.report"
        try:
            return os.stat(f"{self.root}/{attempt_id}/{name}").st_mtime  # noqa: PTH116  as in ``load``
        except FileNotFoundError:
            return 0.0

    def discard(self, attempt_id: AttemptId) -> None:
        """Removes the attempt's files. Raises OSError if they can't be moved away."""
        trash = self.root / f"{_TRASH}{secrets.token_hex(8)}"
        try:
            # In one step: replicas of half an attempt could look as if they had yet to start.
            (self.root / attempt_id).rename(trash)
        except FileNotFoundError:
            return
        finally:
            self._written.pop(attempt_id, None)
        shutil.rmtree(trash, ignore_errors=True)

    def _path(self, attempt_id: AttemptId, replica: Replica, kind: str) -> Path:
        return self.root / attempt_id / start_file(replica.name, replica.restart, kind)

    def _note_path(self, attempt_id: AttemptId, replica: Replica, kind: str) -> Path:
        return self.root / attempt_id / f"{replica.name}.{replica.allocation}.{kind}"

    def _run_path(self, attempt_id: AttemptId, replica: Replica) -> Path:
        return self._path(attempt_id, replica, run_kind(replica.moved))


def _read_moved(path: Path) -> int | None:
    """Returns the allocation that the start was moved to; None without such a mark."""
    return (read_file(path) or {}).get("allocation")


def _make_end(reason: str, cause: EndCause) -> Content:
    # Earlier servers read `cancelled` alone.
    return {"reason": reason, "cause": cause.value, "cancelled": cause is EndCause.CANCELLED}


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
        return read_file(path) or content
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
