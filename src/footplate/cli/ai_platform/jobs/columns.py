"""The table of training jobs."""

from __future__ import annotations

COLUMNS = {"JOB_ID": "jobId", "STATUS": "state", "CREATED": "createTime"}
TUNED = {"TUNES": "trainingOutput.hyperparameterMetricTag"}
"""The metric of a tuning job; of others nothing."""
