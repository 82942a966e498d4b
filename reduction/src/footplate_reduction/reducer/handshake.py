"""The handshake of a connection that has not yet proved that it belongs to a worker."""

from __future__ import annotations

import secrets
import socket
from typing import NamedTuple

from footplate_reduction import tcp_options
from footplate_reduction.frames import HEADER_BYTES, FrameType
from footplate_reduction.handshake_frames import (
    NONCE_BYTES,
    Answer,
    Challenge,
    Refused,
    challenge_frame,
    error_frame,
    handshake_header,
    parse_hello,
)


class Member(NamedTuple):
    """A worker that has been authenticated."""

    connection: socket.socket
    address: str
    answer: Answer


class ConnectionClosed(Exception):
    """The peer has ended the connection."""


class Handshake:
    """The reducer's side of one handshake. It buffers at most one frame."""

    def __init__(self, connection: socket.socket, token: str, lanes: int, came: float) -> None:
        self.connection = connection
        self.address = tcp_options.address(connection, peer=True)
        self.came = came
        self._token = token
        self._challenge = Challenge(secrets.token_hex(NONCE_BYTES), lanes)
        self._read = bytearray()
        connection.setblocking(False)

    def challenge(self) -> None:
        """Sends the challenge to the worker. Raises OSError."""
        self.connection.send(challenge_frame(self._challenge))

    def receive(self) -> Member | None:
        """Reads the HELLO; None until it is complete. Raises Refused, ConnectionClosed, OSError."""
        while True:
            missing = self._missing()
            if not missing:
                break
            try:
                piece = self.connection.recv(missing)
            except (BlockingIOError, InterruptedError):
                return None
            if not piece:
                raise ConnectionClosed
            self._read += piece
        answer = parse_hello(bytes(self._read[HEADER_BYTES:]), self._token, self._challenge)
        return Member(self.connection, self.address, answer)

    def refuse(self, refusal: Refused) -> None:
        refuse(self.connection, refusal)

    def _missing(self) -> int:
        if len(self._read) < HEADER_BYTES:
            return HEADER_BYTES - len(self._read)
        header = handshake_header(self._read[:HEADER_BYTES], FrameType.HELLO)
        return HEADER_BYTES + header.nbytes - len(self._read)


def refuse(connection: socket.socket, refusal: Exception, culprit: int | None = None) -> None:
    """Sends the reason, if the socket takes it without blocking, and closes the connection."""
    try:
        connection.setblocking(False)
        connection.send(error_frame(str(refusal), culprit))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1 << 16)  # what is left unread would destroy what was said
    except OSError:  # the connection is lost
        pass
    connection.close()
