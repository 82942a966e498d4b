"""Connects a worker to all endpoints: connect, handshake, wait for the other workers."""

from __future__ import annotations

import contextlib
import logging
import secrets
import selectors
import socket
import time
from typing import TYPE_CHECKING, Sequence

from footplate_reduction import tcp_options
from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import HEADER_BYTES, FrameType
from footplate_reduction.handshake_frames import (
    NONCE_BYTES,
    TAKEN,
    Challenge,
    Refused,
    check_welcome,
    error_frame,
    error_of,
    handshake_header,
    hello_frame,
    parse_challenge,
)

if TYPE_CHECKING:
    from footplate_reduction.handshake_frames import Hello
    from footplate_reduction.settings import Address

_log = logging.getLogger("footplate_reduction")

_RETRY_S = 0.2
_POLL_INTERVAL_S = 1.0
_TAKEN_FOR_S = 5.0
"""Beyond the timeout: how long an old connection of this rank may be in the way."""


class _Unreached(Exception):
    """A reducer does not answer yet, or closed the connection during the handshake."""


class Endpoint:
    """One lane of one reducer, until it welcomes this worker."""

    def __init__(self, address: Address, hello: Hello, token: str) -> None:
        self.name = tcp_options.written(address)
        self.address = address
        self.lane = hello.lane
        self.lanes = 0
        """The lanes of its reducer; known once it was reached."""
        self.connection: socket.socket | None = None
        self.welcomed = False
        self.knocks_at = 0.0
        """The time of the next attempt where there is no connection."""
        self.trouble = ""
        """The reason why it wasn't reached last."""
        self._hello = hello
        self._token = token
        self._patient_until = time.monotonic() + hello.timeout_s + _TAKEN_FOR_S
        self._nonce = ""
        self._challenge = Challenge("", 0)

    def connect(self) -> socket.socket | None:
        """Connects and sends HELLO; returns the connection. If the reducer can't be reached,
        returns None and schedules a retry.
        """
        try:
            self.connection = self._say_hello()
        except (OSError, _Unreached) as error:
            self._later(error)
        return self.connection

    def receive(self) -> None:
        """Reads WELCOME and marks the endpoint as welcomed, or schedules a retry if the connection
        is lost.

        Raises ReductionError.
        """
        connection = self.connection
        if connection is None:
            raise AssertionError("an endpoint must connect before it can read a welcome")
        if self.welcomed:
            raise self._loss(connection)
        try:
            self._welcome(connection)
        except (OSError, _Unreached) as error:
            connection.close()
            self.connection = None
            self._later(error)
            return
        tcp_options.prepare(connection, self._hello.timeout_s)
        self.welcomed = True

    def leave(self, error: ReductionError) -> None:
        """Sends the reason to a reducer that may have started already."""
        if self.connection is not None:
            with contextlib.suppress(OSError):  # the connection ends anyway
                self.connection.settimeout(0.0)
                self.connection.send(error_frame(str(error), error.culprit))
                self.connection.shutdown(socket.SHUT_WR)
            self.connection.close()

    def _later(self, error: Exception) -> None:
        self.trouble = str(error)
        self.knocks_at = time.monotonic() + _RETRY_S

    def _say_hello(self) -> socket.socket:
        connection = socket.create_connection(self.address, self._hello.timeout_s)
        try:
            tcp_options.prepare(connection, self._hello.timeout_s)
            connection.settimeout(self._hello.timeout_s)
            self._challenge = parse_challenge(_read(connection, FrameType.CHALLENGE))
            self.lanes = self._challenge.lanes
            self._nonce = secrets.token_hex(NONCE_BYTES)
            connection.sendall(hello_frame(self._hello, self._token, self._challenge, self._nonce))
        except ReductionError as error:
            connection.close()
            raise self._with_name(error) from None
        except BaseException:
            connection.close()
            raise
        return connection

    def _welcome(self, connection: socket.socket) -> None:
        try:
            payload = _read(connection, FrameType.WELCOME)
            check_welcome(payload, self._token, self._challenge, self._nonce)
        except ReductionError as error:
            passing = str(error).startswith(TAKEN) and time.monotonic() < self._patient_until
            raise (_Unreached(str(error)) if passing else self._with_name(error)) from None

    def _with_name(self, error: ReductionError) -> ReductionError:
        return ReductionError(f"reducer {self.name}: {error}", error.culprit)

    def _loss(self, connection: socket.socket) -> ReductionError:
        """Returns the error that a reducer sent after WELCOME; no other frame is valid there."""
        try:
            _read(connection)
        except Refused:
            pass
        except ReductionError as error:
            return error
        except (OSError, _Unreached):  # the first error counts
            pass
        return ReductionError(f"reducer {self.name} was lost before all workers had connected")


class _ConnectionSet:
    """Connects to all endpoints at once, so that errors arrive even while one is missing."""

    def __init__(self, reducers: Sequence[Address], hello: Hello, token: str) -> None:
        self._hello = hello
        self._token = token
        self._endpoints = [Endpoint(each, hello._replace(lane=0), token) for each in reducers]
        self._began = time.monotonic()
        self._warned = False
        self._selector = selectors.DefaultSelector()

    def run(self) -> list[socket.socket]:
        with self._selector:
            try:
                while not all(each.welcomed for each in self._endpoints):
                    self._check_time()
                    self._connect()
                    self._receive()
            except BaseException as error:
                self._leave(error)
                raise
        return [each.connection for each in self._endpoints if each.connection is not None]

    def _connect(self) -> None:
        for each in [each for each in self._endpoints if each.connection is None]:
            connection = each.connect() if each.knocks_at <= time.monotonic() else None
            if connection is not None:
                self._selector.register(connection, selectors.EVENT_READ, each)
                self._add_lanes(each)

    def _receive(self) -> None:
        away = [each.knocks_at for each in self._endpoints if each.connection is None]
        now = time.monotonic()
        wait_s = min([_POLL_INTERVAL_S, *(max(0.0, each - now) for each in away)])
        for key, _ in self._selector.select(wait_s):
            key.data.receive()
            if key.data.connection is None:
                # By the number: the socket is closed, and doesn't have one any more.
                self._selector.unregister(key.fd)

    def _add_lanes(self, reached: Endpoint) -> None:
        """Adds an endpoint for each further lane once a reducer has reported how many it has."""
        at = self._endpoints.index(reached)
        known = {(each.address, each.lane) for each in self._endpoints[at:]}
        others = range(1, reached.lanes if reached.lane == 0 else 0)
        for lane in reversed([lane for lane in others if (reached.address, lane) not in known]):
            hello = self._hello._replace(lane=lane)
            self._endpoints.insert(at + 1, Endpoint(reached.address, hello, self._token))
        for each in self._endpoints:
            if each.lanes not in (0, reached.lanes):
                message = (
                    "reducers {} and {} have {} and {} lanes; all reducers must have the same "
                    "number of lanes"
                )
                lanes = each.lanes, reached.lanes
                raise ReductionError(message.format(each.name, reached.name, *lanes))

    def _check_time(self) -> None:
        passed_s = time.monotonic() - self._began
        away = [each for each in self._endpoints if each.connection is None and each.trouble]
        if passed_s > self._hello.timeout_s and away and not self._warned:
            _log.warning(
                "the worker can't reach reducer %s yet (%s)", away[0].name, away[0].trouble
            )
            self._warned = True
        if passed_s > self._hello.patience_s and away:
            message = f"reducer {away[0].name} could not be reached: {away[0].trouble}"
            raise ReductionError(message)
        if passed_s > self._hello.patience_s + self._hello.timeout_s:
            silent = next(each.name for each in self._endpoints if not each.welcomed)
            raise ReductionError(f"reducer {silent} did not answer the handshake")

    def _leave(self, error: BaseException) -> None:
        rank = self._hello.rank
        if not isinstance(error, ReductionError):
            error = ReductionError(f"worker {rank} left before all workers had connected", rank)
        for each in self._endpoints:
            each.leave(error)


def join(reducers: Sequence[Address], hello: Hello, token: str) -> list[socket.socket]:
    """Returns connections to all endpoints, in order, after the handshake with all workers.

    Raises ReductionError: a reducer refused, or wasn't reached within the patience, or a worker was
    lost meanwhile.
    """
    return _ConnectionSet(reducers, hello, token).run()


def _read(connection: socket.socket, *allowed: FrameType) -> bytes:
    """Returns the payload of a handshake frame of one of the ``allowed`` types.

    Raises the error that an ERROR frame reports, Refused for any other frame, and _Unreached at the
    end of the connection.
    """
    header = handshake_header(_exactly(connection, HEADER_BYTES), FrameType.ERROR, *allowed)
    payload = _exactly(connection, header.nbytes)
    if header.type is FrameType.ERROR:
        raise error_of(header, payload)
    return payload


def _exactly(connection: socket.socket, nbytes: int) -> bytes:
    read = bytearray()
    while len(read) < nbytes:
        piece = connection.recv(nbytes - len(read))
        if not piece:
            raise _Unreached("the reducer closed the connection")
        read += piece
    return bytes(read)
