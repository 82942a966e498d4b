"""Keep what users' packages run while they are built from the service's own files."""

from __future__ import annotations

import os

from footplate.replica.isolation import ladder
from footplate.replica.isolation.veil import Veil, find_hidden, find_records
from footplate.replica.isolation.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def seclude(home: str, ticket: dict[str, Any]) -> View | None:
    """What a build sees: the host's files, but of the service's only packages, the cache
    and the buckets, as programs do.

    None where nothing is to be hidden, or can be.
    """
    hidden = find_hidden(ticket.get("private") or ())
    if not hidden:
        return None
    cover, root = os.path.join(home, "build-veil"), os.path.join(home, "root")
    for path in (cover, root):
        os.makedirs(path, exist_ok=True)
    needed = [os.path.join(home, "packages")]
    needed += [str(ticket.get(name) or "") for name in ("cache", "uv", "buckets")]
    shown = [os.path.realpath(path) for path in needed if path]
    view = View(os.path.realpath(root), "", "", ())
    view.records = find_records(os.path.realpath(str(ticket.get("buckets") or "/")))
    view.veil = Veil(os.path.realpath(cover), hidden, shown, [])
    return None if ladder.find_fault(view) else view
