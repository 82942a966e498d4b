"""Reads fields of an answer without pydantic, which takes longer than some commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from footplate.domain.errors import UnknownError

if TYPE_CHECKING:
    from pydantic import JsonValue


def read_text(resource: Mapping[str, JsonValue], key: str) -> str:
    """Reads a text; an absent one is empty."""
    value = resource.get(key)
    return "" if value is None else str(value)


def read_number(resource: Mapping[str, JsonValue], key: str) -> int:
    """Reads a number, which may be sent as a text; an absent one is 0."""
    try:
        return int(read_text(resource, key) or 0)
    except ValueError:
        raise UnknownError(f"the server sent {key}={resource.get(key)!r}, not a number") from None


def read_counts(value: JsonValue) -> dict[str, int]:
    """Reads an object whose values are numbers."""
    counts = value if isinstance(value, dict) else {}
    return {name: read_number(counts, name) for name in counts}
