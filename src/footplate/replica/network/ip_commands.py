"""Runs the machine's network tools."""

from __future__ import annotations

import os
import shutil
import subprocess

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    Run = Callable[[list[str], str], str]
    """Arguments and standard input in, standard output out; raises CommandFailed."""

_TIMEOUT_S = 30.0
_ADMIN = "/usr/sbin:/sbin"
"""Where such tools often are, and PATH often doesn't lead."""


class CommandFailed(Exception):
    """Says which, and its own words."""


class NoCommand(CommandFailed):
    """The tool is not installed."""


def run(argv: list[str], text: str = "") -> str:
    """Raises CommandFailed."""
    path = shutil.which(argv[0], path=f"{os.environ.get('PATH', '')}{os.pathsep}{_ADMIN}")
    if path is None:
        raise NoCommand(f"there is no {argv[0]} on this machine")
    try:
        done = subprocess.run(
            [path, *argv[1:]],
            input=text,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
            text=True,
            env={"PATH": _ADMIN, "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CommandFailed(f"{' '.join(argv)}: {error}") from error
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise CommandFailed(f"{' '.join(argv)}: {words[0] if words else done.returncode}")
    return done.stdout
