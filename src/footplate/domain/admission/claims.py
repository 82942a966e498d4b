"""What admission knows of a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.domain.amounts import Amounts
    from footplate.domain.names import JobUid


@dataclass(frozen=True)
class Claim:
    """A job that waits, or holds its replicas. Times are seconds since the epoch."""

    uid: JobUid
    name: str
    """The job's id, for explanations."""
    project: str
    region: str
    site: str
    """Whose capacity it takes; several regions may share one, none has several."""
    accelerator: str
    """Its line in the queue: the accelerator types that it asks for, ``+`` between; empty: none."""
    priority: int
    arrived: float
    longest_s: float
    """How long it may run, at most."""
    holds: Amounts
    """Of the site's capacity, all replicas together."""
    counts: Amounts
    """Of its project's quota: vCPUs, accelerators, and 1 job."""
    bounded: bool = False
    """Whether ``longest_s`` was asked for, and so says something about its end."""
