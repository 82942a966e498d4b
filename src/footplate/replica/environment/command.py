"""``supervisor.pyz environment HOME``: prepares an interpreter for a task's program.

``supervisor.pyz check-packages HOME`` resolves the packages of a task and installs none.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil

from footplate.protocol.promised import Promised
from footplate.replica import program_user
from footplate.replica.context import PROMISED_FILE
from footplate.replica.environment.base_environments import BaseEnvironments
from footplate.replica.environment.build_cache import BuildCache
from footplate.replica.environment.build_isolation import isolate_build
from footplate.replica.environment.cache import Cache
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.eviction import EvictionPolicy
from footplate.replica.environment.fetched_interpreters import (
    FetchedInterpreters,
    inspect,
    locate,
)
from footplate.replica.environment.interpreters import Interpreters
from footplate.replica.environment.layers import Assembly
from footplate.replica.environment.packages import Server
from footplate.replica.environment.progress_output import ProgressOutput, say
from footplate.replica.environment.task import EnvironmentTask
from footplate.replica.environment.uv import Uv
from footplate.replica.environment.uv_errors import explain_os_error
from footplate.replica.environment_index import EnvironmentIndex
from footplate.replica.http_client import Connection
from footplate.replica.isolation.spawn import SpawnFailed
from footplate.replica.workdir import Home

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Callable, Mapping, TypeVar

    from footplate.protocol.ticket import SupervisorTicket
    from footplate.replica.environment.packages import Package, Source
    from footplate.replica.prepared import Prepared

    T = TypeVar("T")


class GivenFiles:
    """The files that the supervisor was given: ``locks/SHA256`` and ``given/INDEX``."""

    def __init__(self, home: str) -> None:
        self._home = home

    def get(self, path: str) -> bytes:
        """Returns a lock, by its path in the replica API. Raises OSError."""
        with open(os.path.join(self._home, "locks", os.path.basename(path)), "rb") as file:
            return file.read()

    def download(self, path: str, destination: str) -> None:
        """Copies a package, by its path in the replica API, to ``destination``. Raises OSError."""
        shutil.copyfile(os.path.join(self._home, "given", os.path.basename(path)), destination)


READABLE_UMASK = 0o022


def main(home: str) -> int:
    """Prints progress, and at last the result or the error, as JSON lines."""
    return _print_result(lambda: prepare(home, ProgressOutput()).encode())


def check_packages(home: str) -> int:
    """Runs ``check`` as a command; the service has put the task's files into ``home``."""
    return _print_result(lambda: check(home, ProgressOutput()))


def _print_result(work: Callable[[], Mapping[str, object]]) -> int:
    try:
        answer = work()
    except PreparationError as error:
        say({"error": str(error)})
        return 1
    except OSError as error:
        say({"error": f"the supervisor can't make the environment: {explain_os_error(error)}"})
        return 1
    except SpawnFailed as error:
        say({"error": f"the supervisor can't make the environment: {error}"})
        return 1
    say(answer)
    return 0


class Setup:
    """The parts from which an environment for the task in ``home`` is assembled."""

    def __init__(
        self, home: str, ticket: SupervisorTicket, source: Source, teller: ProgressOutput
    ) -> None:
        """Prepares the parts for the task. Raises PreparationError, OSError."""
        described = _read(Home(home).read_task)
        self.task = task = EnvironmentTask(described)
        # Environments contain their own paths: there is one way to write that of the cache.
        self.cache = cache = os.path.realpath(ticket.cache)
        host = dict(os.environ)
        scratch = os.path.join(home, "packages")  # uv leaves a lock in TMPDIR for each build
        os.makedirs(scratch, exist_ok=True)
        own = {**host, "TMPDIR": scratch}
        user = program_user.read(Home(home)) or program_user.take_for_builds(ticket)
        if user is not None:
            os.umask(READABLE_UMASK)
        limit_s, memory_bytes = ticket.build_limits
        _limit_memory(memory_bytes)
        uv = Uv(ticket.uv, own, limit_s=limit_s)
        server = Server(source, teller)
        self.packages = server.fetch_packages(task.packages, scratch)
        slices, self.note = task.choose_slices()
        found, path = locate(
            Interpreters(ticket.pythons, host, cache, uv),
            FetchedInterpreters(cache, uv),
            *(task.python, f"runtime {task.runtime}", teller),
            fetches=ticket.fetch_interpreters,
        )
        build_isolation = isolate_build(home, ticket, user, [path, uv.program], described)
        if build_isolation.note:
            teller.tell(build_isolation.note)
        uv = uv.secluding(build_isolation)
        interpreter = found or inspect(path, uv)
        self._bases = BaseEnvironments(cache, interpreter, uv, server, teller, task.job)
        layers = os.path.join(cache, "layers")
        self.layers = BuildCache(layers, task.job, exposed=uv.exposed)
        self.assembly = Assembly(task, slices, interpreter, self._bases, uv, teller)
        self._limit_bytes = ticket.cache_limit_bytes
        self._teller = teller

    def bound_cache(self) -> None:
        """Keeps the cache below its limit after a build."""
        if self._bases.made or self.layers.made:
            bound(self.cache, self._limit_bytes, self._teller)


def _limit_memory(most_bytes: int) -> None:
    """Limits this process and each that it starts; uv keeps all that builds print. 0: no limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if most_bytes and (hard == resource.RLIM_INFINITY or most_bytes < hard):
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))


def prepare(home: str, teller: ProgressOutput) -> Prepared:
    """Returns the environment for the task in ``home``. Raises PreparationError, OSError."""
    ticket = _read(lambda: _read_ticket(home))
    source = Connection(ticket.server_file, ticket.token)
    setup = Setup(home, ticket, source, teller)
    environment = setup.assembly.assemble(setup.packages, setup.layers)
    setup.bound_cache()
    environment.notes = (*([setup.note] if setup.note else []), *environment.notes)
    for words in environment.notes:
        teller.tell(words)
    answers = EnvironmentIndex(setup.cache, ticket.pythons)
    remember(environment, setup.task, setup.packages, answers)
    return environment


def check(home: str, teller: ProgressOutput) -> Mapping[str, object]:
    """Returns what the packages of the task in ``home`` would add to the runtime.

    Raises PreparationError, OSError: as ``prepare``.
    """
    ticket = _read(lambda: _read_ticket(home))
    setup = Setup(home, ticket, GivenFiles(home), teller)
    added = setup.assembly.check(setup.packages, setup.layers)
    setup.bound_cache()
    return {"added": added}


def remember(
    environment: Prepared,
    task: EnvironmentTask,
    packages: list[Package],
    answers: EnvironmentIndex,
) -> None:
    """Keeps the environment for all who ask for the same, if it can be.

    What was fetched may be something else than what the server has named by then.
    """
    if task.preparation and task.digests == [package.sha256 for package in packages]:
        with contextlib.suppress(OSError):  # it is prepared again
            answers.keep(task.preparation, environment)


def bound(cache: str, limit_bytes: int, teller: ProgressOutput) -> None:
    """Removes environments if the cache has grown above its limit; 0 means no limit.

    Environments that can't be removed now are tried again after the next build.
    """
    if limit_bytes <= 0:
        return
    try:
        pruned = Cache(cache).prune(EvictionPolicy(below_bytes=limit_bytes))
    except OSError as error:
        teller.tell(f"the supervisor can't keep the cache of environments below its limit: {error}")
        return
    if pruned.removed:
        count = len(pruned.removed)
        what = "1 environment" if count == 1 else f"{count} environments"
        teller.tell(
            f"removed {what} ({pruned.freed_bytes / 1000000000.0:.1f} GB) that no program uses, "
            f"to keep the cache below {limit_bytes / 1000000000.0:g} GB (setting "
            "cache_limit_gb)"
        )


def _read_ticket(home: str) -> SupervisorTicket:
    """Returns the ticket. If the service has promised no isolation, the supervisor has found out
    which there is, and the ticket gets that.
    """
    directory = Home(home)
    ticket = directory.read_ticket()
    if ticket.promised is None:
        ticket.promised = Promised.decode(directory.read(PROMISED_FILE))
    return ticket


def _read(what: Callable[[], T]) -> T:
    """Returns the result of ``what``. Raises PreparationError in place of its errors."""
    try:
        return what()
    except (OSError, ValueError) as error:
        raise PreparationError(f"the task can't be read: {error}") from error
