"""Reports of the launcher on an engine's node to the server, and the server's answers."""

from __future__ import annotations

from footplate.protocol.message import Message
from footplate.protocol.ticket import SupervisorTicket

TITLE_ROOM = " " * 512
"""An argument of the launcher's first program, which leaves room for the launcher's command line in
its own."""


class LauncherConfig(Message):
    """The file ``launcher.json``, which the launcher's first program writes."""

    url: str
    authority: str
    """The certificates (PEM) that a server at an https URL is believed by."""
    token: str
    lease_s: float
    supervisor: str
    """The SHA-256 of the supervisor's archive."""
    scratch: str
    """The node's folder for replicas."""
    job: str
    node: str
    archive: str = ""
    """The SHA-256 of the launcher's own archive."""
    bytecode: str = ""
    """The version of bytecode in both, in hexadecimal; empty: that of this Python."""
    warm: str = ""
    """The token with which a launcher may wait for another replica; empty: it may not."""
    expected: SupervisorTicket | None = None
    """The ticket that the next replica has, too, as far as nothing changes at the server."""

    @property
    def waits(self) -> bool:
        """Returns whether the launcher has no replica."""
        return bool(self.warm) and self.token == self.warm


class LauncherReport(Message):
    """The state of a launcher's replica; ``domain.launchers`` explains the fields."""

    restart: int
    state: str
    incarnation: str = ""
    job: str = ""
    node: str = ""
    reason: str = ""
    ending: str = ""
    stopping: bool = False
    hold_s: float = 0
    """How long the launcher waits for news."""
    boot_id: str = ""
    up_s: float = 0


class WantedStart(Message):
    """The start number ``restart`` of the replica."""

    restart: int
    ticket: SupervisorTicket
    warm: str = ""
    """The token with which the launcher waits for another replica when it is to leave; empty: it
    leaves.
    """


class LauncherAnswer(Message, sparse=True):
    """The server's orders to a launcher."""

    leave: bool = False
    stop: bool = False
    run: WantedStart | None = None
    serve: str = ""
    """The token of the replica that a launcher serves which had none."""

    @property
    def is_news(self) -> bool:
        """Returns whether the answer tells the launcher to do something."""
        return self.leave or self.stop or self.run is not None or bool(self.serve)
