"""Messages about worker pools, merged where pools share them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.formatting import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from footplate.domain.jobs import WorkerPool


def for_pools(
    pools: Iterable[WorkerPool], about: Callable[[WorkerPool], Iterator[str]]
) -> Iterator[str]:
    """Yields each text that ``about`` returns for pools once, after the roles of these pools."""
    roles: dict[str, list[str]] = {}
    for pool in pools:
        for text in about(pool):
            roles.setdefault(text, []).append(pool.cluster_role)
    for text, names in roles.items():
        yield f"{joined(names)}: {text}"
