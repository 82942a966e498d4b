"""What the supervisors say of this machine when they try it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from footplate.replica.archive import build_archive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.settings import Settings

_PATIENCE_S = 60


def ask_supervisor(settings: Settings, command: str, subject: str) -> Mapping[str, object]:
    """What their command tells, in a process of its own: it leaves marks on it.

    Empty if it can't be run.
    """
    archive = build_archive(settings.cache)
    argv = [sys.executable, "-I", "-S", str(archive), command, subject]
    try:
        done = subprocess.run(
            argv, capture_output=True, check=True, timeout=_PATIENCE_S, stdin=subprocess.DEVNULL
        )
        told: Mapping[str, object] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return told
