"""The file ``isolation.json`` in a supervisor's HOME: how to find what it has started.

Who cleans up after a dead supervisor needs it, and so does the server, which finds by it the job of
a process.
"""

from __future__ import annotations

from footplate.protocol.message import Message


class IsolationRecord(Message, sparse=True):
    """A supervisor's record of how its program is isolated, for cleanup. The containment mode
    decides which fields are set; 0 and empty mean that the program has no such thing.
    """

    containment_mode: str = ""
    mark: str = ""
    """What the variables of each process have."""
    boot: str = ""
    """The start of the machine: after another one nothing is left."""
    groups: tuple[str, ...] = ()
    """The control groups."""
    killer: str = ""
    """The group whose processes are killed."""
    init: int = 0
    """The first process of the program's namespace or container; ``start``: when it started."""
    start: int = 0
    pid: int = 0
    """The program, where it has no init; ``pid_start``: when it started."""
    pid_start: int = 0
    engine: str = ""
    """The socket of the container's engine."""
    container: str = ""
    created: bool = False
    """The container was made, or was about to be."""
    guarded: bool = False
    """It has a guard."""
    nested: bool = False
    """The program is in a container that the process which was started has made."""
