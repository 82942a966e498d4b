"""``footplate ai-platform local``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

command = Group(
    "local",
    (
        Entry(
            "train",
            "footplate.cli.ai_platform.local.train",
            "Run a trainer now, without a service of your own.",
        ),
    ),
    help="Run a trainer here and now.",
)
