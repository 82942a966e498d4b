"""What the server wants of a replica while its program runs: stacks, a shell."""

from __future__ import annotations

from footplate.protocol.message import Message


class ControlRequest(Message):
    id: str
    kind: str


class PendingRequests(Message):
    """The supervisor returns ``cursor`` to acknowledge the requests.

    It decodes each of them by itself: one that is wrong keeps it from no other.
    """

    control_requests: tuple[object, ...]
    cursor: str


class ControlResponse(Message, sparse=True):
    """A replica's response to a control request: ``text``, or an ``error`` with the reason."""

    text: str = ""
    error: str = ""
