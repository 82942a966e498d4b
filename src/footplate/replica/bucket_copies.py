"""The command that fetches or saves the copies of buckets. Prints JSON lines: progress, a result.

On the server's machine it has the server copy, which alone has the credentials of the buckets:
nothing but sentences goes over the connection. On a node that doesn't share the server's folders
it copies by itself, over the storage API.
"""

from __future__ import annotations

import json
import os
import time

from footplate.protocol.bucket_copies import StepResult
from footplate.replica.http_client import Connection, Refused, ServerUnavailable
from footplate.replica.node_copies.copier import NodeCopier, follow
from footplate.replica.workdir import Home

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

FOLLOW = "follow"
RETRY_S = 20.0
"""How long a bucket may be away."""
PAUSE_S = 1.0
_ANSWER_S = 3600.0
"""The longest that one object may take."""


def main(step: str, path: str) -> int:
    ticket = Home(path).read_ticket()
    if ticket.copies:
        copier = NodeCopier(ticket.copies, ticket.server_file, ticket.token)
        if step == FOLLOW:
            follow(copier)
        take(lambda: copier.step(step), lambda value: print(json.dumps(value), flush=True))
        return os.EX_OK
    connection = Connection(ticket.server_file, ticket.token, _ANSWER_S)
    take(
        lambda: StepResult.decode(connection.post(f"/replica/v1/bucket-copies/{step}", {})),
        lambda value: print(json.dumps(value), flush=True),
    )
    return os.EX_OK


def take(
    ask: Callable[[], StepResult],
    tell: Callable[[dict[str, object]], object],
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Asks for one step after another until the work is done, or a fault lasts; ``tell`` gets the
    outcome. While the server is away it waits.
    """
    give_up_at = None
    while True:
        try:
            answer = ask()
        except ServerUnavailable:
            sleep(PAUSE_S)
            continue
        except Refused as error:
            tell({"error": str(error)})
            return
        if answer.done:
            tell({"notes": list(answer.notes)})
            return
        if not answer.fault:
            give_up_at = None
            tell({"m": answer.progress})
            continue
        give_up_at = give_up_at or monotonic() + RETRY_S
        if not answer.retry or monotonic() >= give_up_at:
            tell({"error": answer.fault})
            return
        tell({"m": f"{answer.fault}; trying for {RETRY_S:g} s"})
        sleep(PAUSE_S)
