"""``footplate ai custom-jobs``."""

from __future__ import annotations

from footplate.cli.group import Entry, Group

_HERE = "footplate.cli.ai.custom_jobs"

command = Group(
    "custom-jobs",
    (
        Entry("create", f"{_HERE}.create", "Create a custom job."),
        Entry("local-run", f"{_HERE}.local_run", "Run code here and now, as a custom job would."),
        Entry("describe", f"{_HERE}.describe", "Show a job, and why it failed."),
        Entry("list", f"{_HERE}.list", "List jobs, newest first."),
        Entry("stream-logs", f"{_HERE}.stream_logs", "Follow what a job prints, to its end."),
        Entry("events", f"{_HERE}.events", "Show what has happened to a job."),
        Entry("stacks", f"{_HERE}.stacks", "Show where a running job's processes stand."),
        Entry("usage", f"{_HERE}.usage", "Show what the replicas of a job use."),
        Entry("ssh", f"{_HERE}.ssh", "Open a shell in a replica of a running job."),
        Entry("cancel", f"{_HERE}.cancel", "End a job."),
        Entry("delete", f"{_HERE}.delete", "Delete a job that has ended."),
        Entry("machine-types", f"{_HERE}.machine_types", "List machine types of worker pools."),
    ),
    help="Create and follow custom jobs.",
)
