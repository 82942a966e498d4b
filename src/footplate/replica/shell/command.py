"""``shell HOME ID``: runs a shell beside the program, for one user."""

from __future__ import annotations

import select
import sys
import time

from footplate.replica import program_user
from footplate.replica.http_client import ServerUnavailable
from footplate.replica.isolation.containment import Unavailable
from footplate.replica.isolation.namespace_entry import Entry
from footplate.replica.isolation.spawn import SpawnFailed
from footplate.replica.responses import begin
from footplate.replica.shell.session import Session, parse, tell
from footplate.replica.shell.shell_process import ShellProcess, ShellRequest, Surroundings, start
from footplate.replica.shell.websocket import WebSocket
from footplate.replica.workdir import Home

TYPE_CHECKING = False  # without the module typing, which isn't needed
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Tuple

SHELLS_PATH = "/replica/v1/shells"
PROGRAM_FILE = "program.json"
"""The file in HOME with the variables and the directory that the program was started with."""
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
        return _refuse(f"shell {shell_id}: {error}")
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


def _refuse(message: str) -> int:
    print(message, file=sys.stderr)
    return FAILED
