"""A fast realpath that asks the kernel."""

from __future__ import annotations

import os


def find_real(path: str) -> str:
    """Returns what ``os.path.realpath`` returns, which is called only if the kernel can't tell."""
    if not hasattr(os, "O_PATH"):
        return os.path.realpath(path)
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):  # the long way reports it
        return os.path.realpath(path)
    try:
        found = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:  # the long way reports it
        return os.path.realpath(path)
    finally:
        os.close(descriptor)
    # It was removed just now, or lies where this process can't get to.
    spoilt = found.endswith(" (deleted)") or not found.startswith("/")
    return os.path.realpath(path) if spoilt else found
