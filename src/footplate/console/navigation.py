"""The entries of the console's menu, in order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    title: str
    url: str
    """Also of the pages below it."""


ENTRIES = (
    Entry("Jobs", "/jobs"),
    Entry("Submit", "/submit"),
    Entry("Experiments", "/experiments"),
    Entry("Capacity", "/capacity"),
    Entry("System", "/system"),
    Entry("Connect", "/connect"),
)
