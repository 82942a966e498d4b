"""A store of log uploads that forgets them at its end."""

from __future__ import annotations

from footplate.domain.names import JobUid
from footplate.domain.tracking.log_uploads import LogUpload


class MemoryLogUploads:
    """``footplate.ports.log_uploads.LogUploadStore`` in a dictionary."""

    def __init__(self) -> None:
        self._found: dict[JobUid, LogUpload] = {}

    def put(self, upload: LogUpload) -> None:
        self._found[upload.uid] = upload

    def all(self) -> tuple[LogUpload, ...]:
        return tuple(self._found[uid] for uid in sorted(self._found))

    def delete(self, uid: JobUid) -> None:
        self._found.pop(uid, None)
