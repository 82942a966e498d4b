"""Removes what launchers that were killed have left in the container engine of their node."""

from __future__ import annotations

import fcntl
import os

from footplate.replica.container.container_spec import HOME_LABEL, SERVICE_LABEL
from footplate.replica.container.engine_api import EngineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.container.engine_api import Engine


def remove_leftovers(engine: Engine, service: str, launchers: str) -> int:
    """``launchers``: the node's own directory of launchers; homes elsewhere are left alone.

    Returns how many were removed. Raises EngineGone, EngineError: they can't be listed.
    """
    removed = 0
    for identity, labels in engine.list_containers(f"{SERVICE_LABEL}={service}"):
        home = labels.get(HOME_LABEL, "")
        if not home.startswith(launchers + os.sep) or _is_supervised(home):
            continue
        try:
            engine.remove(identity)
        except EngineError:  # something else removes it
            continue
        removed += 1
    return removed


def _is_supervised(home: str) -> bool:
    """Returns whether a supervisor lives there, or may. Several may ask at once."""
    try:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(os.path.join(home, "lock"), flags)
    except FileNotFoundError:
        return False
    except OSError:  # it can't be known
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # it can't be known
        return True
    finally:
        os.close(descriptor)
    return False
