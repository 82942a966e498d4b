"""Removes containers whose supervisor died before it could remove them."""

from __future__ import annotations

from footplate.containers.engine_api import EngineError

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.containers.engine_api import Engine

SERVICE_LABEL = "io.footplate.service"
"""The identity of the data directory whose job the container belongs to."""
HOME_LABEL = "io.footplate.home"
"""The supervisor's directory on the machine of the engine."""
_CONFLICT = 409
"""The status where something else removes the container."""


def remove_leftovers(
    engine: Engine, service: str, is_over: Callable[[str], bool]
) -> tuple[int, list[str]]:
    """Removes the service's containers of homes that have ended, with their anonymous volumes.

    Returns how many it removed, and the engine's messages for those that it couldn't. Raises the
    errors of ``is_over``, EngineGone, and EngineError if the containers can't be listed.
    """
    removed, faults = 0, []
    for identity, labels in engine.list_containers(f"{SERVICE_LABEL}={service}"):
        home = labels.get(HOME_LABEL, "")
        if not home or not is_over(home):
            continue
        try:
            engine.remove(identity)
        except EngineError as error:
            if error.status != _CONFLICT:
                faults.append(f"container {identity[:12]}: {error}")
        else:
            removed += 1
    return removed, faults
