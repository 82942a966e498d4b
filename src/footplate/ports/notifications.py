"""Notifications between the servers of one database."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class NoticeKind(Enum):
    JOB = "job"
    """Something was written to it."""
    SEARCH = "search"
    """There is a new tuning job, or a new training pipeline."""
    EVENTS = "events"
    """Events alone were added to a job."""
    STUDY = "study"
    MODEL = "model"
    """A model or a dataset was written."""
    QUOTAS = "quotas"
    PERSISTENT_RESOURCE = "persistent-resource"
    LEASE = "lease"
    """It was taken, or given back."""


@dataclass(frozen=True)
class Notice:
    """A notification; ``key`` is a job's or study's uid, or a name: of a model, a dataset, or a
    persistent resource.

    For other kinds it is empty.
    """

    kind: NoticeKind
    key: str = ""
