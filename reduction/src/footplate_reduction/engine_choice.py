"""Lists the available engines and chooses one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate_reduction import native, portable

if TYPE_CHECKING:
    from footplate_reduction.engines import Engine


def engines() -> dict[str, Engine]:
    """Those that work here, by name, the best first."""
    compiled = native.engine()  # none where the library wasn't compiled
    there = [portable.ENGINE] if compiled is None else [compiled, portable.ENGINE]
    return {engine.name: engine for engine in there}


def choose_engine(name: str | None = None) -> Engine:
    """``None``: the best. Raises ValueError for one that doesn't work here."""
    there = engines()
    if name is None:
        return next(iter(there.values()))
    if name not in there:
        message = "engine {!r} does not work here; there is {}"
        raise ValueError(message.format(name, " and ".join(there)))
    return there[name]
