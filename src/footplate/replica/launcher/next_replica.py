"""The file that goes on from one replica to the next, where launchers wait between them.

The next launcher has an empty directory with ``launcher.json`` alone. While it waits it finds out
which isolation programs can have.
"""

from __future__ import annotations

import json
import os

from footplate.protocol.launcher import LauncherConfig
from footplate.protocol.promised import Promised
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.file_io import is_there, read_text, write_text
from footplate.replica.launcher.node_ticket import complete

CONFIG = "launcher.json"
_FOUND = "isolation.json"
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def read_config(directory: str) -> LauncherConfig:
    return LauncherConfig.decode(json.loads(read_text(os.path.join(directory, CONFIG))))


def keep_config(directory: str, config: LauncherConfig) -> None:
    """Writes the file of the launcher, all at once. Raises OSError."""
    _replace(os.path.join(directory, CONFIG), config.encode())


def strip(ticket: SupervisorTicket) -> SupervisorTicket:
    """Returns the ticket as all replicas of the region get it, without what is one's own."""
    values = {**ticket.encode(), "token": "", "restart": 0}
    return SupervisorTicket.decode(values)


def probe(directory: str, config: LauncherConfig) -> None:
    """Finds which isolation programs can have here, before it is known whose: no program runs now.

    Raises SpawnFailed, OSError.
    """
    if config.expected is None:
        return
    from footplate.replica import probe as isolation_probe  # only where a launcher waits

    ticket = strip(config.expected)
    complete(ticket, config.scratch, "", "")
    found = isolation_probe.find_promised(ticket, directory, limited=False)
    _replace(os.path.join(directory, _FOUND), found.encode())


def is_probed(directory: str) -> bool:
    return is_there(os.path.join(directory, _FOUND))


def find_promised(
    directory: str, config: LauncherConfig, received: SupervisorTicket | None
) -> Promised | None:
    """Returns the isolation that was found while the launcher waited; None if there was no time, or
    the server's settings have changed since.
    """
    if received is None or config.expected != received:
        return None
    try:
        return Promised.decode(json.loads(read_text(os.path.join(directory, _FOUND))))
    except (OSError, ValueError):  # the supervisor finds it by itself
        return None


def _replace(path: str, content: dict[str, object]) -> None:
    write_text(f"{path}.part", json.dumps(content), _WRITE, 0o600)
    os.replace(f"{path}.part", path)
