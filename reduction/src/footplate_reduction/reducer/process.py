"""The reducer process: one thread around one selector, beside the threads of the lanes."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import signal
import socket
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Callable

from footplate_reduction import tcp_options
from footplate_reduction.errors import ReducerUnreachable, ReductionError
from footplate_reduction.handshake_frames import Refused
from footplate_reduction.native.library import load
from footplate_reduction.reducer.groups import Groups
from footplate_reduction.reducer.handshake import ConnectionClosed, Handshake, Member

if TYPE_CHECKING:
    from footplate_reduction.counters import Counters
    from footplate_reduction.settings import ReducerSettings


# The listening socket.
#
# Accepts connections and reads their handshakes, never more than it needs.

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
            # The connection may have ended since the selector reported it.
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


ENDED = 0
CUT_OFF = 3
_TICK_S = 1.0
_SHUTDOWN_TIMEOUT_S = 5.0
"""The time for lanes to tell their workers that the reducer ends."""


class Reducer:
    """A reducer's process, which listens as soon as it is created.

    The constructor raises OSError if it can't listen, and LibraryError.
    """

    def __init__(self, settings: ReducerSettings) -> None:
        self._settings = settings
        self._instructions = load().instruction_set()
        self._selector = selectors.DefaultSelector()
        self._listener = _listener(settings.host, settings.port)
        self._bell, self._ringer = socket.socketpair()
        self._ending, self._living = os.pipe()
        """All lanes watch the first; closing the second ends them."""
        self._status: int | None = None
        self._reported_refusals = 0
        self._statistics_work = True
        self._group_registry = Groups(settings.job, self._selector, self._ending, self._ring, _say)
        self._handshake_listener = Listener(
            self._listener,
            self._selector,
            settings.token,
            settings.lanes,
            self._group_registry.admit,
        )
        for end in (self._bell, self._ringer):
            end.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ, self._answer_bell)

    @property
    def address(self) -> str:
        return tcp_options.address(self._listener, peer=False)

    def run(self) -> int:
        """Serves until SIGTERM, SIGINT or a loss of the network. Returns the exit status."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.end())
        # Python continues a select after a signal (PEP 475): only the byte sent here wakes it.
        signal.set_wakeup_fd(self._ringer.fileno(), warn_on_full_buffer=False)
        lanes = "1 lane" if self._settings.lanes == 1 else f"{self._settings.lanes} lanes"
        _say(f"listening on {self.address}, {lanes}, adds with {self._instructions}")
        ticks_at = time.monotonic()
        while self._status is None:
            for key, _ in self._selector.select(max(0.0, ticks_at - time.monotonic())):
                if self._selector.get_map().get(key.fd) is key:  # its turn may have been ended
                    key.data()
            self._settle()
            if time.monotonic() >= ticks_at:
                self._tick()
                ticks_at = time.monotonic() + _TICK_S
        return self._leave(self._status)

    def end(self, status: int = ENDED) -> None:
        """Makes ``run`` return ``status``; any thread or signal handler may call it."""
        if self._status is None:
            self._status = status
        self._ring()

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # it rings already
            self._ringer.send(b"!")

    def _answer_bell(self) -> None:
        self._bell.recv(4096)

    def _settle(self) -> None:
        for ended in self._group_registry.settle():
            if isinstance(ended.error, ReducerUnreachable):
                self.end(CUT_OFF)

    def _tick(self) -> None:
        self._handshake_listener.tick()
        self._group_registry.tick()
        if self._handshake_listener.refused > self._reported_refusals:
            words = "refused {} connections in all; the last: {}"
            _say(
                words.format(
                    self._handshake_listener.refused, self._handshake_listener.last_refusal
                )
            )
            self._reported_refusals = self._handshake_listener.refused
        self._write_statistics()

    def _leave(self, status: int) -> int:
        _say("cut off from all workers: ends" if status == CUT_OFF else "told to end")
        # A closed listener doesn't tell its address any more.
        here = self.address
        self._handshake_listener.close()
        os.close(self._living)
        self._group_registry.close(
            ReductionError(f"reducer {here} was told to end"), _SHUTDOWN_TIMEOUT_S
        )
        self._write_statistics()
        signal.set_wakeup_fd(-1)
        self._selector.close()
        return status

    def _write_statistics(self) -> None:
        path = self._settings.stats_path
        if not path or not self._statistics_work:
            return
        counters, groups = self._group_registry.counters(), self._group_registry.groups
        try:
            write_statistics(path, counters, groups)
        except OSError as error:
            self._statistics_work = False
            _say(f"statistics can't be written to {path}: {error}")


def raise_descriptor_limit() -> None:
    """Raises the limit of open files to the hard limit; each connection needs a descriptor."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):  # some name a hard limit that they don't allow
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _listener(host: str, port: int) -> socket.socket:
    if not host and socket.has_dualstack_ipv6():
        return socket.create_server(
            ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1024)


def _say(line: str) -> None:
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except OSError:
        pass  # the reader is gone


def write_statistics(path: str, counters: Counters, groups: int) -> None:
    """Replaces the statistics file at once; readers never see half of it. Raises OSError."""
    said = {**asdict(counters), "groups": groups}
    draft = f"{path}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(said, file)
    Path(draft).replace(path)
