"""The data directory: who owns it, where its server is, and where everything lies in it."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate import __version__
from footplate.domain.errors import FailedPrecondition

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Announcement:
    """Where the running server answers. It is stale if that process was killed."""

    url: str
    pid: int


class DataDir:
    """Paths, and the few small files that the server itself keeps there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.buckets = root / "buckets"
        self.logs = root / "logs"
        self.usage = root / "usage"
        self.replicas = root / "replicas"
        self.server_file = root / "server.json"
        self.clock_file = root / "clock.json"
        self._lock_file = root / "footplate.lock"
        self._secret_file = root / "secret"

    def make(self) -> None:
        """Make the directory, and what is missing in it, for this user alone.

        Raises:
            FailedPrecondition: it can't be made; says why and the way out.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for folder in (self.buckets, self.logs, self.usage, self.replicas):
                folder.mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            reason = f"{error.filename}: {error.strerror}"
            raise FailedPrecondition(
                f"nothing can be kept in {self.root}: {reason}; choose another --data-dir"
            ) from None

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Own the directory for a while; the kernel ends it with the process at the latest.

        Raises:
            FailedPrecondition: another server owns it; says which and the way out.
        """
        descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise FailedPrecondition(self._taken()) from None
        try:
            yield
        finally:
            os.close(descriptor)

    def _taken(self) -> str:
        other = self.announcement()
        who = f" (process {other.pid}, {other.url})" if other else ""
        return (
            f"another server{who} already uses {self.root}; "
            "stop it with `footplate down`, or choose another --data-dir"
        )

    def secret(self) -> bytes:
        """The key of the replica tokens, made at first use."""
        try:
            return self._secret_file.read_bytes()
        except FileNotFoundError:
            _replace(self._secret_file, secrets.token_bytes(32))
            return self._secret_file.read_bytes()

    def announce(self, url: str) -> None:
        """Tell supervisors and clients of this machine where the server is now."""
        text = json.dumps({"url": url, "pid": os.getpid(), "version": __version__})
        _replace(self.server_file, text.encode())

    def withdraw(self) -> None:
        self.server_file.unlink(missing_ok=True)

    def announcement(self) -> Announcement | None:
        try:
            document = json.loads(self.server_file.read_bytes())
            return Announcement(str(document["url"]), int(document["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _replace(path: Path, content: bytes) -> None:
    """Readers see the old content or the new, never a part; for this user alone."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
