"""``footplate ai-platform jobs``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

_HERE = "footplate.cli.ai_platform.jobs"

command = Group(
    "jobs",
    (
        Entry("submit", f"{_HERE}.submit", "Submit a job."),
        Entry("describe", f"{_HERE}.describe", "Show a job, and why it failed."),
        Entry("list", f"{_HERE}.list", "List jobs, newest first."),
        Entry("trials", f"{_HERE}.trials", "Show the trials of a tuning job, and the best one."),
        Entry("stream-logs", f"{_HERE}.stream_logs", "Follow what a job prints, to its end."),
        Entry("events", f"{_HERE}.events", "Show what has happened to a job."),
        Entry("stacks", f"{_HERE}.stacks", "Show where a running job's processes stand."),
        Entry("usage", f"{_HERE}.usage", "Show what the replicas of a job use."),
        Entry("ssh", f"{_HERE}.ssh", "Open a shell in a replica of a running job."),
        Entry("update", f"{_HERE}.update", "Change the labels of a job."),
        Entry("cancel", f"{_HERE}.cancel", "End a job."),
    ),
    help="Submit and follow training jobs.",
)
