"""A tuning job before it is submitted: made of a config file and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.cli.config_file import as_message
from footplate.cli.jobs.options import copy_object, put_job_options, put_learn_from, put_run_options
from footplate.cli.option_values import enum_name
from footplate.domain.names import TuningJobName
from footplate.wire.vertex_v1.models import HyperparameterTuningJob

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.cli.packaging.staging import PackageStore
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.client.validation import Uploads
    from footplate.wire.json_text import JsonObject

_COUNTS = {"max_trial_count": "maxTrialCount", "parallel_trial_count": "parallelTrialCount"}


@dataclass(frozen=True)
class TuningJobDraft:
    """A tuning job to submit. Its packages are in buckets already: nothing is built."""

    project: str
    region: str
    request: JsonObject

    def forecast_end(self) -> JsonObject:
        return self.request

    def stage(self, storage: PackageStore) -> JsonObject:  # noqa: ARG002 - the protocol
        return self.request

    def package(self, storage: PackageStore) -> JsonObject:
        return self.stage(storage)

    @property
    def collection(self) -> str:
        return TuningJobName(self.project, self.region, "").collection

    def uploads(self) -> Uploads | None:
        return None

    def create(self, service: Service, request: JsonObject) -> Job:
        return service.tuning_jobs.create(self.project, self.region, request)


def make_job(display_name: str, config: JsonObject, options: Mapping[str, object]) -> JsonObject:
    """Returns the job's request from ``config``, in which the given options replace values.

    ``config`` has studySpec, trialJobSpec and counts. A missing count is 1, as in gcloud.

    Raises:
        InvalidArgument: a field that must be an object isn't one.
    """
    job = as_message(HyperparameterTuningJob, config)
    job["displayName"] = display_name
    for name, field in _COUNTS.items():
        given = options.get(name)
        job[field] = int(str(given)) if given is not None else job.get(field) or 1
    if (algorithm := options.get("algorithm")) is not None:
        copy_object(job, "studySpec")["algorithm"] = enum_name(str(algorithm))
    put_run_options(copy_object(job, "trialJobSpec"), options)
    put_job_options(job, options)
    put_learn_from(job, options.get("learn_from"))
    return job
