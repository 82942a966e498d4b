"""Keep what users' packages run while they are built from the service's own files."""

from __future__ import annotations

import os

from footplate.replica.environment.cache import KINDS
from footplate.replica.isolation import ladder
from footplate.replica.isolation.veil import Veil, find_hidden, find_records
from footplate.replica.isolation.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def seclude(home: str, ticket: dict[str, Any]) -> View | None:
    """What a build sees: the host's files, but of the service's only packages, the cache
    and the buckets, as programs do. Of the cache it can write the environments, not what all
    supervisors run and believe.

    None where nothing is to be hidden, or can be.
    """
    hidden = find_hidden(ticket.get("private") or ())
    if not hidden:
        return None
    cover, root, packages = (
        os.path.join(home, name) for name in ("build-veil", "root", "packages")
    )
    for path in (root, packages):
        os.makedirs(path, exist_ok=True)
    caches = [os.path.realpath(str(ticket["cache"]))] if ticket.get("cache") else []
    environments = [os.path.join(cache, kind) for cache in caches for kind in KINDS]
    for path in environments:
        os.makedirs(path, exist_ok=True)
    needed = [packages, *environments, os.environ.get("UV_CACHE_DIR", "")]
    needed += [str(ticket.get(name) or "") for name in ("uv", "buckets")]
    shown = [os.path.realpath(path) for path in needed if path]
    view = View(os.path.realpath(root), "", "", ())
    view.records = find_records(os.path.realpath(str(ticket.get("buckets") or "/")))
    view.veil = Veil(os.path.realpath(cover), hidden, shown, caches)
    return None if ladder.find_fault(view) else view
