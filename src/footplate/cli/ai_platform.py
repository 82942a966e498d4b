"""``footplate ai-platform``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

command = Group(
    "ai-platform",
    (
        Entry("jobs", "jobs.training_jobs", "Submit and follow training jobs."),
        Entry("local", "jobs.local_train", "Run a trainer here and now."),
        Entry("locations", "locations", "Where training jobs run."),
    ),
    help="AI Platform Training (ml v1), as `gcloud ai-platform` speaks it.",
)
