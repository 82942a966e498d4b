"""The result format of a control request."""

from __future__ import annotations

import os
import signal
import sys
import time

from footplate.replica.control_requests import CONTROL_REQUESTS_PATH
from footplate.replica.http_client import Connection, Refused, ServerUnavailable
from footplate.replica.isolation import syscalls

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.protocol.control_requests import ControlResponse
    from footplate.replica.workdir import Home

OK = 0
NO_RESPONSE = 5
TIMEOUT_S = 10.0
_BACKOFF_S = 0.2


def begin() -> None:
    """Makes this process end when the supervisor does, however that dies."""
    supervisor = os.getppid()
    try:
        syscalls.die_with_parent(signal.SIGKILL)
    except (OSError, AttributeError):  # no Linux
        return
    if os.getppid() != supervisor:
        sys.exit(NO_RESPONSE)


def answer(home: Home, control_request: str, response: ControlResponse) -> int:
    """Sends the response; returns the exit code for this process.

    If nobody waits for it at the server any more, the server refuses it, which counts as success.
    """
    ticket = home.read_ticket()
    connection = Connection(ticket.server_file, ticket.token, TIMEOUT_S)
    end = time.monotonic() + TIMEOUT_S
    while True:
        try:
            connection.post(f"{CONTROL_REQUESTS_PATH}/{control_request}", response.encode())
        except ServerUnavailable as error:
            if time.monotonic() + _BACKOFF_S > end:
                print(
                    f"the response to control request {control_request} could not be sent: {error}",
                    file=sys.stderr,
                )
                return NO_RESPONSE
            time.sleep(_BACKOFF_S)
        except Refused as error:
            print(
                f"the server rejected the response to control request {control_request}: {error}",
                file=sys.stderr,
            )
            return OK
        else:
            return OK
