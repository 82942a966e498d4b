"""Control requests: users ask here, a running replica's supervisor answers.

All of it is in memory. A control request lives as long as somebody waits for it, and no longer than
the server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from enum import Enum
from threading import Lock

from footplate.control.tokens import Bearer
from footplate.domain.errors import FailedPrecondition, NotFound, ResourceExhausted
from footplate.domain.formatting import listed, quoted
from footplate.domain.job_states import Phase
from footplate.domain.jobs import Job
from footplate.domain.tuning.trial_programs import check_runs_itself
from footplate.protocol.control_requests import ControlResponse

MOST_OF_A_REPLICA = 8
"""Control requests that wait for the same replica."""
_MANY_DIGITS = 19
_CLOSED = ControlResponse(error="the server is stopping; ask again when it runs again")
_MOVED = ControlResponse(error="another server leads now; ask again")
_PHASES = {
    Phase.WAITING: "hasn't started yet",
    Phase.PREPARING: "is PREPARING: the program hasn't started yet",
    Phase.READY: "is READY: the program starts when all replicas of the job are ready",
    Phase.LOST: "is LOST: the replica's supervisor is dead",
    Phase.EXITED: "has EXITED: the program has ended",
    Phase.GONE: "is GONE: the program has ended",
}


class ControlRequestKind(Enum):
    STACKS = "stacks"
    """Where the Python processes of its program are."""
    SHELL = "shell"
    """A shell beside its program, for which it comes with a WebSocket."""


@dataclass(frozen=True)
class ControlRequest:
    """A request to a replica; ``answered`` is done once the replica has answered, or never will."""

    id: str
    kind: ControlRequestKind
    asked: Bearer
    serial: int
    answered: Future[ControlResponse] = field(default_factory=Future, compare=False)


class ControlRequests:
    """The requests of users to replicas.

    ``new_id`` returns unguessable unique ids of letters and digits. ``most_held`` is how many
    supervisors may wait for requests at the same time.
    """

    def __init__(self, new_id: Callable[[], str], most_held: int) -> None:
        self._new_id = new_id
        self._most_held = most_held
        # Marks this server's cursors: the serial numbers of an earlier server mean other requests.
        self._life = new_id()[:12]
        self._lock = Lock()
        self._serial = 0
        self._closed = False
        self._control_requests: dict[str, ControlRequest] = {}
        self._held: dict[Bearer, Callable[[], None]] = {}

    @property
    def standing(self) -> int:
        """Returns the number of supervisors that wait for requests over an open connection."""
        return len(self._held)

    def ask(self, job: Job, replica: str, kind: ControlRequestKind) -> ControlRequest:
        """Sends a control request to a replica; ``wait`` then waits for its response.

        Raises:
            NotFound: the job has no such replica.
            FailedPrecondition: the replica's program doesn't run; the message names its phase.
            ResourceExhausted: too many control requests wait for the replica already.
        """
        asked = running(job, replica)
        with self._lock:
            if (
                sum(
                    control_request.asked == asked
                    for control_request in self._control_requests.values()
                )
                >= MOST_OF_A_REPLICA
            ):
                raise ResourceExhausted(
                    f"replica {replica} has {MOST_OF_A_REPLICA} pending requests; try again later"
                )
            self._serial += 1
            control_request = ControlRequest(self._new_id(), kind, asked, self._serial)
            if self._closed:
                control_request.answered.set_result(_CLOSED)
                return control_request
            self._control_requests[control_request.id] = control_request
            wake = self._held.get(asked)
        if wake is not None:
            wake()
        return control_request

    def wait(
        self, control_requests: Iterable[ControlRequest], limit_s: float
    ) -> tuple[ControlResponse, ...]:
        """Returns the responses in order, with an error for each that doesn't arrive in time.

        Later responses to these requests are refused.
        """
        waited = tuple(control_requests)
        wait([control_request.answered for control_request in waited], limit_s)
        late = ControlResponse(error=f"no answer within {limit_s:g} s")
        for control_request in waited:
            self._settle(control_request, late)
        return tuple(control_request.answered.result() for control_request in waited)

    def pending(self, asked: Bearer, after: str) -> tuple[tuple[ControlRequest, ...], str]:
        """Returns the pending requests of a replica, and the next cursor.

        ``after`` is the last cursor that the replica received. If it is empty or another server's,
        all requests are returned.
        """
        life, _, number = after.partition("-")
        ours = life == self._life and number.isdecimal() and len(number) < _MANY_DIGITS
        known = int(number) if ours else 0
        with self._lock:
            found = tuple(
                control_request
                for control_request in self._control_requests.values()
                if control_request.asked == asked and control_request.serial > known
            )
            return found, f"{self._life}-{self._serial}"

    def hold(self, asked: Bearer, wake: Callable[[], None]) -> Callable[[], None] | None:
        """Registers ``wake`` for when requests may be pending; returns a function that ends this.

        None: too many supervisors wait already, or the server ends. A replica can wait only once:
        an earlier wait of the same replica is woken.
        """
        with self._lock:
            before = self._held.get(asked)
            if self._closed or (before is None and len(self._held) >= self._most_held):
                return None
            self._held[asked] = wake
        if before is not None:
            before()
        return lambda: self._release(asked, wake)

    def find(self, control_request_id: str, asked: Bearer) -> ControlRequest:
        """Returns a request that this replica may answer.

        Raises:
            NotFound: nobody waits for the response (any more), or the request isn't this replica's.
        """
        with self._lock:
            control_request = self._control_requests.get(control_request_id)
        if control_request is None or control_request.asked != asked:
            raise _unwanted(control_request_id)
        return control_request

    def answer(self, control_request_id: str, asked: Bearer, answer: ControlResponse) -> None:
        """Accepts the response of the asked replica, once. Raises NotFound, as ``find`` does."""
        if not self._settle(self.find(control_request_id, asked), answer):
            raise _unwanted(control_request_id)

    def close(self) -> None:
        """Releases all waiting callers and replicas, because the server ends."""
        with self._lock:
            self._closed = True
        self.dismiss(_CLOSED)

    def dismiss(self, answer: ControlResponse = _MOVED) -> None:
        """Releases all waiting callers, because supervisors now report to another server."""
        with self._lock:
            control_requests, held = (
                tuple(self._control_requests.values()),
                tuple(self._held.values()),
            )
        for control_request in control_requests:
            self._settle(control_request, answer)
        for wake in held:
            wake()

    def _settle(self, control_request: ControlRequest, answer: ControlResponse) -> bool:
        """Completes the request with ``answer``; returns False if it had been completed before."""
        with self._lock:
            if self._control_requests.pop(control_request.id, None) is None:
                return False
        # `asyncio.wrap_future`, with which shells wait, passes a cancellation on to this future.
        # To set the result of a cancelled future raises an error.
        if control_request.answered.set_running_or_notify_cancel():
            control_request.answered.set_result(answer)
        return True

    def _release(self, asked: Bearer, wake: Callable[[], None]) -> None:
        with self._lock:
            # A later wait of the same replica may have taken this one's place, and must stay.
            if self._held.get(asked) is wake:
                del self._held[asked]


def _unwanted(control_request_id: str) -> NotFound:
    return NotFound(
        f"no caller waits for a response to the control request {quoted(control_request_id)}"
    )


def running(job: Job, replica: str) -> Bearer:
    """Returns the current start of the replica, whose program must be running.

    Raises NotFound, FailedPrecondition: see ``ControlRequests.ask``.
    """
    check_runs_itself(job)
    names = job.spec.replica_names()
    if replica not in names:
        raise NotFound(
            f"job {job.name} has no replica {quoted(replica)}; its replicas: {listed(names)}"
        )
    if job.state.terminal or not job.replicas:
        raise FailedPrecondition(f"job {job.name} is {job.state.value}: none of its programs runs")
    found = next(each for each in job.replicas if each.name == replica)
    if found.phase is not Phase.RUNNING:
        raise FailedPrecondition(f"replica {replica} {_PHASES[found.phase]}")
    return Bearer(job.attempt_id, replica, found.restart)
