"""The stages of a container: its image is prepared, then the engine starts it."""

from __future__ import annotations

import os

from footplate.replica.container.cage import ContainerCage
from footplate.replica.container.mounts import open_buckets
from footplate.replica.container.spec import check_program, compose
from footplate.replica.preparing import Preparing, proceed, read_limits
from footplate.replica.program import TaskError, make_directories
from footplate.replica.running import Running
from footplate.replica.stage import Delivering, Stage, fail

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.replica.desk import Desk
    from footplate.replica.isolation.view import View
    from footplate.replica.output import Stream

_ROOT_USERS = ("", "0", "root")


def begin(desk: Desk) -> Stage:
    """The task is there, and its program is a container. Raises TaskError, SpawnFailed, OSError."""
    check_program(desk.task)
    if desk.init is not None:
        desk.init.give_up()
        desk.init = None
    desk.cage = ContainerCage(str(desk.task["program"]["engine"]), desk.mark)
    desk.limits = read_limits(desk)
    return PreparingImage(desk)


class PreparingImage(Preparing):
    """The image is looked for, and pulled if it isn't there."""

    command = "image"

    def _compose_environment(self) -> dict[str, str]:
        """All of the host's: credential helpers need it, and no code of the user runs there."""
        return dict(self.desk.host)

    def _follow(self, result: dict[str, Any]) -> Stage:
        image = result.get("image")
        if not isinstance(image, dict):
            raise TaskError(f"the image was answered as {str(result)[:200]}")
        for note in result.get("notes") or ():
            self.desk.journal.event("IMAGE", str(note))
        _tell_isolation(self.desk, image)
        return proceed(self.desk, ImageProgram(self.desk, image))


def _tell_isolation(desk: Desk, image: dict[str, Any]) -> None:
    if desk.cage is not None:
        words = f"{desk.cage.name}: {desk.cage.guarantee} ({image['engine']})"
        desk.journal.event("ISOLATION", words)
    if desk.limits is not None:
        faults = dict(image["faults"])
        desk.journal.event("LIMITS", desk.limits.describe(faults))
        desk.limits = None if faults["memory"] else desk.limits


class ImageProgram:
    """All that a start needs but the variables, which come from the task at the start."""

    view: View | None = None

    def __init__(self, desk: Desk, image: dict[str, Any]) -> None:
        """Raises TaskError."""
        self._image = image
        self._limits = desk.limits
        make_directories(desk.task, desk.directory_locks)
        user = str(image.get("user") or "").partition(":")[0]
        same = user in _ROOT_USERS and os.geteuid() == 0
        fault = "" if same else open_buckets(desk)
        if fault:
            message = f"the image's user {user or 'root'} may not write to all buckets: {fault}"
            desk.journal.event("ISOLATION", message)

    def check(self, desk: Desk) -> None:
        """What is wrong with the task must not wait for others. Raises TaskError."""
        compose(desk, self._image, self._limits)

    def start(self, desk: Desk) -> Stage:
        """Raises TaskError, SpawnFailed, OSError."""
        cage = desk.cage
        if not isinstance(cage, ContainerCage):
            raise TaskError("no container engine was chosen")
        spec = compose(desk, self._image, self._limits)
        cage.promise()
        desk.keep_record()
        desk.started += 1

        def begin(stdout: int, stderr: int) -> None:
            desk.child = cage.run(spec, stdout, stderr)

        output = Running.connect(desk, begin)
        desk.keep_record()
        return Starting(desk, cage, output)


class Starting(Stage):
    """The engine makes the container and starts it, which may take its time."""

    def __init__(self, desk: Desk, cage: ContainerCage, output: tuple[Stream, Any]) -> None:
        super().__init__(desk)
        self._cage = cage
        self._output = output

    @property
    def streams(self) -> tuple[Stream, ...]:  # type: ignore[override]  # it changes
        status = self._cage.status
        return (status,) if status is not None and status.open else ()

    def advance(self) -> Stage:
        cage, desk = self._cage, self.desk
        child = desk.child
        ended = child is None or child.has_ended()
        fault = cage.fault if ended else ""
        if cage.started:
            desk.workdir = cage.workdir
            desk.keep_record()
            desk.journal.state("RUNNING")
            return Running(desk, self._output)
        if not ended:
            return self
        desk.end_child()
        self._close_output()
        if fault:
            return Delivering(desk, "SIGNALLED", 9, fault)
        image = desk.task["program"]["image"]
        return fail(desk, f"the container of {image} can't be started: {explain(cage.error)}")

    def stop(self) -> Stage:
        self.desk.end_child()
        self._close_output()
        return Delivering(self.desk, "STOPPED", 0, "stopped before its program started")

    def _close_output(self) -> None:
        for stream in self._output:
            stream.close()


_NOISE = (
    *("failed to create shim task: ", "OCI runtime create failed: ", "runc create failed: "),
    *("unable to start container process: ", "OCI runtime error: ", "runc: ", "crun: "),
    *("container_linux.go:", "starting container process caused: "),
)


def explain(words: str) -> str:
    """The engine's own reason, without the names of the layers that passed it on."""
    text = words or "the engine gave no reason"
    if ": exec: " in text:
        text = text[text.index(": exec: ") + 2 :]
    for noise in _NOISE:
        text = text.replace(noise, "")
    return text.partition(": OCI runtime attempted")[0].removesuffix(": unknown")
