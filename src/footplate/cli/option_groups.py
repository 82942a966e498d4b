"""Groups command options into one value."""

from __future__ import annotations

import functools
from dataclasses import fields
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import DataclassInstance

P = ParamSpec("P")
R = TypeVar("R")


def gathered(
    name: str, kind: type[DataclassInstance]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Hand the options that are fields of ``kind`` over as one of it, the argument ``name``."""
    parts = [field.name for field in fields(kind)]

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapper(*args: P.args, **kw: P.kwargs) -> R:
            kw[name] = kind(**{part: kw.pop(part) for part in parts})
            return function(*args, **kw)

        return wrapper

    return decorate
