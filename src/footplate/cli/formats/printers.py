"""Prints resources in each format."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from footplate.cli.formats.format_spec import pruned, read, snake_case
from footplate.cli.formats.transforms import apply, text_of, texts_of
from footplate.cli.table import boxed, table
from footplate.cli.terminal_text import BEYOND_ASCII, spell_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pydantic import JsonValue

    from footplate.cli.formats.format_spec import Column, Layout, Path, Resource


def json_text(found: JsonValue | Resource | Sequence[Resource | None]) -> str:
    return spell_json(found, indent=2, sort_keys=True)


def yaml_text(found: JsonValue | Resource | Sequence[JsonValue], *, sort_keys: bool = True) -> str:
    # Imported here: most commands print no YAML.
    import yaml

    plain = json.loads(json.dumps(found))
    text: str = yaml.safe_dump(plain, sort_keys=sort_keys, allow_unicode=True, width=1000)
    if BEYOND_ASCII.search(text):  # what isn't ASCII is written out then
        text = yaml.safe_dump(plain, sort_keys=sort_keys, width=1000)
    return text.removesuffix("\n...\n").rstrip("\n")  # so ends what is no mapping or list


def print_resources(found: Sequence[Resource], layout: Layout) -> str:
    """``layout`` has columns, or is of a format that does without."""
    return _PRINTERS[layout.kind](found, layout)


def _json(found: Sequence[Resource], layout: Layout) -> str:
    return json_text([projected(resource, layout) for resource in found])


def _yaml(found: Sequence[Resource], layout: Layout) -> str:
    return "\n---\n".join(yaml_text(projected(resource, layout)) for resource in found)


def projected(resource: Resource, layout: Layout) -> Resource | None:
    """What of it a projection asks for, None: nothing is there, which JSON and YAML call null.

    Keys with transforms stand under their own heading.
    """
    if layout.columns is None:
        return resource
    kept = pruned(resource, [c.path for c in layout.columns if not c.calls])
    changed = {field_name(c): value_of(resource, c) for c in layout.columns if c.calls}
    return {**(kept if isinstance(kept, dict) else {}), **changed} or None


def _value(found: Sequence[Resource], layout: Layout) -> str:
    separator = layout.text("separator", "\t")
    return "\n".join(separator.join(_joined(row, layout)) for row in _rows(found, layout))


def _csv(found: Sequence[Resource], layout: Layout) -> str:
    columns = layout.columns or ()
    separator = layout.text("separator", ",")
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator[:1] or ",", lineterminator="\n")
    if not layout.has("no-heading"):
        writer.writerow([c.label if c.label is not None else field_name(c) for c in columns])
    writer.writerows(_joined(row, layout) for row in _rows(found, layout))
    return text.getvalue().rstrip("\n")


def _joined(row: Sequence[JsonValue], layout: Layout) -> list[str]:
    delimiter = layout.text("delimiter", ";")
    return [delimiter.join(texts_of(value)) for value in row]


def _table(found: Sequence[Resource], layout: Layout) -> str:
    columns = layout.columns or ()
    rows = [[", ".join(texts_of(value)) for value in row] for row in _rows(found, layout)]
    headings = [] if layout.has("no-heading") else [heading(column) for column in columns]
    title = layout.text("title", "")
    if layout.has("box"):
        return boxed(headings, rows, title=title)
    text = table(headings, rows)
    width = max(map(len, text.splitlines()), default=0)
    return f"{title.center(width).rstrip()}\n{text}" if title else text


def value_of(resource: Resource, column: Column) -> JsonValue:
    value = read(resource, column.path) if column.path else None
    for call in column.calls:
        value = apply(value, call, resource)
    return value


def _rows(found: Sequence[Resource], layout: Layout) -> list[list[JsonValue]]:
    """In the order that ``:sort`` asks for."""
    columns = layout.columns or ()
    rows = [[value_of(resource, column) for column in columns] for resource in found]
    keys = sorted((c.sort, place, c.descending) for place, c in enumerate(columns) if c.sort)
    for _, place, descending in reversed(keys):
        rows.sort(key=lambda row: rank(row[place]), reverse=descending)
    return rows


def rank(value: JsonValue) -> tuple[int, float, str]:
    """Numbers by size, whether they are written as texts or not, before texts, before nothing."""
    if value is None or value == "":
        return 2, 0.0, ""
    try:
        return 0, float(text_of(value)), ""
    except ValueError:
        return 1, 0.0, text_of(value)


def field_name(column: Column) -> str:
    """gcloud's: ``job_id`` of ``jobId``."""
    named = [part for part in column.path if isinstance(part, str) and not part.isdecimal()]
    if column.label is not None:
        return column.label
    return snake_case(named[-1]) if named else (column.calls[-1].name if column.calls else "value")


def heading(column: Column) -> str:
    return column.label if column.label is not None else field_name(column).upper()


def flattened(found: Sequence[Resource], path: Path) -> Iterator[Resource]:
    """``--flatten``: a resource for each item of the list at ``path``, which the item replaces."""
    for resource in found:
        items = read(resource, path)
        if not isinstance(items, list):
            yield resource
            continue
        for item in items:
            yield _replaced(resource, path, item)


def _replaced(resource: Resource, path: Path, item: JsonValue) -> Resource:
    name, *rest = (part for part in path if isinstance(part, str))
    child = resource.get(name)
    if rest and isinstance(child, dict):
        return {**resource, name: dict(_replaced(child, tuple(rest), item))}
    return {**resource, name: item}


_PRINTERS: dict[str, Callable[[Sequence[Resource], Layout], str]] = {
    "json": _json,
    "yaml": _yaml,
    "value": _value,
    "csv": _csv,
    "table": _table,
}
