"""The built-in catalogue, read once for all tests of a process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from footplate.catalogue import load_catalogue

if TYPE_CHECKING:
    from footplate.domain.catalogue import Catalogue


@cache
def built_in() -> Catalogue:
    return load_catalogue()
