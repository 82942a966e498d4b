"""``footplate storage``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

command = Group(
    "storage",
    (
        Entry("buckets", "footplate.cli.storage.buckets", "Create and list buckets."),
        Entry("ls", "footplate.cli.storage.ls", "List objects."),
        Entry("cat", "footplate.cli.storage.cat", "Print an object."),
    ),
    help="""Buckets and what lies in them.

    A bucket is a folder of the service. A job's packages and its job directory lie in one.
    """,
)
