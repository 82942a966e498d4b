"""``footplate runtimes``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

_HERE = "runtimes"

command = Group(
    "runtimes",
    (
        Entry("list", f"{_HERE}.list", "What jobs can run in, and what of it is built here."),
        Entry("build", f"{_HERE}.build", "Build a runtime before a job needs it."),
        Entry("prune", f"{_HERE}.prune", "Remove environments that nothing uses."),
    ),
    help="""Environments of runtimes in this machine's cache, with or without a server.

    \b
    footplate runtimes list
    footplate runtimes build 2.11
    footplate runtimes prune --unused-for=30d --dry-run

    A job builds what it lacks by itself; what a running replica uses is never removed.
    """,
)
