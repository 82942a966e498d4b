"""Warns about more parallel trials than a search can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.tuning.progress import MOST_AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Iterator


def parallel_warnings(
    parallel_field: str, parallel: int, trials_field: str, trials: int
) -> Iterator[str]:
    """``trials`` is 0 where the request doesn't say it."""
    if 0 < trials < parallel:
        count = min(trials, MOST_AT_ONCE)
        at_once = "1 runs" if count == 1 else f"{count} run"
        yield f"{parallel_field} is {parallel}, and {trials_field} {trials}: {at_once} at once"
    elif parallel > MOST_AT_ONCE:
        yield f"{parallel_field} is {parallel}: at most {MOST_AT_ONCE} trials go on at once"
