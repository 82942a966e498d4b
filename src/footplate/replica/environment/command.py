"""``supervisor.pyz environment HOME``: from a task to an interpreter that can run its program."""

from __future__ import annotations

import contextlib
import json
import os

from footplate.replica.answers import Answers
from footplate.replica.connection import Connection
from footplate.replica.environment.assembly import Assembly
from footplate.replica.environment.bases import Bases
from footplate.replica.environment.builds import Builds
from footplate.replica.environment.cache import Cache
from footplate.replica.environment.errors import Unpreparable
from footplate.replica.environment.eviction import Wish
from footplate.replica.environment.failures import explain_os_error
from footplate.replica.environment.interpreters import Interpreters
from footplate.replica.environment.packages import Server
from footplate.replica.environment.seclusion import seclude
from footplate.replica.environment.task import Task
from footplate.replica.environment.telling import Teller, say
from footplate.replica.environment.uv import Uv

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from footplate.replica.environment.assembly import Environment
    from footplate.replica.environment.packages import Package


def main(home: str) -> int:
    """Print progress, and at last the result or the error, as JSON lines."""
    try:
        answer = prepare(home, Teller())
    except Unpreparable as error:
        say({"error": str(error)})
        return 1
    except OSError as error:
        say({"error": f"the environment can't be made: {explain_os_error(error)}"})
        return 1
    say(answer)
    return 0


def prepare(home: str, teller: Teller) -> dict[str, Any]:
    """The environment for the task in ``home``, as an answer. Raises Unpreparable, OSError."""
    ticket = _read_json(os.path.join(home, "ticket.json"))
    task = Task(_read_json(os.path.join(home, "task.json")))
    # Environments contain their own paths: there is one way to write that of the cache.
    cache, host = os.path.realpath(str(ticket["cache"])), dict(os.environ)
    scratch = os.path.join(home, "packages")  # uv leaves a lock in TMPDIR for each build
    os.makedirs(scratch, exist_ok=True)
    own = {**host, "TMPDIR": scratch}
    uv = Uv(str(ticket.get("uv") or ""), own, view=seclude(home, ticket))
    server = Server(Connection(str(ticket["server_file"]), str(ticket["token"])), teller)
    packages = server.fetch_packages(task.packages, scratch)
    slices, note = task.choose_slices()
    globs = [str(pattern) for pattern in ticket.get("pythons") or ()]
    interpreters = Interpreters(globs, host, cache, uv)
    interpreter = interpreters.find(task.python, f"runtime {task.runtime}")
    bases = Bases(cache, interpreter, uv, server, teller, task.job)
    layers = Builds(os.path.join(cache, "layers"), task.job)
    assembly = Assembly(task, slices, interpreter, bases, uv, teller)
    environment = assembly.assemble(packages, layers)
    if bases.made or layers.made:
        bound(cache, int(ticket.get("cache_limit_bytes") or 0), teller)
    environment.notes[:0] = [note] if note else []
    for words in environment.notes:
        teller.tell(words)
    return remember(environment, task, packages, Answers(cache, ticket.get("pythons")))


def remember(
    environment: Environment, task: Task, packages: list[Package], answers: Answers
) -> dict[str, Any]:
    """The answer, kept for all who ask for the same, if it can be.

    What was fetched may be something else than what the server has named by then.
    """
    answer = {
        "python": environment.python,
        "bin": environment.bins,
        "uses": environment.uses,
        "notes": environment.notes,
    }
    if task.preparation and task.digests == [package.sha256 for package in packages]:
        with contextlib.suppress(OSError):
            answers.keep(task.preparation, answer)
    return answer


def bound(cache: str, limit_bytes: int, teller: Teller) -> None:
    """Make room again for what was built, if the cache has more than its limit; 0: it has none.

    What can't be removed now is tried again after the next build.
    """
    if limit_bytes <= 0:
        return
    try:
        pruned = Cache(cache).prune(Wish(below_bytes=limit_bytes))
    except OSError as error:
        teller.tell(f"the cache of environments can't be kept below its limit: {error}")
        return
    if pruned.removed:
        count = len(pruned.removed)
        what = "1 environment" if count == 1 else f"{count} environments"
        teller.tell(
            f"removed {what} that nothing uses, {pruned.freed_bytes / 1e9:.1f} GB: the cache is "
            f"to stay below {limit_bytes / 1e9:g} GB (setting cache_limit_gb)"
        )


def _read_json(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    if not isinstance(value, dict):
        raise Unpreparable(f"{os.path.basename(path)} is no JSON object")
    return value
