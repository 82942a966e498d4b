"""An environment that is ready: what the environment command answers."""

from __future__ import annotations

from footplate.protocol.message import Message


class Prepared(Message):
    """A ready environment: an interpreter, and directories with commands that come first in PATH.

    ``uses`` are the parts of the cache that it consists of, such as ``layers/KEY``; ``notes`` are
    sentences for users about it.
    """

    python: str
    bin: tuple[str, ...]
    uses: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
