"""All groups of a reducer: those still gathering workers, and those whose lanes run."""

from __future__ import annotations

import contextlib
import queue
import selectors
import threading
import time
from typing import Callable, NamedTuple

from footplate_reduction import tcp_options
from footplate_reduction.counters import Counters
from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import HEADER_BYTES, LONGEST_ERROR, FrameType
from footplate_reduction.handshake_frames import TAKEN, Hello, Refused, error_of, handshake_header
from footplate_reduction.limits import Limits
from footplate_reduction.native.lane import serve
from footplate_reduction.reducer.handshake import Member, refuse


class Group:
    """One group of workers. The first HELLO sets its size and timeouts; all others must match.

    Once one of its lanes has ended, no worker can join; when all lanes have ended, the name is
    free.
    """

    def __init__(self, first: Hello) -> None:
        self.name = first.group
        self.world = first.world
        self.limits = Limits(timeout_s=first.timeout_s, patience_s=first.patience_s)
        self.running: set[int] = set()
        """Lanes."""
        self.ending = False
        self._waiting: dict[int, dict[int, Member]] = {}
        self._since: dict[int, float] = {}

    @property
    def over(self) -> bool:
        return not self.running and not self._waiting

    def waiting(self) -> list[Member]:
        return [member for lane in self._waiting.values() for member in lane.values()]

    def join(self, member: Member) -> list[Member] | None:
        """Adds a worker; returns all workers of its lane by rank if the lane is complete now.
        Raises Refused.
        """
        hello = member.answer.hello
        self._check(hello)
        lane = self._waiting.setdefault(hello.lane, {})
        self._since.setdefault(hello.lane, time.monotonic())
        lane[hello.rank] = member
        if len(lane) < self.world:
            return None
        self._drop(hello.lane)
        self.running.add(hello.lane)
        return [lane[rank] for rank in range(self.world)]

    def leave(self, member: Member) -> None:
        """Removes a waiting worker as if it had never connected."""
        hello = member.answer.hello
        del self._waiting[hello.lane][hello.rank]
        if not self._waiting[hello.lane]:
            self._drop(hello.lane)

    def overdue(self, now: float) -> list[int] | None:
        """Returns the ranks that a lane still lacks after the patience; None if none is late."""
        for lane, members in self._waiting.items():
            if now - self._since[lane] > self.limits.patience_s:
                return [rank for rank in range(self.world) if rank not in members]
        return None

    def _drop(self, lane: int) -> None:
        del self._waiting[lane], self._since[lane]

    def _check(self, hello: Hello) -> None:
        mine = (self.world, self.limits.timeout_s, self.limits.patience_s)
        theirs = (hello.world, hello.timeout_s, hello.patience_s)
        if mine != theirs:
            message = (
                "world: group {} has {} workers, timeout {:g} s and patience {:g} s, but worker {} "
                "has {}, {:g} s and {:g} s. All workers must have the same"
            )
            raise Refused(message.format(self.name, *mine, hello.rank, *theirs))
        present = hello.rank in self._waiting.get(hello.lane, {})
        if present or self.ending or hello.lane in self.running:
            message = "{}: group {} already has a worker {}, whose connection may still exist"
            raise Refused(message.format(TAKEN, self.name, hello.rank))


MOST_GROUPS = 64


class LaneEnd(NamedTuple):
    """The end of a lane's thread. Without an error all workers have left."""

    group: Group
    lane: int
    counters: Counters
    error: ReductionError | None


class Groups:
    """The groups of a reducer, for use by one thread.

    Lanes run in other threads, which only put their ends into ``ends`` and call ``ring``.
    ``ending`` is the descriptor that ``lane.serve`` takes. ``say`` takes a line for people.
    """

    def __init__(
        self,
        job: str,
        selector: selectors.BaseSelector,
        ending: int,
        ring: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self._job = job
        self._selector = selector
        self._ending = ending
        self._ring = ring
        self._say = say
        self._groups: dict[str, Group] = {}
        self._threads: dict[threading.Thread, None] = {}
        self._running: list[Counters] = []
        self._ended = Counters()
        self.ends: queue.SimpleQueue[LaneEnd] = queue.SimpleQueue()

    @property
    def groups(self) -> int:
        return len(self._groups)

    def counters(self) -> Counters:
        """Returns the sums of the counters of all lanes, running and ended."""
        total = Counters()
        for each in [self._ended, *self._running]:
            _add(total, each)
        return total

    def admit(self, member: Member) -> None:
        """Adds a worker to its group, and starts its lane if that is complete. Raises Refused."""
        hello = member.answer.hello
        if hello.job != self._job:
            raise Refused("job: this reducer serves another job")
        group = self._groups.get(hello.group)
        if group is None:
            if len(self._groups) >= MOST_GROUPS:
                raise Refused(f"group: {MOST_GROUPS} groups are open, and more are not allowed")
            group = Group(hello)
        complete = group.join(member)
        # After ``join``, which may refuse the worker: no group stays that nobody has joined.
        self._groups[hello.group] = group
        self._take_in(group, member)
        if complete is not None:
            self._begin(group, hello.lane, complete)

    def tick(self) -> None:
        """Fails groups whose workers don't connect in time. Must be called once a second."""
        now = time.monotonic()
        for group in list(self._groups.values()):
            late = group.overdue(now)
            if late is not None:
                message = "workers that did not connect within {:g} s: {}"
                names = ", ".join(str(rank) for rank in late[:16])
                error = ReductionError(message.format(group.limits.patience_s, names), late[0])
                self._break(group, error)

    def settle(self) -> list[LaneEnd]:
        """Removes the lanes that have ended since the last call, and returns their ends."""
        ended: list[LaneEnd] = []
        while not self.ends.empty():
            end = self.ends.get()
            ended.append(end)
            self._running = [each for each in self._running if each is not end.counters]
            _add(self._ended, end.counters)
            end.group.running.discard(end.lane)
            end.group.ending = True
            self._report(end)
            if end.error is not None:
                self._break(end.group, end.error)
            self._drop_if_over(end.group)
        return ended

    def close(self, why: ReductionError, for_s: float) -> None:
        """Notifies waiting workers, and waits up to ``for_s`` seconds for the lanes to end."""
        for group in list(self._groups.values()):
            self._break(group, why)
        end = time.monotonic() + for_s
        for thread in list(self._threads):
            thread.join(max(0.0, end - time.monotonic()))
        self.settle()

    def _take_in(self, group: Group, member: Member) -> None:
        hello = member.answer.hello
        tcp_options.prepare(member.connection, hello.timeout_s)
        member.connection.setblocking(False)
        where = "group {} lane {}: worker {} of {} joined from {}"
        self._say(where.format(group.name, hello.lane, hello.rank, group.world, member.address))
        self._selector.register(
            member.connection, selectors.EVENT_READ, lambda: self._receive(group, member)
        )

    def _receive(self, group: Group, member: Member) -> None:
        """Removes a waiting worker that disconnected or sent an error; nothing else is valid."""
        error = _last_words(member)
        hello = member.answer.hello
        self._selector.unregister(member.connection)
        member.connection.close()
        group.leave(member)
        left = "group {} lane {}: worker {} left before all workers had connected"
        self._say(left.format(group.name, hello.lane, hello.rank))
        if error is not None:
            self._break(group, error)
        self._drop_if_over(group)

    def _begin(self, group: Group, lane: int, members: list[Member]) -> None:
        for member in members:
            self._selector.unregister(member.connection)
            with contextlib.suppress(OSError):  # the lane finds out
                member.connection.send(member.answer.welcome)
            member.connection.setblocking(True)
        self._say(f"group {group.name} lane {lane}: the reducer begins with {len(members)} workers")
        counters = Counters()
        self._running.append(counters)
        name = f"group {group.name} lane {lane}"
        work = (group, lane, members, counters)
        thread = threading.Thread(target=self._serve, args=work, name=name, daemon=True)
        self._threads[thread] = None
        thread.start()

    def _serve(self, group: Group, lane: int, members: list[Member], counters: Counters) -> None:
        error: ReductionError | None = None
        try:
            connections = [member.connection for member in members]
            serve(connections, group.limits, counters, self._ending)
        except ReductionError as loss:
            error = loss
        except Exception as failure:
            error = ReductionError(f"this reducer failed: {failure!r}")
        for member in members:
            member.connection.close()
        del self._threads[threading.current_thread()]
        self.ends.put(LaneEnd(group, lane, counters, error))
        self._ring()

    def _report(self, end: LaneEnd) -> None:
        how = "all workers have left" if end.error is None else "ended: " + _line(end.error)
        words = "group {} lane {}: {}; the reducer added parts of {} collectives"
        self._say(words.format(end.group.name, end.lane, how, end.counters.collectives))

    def _break(self, group: Group, error: ReductionError) -> None:
        """Notifies all workers that wait in ``group`` that the group can't form."""
        for member in group.waiting():
            self._selector.unregister(member.connection)
            group.leave(member)
            refuse(member.connection, error, error.culprit)
        self._drop_if_over(group)

    def _drop_if_over(self, group: Group) -> None:
        # ``_break`` may have dropped it already.
        if group.over and self._groups.get(group.name) is group:
            del self._groups[group.name]


def _last_words(member: Member) -> ReductionError | None:
    """Returns the error that a waiting worker sent as it left; None if it sent no valid one."""
    try:
        said = member.connection.recv(HEADER_BYTES + LONGEST_ERROR)
        header = handshake_header(said[:HEADER_BYTES].ljust(HEADER_BYTES, b"\0"), FrameType.ERROR)
    except (OSError, Refused):  # the connection is lost
        return None
    error = error_of(header, said[HEADER_BYTES:])
    world = member.answer.hello.world
    known = error.culprit is None or error.culprit < world
    return error if known else ReductionError(str(error), member.answer.hello.rank)


def _line(error: ReductionError) -> str:
    """Returns the error's text without unprintable characters; a worker may have sent it."""
    return "".join(each if each.isprintable() else "?" for each in str(error))


def _add(total: Counters, counters: Counters) -> None:
    for name, value in vars(counters).items():
        setattr(total, name, getattr(total, name) + value)
