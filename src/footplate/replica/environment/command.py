"""``supervisor.pyz environment HOME``: from a task to an interpreter that can run its program."""

from __future__ import annotations

import json
import os

from footplate.replica.connection import Connection
from footplate.replica.environment.assembly import Assembly
from footplate.replica.environment.bases import Bases
from footplate.replica.environment.errors import Unpreparable
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


def main(home: str) -> int:
    """Print progress, and at last the result or the error, as JSON lines."""
    try:
        environment = prepare(home, Teller())
    except Unpreparable as error:
        say({"error": str(error)})
        return 1
    except OSError as error:
        say({"error": f"the environment can't be made: {error}"})
        return 1
    say({"python": environment.python, "bin": environment.bins})
    return 0


def prepare(home: str, teller: Teller) -> Environment:
    """The environment for the task in ``home``. Raises Unpreparable, OSError."""
    ticket = _read_json(os.path.join(home, "ticket.json"))
    task = Task(_read_json(os.path.join(home, "task.json")))
    cache, host = str(ticket["cache"]), dict(os.environ)
    uv = Uv(str(ticket.get("uv") or ""), host, view=seclude(home, ticket))
    server = Server(Connection(str(ticket["server_file"]), str(ticket["token"])), teller)
    packages = server.fetch_packages(task.packages, os.path.join(home, "packages"))
    slices, note = task.choose_slices()
    if note:
        teller.tell(note)
    globs = [str(pattern) for pattern in ticket.get("pythons") or ()]
    interpreters = Interpreters(globs, host, cache, uv)
    interpreter = interpreters.find(task.python, f"runtime {task.runtime}")
    bases = Bases(cache, interpreter, uv, server, teller)
    return Assembly(task, slices, interpreter, bases, uv, teller).assemble(packages, cache)


def _read_json(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    if not isinstance(value, dict):
        raise Unpreparable(f"{os.path.basename(path)} is no JSON object")
    return value
