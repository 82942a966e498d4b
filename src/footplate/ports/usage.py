"""The usage port: resource usage over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from footplate.domain.names import JobUid
from footplate.domain.usage import Point, Sample


class UsageHistory(Protocol):
    """The store of utilisation; repeated samples are stored once, old ones in less detail."""

    def append(self, uid: JobUid, attempt: int, replica: str, samples: Sequence[Sample]) -> None:
        """Stores the samples whose sequence is above the last stored one of this replica's attempt.

        Samples of attempts before the last stored one are left out. Once it returns, the samples
        survive a crash of this process at any point.

        Raises:
            Unavailable: the samples could not be stored (disk full); send them again.
        """
        ...

    def last(self, uid: JobUid, attempt: int, replica: str) -> int:
        """Returns the highest stored sequence of this replica's attempt; 0: there is none."""
        ...

    def replicas(self, uid: JobUid) -> tuple[str, ...]:
        """Returns the replicas that have samples, by name."""
        ...

    def read(
        self, uid: JobUid, replica: str, points: int, since: datetime | None = None
    ) -> tuple[Point, ...]:
        """Returns at most ``points`` points over all attempts, in order, that end after ``since``.

        The cost doesn't grow with the age of the job.
        """
        ...

    def delete(self, uid: JobUid) -> None:
        """Deletes the utilisation of a job; does nothing for an unknown one."""
        ...
