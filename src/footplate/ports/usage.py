"""The usage port: resource usage over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from footplate.domain.names import JobUid
    from footplate.domain.usage import Point, Sample


class UsageHistory(Protocol):
    """The store of utilisation: at-least-once in, exactly-once out; old samples in less detail."""

    def append(self, uid: JobUid, attempt: int, replica: str, samples: Sequence[Sample]) -> None:
        """Keeps those samples whose sequence is above the last one kept of this replica's attempt.

        Samples of an attempt before the last one kept are left out. When it returns they outlive
        the death of this process at any instruction.

        Raises:
            Unavailable: they could not be kept (disk full); send them again.
        """
        ...

    def last(self, uid: JobUid, attempt: int, replica: str) -> int:
        """Returns the highest sequence kept of this replica's attempt; 0 where there is none."""
        ...

    def replicas(self, uid: JobUid) -> tuple[str, ...]:
        """Returns the replicas of which there are samples, by name."""
        ...

    def read(
        self, uid: JobUid, replica: str, points: int, since: datetime | None = None
    ) -> tuple[Point, ...]:
        """Reads at most ``points`` over all attempts, in order: those that end after ``since``.

        The cost doesn't grow with the age of the job.
        """
        ...

    def delete(self, uid: JobUid) -> None:
        """Drops all of a job; does nothing for an unknown one."""
        ...
