"""The interface of the jobs service that the APIs call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.admission import Explanation
    from footplate.domain.filters import Filter
    from footplate.domain.job_order import JobOrder
    from footplate.domain.jobs import Job
    from footplate.domain.names import JobName
    from footplate.domain.submission import Submission
    from footplate.ports.store import Page


class JobsService(Protocol):
    """Jobs as clients see them; ``footplate.control.jobs.Jobs`` is it."""

    def submit(self, submission: Submission) -> Job:
        """Raises InvalidArgument, AlreadyExists, ResourceExhausted for a job that its project's
        quota never allows; nothing was made then.
        """
        ...

    def get(self, name: JobName) -> Job:
        """Raises NotFound."""
        ...

    def explain(self, job: Job) -> Explanation | None:
        """Why a queued job waits, or what another is being prepared for; None: neither."""
        ...

    def engine_jobs(self, job: Job) -> Mapping[str, str]:
        """By replica, where it runs on an engine; empty: it hasn't begun, has ended, or is here."""
        ...

    def list(
        self,
        collection: str,
        *,
        where: Filter | None,
        limit: int,
        after: str | None,
        order: JobOrder = (),
    ) -> Page:
        """Raises InvalidArgument for an ``after`` that was never given."""
        ...

    def cancel(self, name: JobName, by: str = "") -> None:
        """Ask for the end of a job; a finished one is left as it is. Raises NotFound.

        ``by``: who asks, for its message.
        """
        ...

    def delete(self, name: JobName) -> None:
        """Raises NotFound; FailedPrecondition for a job that isn't finished."""
        ...

    def set_labels(
        self, name: JobName, labels: tuple[tuple[str, str], ...], version: int | None
    ) -> Job:
        """Raises NotFound; Aborted for a job that is at another version than a given one."""
        ...
