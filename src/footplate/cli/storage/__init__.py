"""``footplate storage``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

command = Group(
    "storage",
    (
        Entry("buckets", "footplate.cli.storage.buckets", "Create, list and delete buckets."),
        Entry("ls", "footplate.cli.storage.ls", "List buckets, or the objects in one."),
        Entry("cp", "footplate.cli.storage.cp", "Copy files to and from buckets."),
        Entry("cat", "footplate.cli.storage.cat", "Print an object."),
        Entry("rm", "footplate.cli.storage.rm", "Delete objects."),
    ),
    help="""Manage buckets and their objects.

    A bucket is a folder of the service. A job's packages and its job directory are in one.
    """,
)
