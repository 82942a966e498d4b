"""States of trials in the words of both APIs."""

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


def training_state(state: str, outcome: str, run_state: str) -> str:
    """Returns one of TRAINING_STATES; until the trial ends, that of the job that runs it.

    ``outcome`` is how that job ended.
    """
    match state:
        case "SUCCEEDED":
            return "SUCCEEDED"
        case "INFEASIBLE":
            return "CANCELLED" if outcome == "CANCELLED" else "FAILED"
        case _:
            return run_state or ("QUEUED" if state == "REQUESTED" else "RUNNING")
