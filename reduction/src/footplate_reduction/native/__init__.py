"""The fast engine, written in C++. It is available where its library was compiled."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from footplate_reduction.native.library import LibraryError, load

if TYPE_CHECKING:
    from footplate_reduction.engines import Engine


@lru_cache(maxsize=1)
def engine() -> Engine | None:
    """None if ``why_not`` returns a reason."""
    try:
        library = load()
    except LibraryError:
        return None
    from footplate_reduction.native.cpp_engine import Native

    return Native(library)


def why_not() -> str | None:
    """Why the engine is not available and how to get it; None if it is available."""
    try:
        load()
    except LibraryError as error:
        return str(error)
    return None
