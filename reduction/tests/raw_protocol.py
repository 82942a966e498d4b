"""The other end of a connection, spoken by hand."""

from __future__ import annotations

import contextlib
import socket

from footplate_reduction.frames import HEADER_BYTES, FrameType, Header
from footplate_reduction.handshake_frames import (
    Challenge,
    Hello,
    error_frame,
    hello_frame,
    parse_challenge,
)
from reduction.tests.rig import LONG_S, TOKEN


class Raw:
    """Frames as a test wants them, right or wrong."""

    def __init__(self, connection: socket.socket, rank: int = 0) -> None:
        self.connection = connection
        self.rank = rank
        connection.settimeout(LONG_S)

    @classmethod
    def to(cls, address: str) -> Raw:
        host, _, port = address.rpartition(":")
        return cls(socket.create_connection((host, int(port)), LONG_S))

    def challenge(self) -> Challenge:
        header, payload = self.receive()
        assert header.type is FrameType.CHALLENGE
        return parse_challenge(payload)

    def hello(self, hello: Hello, token: str = TOKEN) -> bytes:
        """Returns what it said."""
        said = hello_frame(hello, token, self.challenge(), "ab" * 32)
        self.connection.sendall(said)
        return said

    def welcomed(self) -> bool:
        return self.receive()[0].type is FrameType.WELCOME

    def at_end(self) -> bool:
        """Whether the other side ends it without another word."""
        try:
            return self.connection.recv(1) == b""
        except ConnectionResetError:
            return True

    def send(self, header: Header, payload: bytes = b"") -> None:
        self.connection.sendall(header.pack() + payload)

    def data(self, payload: bytes, seq: int = 0, offset: int = 0) -> None:
        header = Header(FrameType.DATA, seq=seq, nbytes=len(payload), offset=offset)
        self.send(header._replace(rank=self.rank), payload)

    def bye(self) -> None:
        self.send(Header(FrameType.BYE, rank=self.rank))

    def error(self, sentence: str, culprit: int | None = None) -> None:
        self.connection.sendall(error_frame(sentence, culprit))

    def receive(self) -> tuple[Header, bytes]:
        header = Header.unpack(self._exactly(HEADER_BYTES))
        return header, self._exactly(header.nbytes)

    def expect_error(self) -> tuple[int, str]:
        """The culprit's rank, and the sentence; results before it are skipped. Then the end."""
        header, payload = self.receive()
        while header.type is FrameType.RESULT:
            header, payload = self.receive()
        assert header.type is FrameType.ERROR
        with contextlib.suppress(OSError):  # it may have been closed with bytes unread
            self.connection.shutdown(socket.SHUT_WR)
        assert self.at_end()
        return header.rank, payload.decode()

    def close(self) -> None:
        self.connection.close()

    def reset(self) -> None:
        """As a kernel ends the connections of a killed process that had not read all."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.close()

    def _exactly(self, nbytes: int) -> bytes:
        read = b""
        while len(read) < nbytes:
            piece = self.connection.recv(nbytes - len(read))
            assert piece, "the connection has ended"
            read += piece
        return read
