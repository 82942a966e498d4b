"""Field paths in error messages: ``a.b[0].c``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_NAME = 100


def json_path(location: tuple[str | int, ...]) -> str:
    """Formats a location: ``("a", "b", 0)`` as ``a.b[0]``."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{_shorten(part)}" if path else _shorten(part)
    return path


def ancestors(path: str) -> Iterator[str]:
    """Yields the paths above this one, from the top."""
    return (path[:at] for at, character in enumerate(path) if character in ".[")


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
