"""The ml v1 request equivalent to a trial's run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from footplate.domain.tuning.trial_spec import numbered
from footplate.wire.json_text import format_object

if TYPE_CHECKING:
    from collections.abc import Sequence


def trial_request(request: str, number: int, given: Sequence[str], region: str | None) -> str:
    """``request`` of the tuning job without its search; ``given``: the trial's arguments.

    ``region`` is that of the trial; None: the job's own.
    """
    job = json.loads(request)
    training = {k: v for k, v in job["trainingInput"].items() if k != "hyperparameters"}
    training["args"] = [*training.get("args", []), *given]
    if region is not None:
        training["region"] = region
    if training.get("jobDir"):
        training["jobDir"] = numbered(training["jobDir"], number)
    return format_object(
        {**job, "jobId": f"{job.get('jobId', '')}-{number}", "trainingInput": training}
    )
