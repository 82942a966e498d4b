"""Builds the tuning job to send from a config file and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.ai.location_jobs.request import put_job_options, put_run_options
from footplate.cli.config_normalization import as_message
from footplate.cli.learn_from import put_learn_from
from footplate.cli.option_values import enum_name
from footplate.domain.errors import InvalidArgument
from footplate.wire.vertex_v1.models import HyperparameterTuningJob

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.wire.json_text import JsonObject

_COUNTS = {"max_trial_count": "maxTrialCount", "parallel_trial_count": "parallelTrialCount"}


def make_job(display_name: str, config: JsonObject, options: Mapping[str, object]) -> JsonObject:
    """``config`` has studySpec, trialJobSpec and counts; options take the place of its values.

    A count that neither says is 1, as gcloud has it.

    Raises:
        InvalidArgument: what should be an object isn't.
    """
    job = as_message(HyperparameterTuningJob, config)
    job["displayName"] = display_name
    for name, field in _COUNTS.items():
        given = options.get(name)
        job[field] = int(str(given)) if given is not None else job.get(field) or 1
    if (algorithm := options.get("algorithm")) is not None:
        _child(job, "studySpec")["algorithm"] = enum_name(str(algorithm))
    put_run_options(_child(job, "trialJobSpec"), options)
    put_job_options(job, options)
    put_learn_from(job, options.get("learn_from"))
    return job


def _child(job: JsonObject, key: str) -> JsonObject:
    """The object at ``key``, copied."""
    value = job.get(key)
    if not isinstance(value, dict | None):
        raise InvalidArgument(f"--config: {key} is not a mapping")
    child: JsonObject = dict(value or {})
    job[key] = child
    return child
