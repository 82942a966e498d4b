"""The stacks of a replica's Python processes, as its supervisor reads them."""

from __future__ import annotations

from footplate.protocol.message import Message


class FrameDump(Message):
    """``line`` is 0 if unknown."""

    function: str
    file: str
    line: int


class ThreadDump(Message):
    """``frames`` from the innermost one outwards; ``omitted`` outer ones are left out."""

    name: str
    frames: tuple[FrameDump, ...]
    omitted: int = 0


class ProcessDump(Message, sparse=True):
    """``threads``: the main one first; none where there is an ``error``."""

    pid: int
    command: str
    program: bool
    stopped: bool
    threads: tuple[ThreadDump, ...] = ()
    error: str = ""


class ReplicaDump(Message):
    """All of one replica; ``omitted`` processes are left out."""

    processes: tuple[ProcessDump, ...]
    omitted: int = 0
