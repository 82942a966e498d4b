"""The store of how far the event files of jobs were read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from footplate.domain.names import JobUid
    from footplate.domain.tracking.event_logs import LogUpload


class LogUploadStore(Protocol):
    """The store of positions. Every method is one transaction. All may raise Unavailable."""

    def put(self, upload: LogUpload) -> None:
        """Stores it in place of what was kept of this job."""
        ...

    def all(self) -> tuple[LogUpload, ...]:
        """Returns the uploads of all jobs, by their uids."""
        ...

    def delete(self, uid: JobUid) -> None:
        """Deletes it; nothing is kept of an unknown job."""
        ...
