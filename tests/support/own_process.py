"""Runs a script's cases in a process of their own.

gRPC keeps threads and state for the life of a process, and may abort it long after the last call:
no worker of pytest has it loaded. A script has functions ``case_NAME``; each is reported by itself.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.forked_process import run_forked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RUNNER = Path(__file__).with_name("case_runner.py")
LIMIT_S = 600.0


def case_names(script: Path) -> list[str]:
    """What the script calls its cases, in its order; it is not imported for that."""
    words = (line.split("(")[0].split()[-1] for line in _definitions(script))
    return [word.removeprefix("case_") for word in words]


def run_cases(
    script: Path,
    environment: Mapping[str, str],
    folder: Path,
    launcher: Sequence[str] = (),
    python: str = sys.executable,
) -> dict[str, str]:
    """What went wrong in each case that ran, by its name; empty: nothing.

    ``launcher`` is a command that the script's Python is started by.
    """
    return run_scripts((script,), environment, folder, launcher, python)[script]


def run_scripts(
    scripts: Sequence[Path],
    environment: Mapping[str, str],
    folder: Path,
    launcher: Sequence[str] = (),
    python: str = sys.executable,
) -> dict[Path, dict[str, str]]:
    """As ``run_cases``, for several scripts in one process, which imports what they share once."""
    done = run_forked(
        [*launcher, python, RUNNER, *scripts],
        env=environment,
        cwd=folder,
        timeout=LIMIT_S,
    )
    reports = [json.loads(line[2:]) for line in done.stdout.splitlines() if line.startswith("> ")]
    found = {(report["script"], report["case"]): report["error"] for report in reports}
    missing = f"the process ended with {done.returncode} before this case:\n{done.stderr}"
    return {
        script: {name: found.get((str(script), name), missing) for name in case_names(script)}
        for script in scripts
    }


def _definitions(script: Path) -> list[str]:
    lines = script.read_text("utf-8").splitlines()
    return [line for line in lines if line.startswith(("def case_", "async def case_"))]
