"""The store of how far the event files of jobs were read."""

from __future__ import annotations

from typing import Protocol

from footplate.domain.names import JobUid
from footplate.domain.tracking.log_uploads import LogUpload


class LogUploadStore(Protocol):
    """The store of log uploads; every method is one transaction, and may raise Unavailable."""

    def put(self, upload: LogUpload) -> None:
        """Stores an upload in place of the job's previous one."""
        ...

    def all(self) -> tuple[LogUpload, ...]:
        """Returns the uploads of all jobs, by their uids."""
        ...

    def delete(self, uid: JobUid) -> None:
        """Deletes the upload of a job; does nothing for an unknown job."""
        ...
