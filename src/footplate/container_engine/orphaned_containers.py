"""Removes orphaned containers, whose supervisor died before it could remove them."""

from __future__ import annotations

import http.client
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from footplate.container_engine.http_request import ask_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVICE_LABEL = "io.footplate.service"
"""The identity of the data directory whose job the container belongs to."""

HOME_LABEL = "io.footplate.home"
"""The directory of the replica, which is removed, or holds a file ``gone``, when it has ended."""

GONE = "gone"

_log = logging.getLogger(__name__)


def remove_leftovers(socket_path: str, service: str) -> int:
    """Removes containers of ended replicas, with their anonymous volumes; returns how many.

    Raises:
        OSError: the engine doesn't answer.
    """
    removed = 0
    for identity, home in _containers(socket_path, service):
        if not _ended(home):
            continue
        path = f"/containers/{quote(identity)}?{urlencode({'force': 1, 'v': 1})}"
        status, answer = ask_engine(socket_path, "DELETE", path)
        if status in (http.client.NO_CONTENT, http.client.OK):
            removed += 1
        elif status not in (http.client.NOT_FOUND, http.client.CONFLICT):  # already going
            _log.warning("the engine can't remove container %s: %s", identity[:12], answer)
    return removed


def _ended(home: str) -> bool:
    """Raises OSError: that can't be found out now."""
    return not Path(home).is_dir() or Path(home, GONE).exists()


def _containers(socket_path: str, service: str) -> Iterator[tuple[str, str]]:
    filters = json.dumps({"label": [f"{SERVICE_LABEL}={service}"]})
    path = f"/containers/json?{urlencode({'all': 1, 'filters': filters})}"
    status, answer = ask_engine(socket_path, "GET", path)
    if status != http.client.OK:
        raise OSError(f"the container engine at {socket_path} can't list its containers: {answer}")
    for container in answer:
        labels = container.get("Labels") or {}
        if labels.get(SERVICE_LABEL) == service and labels.get(HOME_LABEL):
            yield str(container["Id"]), str(labels[HOME_LABEL])
