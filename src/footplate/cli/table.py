"""Formats tables: columns as wide as their widest cell, two spaces or a line apart."""

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
_BAR, _LINE = "│", "─"
_TOP, _TOP_UNDER_TITLE = ("┌", "┬", "┐"), ("├", "┬", "┤")
_MIDDLE, _BOTTOM = ("├", "┼", "┤"), ("└", "┴", "┘")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table as text; ``headings`` may be empty."""
    lines = [headings, *rows] if headings else [*rows]
    widths = _widths(lines)
    return "\n".join(_line(line, widths) for line in lines)


def folded(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """Returns a table whose last column, of text, is wrapped to keep to ``width``.

    If the other columns leave too little room, the text follows below its row.
    """
    return "\n".join(text for lines in folded_rows(headings, rows, width) for text in lines)


def folded_rows(
    headings: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> list[list[str]]:
    """Returns the lines of each row of a folded table; the headings' come first."""
    lines = [headings, *rows]
    widths = _widths(lines)
    left = sum(widths[:-1]) + _GAP * (len(widths) - 1)
    if left + widths[-1] <= width:
        return [[_line(line, widths)] for line in lines]
    beside = width - left >= LEAST
    return [list(_folded(line, widths, left if beside else None, width)) for line in lines]


def total_width(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Returns the width of a table that isn't folded."""
    widths = _widths([headings, *rows])
    return sum(widths) + _GAP * (len(widths) - 1)


def _folded(
    line: Sequence[str], widths: Sequence[int], left: int | None, width: int
) -> Iterator[str]:
    """Yields the lines of a row. The last column begins at ``left``, or below if None."""
    *cells, last = line
    indent = _INDENT if left is None else left
    parts = textwrap.wrap(
        last, max(1, width - indent), break_long_words=False, break_on_hyphens=False
    )
    beside = parts.pop(0) if left is not None and parts else ""
    yield _line([*cells, beside], widths)
    yield from (" " * indent + part for part in parts)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return (" " * _GAP).join(map(pad, cells, widths)).rstrip()


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    if not lines:
        return []
    return [max(width_of(line[index]) for line in lines) for index in range(len(lines[0]))]


def boxed(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
) -> str:
    """Returns a table with lines around it and its columns; ``headings`` may be empty."""
    lines = [headings, *rows] if headings else [*rows]
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    drawn = _top(title, widths)
    for number, line in enumerate(lines):
        head = bool(headings) and number == 0
        if headings and number == 1:
            drawn.append(_rule(_MIDDLE, widths))
        drawn.append(_row(line, widths, "center" if head else "left"))
    return "\n".join([*drawn, _rule(_BOTTOM, widths)])


def _top(title: str, widths: list[int]) -> list[str]:
    """Returns the table's upper border. A title wider than the table widens the last column."""
    if not title:
        return [_rule(_TOP, widths)]
    inner = sum(widths) + 3 * len(widths) - 1
    widths[-1] += max(0, width_of(title) + 2 - inner)
    inner = max(inner, width_of(title) + 2)
    head = [f"┌{_LINE * inner}┐", f"{_BAR}{pad(title, inner, 'center')}{_BAR}"]
    return [*head, _rule(_TOP_UNDER_TITLE, widths)]


def _rule(ends: tuple[str, str, str], widths: Sequence[int]) -> str:
    left, middle, right = ends
    return left + middle.join(_LINE * (width + 2) for width in widths) + right


def _row(cells: Sequence[str], widths: Sequence[int], side: str) -> str:
    padded = (pad(cell, width, side) for cell, width in zip(cells, widths, strict=True))
    return _BAR + _BAR.join(f" {cell} " for cell in padded) + _BAR
