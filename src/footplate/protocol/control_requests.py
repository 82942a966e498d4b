"""Requests of the server to a replica while its program runs: for stacks, for a shell."""

from __future__ import annotations

from footplate.protocol.message import Message


class ControlRequest(Message):
    id: str
    kind: str


class PendingRequests(Message):
    """The control requests that wait for a replica. The supervisor returns ``cursor`` to
    acknowledge them.

    It decodes each request by itself, so that a wrong one doesn't affect the others.
    """

    control_requests: tuple[object, ...]
    cursor: str


class ControlResponse(Message, sparse=True):
    """A replica's response to a control request: ``text``, or an ``error`` with the reason."""

    text: str = ""
    error: str = ""
