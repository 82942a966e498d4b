"""The command ``run``: supervises the replica of this home directory."""

from __future__ import annotations

import os
import sys
import time

from footplate.protocol.promised import VIEW
from footplate.replica.background_tasks import BackgroundTasks
from footplate.replica.context import Context
from footplate.replica.control_requests import ControlRequests
from footplate.replica.file_io import is_directory, is_there, write_text
from footplate.replica.journal import Journal
from footplate.replica.nonblocking_http import NonblockingRequest
from footplate.replica.report_client import ReportClient
from footplate.replica.spool import Spool
from footplate.replica.supervisor import Signals, Supervisor
from footplate.replica.workdir import Home, Locked

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping

    from footplate.protocol.ticket import SupervisorTicket
RESTART_SPAN = 1 << 40
"""Records after the replica's restart number N in its attempt are numbered above N times this.

As in ``footplate.domain.log_lines``, which the archive of supervisors lacks.
"""
OK = 0
NOTHING_TO_DO = 3
"""Another process supervises this home, or did."""
_DISK_RETRY_S = 1.0
UNUSABLE = 4
"""The home lacks what a supervisor needs."""


def main(path: str) -> int:
    """Runs a supervisor; returns when the server has everything, and no process of the program is
    left.
    """
    _own_descriptors()
    return supervise(path, dict(os.environ))


def supervise(path: str, host: Mapping[str, str]) -> int:
    """Does what ``main`` does, with the standard descriptors and no others to inherit.

    ``host`` is the environment that this process was given.
    """
    home = Home(path)
    try:
        home.take()
    except Locked:
        return _refuse(f"{home.path} has a supervisor already", NOTHING_TO_DO)
    except OSError as error:
        return _refuse(f"{home.path} can't be used: {error}", UNUSABLE)
    if home.finished or is_directory(home.spool):
        return _refuse(
            f"a supervisor ran in {home.path} before: clean up with supervisor.pyz sweep "
            f"{home.path}",
            NOTHING_TO_DO,
        )
    try:
        ticket = home.read_ticket()
        if not ticket.server_file or not ticket.token:
            raise ValueError("its ticket names no server, or no token")  # noqa: TRY301  as above
        home.make_directories()
        # The handlers come before the pid: a server may send SIGTERM as soon as it reads the pid.
        signals = Signals()
        _write_pid(home)
        # A stop request writes this mark first, then signals the pid if there is one.
        signals.stop = signals.stop or is_there(home / "stop")
    except (OSError, ValueError) as error:
        return _refuse(f"{home.path} can't be used: {error!r}", UNUSABLE)
    outcome = _supervise(home, ticket, signals, host)
    if outcome is not None:
        _finish(home, outcome, signals)
    return OK


def _finish(home: Home, reason: str, signals: Signals) -> None:
    """Writes down the end, and so waits for a full disk; after SIGTERM it leaves that to
    cleanup.
    """
    while True:
        try:
            home.finish(reason)
        except OSError as error:
            if signals.stop:
                print(
                    f"Signal to stop received, but the supervisor can't store its end: {error}",
                    file=sys.stderr,
                )
                return
            time.sleep(_DISK_RETRY_S)
        else:
            return


def _supervise(
    home: Home,
    ticket: SupervisorTicket,
    signals: Signals,
    host: Mapping[str, str],
) -> str | None:
    command = [sys.executable, "-I", "-S", os.path.abspath(sys.argv[0])]
    context = Context(home, ticket, os.urandom(16).hex(), command, host, time.monotonic)
    spool = Spool(home.spool, ticket.spool_limit_bytes)
    spool.resume_after(ticket.restart * RESTART_SPAN)
    context.journal = Journal(spool, ticket.spool_limit_bytes, time.time)
    exchange = NonblockingRequest(ticket.server_file, ticket.token)
    context.report_client = ReportClient(exchange, spool, jitter, _places(ticket))
    background_tasks = BackgroundTasks(home.path, command, host)
    context.control_requests = ControlRequests(
        NonblockingRequest(ticket.server_file, ticket.token), background_tasks, jitter
    )
    context.journal.state("PREPARING")
    try:
        outcome = Supervisor(context, signals).run()
    except BaseException:
        context.end_child()
        raise
    context.report_client.close()
    if outcome is None:
        spool.close()
    else:
        spool.clear()
    context.clear_up()
    return outcome


def _places(ticket: SupervisorTicket) -> str:
    """Returns a query that tells the server where the program runs.

    On a node, whether the program has a mount namespace isn't known yet when the task is requested.
    """
    if ticket.promised is not None and not ticket.launchers and not ticket.promised.fault(VIEW):
        return "?gcs"
    return ticket.places


def jitter() -> float:
    """Returns a random number from 0 to 1; the module random would cost memory."""
    return os.urandom(1)[0] / 255


def _own_descriptors() -> None:
    """Keeps the descriptors that this process was given from the program; opens the standard three
    if they are closed.

    If one of these were closed, a pipe of ours could get its number.
    """
    for name in os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"):
        if int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:  # that of the listing itself
                continue
    while os.open(os.devnull, os.O_RDWR) <= 2:
        continue


def _write_pid(home: Home) -> None:
    write_text(home / "pid", f"{os.getpid()}\n", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)


def _refuse(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code
