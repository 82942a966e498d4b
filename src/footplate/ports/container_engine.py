"""The container engine of the machine where containers run."""

from __future__ import annotations

from typing import Protocol


class ContainerEngine(Protocol):
    """The container engine. It may come and go while the service runs: each call looks for it."""

    def socket(self) -> str:
        """Returns the path of the Unix socket at which the engine answers the Docker API.

        Raises:
            FailedPrecondition: there is none; says what to install or to start.
        """
        ...

    def expected_socket(self) -> str:
        """Returns where the engine will answer again while it is away; '' if that isn't known."""
        ...
