"""The fast engine: C++ adds and moves. It is there where its library was compiled."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from footplate_reduction.native.library import LibraryError, load

if TYPE_CHECKING:
    from footplate_reduction.engines import Engine


@lru_cache(maxsize=1)
def engine() -> Engine | None:
    """None where ``why_not`` says why."""
    try:
        library = load()
    except LibraryError:
        return None
    from footplate_reduction.native.binding import Native

    return Native(library)


def why_not() -> str | None:
    """A sentence, and the way out; None where the engine is there."""
    try:
        load()
    except LibraryError as error:
        return str(error)
    return None
