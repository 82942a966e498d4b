"""What supervisors report while a program runs, and what the server answers."""

from __future__ import annotations

from footplate.protocol.message import Message


class Acknowledgement(Message):
    """Everything up to the record number ``acknowledged`` is kept for ever."""

    acknowledged: int
    stop: bool = False
    """The server wants the program to end."""


class GpuSample(Message, sparse=True):
    """What one GPU does; some cards don't say all of it."""

    id: str
    percent: int | None = None
    memory_bytes: int | None = None


class UsageSample(Message, sparse=True):
    """What a program has used since its start, ``s`` seconds ago. None: nothing here counts it."""

    s: float
    quiet_s: float
    """Since its last sign of life."""
    cpu_s: float | None = None
    memory_bytes: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    processes: int | None = None
    stopped: bool | None = None
    """All its processes are."""
    reduced_bytes: int | None = None
    """By a reduction server."""
    awaited_s: float | None = None
    gpus: tuple[GpuSample, ...] = ()


class Measurement(Message):
    """A value of a metric, and ``t``, when the program reported it.

    ``value`` is a number, or ``NaN``, ``Infinity`` or ``-Infinity``, which JSON has no numbers
    for.
    """

    t: float
    tag: str
    step: int
    value: object
    source: str


class FoundImage(Message):
    """What a replica found for a container image's name: the very image, by its digest."""

    image: str
    reference: str


class PinnedImage(Message):
    """The one that all replicas of the job run; ``first``: this one's report decided it."""

    reference: str
    first: bool = False
