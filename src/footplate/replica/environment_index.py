"""Remembers which environment a task needs, so that the next equal task starts at once.

The server names all that goes into an environment (``preparation`` of a task); what may differ
from one server to the next on the same cache stands in the answer, and is compared.
"""

from __future__ import annotations

import json
import os

from footplate.replica.prepared import Prepared
from footplate.replica.realpath import find_real

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Sequence

MOST = 4096
"""Answers that are kept; then the oldest quarter goes."""
_NAME_LENGTH = 64


class EnvironmentIndex:
    """The index of environments in a ``cache``, for servers that look for interpreters in
    ``pythons``.
    """

    def __init__(self, cache: str, pythons: Sequence[str]) -> None:
        self._root = os.path.join(cache, "answers")
        self._pythons = list(pythons)

    def find(self, name: str) -> Prepared | None:
        """Returns the environment that was kept under this name; None if it isn't valid any more.

        Whether the parts of the cache that it uses are still there isn't checked.
        """
        try:
            with open(self._path(name), encoding="utf-8") as file:
                kept = json.load(file)
            answer = Prepared.decode(kept["answer"])
            same = kept["pythons"] == self._pythons
            if same and kept["interpreter"] == _state(answer.python):
                return answer
        except (OSError, ValueError, KeyError, TypeError):  # it is prepared again
            pass
        return None

    def keep(self, name: str, answer: Prepared) -> None:
        """Keeps an environment under a name. Raises OSError."""
        os.makedirs(self._root, exist_ok=True)
        state = _state(answer.python)
        kept = {"pythons": self._pythons, "interpreter": state, "answer": answer.encode()}
        path = self._path(name)
        part = f"{path}.{os.getpid()}.part"
        with open(part, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        os.replace(part, path)
        self._forget_oldest()

    def _path(self, name: str) -> str:
        """Returns the path of the record for a name. Raises ValueError if it can't be such a
        name.
        """
        if len(name) != _NAME_LENGTH or not name.isalnum() or not name.isascii():
            raise ValueError(f"{name[:_NAME_LENGTH]!r} names no preparation")
        return os.path.join(self._root, f"{name}.json")

    def _forget_oldest(self) -> None:
        with os.scandir(self._root) as entries:
            paths = [entry.path for entry in entries]
        if len(paths) > MOST:
            for path in sorted(paths, key=_age)[: MOST // 4]:
                try:
                    os.unlink(path)
                except FileNotFoundError:  # another process does the same
                    continue


def _age(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _state(python: str) -> list[Any]:
    """Returns the state of the interpreter behind an environment's link: it may change, or go."""
    path = find_real(python)
    state = os.stat(path)
    return [path, state.st_ino, state.st_size, state.st_mtime_ns]
