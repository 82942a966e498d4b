"""The stages before the program: fetch the task, prepare the environment."""

from __future__ import annotations

import os
import sys

from footplate.replica.answers import Answers
from footplate.replica.google_tools import make_settings, wrap_tools
from footplate.replica.isolation import ladder
from footplate.replica.isolation.cage import Unavailable
from footplate.replica.isolation.limits import Limits
from footplate.replica.isolation.processes import MARK_VARIABLE
from footplate.replica.isolation.spawn import Launch, SpawnFailed
from footplate.replica.memory import OomWatch, join
from footplate.replica.output import Stream
from footplate.replica.preparation import Preparation
from footplate.replica.program import (
    DEFAULT_PATH,
    Prepared,
    TaskError,
    compose_build_environment,
)
from footplate.replica.program_user import BUILD_TMP, choose
from footplate.replica.room import has_room
from footplate.replica.stage import NEVER, Delivering, Stage, fail
from footplate.replica.starting import make_program, start

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.replica.desk import Desk
    from footplate.replica.starting import Startable

_LOG = "environment.log"
LOOK_S = 1.0
"""So often it is looked whether there is room on the disk."""


class Fetching(Stage):
    """On a full disk nothing is begun: it waits for room, as what has begun does."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._look_at = 0.0

    def deadline(self) -> float:
        return self._look_at or NEVER

    def advance(self) -> Stage:
        if self.desk.courier.fault:
            return fail(self.desk, f"its task can't be had: {self.desk.courier.fault}")
        now = self.desk.monotonic()
        if self.desk.courier.task is None or now < self._look_at:
            return self
        try:
            if not self._has_room(now):
                return self
            return begin(self.desk)
        except (TaskError, SpawnFailed, Unavailable) as error:
            return fail(self.desk, str(error))
        except OSError as error:
            return fail(self.desk, f"the program can't be prepared: {error}")

    def stop(self) -> Stage:
        return Delivering(self.desk, "STOPPED", 0, "stopped before its program started")

    def _has_room(self, now: float) -> bool:
        if has_room(self.desk.home.path):
            return True
        if not self._look_at:
            message = "the disk is full: the program is begun when there is room"
            self.desk.journal.event("DISK_FULL", message)
        self._look_at = now + LOOK_S
        return False


class Preparing(Stage):
    """The environment command runs, in the program's own isolation: it runs the user's setup.py."""

    command = "environment"
    """Of the supervisor's archive."""

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
            return self._follow(self._preparation.conclude(status or 0, self.desk.home / _LOG))
        except (TaskError, SpawnFailed, ValueError) as error:
            return fail(self.desk, join(str(error), memory.about))
        except OSError as error:
            return fail(self.desk, f"the program can't be started: {error}")

    def stop(self) -> Stage:
        self.desk.end_child()
        self._output.close()
        return Delivering(self.desk, "STOPPED", 0, "stopped before its program started")

    def _follow(self, result: dict[str, Any]) -> Stage:
        """Raises TaskError, SpawnFailed, ValueError, OSError."""
        prepared = Prepared.parse(result)
        if not self.desk.leases.take(self.desk.cache, prepared.uses):
            return Preparing(self.desk)  # somebody has removed it since: make it again
        return follow(self.desk, prepared)

    def _compose_environment(self) -> dict[str, str]:
        return compose_build_environment(self.desk.host)

    def _start(self) -> None:
        desk = self.desk
        environment = {**self._compose_environment(), MARK_VARIABLE: desk.mark}
        environment.update(_lead_builds(desk))
        argv = [*desk.command, self.command, desk.home.path]
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        log = os.open(desk.home / _LOG, flags, 0o600)
        try:
            launch = Launch(argv, environment, desk.home.path, self._output.writing, log)
            start(desk, launch, None)
        finally:
            os.close(log)
            self._output.hand_over()


def _lead_builds(desk: Desk) -> dict[str, str]:
    """What leads the tools of Cloud Storage in a ``setup.py`` to the buckets. Raises OSError."""
    pairs = desk.task.get("build_environment") or ()
    variables = {str(name): str(value) for name, value in pairs}
    if not variables:
        return {}
    packages = desk.home / "packages"  # which builds see
    os.makedirs(packages, exist_ok=True)
    path = wrap_tools(os.path.join(packages, "tools"), desk.host.get("PATH") or DEFAULT_PATH)
    tmp = packages if desk.user is None else os.path.join(packages, BUILD_TMP)
    return {**variables, **make_settings(variables, packages, tmp), "PATH": path}


def begin(desk: Desk) -> Stage:
    """The task is there: choose the isolation, and go on as far as one can at once.

    Raises TaskError, SpawnFailed, Unavailable, OSError.
    """
    desk.courier.heartbeat_s = desk.seconds("heartbeat_s", desk.courier.heartbeat_s)
    desk.home.write("task.json", desk.task)
    if (desk.task.get("program") or {}).get("kind") == "container":
        from footplate.replica.container import starting  # only containers pay for it

        return starting.begin(desk)
    _isolate(desk)
    if desk.task.get("runtime") is not None:
        prepared = recall(desk)
        return Preparing(desk) if prepared is None else follow(desk, prepared)
    if desk.task.get("packages"):
        raise TaskError("packages need a runtime to go into, and the task has none")
    return follow(desk, Prepared(sys.executable, []))


def recall(desk: Desk) -> Prepared | None:
    """An environment that was made for the same before, and is still there."""
    answers = Answers(desk.cache, desk.ticket.get("pythons"))
    answer = answers.find(str(desk.task.get("preparation") or ""))
    if answer is None:
        return None
    try:
        prepared = Prepared.parse(answer)
        if not desk.leases.take(desk.cache, prepared.uses):
            return None
    except (TaskError, ValueError, OSError):
        return None
    for note in answer.get("notes") or ():
        desk.journal.event("PREPARING", str(note))
    return prepared


def _isolate(desk: Desk) -> None:
    """Raises Unavailable, TaskError."""
    limits = read_limits(desk)
    wanted = str(desk.ticket.get("isolation") or "auto")
    limited = limits is not None
    desk.cage, reasons = ladder.choose(wanted, desk.mark, limited=limited, proofs=desk.proofs)
    if desk.init is not None:
        desk.cage.adopt(desk.init)
        desk.init = None
    words = "; ".join(filter(None, [f"{desk.cage.name}: {desk.cage.guarantee}", choose(desk)]))
    desk.journal.event("ISOLATION", f"{words} ({'; '.join(reasons)})" if reasons else words)
    if limits is not None:
        faults = desk.cage.limit(limits)
        desk.limits = None if faults["memory"] else limits
        desk.journal.event("LIMITS", limits.describe(faults))


def read_limits(desk: Desk) -> Limits | None:
    """What the task's machine has; None: there are no limits. Raises TaskError."""
    allotment = desk.task.get("allotment")
    try:
        return None if allotment is None else Limits.parse(allotment)
    except (KeyError, TypeError, ValueError) as error:
        raise TaskError(f"the task's allotment can't be read: {error!r}") from error


def follow(desk: Desk, prepared: Prepared) -> Stage:
    """The environment is there: start the program, or wait for the others of its gang.

    Raises TaskError, SpawnFailed, OSError.
    """
    return proceed(desk, make_program(desk, prepared))


def proceed(desk: Desk, program: Startable) -> Stage:
    """Start the program, or wait for the others of its gang.

    Raises TaskError, SpawnFailed, OSError.
    """
    if desk.task.get("gathering_s") is None:
        return program.start(desk)
    from footplate.replica.gathering import Gathering  # a replica that is alone doesn't pay for it

    return Gathering(desk, program)
