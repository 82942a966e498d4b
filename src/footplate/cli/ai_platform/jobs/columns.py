"""The table of training jobs."""

from __future__ import annotations

from footplate.cli.lists.prefilter import States
from footplate.domain.states import State

COLUMNS = {"JOB_ID": "jobId", "STATUS": "state", "CREATED": "createTime"}
TUNED = {"TUNES": "trainingOutput.hyperparameterMetricTag"}
"""The metric of a tuning job; of others nothing."""

STATES = States(("STATE_UNSPECIFIED", *(state.value for state in State)))
