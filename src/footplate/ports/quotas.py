"""The quota port: quotas set at run time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from footplate.domain.quotas import Quota


class QuotaStore(Protocol):
    """The store of quotas; every method is one transaction, which succeeds or has no effect.

    All may raise Unavailable if the database can't be reached or its disk is full. The store
    doesn't check the names, nor whether a limit is sensible.
    """

    def list(self) -> tuple[Quota, ...]:
        """Returns a quota for each project and region with limits, in the order of their names."""
        ...

    def change(self, project: str, region: str, limits: Mapping[str, int | None]) -> None:
        """Sets the limits of the given resources, and no others; None removes a limit.

        Raises:
            InvalidArgument: a name can't be stored; nothing was changed.
        """
        ...

    def remove(self, project: str, region: str) -> None:
        """Removes all limits of exactly this project and region."""
        ...
