"""Client of a shell in a running replica, over WebSocket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.sync.client import connect

from footplate.client.error_mapping import ConnectionBroke, NoServer, read_failure
from footplate.client.http_client import LOOPBACK, leader
from footplate.domain.errors import InvalidArgument
from footplate.wire.shell_v1 import (
    MAX_MESSAGE_BYTES,
    Answer,
    EndOfInput,
    Opening,
    Request,
    Resize,
    Size,
    decode_answer,
    encode_message,
)

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

_OPEN_S = 30.0
_CLOSE_S = 2.0


class RemoteShell:
    """A shell in a replica. One thread may read its output while another one sends.

    Output that isn't read slows the shell down; a shell that doesn't read slows ``send`` down.
    """

    def __init__(self, uri: str, opening: Opening, token: str | None = None) -> None:
        """Opens a shell. ``uri`` is one of a job's ``webAccessUris``.

        Raises:
            NoServer, ConnectionBroke: the server can't be reached.
            ServiceError: the server refuses a shell, with its reason.
        """
        split = urlsplit(uri)
        self._server = f"{split.scheme}://{split.netloc}"
        self._exit = ExitStack()
        try:
            self._socket = self._exit.enter_context(_connect(uri, token))
        except InvalidStatus as error:
            answer = error.response
            raise read_failure(
                answer.status_code, bytes(answer.body or b""), self._server
            ) from None
        except (InvalidHandshake, InvalidURI) as error:
            raise ConnectionBroke(self._server, str(error)) from None
        except OSError:  # what isn't a server's answer is none
            raise NoServer(self._server) from None
        self._notify(opening)

    def __iter__(self) -> Iterator[bytes | Answer]:
        """Yields the shell's messages until the connection ends. Raises ConnectionBroke."""
        try:
            for message in self._socket:
                yield message if isinstance(message, bytes) else decode_answer(message)
        except InvalidArgument as error:
            raise ConnectionBroke(self._server, error.message) from None
        except ConnectionClosed as error:
            raise ConnectionBroke(self._server, _describe(error)) from None

    def send(self, data: bytes) -> bool:
        """Sends input to the shell; returns False if it has ended."""
        return self._say(data)

    def resize(self, size: Size) -> None:
        self._notify(Resize(size))

    def end_input(self) -> None:
        self._notify(EndOfInput())

    def close(self) -> None:
        self._exit.close()

    def _notify(self, request: Request) -> None:
        self._say(encode_message(request))

    def _say(self, message: bytes | str) -> bool:
        try:
            self._socket.send(message)
        except ConnectionClosed:  # the reader raises the reason
            return False
        return True


def _connect(uri: str, token: str | None) -> ClientConnection:
    """Connects to the server, or to the server that it redirects to."""
    try:
        return _connect_there(uri, token)
    except InvalidStatus as error:
        answer = error.response
        there = leader(answer.status_code, answer.headers.get("location"), uri)
        if there is None:
            raise
        return _connect_there(there, token)


def _connect_there(uri: str, token: str | None) -> ClientConnection:
    split = urlsplit(uri)
    scheme = {"http": "ws", "https": "wss"}.get(split.scheme, split.scheme)
    return connect(
        split._replace(scheme=scheme).geturl(),
        additional_headers={"authorization": f"Bearer {token}"} if token else None,
        compression=None,
        proxy=None if split.hostname in LOOPBACK else True,
        max_size=MAX_MESSAGE_BYTES,
        open_timeout=_OPEN_S,
        close_timeout=_CLOSE_S,
        ping_interval=None,  # the server pings
    )


def _describe(error: ConnectionClosed) -> str:
    if error.rcvd is None:
        return "the connection broke"
    return error.rcvd.reason or f"the server closed the connection with code {error.rcvd.code}"
