"""The stages before the program: fetch the task, prepare the environment."""

from __future__ import annotations

import os
import sys

from footplate.replica.isolation import ladder
from footplate.replica.isolation.cage import Unavailable
from footplate.replica.isolation.limits import Limits
from footplate.replica.isolation.processes import MARK_VARIABLE
from footplate.replica.isolation.spawn import Launch, SpawnFailed
from footplate.replica.memory import OomWatch, join
from footplate.replica.output import Stream
from footplate.replica.preparation import Preparation
from footplate.replica.program import (
    Prepared,
    TaskError,
    compose_argv,
    compose_environment,
    make_directories,
)
from footplate.replica.running import Running
from footplate.replica.stage import Delivering, Stage

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.replica.desk import Desk
    from footplate.replica.isolation.view import View

_LOG = "environment.log"
_HIDDEN_PREFIXES = ("PYTHON", "VIRTUAL_ENV", "FOOTPLATE_")


class Fetching(Stage):
    def advance(self) -> Stage:
        if self.desk.courier.task_fault:
            return fail(self.desk, f"its task can't be had: {self.desk.courier.task_fault}")
        if self.desk.courier.task is None:
            return self
        try:
            return begin(self.desk)
        except (TaskError, SpawnFailed, Unavailable) as error:
            return fail(self.desk, str(error))
        except OSError as error:
            return fail(self.desk, f"the program can't be prepared: {error}")

    def stop(self) -> Stage:
        return Delivering(self.desk, "STOPPED", 0, "stopped before its program started")


class Preparing(Stage):
    """The environment command runs, in the program's own isolation: it runs the user's setup.py."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._preparation = Preparation(lambda text: desk.journal.event("PREPARING", text))
        self._output = Stream(self._preparation.see)
        self.streams = (self._output,)
        self._watch = OomWatch(desk)
        self._start()

    def advance(self) -> Stage:
        child = self.desk.child
        if child is None or not child.has_ended():
            return self
        status = self.desk.end_child()
        while self._output.open:
            if not self._output.read():
                self._output.close()
        memory = self._watch.judge(status or 0)
        if memory.fatal:
            cause = f"while its environment was prepared {memory.about}"
            return Delivering(self.desk, "OUT_OF_MEMORY", os.WTERMSIG(status or 0), cause)
        try:
            prepared = self._preparation.conclude(status or 0, self.desk.home / _LOG)
            return start_program(self.desk, prepared)
        except (TaskError, SpawnFailed) as error:
            return fail(self.desk, join(str(error), memory.about))
        except OSError as error:
            return fail(self.desk, f"the program can't be started: {error}")

    def stop(self) -> Stage:
        self.desk.end_child()
        self._output.close()
        return Delivering(self.desk, "STOPPED", 0, "stopped before its program started")

    def _start(self) -> None:
        desk = self.desk
        environment = {
            name: value
            for name, value in desk.host.items()
            if not name.startswith(_HIDDEN_PREFIXES)
        }
        environment[MARK_VARIABLE] = desk.mark
        argv = [*desk.command, "environment", desk.home.path]
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        log = os.open(desk.home / _LOG, flags, 0o600)
        try:
            launch = Launch(argv, environment, desk.home.path, self._output.writing, log)
            start(desk, launch, None)
        finally:
            os.close(log)
            self._output.hand_over()


def begin(desk: Desk) -> Stage:
    """The task is there: choose the isolation, and go on as far as one can at once.

    Raises TaskError, SpawnFailed, Unavailable, OSError.
    """
    desk.courier.heartbeat_s = desk.seconds("heartbeat_s", desk.courier.heartbeat_s)
    desk.home.write("task.json", desk.task)
    _isolate(desk)
    if desk.task.get("runtime") is not None:
        return Preparing(desk)
    if desk.task.get("packages"):
        raise TaskError("packages need a runtime to go into, and the task has none")
    return start_program(desk, Prepared(sys.executable, []))


def _isolate(desk: Desk) -> None:
    """Raises Unavailable, TaskError."""
    limits = _read_limits(desk)
    wanted = str(desk.ticket.get("isolation") or "auto")
    desk.cage, reasons = ladder.choose(wanted, desk.mark, limited=limits is not None)
    words = f"{desk.cage.name}: {desk.cage.guarantee}"
    desk.journal.event("ISOLATION", f"{words} ({'; '.join(reasons)})" if reasons else words)
    if limits is not None:
        faults = desk.cage.limit(limits)
        desk.limits = None if faults["memory"] else limits
        desk.journal.event("LIMITS", limits.describe(faults))


def _read_limits(desk: Desk) -> Limits | None:
    allotment = desk.task.get("allotment")
    try:
        return None if allotment is None else Limits.parse(allotment)
    except (KeyError, TypeError, ValueError) as error:
        raise TaskError(f"the task's allotment can't be read: {error!r}") from error


def start_program(desk: Desk, prepared: Prepared) -> Stage:
    """Raises TaskError, SpawnFailed, OSError."""
    argv = compose_argv(desk.task, prepared.python)
    directories = make_directories(desk.task)
    prefix = os.path.dirname(os.path.dirname(prepared.python))
    base = os.path.dirname(os.path.dirname(os.path.realpath(prepared.python)))
    view, fault = desk.make_view([*directories, *prepared.bins, prefix, base, argv[0]])
    if view is None:
        desk.journal.event("ISOLATION", f"no private /tmp, only TMPDIR: {fault}")
    tmp = desk.home.tmp if view is None else "/tmp"  # noqa: S108  it is private
    places = {"TMPDIR": tmp, "CLOUD_ML_HP_METRIC_FILE": desk.home.metrics}
    environment = compose_environment(desk.task, prepared.bins, desk.host, places, desk.mark)
    output, errors = Running.make_streams(desk)
    try:
        launch = Launch(argv, environment, desk.home.work, output.writing, errors.writing)
        start(desk, launch, view)
    except BaseException:
        output.close()
        errors.close()
        raise
    finally:
        output.hand_over()
        errors.hand_over()
    desk.journal.state("RUNNING")
    return Running(desk, (output, errors))


def start(desk: Desk, launch: Launch, view: View | None) -> None:
    """Start a program in the cage, leaving word for a sweep before and after.

    Raises SpawnFailed, OSError.
    """
    if desk.cage is None:
        raise SpawnFailed("no isolation was chosen")
    desk.child = None
    desk.keep_record()
    try:
        desk.child = desk.cage.start(launch, view)
    except SpawnFailed as error:
        desk.kill()
        raise SpawnFailed(f"{launch.argv[0]} can't be started: {error}") from error
    desk.keep_record()


def fail(desk: Desk, cause: str) -> Stage:
    desk.end_child()
    return Delivering(desk, "UNPREPARED", 0, cause)
