"""Why an environment can't be had."""

from __future__ import annotations


class Unpreparable(Exception):
    """The message is one sentence for the user: what can't be had, and the way out."""
