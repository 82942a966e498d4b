"""Runs a script's cases in a process of their own.

gRPC keeps threads and state for the life of a process, and may abort it long after the last call:
no worker of pytest has it loaded. A script has functions ``case_NAME``; each is reported by itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
    done = subprocess.run(
        [*launcher, python, str(RUNNER), str(script)],
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    reports = [json.loads(line[2:]) for line in done.stdout.splitlines() if line.startswith("> ")]
    found = {report["case"]: report["error"] for report in reports}
    missing = f"the process ended with {done.returncode} before this case:\n{done.stderr}"
    return {name: found.get(name, missing) for name in case_names(script)}


def _definitions(script: Path) -> list[str]:
    lines = script.read_text("utf-8").splitlines()
    return [line for line in lines if line.startswith(("def case_", "async def case_"))]
