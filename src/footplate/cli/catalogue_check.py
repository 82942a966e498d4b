"""``footplate catalogue check``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.catalogue import load_catalogue
from footplate.cli.catalogue import entries
from footplate.cli.group import Failure
from footplate.cli.output_format import format_option, render_list
from footplate.cli.terminal_text import disarm
from footplate.domain.errors import InvalidArgument
from footplate.wire.catalogue import encode_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from footplate.cli.output_format import Layout, Resource
    from footplate.domain.catalogue import Catalogue
    from footplate.wire.json_text import JsonObject

_COLUMNS = {"CHANGE": "change", "KIND": "kind", "NAME": "name", "DETAILS": "details"}


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@format_option("table")
def command(file: Path, layout: Layout) -> None:
    """Check a catalogue file of your own, such as the setting `catalogue` names.

    Says everything that is wrong with it, one FILE:LINE: FIELD: a line, and ends with 1; or what
    it adds to the built-in catalogue, changes and removes.

    \b
    Example:
      footplate catalogue check own.toml
    """
    before, after = load_catalogue(), _load(file)
    found = changes(encode_catalogue(before), encode_catalogue(after))
    counts = Counter(str(change["change"]) for change in found)
    adds_changes_removes = ", ".join(
        f"{verb} {counts[verb]}" for verb in ("adds", "changes", "removes")
    )
    click.echo(f"The file {file} is valid: it {adds_changes_removes} entries.", err=True)
    if found:
        shown = [_row(change) for change in found] if layout.takes_rows else found
        click.echo(render_list(shown, layout, _COLUMNS, fold=True))


def _load(file: Path) -> Catalogue:
    try:
        return load_catalogue(file)
    except InvalidArgument as error:
        for violation in error.violations:
            click.echo(disarm(f"{violation.field}: {violation.description}"))
        number = len(error.violations)
        things = "1 thing is" if number == 1 else f"{number} things are"
        raise Failure(f"{things} wrong with {file}") from None


def _row(change: Resource) -> Resource:
    details = change.get("details")
    text = "; ".join(str(detail) for detail in details) if isinstance(details, list) else ""
    return {**change, "details": text}


_KINDS = {
    "machineTypes": "machine type",
    "accelerators": "accelerator",
    "regions": "region",
    "scaleTiers": "scale tier",
    "runtimes": "runtime",
}
_DERIVED = frozenset({("accelerators", "regions"), ("regions", "accelerators")})
"""Fields that repeat what entries of other kinds, or other fields, say."""


def changes(before: JsonObject, after: JsonObject) -> list[Resource]:
    """Returns the entries that differ between two documents, and how: added, changed or removed."""
    return [change for kind in _KINDS for change in _of_kind(kind, before, after)]


def _of_kind(kind: str, before: JsonObject, after: JsonObject) -> Iterator[Resource]:
    old = {str(entry["name"]): _flat(kind, entry) for entry in entries(before, kind)}
    new = {str(entry["name"]): _flat(kind, entry) for entry in entries(after, kind)}
    for name in [*old, *(name for name in new if name not in old)]:
        change = {"kind": _KINDS[kind], "name": name}
        if name not in new:
            yield {"change": "removes", **change}
        elif name not in old:
            details: list[JsonValue] = [f"{path} {value}" for path, value in new[name].items()]
            yield {"change": "adds", **change, "details": details}
        elif old[name] != new[name]:
            yield {"change": "changes", **change, "details": [*_differences(old[name], new[name])]}


def _differences(old: dict[str, str], new: dict[str, str]) -> Iterator[str]:
    for path in [*old, *(path for path in new if path not in old)]:
        before, after = old.get(path, "none"), new.get(path, "none")
        if before != after:
            yield f"{path} {before} -> {after}"


def _flat(kind: str, entry: Resource) -> dict[str, str]:
    """Returns the entry's values by their paths, as text, without its name and ``own``."""
    found: dict[str, str] = {}
    for key, value in entry.items():
        if key not in ("name", "own") and (kind, key) not in _DERIVED:
            found.update(_leaves(key, value))
    return found


def _leaves(path: str, value: JsonValue) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{path}.{key}", inner)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, inner in enumerate(value):
            yield from _leaves(f"{path}[{index}]", inner)
    elif isinstance(value, list):
        yield path, " ".join(str(item) for item in value) or "nothing"
    else:
        yield path, str(value)
