"""Relays bytes between a shell and the server."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time

from footplate.replica import program_user
from footplate.replica.control_answers import begin
from footplate.replica.http_client import ServerUnavailable
from footplate.replica.isolation.containment import Unavailable
from footplate.replica.isolation.namespace_entry import Entry
from footplate.replica.isolation.spawn import SpawnFailed
from footplate.replica.shell import websocket_frames
from footplate.replica.shell.shell_process import (
    ShellProcess,
    ShellRequest,
    Surroundings,
    read_size,
    start,
)
from footplate.replica.shell.websocket import WebSocket
from footplate.replica.workdir import PROGRAM_FILE, Home

TYPE_CHECKING = False  # without the module typing, which isn't needed
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Tuple


_AT_ONCE_BYTES = 32768
_INPUT_LIMIT_BYTES = 4 << 20
"""More than a server sends that waits to hear how much was taken."""
_TAKEN_BYTES = 1 << 15
"""Told when the shell has read so much, or all."""
_RECHECK_MS = 1000
"""So often it is looked whether the program is still there: not all containment modes end a
shell with it.
"""
_LAST_READS = 64
_HANG_UP_MS = 2000
"""What is left to a shell when its user is gone, or its program."""
ENDED_WITH_PROGRAM = "the shell ends, because the program has ended"


class Session:
    """A session that passes data between shell and server. Neither is read faster than the other
    takes the data.
    """

    def __init__(self, link: WebSocket, inside: ShellProcess, alive: Callable[[], bool]) -> None:
        """Prepares a session; ``alive`` returns whether the program still runs."""
        self._link = link
        self._inside = inside
        self._alive = alive
        self._input = bytearray()
        self._input_ends = False
        self._taken = 0
        """How much of it the shell has read since the server was told."""
        self._stream = "stdout"
        """Where the last output came from, as the server knows."""
        self._wake, writing = os.pipe()
        for descriptor in (self._wake, writing):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self, early: List[Tuple[int, bytes]]) -> None:
        """Runs the session to its end; ``early`` are messages that have already arrived."""
        self._take(early)
        while self._link.open and self._alive() and not self._inside.ended:
            self._turn()
        if self._link.open and self._inside.ended and self._alive():
            self._conclude()
        elif self._link.open:
            tell(self._link, {"error": ENDED_WITH_PROGRAM})
            self._link.say_goodbye()
        self._end_shell()
        self._link.finish()

    def _turn(self) -> None:
        link, inside = self._link, self._inside
        poller = select.poll()
        poller.register(self._wake, select.POLLIN)
        poller.register(link, link.events(reading=True))
        wanted: Dict[int, int] = {}
        if not link.congested:
            wanted.update(dict.fromkeys(inside.streams, select.POLLIN))
        if self._input and inside.entrance >= 0:
            wanted[inside.entrance] = wanted.get(inside.entrance, 0) | select.POLLOUT
        for descriptor, events in wanted.items():
            poller.register(descriptor, events)
        for descriptor, events in poller.poll(_RECHECK_MS):
            self._handle(descriptor, events)

    def _handle(self, descriptor: int, events: int) -> None:
        if descriptor == self._wake:
            _read(self._wake)
        elif descriptor == self._link.fileno():
            self._link.flush()
            if events & ~select.POLLOUT:
                self._take(self._link.receive())
            if len(self._input) > _INPUT_LIMIT_BYTES:
                self._link.close()
        else:
            if descriptor in self._inside.streams and events & ~select.POLLOUT:
                self._pass_on(descriptor)
            if descriptor == self._inside.entrance and events & ~select.POLLIN:
                self._feed()

    def _take(self, messages: List[Tuple[int, bytes]]) -> None:
        for opcode, payload in messages:
            if opcode == websocket_frames.BINARY:
                self._input += payload
            else:
                self._obey(parse(payload))
        self._feed()

    def _obey(self, value: Dict[str, Any]) -> None:
        if "resize" in value:
            self._inside.resize(read_size(value["resize"]))
        elif value.get("eof") is True:
            self._input_ends = True

    def _feed(self) -> None:
        """Writes waiting input to the shell, as much as it takes."""
        inside, before = self._inside, len(self._input)
        try:
            while self._input and inside.entrance >= 0:
                del self._input[: os.write(inside.entrance, self._input[:_AT_ONCE_BYTES])]
        except BlockingIOError:
            pass
        except OSError:  # it doesn't want any more
            inside.end_input()
            self._input.clear()
        if inside.entrance < 0:
            self._input.clear()
        self._taken += before - len(self._input)
        if self._taken >= _TAKEN_BYTES or (self._taken and not self._input):
            tell(self._link, {"taken": self._taken})
            self._taken = 0
        if self._input_ends and not self._input:
            inside.end_input()

    def _pass_on(self, stream: int) -> bool:
        """Passes the shell's output on; returns whether there was any."""
        data = _read(stream)
        if data:
            name = self._inside.streams[stream]
            if name != self._stream:
                self._stream = name
                tell(self._link, {"stream": name})
            self._link.send(websocket_frames.BINARY, data)
        elif data is not None:
            self._inside.end_stream(stream)
        return bool(data)

    def _conclude(self) -> None:
        """Passes on the last output of a shell that has ended, and how it ended.

        Processes that the shell left running may write more: that isn't waited for.
        """
        for stream in tuple(self._inside.streams):
            for _ in range(_LAST_READS):
                if not self._pass_on(stream):
                    break
                self._wait_while(lambda: self._link.congested)
        tell(self._link, {"exit": self._inside.code()})
        self._link.say_goodbye()
        self._wait_while(lambda: not self._link.flushed)

    def _wait_while(self, waiting: Callable[[], bool]) -> None:
        """Waits for the server to take the data sent; stops when the program has ended."""
        while waiting() and self._alive():
            poller = select.poll()
            poller.register(self._link, self._link.events(reading=False))
            for _, events in poller.poll(_RECHECK_MS):
                self._link.flush()
                if events & ~select.POLLOUT:
                    self._link.close()

    def _end_shell(self) -> None:
        for _ in range(2):
            if self._inside.ended:
                return
            self._inside.hang_up()
            poller = select.poll()
            poller.register(self._wake, select.POLLIN)
            poller.poll(_HANG_UP_MS)
            _read(self._wake)


def tell(link: WebSocket, value: Dict[str, Any]) -> None:
    link.send(websocket_frames.TEXT, json.dumps(value).encode())


def parse(text: bytes) -> Dict[str, Any]:
    """Returns the JSON object in ``text``; empty if there is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _read(descriptor: int) -> bytes | None:
    """Returns data; None if there is none now, b'' at the end."""
    try:
        return os.read(descriptor, _AT_ONCE_BYTES)
    except BlockingIOError:
        return None
    except OSError:  # a terminal whose other side is closed
        return b""


# ``shell HOME ID``: runs a shell beside the program, for one user.

SHELLS_PATH = "/replica/v1/shells"
OK = 0
FAILED = 1
_NO_ACCESS = "the job doesn't set enableWebAccess"
_TIMEOUT_S = 30.0
"""The time in which the server must say what is wanted."""


def main(path: str, shell_id: str) -> int:
    begin()
    home = Home(path)
    try:
        ticket = home.read_ticket()
        path = f"{SHELLS_PATH}/{shell_id}"
        link = WebSocket.connect(ticket.server_file, ticket.token, path)
    except (OSError, ValueError) as error:
        print(f"shell {shell_id}: {error}", file=sys.stderr)
        return FAILED
    try:
        return _serve(home, link)
    finally:
        link.close()


def _serve(home: Home, link: WebSocket) -> int:
    try:
        control_request, early = _await_control_request(link)
        wanted = ShellRequest.parse(control_request)
        inside, alive = _open(home, wanted)
    except (Unavailable, SpawnFailed, OSError, ValueError, KeyError, TypeError) as error:
        tell(link, {"error": f"the supervisor can't start a shell: {error}"})
        link.say_goodbye()
        return FAILED if isinstance(error, ServerUnavailable) else OK
    Session(link, inside, alive).run(early)
    return OK


def _open(home: Home, wanted: ShellRequest) -> Tuple[ShellProcess, Callable[[], bool]]:
    """Opens a shell; returns it, with a function that tells whether the program runs. Raises
    Unavailable, SpawnFailed, OSError.
    """
    record = home.read_isolation()
    if record.containment_mode == "container":
        from footplate.replica.container.shell import ContainerEntry  # only containers pay for it

        if not home.read_task().web_access:
            raise Unavailable(_NO_ACCESS)
        container = ContainerEntry(record)
        return container.start(wanted), lambda: container.alive
    if record.nested and os.geteuid() == 0:  # the shell would have rights that the program lacks
        raise Unavailable("jobs of root have no shells in containers of Apptainer")
    entry = Entry.find(record)
    return _start(home, entry, wanted), lambda: entry.alive


def _start(home: Home, entry: Entry, wanted: ShellRequest) -> ShellProcess:
    program = home.read(PROGRAM_FILE)
    if program is None:
        raise Unavailable(_NO_ACCESS)
    environment = {str(name): str(value) for name, value in program["environment"].items()}
    own = Surroundings(environment, str(program["directory"]), program_user.read(home))
    return start(entry, own, wanted)


def _await_control_request(link: WebSocket) -> Tuple[Dict[str, Any], List[Tuple[int, bytes]]]:
    """Returns the request for a shell, which the server sends first, and the messages that came
    with it.

    Raises ServerUnavailable.
    """
    end = time.monotonic() + _TIMEOUT_S
    while link.open:
        messages = link.receive()
        if messages:
            control_request = parse(messages[0][1]).get("open")
            return (control_request if isinstance(control_request, dict) else {}), messages[1:]
        poller = select.poll()
        poller.register(link, link.events(reading=True))
        if not poller.poll(max(0.0, end - time.monotonic()) * 1000):
            break
    raise ServerUnavailable("the server sent no request for a shell")
