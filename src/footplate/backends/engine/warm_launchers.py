"""Launchers that have no replica any more, and keep their engine's job for the next one.

Nothing of this is stored: a launcher that waits calls with a token that says all, and the next
server hears of it by its next call. What is stored is the allocation of the attempt that was given
to it, which is bound to its job from the beginning.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace

from footplate.backends.engine.attempt import Attempt, Content
from footplate.backends.engine.engine import EngineJob, JobPhase
from footplate.backends.engine.launcher_tokens import LauncherBearer, LauncherTokens, WarmBearer
from footplate.domain.launchers import LauncherReport
from footplate.ports.engines import SLURM_LABELS
from footplate.protocol.launcher import LauncherAnswer

TIME_SLACK_S = 900.0
"""What a limit of the engine's must leave beyond the running time of the next job."""
LEAST_SHARE = 0.9
"""The part of its time that a job without a limit of its own must find left."""


@dataclass(frozen=True)
class WarmSettings:
    """The settings of a region. ``keep_s`` is how long a launcher waits for its next job.
    ``version`` differs wherever the region's table or the launcher's program differs: no launcher
    waits beyond a change of them. ``max_replicas`` bounds running and waiting launchers together
    (0: no bound).
    """

    keep_s: float
    version: str
    max_replicas: int = 0


@dataclass(frozen=True)
class WarmLauncher:
    """A launcher that waits in ``job`` of the engine, for a start of the ``kind`` that it ran."""

    job: str
    kind: str
    incarnation: str
    node: str
    since_s: float


def find_kind(
    version: str, project: str, run_limit_s: float, labels: Mapping[str, str], ticket: Content
) -> str:
    """Returns what two replicas have in common if one job of the engine can run either."""
    chosen = {name: label for name, label in labels.items() if name.startswith(SLURM_LABELS)}
    parts = [project, run_limit_s, chosen, ticket.get("machine", {}), ticket.get("image", "")]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return f"{version}-{digest[:32]}"


def choose(
    waiting: Iterable[WarmLauncher],
    kind: str,
    run_limit_s: float,
    jobs: Mapping[str, EngineJob],
    now_unix_s: float,
) -> WarmLauncher | None:
    """Returns the launcher that takes a start; None if none can.

    ``jobs`` are the engine's as it listed them last. The launcher that began to wait last is
    taken, so that those that aren't needed leave.
    """
    fit = [
        each
        for each in waiting
        if each.kind == kind
        if (job := jobs.get(each.job)) is not None and _can_run(job, run_limit_s, now_unix_s)
    ]
    return max(fit, key=lambda each: each.since_s, default=None)


def _can_run(job: EngineJob, run_limit_s: float, now_unix_s: float) -> bool:
    """Returns whether the engine's job has time for another start of the kind that it was
    submitted for, which had all of it.
    """
    if job.phase is not JobPhase.RUNNING or job.ending or job.suspended or not job.ends_s:
        return False
    share_s = (job.ends_s - job.started_s) * LEAST_SHARE
    needed_s = min(run_limit_s + TIME_SLACK_S, share_s) if run_limit_s else share_s
    return job.ends_s - now_unix_s >= needed_s


class WarmLaunchers:
    """The waiting launchers of one region. Every method may be called on any thread."""

    def __init__(
        self,
        region: str,
        tokens: LauncherTokens,
        settings: WarmSettings,
        monotonic: Callable[[], float] = time.monotonic,
        unix_time: Callable[[], float] = time.time,
    ) -> None:
        self._region = region
        self._tokens = tokens
        self._settings = settings
        self._monotonic = monotonic
        self._unix_time = unix_time
        self._waiting: dict[str, WarmLauncher] = {}
        """By the engine's job, also those whose time is over, until the job is."""
        self._given: dict[tuple[str, str], LauncherBearer] = {}
        """What was given to a launcher, by its job and incarnation."""
        self._held: dict[str, list[Callable[[], None]]] = {}
        """Calls that wait for an answer, by the engine's job: those launchers live."""
        self._mutex = threading.Lock()
        self.arrived: Callable[[str], None] = lambda _: None
        """Called with the engine's job in which another launcher waits."""

    # What launchers call.

    def issue(self, attempt: Attempt, job: str) -> str:
        """Returns the token with which the attempt's launcher may wait when its replica has ended;
        '' if that is one of several.
        """
        # Of the attempt's replicas only the launcher's may have been read, but all allocations.
        names = {name for each in attempt.allocations.values() for name in each.replicas}
        if len(names) != 1:
            return ""
        [replica] = attempt.replicas.values()
        kind = self.kind(attempt.project, attempt.run_limit_s, attempt.labels, replica.ticket)
        return self._tokens.issue(WarmBearer(self._region, job, kind))

    def call(self, bearer: WarmBearer, report: LauncherReport) -> LauncherAnswer:
        job, is_new = bearer.job, False
        with self._mutex:
            version = bearer.kind.partition("-")[0]
            if report.ending or version != self._settings.version:
                self._waiting.pop(job, None)
                return LauncherAnswer(leave=True)
            given = self._given.get((job, report.incarnation))
            if given is not None:
                return LauncherAnswer(serve=self._tokens.issue(given))
            known = self._waiting.get(job)
            if known is None or known.incarnation != report.incarnation:
                is_new, now_s = True, self._monotonic()
                known = WarmLauncher(job, bearer.kind, report.incarnation, report.node, now_s)
                self._waiting[job] = known
            leaves = self._left_s(known) <= 0
        if is_new:
            self.arrived(job)
        return LauncherAnswer(leave=leaves)

    def hold(self, job: str, wake: Callable[[], None]) -> Callable[[], None]:
        """Calls ``wake`` when the answer to the launcher may have changed, as ``Launchers.hold``
        does.
        """
        with self._mutex:
            self._held.setdefault(job, []).append(wake)

        def release() -> None:
            with self._mutex:
                held = self._held.get(job, [])
                held.remove(wake)
                if not held:
                    self._held.pop(job, None)

        return release

    def look_s(self, job: str) -> float:
        """Returns after how long the launcher's call is to be answered anew."""
        with self._mutex:
            known = self._waiting.get(job)
            return self._settings.keep_s if known is None else max(0.0, self._left_s(known))

    def _left_s(self, known: WarmLauncher) -> float:
        return known.since_s + self._settings.keep_s - self._monotonic()

    # What the backend calls.

    def kind(
        self, project: str, run_limit_s: float, labels: Mapping[str, str], ticket: Content
    ) -> str:
        return find_kind(self._settings.version, project, run_limit_s, labels, ticket)

    def find(
        self, kind: str, run_limit_s: float, jobs: Mapping[str, EngineJob]
    ) -> WarmLauncher | None:
        """Returns a launcher that can run a start of this kind at once; None if there is none."""
        with self._mutex:
            return choose(self._free(), kind, run_limit_s, jobs, self._unix_time())

    def give(self, launcher: WarmLauncher, bearer: LauncherBearer) -> None:
        """Makes the launcher serve a replica, whose allocation is bound to its job by now."""
        with self._mutex:
            self._waiting.pop(launcher.job, None)
            self._given[launcher.job, launcher.incarnation] = bearer
        self._wake((launcher.job,))

    def waiting(self) -> tuple[WarmLauncher, ...]:
        """Returns the launchers that wait now."""
        with self._mutex:
            return tuple(self._free())

    def describe(self) -> tuple[str, ...]:
        """Returns a line for operators on the jobs of the engine that wait for a replica."""
        jobs = sorted(each.job for each in self.waiting())
        listed = f" ({', '.join(jobs)})" if jobs else ""
        return (f"kept warm: {len(jobs)} jobs hold nodes, and wait for a replica{listed}",)

    @property
    def is_bounded(self) -> bool:
        return self._settings.max_replicas > 0

    def make_room(self, replicas: int, taken: WarmLauncher | None) -> None:
        """Gives back what ``max_replicas`` doesn't allow beside so many replicas in the engine, one
        of which is to run by the launcher ``taken``.
        """
        others = [each for each in self.waiting() if each != taken]
        others.sort(key=lambda each: each.since_s, reverse=True)
        self.give_back(
            each.job for each in others[max(0, self._settings.max_replicas - replicas) :]
        )

    def give_back(self, jobs: Iterable[str]) -> None:
        """Lets the launchers of these jobs of the engine leave."""
        ending = tuple(jobs)
        with self._mutex:
            for job in ending:
                if job in self._waiting:
                    over = replace(self._waiting[job], since_s=float("-inf"))
                    self._waiting[job] = over
        self._wake(ending)

    def keep_only(self, jobs: Container[str]) -> None:
        """Forgets the launchers of all other jobs."""
        with self._mutex:
            held = self._held
            self._waiting = {
                job: each for job, each in self._waiting.items() if job in jobs or job in held
            }
            self._given = {key: each for key, each in self._given.items() if key[0] in jobs}

    def _free(self) -> list[WarmLauncher]:
        found = self._waiting.values()
        return [each for each in found if each.job in self._held and self._left_s(each) > 0]

    def _wake(self, jobs: Iterable[str]) -> None:
        with self._mutex:
            calls = [call for job in jobs for call in self._held.get(job, ())]
        for call in calls:
            call()
