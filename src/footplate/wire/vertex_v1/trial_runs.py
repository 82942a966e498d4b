"""The custom job request equivalent to a trial's run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from footplate.domain.tuning.trial_spec import numbered
from footplate.wire.json_text import format_object

Json = dict[str, Any]
"""Any: the service has read and kept it."""

_PROGRAMS = ("pythonPackageSpec", "containerSpec")


def trial_request(request: str, number: int, given: Sequence[str]) -> str:
    """Returns the request for a trial's job; ``given`` are the trial's arguments."""
    job = json.loads(request)
    spec = dict(job["trialJobSpec"])
    spec["workerPoolSpecs"] = [_pool(pool, given) for pool in spec.get("workerPoolSpecs", [])]
    prefix = spec.get("baseOutputDirectory", {}).get("outputUriPrefix")
    if prefix:
        spec["baseOutputDirectory"] = {"outputUriPrefix": f"{numbered(prefix, number)}/"}
    return format_object({"displayName": f"{job.get('displayName', '')}-{number}", "jobSpec": spec})


def _pool(pool: Json, given: Sequence[str]) -> Json:
    after = dict(pool)
    for kind in _PROGRAMS:
        if kind in pool:
            after[kind] = {**pool[kind], "args": [*pool[kind].get("args", []), *given]}
    return after
