"""``footplate storage buckets``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

_HERE = "storage.buckets"

command = Group(
    "buckets",
    (
        Entry("create", f"{_HERE}.create", "Create a bucket."),
        Entry("delete", f"{_HERE}.delete", "Delete an empty bucket."),
        Entry("list", f"{_HERE}.list", "List buckets."),
    ),
    help="Create, list and delete buckets.",
)
