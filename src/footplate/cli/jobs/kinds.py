"""The three kinds of jobs, a row each, and the command lines that take a job."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from footplate.cli.defaults import DEFAULT_PROJECT, DEFAULT_REGION
from footplate.domain.names import CustomJobName, TrainingJobName, TuningJobName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from footplate.domain.names import JobName

PENDING = "pendingExplanation"
"""The field of a job that says why it waits, while it does."""

N = TypeVar("N", TrainingJobName, CustomJobName, TuningJobName)


@dataclass(frozen=True)
class Kind(Generic[N]):
    """A kind of job. ``group`` has the words before a verb; ``columns`` are those of its table."""

    noun: str
    group: str
    names: type[N]
    name: Callable[[str, str, str], N]
    """Of a project, a region and an id."""
    columns: Mapping[str, str]
    regional: bool
    example: str
    """The id of a job in help texts."""
    tuning_example: str = ""
    """The same of a job that has trials."""
    primary: str = ""
    """The primary replica of that job."""
    worker: str = ""
    metavar: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    """Help texts of verbs that aren't those of all kinds."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """The same for the lines of the group's help."""
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def help(self, text: str, verb: str, examples: tuple[str, ...]) -> str:
        """Returns a help text with examples: each is the text after ``footplate GROUP VERB``."""
        values = {
            "job": self.example,
            "tuning_job": self.tuning_example,
            "primary": self.primary,
            "worker": self.worker,
        }
        command = f"footplate {self.group} {verb}"
        lines: list[str] = [
            f"  {command} {example.format(**values)}".rstrip() for example in examples
        ]
        title = "Examples" if len(lines) > 1 else "Example"
        return "\n".join([inspect.cleandoc(text), "", "\b", f"{title}:", *lines, ""])


def _training_job(project: str, _region: str, job_id: str) -> TrainingJobName:
    return TrainingJobName(project, job_id)


_LOCATED_COLUMNS = {
    "NAME": "name",
    "DISPLAY_NAME": "displayName",
    "STATE": "state",
    "CREATED": "createTime",
}
TRAINING = Kind(
    noun="training job",
    group="ai-platform jobs",
    names=TrainingJobName,
    name=_training_job,
    columns={"JOB_ID": "jobId", "STATUS": "state", "CREATED": "createTime"},
    regional=False,
    example="census_20261121_0900",
    tuning_example="census_1",
    primary="master-replica-0",
    worker="worker-replica-1",
    texts={
        "list": """List the jobs of a project, newest first.

    The column TUNES shows the metric of a tuning job, and RESTARTS how often replicas started
    again. No list shows the jobs that run trials.""",
    },
    summaries={"trials": "Show the trials of a tuning job, and the best one."},
    examples={
        "describe": ("{job}", "{job} --format='value(state)'", "{job} --summarize"),
        "list": (
            "",
            "--filter='state=FAILED AND createTime>2026-11-21' --limit=5",
            "--filter='jobId:census_* AND labels.team=vision'",
            "--sort-by=~endTime --format='csv(jobId,state,endTime)'",
        ),
        "stream-logs": ("{job}", "{job} --task-name={primary}", "{job} --trial=3"),
    },
)
CUSTOM = Kind(
    noun="custom job",
    group="ai custom-jobs",
    names=CustomJobName,
    name=CustomJobName,
    columns=_LOCATED_COLUMNS,
    regional=True,
    example="1234567890123456789",
    primary="workerpool0-0",
    worker="workerpool1-0",
    metavar="CUSTOM_JOB",
)
TUNING = Kind(
    noun="tuning job",
    group="ai hp-tuning-jobs",
    names=TuningJobName,
    name=TuningJobName,
    columns=_LOCATED_COLUMNS,
    regional=True,
    example="1234567890123456789",
    tuning_example="1234567890123456789",
    metavar="HPTUNING_JOB",
    texts={
        "describe": "Show a job with its trials, and why it failed or what it waits for. With "
        "--format=table, one line shows the number of trials and the best trial; "
        "`trials` shows all trials.",
        "list": "List the tuning jobs of a project, newest first.",
        "stream-logs": "Print what the trials of a job print, from the first line to the last.",
        "events": "Show the events of a job so far: which trials started and ended, and how the "
        "job ended.",
        "cancel": (
            "End a job and its running trials. Trials that have ended keep their results. A job "
            "that has ended stays as it is."
        ),
        "delete": "Delete a job that has ended, with its trials, their logs and their metrics.",
    },
    summaries={
        "stream-logs": "Follow what trials print, to the job's end.",
        "cancel": "End a job and its trials.",
    },
    examples={"stream-logs": ("{job}", "{job} --trial=3")},
)
KINDS: Mapping[type[JobName], Kind[Any]] = {kind.names: kind for kind in (TRAINING, CUSTOM, TUNING)}

_VERBS = ("describe", "stream-logs", "events", "trials", "cancel")


def job_commands(name: JobName, flags: str = "") -> dict[str, str]:
    """Returns command lines for a job, by verb."""
    operand = name.job_id
    if not isinstance(name, TrainingJobName):
        operand = str(name)
        flags = " ".join(f for f in shlex.split(flags) if not f.startswith("--project="))
    tail = f" {flags}" if flags else ""
    group = KINDS[type(name)].group
    return {verb: f"footplate {group} {verb} {operand}{tail}" for verb in _VERBS}


def list_command(name: JobName, flags: str = "") -> str:
    """Returns the command line that lists the jobs beside this one."""
    words = ["footplate", KINDS[type(name)].group, "list"]
    given = [flag for flag in shlex.split(flags) if not flag.startswith("--project=")]
    if name.project != DEFAULT_PROJECT or len(given) < len(shlex.split(flags)):
        words.append(f"--project={name.project}")
    if not isinstance(name, TrainingJobName) and name.location != DEFAULT_REGION:
        words.append(f"--region={name.location}")
    return " ".join([*words, *map(shlex.quote, given)])
