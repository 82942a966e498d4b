"""The phases before the program: fetch the task, prepare the environment."""

from __future__ import annotations

import os
import sys

from footplate.protocol.message import DecodeError
from footplate.protocol.promised import VIEW
from footplate.protocol.task import ContainerTask
from footplate.replica.bucket_phases import after_fetching
from footplate.replica.environment_index import EnvironmentIndex
from footplate.replica.google_tools import make_settings, wrap_tools
from footplate.replica.isolation import mode_selection
from footplate.replica.isolation.containment import Unavailable
from footplate.replica.isolation.procfs import MARK_VARIABLE
from footplate.replica.isolation.resource_limits import Limits
from footplate.replica.isolation.spawn import Launch, SpawnFailed
from footplate.replica.kept_environments import keep
from footplate.replica.oom_detection import OomWatch, join
from footplate.replica.phase import Delivering, Phase, fail
from footplate.replica.preparation_output import Preparation
from footplate.replica.prepared import Prepared
from footplate.replica.program_output import Stream
from footplate.replica.program_phases import describe_disk, watch_disk
from footplate.replica.program_spec import (
    DEFAULT_PATH,
    TaskError,
    compose_build_environment,
)
from footplate.replica.program_start import make_program, start
from footplate.replica.program_user import BUILD_TMP, choose
from footplate.replica.starting import Starting

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

    from footplate.protocol.promised import Promised
    from footplate.replica.context import Context
    from footplate.replica.isolation.containment import Containment
    from footplate.replica.program_start import Startable

_LOG = "environment.log"
_PACKAGES = "packages"


class Fetching(Phase):
    """The phase in which the supervisor waits for the task."""

    def advance(self) -> Phase:
        if self.context.report_client.fault:
            return fail(
                self.context,
                "the supervisor can't get its task from the server: "
                f"{self.context.report_client.fault}",
            )
        if self.context.report_client.task is None:
            return self
        return Starting(self.context, lambda: begin(self.context))

    def stop(self) -> Phase:
        return Delivering(
            self.context, "STOPPED", 0, "the replica was stopped before its program started"
        )


class Preparing(Phase):
    """The phase in which the environment command runs, isolated like the program, because it runs
    the user's setup.py.
    """

    command = "environment"
    """The command of the supervisor's archive."""
    trusted = False
    """Whether it runs no code of users."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._preparation = Preparation(lambda text: context.journal.event("PREPARING", text))
        self._output = Stream(self._preparation.see)
        self.streams = (self._output,)
        self._watch = OomWatch(context)
        self._start()
        self._disk = watch_disk(context, [context.home / _PACKAGES])

    def deadline(self) -> float:
        return self._disk.deadline()

    def advance(self) -> Phase:
        child = self.context.child
        if child is None or not child.has_ended():
            return self._check_disk()
        self._disk.close()
        status = self.context.end_child()
        while self._output.open:
            if not self._output.read():
                self._output.close()
        memory = self._watch.judge(status or 0)
        if memory.fatal:
            cause = f"while the environment was prepared, {memory.about}"
            return Delivering(self.context, "OUT_OF_MEMORY", os.WTERMSIG(status or 0), cause)
        try:
            result = self._preparation.conclude(status or 0, self.context.home / _LOG)
        except (TaskError, SpawnFailed, ValueError) as error:
            return fail(self.context, join(str(error), memory.about))
        except OSError as error:
            return fail(self.context, f"the program can't be started: {error}")
        return Starting(self.context, lambda: self._follow(result))

    def stop(self) -> Phase:
        self._end()
        return Delivering(
            self.context, "STOPPED", 0, "the replica was stopped before its program started"
        )

    def _end(self) -> None:
        self._disk.close()
        self.context.end_child()
        self._output.close()

    def _check_disk(self) -> Phase:
        """Measures the files of builds against the program's limit of disk space."""
        self._disk.advance()
        self.streams = (self._output, *self._disk.streams)
        if not self._disk.exceeded or self.context.wanted is None:
            return self
        used = describe_disk(self._disk.used_bytes, self.context.wanted)
        self._end()
        cause = f"while the environment was prepared, {used}"
        return Delivering(self.context, "OUT_OF_DISK", 0, cause)

    def _follow(self, result: Mapping[str, Any]) -> Phase:
        """Returns the next phase, from the command's result. Raises TaskError, SpawnFailed,
        ValueError, OSError.
        """
        try:
            prepared = Prepared.decode(result)
        except DecodeError as error:
            raise TaskError(f"the environment can't be read: {error}") from error
        if not self.context.leases.take(self.context.cache, prepared.uses):
            return Preparing(self.context)  # it was deleted since: create it again
        return follow(self.context, prepared)

    def _compose_environment(self) -> dict[str, str]:
        return compose_build_environment(self.context.host)

    def _start(self) -> None:
        context = self.context
        environment = {**self._compose_environment(), MARK_VARIABLE: context.mark}
        environment.update(_lead_builds(context))
        argv = [*context.command, self.command, context.home.path]
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        log = os.open(context.home / _LOG, flags, 0o600)
        try:
            launch = Launch(argv, environment, context.home.path, self._output.writing, log)
            launch.processes, launch.trusted = context.user_processes, self.trusted
            start(context, launch, None)
        finally:
            os.close(log)
            self._output.hand_over()


def _lead_builds(context: Context) -> dict[str, str]:
    """Returns variables that direct Cloud Storage's tools in a ``setup.py`` to the buckets. Raises
    OSError.
    """
    variables = dict(context.task.build_environment)
    if not variables:
        return {}
    packages = context.home / _PACKAGES  # which builds see
    os.makedirs(packages, exist_ok=True)
    path = wrap_tools(os.path.join(packages, "tools"), context.host.get("PATH") or DEFAULT_PATH)
    tmp = os.path.join(packages, BUILD_TMP)
    return {**variables, **make_settings(variables, packages, tmp), "PATH": path}


def begin(context: Context) -> Phase:
    """Chooses the isolation for the task that has arrived, and starts the first phase.

    Raises:
        TaskError, SpawnFailed, Unavailable, OSError: nothing was begun.
    """
    context.report_client.heartbeat_s = context.task.heartbeat_s
    context.home.write("task.json", context.task.encode())
    try:
        if isinstance(context.task.program, ContainerTask):
            return _begin_container(context)
        isolate(context)
    except OSError as error:
        raise TaskError(f"the supervisor can't prepare the program: {error}") from error
    return Starting(context, lambda: _prepare(context))


def _prepare(context: Context) -> Phase:
    """Starts to prepare the environment, or the program if its environment is ready. Raises
    TaskError, SpawnFailed, OSError.
    """
    if context.task.runtime is not None:
        prepared = recall(context)
        return Preparing(context) if prepared is None else follow(context, prepared)
    if context.task.packages:
        raise TaskError("the job's packages need a runtime, but the job has none")
    return follow(context, Prepared(sys.executable, ()))


def _begin_container(context: Context) -> Phase:
    """Starts the phases of a container: in an engine, by Apptainer, or in the Pod with the image.
    Raises as ``begin`` does.
    """
    # Only containers pay for it.
    from footplate.replica.container import container_phases, file_program, pod_image

    if pod_image.is_there(context.host):
        return pod_image.begin(context)
    if file_program.is_chosen(context.ticket):
        return file_program.begin(context)
    return container_phases.begin(context)


def recall(context: Context) -> Prepared | None:
    """Returns an environment that was made before for the same packages, and is still there; None
    without one.

    If programs could change environments, it returns None too: the environment command then checks
    for changes.
    """
    if context.promise().fault(VIEW) and os.geteuid() != 0:
        return None
    answers = EnvironmentIndex(context.cache, context.ticket.pythons)
    prepared = answers.find(context.task.preparation)
    if prepared is None:
        return None
    try:
        if not context.leases.take(context.cache, prepared.uses):
            return None
    except (ValueError, OSError):  # it is prepared again
        return None
    for note in prepared.notes:
        context.journal.event("PREPARING", note)
    return prepared


def isolate(context: Context) -> None:
    """Gives the program all the isolation that was promised.

    Raises Unavailable, TaskError, SpawnFailed, OSError.
    """
    limits = read_limits(context)
    promised = context.promise(limited=limits is not None)
    containment = mode_selection.open_promised(promised, context.mark, limited=limits is not None)
    try:
        words = f"{containment.describe()}; {choose(context, promised)}"
        faults = {} if limits is None else _limit(containment, limits, promised)
    except BaseException:
        containment.close()
        raise
    context.containment = containment
    why = f" ({'; '.join(promised.reasons)})" if promised.reasons else ""
    context.journal.event("ISOLATION", f"{words}{why}")
    if limits is not None:
        if faults["processes"] and context.user is not None and context.user.alone:
            context.user_processes, faults["processes"] = limits.processes, ""
        keep_limits(context, limits, faults)


def _limit(containment: Containment, limits: Limits, promised: Promised) -> dict[str, str]:
    """Sets the limits; returns why some don't hold. Raises Unavailable for promised ones."""
    faults = containment.limit(limits)
    for name, fault in faults.items():
        if fault and not promised.fault(name):
            raise Unavailable(
                f"the server promised a limit of {name}, which this machine can't set now: {fault}"
            )
    return faults


def keep_limits(context: Context, limits: Limits, faults: dict[str, str]) -> None:
    """Reports which of the limits hold."""
    context.wanted = limits
    context.limits = None if faults["memory"] else limits
    context.process_limits = None if faults["processes"] else limits
    context.journal.event("LIMITS", limits.describe(faults))


def read_limits(context: Context) -> Limits | None:
    """Returns the limits of the task's machine; None if there are none."""
    return None if context.task.allotment is None else Limits.of(context.task.allotment)


def follow(context: Context, prepared: Prepared) -> Phase:
    """Starts the program, whose environment is ready, or waits for the gang.

    Raises TaskError, SpawnFailed, OSError.
    """
    keep(context.cache, context.task.persistent_resource, prepared.uses)
    return after_fetching(context, lambda: proceed(context, make_program(context, prepared)))


def proceed(context: Context, program: Startable) -> Phase:
    """Starts the program, or waits for the other replicas of its gang.

    Raises TaskError, SpawnFailed, OSError.
    """
    if context.task.gathering_s is None:
        return program.start(context)
    from footplate.replica.rendezvous import (
        Rendezvous,
    )  # a replica that is alone doesn't pay for it

    return Rendezvous(context, program)
