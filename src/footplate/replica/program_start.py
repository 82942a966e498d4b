"""Starts a program: first whatever can fail, then the program in its containment."""

from __future__ import annotations

import os
import re

from footplate.replica.api_account import make_account
from footplate.replica.filesystem_view import find_granted, find_shared, make_view
from footplate.replica.google_tools import make_settings
from footplate.replica.isolation import levels
from footplate.replica.isolation.spawn import Launch, SpawnFailed
from footplate.replica.program_hooks import make_hook
from footplate.replica.program_phases import Running
from footplate.replica.program_spec import compose_argv, compose_environment, make_directories
from footplate.replica.program_user import open_directories, require_reach
from footplate.replica.realpath import find_real
from footplate.replica.tensorflow_storage import make_roots
from footplate.replica.user_names import HOME_DIRECTORY, make_records, name_user
from footplate.replica.workdir import PROGRAM_FILE

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping, Protocol, Sequence

    from footplate.replica.context import Context
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.phase import Phase
    from footplate.replica.prepared import Prepared

    class Startable(Protocol):
        """A program that is ready to be started, once the task has all its variables."""

        view: MountNamespace | None

        def check(self, context: Context) -> None: ...
        def start(self, context: Context) -> Phase: ...


# The settings of pip in programs: where it installs, and from which indexes.
#
# The indexes are those of builds, as far as programs may know them: their addresses without user
# names and passwords, no settings file, no client certificate.

_INDEXES = {
    "PIP_INDEX_URL": ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"),
    "PIP_EXTRA_INDEX_URL": ("UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL"),
    "PIP_FIND_LINKS": ("UV_FIND_LINKS", "PIP_FIND_LINKS"),
    "PIP_NO_INDEX": ("UV_NO_INDEX", "PIP_NO_INDEX"),
    "PIP_TRUSTED_HOST": ("UV_INSECURE_HOST", "PIP_TRUSTED_HOST"),
    "PIP_CERT": ("PIP_CERT",),
    "PIP_DEFAULT_TIMEOUT": ("PIP_DEFAULT_TIMEOUT", "PIP_TIMEOUT"),
}
"""The host's, by pip's variable, first the one that builds prefer: uv reads its own."""
_OWN = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
}
_SEPARATORS = re.compile(r"[\s,]+")
_NAME = re.compile(r"^[\w.-]+=(?=[a-z+]+://)")
"""How uv lets an index be called: ``internal=https://...``."""
_CREDENTIALS = re.compile(r"(?<=://)[^/\s]*@")
_BASE = os.path.join(HOME_DIRECTORY, ".local")


def make_pip_settings(host: Mapping[str, str], tmp: str) -> dict[str, str]:
    """Returns pip's variables for a program whose temporary directory is ``tmp``. ``host`` is the
    service's environment.
    """
    found = dict(_OWN)
    for name, sources in _INDEXES.items():
        words = next((host[source] for source in sources if host.get(source)), "").strip()
        parts = [_NAME.sub("", part) for part in _SEPARATORS.split(words)]
        if words:
            found[name] = " ".join(_CREDENTIALS.sub("", part) for part in parts)
    return {**found, "PYTHONUSERBASE": os.path.join(tmp, _BASE)}


def find_scripts(tmp: str) -> str:
    """Returns the directory into which pip puts commands."""
    return os.path.join(tmp, _BASE, "bin")


class Program:
    """The parts that a start needs, except the variables, which ``start_program`` takes from the
    task.
    """

    __slots__ = ("argv", "bins", "places", "view")

    def __init__(
        self,
        argv: list[str],
        bins: Sequence[str],
        places: dict[str, str],
        view: MountNamespace | None,
    ) -> None:
        self.argv = argv
        self.bins = bins
        self.places = places
        self.view = view

    def environment(self, context: Context) -> dict[str, str]:
        """Returns the program's variables. Raises TaskError, OSError."""
        settings = make_settings(context.task.variables, context.home.tools, self.tmp)
        places = {
            **make_pip_settings(context.host, self.tmp),
            **self.places,
            **name_user(context.user, self.tmp, context.host),
            **settings,
        }
        bins = [find_scripts(self.tmp), *self.bins]
        found = compose_environment(context.task, bins, context.host, places, context.mark)
        return {
            **found,
            **make_hook(
                found,
                context.task.authority,
                context.home.tools,
                replaced=self.view is not None,
            ),
            **make_account(context.task, found, context.home.tools),
        }

    @property
    def tmp(self) -> str:
        """The program's directory for temporary files, as the program sees it."""
        return self.places["TMPDIR"]

    def check(self, context: Context) -> None:
        """Checks the task, before the replica waits for the job's others. Raises TaskError."""
        self.environment(context)

    def start(self, context: Context) -> Running:
        """Starts the program. Raises TaskError, SpawnFailed, OSError."""
        return start_program(context, self)


def make_program(context: Context, prepared: Prepared) -> Program:
    """Returns the program in its environment, ready to start. Raises TaskError, OSError."""
    argv = compose_argv(context.task, prepared.python)
    make_directories(context)
    prefix = os.path.dirname(os.path.dirname(prepared.python))
    base = os.path.dirname(os.path.dirname(find_real(prepared.python)))
    context.environments = [prefix, *(os.path.dirname(path) for path in prepared.bin)]
    view, fault = make_view(context, [*context.environments, base], argv[0])
    tmp = "/tmp"  # noqa: S108  it is private
    places = {"TMPDIR": tmp, "CLOUD_ML_HP_METRIC_FILE": context.home.metrics}
    program = Program(argv, prepared.bin, places, view)
    if view is None:
        _expose(context, program, fault)
        return program
    directory = context.home.path
    names = name_user(context.user, tmp, context.host)
    view.files = [
        *make_roots(context.task.authority, directory),
        *make_records(context.user, names, directory),
    ]
    return program


def _expose(context: Context, program: Program, fault: str) -> None:
    """Lets the program see the host's file system, and reports that. Raises TaskError, OSError."""
    view = levels.HOST_VIEW
    words = levels.describe(view.guaranteed, view.missing)
    context.journal.event("ISOLATION", f"{words}: {fault}")
    program.places["TMPDIR"] = context.home.tmp
    if context.user is not None:
        entries = (context.home.work, context.home.tools, context.home.tmp, *context.environments)
        directories = find_shared(context, whole=True)
        require_reach(context, [os.path.join(path, "") for path in (*entries, *directories)])
        open_directories(context, find_granted(context, whole=True), fault)


def start_program(context: Context, program: Program) -> Running:
    """Starts the program and returns the phase in which it runs. Raises TaskError, SpawnFailed,
    OSError.
    """
    environment = program.environment(context)
    return run_program(context, program.argv, environment, context.home.work, program.view)


def run_program(
    context: Context,
    argv: list[str],
    environment: dict[str, str],
    directory: str,
    view: MountNamespace | None,
) -> Running:
    """Starts the command line and returns the phase in which it runs. Raises SpawnFailed,
    OSError.
    """
    if context.task.web_access:
        context.home.write(PROGRAM_FILE, {"environment": environment, "directory": directory})

    def begin(stdout: int, stderr: int) -> None:
        launch = Launch(argv, environment, directory, stdout, stderr)
        launch.user = context.user
        launch.processes = 0 if context.user is None else context.user_processes
        start(context, launch, view)

    streams = Running.connect(context, begin)
    context.journal.state("RUNNING")
    return Running(context, streams)


def start(context: Context, launch: Launch, view: MountNamespace | None) -> None:
    """Starts a process in the containment; writes the record for cleanup before and after.

    Raises SpawnFailed, OSError.
    """
    if context.containment is None:
        raise SpawnFailed("the supervisor's task names no isolation of the program")
    context.child = None
    context.started += 1

    def keep_record() -> None:
        context.keep_record()
        context.home.hold_space("isolation.json")  # what runs must be in the record, room or not

    launch.keep_record = keep_record
    try:
        context.child = context.containment.start(launch, view)
    except SpawnFailed as error:
        context.kill()
        message = f"{launch.argv[0]} can't be started: {error}"
        raise SpawnFailed(message, error.errno) from error
    context.keep_record()
