"""Tables nested in table cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.table import padded
from footplate.cli.terminal_text import pad, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_BAR, _LINE = "│", "─"
_TOP, _TOP_UNDER_TITLE = ("┌", "┬", "┐"), ("├", "┬", "┤")
_MIDDLE, _BOTTOM = ("├", "┼", "┤"), ("└", "┴", "┘")


def boxed(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    aligned: Sequence[str],
    *,
    title: str = "",
    rules: bool = False,
) -> str:
    """``headings`` may be left out; ``rules``: there is a line between all rows."""
    lines = [headings, *rows] if headings else [*rows]
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    drawn = _top(title, widths)
    for number, line in enumerate(lines):
        head = bool(headings) and number == 0
        if number and (rules or (headings and number == 1)):
            drawn.append(_rule(_MIDDLE, widths))
        drawn.append(_row(line, widths, ["center"] * len(widths) if head else aligned))
    return "\n".join([*drawn, _rule(_BOTTOM, widths)])


def _top(title: str, widths: list[int]) -> list[str]:
    """A title that is wider than the table widens the last column."""
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


def _row(cells: Sequence[str], widths: Sequence[int], aligned: Sequence[str]) -> str:
    return _BAR + _BAR.join(f" {cell} " for cell in padded(cells, widths, aligned)) + _BAR
