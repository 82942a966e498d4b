"""The servers port: the servers that share a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Member:
    """A server. ``machine`` tells machines apart, ``host`` is what people call it.

    ``data_dir_id`` stands in the data directory and goes where that goes.
    """

    id: str
    url: str
    pid: int
    version: str
    machine: str
    host: str
    data_dir: str
    data_dir_id: str


class Servers(Protocol):
    """The store of servers. Every method is one transaction. All may raise Unavailable.

    Who has been silent for ``silent_s`` counts as dead.
    """

    def join(self, member: Member, silent_s: float, database: str | None = None) -> str:
        """Registers a server; returns the identity of the database.

        ``database`` is the one that its data directory belongs to; None: to none yet.

        Raises:
            FailedPrecondition: a living server is on another machine or uses another data
                directory, or the data directory belongs to another database, or the database to
                another directory. Says which, and the way out.
        """
        ...

    def heartbeat(self, member: Member, silent_s: float) -> bool:
        """Gives a sign of life, and forgets the dead; False: this one was taken for dead."""
        ...

    def leave(self, server: str) -> None:
        """Removes it; does nothing for an unknown one."""
        ...

    def living(self, silent_s: float) -> tuple[Member, ...]:
        """Returns the servers that were heard of in ``silent_s``, in the order of their URLs."""
        ...
