"""The context that all phases of a replica share."""

from __future__ import annotations

import fcntl
import os
import time

from footplate.replica.cache_locks import Leases
from footplate.replica.disk_space import give_step
from footplate.replica.isolation import mode_selection
from footplate.replica.realpath import find_real
from footplate.safe_path import DIRECTORY, PLACE, ROOT, directory, open_directory, split

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Mapping, Sequence

    from footplate.protocol.isolation_record import IsolationRecord
    from footplate.protocol.promised import Promised
    from footplate.protocol.task import Task
    from footplate.protocol.ticket import SupervisorTicket
    from footplate.replica.control_requests import ControlRequests
    from footplate.replica.isolation.containment import Child, Containment
    from footplate.replica.isolation.resource_limits import Limits
    from footplate.replica.isolation.users import User
    from footplate.replica.journal import Journal
    from footplate.replica.report_client import ReportClient
    from footplate.replica.workdir import Home


# Locks on the directories of a program, held while its supervisor lives.
#
# Buckets remove directories in which no object is left (``footplate.buckets.empty_directories``);
# not those into which a running program is about to write.

_ATTEMPTS = 20
_RETRY_S = 0.005


class DirectoryLocks:
    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[int] = []

    def make(self, path: str) -> None:
        """Creates the directory if needed, and takes a shared lock on it. ``path`` is a real one.

        Who can't get the lock goes on without it: programs can lock their directories, too.

        Raises:
            OSError: it can't be made: something in its path is a link, say.
            ValueError: it is no path.
        """
        for _ in range(_ATTEMPTS):
            os.close(_open(path, PLACE, create=True))
            if self._share(path):
                return
            time.sleep(_RETRY_S)

    def release(self) -> None:
        while self._held:
            os.close(self._held.pop())

    def _share(self, path: str) -> bool:
        """Takes the shared lock; returns False if the directory is being removed, or was removed
        meanwhile.
        """
        try:
            descriptor = _open(path)
        except PermissionError:
            return True  # a program may write into it and not read it: nobody can remove it
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            found = _is_at(path, os.fstat(descriptor))
        except (BlockingIOError, FileNotFoundError):
            found = False
        except OSError:
            found = True  # a file system without locks
        if found:
            self._held.append(descriptor)
        else:
            os.close(descriptor)
        return found


def _open(path: str, flags: int = DIRECTORY, *, create: bool = False) -> int:
    return open_directory(ROOT, split(path), create=create, flags=flags)


def _is_at(path: str, status: os.stat_result) -> bool:
    with directory(ROOT, split(path), flags=PLACE) as found:
        return os.path.samestat(status, os.fstat(found))


PROMISED_FILE = "promised.json"
"""The file in HOME that says what isolation programs and builds have."""


class Context:
    """The objects that all phases of a supervisor use. ``command`` starts this supervisor's
    archive; ``host`` is the environment that the supervisor was given.
    """

    def __init__(
        self,
        home: Home,
        ticket: SupervisorTicket,
        mark: str,
        command: Sequence[str],
        host: Mapping[str, str],
        monotonic: Callable[[], float],
    ) -> None:
        self.home = home
        self.ticket = ticket
        self.mark = mark
        self.command = command
        self.host = host
        self.monotonic = monotonic
        self.journal: Journal
        self.report_client: ReportClient
        self.control_requests: ControlRequests
        self._kept: IsolationRecord | None = None
        self.containment: Containment | None = None
        self.child: Child | None = None
        self.started = 0
        """How often something was started in the containment."""
        self.user: User | None = None
        """Whom the program runs as, if not as this supervisor does."""
        self.wanted: Limits | None = None
        """The limits that the task asks for."""
        self.limits: Limits | None = None
        """The limits of memory, as far as it is really limited."""
        self.process_limits: Limits | None = None
        """The limits of processes, as far as their number is really limited."""
        self.user_processes = 0
        """How many its user may have, where nothing else limits them; 0: no limit."""
        self.workdir = find_real(home.work)
        """Where the files lie that the program writes to its working directory; empty: unknown."""
        self.environments: list[str] = []
        """Where the program's packages lie, the user's own first."""
        self.peak_bytes = 0
        """The most memory that its program was seen to use; 0: nobody looked."""
        self.leases = Leases()
        self.directory_locks = DirectoryLocks()
        self.directories: list[str] = []
        """The job's, as real paths, once they are made."""
        self.nested = False
        """The process that was started runs the program in a container. If a signal ends the
        program, this process exits with 128 more than the signal's number.
        """
        self.clean = True
        """Nothing is known to be left of what was started."""

    @property
    def task(self) -> Task:
        """The replica's task. Raises LookupError if the server hasn't given it yet."""
        if self.report_client.task is None:
            raise LookupError("the task isn't there yet")
        return self.report_client.task

    def promise(self, *, limited: bool = False) -> Promised:
        """Returns the isolation that the service found at its start; finds it here if the service
        hasn't.

        Builds read the result in HOME. Raises SpawnFailed, OSError for a reason that may pass.
        """
        if self.ticket.promised is None:
            self.ticket.promised = self._find_promised(limited=limited)
            self.home.write(PROMISED_FILE, self.ticket.promised.encode())
        return self.ticket.promised

    def _find_promised(self, *, limited: bool) -> Promised:
        from footplate.replica import isolation_cache  # where the service said it, nobody pays

        ticket, home, program = self.ticket, self.home.path, self.command[-1]
        kept = isolation_cache.read(ticket, home, program, limited=limited)
        if kept is not None:
            return kept
        from footplate.replica import probe  # most replicas find an answer

        found = probe.find_promised(ticket, home, limited=limited)
        isolation_cache.write(found, ticket, home, program, limited=limited)
        return found

    @property
    def cache(self) -> str:
        return find_real(self.ticket.cache)

    @property
    def own_files(self) -> list[str]:
        """The directories that the program fills, and that are removed with it."""
        inside = "" if self.containment is None else self.containment.written
        paths = (self.home.work, self.home.tmp, self.home.tools, self.home / "root", inside)
        return [path for path in paths if path]

    def keep_record(self) -> None:
        """Writes the record for cleanup, before cleanup may need it."""
        if self.containment is not None:
            record = mode_selection.describe(self.containment, self.mark)
            record.nested = self.nested
            if self.child is not None:
                self.child.fill(record)
            if record != self._kept:
                self.home.write("isolation.json", record.encode())
                self._kept = record

    def kill(self) -> None:
        """Kills everything that was started, as far as the containment mode allows."""
        if self.containment is not None:
            self.clean = self.containment.kill()

    def end_child(self) -> int | None:
        """Kills the child with all processes that it started, and returns its wait status."""
        self.control_requests.close()
        self.kill()
        child, self.child = self.child, None
        return None if child is None else child.reap()

    def end(self) -> None:
        """Notes that the program is dead: its exit report may use the disk reserve."""
        self.report_client.end()
        self.journal.end(lambda: give_step(self.ticket.reserve))

    def clear_up(self) -> None:
        """Frees what was set up for the program, once no process of it is left."""
        self.leases.end()
        self.directory_locks.release()
        if self.containment is not None:
            self.containment.close()
