"""Parses the output of the environment command: progress, then a result."""

from __future__ import annotations

import os

from footplate.replica.failure_cause import CauseFinder
from footplate.replica.program_spec import TaskError
from footplate.replica.report_client import parse_object

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping

_TAIL_BYTES = 8192


class Preparation:
    def __init__(self, tell: Callable[[str], None]) -> None:
        self._notify = tell
        self._last_told = ""
        self._result: Mapping[str, Any] = {}

    def see(self, lines: list[str]) -> None:
        for line in lines:
            value = parse_object(line.encode("utf-8", "replace"))
            if value is None:
                continue
            message = value.get("m")
            if message is None:
                self._result = value
            elif message != self._last_told:
                self._last_told = str(message)
                self._notify(self._last_told)

    def conclude(self, status: int, stderr_file: str) -> Mapping[str, Any]:
        """Returns the command's answer, now that it has ended with ``status``.

        Raises TaskError with the command's reason for a failure, or else its last words.
        """
        if "error" in self._result:
            raise TaskError(str(self._result["error"]))
        if status == 0:
            return self._result
        if os.WIFSIGNALED(status):
            end = f"was ended by signal {os.WTERMSIG(status)}"
        else:
            end = f"ended with code {os.WEXITSTATUS(status)}"
        words = read_last_words(stderr_file)
        raise TaskError(f"preparing the environment {end}{': ' if words else ''}{words}")


def read_last_words(path: str) -> str:
    """Returns the cause of a failure as the end of a log shows it."""
    finder = CauseFinder()
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            for line in file.read().decode("utf-8", "replace").splitlines():
                finder.see(line)
    except OSError:  # words are missing
        return ""
    return finder.cause
