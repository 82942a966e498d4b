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


@dataclass(frozen=True)
class WarmBearer:
    """The subject of a token: a launcher without a replica, in a job of the engine that may run
    another one of this ``kind``.
    """

    engine: str
    job: str
    kind: str

    def __str__(self) -> str:
        # Five parts: no launcher of a replica has such a subject.
        return f"warm//{self.engine}/{self.job}/{self.kind}"


class LauncherTokens:
    """Issues and checks tokens of launchers. ``key`` must not be used for anything else."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def issue(self, bearer: LauncherBearer | WarmBearer) -> str:
        return f"{bearer}/{self._mac(str(bearer))}"

    def check(self, token: str) -> LauncherBearer | WarmBearer:
        """Returns the launcher that the token is for. Raises PermissionDenied for a token of
        another origin.
        """
        subject, _, mac = token.rpartition("/")
        if not hmac.compare_digest(mac.encode(), self._mac(subject).encode()):
            raise PermissionDenied("this token is not one of this server's launcher tokens")
        parts = subject.split("/")
        if len(parts) == 5:
            return WarmBearer(*parts[2:])
        engine, attempt_id, allocation, replica = parts
        return LauncherBearer(engine, AttemptId(attempt_id), int(allocation), replica)

    def _mac(self, subject: str) -> str:
        return hmac.new(self._key, subject.encode(), hashlib.sha256).hexdigest()
