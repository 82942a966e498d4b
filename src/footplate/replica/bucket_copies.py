"""The command that has the server fetch or save the copies of buckets.

The server has the credentials of the buckets, and the copies lie on this machine: nothing but
sentences goes over the connection. Prints JSON lines: progress, then a result.
"""

from __future__ import annotations

import json
import os
import time

from footplate.replica.http_client import Connection, Refused, ServerUnavailable
from footplate.replica.workdir import Home

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

RETRY_S = 20.0
"""How long a bucket may be away."""
PAUSE_S = 1.0
_ANSWER_S = 3600.0
"""The longest that one object may take."""


def main(step: str, path: str) -> int:
    ticket = Home(path).read("ticket.json") or {}
    connection = Connection(str(ticket["server_file"]), str(ticket["token"]), _ANSWER_S)
    take(connection, step, lambda value: print(json.dumps(value), flush=True))
    return os.EX_OK


def take(
    connection: Connection,
    step: str,
    tell: Callable[[dict[str, object]], object],
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Until it is done, or a fault lasts. While the server is away it is waited for."""
    give_up_at = None
    while True:
        try:
            answer = connection.post(f"/replica/v1/bucket-copies/{step}", {})
        except ServerUnavailable:
            sleep(PAUSE_S)
            continue
        except Refused as error:
            tell({"error": str(error)})
            return
        if answer.get("done"):
            tell({"notes": answer.get("notes") or []})
            return
        fault = str(answer.get("fault") or "")
        if not fault:
            give_up_at = None
            tell({"m": answer.get("progress")})
            continue
        give_up_at = give_up_at or monotonic() + RETRY_S
        if not answer.get("retry") or monotonic() >= give_up_at:
            tell({"error": fault})
            return
        tell({"m": f"{fault}; trying for {RETRY_S:g} s"})
        sleep(PAUSE_S)
