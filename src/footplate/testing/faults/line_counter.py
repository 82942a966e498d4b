"""How many lines the replicas of a job have printed, by the job's log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.client.service import Service
    from footplate.domain.names import JobName


class LineCounter:
    """Counts those of each start of a replica apart. What was counted isn't asked for again."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, int, int]] = Counter()
        self._cursor = 0

    def update(self, client: Service, job: JobName) -> None:
        """Raises ServiceError."""
        for line in client.logs(job, cursor=self._cursor):
            self._counts[line.replica, line.attempt, line.restart] += 1
            self._cursor = line.cursor

    def of(self, replica: str, attempt: int, restart: int) -> int:
        return self._counts[replica, attempt, restart]

    def most(self, replica: str) -> int:
        """Of all starts of the replica."""
        counts = (count for (name, *_), count in self._counts.items() if name == replica)
        return max(counts, default=0)
