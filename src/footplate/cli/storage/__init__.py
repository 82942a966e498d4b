"""``footplate storage``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

command = Group(
    "storage",
    (
        Entry("buckets", "storage.buckets", "Create, list and delete buckets."),
        Entry("ls", "storage.ls", "List buckets, or the objects in one."),
        Entry("cp", "storage.cp", "Copy files to and from buckets."),
        Entry("cat", "storage.cat", "Print an object."),
        Entry("rm", "storage.rm", "Delete objects."),
    ),
    help="""Manage buckets and their objects.

    A bucket is a folder of the service. A job's packages and its job directory are in one.
    """,
)
