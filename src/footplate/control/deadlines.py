"""A priority queue of deadlines."""

from __future__ import annotations

import heapq

from footplate.domain.names import JobUid

_SPARE = 1000
"""Moments that are kept although they were dropped, besides as many as there are jobs."""


class Deadlines:
    """The deadlines of jobs, in seconds since the epoch; each operation costs O(log n)."""

    def __init__(self) -> None:
        self._moments: dict[JobUid, float] = {}
        self._heap: list[tuple[float, JobUid]] = []

    def put(self, uid: JobUid, moment: float) -> None:
        if self._moments.get(uid) != moment:
            self._moments[uid] = moment
            heapq.heappush(self._heap, (moment, uid))
            if len(self._heap) > 2 * len(self._moments) + _SPARE:
                self._heap = [(moment, uid) for uid, moment in self._moments.items()]
                heapq.heapify(self._heap)

    def drop(self, uid: JobUid) -> None:
        self._moments.pop(uid, None)

    def next(self) -> float | None:
        """Returns the earliest deadline; None: there is none."""
        while self._heap:
            moment, uid = self._heap[0]
            if self._moments.get(uid) == moment:
                return moment
            heapq.heappop(self._heap)
        return None

    def take_due(self, now: float) -> tuple[JobUid, ...]:
        """Removes the deadlines that have passed; returns their jobs in order."""
        due: list[JobUid] = []
        while (moment := self.next()) is not None and moment <= now:
            _, uid = heapq.heappop(self._heap)
            del self._moments[uid]
            due.append(uid)
        return tuple(due)
