"""The ml v1 request equivalent to a trial's run."""

from __future__ import annotations

import json
from collections.abc import Sequence

from footplate.domain.tuning.trial_spec import numbered
from footplate.wire.json_text import format_object


def trial_request(request: str, number: int, given: Sequence[str], region: str | None) -> str:
    """Returns the request for a trial's job: the tuning job's without its search.

    ``given`` are the trial's arguments. ``region`` is the trial's region; None: the job's own.
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
