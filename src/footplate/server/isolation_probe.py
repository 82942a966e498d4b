"""Runs the supervisor's probe on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from footplate.replica.supervisor_archive import build_archive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.settings import Settings

_TIMEOUT_S = 60


def ask_supervisor(settings: Settings, command: str, subject: str) -> Mapping[str, object]:
    """Runs the supervisor's command in a separate process, because it changes its process.

    Empty if it can't be run.
    """
    archive = build_archive(settings.cache)
    argv = [sys.executable, "-I", "-S", str(archive), command, subject]
    try:
        done = subprocess.run(
            argv, capture_output=True, check=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL
        )
        told: Mapping[str, object] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return told
