"""Lists jobs of all kinds, projects and regions together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, conjuncts
from footplate.domain.job_order import JobOrder
from footplate.domain.jobs import Job
from footplate.ports.store import Page, Store


@dataclass(frozen=True)
class Place:
    """Selects jobs by project, region and kind; an empty field means any.

    ``kind`` is the last part of a collection: ``jobs``, ``customJobs``,
    ``hyperparameterTuningJobs``, ``trainingPipelines``.
    """

    project: str = ""
    region: str = ""
    kind: str = ""

    def may_hold(self, collection: str) -> bool:
        """Returns whether jobs of the collection may be selected; ml v1's are in any region."""
        _, project, *middle, kind = collection.split("/")
        region = middle[1] if middle else ""
        return (
            self.project in ("", project)
            and self.kind in ("", kind)
            and (not region or self.region in ("", region))
        )

    def narrow(self, collection: str, where: Filter | None) -> Filter | None:
        """Returns ``where``, restricted to this region if the collection has several."""
        if not self.region or "/locations/" in collection:
            return where
        here = Comparison(Field.REGION, Comparator.EQUAL, self.region)
        return here if where is None else And((here, *conjuncts(where)))


_PAGE = 1000
_CLOCKS = timedelta(days=1)
"""Between the end of a job and its last line, by the clocks of several machines: at most."""


class JobLists:
    def __init__(self, store: Store) -> None:
        self._store = store

    def collections(self) -> tuple[str, ...]:
        return self._store.collections()

    def list(
        self,
        place: Place,
        *,
        where: Filter | None,
        limit: int,
        after: str | None = None,
        before: str | None = None,
        order: JobOrder = (),
        once: bool = False,
    ) -> Page:
        """Lists the selected jobs, newest first or in ``order``; see ``Store.list_several``.

        Raises:
            InvalidArgument: as ``Store.list``.
        """
        lists = {
            name: place.narrow(name, where)
            for name in self._store.collections()
            if place.may_hold(name)
        }
        if order:
            return self._store.list_in_order(lists, order, limit=limit, after=after, once=once)
        return self._store.list_several(lists, limit=limit, after=after, before=before, once=once)

    def between(
        self, project: str, first: datetime | None, last: datetime | None, limit: int
    ) -> tuple[Job, ...]:
        """Returns the jobs of a project that may have been active between two times, newest first.

        The result has at most ``limit`` jobs, without runs of trials. None means no bound.
        """
        parts: list[Filter] = []
        if first is not None:
            ended = Comparison(Field.END_TIME, Comparator.LESS, _moved(first, -_CLOCKS))
            parts.append(Not(ended))
        if last is not None:
            created = _moved(last, _CLOCKS)
            parts.append(Comparison(Field.CREATE_TIME, Comparator.LESS_OR_EQUAL, created))
        where = And(tuple(parts)) if parts else None
        found: tuple[Job, ...] = ()
        after: str | None = None
        while len(found) < limit:
            most = min(limit - len(found), _PAGE)
            page = self.list(Place(project), where=where, limit=most, after=after)
            found += page.jobs
            after = page.next_key
            if after is None:
                break
        return found


def _moved(time: datetime, by: timedelta) -> datetime:
    try:
        return time + by
    except OverflowError:  # at the beginning or the end of all times
        return time
