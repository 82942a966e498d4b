"""Sets how many files a process may open: the server as many as it can, programs as before."""

from __future__ import annotations

import os

VARIABLE = "FOOTPLATE_OPEN_FILES"
"""The soft limit that the server was started with, for the processes that it starts."""


def raise_limit() -> int:
    """Sets the soft limit of this process to its hard limit; returns it, -1 for none."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS has a lower limit than it says
        return soft
    os.environ[VARIABLE] = str(soft)
    return hard


def restore_limit() -> None:
    """Sets the soft limit to what it was before, for a child of the server and its children."""
    former = os.environ.get(VARIABLE, "")
    if former.isdigit():
        import resource

        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        soft = int(former) if hard == resource.RLIM_INFINITY else min(int(former), hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
