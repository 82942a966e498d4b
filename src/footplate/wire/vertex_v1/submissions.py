"""Converts aiplatform v1 jobs to submissions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument
from footplate.domain.submission import Submission, Tuning
from footplate.wire.json_text import format_object
from footplate.wire.vertex_v1.google_differences import differences, study_differences
from footplate.wire.vertex_v1.job_specs import job_spec
from footplate.wire.vertex_v1.models import CustomJob, HyperparameterTuningJob
from footplate.wire.vertex_v1.rules import check_custom_job, check_tuning_job
from footplate.wire.vertex_v1.rules.parameter_names import names_in
from footplate.wire.vertex_v1.searches import search_request
from footplate.wire.vertex_v1.study_warnings import study_warnings
from footplate.wire.vertex_v1.warnings import spec_warnings, unknown_parity, unknown_warnings

if TYPE_CHECKING:
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.errors import Violation
    from footplate.domain.pipelines import Pipeline
    from footplate.domain.submission import Location
    from footplate.wire.json_model import ParseResult
    from footplate.wire.json_text import JsonObject
    from footplate.wire.vertex_v1.models import CustomJobSpec


def read_submission(body: JsonObject, location: Location, catalogue: Catalogue) -> Submission:
    """The job that ``customJobs.create`` asks for; unknown fields are kept and warned of.

    Raises:
        InvalidArgument: it has no worker pool, so there is nothing to make a job of; with all
            that was found wrong. What is wrong with any other job is in its ``violations``.
    """
    understood = CustomJob.understand(body)
    job = understood.message
    found = check_custom_job(job, location.location, catalogue, understood.clouds)
    violations = understood.with_rules(found)
    spec = _spec_of(job.job_spec, violations)
    return _submission(body, location, understood, violations, spec, "jobSpec")


def read_tuning_submission(
    body: JsonObject, location: Location, catalogue: Catalogue
) -> Submission:
    """The search that ``hyperparameterTuningJobs.create`` asks for; ``spec`` is of each trial.

    Raises:
        InvalidArgument: as for custom jobs.
    """
    understood = HyperparameterTuningJob.understand(body)
    job = understood.message
    found = check_tuning_job(job, location.location, catalogue, understood.clouds)
    violations = understood.with_rules(found)
    spec = _spec_of(job.trial_job_spec, violations)
    trial = _submission(body, location, understood, violations, spec, "trialJobSpec")
    of_study = () if understood.wrong else tuple(study_warnings(job))
    apart = () if understood.wrong else tuple(study_differences(job))
    return replace(
        trial,
        warnings=(*trial.warnings, *of_study),
        parity=(*trial.parity, *apart),
        tuning=_tuning(job),
        search=None if violations else search_request(job, location),
    )


def _submission(
    body: JsonObject,
    location: Location,
    understood: ParseResult[CustomJob] | ParseResult[HyperparameterTuningJob],
    violations: tuple[Violation, ...],
    spec: CustomJobSpec,
    field: str,
) -> Submission:
    """``spec`` is what stands at ``field``. Of what wasn't understood nothing else is said."""
    job = understood.message
    unknown = unknown_warnings(type(job), body)
    warnings, parity = tuple(unknown), tuple(unknown_parity(unknown))
    if not understood.wrong:
        warnings = (*warnings, *spec_warnings(job, spec, field))
        parity = (*parity, *differences(job, spec, field, location.location))
    return Submission(
        name=location,
        display_name=job.display_name or "",
        spec=job_spec(spec, location, field),
        request=_request(job),
        labels=tuple((job.labels or {}).items()),
        warnings=warnings,
        parity=parity,
        violations=violations,
        understood=not understood.wrong,
    )


def backed_submission(
    job: CustomJob | HyperparameterTuningJob,
    given: CustomJobSpec,
    field: str,
    location: Location,
    *,
    display_name: str,
    pipeline: Pipeline,
    data: tuple[tuple[str, str], ...],
    data_format: str,
    request: str,
    labels: tuple[tuple[str, str], ...],
    violations: tuple[Violation, ...],
    understood: bool,
) -> Submission:
    """A pipeline whose program ``job`` runs, by the spec ``given``, which stands at ``field``."""
    warnings: tuple[str, ...] = ()
    parity: tuple[str, ...] = ()
    tuning = search = None
    if understood:
        warnings = tuple(spec_warnings(job, given, field))
        parity = tuple(differences(job, given, field, location.location))
    if isinstance(job, HyperparameterTuningJob):
        tuning = _tuning(job)
        search = None if violations else search_request(job, location)
        if understood:
            warnings = (*warnings, *study_warnings(job))
            parity = (*parity, *study_differences(job))
    spec = job_spec(given, location, field)
    formats = (("AIP_DATA_FORMAT", data_format),) if data else ()
    return Submission(
        name=location,
        display_name=display_name,
        spec=replace(spec, environment=(*spec.environment, *formats), data=data),
        request=request,
        labels=labels,
        warnings=warnings,
        parity=parity,
        violations=violations,
        understood=understood,
        tuning=tuning,
        search=search,
        pipeline=pipeline,
    )


def _spec_of(given: CustomJobSpec | None, violations: tuple[Violation, ...]) -> CustomJobSpec:
    if given is None or not given.worker_pool_specs:
        raise InvalidArgument.of(violations)
    return given


def _request(job: CustomJob | HyperparameterTuningJob) -> str:
    """Labels can be changed, so they aren't part of it."""
    request = job.encode()
    request.pop("labels", None)
    return format_object(request)


def _tuning(job: HyperparameterTuningJob) -> Tuning:
    parameters = (job.study_spec and job.study_spec.parameters) or ()
    return Tuning(parameters=len(set(names_in(parameters))), max_trials=job.max_trial_count or 0)
