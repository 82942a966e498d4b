"""``footplate ai-platform jobs submit``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

command = Group(
    "submit",
    (
        Entry(
            "training",
            "footplate.cli.ai_platform.jobs.submit.training",
            "Package a trainer and submit it.",
        ),
    ),
    help="Submit a job.",
)
