"""Signs a reader's browser in: a cookie that proves that the token was given."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from hashlib import sha256

COOKIE = "footplate_session"
LIFETIME_S = 7 * 24 * 3600
_PURPOSE = "footplate console session until "


class Sessions:
    """Sessions of signed-in readers. Their cookie holds its end and a signature by the token, not
    the token.

    A server with another token, or none, rejects it. ``now`` returns seconds.
    """

    def __init__(self, token: str | None, now: Callable[[], float]) -> None:
        self._token = token
        self._now = now

    @property
    def needed(self) -> bool:
        return bool(self._token)

    def open(self, given: str) -> str | None:
        """Returns the cookie of a new session; None if ``given`` isn't the token."""
        if not self._token or not hmac.compare_digest(
            given.encode("utf-8", "surrogatepass"), self._token.encode()
        ):
            return None
        end = str(int(self._now()) + LIFETIME_S)
        return f"{end}.{self._sign(end)}"

    def token_of(self, cookie: str | None) -> str | None:
        """Returns the token if the cookie is of a valid session; None otherwise."""
        end, _, signature = (cookie or "").partition(".")
        if not self._token or not (end.isascii() and end.isdigit() and len(end) < 20):
            return None
        valid = hmac.compare_digest(
            self._sign(end).encode(), signature.encode("utf-8", "surrogatepass")
        )
        return self._token if valid and int(end) > self._now() else None

    def _sign(self, end: str) -> str:
        key = (self._token or "").encode()
        return hmac.new(key, f"{_PURPOSE}{end}".encode(), sha256).hexdigest()
