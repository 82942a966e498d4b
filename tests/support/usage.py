"""Utilisation in memory, for tests of what stands above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Unavailable
from footplate.domain.log_lines import restart_of
from footplate.domain.usage import condense, point_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from footplate.domain.names import JobUid
    from footplate.domain.usage import Counters, Point, Sample


class MemoryUsage:
    """While ``full`` is true nothing more is kept."""

    def __init__(self) -> None:
        self._kept: dict[tuple[JobUid, str], list[tuple[int, Sample, Point]]] = {}
        self.full = False

    def append(self, uid: JobUid, attempt: int, replica: str, samples: Sequence[Sample]) -> None:
        if self.full:
            raise Unavailable(
                "the server can't store the utilisation of replicas: the disk is full"
            )
        kept = self._kept.setdefault((uid, replica), [])
        for sample in samples:
            if kept and attempt < kept[-1][0]:
                continue
            if sample.sequence > self.last(uid, attempt, replica):
                point = point_of(sample, _before(kept, attempt, sample), sample.time)
                kept.append((attempt, sample, point))

    def last(self, uid: JobUid, attempt: int, replica: str) -> int:
        kept = self._kept.get((uid, replica), [])
        return max((s.sequence for number, s, _ in kept if number == attempt), default=0)

    def replicas(self, uid: JobUid) -> tuple[str, ...]:
        return tuple(sorted(name for owner, name in self._kept if owner == uid))

    def read(
        self, uid: JobUid, replica: str, points: int, since: datetime | None = None
    ) -> tuple[Point, ...]:
        kept = [point for _, _, point in self._kept.get((uid, replica), [])]
        return condense([p for p in kept if since is None or p.time > since], points)

    def delete(self, uid: JobUid) -> None:
        for key in [key for key in self._kept if key[0] == uid]:
            del self._kept[key]


def _before(
    kept: Sequence[tuple[int, Sample, Point]], attempt: int, sample: Sample
) -> Counters | None:
    if not kept or kept[-1][0] != attempt:
        return None
    last = kept[-1][1]
    same = restart_of(last.sequence) == restart_of(sample.sequence)
    return last.counters if same else None
