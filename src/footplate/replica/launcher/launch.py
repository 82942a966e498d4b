"""A launcher: runs its replica for as long as the server wants it.

It speaks to the server alone, outwards, at one port: it says the state of its replica, and the
server answers which start of it is wanted, whether that is to stop, and whether to leave. Without
an answer for ``lease_s`` it ends its replica: from then on the server may start it somewhere else.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from urllib.parse import urlencode

from footplate.protocol.launcher import LauncherAnswer, LauncherReport
from footplate.protocol.message import DecodeError
from footplate.replica.file_io import is_there, read_text, write_text
from footplate.replica.http_client import Refused, ServerUnavailable
from footplate.replica.launcher import bootstrap
from footplate.replica.launcher.parent import LEFT, OK
from footplate.replica.launcher.prepared_supervisor import PreparedSupervisor
from footplate.replica.launcher.relay import Relay
from footplate.replica.launcher.replica_process import ReplicaProcess, find_last
from footplate.replica.launcher.server_link import ServerLink
from footplate.replica.lost_files import KEPT_S
from footplate.replica.node_copies import UNSAVED

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.protocol.launcher import LauncherConfig
    from footplate.protocol.ticket import SupervisorTicket


PATH = "/replica/v1/launcher"
COPIED = "copied"
"""What a ticket says of files where the node doesn't share the folders of buckets."""
COPIES = "copies"
KEPT = "kept"
LONGEST_HOLD_S = 20.0
_ANSWER_S = 20.0
_MIN_RETRY_S, _MAX_RETRY_S = 0.2, 2.0
_LOOK_S = 0.05
_SETTLE_S = 0.5
"""How long a state is believed to be about to change."""
_REST_S = 1.0
_KILL_AFTER_S = 30.0
"""How long a supervisor that was asked to end for want of a server, or by the engine, may take."""
_GIVE_UP_S = 60.0
"""How long a launcher that must end tries to clear up."""


def serve(directory: str, config: LauncherConfig, incarnation: str, *, resumed: bool) -> int:
    """Runs a launcher and returns its exit status. With ``resumed``, an earlier process of this
    incarnation has died, with all processes that it ran.
    """
    prepared = None
    if not resumed and config.archive == config.supervisor:
        prepared = PreparedSupervisor.fork()  # before the loop, which may have threads

    async def live() -> int:
        # Made in the loop that its events are of.
        launcher = Launcher(directory, config, incarnation, prepared)
        if resumed:
            launcher.resume()
        return await launcher.run()

    return asyncio.run(live())


def now_s() -> float:
    """Returns the time of a clock that goes on while the machine sleeps."""
    # While a node sleeps, the server's clock goes on: after the lease it starts the replica
    # elsewhere. A launcher that wakes up must know that its lease is over.
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def read_boot_id() -> str:
    """Returns the kernel's id of this boot; empty where it can't be read."""
    try:
        return read_text("/proc/sys/kernel/random/boot_id").strip()
    except OSError:  # no proof of another boot counts then
        return ""


class Launcher:
    def __init__(
        self,
        directory: str,
        config: LauncherConfig,
        incarnation: str,
        prepared: PreparedSupervisor | None = None,
    ) -> None:
        """Creates a launcher; ``prepared`` becomes the supervisor of the first start."""
        self._directory = directory
        self._prepared = prepared
        self._config = config
        self._incarnation = incarnation
        self._link = ServerLink(config.url, config.authority, config.token)
        self._relay = Relay(self._link)
        self._replica: ReplicaProcess | None = None
        self._gone = ""
        """Why nothing is left of the current start of the replica."""
        self._lost = False
        self._restart = -1
        self._leaving = False
        self._must_end = ""
        """Why the replica ends whatever the server says: the lease, or a signal."""
        self._end_at_s = 0.0
        self._answered_s = now_s()
        self._boot_id = read_boot_id()
        self._stopped = False
        self._told = False
        """Whether a supervisor that lives was told to stop."""
        self._said = ""
        self._changed = asyncio.Event()
        self._server_file = os.path.join(directory, "server.json")
        self._url = ""
        """Where programs of this node reach the server."""

    def resume(self) -> None:
        """Clears up the last start of an earlier process of this launcher."""
        self._replica = find_last(self._directory, self._incarnation, self._archive)
        if self._replica is not None:
            self._restart = self._replica.restart

    @property
    def _archive(self) -> str:
        """The path of the supervisor's program on this node."""
        archives = os.path.join(self._config.scratch, "archives")
        return bootstrap.locate(self._config.supervisor, self._config.bytecode, archives)

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        remove_expired(os.path.join(self._config.scratch, KEPT), time.time())
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end, f"signal {int(number)}")
        loop.add_signal_handler(signal.SIGCHLD, lambda: None)  # only to wake the loop
        self._url = f"http://127.0.0.1:{await self._relay.open()}"
        text = json.dumps({"url": self._url, "pid": os.getpid()})
        write_text(self._server_file, text, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        talking = asyncio.ensure_future(self._talk())
        try:
            while not self._may_leave():
                self._look()
                await asyncio.sleep(_LOOK_S if self._is_moving() else _REST_S / 4)
                if talking.done():
                    # Only an error ends it, and then this launcher: the parent starts another.
                    talking.result()
        finally:
            talking.cancel()
        if self._must_end:
            await self._say_last()
        self._link.close()
        self._relay.close()
        cleared = self._replica is None or bool(self._gone)
        unsaved = is_there(os.path.join(self._directory, COPIES, UNSAVED))
        if cleared and not unsaved:
            shutil.rmtree(self._directory, ignore_errors=True)
        return OK if cleared else LEFT

    def _is_moving(self) -> bool:
        return self._replica is not None and not self._gone and not self._replica.lives

    def _may_leave(self) -> bool:
        clear = self._replica is None or bool(self._gone)
        if self._must_end:
            return clear or now_s() > self._end_at_s + _GIVE_UP_S
        return self._leaving and clear

    # What its replica does.

    def _look(self) -> None:
        """Checks the state of the replica, and clears up after it."""
        self._check_lease()
        if self._leaving or self._must_end:
            self._stop()
        replica = self._replica
        if replica is None or self._gone:
            return
        if self._must_end and now_s() > self._end_at_s:
            replica.kill()
        if replica.ended:
            self._gone = replica.gone() or ""
            if not self._gone:
                self._lost = True
                replica.sweep()
                self._gone = replica.gone() or ""
        if self._state() != self._said:
            self._changed.set()

    def _check_lease(self) -> None:
        if now_s() - self._answered_s > self._config.lease_s:
            self._end("the server has not answered the launcher for longer than lease_s")

    def _end(self, reason: str) -> None:
        if not self._must_end:
            print(f"{reason}: the replica ends", file=sys.stderr)
            self._must_end = reason
            self._end_at_s = now_s() + _KILL_AFTER_S

    def _stop(self) -> None:
        replica = self._replica
        if replica is not None and not self._gone and not (self._stopped and not replica.lived):
            # A supervisor that has yet to begin finds the request on the disk when it begins.
            # Between that look and now it may have begun: so it is also signalled, once it lives.
            if not self._stopped or not self._told:
                self._told = replica.lived
                replica.stop()
            self._stopped = True

    # Reports to the server, and its answers.

    def _state(self) -> str:
        if self._gone:
            return "GONE"
        if self._lost:
            return "LOST"
        if self._replica is None:
            return "IDLE"
        return "LIVE" if self._replica.lived else "STARTING"

    def _report(self, hold_s: float = 0) -> dict[str, Any]:
        self._said = self._state()
        report = LauncherReport(
            self._restart,
            self._said,
            self._incarnation,
            job=self._config.job,
            node=self._config.node,
            reason=self._gone,
            ending=self._must_end,
            stopping=self._stopped,
            hold_s=hold_s,
            boot_id=self._boot_id,
            up_s=now_s(),
        )
        return report.encode()

    async def _talk(self) -> None:
        """Reports and obeys until the server lets the launcher leave."""
        retry_s = _MIN_RETRY_S
        while not self._leaving:
            await self._pass_start()
            self._changed.clear()
            sent_s = now_s()
            try:
                answer = await self._ask()
            except ServerUnavailable as error:
                print(error, file=sys.stderr)
                await asyncio.sleep(retry_s)
                retry_s = min(_MAX_RETRY_S, retry_s * 2)
                continue
            except Refused as error:
                # No answer of the server's, for all that is known: it renews no lease.
                print(error, file=sys.stderr)
                answer = None
                if error.status in (401, 403):
                    await self._obey(LauncherAnswer(leave=True))
                await asyncio.sleep(retry_s)
            if answer is not None:
                # The lease counts from when the report was sent, not from the answer: the server
                # counts from when it got the report. So the lease ends here before it ends there.
                self._answered_s, retry_s = sent_s, _MIN_RETRY_S
                await self._obey(answer)

    async def _pass_start(self) -> None:
        """Waits a moment while the supervisor starts, so that one report says that it lives."""
        end_s = now_s() + _SETTLE_S
        while self._state() == "STARTING" and now_s() < end_s:
            await asyncio.sleep(_LOOK_S / 2)

    async def _ask(self) -> LauncherAnswer | None:
        """Returns the server's answer to a report; None if there was something new to report, so
        that the request was cancelled.
        """
        # A state that is new may change soon, as in a short job. That would cancel a held request,
        # and cost a connection: so this request is answered at once, and held is the next.
        holds = self._state() in (self._said, "IDLE", "GONE")
        hold_s = min(LONGEST_HOLD_S, self._config.lease_s / 4) if holds else 0
        timeout_s = min(hold_s + _ANSWER_S, max(1.0, self._config.lease_s / 2))
        asking = asyncio.ensure_future(self._link.post(PATH, self._report(hold_s), timeout_s))
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            wanted = {asking, changed} if holds else {asking}
            await asyncio.wait(wanted, return_when=asyncio.FIRST_COMPLETED)
            answer = LauncherAnswer.decode(asking.result()) if asking.done() else None
            if not holds and answer is not None and not answer.is_news:
                await asyncio.wait({changed}, timeout=_SETTLE_S)
        except DecodeError as error:
            raise ServerUnavailable(f"{PATH}: {error}") from error
        finally:
            changed.cancel()
            if not asking.done():
                asking.cancel()
        return answer

    async def _say_last(self) -> None:
        try:
            await self._link.post(PATH, self._report(), _MAX_RETRY_S)
        except (ServerUnavailable, Refused) as error:
            print(error, file=sys.stderr)

    async def _obey(self, answer: LauncherAnswer) -> None:
        if answer.leave:
            self._leaving = True
        run = answer.run
        if run and run.restart > self._restart and not self._leaving and not self._must_end:
            await self._start(run.restart, run.ticket, stop=answer.stop)
        elif answer.stop:
            self._stop()

    async def _start(self, restart: int, ticket: SupervisorTicket, *, stop: bool) -> None:
        if self._replica is not None and not self._gone:
            return
        earlier = self._replica
        self._replica, self._restart, self._gone, self._lost = None, restart, "", False
        self._stopped, self._told = False, False
        loop = asyncio.get_running_loop()
        if earlier is not None:
            await loop.run_in_executor(None, earlier.remove)
        if stop:
            self._gone = "the replica was stopped before it started"
            return
        config, archives = self._config, os.path.dirname(self._archive)
        try:
            archive = await loop.run_in_executor(
                None, bootstrap.fetch, config.encode(), config.supervisor, archives
            )
            self._check_lease()
            if self._must_end or self._leaving:
                self._gone = self._must_end or "its launcher leaves"
                return
            complete(ticket, config.scratch, self._server_file, self._link.own_address)
            add_places(ticket, self._url, self._directory)
            ticket.launcher = self._incarnation
            replica = ReplicaProcess(self._directory, archive, restart)
            prepared, self._prepared = self._prepared, None
            replica.start(ticket, prepared)
            self._replica = replica  # only now: what has no supervisor yet looks as if it had ended
        except Exception as error:  # whatever it is, the server must know
            self._gone = f"the launcher can't start the replica on node {config.node}: {error}"


def add_places(ticket: SupervisorTicket, url: str, directory: str) -> None:
    """Adds to the ticket what the server must know of this node, and the node's folder for copies
    of buckets.

    The copies outlast the starts of the replica. Raises OSError.
    """
    places = {"url": url}
    if ticket.files == COPIED:
        ticket.copies = os.path.join(directory, COPIES)
        ticket.buckets = places["files"] = os.path.join(ticket.copies, "files")
        os.makedirs(ticket.buckets, exist_ok=True)
    ticket.places = "?" + urlencode(places)


def remove_expired(folder: str, now_s: float) -> None:
    """Deletes files that earlier replicas of this node kept, if their time is over. Never
    raises.
    """
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        try:
            expired = now_s - os.lstat(path).st_mtime >= KEPT_S
        except FileNotFoundError:  # another launcher was faster
            continue
        if expired:
            shutil.rmtree(path, ignore_errors=True)


def find_uv(path: str) -> str:
    """Returns the path of uv: that of the server, or the one in the node's PATH."""
    return path if os.access(path, os.X_OK) else shutil.which("uv") or path


def complete(ticket: SupervisorTicket, scratch: str, server_file: str, host: str) -> None:
    """Adds to the ticket the paths of this node, and the address at which others reach it."""
    ticket.server_file, ticket.host = server_file, host
    ticket.cache = ticket.cache or os.path.join(scratch, "cache")
    ticket.uv = find_uv(ticket.uv)
    ticket.kept = os.path.join(scratch, KEPT) if ticket.keeps_files else ""
    ticket.launchers = os.path.join(scratch, "launchers")
    ticket.private = (*ticket.private, scratch)
