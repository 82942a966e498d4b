"""What tests of backends speak of: a rig, requests for gangs, what is seen of them."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from footplate.domain.names import AttemptId
from footplate.ports.backend import AttemptStart, Presence, Ticket

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.ports.backend import Backend, ReplicaObservation

WORKERS = ("master-replica-0", "worker-replica-0", "worker-replica-1")


class BackendRig(Protocol):
    """A backend and the world that it acts on."""

    @property
    def backend(self) -> Backend: ...

    def hold(self) -> None:
        """From now on supervisors that are asked for don't come up, until ``admit``."""
        ...

    def admit(self) -> None:
        """Let them all come up; may return before they have."""
        ...

    def settle(self, condition: Callable[[], bool]) -> None:
        """Let the world go on until the condition holds.

        Raises:
            AssertionError: it never does.
        """
        ...

    def finish(self, attempt_id: AttemptId, replica: str) -> None:
        """The program of a live replica comes to its end, and its supervisor with it."""
        ...

    def kill(self, attempt_id: AttemptId, replica: str) -> None:
        """The supervisor of a live replica dies, with no time to clear up."""
        ...

    def reopen(self) -> None:
        """The server dies; ``backend`` is what its successor makes for the same world."""
        ...

    def runs(self, attempt_id: AttemptId) -> int:
        """How many supervisors ever came up for an attempt."""
        ...


def make_request(attempt_id: str, replicas: tuple[str, ...] = WORKERS[:1]) -> AttemptStart:
    tickets = tuple(Ticket(name, f"{attempt_id}.{name}.token") for name in replicas)
    return AttemptStart(AttemptId(attempt_id), tickets)


def make_restart(request: AttemptStart, replica: str, restart: int = 1) -> AttemptStart:
    """All tickets once more, one of them for another start."""
    again = f"{request.attempt_id}.{replica}.{restart}.token"
    return replace(
        request,
        tickets=tuple(
            Ticket(replica, again, restart) if ticket.replica == replica else ticket
            for ticket in request.tickets
        ),
    )


def see(backend: Backend, request: AttemptStart) -> tuple[ReplicaObservation, ...]:
    return tuple(s for s in backend.list() if s.attempt_id == request.attempt_id)


def all_are(backend: Backend, request: AttemptStart, presence: Presence) -> bool:
    """Whether the whole gang is listed, and all of it like this."""
    seen = {s.replica: s.presence for s in see(backend, request)}
    return seen == {ticket.replica: presence for ticket in request.tickets}


def see_restarts(backend: Backend, request: AttemptStart) -> dict[str, tuple[int, Presence]]:
    return {s.replica: (s.restart, s.presence) for s in see(backend, request)}


class RecordingListener:
    """A watcher that remembers what it was told."""

    def __init__(self) -> None:
        self._heard: list[AttemptId] = []
        self._mutex = threading.Lock()

    def __call__(self, attempt_id: AttemptId) -> None:
        with self._mutex:
            self._heard.append(attempt_id)

    def times(self, request: AttemptStart) -> int:
        with self._mutex:
            return self._heard.count(request.attempt_id)
