"""The job kind of custom jobs, with the columns of their table."""

from __future__ import annotations

from footplate.cli.ai.location_jobs.job_kind import Kind
from footplate.cli.session import Session

KIND = Kind(
    group="custom-jobs",
    metavar="CUSTOM_JOB",
    columns={
        "NAME": "name",
        "DISPLAY_NAME": "displayName",
        "STATE": "state",
        "CREATED": "createTime",
    },
    name=Session.custom_job,
    jobs=lambda service: service.custom_jobs,
)
