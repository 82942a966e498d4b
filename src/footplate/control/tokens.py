"""Tokens of the replica API: one for each replica of each attempt, derived, kept nowhere."""

from __future__ import annotations

import hashlib
import hmac

from footplate.domain.errors import PermissionDenied
from footplate.domain.names import AttemptId


class Tokens:
    """``key`` is the service's secret; whoever has it can make every token."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def issue(self, attempt_id: AttemptId, replica: str) -> str:
        """``ATTEMPT_ID.REPLICA.MAC``: fit for a header; always the same for the same replica."""
        return f"{attempt_id}.{replica}.{self._mac(attempt_id, replica)}"

    def check(self, token: str) -> tuple[AttemptId, str]:
        """The attempt and the replica that the bearer of ``token`` may speak for.

        Raises:
            PermissionDenied: it isn't one of ours.
        """
        attempt_id, _, rest = token.partition(".")
        replica, _, mac = rest.rpartition(".")
        expected = self._mac(AttemptId(attempt_id), replica)
        if not hmac.compare_digest(mac.encode(), expected.encode()):
            raise PermissionDenied("this token is not one of this server's replica tokens")
        return AttemptId(attempt_id), replica

    def _mac(self, attempt_id: AttemptId, replica: str) -> str:
        message = f"{attempt_id}\n{replica}".encode()
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()
