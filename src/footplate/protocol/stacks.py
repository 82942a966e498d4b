"""The stacks of a replica's Python processes, as its supervisor reads them."""

from __future__ import annotations

from footplate.protocol.message import Message


class FrameDump(Message):
    """One frame of a stack; ``line`` is 0 if unknown."""

    function: str
    file: str
    line: int


class ThreadDump(Message):
    """The stack of one thread. ``frames`` begin with the innermost; ``omitted`` counts the outer
    frames that were left out.
    """

    name: str
    frames: tuple[FrameDump, ...]
    omitted: int = 0


class ProcessDump(Message, sparse=True):
    """The stacks of one process. ``threads`` begin with the main thread; with an ``error`` there
    are none.
    """

    pid: int
    command: str
    program: bool
    stopped: bool
    threads: tuple[ThreadDump, ...] = ()
    error: str = ""


class ReplicaDump(Message):
    """The stacks of all processes of one replica; ``omitted`` counts processes that were left
    out.
    """

    processes: tuple[ProcessDump, ...]
    omitted: int = 0
