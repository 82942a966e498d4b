"""Differences between two catalogues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.catalogue.catalogue_source import entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from footplate.cli.formats.field_paths import Resource
    from footplate.wire.json_text import JsonObject

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
    """Of two documents: each entry that was added, changed or removed, and how."""
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
    """The values by their paths, as text: the name, and whose it is, aren't among them."""
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
