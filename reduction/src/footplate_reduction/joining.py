"""How a worker gets its connections: reach, greet, and wait until all others are there."""

from __future__ import annotations

import logging
import secrets
import selectors
import socket
import time
from typing import TYPE_CHECKING, Sequence

from footplate_reduction import link
from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import HEADER_BYTES, FrameType
from footplate_reduction.greeting import (
    NONCE_BYTES,
    TAKEN,
    Challenge,
    Refused,
    check_welcome,
    error_frame,
    error_of,
    greeting_header,
    hello_frame,
    parse_challenge,
)

if TYPE_CHECKING:
    from footplate_reduction.greeting import Hello
    from footplate_reduction.settings import Address

_log = logging.getLogger("footplate_reduction")

_RETRY_S = 0.2
_TAKEN_FOR_S = 5.0
"""Beyond the timeout: how long an old connection of this rank may be in the way."""


class _Unreached(Exception):
    """A reducer isn't there yet, or ended a greeting without a word."""


class Endpoint:
    """One lane of one reducer, until it welcomes this worker."""

    def __init__(self, address: Address, hello: Hello, token: str, deadline: float) -> None:
        self.name = link.written(address)
        self.connection: socket.socket | None = None
        self.lanes = 0
        self._address = address
        self._hello = hello
        self._token = token
        self._deadline = deadline
        self._patient_until = time.monotonic() + hello.timeout_s + _TAKEN_FOR_S
        self._nonce = ""
        self._challenge = Challenge("", 0)

    def knock(self) -> None:
        """Until the reducer has this worker's HELLO. Raises ReductionError after the deadline."""
        began, warned = time.monotonic(), False
        while True:
            try:
                self.connection = self._say_hello()
            except (OSError, _Unreached) as error:
                self._check_time(error)
            else:
                return
            if not warned and time.monotonic() - began > self._hello.timeout_s:
                _log.warning("reducer %s does not answer yet; still trying", self.name)
                warned = True
            time.sleep(_RETRY_S)

    def hear(self) -> bool:
        """Reads the answer to HELLO, once there is something to read. Returns whether it is
        WELCOME; if not, the endpoint has been knocked at again. Raises ReductionError."""
        connection = self.connection
        if connection is None:
            raise AssertionError("hear comes after knock")
        try:
            self._welcome(connection)
        except (OSError, _Unreached) as error:
            connection.close()
            self._check_time(error)
            time.sleep(_RETRY_S)
            self.knock()
            return False
        link.prepare(connection, self._hello.timeout_s)
        return True

    def leave(self, error: ReductionError) -> None:
        """Says why to a reducer that may have begun already."""
        if self.connection is not None:
            try:
                self.connection.settimeout(0.0)
                self.connection.send(error_frame(str(error), error.culprit))
                self.connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            self.connection.close()

    def _say_hello(self) -> socket.socket:
        connection = socket.create_connection(self._address, self._hello.timeout_s)
        try:
            link.prepare(connection, self._hello.timeout_s)
            connection.settimeout(self._hello.timeout_s)
            self._challenge = parse_challenge(_read(connection, FrameType.CHALLENGE))
            self.lanes = self._challenge.lanes
            self._nonce = secrets.token_hex(NONCE_BYTES)
            connection.sendall(hello_frame(self._hello, self._token, self._challenge, self._nonce))
        except BaseException:
            connection.close()
            raise
        return connection

    def _welcome(self, connection: socket.socket) -> None:
        try:
            payload = _read(connection, FrameType.WELCOME)
            check_welcome(payload, self._token, self._challenge, self._nonce)
        except Refused as refusal:
            raise ReductionError(f"reducer {self.name}: {refusal}") from None
        except ReductionError as error:
            if not str(error).startswith(TAKEN):
                raise self._told(error) from None
            if time.monotonic() > self._patient_until:
                raise self._told(error) from None
            raise _Unreached(str(error)) from None

    def _told(self, error: ReductionError) -> ReductionError:
        return ReductionError(f"reducer {self.name}: {error}", error.culprit)

    def _check_time(self, error: Exception) -> None:
        if time.monotonic() > self._deadline:
            told = "reducer {} could not be reached: {}"
            raise ReductionError(told.format(self.name, error)) from None


def join(reducers: Sequence[Address], hello: Hello, token: str) -> list[socket.socket]:
    """Greeted connections to all endpoints, in their order. Blocks until all workers are there.

    Raises ReductionError: refused, not reached within the patience, or a worker was lost meanwhile.
    """
    deadline = time.monotonic() + hello.patience_s
    endpoints: list[Endpoint] = []
    try:
        _knock_at_all(reducers, hello, token, deadline, endpoints)
        _await_welcomes(endpoints, deadline + hello.timeout_s)
    except ReductionError as error:
        for endpoint in endpoints:
            endpoint.leave(error)
        raise
    except BaseException:
        for endpoint in endpoints:
            endpoint.leave(ReductionError(f"worker {hello.rank} left", hello.rank))
        raise
    return [each.connection for each in endpoints if each.connection is not None]


def _knock_at_all(
    reducers: Sequence[Address],
    hello: Hello,
    token: str,
    deadline: float,
    endpoints: list[Endpoint],
) -> None:
    for address in reducers:
        first = Endpoint(address, hello._replace(lane=0), token, deadline)
        endpoints.append(first)
        first.knock()
        if first.lanes != endpoints[0].lanes:
            told = "reducers {} and {} have {} and {} lanes; all must have the same number"
            names = endpoints[0].name, first.name
            raise ReductionError(told.format(*names, endpoints[0].lanes, first.lanes))
        for lane in range(1, first.lanes):
            other = Endpoint(address, hello._replace(lane=lane), token, deadline)
            endpoints.append(other)
            other.knock()


def _await_welcomes(endpoints: Sequence[Endpoint], deadline: float) -> None:
    """A reducer that tells of a loss, or is lost, is heard even where it has welcomed before."""
    with selectors.DefaultSelector() as selector:
        waiting = set(endpoints)
        for each in endpoints:
            _register(each, selector)
        while waiting:
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready and time.monotonic() > deadline:
                silent = ", ".join(sorted({each.name for each in waiting}))
                raise ReductionError("no welcome came from reducer " + silent)
            for key, _ in ready:
                if key.data not in waiting:
                    raise _loss(key.data)
                selector.unregister(key.fileobj)
                if key.data.hear():
                    waiting.discard(key.data)
                _register(key.data, selector)


def _register(endpoint: Endpoint, selector: selectors.BaseSelector) -> None:
    if endpoint.connection is not None:
        selector.register(endpoint.connection, selectors.EVENT_READ, endpoint)


def _loss(endpoint: Endpoint) -> ReductionError:
    """What an endpoint says that had welcomed this worker: nothing but an ERROR may come."""
    try:
        if endpoint.connection is not None:
            _read(endpoint.connection)
    except Refused:
        pass
    except ReductionError as error:
        return error
    except (OSError, _Unreached):
        pass
    return ReductionError(f"reducer {endpoint.name} was lost before all workers were there")


def _read(connection: socket.socket, *allowed: FrameType) -> bytes:
    """The payload of a frame of the greeting. Raises what an ERROR says, Refused for no frame of
    those allowed, _Unreached at the end of the connection."""
    header = greeting_header(_exactly(connection, HEADER_BYTES), FrameType.ERROR, *allowed)
    payload = _exactly(connection, header.nbytes)
    if header.type is FrameType.ERROR:
        raise error_of(header, payload)
    return payload


def _exactly(connection: socket.socket, nbytes: int) -> bytes:
    read = bytearray()
    while len(read) < nbytes:
        piece = connection.recv(nbytes - len(read))
        if not piece:
            raise _Unreached("it closed the connection")
        read += piece
    return bytes(read)
