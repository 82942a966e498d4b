"""What must always be so of the spans of a list."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from sqlalchemy import select

from footplate.store.name_index import FIRST, LAST
from footplate.store.tables import job_spans, jobs

if TYPE_CHECKING:
    from sqlalchemy import Connection


def assert_spans(connection: Connection, collection: str) -> int:
    """They divide all times among them, and each has the names of its jobs; how many there are."""
    order = select(job_spans).where(job_spans.c.collection == collection)
    spans = connection.execute(order.order_by(job_spans.c.begin)).all()
    if not spans:
        listed = select(jobs.c.uid).where(jobs.c.collection == collection)
        assert connection.execute(listed).first() is None
        return 0
    assert [spans[0].begin, spans[-1].until] == [FIRST, LAST]
    assert all(one.begin < one.until == other.begin for one, other in pairwise(spans))
    for job in connection.execute(select(jobs).where(jobs.c.collection == collection)):
        (span,) = (each for each in spans if each.begin <= job.create_time < each.until)
        assert job.job_id_folded in span.job_id_folded
        assert job.display_name_folded in span.display_name_folded
    return len(spans)
