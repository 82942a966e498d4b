"""The workers of one group that have connected, by lane, until all have and the lane starts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from footplate_reduction.handshake_frames import TAKEN, Hello, Refused
from footplate_reduction.limits import Limits

if TYPE_CHECKING:
    from footplate_reduction.reducer.handshake import Member


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
