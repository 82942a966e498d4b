"""``footplate ai``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

command = Group(
    "ai",
    (
        Entry("custom-jobs", "jobs.custom_jobs", "Create and follow custom jobs."),
        Entry("hp-tuning-jobs", "jobs.tuning_jobs", "Search for hyperparameters."),
    ),
    help="Vertex AI training (aiplatform v1), as `gcloud ai` speaks it.",
)
