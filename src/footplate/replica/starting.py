"""How a program comes to run: what can fail is done first, then it starts in the cage."""

from __future__ import annotations

import os

from footplate.replica.filesystem import find_shared, make_view
from footplate.replica.google_tools import make_settings
from footplate.replica.isolation import ladder
from footplate.replica.isolation.spawn import Launch, SpawnFailed
from footplate.replica.program import (
    Prepared,
    compose_argv,
    compose_environment,
    make_directories,
)
from footplate.replica.program_user import name_user, open_directories, require_reach
from footplate.replica.real_paths import find_real
from footplate.replica.running import Running

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Protocol

    from footplate.replica.desk import Desk
    from footplate.replica.isolation.view import View
    from footplate.replica.stage import Stage


if TYPE_CHECKING:

    class Startable(Protocol):
        """What is ready to be started, once the task has all its variables."""

        view: View | None

        def check(self, desk: Desk) -> None: ...
        def start(self, desk: Desk) -> Stage: ...


class Program:
    """All that a start needs but the variables, which ``start_program`` takes from the task."""

    __slots__ = ("argv", "bins", "places", "view")

    def __init__(
        self, argv: list[str], bins: list[str], places: dict[str, str], view: View | None
    ) -> None:
        self.argv = argv
        self.bins = bins
        self.places = places
        self.view = view

    def environment(self, desk: Desk) -> dict[str, str]:
        """Raises TaskError, OSError."""
        settings = make_settings(_variables(desk), desk.home.tools, self.tmp)
        places = {**self.places, **name_user(desk.user, self.tmp), **settings}
        return compose_environment(desk.task, self.bins, desk.host, places, desk.mark)

    @property
    def tmp(self) -> str:
        """The program's directory for temporary files, as it sees it."""
        return self.places["TMPDIR"]

    def check(self, desk: Desk) -> None:
        """What is wrong with the task must not wait for others. Raises TaskError."""
        self.environment(desk)

    def start(self, desk: Desk) -> Running:
        """Raises TaskError, SpawnFailed, OSError."""
        return start_program(desk, self)


def _variables(desk: Desk) -> dict[str, str]:
    """What the task sets, as far as it is readable; ``compose_environment`` says what isn't."""
    pairs = desk.task.get("environment") or ()
    found = (pair for pair in pairs if isinstance(pair, list) and len(pair) == 2)
    return {str(name): str(value) for name, value in found}


def make_program(desk: Desk, prepared: Prepared) -> Program:
    """Raises TaskError, OSError."""
    argv = compose_argv(desk.task, prepared.python)
    directories = make_directories(desk.task, desk.directory_locks)
    prefix = os.path.dirname(os.path.dirname(prepared.python))
    base = os.path.dirname(os.path.dirname(find_real(prepared.python)))
    desk.environments = [prefix, *(os.path.dirname(path) for path in prepared.bins)]
    view, fault = make_view(desk, [*desk.environments, base], [*directories, argv[0]])
    tmp = "/tmp"  # noqa: S108  it is private
    places = {"TMPDIR": tmp, "CLOUD_ML_HP_METRIC_FILE": desk.home.metrics}
    program = Program(argv, prepared.bins, places, view)
    if view is None:
        _expose(desk, program, fault)
    elif desk.user is not None and view.id_map < 0:
        open_directories(desk, view.mapped, fault)
    return program


def _expose(desk: Desk, program: Program, fault: str) -> None:
    """Let the program see the host's file system, and say so."""
    words = "no private /tmp, only TMPDIR, and the service's files aren't hidden"
    desk.journal.event("ISOLATION", f"{words}: {fault}")
    program.view = None
    program.places["TMPDIR"] = desk.home.tmp
    if desk.user is not None:
        entries = (desk.home.work, desk.home.tools, desk.home.tmp, *desk.environments)
        directories = find_shared(desk)
        require_reach(desk, [os.path.join(path, "") for path in (*entries, *directories)])
        open_directories(desk, directories, fault)


def start_program(desk: Desk, program: Program) -> Running:
    """Raises TaskError, SpawnFailed, OSError."""
    try:
        return _start_program(desk, program)
    except SpawnFailed:
        fault = ladder.find_fault(program.view) if program.view is not None else ""
        if not fault:  # it isn't for its view
            raise
    _expose(desk, program, fault)
    return _start_program(desk, program)


def _start_program(desk: Desk, program: Program) -> Running:
    """Raises TaskError, SpawnFailed, OSError."""
    environment = program.environment(desk)
    if desk.task.get("web_access") is True:
        directory = desk.home.work
        desk.home.write("program.json", {"environment": environment, "directory": directory})
    network = None if desk.place is None else desk.place.descriptor

    def begin(stdout: int, stderr: int) -> None:
        launch = Launch(program.argv, environment, desk.home.work, stdout, stderr, network)
        launch.user = desk.user
        start(desk, launch, program.view)

    streams = Running.connect(desk, begin)
    desk.journal.state("RUNNING")
    return Running(desk, streams)


def start(desk: Desk, launch: Launch, view: View | None) -> None:
    """Start something in the cage, leaving word for a sweep before and after.

    Raises SpawnFailed, OSError.
    """
    if desk.cage is None:
        raise SpawnFailed("no isolation was chosen")
    desk.child = None
    desk.started += 1
    desk.cage.prepare()
    desk.keep_record()
    try:
        desk.child = desk.cage.start(launch, view)
    except SpawnFailed as error:
        desk.kill()
        raise SpawnFailed(f"{launch.argv[0]} can't be started: {error}") from error
    desk.keep_record()
