"""Reports of supervisors while a program runs, and the server's answers."""

from __future__ import annotations

from footplate.protocol.message import Message


class Acknowledgement(Message):
    """The server's answer to a report: all records up to number ``acknowledged`` are stored for
    good.
    """

    acknowledged: int
    stop: bool = False
    """The server wants the program to end."""


class GpuSample(Message, sparse=True):
    """The load of one GPU; None where the card doesn't report a figure."""

    id: str
    percent: int | None = None
    memory_bytes: int | None = None


class UsageSample(Message, sparse=True):
    """The resources that a program has used in the ``s`` seconds since its start. None means that
    nothing on this machine counts a figure.
    """

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
    """The image that a replica found for a container image's name; ``reference`` has its digest."""

    image: str
    reference: str


class PinnedImage(Message):
    """The image that all replicas of the job run; ``first`` means that this replica's report
    decided it.
    """

    reference: str
    first: bool = False
