"""Tokens of launchers: derived from a key, stored nowhere."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from footplate.domain.errors import PermissionDenied
from footplate.domain.names import AttemptId


@dataclass(frozen=True)
class LauncherBearer:
    """The subject of a token: the launcher of a replica in one allocation of an attempt."""

    engine: str
    attempt_id: AttemptId
    allocation: int
    replica: str

    def __str__(self) -> str:
        return f"{self.engine}/{self.attempt_id}/{self.allocation}/{self.replica}"


class LauncherTokens:
    """Issues and checks tokens of launchers. ``key`` must not be used for anything else."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def issue(self, bearer: LauncherBearer) -> str:
        return f"{bearer}/{self._mac(str(bearer))}"

    def check(self, token: str) -> LauncherBearer:
        """Returns the launcher that the token is for. Raises PermissionDenied for a token of
        another origin.
        """
        subject, _, mac = token.rpartition("/")
        if not hmac.compare_digest(mac.encode(), self._mac(subject).encode()):
            raise PermissionDenied("this token is not one of this server's launcher tokens")
        engine, attempt_id, allocation, replica = subject.split("/")
        return LauncherBearer(engine, AttemptId(attempt_id), int(allocation), replica)

    def _mac(self, subject: str) -> str:
        return hmac.new(self._key, subject.encode(), hashlib.sha256).hexdigest()
