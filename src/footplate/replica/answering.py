"""How a process that sees to a wish says what came of it."""

from __future__ import annotations

import os
import signal
import sys
import time

from footplate.replica.connection import Connection, Refused, ServerAway
from footplate.replica.wishes import WISHES_PATH

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.replica.home import Home

OK = 0
UNSAID = 5
PATIENCE_S = 10.0
_REST_S = 0.2


def begin() -> None:
    """Go when the supervisor does, however it dies."""
    from footplate.replica.isolation import kernel  # where there is such a call: ctypes

    supervisor = os.getppid()
    try:
        kernel.die_with_parent(signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != supervisor:
        sys.exit(UNSAID)


def answer(home: Home, wish: str, value: dict[str, Any]) -> int:
    """Send ``{"text": ...}`` or ``{"error": ...}``; the exit code for this process.

    A server that nobody waits at any more refuses it, which is as good.
    """
    ticket = home.read("ticket.json") or {}
    connection = Connection(ticket["server_file"], ticket["token"], PATIENCE_S)
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            connection.post(f"{WISHES_PATH}/{wish}", value)
        except ServerAway as error:
            if time.monotonic() + _REST_S > end:
                print(f"the answer to wish {wish} can't be brought: {error}", file=sys.stderr)
                return UNSAID
            time.sleep(_REST_S)
        except Refused as error:
            print(f"the answer to wish {wish} is not wanted: {error}", file=sys.stderr)
            return OK
        else:
            return OK
