"""The backend over an engine: requests stored on disk, and one thread that carries them out."""

from __future__ import annotations

import builtins
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from footplate.backends.ended_attempts import EndedAttempts
from footplate.backends.engine.allocations import Allocations
from footplate.backends.engine.attempt import Attempt, Content, make_ticket
from footplate.backends.engine.engine import Engine
from footplate.backends.engine.launcher_calls import LauncherCalls
from footplate.backends.engine.launcher_program import LauncherSettings, make_program
from footplate.backends.engine.launcher_tokens import LauncherBearer, LauncherTokens
from footplate.backends.engine.warm_launchers import WarmLauncher
from footplate.backends.gang_names import check_gang
from footplate.domain.errors import FailedPrecondition, NotLeading, Unavailable
from footplate.domain.names import AttemptId
from footplate.ports.backend import AttemptStart, Presence, ReplicaObservation, Ticket

log = logging.getLogger(__name__)

DEFAULT_POLL_S = 2.0
_IDLE_S = 30.0


class EngineBackend:
    """Runs the replicas of one region on an engine.

    ``name`` is the region's; ``service`` is the id that marks the engine's jobs as this service's.
    ``calls`` serves launchers from the same files.
    """

    def __init__(
        self,
        *,
        name: str,
        service: str,
        engine: Engine,
        settings: LauncherSettings,
        tokens: LauncherTokens,
        calls: LauncherCalls,
        poll_s: float = DEFAULT_POLL_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._calls = calls
        self._files = calls.files[name]
        self._ended = EndedAttempts(self._files.root)
        self._engine = engine
        self._poll_s = poll_s
        self._allocations = Allocations(
            engine,
            self._files,
            f"footplate-{service}-{name}.",
            partial(make_program, engine, settings, tokens, name),
            settings.limits,
            monotonic,
            settings.settle_s,
            calls.warm.get(name),
        )
        self._warm = calls.warm.get(name)
        self._mutex = threading.RLock()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._listeners: list[Callable[[AttemptId], None]] = []
        self._noted: set[AttemptId] = set()
        self._unlisted = False
        """Whether a launcher waits in a job that no list of the engine's had yet."""
        self._seen: dict[AttemptId, tuple[ReplicaObservation, ...]] = {}
        self._monotonic = monotonic

    def start(self, request: AttemptStart) -> None:
        """Starts an attempt: writes the request to disk and returns; see the port."""
        check_gang(request)
        with self._mutex:
            self._open()
            self._ended.take_back(request.attempt_id)
            attempt = self._files.load(request.attempt_id)
            if attempt is None:
                self._make(request)
            else:
                self._restart(attempt, request)
            self._withdraw_ended(request.attempt_id)
        self._wake(request.attempt_id)

    def _withdraw_ended(self, attempt_id: AttemptId) -> None:
        """Removes the files of an attempt that another server has ended meanwhile.

        Raises NotLeading if so.
        """
        try:
            self._ended.check(attempt_id)
        except NotLeading:
            self._files.discard(attempt_id)
            raise

    def _make(self, request: AttemptStart) -> None:
        tickets = [make_ticket(ticket, 0, dict(vars(ticket.machine))) for ticket in request.tickets]
        fault = self._allocations.fault(tickets)
        if fault is not None:
            raise FailedPrecondition(fault)
        warm = self._find_warm(request, tickets)
        if warm is not None:
            # It may move to a job of its own, as one that an earlier start's launcher doesn't take.
            tickets = [{**each, "in_place": True} for each in tickets]
        self._files.make(
            *(request.attempt_id, request.region, tickets, request.run_limit_s),
            *(request.project, request.labels, "" if warm is None else warm.job),
        )
        if self._warm is not None and warm is not None:
            bearer = LauncherBearer(self._name, request.attempt_id, 0, request.tickets[0].replica)
            self._warm.give(warm, bearer)

    def _find_warm(self, request: AttemptStart, tickets: list[Content]) -> WarmLauncher | None:
        """Returns a launcher that waits for such an attempt; None if there is none."""
        if self._warm is None:
            return None
        found = None
        if len(tickets) == 1:
            limit_s, labels = request.run_limit_s, request.labels
            kind = self._warm.kind(request.project, limit_s, labels, tickets[0])
            found = self._warm.find(kind, limit_s, self._allocations.jobs)
        if self._warm.is_bounded:
            there = sum(o.presence is not Presence.GONE for o in self.list())
            self._warm.make_room(there + len(tickets), found)
        return found

    def _restart(self, attempt: Attempt, request: AttemptStart) -> None:
        """Starts replicas again that are gone and older than their tickets, in place or in a new
        allocation.
        """
        late = [t for t in request.tickets if _is_later(attempt, t)]
        number = max(attempt.allocations) + 1
        moved = [t.replica for t in late if not self._allocations.is_served(attempt, t.replica)]
        try:
            if moved:
                number = self._files.add_allocation(attempt.id, number, moved)
            for ticket in late:
                replica = attempt.replicas[ticket.replica]
                machine, stays = replica.ticket.get("machine", {}), ticket.replica not in moved
                content = make_ticket(
                    ticket, replica.allocation if stays else number, machine, in_place=stays
                )
                self._files.add_ticket(attempt.id, content)
        except OSError as error:
            raise Unavailable(
                f"the server can't store that the replica restarts: {error.strerror}"
            ) from error

    def stop(self, attempt_id: AttemptId, replicas: Mapping[str, int] | None = None) -> None:
        with self._mutex:
            attempt = self._files.load(attempt_id)
            if attempt is None:
                return
            for replica in attempt.replicas.values():
                meant = replicas is None or replica.restart <= replicas.get(replica.name, -1)
                if not meant or replica.gone is not None:
                    continue
                try:
                    self._open()
                    self._files.stop(attempt_id, replica)
                except (OSError, Unavailable) as error:
                    log.warning("can't stop %s of %s: %s", replica.name, attempt_id, error)
        self._wake(attempt_id)

    def list(self) -> tuple[ReplicaObservation, ...]:
        with self._mutex:
            if self._thread is None:
                return tuple(o for each in self._files.attempts() for o in self._look(each))
            return tuple(o for each in sorted(self._seen) for o in self._seen[each])

    def inspect(self, attempt_id: AttemptId) -> builtins.tuple[ReplicaObservation, ...]:
        with self._mutex:
            if self._thread is None:
                return self._look(attempt_id)
            return self._seen.get(attempt_id, ())

    def _look(
        self, attempt_id: AttemptId, only: str | None = None
    ) -> builtins.tuple[ReplicaObservation, ...]:
        try:
            attempt = self._files.load(attempt_id, only)
            return () if attempt is None else self._allocations.observe(attempt)
        except Exception as error:
            # Nothing is known of its replicas: they may run. The others go on.
            reason = f"the server can't read its files of the attempt: {error!r}"
            try:
                starts = self._files.newest_starts(attempt_id).items()
            except (OSError, ValueError):  # not even that, as with too many open files
                if attempt_id in self._seen:
                    return self._seen[attempt_id]
                raise
            return tuple(
                ReplicaObservation(attempt_id, name, Presence.WAITING, reason, restart)
                for name, restart in starts
            )

    def forget(self, attempt_id: AttemptId) -> None:
        with self._mutex:
            attempt = self._files.load(attempt_id)
            if attempt is not None and not attempt.all_gone:
                return
            try:
                self._ended.note(attempt_id)
                self._files.discard(attempt_id)
            except OSError:
                log.warning("can't forget %s", attempt_id, exc_info=True)
                return
        self._wake(attempt_id)

    def problems(self) -> builtins.tuple[str, ...]:
        """Returns what of this region is left out, for administrators: the rest goes on."""
        return (*self._engine.oddities, *self._allocations.problems)

    def watch(self, changed: Callable[[AttemptId], None]) -> None:
        with self._mutex:
            self._listeners.append(changed)
            self._open()

    def close(self) -> None:
        with self._mutex:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
        self._calls.listen(self._name, None)
        self._woken.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._allocations.close()

    def _open(self) -> None:
        """Starts the backend's thread if needed.

        Raises Unavailable if the root can't be used, or the backend was closed.
        """
        if self._closed:
            raise Unavailable("the server is shutting down, and starts nothing more")
        if self._thread is not None:
            return
        try:
            self._files.open()
            self._ended.open()
        except OSError as error:
            raise Unavailable(f"the server can't use the directory of replicas: {error}") from error
        for attempt_id in self._files.attempts():
            self._seen[attempt_id] = self._look(attempt_id)
        self._calls.listen(self._name, self._take)
        if self._warm is not None:
            self._warm.arrived = self._list_soon
        self._thread = threading.Thread(target=self._work, name="engine-backend", daemon=True)
        self._thread.start()

    def _wake(self, attempt_id: AttemptId) -> None:
        self._refresh((attempt_id,), quietly=True)
        self._calls.wake(self._name, attempt_id)
        self._note(attempt_id)

    def _take(self, attempt_id: AttemptId, replica: str) -> None:
        """Handles a launcher's new report, even while the engine doesn't answer."""
        self._refresh((attempt_id,), only=replica)
        self._note(attempt_id)

    def _note(self, attempt_id: AttemptId) -> None:
        """Makes the thread advance the attempt soon."""
        with self._mutex:
            self._noted.add(attempt_id)
        self._woken.set()

    def _work(self) -> None:
        asked_s = float("-inf")
        while not self._closed:
            # Before the attempts are taken: one that is noted after that sets the event once more.
            self._woken.clear()
            now_s = self._monotonic()
            due = now_s - asked_s >= self._poll_s or self._unlisted
            with self._mutex:
                noted = tuple(self._noted)
                self._noted.clear()
            try:
                if due:
                    asked_s, self._unlisted = now_s, False
                    noted = self._files.attempts()
                    self._allocations.ask()
                noted = self._allocations.advance_all(noted, asked=due)
                self._refresh(noted)
            except Exception:
                log.exception("the server can't list the jobs of region %s", self._name)
            rest_s = self._poll_s if self._allocations.busy else _IDLE_S
            self._woken.wait(max(0.01, asked_s + rest_s - self._monotonic()))

    def _list_soon(self, job: str) -> None:
        """Makes the thread ask for the jobs, if it isn't known how long this one may last."""
        known = self._allocations.jobs.get(job)
        if known is None or not known.ends_s:
            self._unlisted = True
            self._woken.set()

    def _refresh(
        self,
        attempt_ids: Iterable[AttemptId],
        *,
        quietly: bool = False,
        only: str | None = None,
    ) -> None:
        """Observes attempts, or ``only`` one of their replicas, again, and notifies listeners of
        those that have changed.

        Holds the lock, so that a change seen in a list has been notified before.
        """
        with self._mutex:
            if self._thread is None:
                return
            for attempt_id in attempt_ids:
                before, seen = self._seen.get(attempt_id), self._look_again(attempt_id, only)
                if seen == (before or ()):
                    continue
                if seen:
                    self._seen[attempt_id] = seen
                else:
                    self._seen.pop(attempt_id, None)
                # Their launchers may leave now, or have another start.
                known = {each.replica: each for each in before or ()}
                changed = [each for each in seen if known.get(each.replica) != each]
                moved = [o.replica for o in changed if o.presence is not Presence.LIVE]
                self._calls.wake(self._name, attempt_id, moved)
                if before is not None and seen and not quietly:
                    self._notify(attempt_id)

    def _look_again(
        self, attempt_id: AttemptId, only: str | None
    ) -> builtins.tuple[ReplicaObservation, ...]:
        before = self._seen.get(attempt_id, ())
        if all(each.replica != only for each in before):
            return self._look(attempt_id)
        found = {each.replica: each for each in self._look(attempt_id, only)}
        return tuple(found.get(each.replica, each) for each in before)

    def _notify(self, attempt_id: AttemptId) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(attempt_id)
            except Exception:
                log.exception("a listener failed for %s", attempt_id)


def _is_later(attempt: Attempt, ticket: Ticket) -> bool:
    replica = attempt.replicas.get(ticket.replica)
    return replica is not None and replica.gone is not None and ticket.restart > replica.restart
