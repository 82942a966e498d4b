"""Which engines are there, and which of them is used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from footplate_reduction import portable

if TYPE_CHECKING:
    from footplate_reduction.engines import Engine


def engines() -> dict[str, Engine]:
    """Those that work here, by name, the best first."""
    there: dict[str, Engine] = {}
    native = _native()
    if native is not None:
        there[native.name] = native
    there[portable.ENGINE.name] = portable.ENGINE
    return there


def choose_engine(name: str | None = None) -> Engine:
    """``None``: the best. Raises ValueError for one that doesn't work here."""
    there = engines()
    if name is None:
        return next(iter(there.values()))
    if name not in there:
        told = "engine {!r} does not work here; there is {}"
        raise ValueError(told.format(name, " and ".join(there)))
    return there[name]


def _native() -> Engine | None:
    """None where the library wasn't compiled."""
    try:
        module = importlib.import_module("footplate_reduction.native")
    except ImportError:
        return None
    return cast("Engine | None", module.engine())
