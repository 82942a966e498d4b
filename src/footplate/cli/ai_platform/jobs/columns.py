"""The table of training jobs."""

from __future__ import annotations

COLUMNS = {"JOB_ID": "jobId", "STATUS": "state", "CREATED": "createTime"}
