"""Lists pipelines without the jobs that run their programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlalchemy import FromClause, exists, func, not_, true

from footplate.domain.filters import Filter
from footplate.domain.names import JobUid, backing_uid, pipelines_beside
from footplate.store.list_query import Condition, condition
from footplate.store.tables import jobs

Restriction = Callable[[FromClause], Condition]
"""A condition on the columns of the jobs that are asked."""


def is_row_of_its_own(lists: Mapping[str, Filter | None], collection: str) -> Restriction | None:
    """Returns a condition for jobs that lists show beside their pipelines; None: they show all.

    A job of ``collection`` isn't shown if ``lists`` includes the pipeline whose program it runs.
    """
    pipelines = pipelines_beside(collection)
    if pipelines is None or pipelines not in lists:
        return None
    where = lists[pipelines]
    suffix = backing_uid(JobUid(""))

    def restrict(of: FromClause) -> Condition:
        pipeline = jobs.alias("pipeline")
        shown = true() if where is None else condition(where, pipelines, pipeline)
        uid = func.substr(of.c.uid, 1, func.length(of.c.uid) - len(suffix))
        is_backing = pipeline.c.uid.concat(suffix) == of.c.uid
        named = pipeline.c.uid == uid  # found by the key, which the other comparison can't use
        return not_(exists().where(named, is_backing, pipeline.c.collection == pipelines, shown))

    return restrict
