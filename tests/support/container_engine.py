"""A container engine that is there, or isn't, as a test says."""

from __future__ import annotations

from footplate.domain.errors import FailedPrecondition

SOCKET = "/run/engine.sock"


class FakeContainerEngine:
    """``fault``: why there is none; empty: there is one."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.expected = SOCKET

    def socket(self) -> str:
        if self.fault:
            raise FailedPrecondition(self.fault)
        return SOCKET

    def expected_socket(self) -> str:
        return self.expected
