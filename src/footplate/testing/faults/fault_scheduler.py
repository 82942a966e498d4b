"""Makes planned faults happen: one look at the service after another."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from footplate.domain.errors import NotFound, ServiceError
from footplate.domain.job_states import State
from footplate.domain.names import parse_job_name
from footplate.testing.faults.processes import age_s, find_program, find_supervisor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from footplate.client.service import Service
    from footplate.domain.names import JobName
    from footplate.testing.faults.fault import Fault
    from footplate.testing.faults.service_location import Place


_ATTEMPT = re.compile(r"([A-Za-z0-9_]+)-(\d+)")
_RESTART = "~"
"""Stands between the name of a replica and the number of its restart in place."""


@dataclass(frozen=True)
class Home:
    """The directory of one start of a replica. ``restart`` counts an attempt's starts."""

    path: Path
    restart: int


@dataclass(frozen=True)
class Attempt:
    """One start of all replicas of a job. ``uid`` is the job's internal id in the service."""

    uid: str
    number: int
    path: Path

    def homes(self) -> dict[str, Home]:
        """Returns the newest home of each replica, by name; none once the attempt is removed."""
        newest: dict[str, Home] = {}
        with suppress(OSError):  # it was removed meanwhile
            for path in self.path.iterdir():
                replica, _, restart = path.name.partition(_RESTART)
                home = Home(path, int(restart or 0))
                if home.restart >= newest.get(replica, home).restart:
                    newest[replica] = home
        return newest

    def job(self) -> str:
        """Returns the job's resource name; '' until a supervisor has its task."""
        for home in self.homes().values():
            with suppress(OSError, ValueError, KeyError, TypeError):  # it was removed meanwhile
                return str(json.loads((home.path / "task.json").read_bytes())["job"])
        return ""


def find_attempts(data_dir: Path) -> list[Attempt]:
    """Returns the attempts that aren't removed yet, the oldest first."""
    found = []
    for path in (data_dir / "replicas").glob("*-*"):
        match = _ATTEMPT.fullmatch(path.name)
        with suppress(OSError):  # it was removed meanwhile
            if match:
                attempt = Attempt(match.group(1), int(match.group(2)), path)
                found.append((path.stat().st_mtime_ns, attempt))
    return [attempt for _, attempt in sorted(found, key=lambda each: each[0])]


class LineCounter:
    """Counts the lines of each start of a replica. It requests each line only once."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, int, int]] = Counter()
        self._cursor = 0

    def update(self, client: Service, job: JobName) -> None:
        """Counts new lines. Raises ServiceError."""
        for line in client.logs(job, cursor=self._cursor):
            self._counts[line.replica, line.attempt, line.restart] += 1
            self._cursor = line.cursor

    def of(self, replica: str, attempt: int, restart: int) -> int:
        return self._counts[replica, attempt, restart]

    def most(self, replica: str) -> int:
        """Returns the most lines that any start of the replica has."""
        counts = (count for (name, *_), count in self._counts.items() if name == replica)
        return max(counts, default=0)


class JobView:
    """A job in the service's view."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state: State | None = None
        """None: not known, as when no server runs."""
        self.lines = LineCounter()

    def update(self, place: Place, *, lines: bool) -> None:
        """Reads state and lines, the state first: after a job's end no line follows."""
        self.state = None
        job = parse_job_name(self.name)
        try:
            with place.connect() as client:
                state = client.job(job).state
                if lines:
                    self.lines.update(client, job)
                self.state = state
        except NotFound:
            self.state = State.CANCELLED
        except ServiceError:
            return


class Watch:
    """Watches jobs, and triggers the faults that are due."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._jobs: dict[str, JobView] = {}
        """The jobs that faults are for, by uid."""
        self._lock = Lock()

    def started(self) -> frozenset[str]:
        """Returns the uids of all jobs that have started and aren't removed yet."""
        return frozenset(attempt.uid for attempt in find_attempts(self._place.data_dir))

    def bind(self, faults: Iterable[Fault]) -> list[Attempt]:
        """Assigns ``faults`` to jobs that have started. Returns the attempts of all jobs."""
        attempts = find_attempts(self._place.data_dir)
        with self._lock:
            for fault in faults:
                if not fault.uid:
                    self._bind(fault, attempts)
        return attempts

    def inspect(self, faults: Sequence[Fault]) -> None:
        """Triggers the faults that are due; all ``faults`` may still occur."""
        attempts = self.bind(faults)
        bound: dict[str, list[Fault]] = defaultdict(list)
        for fault in faults:
            if fault.uid and fault.waits:
                bound[fault.uid].append(fault)
        for uid, of_job in bound.items():
            self._look_at(of_job, [attempt for attempt in attempts if attempt.uid == uid])

    def _bind(self, fault: Fault, attempts: Iterable[Attempt]) -> None:
        for attempt in attempts:
            if fault.job is None and attempt.uid in fault.seen:
                continue
            name = attempt.job()
            if not name and fault.job is None:
                return  # which job it is will be known in a moment
            if name and fault.job in (None, name, name.rpartition("/")[2]):
                self._jobs.setdefault(attempt.uid, JobView(name))
                fault.uid, fault.job = attempt.uid, name
                _check_replica(fault, attempt)
                return
        fault.trouble = (
            "no job has started since the fault was planned"
            if fault.job is None
            else "no job of this name is running: the job hasn't started, or has ended"
        )

    def _look_at(self, faults: Sequence[Fault], attempts: Sequence[Attempt]) -> None:
        job = self._jobs[faults[0].uid]
        if not attempts or not all(_is_immediate(fault) for fault in faults):
            job.update(self._place, lines=any(f.trigger.after_lines for f in faults))
        for fault in faults:
            if attempts:
                self._strike(fault, job, max(attempts, key=lambda each: each.number))
            if job.state is not None and job.state.terminal and fault.waits:
                fault.give_up(
                    "the job ended before the fault, in the state "
                    f"{job.state.value}{_so_far(fault, job)}"
                )

    def _strike(self, fault: Fault, job: JobView, attempt: Attempt) -> None:
        home = attempt.homes().get(fault.replica)
        if home is None or find_supervisor(home.path) is None:
            fault.trouble = "the replica has no machine"
            return
        life = (attempt.number, home.restart)
        if life in fault.struck or not _is_due(fault, job, attempt.number, home):
            return
        if fault.action.do(home.path):
            fault.happened(life)


def _check_replica(fault: Fault, attempt: Attempt) -> None:
    replicas = sorted(attempt.homes())
    if replicas and fault.replica not in replicas:
        fault.give_up(f"the job has no replica {fault.replica!r}; it has: {', '.join(replicas)}")


def _is_immediate(fault: Fault) -> bool:
    """Returns whether the fault needs no facts that only a server knows."""
    trigger = fault.trigger
    return fault.action.to_machine and trigger.after_lines is None and trigger.after_s is None


def _is_due(fault: Fault, job: JobView, attempt: int, home: Home) -> bool:
    if _is_immediate(fault):
        return True
    wanted = fault.trigger.after_lines
    if wanted is not None:
        printed = job.lines.of(fault.replica, attempt, home.restart)
        fault.trouble = f"the replica has printed {printed} lines so far"
        return printed >= wanted
    program = find_program(home.path)
    if job.state is not State.RUNNING or program is None:
        fault.trouble = "the program of the replica isn't running"
        return False
    return age_s(program) >= (fault.trigger.after_s or 0.0)


def _so_far(fault: Fault, job: JobView) -> str:
    if fault.trigger.after_lines is None:
        return ""
    count = job.lines.most(fault.replica)
    return f"; the replica printed {count} line{'s' * (count != 1)}"
