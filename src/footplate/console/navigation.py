"""The entries of the console's menu, in order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    title: str
    url: str
    others: tuple[str, ...] = ()
    """Pages elsewhere that belong to it, too."""

    def has(self, path: str) -> bool:
        """Returns whether a page belongs to this entry: at one of its addresses or below."""
        return any(path == url or path.startswith(f"{url}/") for url in (self.url, *self.others))


ENTRIES = (
    Entry("Jobs", "/jobs", ("/searches",)),
    Entry("Submit", "/submit"),
    Entry("Experiments", "/experiments", ("/models",)),
    Entry("Buckets", "/buckets"),
    Entry("Capacity", "/capacity"),
    Entry("System", "/system"),
    Entry("Connect", "/connect"),
)
