"""The servers port: the servers that share a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Member:
    """A server; ``machine`` identifies its machine, ``host`` is the machine's name for people.

    ``data_dir_id`` is stored in the data directory, and so moves with it.
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
    """The store of servers; every method is one transaction, and may raise Unavailable.

    A server that has been silent for ``silent_s`` counts as dead.
    """

    def join(self, member: Member, silent_s: float, database: str | None = None) -> str:
        """Registers a server; returns the identity of the database.

        ``database`` is the one to which the server's data directory belongs; None: to none yet.

        Raises:
            FailedPrecondition: a living server is on another machine or uses another data
                directory, or the data directory belongs to another database, or the database to
                another directory. The message says which, and the solution.
        """
        ...

    def heartbeat(self, member: Member, silent_s: float) -> bool:
        """Records that the server is alive, and removes dead ones; False: it was removed."""
        ...

    def leave(self, server: str) -> None:
        """Removes a server; does nothing for an unknown one."""
        ...

    def living(self, silent_s: float) -> tuple[Member, ...]:
        """Returns the servers that were alive within ``silent_s``, in the order of their URLs."""
        ...
