"""The errors that end an all-reduce."""

from __future__ import annotations


class ReductionError(RuntimeError):
    """A group ended by the loss of a member, or couldn't form. Its client can't be used again.

    ``culprit`` is the rank of the lost worker; None if a reducer was lost or the member isn't
    known.
    """

    def __init__(self, message: str, culprit: int | None = None) -> None:
        super().__init__(message)
        self.culprit = culprit


class ReducerUnreachable(ReductionError):
    """All workers stopped answering at once, so this reducer is cut off from the network."""
