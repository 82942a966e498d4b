"""A process that imports what a supervisor needs before it is known what it will supervise.

A launcher forks it first of all: it imports while the launcher asks the server for work, so that a
replica's first start costs no interpreter. Later starts, and one for which this fails, are spawned.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from footplate.replica.isolation.syscalls import die_with_parent

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

COMMAND = "launch"
_MOST_BYTES = 1 << 16
_FAILED = 1


class PreparedSupervisor:
    """The process as its launcher sees it; it has the methods of a Popen that launchers use."""

    def __init__(self, pid: int, channel: int) -> None:
        self._pid = pid
        self._channel = channel
        self._ended = False

    @classmethod
    def fork(cls, prepare: Callable[[], object] = lambda: None) -> PreparedSupervisor | None:
        """Forks the process, which also does ``prepare``; returns None if there can't be one. The
        caller may have one thread only, since locks of others would stay taken in the child.
        """
        reading, writing = os.pipe()
        own = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            print(f"no supervisor can be prepared: {error}", file=sys.stderr)
            os.close(reading)
            os.close(writing)
            return None
        if pid == 0:
            os.close(writing)
            _live(reading, own, prepare)
        os.close(reading)
        return cls(pid, writing)

    def supervise(self, home: str, archive: str, log: str) -> bool:
        """Makes the process the supervisor of ``home``; returns whether it was there to be asked.

        ``archive`` is the program that it has imported, ``log`` the file for its output.
        """
        order = json.dumps([home, archive, log]).encode()
        try:
            return os.write(self._channel, order) == len(order)
        except OSError:  # it has ended; Python ignores SIGPIPE
            return False
        finally:
            self.close()

    def close(self) -> None:
        """Ends the process if it supervises nothing."""
        if self._channel >= 0:
            os.close(self._channel)
            self._channel = -1

    def poll(self) -> int | None:
        """Returns 0 once the process has ended, whatever its status; None before."""
        if not self._ended:
            self._ended = os.waitpid(self._pid, os.WNOHANG)[0] != 0
        return 0 if self._ended else None

    def send_signal(self, number: int) -> None:
        """Sends a signal, unless the process is known to have ended."""
        if self.poll() is None:
            os.kill(self._pid, number)


def _live(reading: int, parent: int, prepare: Callable[[], object]) -> None:
    """Runs the process and never returns: nothing may unwind into the launcher's code."""
    code = _FAILED
    try:
        die_with_parent(signal.SIGTERM)
        # The launcher may have died before prctl: no signal comes then.
        if os.getppid() == parent:
            code = _prepare(reading, prepare)
            sys.stdout.flush()
    except BaseException:  # of any kind: it goes to the log of the job
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


def _prepare(reading: int, prepare: Callable[[], object]) -> int:
    # Only here: the launcher needs none of it.
    from footplate.replica.fork_server import load
    from footplate.replica.isolation.spawn import close_all_but
    from footplate.replica.process_title import ProcessTitle

    title = ProcessTitle.find(COMMAND)
    title.change(("prepare",))  # it isn't a launcher
    os.setsid()
    supervise = load()
    try:
        prepare()
    except Exception:  # the supervisor does it when it is needed, and says why it can't
        sys.excepthook(*sys.exc_info())
    order = os.read(reading, _MOST_BYTES)
    if not order:
        return 0
    home, archive, log = json.loads(order)
    title.check(("run", home))
    # What a process has that was started as ``archive run HOME``.
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor, number in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
        os.dup2(descriptor, number)
    close_all_but(set())
    os.chdir("/")
    sys.argv[:] = [archive, "run", home]
    title.change(("run", home))
    return supervise(home)
