"""The way from event files of a job to runs and time series of an experiment. Pure."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from footplate.domain.jobs import Job
from footplate.domain.names import JobUid
from footplate.domain.tracking.names import EXPERIMENTS, RUNS, TIME_SERIES, TrackingName
from footplate.domain.tracking.points import Point

LOGS = "AIP_TENSORBOARD_LOG_DIR"
"""The variable that names the directory of a job's event files."""
DEFAULT_RUN = "default"
"""The run of what lies in the directory itself."""
_PLAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
_LATEST = 253402300799.0
_DIGITS = 12
MAX_NAME = 1024
"""Of a run or a time series, in characters; of longer ones the end stays."""


@dataclass(frozen=True)
class FilePosition:
    """The position up to which a file has been read; ``file`` changes if the file is replaced.

    ``ended``: the rest of the file is corrupt.
    """

    file: str
    offset: int
    ended: bool = False


@dataclass(frozen=True)
class LogUpload:
    """The event files of a job that are copied to an experiment, and how far they were read."""

    uid: JobUid
    experiment: str
    directory: str
    """gs:// or a path."""
    trial: str = ""
    """The number of the trial that the job runs."""
    positions: Mapping[str, FilePosition] = field(default_factory=dict)


def upload_of(job: Job) -> LogUpload | None:
    """Returns the upload of a job's event files; None: the job has no TensorBoard, or no directory.

    Trials of a tuning job share the experiment of the tuning job.
    """
    logs = next((each.uri for each in job.spec.directories if each.variable == LOGS), None)
    if job.spec.tensorboard is None or logs is None or not job.spec.runs_itself:
        return None
    owner, trial = job.name.job_id, job.spec.trial or ""
    if job.tuning_job is not None:
        owner = owner.removesuffix(f"-{trial}")
    experiment = f"{job.spec.tensorboard}/{EXPERIMENTS}/{owner}"
    return LogUpload(job.uid, experiment, logs, trial)


def run_name(upload: LogUpload, folder: str) -> str:
    """Returns the name of the run for the files in a folder."""
    if folder == DEFAULT_RUN:
        folder = f"./{folder}"  # the folder of this name is another run
    if folder == ".":
        return upload.trial or DEFAULT_RUN
    return "/".join(filter(None, (upload.trial, folder)))[-MAX_NAME:]


def run_of(experiment: TrackingName, called: str) -> TrackingName:
    """Returns the name of a run: the same for every caller, so the run is created once."""
    return experiment.inner(RUNS, _id(called))


def series_of(run: TrackingName, tag: str) -> TrackingName:
    return run.inner(TIME_SERIES, _id(tag))


def _id(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80]
    return f"{plain or 'x'}-{digest}"


def point(step: int, value: float, time: float, now: datetime) -> Point:
    """Makes a point; an impossible time becomes ``now``."""
    possible = math.isfinite(time) and 0 < time <= _LATEST
    return Point(step, datetime.fromtimestamp(time, UTC) if possible else now, value)
