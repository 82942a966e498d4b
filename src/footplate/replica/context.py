"""The context that all phases of a replica share."""

from __future__ import annotations

from footplate.replica.cache_locks import Leases
from footplate.replica.directory_locks import DirectoryLocks
from footplate.replica.disk_space import give_step
from footplate.replica.isolation import mode_selection
from footplate.replica.isolation.promised import Promised
from footplate.replica.realpath import find_real

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping, Sequence

    from footplate.replica.control_requests import ControlRequests
    from footplate.replica.isolation.containment import Child, Containment
    from footplate.replica.isolation.resource_limits import Limits
    from footplate.replica.isolation.users import User
    from footplate.replica.journal import Journal
    from footplate.replica.report_client import ReportClient
    from footplate.replica.workdir import Home


PROMISED_FILE = "promised.json"
"""The file in HOME that says what isolation programs and builds have."""


class Context:
    """``command`` starts this supervisor's archive; ``host`` is the environment it was given."""

    def __init__(
        self,
        home: Home,
        ticket: Mapping[str, Any],
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
        self._kept: dict[str, object] = {}
        self._promised: Promised | None = None
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
        self.clean = True
        """Nothing is known to be left of what was started."""

    @property
    def task(self) -> dict[str, Any]:
        return self.report_client.task or {}

    def promise(self, *, limited: bool = False) -> Promised:
        """Returns what the service found at its start; finds it where the service hasn't said.

        Builds read it in HOME. Raises SpawnFailed, OSError: for a reason that may pass.
        """
        if self._promised is None:
            answer = self.ticket.get("promised")
            if not answer:
                from footplate.replica import probe  # where the service said it, nobody pays for it

                answer = probe.find_promised(self.ticket, self.home.path, limited=limited)
            self.home.write(PROMISED_FILE, answer)
            self._promised = Promised(answer)
        return self._promised

    @property
    def cache(self) -> str:
        return find_real(str(self.ticket.get("cache") or ""))

    @property
    def own_files(self) -> list[str]:
        """The directories that the program fills, and that go with it."""
        inside = "" if self.containment is None else self.containment.written
        paths = (self.home.work, self.home.tmp, self.home.tools, self.home / "root", inside)
        return [path for path in paths if path]

    def seconds(self, name: str, default: float) -> float:
        value = self.task.get(name)
        return float(value) if isinstance(value, (int, float)) else default

    def keep_record(self) -> None:
        """Writes the record that cleanup needs, before it is needed."""
        if self.containment is not None:
            record = mode_selection.describe(self.containment, self.mark)
            record.update(self.child.record() if self.child is not None else {})
            if record != self._kept:
                self.home.write("isolation.json", record)
                self._kept = record

    def kill(self) -> None:
        """Kills everything that was started, as far as the containment mode allows."""
        if self.containment is not None:
            self.clean = self.containment.kill()

    def end_child(self) -> int | None:
        """Kills the child with all that it started, and gives its wait status."""
        self.control_requests.close()
        self.kill()
        child, self.child = self.child, None
        return None if child is None else child.reap()

    def end(self) -> None:
        """The program is dead: its exit report may use the disk reserve."""
        self.report_client.end()
        reserve = str(self.ticket.get("reserve") or "")
        self.journal.end(lambda: give_step(reserve))

    def clear_up(self) -> None:
        """Gives back what was taken for a program of which nothing is left."""
        self.leases.end()
        self.directory_locks.release()
        if self.containment is not None:
            self.containment.close()
