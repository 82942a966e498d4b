"""Suggests commands to run next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from footplate.cli.defaults import DEFAULT_PROJECT, DEFAULT_REGION
from footplate.domain.names import CustomJobName, TrainingJobName, TuningJobName

if TYPE_CHECKING:
    from footplate.domain.names import JobName

_VERBS = ("describe", "stream-logs", "events", "trials", "cancel")

GROUPS: dict[type[JobName], tuple[str, str]] = {
    TrainingJobName: ("training job", "ai-platform jobs"),
    CustomJobName: ("custom job", "ai custom-jobs"),
    TuningJobName: ("tuning job", "ai hp-tuning-jobs"),
}
"""By the kind of a job's name: what it is, and the commands that take it."""


def job_commands(name: JobName, flags: str = "") -> dict[str, str]:
    """Command lines about a job, by verb."""
    _, group = GROUPS[type(name)]
    operand = name.job_id
    if not isinstance(name, TrainingJobName):
        operand = str(name)
        flags = " ".join(f for f in shlex.split(flags) if not f.startswith("--project="))
    tail = f" {flags}" if flags else ""
    return {verb: f"footplate {group} {verb} {operand}{tail}" for verb in _VERBS}


def list_command(name: JobName, flags: str = "") -> str:
    """The command line that lists the jobs beside this one."""
    _, group = GROUPS[type(name)]
    words = ["footplate", group, "list"]
    given = [flag for flag in shlex.split(flags) if not flag.startswith("--project=")]
    if name.project != DEFAULT_PROJECT or len(given) < len(shlex.split(flags)):
        words.append(f"--project={name.project}")
    if not isinstance(name, TrainingJobName) and name.location != DEFAULT_REGION:
        words.append(f"--region={name.location}")
    return " ".join([*words, *map(shlex.quote, given)])
