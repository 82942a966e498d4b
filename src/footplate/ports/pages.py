"""A page of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list; ``next_key`` continues after its last item, None at the end."""

    items: tuple[T, ...]
    next_key: str | None
