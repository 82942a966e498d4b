"""Converts resources of metadata stores and TensorBoards to rows and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from footplate.domain.errors import DataLoss, NotFound
from footplate.domain.timestamps import from_micros, to_micros
from footplate.domain.tracking.names import parse_tracking_name
from footplate.domain.tracking.resources import Resource
from footplate.store import documents

if TYPE_CHECKING:
    from footplate.store.row_codec import Record, Values

_MOST_NAMES = 500
"""In one query: databases bound the number of its parameters."""


def resource_values(resource: Resource) -> Values:
    body = {"updateTime": to_micros(resource.update_time), "fields": dict(resource.fields)}
    outer, key = resource.name.outer, resource.unique_key
    return {
        "name": str(resource.name),
        "uid": resource.uid,
        "within": None if outer is None else str(outer),
        "collection": resource.name.collection,
        "unique_digest": None if key is None else sha256(key.encode()).hexdigest(),
        "create_time": to_micros(resource.create_time),
        "version": resource.version,
        "body": documents.write_object(body),
    }


def resource_of(row: Record) -> Resource:
    """Makes a resource from a row.

    Raises DataLoss: the row is damaged, or of an unknown version.
    """
    try:
        body = documents.load(row.body)
        return Resource(
            name=parse_tracking_name(row.name),
            uid=row.uid,
            create_time=from_micros(row.create_time),
            update_time=from_micros(body["updateTime"]),
            fields=body["fields"],
            version=row.version,
        )
    except (KeyError, TypeError, ValueError, OverflowError, NotFound) as error:
        raise DataLoss(f"the stored record of {row.name} can't be read: {error}") from error


def batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _MOST_NAMES):
        yield names[start : start + _MOST_NAMES]
