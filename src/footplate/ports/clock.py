"""Time, as an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Clock(Protocol):
    """The wall clock; it may jump, so limits that must hold are kept by the supervisors."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...
