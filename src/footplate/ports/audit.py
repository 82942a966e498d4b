"""The port of the audit log: calls that have changed something."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from footplate.ports.pages import Page


@dataclass(frozen=True)
class AuditEntry:
    """A call that has changed something.

    ``action`` is ``create``, ``update``, ``delete`` or the verb of the call, such as ``cancel``.
    ``resource`` is the name of the changed resource; empty: the service. ``by`` is ``console``,
    ``program``, ``token`` or ``anyone``, ``job`` the job whose program called. ``client`` is the
    calling program according to itself, ``address`` its network address.
    """

    time: datetime
    action: str
    resource: str
    by: str
    job: str
    client: str
    address: str


class AuditLog(Protocol):
    """A log of limited size, which drops its oldest entries, and never changes any."""

    def add(self, entry: AuditEntry) -> None:
        """Adds an entry; never raises: failures are reported in the service's log."""
        ...

    def list(self, limit: int, after: str | None = None) -> Page[AuditEntry]:
        """Returns entries; ``after`` is a ``next_key`` of an earlier page.

        If the entries after it have been dropped, the list ends there.
        """
        ...
