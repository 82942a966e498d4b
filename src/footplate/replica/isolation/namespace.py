"""Rung ``namespace``: the program lives in a process namespace of its own.

Guarantee: when it ends, or the supervisor does, the kernel kills all that it has started, and
nothing can get away: see ``space``. Being out of memory isn't recognised.
"""

from __future__ import annotations

from footplate.replica.isolation import space
from footplate.replica.isolation.cage import Cage, Unavailable
from footplate.replica.isolation.space import Space

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.replica.isolation.cage import Child, Family
    from footplate.replica.isolation.inits import Init
    from footplate.replica.isolation.spawn import Launch
    from footplate.replica.isolation.view import View


class NamespaceCage(Cage):
    name = "namespace"
    thorough = True
    guarantee = "everything the program starts is killed with its process namespace"

    def __init__(self, place: Space) -> None:
        self._space = place

    @classmethod
    def open(cls) -> NamespaceCage:
        """Raises Unavailable."""
        fault = space.find_fault()
        if fault:
            raise Unavailable(fault)
        return cls(Space())

    @classmethod
    def reopen(cls, record: dict[str, Any]) -> NamespaceCage:
        return cls(Space.reopen(record))

    def record(self) -> dict[str, object]:
        return self._space.record()

    def adopt(self, init: Init) -> None:
        self._space.adopt(init)

    def prepare(self) -> None:
        self._space.prepare()

    def start(self, launch: Launch, view: View | None) -> Child:
        return self._space.start(launch, view)

    def kill(self) -> bool:
        return self._space.kill()

    def family(self, child: Child) -> Family:
        return self._space.family(child)
