"""A program that Apptainer runs from the file of an image.

The container is a child of the supervisor, as a program without an image is: what isolates, stops
and measures those does it here, too.
"""

from __future__ import annotations

import os

from footplate.containers.apptainer import NAME, Apptainer, find_unusable
from footplate.replica.bucket_phases import after_fetching
from footplate.replica.container.container_spec import (
    HYPERTUNE_DIRECTORY,
    compose_variables,
    find_devices,
)
from footplate.replica.container.mounts import find_mounts
from footplate.replica.container.pod_image import compose_command
from footplate.replica.isolation import levels
from footplate.replica.preparation_phases import Preparing, isolate, proceed
from footplate.replica.program_spec import make_directories, require_container
from footplate.replica.program_start import run_program
from footplate.replica.workdir import PROGRAM_FILE

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

    from footplate.protocol.ticket import SupervisorTicket
    from footplate.replica.context import Context
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.phase import Phase

_GPU_VARIABLES = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
_ROOT_HOME = "/root"
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The PATH of an image that sets none, as engines have it."""


def is_chosen(ticket: SupervisorTicket) -> bool:
    return ticket.container_engine == NAME


def begin(context: Context) -> Phase:
    """Starts the phases of a container task. Raises Unavailable, TaskError, SpawnFailed,
    OSError.
    """
    require_container(context.task)
    isolate(context)
    return PreparingFile(context)


class PreparingFile(Preparing):
    """The phase that finds the image's file, or makes it."""

    command = "image"
    trusted = True

    def _compose_environment(self) -> dict[str, str]:
        return dict(self.context.host)

    def _follow(self, result: Mapping[str, Any]) -> Phase:
        context = self.context
        for note in result.get("notes") or ():
            context.journal.event("IMAGE", str(note))
        program = FileProgram(context, dict(result["image"]))
        return after_fetching(context, lambda: proceed(context, program))


class FileProgram:
    """The parts that a start needs, except the variables, which come from the task at the start."""

    view: MountNamespace | None = None

    def __init__(self, context: Context, image: dict[str, Any]) -> None:
        """Prepares the start of the image's program. Raises TaskError, OSError."""
        self._file = str(image["file"])
        self._config: dict[str, Any] = image["config"]
        self._apptainer = Apptainer(str(image["command"]), str(image["version"]))
        make_directories(context)
        self._written = context.home / "root"
        os.makedirs(self._written, exist_ok=True)
        context.workdir = ""
        words = f"{image['version']} runs the image: the program sees the files of the image and "
        words += "the buckets, and is root inside, with the rights of its user on the node"
        missing = "the container has the machine's network"
        context.journal.event("ISOLATION", levels.describe(words, missing))

    def check(self, context: Context) -> None:
        """Checks the task, before the replica waits for the job's others. Raises TaskError,
        OSError.
        """
        self._compose_variables(context)

    def start(self, context: Context) -> Phase:
        """Starts the program and returns the next phase. Raises TaskError, SpawnFailed, OSError."""
        variables = self._compose_variables(context)
        unusable = find_unusable(variables)
        if unusable:
            names = ", ".join(map(repr, unusable))[:500]
            context.journal.event("IMAGE", f"Apptainer can't pass on the variables {names}")
        argv = self._apptainer.compose_command(
            self._file,
            compose_command(require_container(context.task), self._config),
            find_mounts(context, HYPERTUNE_DIRECTORY),
            workdir=self._workdir,
            home=variables.get("HOME", _ROOT_HOME),
            written=self._written,
            gpus=bool(find_devices(context.task, context.ticket, context.host)),
        )
        environment = self._apptainer.compose_environment(variables, context.host, context.home.tmp)
        context.nested = True
        running = run_program(context, argv, environment, context.home.work, None)
        if context.task.web_access:  # for shells, which see what the program sees
            inside = {"environment": variables, "directory": self._workdir}
            context.home.write(PROGRAM_FILE, inside)
        return running

    @property
    def _workdir(self) -> str:
        return str(self._config.get("WorkingDir") or "/")

    def _compose_variables(self, context: Context) -> dict[str, str]:
        """Returns the variables of the program, the image's first. Raises TaskError, OSError."""
        pairs = (str(pair).partition("=") for pair in self._config.get("Env") or ())
        own = {"PATH": _DEFAULT_PATH, **{name: value for name, _, value in pairs}}
        gpus = {name: context.host[name] for name in _GPU_VARIABLES if name in context.host}
        return {**own, **compose_variables(context, gpus, own.get("PYTHONPATH", ""))}
