"""Shells in running replicas: permissions, limits, lifetimes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from footplate.control.control_requests import (
    ControlRequest,
    ControlRequestKind,
    ControlRequests,
    running,
)
from footplate.control.tokens import Bearer, ShellTokens
from footplate.domain.errors import (
    FailedPrecondition,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
)
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import JobUid
from footplate.domain.web_access import closed_because, open_replicas
from footplate.ports.clock import Clock
from footplate.ports.store import Store
from footplate.protocol.control_requests import ControlResponse

MOST_OF_A_REPLICA = 8
"""Shells in the same replica at the same time."""
TIMEOUT_S = 30.0
"""How long a replica has to open one."""
_IS_THERE = ControlResponse(text="there")


@dataclass(frozen=True)
class Shell:
    """A requested shell in a replica of an attempt; ``who`` requested it, and ``what`` it is."""

    uid: JobUid
    attempt: int
    replica: str
    who: str
    what: str
    control_request: ControlRequest


class Shells:
    """Opens shells, and stores nothing about them: if the server ends, its shells end, too."""

    def __init__(
        self, store: Store, control_requests: ControlRequests, tokens: ShellTokens, clock: Clock
    ) -> None:
        self._store = store
        self._control_requests = control_requests
        self._tokens = tokens
        self._clock = clock
        self._lock = Lock()
        self._open: Counter[Bearer] = Counter()

    def paths(self, job: Job) -> Mapping[str, str]:
        """Returns for each replica the path of this server's URL at which its shell is opened."""
        return {
            replica: f"/shell/v1/{self._tokens.issue(job.uid, replica)}"
            for replica in open_replicas(job)
        }

    def find(self, token: str) -> tuple[Job, str]:
        """Returns the job and the replica for the token in a shell's address.

        Raises:
            PermissionDenied: the token is invalid, or the job is gone.
            FailedPrecondition: no shell can be opened now; the message says why.
        """
        uid, replica = self._tokens.check(token)
        try:
            job = self._store.get_by_uid(uid)
        except NotFound:
            raise PermissionDenied("the job of this shell no longer exists") from None
        if reason := closed_because(job, replica):
            raise FailedPrecondition(f"{job.name}, replica {replica}: {reason}")
        return job, replica

    def ask(self, token: str, who: str, what: str) -> Shell:
        """Requests a shell; ``answered`` of its control request is set when it opens or fails.

        The caller must call ``end`` afterwards, in any case.

        Raises:
            PermissionDenied, FailedPrecondition: as ``find`` says.
            ResourceExhausted: the replica has as many shells as it may have.
        """
        job, replica = self.find(token)
        asked = running(job, replica)
        with self._lock:
            if self._open[asked] >= MOST_OF_A_REPLICA:
                raise ResourceExhausted(
                    f"replica {replica} has {MOST_OF_A_REPLICA} shells open; close one of them"
                )
            self._open[asked] += 1
        try:
            control_request = self._control_requests.ask(job, replica, ControlRequestKind.SHELL)
        except BaseException:
            self._forget(asked)
            raise
        return Shell(job.uid, job.attempt, replica, who, what, control_request)

    def arrive(self, shell_id: str, asked: Bearer) -> None:
        """Records that the replica has connected to open the shell.

        Raises:
            NotFound: nobody waits for this shell (any more).
        """
        self._control_requests.answer(shell_id, asked, _IS_THERE)

    def begin(self, shell: Shell) -> None:
        self._notify(shell, "SHELL_OPENED", f"{shell.what}, from {shell.who}")

    def end(self, shell: Shell, how: str) -> None:
        """Ends a shell; ``how`` it ended is for the job's events, empty: it never began."""
        # Withdraws the request if it has no answer yet: the replica must not open the shell any
        # more.
        self._control_requests.wait((shell.control_request,), 0)
        self._forget(shell.control_request.asked)
        if how:
            self._notify(shell, "SHELL_CLOSED", f"{shell.what}, from {shell.who}: {how}")

    def over_because(self, shell: Shell) -> str:
        """Returns why the shell must end; '' if it may continue."""
        try:
            job = self._store.get_by_uid(shell.uid)
        except NotFound:
            return "the job no longer exists"
        if job.state.terminal:
            return f"the job has ended: {job.state.value}"
        if reason := closed_because(job, shell.replica):
            return reason
        if running(job, shell.replica) != shell.control_request.asked:
            return f"replica {shell.replica} has started again"
        return ""

    def _forget(self, asked: Bearer) -> None:
        with self._lock:
            self._open[asked] -= 1
            if not self._open[asked]:
                del self._open[asked]

    def _notify(self, shell: Shell, kind: str, message: str) -> None:
        event = JobEvent(self._clock.now(), kind, message, shell.attempt, shell.replica)
        with suppress(NotFound):  # it was deleted meanwhile
            self._store.append(shell.uid, (event,))
