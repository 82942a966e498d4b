"""Reads what replicas' directories say of their processes: enough to know a program by."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footplate.backends.local import untrusted_files
from footplate.domain.names import AttemptId
from footplate.protocol.isolation_record import IsolationRecord
from footplate.protocol.message import DecodeError
from footplate.replica.isolation import procfs
from footplate.replica.program_user import USER_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CONTAINER = "container"


@dataclass(frozen=True)
class ReplicaRecord:
    """A replica that may have processes. All of them are below one of the processes ``roots``.

    ``uid`` is a user id that no other program has. ``mark`` is in the environment and in the names
    of control groups. ``engine`` is the socket of the engine that runs its container.
    """

    attempt_id: AttemptId
    roots: frozenset[int] = frozenset()
    uid: int | None = None
    mark: str = ""
    engine: str = ""


def read_records(replicas: Path) -> tuple[ReplicaRecord, ...]:
    """Returns the records of all replicas in the directory, including parts not yet removed."""
    return tuple(
        _read_record(AttemptId(attempt.name), home.path)
        for attempt in _list_directories(replicas)
        for home in _list_directories(attempt)
    )


def _list_directories(path: Path | os.DirEntry[str]) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            found = [each for each in entries if not each.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return
    yield from (each for each in found if each.is_dir(follow_symlinks=False))


def _read_record(attempt_id: AttemptId, home: str) -> ReplicaRecord:
    isolation = _read_isolation(home)
    user = _read_object(f"{home}/{USER_FILE}").get("user")
    return ReplicaRecord(
        attempt_id,
        frozenset(_find_roots(home, isolation)),
        user[0] if isinstance(user, list) and user and isinstance(user[0], int) else None,
        isolation.mark,
        isolation.engine if isolation.containment_mode == _CONTAINER else "",
    )


def _find_roots(home: str, isolation: IsolationRecord) -> Iterator[int]:
    """Yields the supervisor, its newest child, and the first process of its container.

    A process number counts only while that process still has it.
    """
    pid = (untrusted_files.read(f"{home}/pid") or b"").strip()
    if pid.isdigit() and len(pid) < 10 and untrusted_files.is_locked(f"{home}/lock"):
        yield int(pid)
    roots = ((isolation.pid, isolation.pid_start), (isolation.init, isolation.start))
    for number, started in roots:
        if number > 1:
            process = procfs.find(number)
            if process is not None and process.start == started:
                yield number


def _read_isolation(home: str) -> IsolationRecord:
    try:
        return IsolationRecord.decode(_read_object(f"{home}/isolation.json"))
    except DecodeError:
        return IsolationRecord()


def _read_object(path: str) -> dict[str, Any]:
    content = untrusted_files.read(path)
    if content is None:
        return {}
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
