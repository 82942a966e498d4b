"""A launcher: runs its replica for as long as the server wants it.

It speaks to the server alone, outwards, at one port: it says the state of its replica, and the
server answers which start of it is wanted, whether that is to stop, and whether to leave. Without
an answer for ``lease_s`` it ends its replica: from then on the server may start it somewhere else.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from footplate.protocol.launcher import LauncherAnswer, LauncherReport
from footplate.replica.file_io import is_there, read_text, write_text
from footplate.replica.launcher import bootstrap, next_replica
from footplate.replica.launcher.background_call import BackgroundCall, Wake
from footplate.replica.launcher.node_ticket import COPIES, KEPT, add_places, complete
from footplate.replica.launcher.parent import LEFT, OK, WARM
from footplate.replica.launcher.relay import Relay
from footplate.replica.launcher.replica_process import ReplicaProcess, find_last
from footplate.replica.launcher.reporter import Reporter, now_s
from footplate.replica.launcher.server_link import ServerLink
from footplate.replica.lost_files import KEPT_S
from footplate.replica.node_copies import UNSAVED

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.protocol.launcher import LauncherConfig
    from footplate.protocol.ticket import SupervisorTicket
    from footplate.replica.launcher.prepared_supervisor import PreparedSupervisor

_LOOK_S = 0.05
_REST_S = 0.25
_KILL_AFTER_S = 30.0
"""How long a supervisor that was asked to end for want of a server, or by the engine, may take."""
_PROBE_S = 5.0
_WARM_LEASE_S = 60.0
"""How long a launcher without a replica waits for an answer: it has nothing to lose."""
_GIVE_UP_S = 60.0
"""How long a launcher that must end tries to clear up."""


def serve(
    directory: str,
    config: LauncherConfig,
    incarnation: str,
    prepared: PreparedSupervisor | None = None,
    *,
    resumed: bool,
) -> int:
    """Runs a launcher and returns its exit status. With ``resumed``, an earlier process of this
    incarnation has died, with all processes that it ran.
    """
    launcher = Launcher(directory, config, incarnation, prepared)
    launcher.handle_signals()
    if resumed:
        launcher.resume()
    return launcher.run()


def read_boot_id() -> str:
    """Returns the kernel's id of this boot; empty where it can't be read."""
    try:
        return read_text("/proc/sys/kernel/random/boot_id").strip()
    except OSError:  # no proof of another boot counts then
        return ""


class Launcher:
    """One thread has its state, and forks all processes, since the kernel ends them with the thread
    that forked them. What may block is done in other threads.
    """

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
        self._wake = Wake()
        self._reporter = Reporter(
            lambda post: BackgroundCall(lambda: self._link.post(post), self._wake), config.lease_s
        )
        self._replica: ReplicaProcess | None = None
        self._gone = ""
        """Why nothing is left of the current start of the replica."""
        self._lost = False
        self._restart = -1
        self._leaving = False
        self._must_end = ""
        """Why the replica ends whatever the server says: the lease, or a signal."""
        self._end_at_s = 0.0
        self._boot_id = read_boot_id()
        self._stopped = False
        self._resumed = False
        self._told = False
        """Whether a supervisor that lives was told to stop."""
        self._signals: list[int] = []
        self._starting: tuple[BackgroundCall, int, SupervisorTicket] | None = None
        """A start that waits for its archive."""
        probed = config.waits and prepared is not None
        self._probe_until_s = now_s() + _PROBE_S if probed else 0.0
        """How long it may take to find out which isolation programs can have."""
        self._received = config.expected
        """The ticket as the server gave it last."""
        self._server_file = os.path.join(directory, "server.json")
        self._url = ""
        """Where programs of this node reach the server."""

    def handle_signals(self) -> None:
        """Makes SIGTERM and SIGINT end the replica, and the end of a child wake the launcher."""
        # A handler may interrupt anything: it only notes the signal, and the kernel's byte in the
        # pipe wakes the loop. SIGCHLD needs a handler for that.
        signal.set_wakeup_fd(self._wake.writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda received, _: self._signals.append(received))

    def resume(self) -> None:
        """Clears up the last start of an earlier process of this launcher, which has died: no other
        replica follows here.
        """
        self._resumed = True
        self._replica = find_last(self._directory, self._incarnation, self._archive)
        if self._replica is not None:
            self._restart = self._replica.restart

    @property
    def _archive(self) -> str:
        """The path of the supervisor's program on this node."""
        archives = os.path.join(self._config.scratch, "archives")
        return bootstrap.locate(self._config.supervisor, self._config.bytecode, archives)

    def run(self) -> int:
        remove_expired(os.path.join(self._config.scratch, KEPT), time.time())
        self._url = f"http://127.0.0.1:{self._relay.open()}"
        text = json.dumps({"url": self._url, "pid": os.getpid()})
        write_text(self._server_file, text, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._look()
        while not self._may_leave():
            self._talk()
            moves = self._is_moving() or self._is_probing()
            self._wake.wait(_LOOK_S if moves else _REST_S)
            self._look()
        if self._must_end:
            self._reporter.report_last(self._report(), self._wake)
        self._link.close()
        self._relay.close()
        cleared = self._replica is None or bool(self._gone)
        unsaved = is_there(os.path.join(self._directory, COPIES, UNSAVED))
        if cleared and not unsaved:
            remove_tree(self._directory)
        if not cleared:
            return LEFT
        return WARM if self._may_wait() and self._prepare_next() else OK

    def _is_moving(self) -> bool:
        return self._replica is not None and not self._gone and not self._replica.lives

    def _may_leave(self) -> bool:
        clear = self._replica is None or bool(self._gone)
        if self._must_end:
            return clear or now_s() > self._end_at_s + _GIVE_UP_S
        return self._leaving and clear

    def _is_probing(self) -> bool:
        """Returns whether the supervisor is yet to be prepared: before that no replica is asked
        for.
        """
        prepared = self._prepared
        if prepared is None or now_s() > self._probe_until_s:
            return False
        if next_replica.is_probed(self._directory) or prepared.poll() is not None:
            self._probe_until_s = 0.0
        return self._probe_until_s > 0

    def _may_wait(self) -> bool:
        """Returns whether another launcher may wait here for another job's replica: if this one
        served one, or was to, which ended by itself.
        """
        in_order = not (self._must_end or self._lost or self._stopped or self._resumed)
        return bool(self._config.warm) and not self._config.waits and in_order

    def _prepare_next(self) -> bool:
        """Writes what the next launcher waits with, in an empty directory; returns whether that was
        possible.
        """
        config = self._config
        config.token, config.expected = config.warm, self._received
        try:
            os.mkdir(self._directory, 0o700)  # fails where something of the replica is left
            next_replica.keep_config(self._directory, config)
        except OSError as error:
            print(f"the launcher can't wait for another replica: {error}", file=sys.stderr)
            return False
        return True

    # What its replica does.

    def _look(self) -> None:
        """Checks the state of the replica, and clears up after it."""
        self._check_lease()
        for number in self._signals:
            self._end(f"signal {number}")
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

    def _check_lease(self) -> None:
        lease_s = self._config.lease_s
        if self._config.waits:
            lease_s = min(lease_s, _WARM_LEASE_S)
        if self._reporter.unanswered_s > lease_s:
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

    def _report(self) -> LauncherReport:
        return LauncherReport(
            self._restart,
            self._state(),
            self._incarnation,
            job=self._config.job,
            node=self._config.node,
            reason=self._gone,
            ending=self._must_end,
            stopping=self._stopped,
            boot_id=self._boot_id,
            up_s=now_s(),
        )

    def _talk(self) -> None:
        """Reports and obeys, as far as is possible at once, until the server lets the launcher
        leave.
        """
        self._go_on_starting()
        answer = self._reporter.receive(self._state())
        if answer is not None:
            self._obey(answer)
        if not self._leaving and self._may_report():
            self._reporter.report(self._report())

    def _may_report(self) -> bool:
        due = self._reporter.is_due(self._state())
        return due and self._starting is None and not self._is_probing()

    def _obey(self, answer: LauncherAnswer) -> None:
        if answer.leave:
            self._leaving = True
        elif answer.serve:
            self._serve(answer.serve)
        run = answer.run
        if run and run.restart > self._restart and not self._leaving and not self._must_end:
            self._config.warm, self._received = run.warm, next_replica.strip(run.ticket)
            self._start(run.restart, run.ticket, stop=answer.stop)
        elif answer.stop:
            self._stop()

    def _serve(self, token: str) -> None:
        """Serves the replica that the token is for, from now on and whichever process of this
        launcher does.
        """
        self._config.token = self._link.token = token
        try:
            next_replica.keep_config(self._directory, self._config)
        except OSError as error:  # it is served elsewhere, soon
            print(f"the launcher can't serve another replica: {error}", file=sys.stderr)
            self._leaving = True

    def _start(self, restart: int, ticket: SupervisorTicket, *, stop: bool) -> None:
        """Begins a start of the replica; ``_go_on_starting`` does the rest."""
        if self._replica is not None and not self._gone:
            return
        earlier = self._replica
        self._replica, self._restart, self._gone, self._lost = None, restart, "", False
        self._stopped, self._told = False, False
        if stop:
            self._gone = "the replica was stopped before it started"

        def fetch() -> str:
            if earlier is not None:
                earlier.remove()
            if stop:
                return ""
            config, archives = self._config, os.path.dirname(self._archive)
            return bootstrap.fetch(config.encode(), config.supervisor, archives)

        self._starting = BackgroundCall(fetch, self._wake), restart, ticket

    def _go_on_starting(self) -> None:
        """Starts the replica's supervisor once its archive is there."""
        if self._starting is None or not self._starting[0].done:
            return
        (fetched, restart, ticket), self._starting = self._starting, None
        if self._gone:
            return
        config = self._config
        try:
            archive = fetched.result()
            self._check_lease()
            if self._must_end or self._leaving:
                self._gone = self._must_end or "its launcher leaves"
                return
            ticket.promised = next_replica.find_promised(self._directory, config, self._received)
            complete(ticket, config.scratch, self._server_file, self._link.own_address)
            add_places(ticket, self._url, self._directory)
            ticket.launcher = self._incarnation
            replica = ReplicaProcess(self._directory, archive, restart)
            prepared, self._prepared = self._prepared, None
            replica.start(ticket, prepared)
            self._replica = replica  # only now: what has no supervisor yet looks as if it had ended
        except Exception as error:  # whatever it is, the server must know
            self._gone = f"the launcher can't start the replica on node {config.node}: {error}"


def remove_tree(path: str) -> None:
    """Deletes a directory as far as that can be done."""
    import shutil  # only now: no replica waits for it

    shutil.rmtree(path, ignore_errors=True)


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
            remove_tree(path)
