"""``footplate ai hp-tuning-jobs``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

_HERE = "footplate.cli.ai.hp_tuning_jobs"

command = Group(
    "hp-tuning-jobs",
    (
        Entry("create", f"{_HERE}.create", "Create a tuning job."),
        Entry("trials", f"{_HERE}.trials", "Show the trials of a job, and which is the best."),
        Entry("describe", f"{_HERE}.describe", "Show a job, and why it failed."),
        Entry("list", f"{_HERE}.list", "List jobs, newest first."),
        Entry("stream-logs", f"{_HERE}.stream_logs", "Follow what trials print, to the job's end."),
        Entry("events", f"{_HERE}.events", "Show what has happened to a job."),
        Entry("cancel", f"{_HERE}.cancel", "End a job and its trials."),
        Entry("delete", f"{_HERE}.delete", "Delete a job that has ended."),
        Entry("import", f"{_HERE}.import_", "Bring a study from elsewhere, to learn from."),
    ),
    help="""Search for hyperparameters: each trial is a run of the whole job.

    Trial 3 of job 123 is run by the custom job 123-3, which is in no list. Programs run there:
    `footplate ai custom-jobs` has stacks, usage and ssh for it.
    """,
)
