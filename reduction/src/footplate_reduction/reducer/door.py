"""Where everybody comes in: takes what is due to it from each stranger, and no more."""

from __future__ import annotations

import selectors
import time
from typing import TYPE_CHECKING, Callable

from footplate_reduction.greeting import Refused
from footplate_reduction.reducer.stranger import Gone, Member, Stranger

if TYPE_CHECKING:
    import socket

MOST_STRANGERS = 256
GREETING_S = 5.0
_ROOM_AFTER_S = 1.0
"""Where all places are taken, who has had this long makes room for who waits outside."""


class Door:
    """A listening socket, and the strangers that came by it. Its methods never block.

    ``admit`` is given those who have proved themselves; it raises Refused for who may not stay.
    """

    def __init__(
        self,
        listener: socket.socket,
        selector: selectors.BaseSelector,
        token: str,
        lanes: int,
        admit: Callable[[Member], None],
    ) -> None:
        self._listener = listener
        self._selector = selector
        self._token = token
        self._lanes = lanes
        self._admit = admit
        self._strangers: dict[Stranger, None] = {}
        """In the order in which they came."""
        self._open = False
        self.refused = 0
        self.last_refusal = ""
        listener.setblocking(False)
        self._listen()

    def tick(self) -> None:
        """Once a second or so: late strangers leave."""
        now = time.monotonic()
        crowded = len(self._strangers) >= MOST_STRANGERS
        allowed_s = _ROOM_AFTER_S if crowded else GREETING_S
        for stranger in [each for each in self._strangers if now - each.came > allowed_s]:
            self._refuse(stranger, Refused("no HELLO came in time"))
        self._listen()

    def close(self) -> None:
        if self._open:
            self._selector.unregister(self._listener)
            self._open = False
        self._listener.close()
        for stranger in list(self._strangers):
            self._forget(stranger)
            stranger.connection.close()

    def _listen(self) -> None:
        if not self._open and len(self._strangers) < MOST_STRANGERS:
            self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
            self._open = True

    def _pause(self) -> None:
        self._selector.unregister(self._listener)
        self._open = False

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionError):
            return
        except OSError:  # no descriptors or memory left: later
            self._pause()
            return
        stranger = Stranger(connection, self._token, self._lanes, time.monotonic())
        try:
            stranger.challenge()
        except OSError:
            connection.close()
            return
        self._strangers[stranger] = None
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._hear(stranger))
        if len(self._strangers) >= MOST_STRANGERS:
            self._pause()

    def _hear(self, stranger: Stranger) -> None:
        try:
            member = stranger.receive()
        except Refused as refusal:
            self._refuse(stranger, refusal)
            return
        except (Gone, OSError):
            self._forget(stranger)
            stranger.connection.close()
            return
        if member is None:
            return
        self._forget(stranger)
        try:
            self._admit(member)
        except Refused as refusal:
            self._count(stranger, refusal)
            stranger.refuse(refusal)

    def _refuse(self, stranger: Stranger, refusal: Refused) -> None:
        self._forget(stranger)
        self._count(stranger, refusal)
        stranger.refuse(refusal)

    def _forget(self, stranger: Stranger) -> None:
        del self._strangers[stranger]
        self._selector.unregister(stranger.connection)
        self._listen()

    def _count(self, stranger: Stranger, refusal: Refused) -> None:
        self.refused += 1
        self.last_refusal = f"{stranger.address}: {refusal}"
