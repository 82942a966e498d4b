"""The lines of import files, and the JSON lines that programs get of them.

A JSON line stays as it is, but for labels that its import adds. The rows of CSV files become the
lines that Google's service writes for the same rows. Source: the pages on preparing data, and on
managed datasets in custom training.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from footplate.wire.json_text import JsonObject, format_object

ML_USE = "aiplatform.googleapis.com/ml_use"
LABELS = "dataItemResourceLabels"
_USES = MappingProxyType(
    {
        "training": "training",
        "train": "training",
        "validation": "validation",
        "validate": "validation",
        "test": "test",
        "unassigned": "",
    }
)
_BOX_COLUMNS = (0, 1, 4, 5)
"""Of the eight columns of a box, which are two corners of a rectangle or all four."""


class WrongItem(Exception):
    """Says what a line isn't, after "is"."""


@dataclass(frozen=True)
class DataItem:
    """A JSON line of a data item, with its line end, and the item's labels."""

    line: bytes
    labels: Mapping[str, str]


@dataclass
class _Row:
    """A row of a CSV file without the use that may stand before the other columns."""

    use: str
    item: str
    rest: list[str]
    annotations: list[JsonObject] = field(default_factory=list)


def read_item(line: bytes, more: Mapping[str, str]) -> DataItem:
    """Reads a JSON line; ``more`` are labels of its import, which the line's own override.

    Raises WrongItem, which says what the line isn't.
    """
    try:
        found: Any = json.loads(line)
    except RecursionError:
        raise WrongItem("nested too deeply") from None
    except ValueError as error:
        raise WrongItem(f"no JSON ({getattr(error, 'msg', 'not UTF-8')})") from None
    if not isinstance(found, dict):
        raise WrongItem("no JSON object")
    given = found.get(LABELS, {})
    if not isinstance(given, dict):
        raise WrongItem(f"wrong: its {LABELS} are no object")
    own = {key: value for key, value in given.items() if isinstance(value, str)}
    if not more.keys() - own.keys():
        return DataItem(line if line.endswith(b"\n") else line + b"\n", own)
    labels = {**more, **own}
    return _item({**found, LABELS: {**more, **given}}, labels)


def read_rows(
    format_name: str, rows: Iterable[Sequence[str]], more: Mapping[str, str]
) -> Iterator[DataItem]:
    """Converts the rows of a CSV file. Neighbours that have one file in common are one item.

    Raises WrongItem, which says what the last row isn't.
    """
    _known(format_name)
    merges = format_name.startswith("image_bounding_box")
    open_row: _Row | None = None
    for fields in rows:
        row = _split_use(fields)
        row.annotations = _annotations(format_name, row)
        if open_row is not None and merges and row.item == open_row.item:
            open_row.annotations += row.annotations
            continue
        if open_row is not None:
            yield _finish(open_row, format_name, more)
        open_row = row
    if open_row is not None:
        yield _finish(open_row, format_name, more)


def _finish(row: _Row, format_name: str, more: Mapping[str, str]) -> DataItem:
    make = _FORMATS[_known(format_name)]
    labels = {**more, **({ML_USE: row.use} if row.use else {})}
    found = {**_content(row.item, format_name), **make(row.annotations)}
    return _item({**found, LABELS: {**labels}} if labels else found, labels)


def _item(found: JsonObject, labels: Mapping[str, str]) -> DataItem:
    # Halves of surrogate pairs can't be written as UTF-8.
    text = format_object(found).encode(errors="surrogatepass")
    return DataItem(text + b"\n", labels)


def _split_use(fields: Sequence[str]) -> _Row:
    first = fields[0].strip().casefold()
    if len(fields) > 1 and (first in _USES or not first):
        return _Row(_USES.get(first, ""), fields[1], list(fields[2:]))
    return _Row("", fields[0], list(fields[1:]))


def _known(format_name: str) -> str:
    for begin in _FORMATS:
        if format_name.startswith(begin):
            return begin
    raise WrongItem("no JSON: files of this import schema have to be JSON Lines")


def _content(item: str, format_name: str) -> JsonObject:
    if format_name.startswith("image_"):
        return {"imageGcsUri": item}
    return {"textGcsUri" if item.startswith("gs://") else "textContent": item}


def _annotations(format_name: str, row: _Row) -> list[JsonObject]:
    if format_name.startswith("text_sentiment"):
        return [_sentiment(row.rest)]
    if format_name.startswith("image_bounding_box"):
        return [_box(row.rest)] if any(row.rest) else []
    return [{"displayName": label} for label in row.rest if label]


def _sentiment(rest: Sequence[str]) -> JsonObject:
    names = ("sentiment", "sentimentMax")
    try:
        return {name: int(value) for name, value in zip(names, rest, strict=False)}
    except ValueError:
        raise WrongItem("wrong: a sentiment is no whole number") from None


def _box(rest: Sequence[str]) -> JsonObject:
    corners = rest[1:9]
    try:
        places = [float(corners[index]) for index in _BOX_COLUMNS]
    except (ValueError, IndexError):
        said = "LABEL,X_MIN,Y_MIN,,,X_MAX,Y_MAX,,"
        raise WrongItem(f"wrong: allowed after the file are {said}") from None
    names = ("xMin", "yMin", "xMax", "yMax")
    return {"displayName": rest[0], **dict(zip(names, places, strict=True))}


def _single(annotations: list[JsonObject]) -> JsonObject:
    if len(annotations) > 1:
        raise WrongItem(f"wrong: it has {len(annotations)} labels, and the schema allows one")
    return {"classificationAnnotation": annotations[0]} if annotations else {}


_FORMATS: Mapping[str, Callable[[list[JsonObject]], JsonObject]] = MappingProxyType(
    {
        "image_classification_single_label": _single,
        "image_classification_multi_label": lambda found: {"classificationAnnotations": [*found]},
        "image_bounding_box": lambda found: {"boundingBoxAnnotations": [*found]},
        "text_classification_single_label": _single,
        "text_classification_multi_label": lambda found: {"classificationAnnotations": [*found]},
        "text_sentiment": lambda found: {"sentimentAnnotation": found[0]},
    }
)
"""How items of CSV files are written, by the beginning of the import schema's name."""
