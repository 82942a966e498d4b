"""Messages about worker pools, merged where pools share them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from footplate.domain.formatting import joined
from footplate.domain.jobs import WorkerPool


def for_pools(
    pools: Iterable[WorkerPool], about: Callable[[WorkerPool], Iterator[str]]
) -> Iterator[str]:
    """Yields each distinct text of ``about``, preceded by the roles of all pools that have it."""
    roles: dict[str, list[str]] = {}
    for pool in pools:
        for text in about(pool):
            roles.setdefault(text, []).append(pool.cluster_role)
    for text, names in roles.items():
        yield f"{joined(names)}: {text}"
