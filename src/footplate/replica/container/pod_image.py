"""A program that is the image of the Pod in which its supervisor runs.

The supervisor has a Python of its own beside the image. The program is the image's command, in the
image's file system, in its working directory and with its variables, which the Pod has already.
"""

from __future__ import annotations

import json
import os

from footplate.protocol.site_variables import SITE_VARIABLES
from footplate.replica.api_account import make_account
from footplate.replica.bucket_directories import find_bound, find_buckets
from footplate.replica.bucket_phases import after_fetching
from footplate.replica.container.container_spec import join_arguments
from footplate.replica.container.image import POD_IMAGE
from footplate.replica.container.mounts import BUCKETS
from footplate.replica.preparation_phases import Preparing, isolate, proceed
from footplate.replica.program_hooks import make_hook
from footplate.replica.program_spec import (
    TaskError,
    compose_container_environment,
    make_directories,
    require_container,
)
from footplate.replica.program_start import run_program

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

    from footplate.protocol.task import ContainerTask, Task
    from footplate.protocol.ticket import SupervisorTicket
    from footplate.replica.context import Context
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.phase import Phase

_OWN_VARIABLES = (
    *(POD_IMAGE, "FOOTPLATE_SCRATCH", "FOOTPLATE_RANK", "FOOTPLATE_JOB", "FOOTPLATE_NODE"),
    SITE_VARIABLES,
    *("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "LC_CTYPE"),
)
"""Variables of this Python and its supervisor; POD_IMAGE has the image's last four of them."""


def is_there(host: Mapping[str, str]) -> bool:
    return POD_IMAGE in host


def begin(context: Context) -> Phase:
    """Starts the phases of a container task in a Pod. Raises Unavailable, TaskError, SpawnFailed,
    OSError.
    """
    require_container(context.task)
    isolate(context)
    return PreparingPodImage(context)


class PreparingPodImage(Preparing):
    """The phase in which the job's replicas agree on the image."""

    command = "image"
    trusted = True

    def _compose_environment(self) -> dict[str, str]:
        return dict(self.context.host)

    def _follow(self, result: Mapping[str, Any]) -> Phase:
        for note in result.get("notes") or ():
            self.context.journal.event("IMAGE", str(note))
        context = self.context
        return after_fetching(context, lambda: proceed(context, PodImageProgram(context)))


class PodImageProgram:
    """The parts that a start needs, except the variables, which come from the task at the start."""

    view: MountNamespace | None = None

    def __init__(self, context: Context) -> None:
        """Prepares the start of the Pod's program. Raises TaskError, OSError."""
        self._image = json.loads(context.host[POD_IMAGE])
        make_directories(context)
        link_buckets(context.ticket, context.task, BUCKETS)
        context.workdir = os.path.realpath(self._workdir)

    @property
    def _workdir(self) -> str:
        return str(self._image["config"].get("WorkingDir") or "/")

    def check(self, context: Context) -> None:
        """Checks the task, before the replica waits for the job's other replicas. Raises TaskError,
        OSError.
        """
        self._environment(context)

    def start(self, context: Context) -> Phase:
        """Starts the program and returns the next phase. Raises TaskError, SpawnFailed, OSError."""
        argv = compose_command(require_container(context.task), self._image["config"])
        return run_program(context, argv, self._environment(context), self._workdir, None)

    def _environment(self, context: Context) -> dict[str, str]:
        environment = {
            **compose_own_variables(context.host, self._image["loader"]),
            **compose_container_environment(
                context.task, context.host, context.home.metrics, context.mark
            ),
        }
        environment.update(make_hook(environment, context.task.authority, context.home.tools))
        environment.update(make_account(context.task, environment, context.home.tools))
        return environment


def compose_command(program: ContainerTask, config: Mapping[str, Any]) -> list[str]:
    """Returns the command line; if the job has a command, the image's CMD is left out too. Raises
    TaskError.
    """
    entrypoint, own = config.get("Entrypoint") or [], config.get("Cmd") or []
    args = join_arguments(program, {"entrypoint": bool(entrypoint), "cmd": own})
    if not args and not program.command:
        args = own
    words = [*(program.command or entrypoint), *(args or ())]
    if not words:
        raise TaskError("the image has neither ENTRYPOINT nor CMD, and the job gives no command")
    return [str(word) for word in words]


def compose_own_variables(host: Mapping[str, str], loader: Mapping[str, str]) -> dict[str, str]:
    """Returns the image's ENV with the variables that Kubernetes adds. ``loader`` holds the image's
    values of some variables.
    """
    own = {name: value for name, value in host.items() if name not in _OWN_VARIABLES}
    return {**own, **{str(name): str(value) for name, value in loader.items()}}


def link_buckets(ticket: SupervisorTicket, task: Task, place: str) -> None:
    """Lets programs find the buckets in ``place``, a folder of the Pod's. Raises OSError."""
    found: dict[str, str] = {}
    for path in find_buckets(ticket, task.buckets):
        if task.buckets is None:  # that of all
            names = [name for name in os.listdir(path) if not name.startswith(".")]
            found.update({name: os.path.join(path, name) for name in names})
        else:
            found[os.path.basename(path)] = path
    found.update({name: path for path, name, _ in find_bound(task)})
    for name, path in found.items():
        link = os.path.join(place, name)
        if os.path.islink(link):
            os.unlink(link)
        os.symlink(path, link)
