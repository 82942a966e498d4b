"""The columns of the training jobs table."""

from __future__ import annotations

from footplate.cli.lists.server_filter import States
from footplate.domain.job_states import State

COLUMNS = {"JOB_ID": "jobId", "STATUS": "state", "CREATED": "createTime"}
TUNED = {"TUNES": "trainingOutput.hyperparameterMetricTag"}
"""The metric of a tuning job; of others nothing."""

STATES = States(("STATE_UNSPECIFIED", *(state.value for state in State)))
