"""The command ``sweep``: cleans up after a dead supervisor."""

from __future__ import annotations

import sys
import time

from footplate.replica.disk_space import give_step, make_room
from footplate.replica.file_io import is_directory
from footplate.replica.http_client import Connection, Refused, ServerUnavailable
from footplate.replica.isolation import mode_selection
from footplate.replica.journal import Journal
from footplate.replica.report_client import ENDED, MAX_BACKOFF_S, MIN_BACKOFF_S, REPORTS_PATH
from footplate.replica.run import RESTART_SPAN
from footplate.replica.spool import Spool
from footplate.replica.workdir import DEFAULT_SPOOL_LIMIT_BYTES, Home, Locked

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Callable

DEFAULT_TIMEOUT_S = 60.0
"""How long to wait for the server in all; the ticket may say another ``sweep_patience_s``."""
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
    """Kills what is left of the program by its records; returns whether nothing is."""
    try:
        record = _read(home, "isolation.json")
        if record and not mode_selection.sweep(record):
            return False
    except (KeyError, TypeError) as error:
        print(
            f"the cleanup can't tell which processes the program left: {error!r}", file=sys.stderr
        )
    return True


def _read(home: Home, name: str) -> dict[str, Any]:
    """Reads the file; returns {} if there is none, or the program or a power cut spoilt it.

    To try again would not help, and the job would never end.
    """
    try:
        return home.read(name) or {}
    except (ValueError, RecursionError, IsADirectoryError, PermissionError) as error:
        print(f"{name} can't be read: {error!r}", file=sys.stderr)
        return {}


def _deliver(home: Home) -> int:
    ticket = _read(home, "ticket.json")
    if "server_file" not in ticket or "token" not in ticket:
        home.finish(
            "the replica's supervisor died, and its last reports can't be sent, because the file "
            "ticket.json is damaged"
        )
        return OK
    limit_bytes = int(ticket.get("spool_limit_bytes") or DEFAULT_SPOOL_LIMIT_BYTES)
    spool = Spool(home.spool, limit_bytes)
    if spool.empty:
        home.finish("the replica's supervisor died after its last report")
        return OK
    connection = Connection(ticket["server_file"], ticket["token"])
    patience_s = float(ticket.get("sweep_patience_s", DEFAULT_TIMEOUT_S))
    server = Server(connection, time.monotonic, patience_s)
    try:
        spool.resume_after(server.report(b""))
        if not has_exit(spool):
            journal = Journal(spool, limit_bytes, time.time)
            journal.end(lambda: give_step(str(ticket.get("reserve") or "")))
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
        if error.status != _HTTP_FORBIDDEN:
            print(error, file=sys.stderr)
            return AGAIN
    finally:
        spool.close()
    spool.clear()
    home.finish("the replica's supervisor died")
    return OK


class Server:
    """Asks again while it is away, until its patience is at an end."""

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
