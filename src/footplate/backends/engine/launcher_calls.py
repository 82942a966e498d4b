"""Answers launchers, from the files of their attempts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from footplate.backends.engine.attempt import Attempt, Content, Replica
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.launcher_tokens import LauncherBearer, LauncherTokens, WarmBearer
from footplate.backends.engine.warm_launchers import WarmLaunchers
from footplate.domain.errors import NotFound, Unavailable
from footplate.domain.launchers import LauncherReport, LauncherState
from footplate.domain.names import AttemptId
from footplate.protocol.launcher import LauncherAnswer, WantedStart
from footplate.protocol.ticket import SupervisorTicket

LEAVE = LauncherAnswer(leave=True)
LOOK_S, LEADER_LOOK_S = 2.0, 60.0


class LauncherCalls:
    """Implements the port ``Launchers`` with the files of each engine, by its name.

    ``tickets`` make an engine's tickets from the replica's own values; ``archives`` are the files
    that launchers may fetch, by their SHA-256. ``warm`` has the engines whose launchers wait for
    their next replica.
    """

    def __init__(
        self,
        tokens: LauncherTokens,
        files: Mapping[str, AttemptFiles],
        tickets: Mapping[str, Callable[..., SupervisorTicket]],
        archives: Mapping[str, Path],
        warm: Mapping[str, WarmLaunchers] = MappingProxyType({}),
    ) -> None:
        self._tokens = tokens
        self.warm = warm
        self.files = files
        self._tickets = tickets
        self._archives = archives
        self._listeners: dict[str, Callable[[AttemptId, str], None]] = {}
        self._waiting: dict[tuple[str, AttemptId], dict[str, set[Callable[[], None]]]] = {}
        self._mutex = threading.Lock()

    def listen(self, engine: str, changed: Callable[[AttemptId, str], None] | None) -> None:
        """Makes each report of a launcher that differs from its previous one call ``changed``, with
        the replica.
        """
        with self._mutex:
            self._listeners.pop(engine, None)
            if changed is not None:
                self._listeners[engine] = changed

    def wake(
        self, engine: str, attempt_id: AttemptId, replicas: Iterable[str] | None = None
    ) -> None:
        """Wakes the launchers of these replicas of an attempt, or of all: they may have work."""
        with self._mutex:
            waiting = self._waiting.get((engine, attempt_id), {})
            meant = waiting if replicas is None else replicas
            calls = [call for replica in meant for call in waiting.get(replica, ())]
        for call in calls:
            call()

    def hold(self, token: str, wake: Callable[[], None]) -> Callable[[], None]:
        bearer = self._tokens.check(token)
        if isinstance(bearer, WarmBearer):
            warm = self.warm.get(bearer.engine)
            return (lambda: None) if warm is None else warm.hold(bearer.job, wake)
        key = (bearer.engine, bearer.attempt_id)
        with self._mutex:
            waiting = self._waiting.setdefault(key, {})
            waiting.setdefault(bearer.replica, set()).add(wake)

        def release() -> None:
            with self._mutex:
                waiting = self._waiting.get(key, {})
                held = waiting.get(bearer.replica, set())
                held.discard(wake)
                if not held:
                    waiting.pop(bearer.replica, None)
                if not waiting:
                    self._waiting.pop(key, None)

        return release

    def look_s(self, token: str) -> float:
        bearer = self._tokens.check(token)
        # The leader writes all that launchers wait for, and wakes them.
        with self._mutex:
            leads = bearer.engine in self._listeners
        look_s = LEADER_LOOK_S if leads else LOOK_S
        if isinstance(bearer, WarmBearer) and bearer.engine in self.warm:
            return min(look_s, self.warm[bearer.engine].look_s(bearer.job))
        return look_s

    def archive(self, token: str, digest: str) -> Path:
        self._tokens.check(token)
        path = self._archives.get(digest)
        if path is None:
            raise NotFound(f"the server has no archive with the digest {digest[:64]!r}")
        return path

    def exchange(self, token: str, report: LauncherReport) -> LauncherAnswer:
        bearer = self._tokens.check(token)
        files = self.files.get(bearer.engine)
        if files is None:
            return LEAVE
        if isinstance(bearer, WarmBearer):
            warm = self.warm.get(bearer.engine)
            return LEAVE if warm is None else warm.call(bearer, report)
        try:
            return self._answer(files, bearer, report)
        except OSError as error:
            raise Unavailable(
                f"the server can't store the launcher's report: {error.strerror}"
            ) from error

    def _answer(
        self, files: AttemptFiles, bearer: LauncherBearer, report: LauncherReport
    ) -> LauncherAnswer:
        # Not its peers: all launchers of a gang call at the same time.
        attempt = files.load(bearer.attempt_id, bearer.replica)
        replica = None if attempt is None else attempt.replicas.get(bearer.replica)
        if (
            attempt is None
            or replica is None
            or not _serves(files, attempt, replica, bearer, report)
        ):
            return LEAVE
        # First what follows from the report: by itself the end of a replica looks like its loss.
        answer = self._wanted(files, attempt, replica, report)
        files.keep_report(attempt.id, replica, report)
        if report != replica.report:
            with self._mutex:
                listener = self._listeners.get(bearer.engine)
            if listener is not None:
                listener(attempt.id, replica.name)
        return answer

    def _wanted(
        self, files: AttemptFiles, attempt: Attempt, replica: Replica, report: LauncherReport
    ) -> LauncherAnswer:
        if report.restart == replica.restart:
            if report.state is LauncherState.GONE and not report.ending and replica.gone is None:
                files.set_gone(attempt.id, replica, report.reason or "it ended")
            ends = report.state is LauncherState.GONE or report.stopping
            return LauncherAnswer(stop=(replica.stopped or replica.gone is not None) and not ends)
        if replica.gone is not None or report.ending:
            return LauncherAnswer()
        if not files.give(attempt.id, replica):
            return LEAVE
        stop = files.is_stopped(attempt.id, replica)
        engine = next(name for name, each in self.files.items() if each is files)
        token, number = str(replica.ticket["token"]), replica.restart
        ticket = self._tickets[engine](token=token, restart=number)
        warm = self.warm[engine].issue(attempt, report.job) if engine in self.warm else ""
        return LauncherAnswer(stop=stop, run=WantedStart(number, ticket, warm))


def _serves(
    files: AttemptFiles,
    attempt: Attempt,
    replica: Replica,
    bearer: LauncherBearer,
    report: LauncherReport,
) -> bool:
    """Returns whether this launcher is the one that serves the replica."""
    allocation = attempt.allocations.get(bearer.allocation)
    if allocation is None or allocation.ended is not None:
        return False
    if replica.allocation != allocation.number:
        return False
    is_new = bool(report.job) and report.job != allocation.job
    if is_new and files.bind(attempt.id, allocation.number, report.job) != report.job:
        return False
    kept = replica.claim or files.claim(attempt.id, replica, _claim(report))
    return bool(kept["incarnation"] == report.incarnation)


def _claim(report: LauncherReport) -> Content:
    """Returns a launcher's claim, with the boot of its node: by its id and, in this machine's time,
    by its moment.
    """
    claim: Content = {"incarnation": report.incarnation, "node": report.node, "job": report.job}
    if not report.boot_id:  # of an earlier version
        return claim
    return {**claim, "boot": {"id": report.boot_id, "booted_s": time.time() - report.up_s}}
