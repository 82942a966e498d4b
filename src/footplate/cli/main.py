"""``footplate``."""

from __future__ import annotations

import click

from footplate._version import COMMIT, VERSION
from footplate.cli.group import Entry, Group, Root

_AI = Group(
    "ai",
    (
        Entry("custom-jobs", "jobs.custom_jobs", "Create and follow custom jobs."),
        Entry("hp-tuning-jobs", "jobs.tuning_jobs", "Search for hyperparameters."),
        Entry("persistent-resources", "persistent_resources", "Reserve machines for jobs."),
    ),
    help="Vertex AI training (aiplatform v1), as `gcloud ai` speaks it.",
)
_AI_PLATFORM = Group(
    "ai-platform",
    (
        Entry("jobs", "jobs.training_jobs", "Submit and follow training jobs."),
        Entry("local", "jobs.local_train", "Run a trainer on this machine now."),
        Entry("locations", "locations", "Show where training jobs run."),
    ),
    help="AI Platform Training (ml v1), as `gcloud ai-platform` speaks it.",
)

main = Root(
    "footplate",
    (
        Entry("up", "up", "Start the service on this machine."),
        Entry("status", "status", "Show the service and its jobs."),
        Entry("down", "down", "Stop the service and end its jobs."),
        Entry("backup", "backup", "Back up the service's data, also while it runs."),
        Entry("restore", "restore", "Create a data directory from a backup."),
        Entry("run", "run", "Run an unchanged script against the service."),
        Entry("env", "env", "Print variables that point gcloud at the service."),
        Entry("jobs", "jobs.every_job", "List, read, end and delete jobs of all kinds."),
        Entry("ai", _AI, "Use Vertex AI's custom jobs and tuning jobs."),
        Entry("ai-platform", _AI_PLATFORM, "Use AI Platform's training and tuning jobs."),
        Entry("storage", "storage", "Manage buckets and their objects."),
        Entry("quotas", "quotas", "Show and set what projects may use at once."),
        Entry("usage", "usage", "Show machine-hours of projects, day by day."),
        Entry("regions", "regions", "Show where jobs of regions run, and check engines."),
        Entry("catalogue", "catalogue", "Show what jobs can ask for."),
        Entry("runtimes", "runtimes", "Manage environments of runtimes on this machine."),
        Entry("tensorboard", "tensorboard", "Show the event files of a job in TensorBoard."),
        Entry("doctor", "doctor", "Show what this machine offers to jobs."),
        Entry("completion", "completion", "Print the tab completion of a shell."),
    ),
    aliases={"ml-engine": "ai-platform"},
    help="""Train models on your own machine, through the calls of AI Platform and Vertex AI.

    \b
    footplate up                               start the service
    footplate run -- python submit.py          send it an unchanged Vertex AI script
    eval "$(footplate env)"                    or point gcloud at it

    \b
    footplate storage buckets create gs://stage
    footplate ai-platform jobs submit training census_20261121_0900 \\
        --package-path trainer/ --module-name trainer.task \\
        --job-dir gs://stage/census --stream-logs -- --epochs 3

    Each command explains itself with --help.
    """,
)
_COMMIT = f" (commit {COMMIT})" if COMMIT else ""
click.version_option(VERSION, prog_name="footplate", message=f"%(prog)s %(version)s{_COMMIT}")(main)
