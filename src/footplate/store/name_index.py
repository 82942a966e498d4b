"""An index of job names in blocks, for substring searches.

The spans of a collection divide all of time among them; a collection without jobs has none. Each
has the names of all its jobs, and maybe of jobs that were in it once. So whoever looks for a part
of a name reads the texts of the spans, some forty jobs in one row, and only the jobs of those in
which it is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from footplate.domain.errors import Aborted
from footplate.store.tables import job_spans, jobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

    from footplate.store.row_codec import Record, Values

LONGEST = 1_500
"""Characters of names in a span. PostgreSQL keeps rows of up to 2,000 bytes as they are; those
that are longer it compresses, and takes longer to read."""

_FULL = 1_200
"""Where one that got too long is cut: most jobs are the newest, so that the rest grows on."""

FIRST, LAST = -(2**63), 2**63 - 1
"""Before all times, and after them."""

_TRIES = 100
"""For a try to fail another server must have divided the same span since the one before it."""

_SPAN = job_spans.c
_NAMES = (_SPAN.job_id_folded, _SPAN.display_name_folded)
_EARLIER = job_spans.alias("earlier").c
_BEGIN = (
    select(func.max(_EARLIER.begin))
    .where(_EARLIER.collection == bindparam("listed_in"), _EARLIER.begin <= bindparam("made_at"))
    .scalar_subquery()
)
"""Found by the key alone, however many spans there are."""
_AROUND = (
    _SPAN.collection == bindparam("listed_in"),
    _SPAN.begin == _BEGIN,
    _SPAN.until > bindparam("made_at"),
)
_LOCK = select(_SPAN.begin, _SPAN.until).where(*_AROUND).with_for_update()
_ENTER = (
    update(job_spans)
    .where(*_AROUND)
    .values({names.name: names + bindparam(f"more_{names.name}") for names in _NAMES})
    .returning(
        _SPAN.begin, _SPAN.until, (func.length(_NAMES[0]) + func.length(_NAMES[1])).label("size")
    )
)
_EXTEND = (
    update(job_spans)
    .where(_SPAN.collection == bindparam("listed_in"), _SPAN.until == bindparam("end_was"))
    .values(until=bindparam("end_is"))
    .returning(_SPAN.begin, _SPAN.until)
)
_JOBS = (
    select(jobs.c.create_time, jobs.c.job_id_folded, jobs.c.display_name_folded)
    .where(jobs.c.collection == bindparam("listed_in"))
    .where(jobs.c.create_time >= bindparam("begin"), jobs.c.create_time < bindparam("until"))
    .order_by(jobs.c.create_time)
)


def enter(connection: Connection, values: Values) -> None:
    """Add the names of a job that was just written, of ``listed_values``, to its span.

    With PostgreSQL a transaction that enters another job into the same span waits for the commit.

    Raises:
        Aborted: others divide the span again and again.
    """
    if not values["collection"]:
        return
    place = _place(values["collection"], values["create_time"])
    more = {f"more_{names.name}": f"\n{values[names.name]}" for names in _NAMES}
    for _ in range(_TRIES):
        span = connection.execute(_ENTER, {**place, **more}).one_or_none()
        if span is not None:
            break
        _open(connection, values["collection"])
    else:
        raise _overtaken(values["collection"])
    if span.size > LONGEST:
        _divide(connection, values["collection"], span)


def leave(connection: Connection, collection: str, create_time: int) -> None:
    """Take the names of a job that was just deleted from its span.

    Raises Aborted as ``enter`` does.
    """
    if not collection:
        return
    for _ in range(_TRIES):
        span = connection.execute(_LOCK, _place(collection, create_time)).one_or_none()
        if span is not None:
            _divide(connection, collection, span)
            return
    raise _overtaken(collection)


def _place(collection: str, create_time: int) -> Values:
    return {"listed_in": collection, "made_at": create_time}


def _overtaken(collection: str) -> Aborted:
    return Aborted(f"the names of {collection} are being written by others: try again")


def _open(connection: Connection, collection: str) -> None:
    """One span of all times, unless there are spans."""
    into = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    connection.execute(into(job_spans).on_conflict_do_nothing(), _row(collection, FIRST, LAST, ()))


def _divide(connection: Connection, collection: str, span: Record) -> None:
    """Write this span again from the jobs that are in it, as several if they have long names."""
    bounds = {"begin": span.begin, "until": span.until}
    found = connection.execute(_JOBS, {"listed_in": collection, **bounds}).all()
    if not found and _give(connection, collection, span):
        return
    parts = list(_parts(found))
    begins = [span.begin, *(part[0].create_time for part in parts[1:])]
    untils = [*begins[1:], span.until]
    _remove(connection, collection, span)
    rows = [_row(collection, *each) for each in zip(begins, untils, parts, strict=True)]
    connection.execute(insert(job_spans), rows)


def _give(connection: Connection, collection: str, span: Record) -> bool:
    """Whether the time of a span without jobs is that of the one before it now, or nobody's.

    Those who delete jobs wait for each other from later times to earlier ones alone.
    """
    if (span.begin, span.until) == (FIRST, LAST):
        _remove(connection, collection, span)
        return True
    ends = {"listed_in": collection, "end_was": span.begin, "end_is": span.until}
    earlier = connection.execute(_EXTEND, ends).one_or_none()
    if earlier is None:  # there is none, or another server divides it
        return False
    _remove(connection, collection, span)
    if (earlier.begin, earlier.until) == (FIRST, LAST):
        _divide(connection, collection, earlier)
    return True


def _remove(connection: Connection, collection: str, span: Record) -> None:
    own = _SPAN.collection == collection, _SPAN.begin == span.begin
    connection.execute(delete(job_spans).where(*own))


def _parts(found: Iterable[Record]) -> Iterator[list[Record]]:
    """One at least; jobs that were made in the same moment stay together."""
    part: list[Record] = []
    size = 0
    for job in found:
        if size > _FULL and job.create_time > part[-1].create_time:
            yield part
            part, size = [], 0
        part.append(job)
        size += len(job.job_id_folded) + len(job.display_name_folded) + 2
    yield part


def _row(collection: str, begin: int, until: int, found: Iterable[Record]) -> dict[str, Any]:
    """Any, as SQLAlchemy has it."""
    names = {
        column.name: "".join(f"\n{getattr(job, column.name)}" for job in found) for column in _NAMES
    }
    return {"collection": collection, "begin": begin, "until": until, **names}
