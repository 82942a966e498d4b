"""The error of an environment that cannot be prepared."""

from __future__ import annotations


class PreparationError(Exception):
    """Error of a preparation. The message is one sentence for the user: what failed, and what to
    do.
    """
