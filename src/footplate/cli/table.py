"""Formats tables: columns as wide as their widest cell, two spaces apart."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from footplate.cli.terminal_text import pad, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_GAP = 2
LEAST = 35
"""A narrower column is no place for sentences."""
_INDENT = 4


def table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], aligned: Sequence[str] = ()
) -> str:
    """``headings`` may be left out; ``aligned``: each column is left, right or center."""
    lines = [headings, *rows] if headings else [*rows]
    widths = _widths(lines)
    return "\n".join(_line(line, widths, aligned) for line in lines)


def folded(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """A table whose last column, of text, is broken into lines so that it keeps to ``width``.

    Where the other columns leave too little room, the text follows below its row.
    """
    return "\n".join(text for lines in folded_rows(headings, rows, width) for text in lines)


def folded_rows(
    headings: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> list[list[str]]:
    """The lines of each row of a folded table; those of its headings come first."""
    lines = [headings, *rows]
    widths = _widths(lines)
    left = sum(widths[:-1]) + _GAP * (len(widths) - 1)
    if left + widths[-1] <= width:
        return [[_line(line, widths)] for line in lines]
    beside = width - left >= LEAST
    return [list(_folded(line, widths, left if beside else None, width)) for line in lines]


def total_width(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Of a table that isn't folded."""
    widths = _widths([headings, *rows])
    return sum(widths) + _GAP * (len(widths) - 1)


def _folded(
    line: Sequence[str], widths: Sequence[int], left: int | None, width: int
) -> Iterator[str]:
    """``left``: where the last column begins; None: below, a little indented."""
    *cells, last = line
    indent = _INDENT if left is None else left
    parts = textwrap.wrap(
        last, max(1, width - indent), break_long_words=False, break_on_hyphens=False
    )
    beside = parts.pop(0) if left is not None and parts else ""
    yield _line([*cells, beside], widths)
    yield from (" " * indent + part for part in parts)


def _line(cells: Sequence[str], widths: Sequence[int], aligned: Sequence[str] = ()) -> str:
    return (" " * _GAP).join(padded(cells, widths, aligned)).rstrip()


def padded(
    cells: Sequence[str], widths: Sequence[int], aligned: Sequence[str] = ()
) -> Iterator[str]:
    """Each as wide as its column, and on its side of it."""
    sides = aligned or ["left"] * len(widths)
    return (pad(*cell) for cell in zip(cells, widths, sides, strict=True))


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    if not lines:
        return []
    return [max(width_of(line[index]) for line in lines) for index in range(len(lines[0]))]
