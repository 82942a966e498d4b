"""Custom jobs, and their table."""

from __future__ import annotations

from footplate.cli.ai.located.kind import Kind
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
