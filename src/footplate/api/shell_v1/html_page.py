"""The HTML page that a browser shows at a shell's address."""

from __future__ import annotations

from html import escape
from shlex import quote
from typing import TYPE_CHECKING

from footplate.domain.names import CustomJobName

if TYPE_CHECKING:
    from footplate.domain.jobs import Job


def shell_page(job: Job, replica: str) -> str:
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="en"><meta charset="utf-8"><title>{escape(replica)}</title>\n'
        f"<h1>A shell in {escape(replica)}</h1>\n"
        f"<p>Job {escape(str(job.name))} is {job.state.value}. Whoever has this address can run "
        "commands in this replica, beside its program, until that ends.</p>\n"
        "<p>Open a shell in a terminal:</p>\n"
        f"<pre>{escape(command_line(job, replica))}</pre>\n"
        "</html>\n"
    )


def command_line(job: Job, replica: str) -> str:
    """The command that opens a shell."""
    if isinstance(job.name, CustomJobName):
        words = ["footplate", "ai", "custom-jobs", "ssh", str(job.name)]
    else:
        words = ["footplate", "ai-platform", "jobs", "ssh", str(job.name)]
    return " ".join(quote(word) for word in [*words, f"--replica={replica}"])
