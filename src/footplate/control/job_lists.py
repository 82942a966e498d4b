"""Lists jobs of all kinds, projects and regions together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.ports.store import Page

if TYPE_CHECKING:
    from footplate.domain.filters import Filter
    from footplate.domain.jobs import Job
    from footplate.ports.store import Store

_MAX_READS = 20
"""So often a page is filled up with jobs of a region; it may have fewer then, or none."""


@dataclass(frozen=True)
class Place:
    """Where jobs are. An empty field: anywhere.

    ``kind`` is the last part of a collection: ``jobs``, ``customJobs``,
    ``hyperparameterTuningJobs``, ``trainingPipelines``.
    """

    project: str = ""
    region: str = ""
    kind: str = ""

    def may_hold(self, collection: str) -> bool:
        """Whether jobs of the collection can be there; those of ml v1 may be in any region."""
        _, project, *middle, kind = collection.split("/")
        region = middle[1] if middle else ""
        return (
            self.project in ("", project)
            and self.kind in ("", kind)
            and (not region or self.region in ("", region))
        )

    def holds(self, job: Job) -> bool:
        return self.region in ("", job.spec.region)


class JobLists:
    def __init__(self, store: Store) -> None:
        self._store = store

    def collections(self) -> tuple[str, ...]:
        return self._store.collections()

    def list(self, place: Place, *, where: Filter | None, limit: int, after: str | None) -> Page:
        """Newest first. With a region a page may hold fewer than ``limit``, and isn't the last.

        Raises:
            InvalidArgument: as ``Store.list``.
        """
        wanted = [name for name in self._store.collections() if place.may_hold(name)]
        found: list[Job] = []
        for _ in range(_MAX_READS):
            size = limit - len(found)
            page = self._store.list_several(wanted, where=where, limit=size, after=after)
            found += filter(place.holds, page.jobs)
            after = page.next_key
            if after is None or len(found) == limit:
                break
        return Page(tuple(found), after)
