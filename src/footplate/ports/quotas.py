"""The quota port: quotas set at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.quotas import Quota


class QuotaStore(Protocol):
    """The store of quotas. Every method is one transaction: it happens whole or not at all.

    All may raise Unavailable when the database can't be reached or its disk is full. What the
    names mean, and whether a limit is sensible, is not its business.
    """

    def list(self) -> tuple[Quota, ...]:
        """Returns a quota for each project and region with limits, in the order of their names."""
        ...

    def change(self, project: str, region: str, limits: Mapping[str, int | None]) -> None:
        """Sets the limits of these resources, and no others; None removes one.

        Raises:
            InvalidArgument: a name can't be kept; nothing was changed.
        """
        ...

    def remove(self, project: str, region: str) -> None:
        """Removes every limit of exactly this project and region, if there are any."""
        ...
