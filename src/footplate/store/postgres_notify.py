"""PostgreSQL notifications between servers, sent at commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from footplate.ports.notifications import Notice, NoticeKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

CHANNEL = "footplate"


def notify(
    connection: Connection, server: str, kind: NoticeKind, keys: Sequence[str] = ("",)
) -> None:
    """Notifies other servers; keys are ids of this service: letters, digits and dashes."""
    for key in keys:
        connection.execute(select(func.pg_notify(CHANNEL, f"{server} {kind.value} {key}")))


def read_notice(text: str, server: str) -> Notice | None:
    """Parses a notification for ``server``; None: its own, or an unreadable one."""
    teller, _, rest = text.partition(" ")
    word, _, key = rest.partition(" ")
    if teller == server:
        return None
    try:
        return Notice(NoticeKind(word), key)
    except ValueError:  # of a newer version
        return None
