"""Tokens of replicas and shells: derived from a key, stored nowhere."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from footplate.domain.errors import PermissionDenied
from footplate.domain.names import AttemptId, JobUid


@dataclass(frozen=True)
class Bearer:
    """The owner of a token; ``restart`` counts the replica's starts in its attempt, from 0."""

    attempt_id: AttemptId
    replica: str
    restart: int = 0

    def __str__(self) -> str:
        return f"{self.attempt_id}.{self.replica}.{self.restart}"


def derive(secret: bytes, use: str) -> bytes:
    """Derives a key for one use from the service's secret; its tokens have no other use."""
    return hmac.new(secret, use.encode(), hashlib.sha256).digest()


class Tokens:
    """The tokens of the replica API: one for each start of each replica.

    ``key`` is the service's secret, from which every token is derived.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def issue(self, bearer: Bearer) -> str:
        """Returns ``ATTEMPT_ID.REPLICA.RESTART.MAC``, fit for a header; always the same."""
        return f"{bearer}.{self._mac(str(bearer))}"

    def check(self, token: str) -> Bearer:
        """Returns the bearer of a valid token.

        Raises:
            PermissionDenied: the token isn't one of this server's.
        """
        subject, _, mac = token.rpartition(".")
        # As bytes: `compare_digest` raises TypeError for a text that isn't ASCII, and anybody
        # sends tokens.
        if not hmac.compare_digest(mac.encode(), self._mac(subject).encode()):
            raise PermissionDenied("this token is not one of this server's replica tokens")
        attempt_id, _, rest = subject.partition(".")
        replica, _, restart = rest.rpartition(".")
        return Bearer(AttemptId(attempt_id), replica, int(restart))

    def _mac(self, subject: str) -> str:
        return hmac.new(self._key, subject.encode(), hashlib.sha256).hexdigest()


class ShellTokens:
    """The tokens of shells: one for each replica of a job, valid in all its attempts.

    ``key`` is the same as for replica tokens; neither kind of token is valid as the other.
    """

    def __init__(self, key: bytes) -> None:
        self._key = derive(key, "shells")

    def issue(self, uid: JobUid, replica: str) -> str:
        """Returns ``UID.REPLICA.MAC``: fit for a URL's path, and always the same for a replica."""
        return f"{uid}.{replica}.{self._mac(f'{uid}.{replica}')}"

    def check(self, token: str) -> tuple[JobUid, str]:
        """Returns the job and replica that ``token`` grants access to.

        Raises:
            PermissionDenied: the token isn't one of this server's.
        """
        subject, _, mac = token.rpartition(".")
        if not hmac.compare_digest(mac.encode(), self._mac(subject).encode()):
            raise PermissionDenied("this is not the address of a shell of this server")
        uid, _, replica = subject.partition(".")
        return JobUid(uid), replica

    def _mac(self, subject: str) -> str:
        return hmac.new(self._key, subject.encode(), hashlib.sha256).hexdigest()
