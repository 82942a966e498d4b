"""Copies of buckets for a replica: by the server, or by the node itself."""

from __future__ import annotations

from footplate.protocol.message import Message


class StepResult(Message):
    """The result of a step.

    ``notes`` are sentences for the job's events. ``fault`` says why the job can't go on; it is
    empty if the job can. ``retry`` means that the fault may disappear later. ``progress`` is a
    sentence on a step that isn't finished.
    """

    done: bool
    notes: tuple[str, ...] = ()
    fault: str = ""
    retry: bool = False
    progress: str = ""


class PlannedBucket(Message):
    """A bucket of which a node copies the objects whose names begin with one of ``prefixes``."""

    name: str
    read_only: bool
    prefixes: tuple[str, ...]


class CopyPlan(Message):
    """The buckets that a node copies; ``storage`` is the path of the storage API, with its key."""

    storage: str
    buckets: tuple[PlannedBucket, ...]
