"""The listening socket.

Accepts connections and reads their handshakes, never more than it needs.
"""

from __future__ import annotations

import selectors
import time
from typing import TYPE_CHECKING, Callable

from footplate_reduction.handshake_frames import Refused
from footplate_reduction.reducer.handshake import ConnectionClosed, Handshake, Member

if TYPE_CHECKING:
    import socket

MAX_PENDING_HANDSHAKES = 256
HANDSHAKE_TIMEOUT_S = 5.0
_ROOM_AFTER_S = 1.0
"""Where all places are taken, who has had this long makes room for who waits outside."""


class Listener:
    """A listening socket and its connections that aren't authenticated yet. Its methods never
    block.

    ``admit`` receives each authenticated worker; it raises Refused if the worker may not join.
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
        self._handshakes: dict[Handshake, None] = {}
        """The handshakes in the order in which they came."""
        self._open = False
        self.refused = 0
        self.last_refusal = ""
        listener.setblocking(False)
        self._listen()

    def tick(self) -> None:
        """Closes connections that authenticate too slowly. Must be called about once a second."""
        now = time.monotonic()
        crowded = len(self._handshakes) >= MAX_PENDING_HANDSHAKES
        allowed_s = _ROOM_AFTER_S if crowded else HANDSHAKE_TIMEOUT_S
        for handshake in [each for each in self._handshakes if now - each.came > allowed_s]:
            self._refuse(handshake, Refused("the worker sent no HELLO in time"))
        self._listen()

    def close(self) -> None:
        if self._open:
            self._selector.unregister(self._listener)
            self._open = False
        self._listener.close()
        for handshake in list(self._handshakes):
            self._forget(handshake)
            handshake.connection.close()

    def _listen(self) -> None:
        if not self._open and len(self._handshakes) < MAX_PENDING_HANDSHAKES:
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
        handshake = Handshake(connection, self._token, self._lanes, time.monotonic())
        try:
            handshake.challenge()
        except OSError:  # the connection is lost
            connection.close()
            return
        self._handshakes[handshake] = None
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._receive(handshake))
        if len(self._handshakes) >= MAX_PENDING_HANDSHAKES:
            self._pause()

    def _receive(self, handshake: Handshake) -> None:
        try:
            member = handshake.receive()
        except Refused as refusal:
            self._refuse(handshake, refusal)
            return
        except (ConnectionClosed, OSError):  # the connection is lost
            self._forget(handshake)
            handshake.connection.close()
            return
        if member is None:
            return
        self._forget(handshake)
        try:
            self._admit(member)
        except Refused as refusal:
            self._count(handshake, refusal)
            handshake.refuse(refusal)

    def _refuse(self, handshake: Handshake, refusal: Refused) -> None:
        self._forget(handshake)
        self._count(handshake, refusal)
        handshake.refuse(refusal)

    def _forget(self, handshake: Handshake) -> None:
        del self._handshakes[handshake]
        self._selector.unregister(handshake.connection)
        self._listen()

    def _count(self, handshake: Handshake, refusal: Refused) -> None:
        self.refused += 1
        self.last_refusal = f"{handshake.address}: {refusal}"
