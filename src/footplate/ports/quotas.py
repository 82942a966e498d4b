"""The quota port: quotas set at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.quotas import Quota


class QuotaStore(Protocol):
    """Every method is one transaction: it happens whole or not at all.

    All may raise Unavailable when the database can't be reached or its disk is full. What the
    names mean, and whether a limit is sensible, is not its business.
    """

    def list(self) -> tuple[Quota, ...]:
        """One for each project and region that has limits, in the order of their names."""
        ...

    def change(self, project: str, region: str, limits: Mapping[str, int | None]) -> None:
        """Set the limits of these resources, and no others; None removes one.

        Raises:
            InvalidArgument: a name can't be kept; nothing was changed.
        """
        ...

    def remove(self, project: str, region: str) -> None:
        """Remove every limit of exactly this project and region; there are none: nothing
        happens."""
        ...
