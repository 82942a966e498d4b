"""``--format``: prints resources as a table, JSON, YAML, CSV, or the values of fields."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.table import folded, table
from footplate.cli.terminal_text import BEYOND_ASCII, disarm, spell_json
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pydantic import JsonValue

    Resource = Mapping[str, JsonValue]

P = ParamSpec("P")
R = TypeVar("R")

_KINDS = ("table", "json", "yaml", "csv", "value")
_OF_FIELDS = ("csv", "value")
_FORMAT = re.compile(r"\s*(\w+)\s*(?:\((.*)\)\s*)?", re.DOTALL)
_PATH = re.compile(r"(?:[^()\[\]:=\"']|\[(?:-?\d+|\*)?\])+")
_PARTS = re.compile(r"[^.\[\]*]+")
_INDEX = re.compile(r"-?\d+")
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LOW = re.compile(r"_([a-z0-9])")


@dataclass(frozen=True)
class Layout:
    """A parsed ``--format``. ``fields`` are the paths in ``csv(...)`` and ``value(...)``."""

    kind: str
    fields: tuple[str, ...] = ()

    @property
    def takes_rows(self) -> bool:
        """Returns whether the command itself chooses the columns."""
        return self.kind in {"table", "csv"} and not self.fields


TABLE = Layout("table")
YAML = Layout("yaml")


def read_format(text: str) -> Layout:
    """Returns the parsed format. Raises InvalidArgument, which names the formats."""
    found = _FORMAT.fullmatch(text)
    kind, given = (found[1], found[2] or "") if found else ("", "")
    fields = tuple(filter(None, map(str.strip, given.split(","))))
    known = kind in _KINDS and (kind in _OF_FIELDS or not fields)
    if not known or not all(map(_PATH.fullmatch, fields)):
        raise InvalidArgument(
            f"{text!r} given; allowed: table, json, yaml, csv, csv(FIELD,...) and "
            "value(FIELD,...); for other formats, use jq on json"
        )
    if kind == "value" and not fields:
        raise InvalidArgument("value requires fields, such as value(name,state)")
    return Layout(kind, fields)


class LayoutValue(click.ParamType[Layout]):
    """A parameter that is an output format."""

    name = "format"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Layout:
        if isinstance(value, Layout):
            return value
        try:
            return read_format(str(value))
        except InvalidArgument as error:
            self.fail(error.message, param, ctx)


def format_option(default: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Returns a decorator that adds ``--format`` and passes it as ``layout``."""
    return click.option(
        "--format",
        "layout",
        type=LayoutValue(),
        default=default,
        show_default=True,
        metavar="FORMAT",
        help="json, yaml, table, csv, csv(FIELD,...), or value(FIELD,...) for scripts, such as "
        "value(state).",
    )


def render(resource: Resource, layout: Layout, columns: Mapping[str, str]) -> str:
    """Renders one resource; ``columns`` (heading to path) are those of a table."""
    if layout.kind == "json":
        return json_text(resource)
    return render_list([resource], layout, columns)


def render_list(
    resources: Iterable[Resource], layout: Layout, columns: Mapping[str, str], *, fold: bool = False
) -> str:
    """Renders resources as a JSON list, as YAML documents, or in a row each.

    ``fold`` wraps the last of the ``columns``, which is text, to fit the terminal.
    """
    found = list(resources)
    shown = [(_heading(path), path) for path in layout.fields] or list(columns.items())
    headings = [heading for heading, _ in shown]
    if layout.kind == "json":
        text = json_text(found)
    elif layout.kind == "yaml":
        text = "\n---\n".join(map(yaml_text, found))
    elif layout.kind == "csv":
        text = csv_text(headings, _rows(found, shown, ";"))
    elif layout.kind == "value":
        text = "\n".join(map("\t".join, _rows(found, shown, ";")))
    elif fold and sys.stdout.isatty():
        rows = [[cell(resource, path) for _, path in shown] for resource in found]
        return folded(headings, rows, shutil.get_terminal_size().columns)
    else:
        text = table(headings, _rows(found, shown, ", "))
    return "\n".join(map(disarm, text.split("\n")))


def json_text(found: JsonValue | Resource | Sequence[Resource]) -> str:
    return spell_json(found, indent=2, sort_keys=True)


def yaml_text(found: JsonValue | Resource | Sequence[JsonValue], *, sort_keys: bool = True) -> str:
    # Imported here: most commands print no YAML.
    import yaml

    plain = json.loads(json.dumps(found))
    text: str = yaml.safe_dump(plain, sort_keys=sort_keys, allow_unicode=True, width=1000)
    if BEYOND_ASCII.search(text):  # what isn't ASCII is written out then
        text = yaml.safe_dump(plain, sort_keys=sort_keys, width=1000)
    return text.removesuffix("\n...\n").rstrip("\n")  # so ends what is no mapping or list


def csv_text(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue().rstrip("\n")


def cell(resource: Resource, path: str) -> str:
    """Returns the text of the field at a path such as ``jobSpec.workerPoolSpecs.0.replicaCount``;
    '' if absent.
    """
    value = read(resource, path)
    if value is None:
        return ""
    text = value if isinstance(value, str) else spell_json(value)
    return disarm(text, plain=True)


def read(resource: Resource, path: str) -> JsonValue:
    """Returns the field at a path such as ``pools[0].machineType``; None if there is none.

    A field of a list means that field of each item, as in gcloud. A field whose name is the whole
    path comes first, since names of metrics may contain dots.
    """
    if (known := _known_name(resource, path)) is not None:
        return resource[known]
    return _read(dict(resource), _PARTS.findall(path))


def _read(value: JsonValue, parts: Sequence[str]) -> JsonValue:
    for place, part in enumerate(parts):
        if isinstance(value, list) and not _INDEX.fullmatch(part):
            found = [_read(item, parts[place:]) for item in value]
            return [item for item in found if item is not None] or None
        value = _step(value, part)
    return value


def _step(value: JsonValue, part: str) -> JsonValue:
    if isinstance(value, list):
        return value[int(part)] if -len(value) <= int(part) < len(value) else None
    if isinstance(value, dict) and (known := _known_name(value, part)) is not None:
        return value[known]
    return None


def _known_name(value: Resource, name: str) -> str | None:
    """Returns the key that ``name`` spells, in camelCase or snake_case; None if there is none."""
    camel = _LOW.sub(lambda found: found[1].upper(), name)
    return next((key for key in (name, camel, _snake_case(name)) if key in value), None)


def _snake_case(name: str) -> str:
    """Returns a name in snake_case: ``job_id`` for ``jobId``."""
    return _WORD_BOUNDARY.sub("_", name).lower()


def _heading(path: str) -> str:
    """Returns gcloud's heading for a column of CSV: the last name of its path."""
    names = [part for part in _PARTS.findall(path) if not _INDEX.fullmatch(part)]
    return _snake_case(names[-1]) if names else "value"


def _rows(
    found: Sequence[Resource], columns: Sequence[tuple[str, str]], joint: str
) -> list[list[str]]:
    """Returns the text of each cell; ``joint`` separates the parts of a value."""
    paths = [path for _, path in columns]
    return [[joint.join(_texts(read(resource, path))) for path in paths] for resource in found]


def _texts(value: JsonValue) -> list[str]:
    """Returns the parts of a value as texts; those of an object with their names."""
    if isinstance(value, dict):
        return [f"{name}={text_of(part)}" for name, part in sorted(value.items())]
    if isinstance(value, list):
        return [";".join(_texts(p)) if isinstance(p, dict) else text_of(p) for p in value]
    return [text_of(value)]


def text_of(value: JsonValue) -> str:
    """Returns a value as text; one with parts as JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else spell_json(value)
