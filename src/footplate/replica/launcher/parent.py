"""The command ``launch``: the parent of a launcher, which starts another when that one is killed.

The server must hear soon that a launcher is dead, and that nothing of its replica runs any more.
The parent sees both: it is the subreaper of all that the launcher has started, so that the kernel
says when none of that is left. Then the next launcher goes on in its place: it clears up, reports
the replica as gone, and serves what the server wants next.

A launcher that may wait for another job's replica leaves that to a new one, too: the parent starts
it when no process of the former job is left, and nothing but the file ``launcher.json`` goes on.

A parent that is killed itself takes the launcher with it, which ends its replica and says so.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from footplate.replica.isolation import syscalls
from footplate.replica.isolation.procfs import find_children
from footplate.replica.launcher import next_replica
from footplate.replica.launcher.prepared_supervisor import PreparedSupervisor

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

OK = 0
LEFT = 1
"""It left without knowing that nothing of its replica is left."""
WARM = 2
"""It left in order, and ``launcher.json`` has what another launcher waits with."""
CRASHED = 70
MAX_LAUNCHERS = 10
_KILL_AFTER_S = 30.0
"""How long a supervisor may take to end that was asked to by the death of its launcher."""
_LOOK_S = 0.05
_REST_S = 1.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def main(directory: str) -> int:
    run = os.urandom(12).hex()

    def serve(deaths: int, turn: int) -> int:
        config = next_replica.read_config(directory)  # anew: it may have another replica by now
        prepared = None
        if not deaths and config.archive == config.supervisor:
            # It imports while the launcher does. Forked before that has threads.
            prepared = PreparedSupervisor.fork(lambda: next_replica.probe(directory, config))
        from footplate.replica.launcher import launch  # only here: the parent stays small

        return launch.serve(directory, config, f"{run}.{turn}", prepared, resumed=deaths > 0)

    return Parent(serve).run()


class Parent:
    """The process that starts launchers anew when they die. ``serve`` runs a launcher; its
    arguments are the number of launchers that died before, and that of launchers before these
    which left one that waits.
    """

    def __init__(
        self, serve: Callable[[int, int], int], kill_after_s: float = _KILL_AFTER_S
    ) -> None:
        self._serve = serve
        self._kill_after_s = kill_after_s
        self._child = 0
        self._told = False
        """Whether a signal has asked it to end."""

    def run(self) -> int:
        """Runs launchers, and returns the exit status of the last. Raises OSError if none can be
        started.
        """
        syscalls.become_subreaper()
        for number in _SIGNALS:
            signal.signal(number, self._tell)
        deaths = turn = 0
        while deaths < MAX_LAUNCHERS:
            status = self._live(deaths, turn)
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else CRASHED
            if code in (OK, LEFT):
                return code
            if code != WARM:
                print("the launcher has died, so its replica ends", file=sys.stderr)
            if not self._end_rest():
                break
            if code == WARM:
                deaths, turn = 0, turn + 1
            else:
                deaths += 1
                time.sleep(_REST_S)
        return LEFT

    def _tell(self, number: int, _: object) -> None:
        self._told = True
        if self._child:
            os.kill(self._child, number)

    def _live(self, deaths: int, turn: int) -> int:
        """Runs one launcher until it ends, and returns its wait status."""
        own = os.getpid()
        # No signal may arrive between the fork and the assignment. In the parent ``_tell`` would
        # find no child, and the launcher would never hear of it. The child would run the parent's
        # handler.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        self._child = child = os.fork()
        if not child:
            self._become_launcher(own, deaths, turn)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        if self._told:  # before there was this launcher
            os.kill(child, signal.SIGTERM)
        while True:
            # All children are waited for: as a subreaper this process also gets the launcher's
            # orphans. The launcher isn't reaped at once, since ``_tell`` may be about to use its
            # number.
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            if ended is not None and ended.si_pid == child:
                self._child = 0  # before its number can be another's
                return os.waitpid(child, 0)[1]
            if ended is not None:
                os.waitpid(ended.si_pid, 0)

    def _become_launcher(self, parent: int, deaths: int, turn: int) -> None:
        code = CRASHED
        try:
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            syscalls.die_with_parent(signal.SIGTERM)
            # The parent may have died before prctl: no signal comes then.
            if os.getppid() == parent:
                code = self._serve(deaths, turn)
        except BaseException:  # of any kind: it goes to the log of the job
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _end_rest(self) -> bool:
        """Waits until no process is left below this one; returns False if it was told to end before
        that.
        """
        kill_at_s = time.monotonic() + self._kill_after_s
        while not self._told:
            try:
                if os.waitpid(-1, os.WNOHANG)[0]:
                    continue
            except ChildProcessError:
                return True
            if time.monotonic() > kill_at_s:
                _kill_children()
            time.sleep(_LOOK_S)
        return False


def _kill_children() -> None:
    for pid in find_children():
        try:
            os.kill(pid, signal.SIGKILL)
        except PermissionError as error:
            print(f"process {pid} can't be killed: {error}", file=sys.stderr)
