"""The command ``sweep``: cleans up after a dead supervisor."""

from __future__ import annotations

import sys
import time

from footplate.protocol.isolation_record import IsolationRecord
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.disk_space import give_step, make_room
from footplate.replica.file_io import is_directory
from footplate.replica.http_client import Connection, Refused, ServerUnavailable
from footplate.replica.isolation import mode_selection
from footplate.replica.journal import Journal
from footplate.replica.report_client import ENDED, MAX_BACKOFF_S, MIN_BACKOFF_S, REPORTS_PATH
from footplate.replica.run import RESTART_SPAN
from footplate.replica.spool import Spool
from footplate.replica.workdir import Home, Locked

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, TypeVar

    T = TypeVar("T")

OK = 0
AGAIN = 1
"""Something is left, of the program or of its records: sweep again later."""
NOTHING_TO_DO = 3
_HTTP_FORBIDDEN = 403


def main(path: str) -> int:
    home = Home(path)
    try:
        home.take()
    except Locked:
        print(f"{home.path} has a living supervisor", file=sys.stderr)
        return NOTHING_TO_DO
    if home.finished:
        return OK
    if not _kill_rest(home):
        print("some processes of the program can't be killed", file=sys.stderr)
        return AGAIN
    if not is_directory(home.spool):
        home.finish("the replica's supervisor died before the program started")
        return OK
    make_room(home)
    return _deliver(home)


def _kill_rest(home: Home) -> bool:
    """Kills the rest of the program, by its records; returns whether none is left."""
    record = _read(home.read_isolation, IsolationRecord())
    return not record.mark or mode_selection.sweep(record)


def _read(read: Callable[[], T], empty: T) -> T:
    """Returns what ``read`` returns, or ``empty`` if the file was spoilt, by the program or a power
    cut.

    Another try wouldn't help, and the job would never end.
    """
    try:
        return read()
    except (ValueError, RecursionError, IsADirectoryError, PermissionError) as error:
        print(f"what the supervisor wrote can't be read: {error!r}", file=sys.stderr)
        return empty


def _deliver(home: Home) -> int:
    ticket = _read(home.read_ticket, SupervisorTicket())
    if not ticket.server_file or not ticket.token:
        home.finish(
            "the replica's supervisor died, and its last reports can't be sent, because the file "
            "ticket.json is damaged"
        )
        return OK
    spool = Spool(home.spool, ticket.spool_limit_bytes)
    if spool.empty:
        home.finish("the replica's supervisor died after its last report")
        return OK
    connection = Connection(ticket.server_file, ticket.token)
    server = Server(connection, time.monotonic, ticket.sweep_patience_s)
    try:
        spool.resume_after(server.report(b""))
        if not has_exit(spool):
            journal = Journal(spool, ticket.spool_limit_bytes, time.time)
            journal.end(lambda: give_step(ticket.reserve))
            journal.event(
                "SUPERVISOR_LOST",
                (
                    "the replica's supervisor died; this log has what it stored, up to record "
                    f"{spool.last % RESTART_SPAN}. "
                    "Later output of the program is lost"
                ),
            )
        while spool.waiting:
            spool.acknowledge(min(spool.last, server.report(spool.read().body)))
    except ServerUnavailable as error:
        print(f"the server doesn't answer: {error}", file=sys.stderr)
        return AGAIN
    except Refused as error:
        # 403 means that the attempt is over for the server, or unknown to it: it will never take
        # these records. All other refusals may pass.
        if error.status != _HTTP_FORBIDDEN:
            print(error, file=sys.stderr)
            return AGAIN
    finally:
        spool.close()
    spool.clear()
    home.finish("the replica's supervisor died")
    return OK


class Server:
    """The server as cleanup sees it: requests are repeated while the server is away, up to a time
    limit.
    """

    def __init__(
        self, connection: Connection, monotonic: Callable[[], float], patience_s: float
    ) -> None:
        self._connection = connection
        self._monotonic = monotonic
        self._end = monotonic() + patience_s

    def report(self, records: bytes) -> int:
        """Sends records; returns the number up to which the server has all.

        Raises ServerUnavailable, Refused.
        """
        rest_s = MIN_BACKOFF_S
        while True:
            try:
                return self._report(records)
            except ServerUnavailable:
                if self._monotonic() + rest_s > self._end:
                    raise
                time.sleep(rest_s)
                rest_s = min(MAX_BACKOFF_S, rest_s * 2)

    def _report(self, records: bytes) -> int:
        body = b'{"records":[' + records + b"]}"
        number = self._connection.post_bytes(REPORTS_PATH + ENDED, body).get("acknowledged")
        if type(number) is not int:
            raise ServerUnavailable("the server's answer doesn't say which records it has")
        return number


def has_exit(spool: Spool) -> bool:
    """Returns whether the last record is the program's exit."""
    return b'"k": "exit"' in spool.read_last()
