"""Refuses what runs jobs on this machine where the machine doesn't run Linux."""

from __future__ import annotations

import platform
import sys

from footplate.cli.group import Failure

_SERVICE_ELSEWHERE = (
    "Start the service on a Linux machine, in a virtual machine or in a container, and set "
    "FOOTPLATE_URL to the address of the service here"
)


def require_linux(command: str, instead: str = _SERVICE_ELSEWHERE) -> None:
    """Raises Failure, which says what to do ``instead``, on a machine that doesn't run Linux."""
    if sys.platform != "linux":
        system = {"darwin": "macOS"}.get(sys.platform, platform.system())
        raise Failure(f"{command} needs Linux, and this machine runs {system}. {instead}")
