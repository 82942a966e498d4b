"""Phases around the program: fetch copies of buckets before it, save them after it."""

from __future__ import annotations

import os
import signal

from footplate.replica.bucket_directories import has_copies
from footplate.replica.isolation import syscalls
from footplate.replica.isolation.spawn import Launch, SpawnFailed, execute, spawn
from footplate.replica.phase import NEVER, Delivering, Phase, fail
from footplate.replica.preparation_output import Preparation
from footplate.replica.program_output import Stream
from footplate.replica.program_spec import TaskError
from footplate.replica.starting import Starting

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.replica.context import Context

_LOG = "buckets.log"
_UNSAVED_CODE = 74
"""EX_IOERR of sysexits.h: of a program that succeeded, and whose files are lost."""


class Copying(Phase):
    """Runs a copying command of the service alone, beside the program's isolation."""

    step = ""

    def __init__(self, context: Context) -> None:
        """Starts the command. Raises SpawnFailed, OSError."""
        super().__init__(context)
        self._notes = Preparation(lambda text: context.journal.event("BUCKETS", text))
        self._output = Stream(self._notes.see)
        self.streams = (self._output,)
        self._pid = self._start()

    def deadline(self) -> float:
        return NEVER

    def _start(self) -> int:
        context = self.context
        argv = [*context.command, f"{self.step}-buckets", context.home.path]
        log = os.open(context.home / _LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        launch = Launch(argv, dict(context.host), "/", self._output.writing, log)

        def body(_: int) -> None:
            syscalls.die_with_parent(signal.SIGKILL)
            execute(launch)

        try:
            return spawn(body)
        finally:
            os.close(log)
            self._output.hand_over()

    def _end(self) -> bool:
        """Returns whether the command has ended, and all its output is read."""
        try:
            pid, self._status = os.waitpid(self._pid, os.WNOHANG)
        except ChildProcessError:  # in the containment mode subreaper that may be faster
            pid, self._status = self._pid, 0
        if not pid:
            return False
        while self._output.open:
            if not self._output.read():
                self._output.close()
        return True

    def _conclude(self) -> None:
        """Checks the command's outcome. Raises TaskError, which says why the copying failed."""
        result = self._notes.conclude(self._status, self.context.home / _LOG)
        if "notes" not in result:
            raise TaskError("the copying of buckets ended before all files were copied")
        for note in result["notes"]:
            self.context.journal.event("BUCKETS", str(note))


class Fetching(Copying):
    """The phase that copies buckets to the machine, before the program starts; ``then`` returns the
    phase that follows.
    """

    step = "fetch"

    def __init__(self, context: Context, then: Callable[[], Phase]) -> None:
        super().__init__(context)
        self._then = then

    def advance(self) -> Phase:
        if not self._end():
            return self
        try:
            self._conclude()
        except (TaskError, SpawnFailed, ValueError) as error:
            return fail(self.context, str(error))
        except OSError as error:
            return fail(self.context, f"the supervisor can't start the program: {error}")
        return Starting(self.context, self._then)

    def stop(self) -> Phase:
        try:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass  # it has ended
        self._output.close()
        self.context.end_child()
        return Delivering(
            self.context, "STOPPED", 0, "the replica was stopped before its program started"
        )


class Saving(Copying):
    """The phase that copies files back to the buckets after the program has ended in any way;
    nothing stops it.
    """

    step = "save"

    def __init__(self, context: Context, kind: str, code: int, cause: str, advice: str) -> None:
        self._exit = kind, code, cause, advice
        super().__init__(context)

    def advance(self) -> Phase:
        if not self._end():
            return self
        kind, code, cause, advice = self._exit
        try:
            self._conclude()
        except TaskError as error:
            self.context.journal.event("BUCKETS", str(error))
            if (kind, code) == ("EXITED", 0):
                cause = f"the program succeeded, but {error}"
                code = _UNSAVED_CODE
        return Delivering(self.context, kind, code, cause, advice)

    def stop(self) -> Phase:
        return self


def after_fetching(context: Context, then: Callable[[], Phase]) -> Phase:
    """Returns the phase that waits for the copies of buckets and then goes on with ``then``.
    Without copies it calls ``then`` at once, and raises what that raises.
    """
    return Fetching(context, then) if has_copies(context.task) else then()


def after_saving(context: Context, kind: str, code: int, cause: str, advice: str) -> Phase:
    if not has_copies(context.task):
        return Delivering(context, kind, code, cause, advice)
    try:
        return Saving(context, kind, code, cause, advice)
    except (SpawnFailed, OSError) as error:
        context.journal.event(
            "BUCKETS",
            "the supervisor can't copy the program's files to the buckets; they stay on the "
            f"node: {error}",
        )
        return Delivering(context, kind, code or _UNSAVED_CODE, cause or str(error), advice)
