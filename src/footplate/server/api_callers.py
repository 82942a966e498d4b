"""Tells programs of jobs from users of the machine, by their connections on the loopback.

In order: the user id, where programs have ids of their own; the processes above the caller; its
control group; the mark in its environment. A caller in another process namespace, or one that no
process is found for, is unknown.
"""

from __future__ import annotations

import errno
import json
import os
import pwd
import re
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from footplate.backends.local import untrusted_files
from footplate.domain.callers import Caller, CallerKind
from footplate.domain.names import AttemptId
from footplate.protocol.isolation_record import IsolationRecord
from footplate.protocol.message import DecodeError
from footplate.replica.isolation import procfs
from footplate.replica.program_user import USER_FILE
from footplate.server.socket_owner import Endpoint, SocketOwner, find_owner, is_available

_MAX_REMEMBERED = 4096
_OVERFLOW_UID = 65534
"""What the kernel says where the id isn't one of this user namespace."""
USER = Caller(CallerKind.USER)
_CLOSED = "the caller's connection is closed"
_HIDDEN = "the server can't see which process has the caller's connection"
_ELSEWHERE = "the caller runs in another process namespace, as in a container"


class ApiCallers:
    """Finds out who calls the API. Many threads may use it.

    ``program_users`` is the result of ``program_users.resolve``. ``remote``: users may call from
    other machines, of which this kernel knows nothing.
    """

    def __init__(
        self,
        replicas: Path,
        program_users: Sequence[int | str] | None,
        *,
        remote: bool = False,
    ) -> None:
        self._remote = remote
        self._replicas = replicas
        self._program_users = program_users
        self._own = read_facts(os.getpid())
        self._lock = Lock()
        self._known: OrderedDict[int, Caller] = OrderedDict()
        """The callers by the cookies of their connections."""

    def find(self, client: tuple[str, int], server: tuple[str, int]) -> Caller:
        """Returns the owner of the end ``client`` of a connection to ``server``.

        Raises OSError if the kernel can't be asked.
        """
        if self._remote and not is_own_address(client[0]):
            return USER
        owner = find_owner(Endpoint(*client[:2]), Endpoint(*server[:2]))
        if owner is None or not owner.inode:
            return Caller(CallerKind.UNKNOWN, reason=_CLOSED, gone=True)
        with self._lock:
            known = self._known.get(owner.cookie)
        if known is not None:
            return known
        caller = self._identify(owner)
        if caller.kind is not CallerKind.UNKNOWN:
            self._remember(owner.cookie, caller)
        return caller

    def name_user(self, client: tuple[str, int], server: tuple[str, int]) -> str:
        """Returns the user at the end ``client`` of a connection to ``server``; '' if unknown.

        For another machine this is its address.
        """
        try:
            if self._remote and not is_own_address(client[0]):
                return client[0]
            owner = find_owner(Endpoint(*client[:2]), Endpoint(*server[:2]))
        except OSError:  # the kernel can't be asked: nobody is named
            return ""
        if owner is None or not owner.inode or owner.uid == _OVERFLOW_UID:
            return ""
        try:
            return pwd.getpwuid(owner.uid).pw_name
        except KeyError:
            return f"uid {owner.uid}"

    def _remember(self, cookie: int, caller: Caller) -> None:
        with self._lock:
            self._known[cookie] = caller
            if len(self._known) > _MAX_REMEMBERED:
                self._known.popitem(last=False)

    def _identify(self, owner: SocketOwner) -> Caller:
        records = read_records(self._replicas)
        if is_program_user(owner.uid, self._program_users):
            found = find_by_uid(owner.uid, records)
            if found is not None:
                return found
        holder = find_holder(owner.inode, owner.uid)
        if holder is not None:
            caller = judge(read_facts(holder), self._own, records)
        else:
            caller = judge_unseen(owner.uid, records, _is_named, _owner_of)
        if caller.kind is not CallerKind.PROGRAM and is_program_user(
            owner.uid, self._program_users
        ):
            return Caller(CallerKind.PROGRAM)
        return caller


def describe_callers(token: str | None) -> tuple[str, ...]:
    """Returns warnings that programs can't be distinguished from users, and how to change that."""
    if token is not None or is_available():
        return ()
    note = (
        "The server can't see which process calls on this machine, so programs of jobs may "
        "call the API as users do. Set a token."
    )
    return (note,)


def is_own_address(host: str) -> bool:
    """Returns whether a connection from ``host`` is from this machine. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((host.partition("%")[0], 0))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                return False
            raise
    return True


def is_program_user(uid: int, program_users: Sequence[int | str] | None) -> bool:
    """Returns whether a user id is one of programs.

    ``program_users`` is first and last id of a range, or id, group and name of one user.
    """
    if program_users is None:
        return False
    numbers = [number for number in program_users if isinstance(number, int)]
    if len(program_users) == len(numbers):
        return numbers[0] <= uid <= numbers[1]
    return uid == numbers[0]


def find_by_uid(uid: int, records: Sequence[ReplicaRecord]) -> Caller | None:
    """Returns the program with this user id; None if none has it, or several do."""
    found = {record.attempt_id for record in records if record.uid == uid}
    return Caller(CallerKind.PROGRAM, found.pop()) if len(found) == 1 else None


def judge(process: ProcessFacts, own: ProcessFacts, records: Sequence[ReplicaRecord]) -> Caller:
    """Returns whose a process is. ``own`` is the server, perhaps a program's child itself."""
    above = set(process.lineage)
    for record in records:
        if above & record.roots:
            return Caller(CallerKind.PROGRAM, record.attempt_id)
    marks = {
        mark for mark in process.marks if not any(_is_same(mark, other) for other in own.marks)
    }
    for record in records:
        if record.mark and any(_is_same(mark, record.mark) for mark in marks):
            return Caller(CallerKind.PROGRAM, record.attempt_id)
    if marks:
        return Caller(CallerKind.PROGRAM)
    if process.namespace != own.namespace:
        return Caller(CallerKind.UNKNOWN, reason=_ELSEWHERE if process.namespace else _HIDDEN)
    return USER


def judge_unseen(
    uid: int,
    records: Sequence[ReplicaRecord],
    is_named: Callable[[int], bool],
    owner_of: Callable[[str], int | None],
) -> Caller:
    """Returns who a process is that can't be inspected; trusts only a user with a name.

    If an engine of another user runs containers, no process is trusted, since theirs may have any
    user id. ``owner_of`` returns the owner of an engine's socket.
    """
    own = os.geteuid()
    foreign = any(record.engine and owner_of(record.engine) != own for record in records)
    if uid in (own, _OVERFLOW_UID) or foreign or not is_named(uid):
        return Caller(CallerKind.UNKNOWN, reason=_HIDDEN)
    return USER


def _is_same(mark: str, other: str) -> bool:
    """Returns whether one mark begins with the other; names of control groups have only a mark's
    beginning.
    """
    return bool(mark and other) and (mark.startswith(other) or other.startswith(mark))


def _is_named(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _owner_of(path: str) -> int | None:
    try:
        return Path(path.removeprefix("unix://")).stat().st_uid
    except OSError:  # it counts as another user's
        return None


_GROUP = re.compile(r"/footplate-([0-9a-f]{16,32})(?=/|$|\.)", re.MULTILINE)
"""A control group that a supervisor made, by the beginning of its mark."""
_MAX_DEPTH = 10_000


@dataclass(frozen=True)
class ProcessFacts:
    """Facts about a process. ``lineage`` is the process and its ancestors, the nearest first.

    ``marks`` are from the lineage's environments and the names of its control groups (there only
    the beginning). ``namespace`` is that of its process numbers; '' if unknown.
    """

    lineage: tuple[int, ...]
    marks: frozenset[str] = frozenset()
    namespace: str = ""


def find_holder(inode: int, uid: int, proc: Path = Path("/proc")) -> int | None:
    """Returns a process that has the socket open; None if this process can't see one.

    Looks first at processes of the user, and at the newest ones, since these are mostly the client.
    """
    link = f"socket:[{inode}]"
    with os.scandir(proc) as entries:
        pids = sorted((int(each.name) for each in entries if each.name.isdigit()), reverse=True)
    owners = {pid: _owner(proc / str(pid)) for pid in pids}
    pids.sort(key=lambda pid: owners[pid] != uid)
    return next((pid for pid in pids if _holds(proc / str(pid) / "fd", link)), None)


def read_facts(pid: int) -> ProcessFacts:
    """Reads facts of a process; if it ends meanwhile, returns those read so far.

    Raises OSError if this process has no free descriptor, since facts that aren't read mustn't make
    a program look like a user.
    """
    lineage = tuple(_climb(pid))
    marks = {mark for each in lineage for mark in procfs.read_marks(each)}
    namespace = ""
    with suppress(*procfs.UNSEEN):
        groups = Path(f"/proc/{pid}/cgroup").read_text("utf-8", "replace")
        marks.update(_GROUP.findall(groups))
        namespace = str(Path(f"/proc/{pid}/ns/pid").readlink())
    return ProcessFacts(lineage, frozenset(marks), namespace)


def _climb(pid: int) -> Iterator[int]:
    for _ in range(_MAX_DEPTH):
        if pid <= 0:
            return
        yield pid
        process = procfs.find(pid)
        pid = process.parent if process is not None else 0


def _holds(directory: Path, link: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(_read_link(entry) == link for entry in entries)
    except procfs.UNSEEN:
        return False


def _read_link(entry: os.DirEntry[str]) -> str:
    try:
        return os.readlink(entry)  # noqa: PTH115 - of thousands, a Path each would cost more
    except procfs.UNSEEN:
        return ""
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # a file below many directories, and no socket
            return ""
        raise


def _owner(path: Path) -> int:
    try:
        return path.stat().st_uid
    except procfs.UNSEEN:
        return -1


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
