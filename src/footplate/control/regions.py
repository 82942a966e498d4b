"""Which backend runs the jobs of a region."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.ports.backend import Backend


@dataclass(frozen=True)
class Regions:
    """Regions that aren't bound to a backend of their own are bound to ``default``."""

    default: Backend
    bound: Mapping[str, Backend] = field(default_factory=dict)

    def backend(self, region: str) -> Backend:
        return self.bound.get(region, self.default)

    def backends(self) -> tuple[Backend, ...]:
        """Each backend once."""
        return tuple({id(b): b for b in (self.default, *self.bound.values())}.values())
