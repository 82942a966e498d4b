"""The errors that end an all-reduce."""

from __future__ import annotations


class ReductionError(RuntimeError):
    """A group has ended by a loss, or couldn't form. Its client is of no further use.

    ``culprit`` is the rank of the worker that was lost; none: it was a reducer, or nobody knows.
    """

    def __init__(self, message: str, culprit: int | None = None) -> None:
        super().__init__(message)
        self.culprit = culprit


class ReducerUnreachable(ReductionError):
    """All workers stopped answering at once, so this reducer is cut off from the network."""
