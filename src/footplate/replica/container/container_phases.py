"""Phases of a container's start: prepare the image, then start the container."""

from __future__ import annotations

import os

from footplate.replica.bucket_phases import after_fetching
from footplate.replica.container import image_users
from footplate.replica.container.container_spec import compose
from footplate.replica.container.containment import EngineContainment
from footplate.replica.container.guard_container import compose_guard
from footplate.replica.container.mounts import open_buckets
from footplate.replica.isolation import levels
from footplate.replica.phase import Delivering, Phase, fail
from footplate.replica.preparation_phases import Preparing, keep_limits, proceed, read_limits
from footplate.replica.program_phases import Running
from footplate.replica.program_spec import TaskError, make_directories, require_container

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

    from footplate.replica.context import Context
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.program_output import Stream

_ROOT_USERS = ("", "0", "root")


def begin(context: Context) -> Phase:
    """Starts the phases of a container task. Raises TaskError, SpawnFailed, OSError."""
    require_container(context.task)
    context.containment = EngineContainment(_find_engine(context), context.mark)
    context.limits = read_limits(context)
    return PreparingImage(context)


def _find_engine(context: Context) -> str:
    """Returns the socket of the engine: on a node the node's own, else that of the service's
    machine. Raises TaskError.
    """
    program = require_container(context.task)
    if not program.engine:
        # Imported here: only nodes need it, and it costs every other supervisor memory.
        from footplate.containers.discovery import NoEngine, find_on_node

        named = context.ticket.container_engine
        try:
            program.engine = find_on_node(named, context.host, os.geteuid())
        except NoEngine as error:
            raise TaskError(str(error)) from error
        context.home.write("task.json", context.task.encode())
    return program.engine


class PreparingImage(Preparing):
    """Finds the image, or pulls it."""

    command = "image"
    trusted = True

    def _compose_environment(self) -> dict[str, str]:
        """Returns the host's variables: credential helpers need them, and no code of users runs
        here.
        """
        return dict(self.context.host)

    def _follow(self, result: Mapping[str, Any]) -> Phase:
        image = result.get("image")
        if not isinstance(image, dict):
            raise TaskError(f"the image's description can't be read: {str(result)[:200]}")
        context = self.context
        for note in result.get("notes") or ():
            context.journal.event("IMAGE", str(note))
        if context.containment is not None:
            words = context.containment.describe(str(image["engine"]))
            context.journal.event("ISOLATION", words)
        if context.limits is not None:
            keep_limits(context, context.limits, dict(image["faults"]))
        return after_fetching(context, lambda: proceed(context, ImageProgram(context, image)))


def _tell_users(context: Context, containment: EngineContainment, reason: str) -> None:
    """Reports as which users the image's users run; the image's root isn't root if the service
    isn't.
    """
    reason = containment.unmapped or reason
    if containment.first_id or reason:
        words = image_users.describe(containment.first_id, reason)
        context.journal.event("ISOLATION", words)


def _tell_guard(context: Context, containment: EngineContainment) -> None:
    if containment.unguarded:
        words = "if all processes of the job are killed at once, its container runs on until the "
        words += (
            f"node's next job with a container; its guard did not start: {containment.unguarded}"
        )
        context.journal.event("ISOLATION", levels.describe("", words))


def _tell_disk(context: Context) -> None:
    limits, containment = context.wanted, context.containment
    if limits is not None and limits.disk_bytes and containment and not containment.written:
        where = "the container engine doesn't say where the container's files are"
        context.journal.event(
            "LIMITS", f"disk: the supervisor measures only the container's own mounts: {where}"
        )


class ImageProgram:
    """The parts that a start needs, except the variables, which come from the task at the start."""

    view: MountNamespace | None = None

    def __init__(self, context: Context, image: dict[str, Any]) -> None:
        """Prepares the start of the image's program. Raises TaskError."""
        self._image = image
        self._limits = context.limits
        make_directories(context)
        user = str(image.get("user") or "").partition(":")[0]
        same = user in _ROOT_USERS and os.geteuid() == 0
        fault = "" if same else open_buckets(context)
        if fault:
            message = f"the image's user {user or 'root'} may not write to all buckets: {fault}"
            context.journal.event("ISOLATION", message)

    def check(self, context: Context) -> None:
        """Checks the task, before the replica waits for the job's others. Raises TaskError."""
        compose(context, self._image, self._limits)

    def start(self, context: Context) -> Phase:
        """Starts the program and returns the next phase. Raises TaskError, SpawnFailed, OSError."""
        containment = context.containment
        if not isinstance(containment, EngineContainment):
            raise TaskError("the supervisor has no container engine for the program")
        spec = compose(context, self._image, self._limits)
        mounts = spec["HostConfig"]["Mounts"]
        first_id, unmapped = image_users.find_first_id(context, self._image, mounts)
        guard = self._compose_guard(context, spec, *containment.names)
        containment.promise(guarded=guard is not None)
        context.keep_record()
        context.started += 1

        def begin(stdout: int, stderr: int) -> None:
            context.child = containment.run(spec, stdout, stderr, first_id, guard)

        output = Running.connect(context, begin)
        context.keep_record()
        return Starting(context, containment, output, unmapped)

    def _compose_guard(
        self, context: Context, spec: dict[str, Any], socket: str, container: str
    ) -> dict[str, Any] | None:
        """Returns the specification of the container's guard on a node, where an engine may kill
        all of a job but its container; None elsewhere.
        """
        if not context.ticket.launchers:
            return None
        archive, engine = context.command[-1], str(self._image["engine"])
        return compose_guard(spec, container, socket, context.home.path, archive, engine)


class Starting(Phase):
    """The phase in which the engine creates and starts the container; it may take long."""

    def __init__(
        self,
        context: Context,
        containment: EngineContainment,
        output: tuple[Stream, Any],
        unmapped: str,
    ) -> None:
        """Begins a phase of the container; ``unmapped`` says why the image's users are to have the
        ids of this machine's users.
        """
        super().__init__(context)
        self._unmapped = unmapped
        self._containment = containment
        self._output = output

    @property
    def streams(self) -> tuple[Stream, ...]:  # type: ignore[override]  # it changes
        status = self._containment.status
        return (status,) if status is not None and status.open else ()

    def advance(self) -> Phase:
        containment, context = self._containment, self.context
        child = context.child
        ended = child is None or child.has_ended()
        fault = containment.fault if ended else ""
        if containment.started:
            context.workdir = containment.workdir
            context.keep_record()
            _tell_disk(context)
            _tell_users(context, containment, self._unmapped)
            _tell_guard(context, containment)
            context.journal.state("RUNNING")
            return Running(context, self._output)
        if not ended:
            return self
        context.end_child()
        self._close_output()
        if fault:
            return Delivering(context, "SIGNALLED", 9, fault)
        image = require_container(context.task).image
        return fail(
            context,
            f"the engine can't start the container of {image}: {explain(containment.error)}",
        )

    def stop(self) -> Phase:
        self.context.end_child()
        self._close_output()
        return Delivering(
            self.context, "STOPPED", 0, "the replica was stopped before its program started"
        )

    def _close_output(self) -> None:
        for stream in self._output:
            stream.close()


_NOISE = (
    *("failed to create shim task: ", "OCI runtime create failed: ", "runc create failed: "),
    *("unable to start container process: ", "OCI runtime error: ", "runc: ", "crun: "),
    *("container_linux.go:", "starting container process caused: "),
)


def explain(words: str) -> str:
    """Returns the engine's own reason, without the names of the layers that passed it on."""
    text = words or "the engine gave no reason"
    if ": exec: " in text:
        text = text[text.index(": exec: ") + 2 :]
    for noise in _NOISE:
        text = text.replace(noise, "")
    text, unknown = text.partition(": OCI runtime attempted")[0], ": unknown"
    return text[: -len(unknown)] if text.endswith(unknown) else text
