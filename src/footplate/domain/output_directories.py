"""Which directory the directories of a job lie in. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def common_directory(uris: Iterable[str]) -> str:
    """``gs://b/run`` of ``gs://b/run/model/`` and ``gs://b/run/logs/``; empty: there is none."""
    found: list[str] | None = None
    for uri in uris:
        parts = uri.rstrip("/").split("/")
        if found is None:
            found = parts
        same = [one == other for one, other in zip(found, parts, strict=False)]
        found = found[: same.index(False) if False in same else len(same)]
    return "/".join(found or ())
