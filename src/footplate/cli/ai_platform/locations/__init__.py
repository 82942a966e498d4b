"""``footplate ai-platform locations``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

_HERE = "footplate.cli.ai_platform.locations"

command = Group(
    "locations",
    (
        Entry("describe", f"{_HERE}.describe", "Show what a region has."),
        Entry("list", f"{_HERE}.list", "List regions."),
    ),
    help="Where training jobs run.",
)
