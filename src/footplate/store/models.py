"""The model port over SQL: a row for each model, with its versions in one document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from footplate.domain.errors import AlreadyExists, DataLoss, NotFound
from footplate.domain.filters import Filter, selects
from footplate.domain.model_registry import Model
from footplate.domain.names import ModelName, parse_model_name
from footplate.domain.text_validation import storable
from footplate.domain.timestamps import from_micros, to_micros
from footplate.ports.notifications import NoticeKind
from footplate.ports.pages import Page
from footplate.store.documents import ModelBody, read, write
from footplate.store.named_rows import check_version, rows_behind, unknown
from footplate.store.paging import Position, first_page
from footplate.store.row_codec import Values
from footplate.store.tables import models
from footplate.store.transactions import Transactions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from footplate.store.row_codec import Record


class SqlModels:
    """Stores models in SQL; any number of threads and servers may use it at once."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def create(self, model: Model) -> None:
        with self._transactions.writing() as connection:
            try:
                connection.execute(insert(models).values(_values(model)))
            except IntegrityError as error:
                raise AlreadyExists(f"{model.name} already exists") from error
            self._notify(connection, model.name)

    def get(self, name: ModelName) -> Model:
        query = select(models).where(models.c.name == str(name))
        row = None
        if storable(str(name)):
            with self._transactions.reading() as connection:
                row = connection.execute(query).one_or_none()
        if row is None:
            raise unknown(name)
        return _model(row)

    def write(self, model: Model) -> None:
        here = models.c.name == str(model.name)
        with self._transactions.writing() as connection:
            check_version(connection, models, model.name, model.version - 1)
            connection.execute(update(models).where(here).values(_values(model)))
            self._notify(connection, model.name)

    def delete(self, name: ModelName) -> None:
        if not storable(str(name)):
            raise unknown(name)
        with self._transactions.writing() as connection:
            removed = connection.execute(delete(models).where(models.c.name == str(name)))
            if removed.rowcount == 0:
                raise unknown(name)

    def collections(self) -> tuple[str, ...]:
        with self._transactions.reading() as connection:
            return tuple(sorted(connection.scalars(select(models.c.collection).distinct())))

    def list(
        self, collection: str, *, where: Filter | None, limit: int, after: str | None
    ) -> Page[Model]:
        position = None if after is None else Position.parse(after)
        if not storable(collection):
            return Page((), None)
        query = select(models).where(models.c.collection == collection)
        with self._transactions.snapshot() as connection:
            every = map(_model, rows_behind(connection, models, query, position))
            found = (each for each in every if where is None or selects(where, each.value))
            return first_page(found, limit, Position.of)

    def exporting(self) -> tuple[Model, ...]:
        query = select(models).where(models.c.exporting == 1)
        with self._transactions.reading() as connection:
            rows = connection.execute(query.order_by(models.c.create_time, models.c.name)).all()
        return tuple(_model(row) for row in rows)

    def _notify(self, connection: Connection, name: ModelName) -> None:
        self._transactions.tell(connection, NoticeKind.MODEL, str(name))


def _values(model: Model) -> Values:
    body = ModelBody(model.update_time, model.next_number, model.versions, model.exports)
    return {
        "name": str(model.name),
        "collection": model.name.collection,
        "create_time": to_micros(model.create_time),
        "version": model.version,
        "exporting": int(any(each.end_time is None for each in model.exports)),
        "body": write(body),
    }


def _model(row: Record) -> Model:
    """Makes a model from a row.

    Raises DataLoss: the row is damaged, or of an unknown version.
    """
    try:
        body = read(ModelBody, row.body)
        return Model(
            name=parse_model_name(row.name),
            create_time=from_micros(row.create_time),
            version=row.version,
            **vars(body),
        )
    except (KeyError, TypeError, ValueError, OverflowError, NotFound) as error:
        raise DataLoss(f"the stored record of {row.name} can't be read: {error}") from error
