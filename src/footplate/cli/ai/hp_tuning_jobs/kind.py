"""The job kind of tuning jobs, with the columns of their table."""

from __future__ import annotations

from footplate.cli.ai.location_jobs.job_kind import Kind
from footplate.cli.session import Session

KIND = Kind(
    group="hp-tuning-jobs",
    metavar="HPTUNING_JOB",
    columns={
        "NAME": "name",
        "DISPLAY_NAME": "displayName",
        "STATE": "state",
        "CREATED": "createTime",
    },
    name=Session.tuning_job,
    jobs=lambda service: service.tuning_jobs,
    has_trials=True,
)
