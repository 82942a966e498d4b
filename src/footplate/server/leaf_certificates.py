"""TLS contexts for Google's hosts, made when a client first asks for one."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.server.certificate_authority import CertificateAuthority

HTTP, GRPC = "http/1.1", "h2"
RENEWED_AFTER = timedelta(days=30)
"""Long before its end: a server may run for years."""
MAX_KEPT = 256


@dataclass(frozen=True)
class _Leaf:
    context: ssl.SSLContext
    made: datetime


class LeafCertificates:
    """Creates and renews the server's certificates. All threads may use it.

    ``folder`` holds a key while OpenSSL reads it, which it can only do from files. ``authority`` is
    called when the first certificate is needed.
    """

    def __init__(
        self,
        authority: Callable[[], CertificateAuthority],
        folder: Path,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._authority = authority
        self._folder = folder
        self._now = now
        self._leaves: OrderedDict[tuple[str, ...], _Leaf] = OrderedDict()
        self._lock = Lock()

    def context(self, *names: str) -> ssl.SSLContext:
        """Returns a TLS context for a server of these names, with HTTP/1.1 if clients offer it."""
        with self._lock:
            now = self._now()
            leaf = self._leaves.get(names)
            if leaf is None or now - leaf.made > RENEWED_AFTER:
                leaf = self._leaves[names] = _Leaf(self._make(names, now), now)
            self._leaves.move_to_end(names)
            if len(self._leaves) > MAX_KEPT:
                self._leaves.popitem(last=False)
            return leaf.context

    def _make(self, names: tuple[str, ...], now: datetime) -> ssl.SSLContext:
        pair = self._authority().sign(names, now)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols([HTTP, GRPC])
        descriptor, path = tempfile.mkstemp(".pem", ".leaf-", self._folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(pair.key + pair.certificate)
            context.load_cert_chain(path)
        finally:
            os.unlink(path)  # noqa: PTH108 - the name of a file, not a Path
        return context
