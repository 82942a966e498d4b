"""The port of the audit log: calls that have changed something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from footplate.ports.pages import Page


@dataclass(frozen=True)
class AuditEntry:
    """``action`` is ``create``, ``update``, ``delete`` or the verb of the call: ``cancel``.

    ``resource`` is the name of what was changed; empty: the service. ``by`` is ``console``,
    ``program``, ``token`` or ``anyone``, ``job`` the one whose program called. ``client`` and
    ``address``: the caller's program, by its own account, and where it called from.
    """

    time: datetime
    action: str
    resource: str
    by: str
    job: str
    client: str
    address: str


class AuditLog(Protocol):
    """A bounded log: the oldest entries go. Entries are never changed."""

    def add(self, entry: AuditEntry) -> None:
        """Adds it. Never raises: what can't be written is logged."""
        ...

    def list(self, limit: int, after: str | None = None) -> Page[AuditEntry]:
        """``after`` is a ``next_key`` of an earlier page; what has gone since is the end."""
        ...
