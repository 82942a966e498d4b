"""The callers of the API: a user of the machine, or the program of a job."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from footplate.domain.names import AttemptId


class CallerKind(Enum):
    USER = "USER"
    PROGRAM = "PROGRAM"
    UNKNOWN = "UNKNOWN"
    """The kernel doesn't say which process it is: it may be a program."""


@dataclass(frozen=True)
class Caller:
    """The sender of a request.

    ``attempt_id`` of a program is the attempt of its job; None: unknown, or of another service.
    ``reason`` says why it is unknown; ``gone``: because the program has closed its connection.
    """

    kind: CallerKind
    attempt_id: AttemptId | None = None
    reason: str = ""
    gone: bool = False
