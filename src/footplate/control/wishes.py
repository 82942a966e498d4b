"""What users want of a running replica right now: asked here, answered by its supervisor.

All of it is in memory. A wish lives as long as somebody waits for it, and no longer than the
server.
"""

from __future__ import annotations

from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from enum import Enum
from threading import Lock
from typing import TYPE_CHECKING

from footplate.control.tokens import Bearer
from footplate.domain.errors import FailedPrecondition, NotFound, ResourceExhausted
from footplate.domain.searches.runs import check_runs_itself
from footplate.domain.states import Phase
from footplate.domain.words import listed, quoted
from footplate.wire.wishes import WishAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from footplate.domain.jobs import Job

MOST_OF_A_REPLICA = 8
"""Wishes that wait for the same replica."""
_MANY_DIGITS = 19
_CLOSED = WishAnswer(error="the server is being stopped; ask again when it is back")
_MOVED = WishAnswer(error="another server leads now; ask again")
_PHASES = {
    Phase.WAITING: "hasn't started yet",
    Phase.PREPARING: "is PREPARING: its program hasn't started yet",
    Phase.READY: "is READY: its program starts when all replicas of its job are ready",
    Phase.LOST: "is LOST: its supervisor is dead",
    Phase.EXITED: "has EXITED: its program has ended",
    Phase.GONE: "is GONE: its program has ended",
}


class WishKind(Enum):
    STACKS = "stacks"
    """Where the Python processes of its program are."""
    SHELL = "shell"
    """A shell beside its program, for which it comes with a WebSocket."""


@dataclass(frozen=True)
class Wish:
    """``answered`` is done when the replica has answered, or never will."""

    id: str
    kind: WishKind
    asked: Bearer
    serial: int
    answered: Future[WishAnswer] = field(default_factory=Future, compare=False)


class Wishes:
    """``new_id`` gives texts of letters and digits that nobody can guess, never the same twice.

    ``most_held``: so many questions of supervisors may stand at once.
    """

    def __init__(self, new_id: Callable[[], str], most_held: int) -> None:
        self._new_id = new_id
        self._most_held = most_held
        self._life = new_id()[:12]
        self._lock = Lock()
        self._serial = 0
        self._closed = False
        self._wishes: dict[str, Wish] = {}
        self._held: dict[Bearer, Callable[[], None]] = {}

    @property
    def standing(self) -> int:
        """How many questions of supervisors stand."""
        return len(self._held)

    def ask(self, job: Job, replica: str, kind: WishKind) -> Wish:
        """Tell a replica of a wish; ``wait`` for its answer then.

        Raises:
            NotFound: the job has no such replica.
            FailedPrecondition: its program doesn't run; says in which phase it is.
            ResourceExhausted: too many wishes wait for it already.
        """
        asked = running(job, replica)
        with self._lock:
            if sum(wish.asked == asked for wish in self._wishes.values()) >= MOST_OF_A_REPLICA:
                raise ResourceExhausted(
                    f"replica {replica} has {MOST_OF_A_REPLICA} wishes to answer; ask again later"
                )
            self._serial += 1
            wish = Wish(self._new_id(), kind, asked, self._serial)
            if self._closed:
                wish.answered.set_result(_CLOSED)
                return wish
            self._wishes[wish.id] = wish
            wake = self._held.get(asked)
        if wake is not None:
            wake()
        return wish

    def wait(self, wishes: Iterable[Wish], limit_s: float) -> tuple[WishAnswer, ...]:
        """The answers, in order; for those that don't come in time an error that says so.

        Afterwards nobody can answer these wishes any more.
        """
        waited = tuple(wishes)
        wait([wish.answered for wish in waited], limit_s)
        late = WishAnswer(error=f"no answer within {limit_s:g} s")
        for wish in waited:
            self._settle(wish, late)
        return tuple(wish.answered.result() for wish in waited)

    def pending(self, asked: Bearer, after: str) -> tuple[tuple[Wish, ...], str]:
        """What a replica is still to hear, and the cursor behind that.

        ``after``: the last cursor that it has heard. That of another server, or none: all.
        """
        life, _, number = after.partition("-")
        ours = life == self._life and number.isdecimal() and len(number) < _MANY_DIGITS
        known = int(number) if ours else 0
        with self._lock:
            found = tuple(
                wish
                for wish in self._wishes.values()
                if wish.asked == asked and wish.serial > known
            )
            return found, f"{self._life}-{self._serial}"

    def hold(self, asked: Bearer, wake: Callable[[], None]) -> Callable[[], None] | None:
        """Call ``wake`` when there may be something to hear; returns what ends that.

        None: the question can't stand. Of several of one replica only the last one does: the
        earlier ones are woken.
        """
        with self._lock:
            before = self._held.get(asked)
            if self._closed or (before is None and len(self._held) >= self._most_held):
                return None
            self._held[asked] = wake
        if before is not None:
            before()
        return lambda: self._release(asked, wake)

    def find(self, wish_id: str, asked: Bearer) -> Wish:
        """One that this replica may answer.

        Raises:
            NotFound: nobody waits for it (any more), or it is another's.
        """
        with self._lock:
            wish = self._wishes.get(wish_id)
        if wish is None or wish.asked != asked:
            raise _unwanted(wish_id)
        return wish

    def answer(self, wish_id: str, asked: Bearer, answer: WishAnswer) -> None:
        """Take the answer of the replica that was asked, once. Raises NotFound, as ``find``."""
        if not self._settle(self.find(wish_id, asked), answer):
            raise _unwanted(wish_id)

    def close(self) -> None:
        """The server ends: everybody who waits, on either side, is let go."""
        with self._lock:
            self._closed = True
        self.dismiss(_CLOSED)

    def dismiss(self, answer: WishAnswer = _MOVED) -> None:
        """Let everybody go who waits now: supervisors have another server to talk to."""
        with self._lock:
            wishes, held = tuple(self._wishes.values()), tuple(self._held.values())
        for wish in wishes:
            self._settle(wish, answer)
        for wake in held:
            wake()

    def _settle(self, wish: Wish, answer: WishAnswer) -> bool:
        """Whether this is the answer: the first one is."""
        with self._lock:
            if self._wishes.pop(wish.id, None) is None:
                return False
        if wish.answered.set_running_or_notify_cancel():
            wish.answered.set_result(answer)
        return True

    def _release(self, asked: Bearer, wake: Callable[[], None]) -> None:
        with self._lock:
            if self._held.get(asked) is wake:
                del self._held[asked]


def _unwanted(wish_id: str) -> NotFound:
    return NotFound(f"nobody waits for an answer to the wish {quoted(wish_id)}")


def running(job: Job, replica: str) -> Bearer:
    """Who answers for a replica whose program runs.

    Raises NotFound, FailedPrecondition: see ``Wishes.ask``.
    """
    check_runs_itself(job)
    names = job.spec.replica_names()
    if replica not in names:
        raise NotFound(f"{job.name} has no replica {quoted(replica)}; it has {listed(names)}")
    if job.state.terminal or not job.replicas:
        raise FailedPrecondition(f"{job.name} is {job.state.value}: no program of it runs")
    found = next(each for each in job.replicas if each.name == replica)
    if found.phase is not Phase.RUNNING:
        raise FailedPrecondition(f"replica {replica} {_PHASES[found.phase]}")
    return Bearer(job.attempt_id, replica, found.restart)
