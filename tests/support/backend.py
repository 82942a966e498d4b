"""A backend in memory whose world is turned by a test or a simulator, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from footplate.domain.errors import FailedPrecondition, NotLeading
from footplate.ports.backend import EndCause, Presence, ReplicaObservation

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Mapping

    from footplate.domain.errors import ServiceError
    from footplate.domain.names import AttemptId
    from footplate.ports.backend import AttemptStart, Ticket

LOST = "the replica's supervisor was lost"


class FakeBackend:
    """Nothing happens by itself, and no thread runs: watchers are called by what changed.

    A gang waits until it is admitted; a live replica that is told to stop lives on until it is
    ended; only what waits when it is stopped is gone at once.
    """

    def __init__(self) -> None:
        self.requests: builtins.list[AttemptStart] = []
        """Every request that started something, in order."""
        self.stopping: dict[AttemptId, set[str]] = {}
        """Who was told to stop, by attempt, in order, until the attempt is forgotten."""
        self.refusal: ServiceError | None = None
        """What ``start`` raises, while it is set."""
        self.ended: dict[AttemptId, int] = {}
        """The epochs of leaders that have forgotten attempts."""
        self._seen: dict[AttemptId, dict[str, ReplicaObservation]] = {}
        self._listeners: builtins.list[Callable[[AttemptId], None]] = []

    # The port.

    def start(self, request: AttemptStart) -> None:
        known = self._seen.get(request.attempt_id)
        fresh = tuple(t for t in request.tickets if known is None or _is_next(known, t))
        if known is not None and not fresh:
            return
        if self.refusal is not None:
            raise self.refusal
        replicas = [ticket.replica for ticket in request.tickets]
        if not replicas or len(set(replicas)) < len(replicas):
            raise FailedPrecondition(
                "a job needs at least one replica, and each needs a name of its own"
            )
        self.requests.append(replace(request, tickets=fresh))
        for ticket in fresh:
            self._ask_for(request.attempt_id, ticket)

    def _ask_for(self, attempt_id: AttemptId, ticket: Ticket) -> None:
        reason, name = "it was asked for", ticket.replica
        asked = ReplicaObservation(attempt_id, name, Presence.WAITING, reason, ticket.restart)
        self._seen.setdefault(attempt_id, {})[name] = asked
        self.stopping.get(attempt_id, set()).discard(name)

    def stop(self, attempt_id: AttemptId, replicas: Mapping[str, int] | None = None) -> None:
        known = self._seen.get(attempt_id, {})
        named = {
            name
            for name, observation in known.items()
            if replicas is None or observation.restart <= replicas.get(name, -1)
        }
        if not named:
            return
        self.stopping.setdefault(attempt_id, set()).update(named)
        reason = "the replica was stopped before it started"
        for replica in named:
            self._turn(attempt_id, replica, Presence.GONE, reason, Presence.WAITING)

    def list(self) -> tuple[ReplicaObservation, ...]:
        return tuple(s for replicas in self._seen.values() for s in replicas.values())

    def inspect(self, attempt_id: AttemptId) -> tuple[ReplicaObservation, ...]:
        return tuple(self._seen.get(attempt_id, {}).values())

    def forget(self, attempt_id: AttemptId) -> None:
        replicas = self._seen.get(attempt_id, {})
        if all(s.presence is Presence.GONE for s in replicas.values()):
            self._seen.pop(attempt_id, None)
            self.stopping.pop(attempt_id, None)

    def watch(self, changed: Callable[[AttemptId], None]) -> None:
        self._listeners.append(changed)

    def close(self) -> None:
        self._listeners.clear()

    def is_stopping(self, attempt_id: AttemptId, replica: str) -> bool:
        return replica in self.stopping.get(attempt_id, ())

    # The world. Each takes one replica or, with None, all that the step is possible for.

    def delay(self, attempt_id: AttemptId, reason: str) -> None:
        """What still waits now waits for another reason."""
        self._turn(attempt_id, None, Presence.WAITING, reason, Presence.WAITING)

    def admit(self, attempt_id: AttemptId, replica: str | None = None) -> None:
        """Supervisors that were waited for are there."""
        self._turn(attempt_id, replica, Presence.LIVE, "", Presence.WAITING)

    def lose(self, attempt_id: AttemptId, replica: str | None = None) -> None:
        """Supervisors are dead; what they ran may still run, until it is ended."""
        self._turn(attempt_id, replica, Presence.LOST, LOST, Presence.LIVE)

    def end(
        self,
        attempt_id: AttemptId,
        replica: str | None = None,
        reason: str = "it ended",
        cause: EndCause = EndCause.UNKNOWN,
    ) -> None:
        """Nothing is left of what was waiting, live or lost."""
        possible = (Presence.WAITING, Presence.LIVE, Presence.LOST)
        self._turn(attempt_id, replica, Presence.GONE, reason, *possible, cause=cause)

    def crash(self) -> None:
        """The server dies: nobody watches any more, and all else goes on."""
        self._listeners.clear()

    def _turn(
        self,
        attempt_id: AttemptId,
        replica: str | None,
        presence: Presence,
        reason: str,
        *possible: Presence,
        cause: EndCause = EndCause.UNKNOWN,
    ) -> None:
        replicas = self._seen.get(attempt_id, {})
        before = dict(replicas)
        for name, observation in before.items():
            if replica in (None, name) and observation.presence in possible:
                replicas[name] = replace(observation, presence=presence, reason=reason, cause=cause)
        if replicas != before:
            for listener in tuple(self._listeners):
                listener(attempt_id)


def led(backend: FakeBackend, epoch: int) -> FakeBackend:
    """The backend as the leader of one epoch has it."""
    return cast("FakeBackend", _Led(backend, epoch))


class _Led:
    def __init__(self, backend: FakeBackend, epoch: int) -> None:
        self._backend = backend
        self._epoch = epoch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def start(self, request: AttemptStart) -> None:
        if self._backend.ended.get(request.attempt_id, 0) > self._epoch:
            raise NotLeading(f"{request.attempt_id} has ended, and another server leads now")
        self._backend.start(request)

    def forget(self, attempt_id: AttemptId) -> None:
        self._backend.forget(attempt_id)
        if not self._backend.inspect(attempt_id):
            self._backend.ended[attempt_id] = self._epoch


def _is_next(known: dict[str, ReplicaObservation], ticket: Ticket) -> bool:
    """Whether the replica is gone, and the ticket is for a later start of it."""
    seen = known[ticket.replica]
    return seen.presence is Presence.GONE and ticket.restart > seen.restart
