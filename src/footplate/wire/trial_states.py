"""States of trials in the words of both APIs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

STATES = ("REQUESTED", "ACTIVE", "STOPPING", "SUCCEEDED", "INFEASIBLE")
"""As aiplatform v1 has them; in the last two a trial has ended."""
TRAINING_STATES = (
    "QUEUED",
    "PREPARING",
    "RUNNING",
    "CANCELLING",
    "SUCCEEDED",
    "FAILED",
    "CANCELLED",
)
"""As ml v1 has them."""


def training_state(trial: Mapping[str, JsonValue]) -> str:
    """Returns one of TRAINING_STATES; until the trial ends, that of the job that runs it."""
    match str(trial.get("state")):
        case "SUCCEEDED":
            return "SUCCEEDED"
        case "INFEASIBLE":
            return "CANCELLED" if trial.get("outcome") == "CANCELLED" else "FAILED"
        case state:
            run = trial.get("run")
            running = str(run.get("state") or "") if isinstance(run, dict) else ""
            return running or ("QUEUED" if state == "REQUESTED" else "RUNNING")
