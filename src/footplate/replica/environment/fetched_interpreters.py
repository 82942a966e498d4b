"""Fetches Python interpreters by uv, for runtimes whose Python a machine lacks.

What is fetched is foreign code: uv, which only unpacks it, runs as the service, and the interpreter
itself never does, but as builds do.
"""

from __future__ import annotations

import glob
import json
import os
import re

from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.interpreters import PROBE, Interpreter
from footplate.replica.environment.uv import UvFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.environment.interpreters import Interpreters
    from footplate.replica.environment.progress_output import ProgressOutput
    from footplate.replica.environment.uv import Uv


_VERSION = re.compile(r"\d+\.\d+\.\d+")


class FetchedInterpreters:
    """The interpreters in the directory ``pythons`` of a cache. No method runs one."""

    def __init__(self, cache: str, uv: Uv) -> None:
        self._directory = os.path.join(os.path.realpath(cache), "pythons")
        self._uv = uv

    def find(self, version: str) -> str:
        """Returns the path of the newest fetched interpreter of a version like 3.10; '' if there is
        none.
        """
        pattern = os.path.join(f"cpython-{version}.*-*", "bin", f"python{version}")
        found = glob.glob(os.path.join(glob.escape(self._directory), pattern))
        return max(found, key=_numbers, default="")

    def fetch(self, version: str) -> str:
        """Fetches an interpreter and returns its path. Raises UvFailed."""
        place = ["--install-dir", self._directory, "--no-bin"]
        said = self._uv.run(["python", "install", *place, f"cpython-{version}"])
        path = self.find(version)
        if not path:
            raise UvFailed(said or f"uv has installed no Python {version}")
        return path


def locate(
    interpreters: Interpreters,
    fetched: FetchedInterpreters,
    version: str,
    wanted_by: str,
    teller: ProgressOutput,
    *,
    fetches: bool,
) -> tuple[Interpreter | None, str]:
    """Returns an interpreter of this machine and its path; for a fetched one, None and its path.

    Raises PreparationError: there is none, and none can be fetched.
    """
    try:
        found = interpreters.find(version, wanted_by)
    except PreparationError as absence:
        path = fetched.find(version)
        if not path and not fetches:
            raise
        return None, path or _fetch(fetched, version, teller, absence)
    return found, found.path


def _fetch(
    fetched: FetchedInterpreters, version: str, teller: ProgressOutput, absence: PreparationError
) -> str:
    teller.tell(f"downloading Python {version}, which this machine lacks")
    try:
        return fetched.fetch(version)
    except UvFailed as failure:
        words = [line.strip() for line in failure.output.splitlines() if line.strip()]
        reason = (words or ["uv says nothing"])[-1]
        raise PreparationError(f"{absence}. uv can't download this Python: {reason}") from failure


def inspect(path: str, uv: Uv) -> Interpreter:
    """Returns what a fetched interpreter says of itself, which builds' user and view hold.

    Raises PreparationError: it can't be run.
    """
    try:
        said = uv.isolated.ask(path, PROBE)
        found = {name: str(value) for name, value in json.loads(said).items()}
        made = Interpreter({**found, "path": path}, fetched=True)
        wrong = not _VERSION.fullmatch(made.version)
    except (UvFailed, ValueError, KeyError, AttributeError) as error:
        raise _broken(path, str(error)) from error
    if wrong:
        raise _broken(path, said)
    return made


def _broken(path: str, said: str) -> PreparationError:
    return PreparationError(
        f"the downloaded Python {path} doesn't run here: {said[-500:]}; remove its directory, "
        "and the service downloads it again"
    )


def _numbers(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.rpartition("cpython-")[2])]
