"""Stores links between contexts, artifacts and executions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from footplate.domain.errors import DataLoss, NotFound
from footplate.domain.text_validation import storable
from footplate.domain.timestamps import from_micros, to_micros
from footplate.domain.tracking.names import parse_tracking_name
from footplate.domain.tracking.resources import Link, LinkKind
from footplate.store import documents
from footplate.store.documents import Labels
from footplate.store.tables import tracking, tracking_links
from footplate.store.tracking.rows import batches

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy import Select

    from footplate.domain.tracking.filters import LinkedTo
    from footplate.domain.tracking.names import TrackingName
    from footplate.store.row_codec import Record, Values
    from footplate.store.transactions import Transactions

_LINKS = tracking_links.c


class SqlLinks:
    """The part of ``SqlTracking`` that stores links."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def link(self, links: Sequence[Link]) -> None:
        if not links:
            return
        ends = {str(end) for link in links for end in (link.source, link.target)}
        with self._transactions.writing() as connection:
            found: set[str] = set()
            for some in batches(sorted(filter(storable, ends))):
                named = tracking.c.name.in_(some)
                found.update(connection.scalars(select(tracking.c.name).where(named)))
            for name in sorted(ends - found):
                raise NotFound(f"{ascii(name)[1:-1]} does not exist")
            is_sqlite = connection.dialect.name == "sqlite"
            insert = sqlite.insert if is_sqlite else postgresql.insert
            statement = insert(tracking_links).on_conflict_do_nothing()
            try:
                connection.execute(statement, [_values(link) for link in links])
            except IntegrityError as error:  # deleted by another server at this moment
                raise NotFound("one of the linked resources does not exist any more") from error

    def unlink(self, source: TrackingName, targets: Collection[TrackingName]) -> None:
        with self._transactions.writing() as connection:
            for some in batches(sorted(filter(storable, map(str, targets)))):
                here = (_LINKS.source == str(source)) & _LINKS.target.in_(some)
                connection.execute(delete(tracking_links).where(here))

    def links(
        self, names: Collection[TrackingName], kinds: Collection[LinkKind], *, upwards: bool = False
    ) -> tuple[Link, ...]:
        end = _LINKS.target if upwards else _LINKS.source
        asked = sorted({str(name) for name in names if storable(str(name))})
        of_kind = _LINKS.kind.in_([kind.value for kind in kinds])
        with self._transactions.snapshot() as connection:
            rows = [
                row
                for some in batches(asked)
                for row in connection.execute(select(tracking_links).where(end.in_(some), of_kind))
            ]
        rows.sort(key=lambda row: (row.time, row.source, row.target))
        return tuple(map(_link, rows))


def linked_names(link: LinkedTo) -> Select[str]:
    """Returns a query for the names of the resources that have ``link``."""
    if link.downwards:
        return select(_LINKS.source).where(_LINKS.target == link.name)
    return select(_LINKS.target).where(_LINKS.source == link.name)


def _values(link: Link) -> Values:
    return {
        "source": str(link.source),
        "target": str(link.target),
        "kind": link.kind.value,
        "time": to_micros(link.time),
        "labels": documents.write(Labels(link.labels)),
    }


def _link(row: Record) -> Link:
    """Makes a link from a row. Raises DataLoss, as for resources."""
    try:
        return Link(
            source=parse_tracking_name(row.source),
            kind=LinkKind(row.kind),
            target=parse_tracking_name(row.target),
            time=from_micros(row.time),
            labels=documents.read(Labels, row.labels).labels,
        )
    except (KeyError, TypeError, ValueError, OverflowError, NotFound) as error:
        message = f"the stored link from {row.source} to {row.target} can't be read: {error}"
        raise DataLoss(message) from error
