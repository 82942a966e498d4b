"""``footplate ai-platform``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

command = Group(
    "ai-platform",
    (
        Entry("jobs", "footplate.cli.ai_platform.jobs", "Submit and follow training jobs."),
        Entry("local", "footplate.cli.ai_platform.local", "Run a trainer here and now."),
        Entry("locations", "footplate.cli.ai_platform.locations", "Where training jobs run."),
    ),
    help="AI Platform Training (ml v1), as `gcloud ai-platform` speaks it.",
)
