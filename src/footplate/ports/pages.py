"""Pages of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list; ``next_key`` continues after its last item, None at the end."""

    items: tuple[T, ...]
    next_key: str | None


def items_of(read: Callable[..., Page[T]]) -> Iterator[T]:
    """Yields the items of all pages; ``read`` returns the page ``after`` a key, or the first."""
    after: str | None = None
    while True:
        page = read(after=after)
        yield from page.items
        after = page.next_key
        if after is None:
            return
