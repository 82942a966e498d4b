"""The HOME of the launcher's replica, its supervisor, and the cleanup after that."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time

from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.file_io import is_there, read_text, write_text

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    import subprocess
    from typing import Any

    from footplate.replica.launcher.prepared_supervisor import PreparedSupervisor

_SET_PDEATHSIG = 1
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_MAX_REASON_CHARACTERS = 1000
_LAST_SAVE_S = 60.0
_MIN_SWEEP_S, _MAX_SWEEP_S = 0.5, 30.0


_HOME = "home~"


class ReplicaProcess:
    """The process of one start of the replica. ``archive`` is the supervisor's program."""

    def __init__(self, directory: str, archive: str, restart: int, *, copies: bool = False) -> None:
        """Prepares the process of a replica; ``copies`` says, for a replica started before, whether
        its ticket has copies of buckets.
        """
        self.home = os.path.join(directory, f"{_HOME}{restart}")
        self.restart = restart
        self._archive = archive
        self._supervisor: subprocess.Popen[bytes] | PreparedSupervisor | None = None
        self._sweep: subprocess.Popen[bytes] | None = None
        self._follower: subprocess.Popen[bytes] | None = None
        """Writes back what the program has made so far, where buckets are copied."""
        self._last_save: subprocess.Popen[bytes] | None = None
        self._save_until_s = 0.0
        self._copies = copies
        self._next_sweep_s = 0.0
        self._sweep_delay_s = _MIN_SWEEP_S
        self._lived = False

    def __truediv__(self, name: str) -> str:
        return os.path.join(self.home, name)

    def start(self, ticket: SupervisorTicket, prepared: PreparedSupervisor | None = None) -> None:
        """Starts the supervisor, in the ``prepared`` process if that is there.

        Raises OSError if HOME can't be made, or the supervisor can't be spawned.
        """
        os.makedirs(self.home, mode=0o700, exist_ok=True)
        write_text(self / "ticket.json", json.dumps(ticket.encode()), _WRITE, 0o600)
        log = self / "supervisor.log"
        if prepared is not None and prepared.supervise(self.home, self._archive, log):
            self._supervisor = prepared
        else:
            self._supervisor = self._spawn("run")
        self._copies = bool(ticket.copies)
        if self._copies:
            self._follow()

    @property
    def lives(self) -> bool:
        """Says whether the supervisor has begun, and hasn't ended."""
        lives = not self.ended and is_there(self / "pid")
        self._lived = self._lived or lives
        return lives

    @property
    def lived(self) -> bool:
        """Says whether the supervisor has ever begun, as far as that was checked."""
        return self.lives or self._lived

    @property
    def ended(self) -> bool:
        """Says whether the supervisor has ended."""
        ended = self._supervisor is None or self._supervisor.poll() is not None
        if ended and self._follower is not None:
            self._follower.kill()
            self._follower.wait()
            self._follower = None
        return ended

    def stop(self) -> None:
        """Asks the supervisor to end, even if it has yet to begin."""
        try:
            write_text(self / "stop", "", _WRITE, 0o600)
        except OSError as error:
            print(f"the launcher can't write the request to stop: {error}", file=sys.stderr)
        if self.lived:
            self._signal(signal.SIGTERM)
            # A stopped supervisor would not handle SIGTERM.
            self._signal(signal.SIGCONT)

    def _follow(self) -> None:
        """Starts to write files back while the program runs; if that fails, they are written back
        at the end alone.
        """
        try:
            self._follower = self._spawn("follow-buckets")
        except OSError as error:
            print(
                f"files can't be copied to buckets while the program runs: {error}", file=sys.stderr
            )

    def kill(self) -> None:
        """Kills the supervisor at once; cleanup then ends its processes."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self._supervisor is not None and self._supervisor.poll() is None:
            self._supervisor.send_signal(number)

    def gone(self) -> str | None:
        """Returns why nothing is left of the replica; None if something may be left."""
        try:
            reason = json.loads(read_text(self / "gone"))["reason"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            # that it is there says enough
            reason = ""
        if self._copies and self._sweep is not None and not self._saves_last():
            return None
        return str(reason)[:_MAX_REASON_CHARACTERS] or "it ended"

    def _saves_last(self) -> bool:
        """Returns whether the files that a dead supervisor didn't write back are written by now, or
        it is too late.
        """
        if self._last_save is None:
            self._last_save = self._spawn("save-buckets")
            self._save_until_s = time.monotonic() + _LAST_SAVE_S
        if self._last_save.poll() is None and time.monotonic() > self._save_until_s:
            self._last_save.kill()
            self._last_save.wait()
        return self._last_save.poll() is not None

    def sweep(self) -> None:
        """Clears up after a dead supervisor, in the background; starts again if that has failed."""
        if self._sweep is not None and self._sweep.poll() is None:
            return
        if time.monotonic() < self._next_sweep_s:
            return
        began = is_there(self / "pid") or is_there(self / "lock")
        if self._sweep is None and not began:
            words = self._last_words()
            reason = "the replica's supervisor could not start" + (f": {words}" if words else "")
            write_text(self / "gone", json.dumps({"reason": reason}), _WRITE, 0o600)
            return
        self._next_sweep_s = time.monotonic() + self._sweep_delay_s
        self._sweep_delay_s = min(_MAX_SWEEP_S, self._sweep_delay_s * 2)
        self._sweep = self._spawn("sweep")

    def remove(self) -> None:
        import shutil  # of a start before this one alone

        shutil.rmtree(self.home, ignore_errors=True)

    def _spawn(self, verb: str) -> subprocess.Popen[bytes]:
        import subprocess  # most starts have a prepared supervisor, and no cleanup

        with open(self / "supervisor.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", self._archive, verb, self.home],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                preexec_fn=_end_with(os.getpid()),
            )

    def _last_words(self) -> str:
        try:
            lines = read_text(self / "supervisor.log").strip().splitlines()
        except OSError:  # words are missing
            return ""
        return lines[-1][:_MAX_REASON_CHARACTERS] if lines else ""


def find_last(directory: str, incarnation: str, archive: str) -> ReplicaProcess | None:
    """Returns the last start that this launcher carried out, whose supervisor is dead; None if
    there was none.
    """
    names = [name for name in os.listdir(directory) if name.startswith(_HOME)]
    for restart in sorted((int(name[len(_HOME) :]) for name in names), reverse=True):
        try:
            path = os.path.join(directory, f"{_HOME}{restart}", "ticket.json")
            ticket = SupervisorTicket.decode(json.loads(read_text(path)))
        except (
            FileNotFoundError,
            NotADirectoryError,
            ValueError,
        ):  # it was about to be made, or to be removed
            continue
        if ticket.launcher == incarnation:
            return ReplicaProcess(directory, archive, restart, copies=bool(ticket.copies))
    return None


def _end_with(parent: int) -> Any:
    """Returns a function to run first in a child: it has the child asked to end when the launcher
    dies.
    """
    libc = ctypes.CDLL(None)

    def prepare() -> None:
        libc.prctl(_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        # The launcher may have died before prctl: no signal comes then.
        if os.getppid() != parent:
            os._exit(1)

    return prepare
