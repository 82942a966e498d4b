"""The container engine of the machine where containers run."""

from __future__ import annotations

from typing import Protocol


class ContainerEngine(Protocol):
    """The container engine, which may start and stop at any time: each call looks for it."""

    def socket(self) -> str:
        """Returns the path of the Unix socket at which the engine answers the Docker API.

        Raises:
            FailedPrecondition: there is no engine; the message says what to install or start.
        """
        ...

    def expected_socket(self) -> str:
        """Returns the path at which an engine that is down will answer; '' if it isn't known."""
        ...
