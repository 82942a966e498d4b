"""Converts aiplatform v1 jobs to submissions, and warns about searches that may not be meant so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import shortened
from footplate.domain.names import TuningJobName
from footplate.domain.pipelines import Pipeline
from footplate.domain.submission import Location, Submission, Tuning
from footplate.domain.tuning.search import SearchRequest, TrialCounts
from footplate.wire.json_model import ParseResult
from footplate.wire.json_text import JsonObject, format_object
from footplate.wire.learn_from_label import learned_from
from footplate.wire.shared_rules import parallel_warnings
from footplate.wire.trial_regions_label import trial_regions
from footplate.wire.vertex_v1.job_specs import job_spec
from footplate.wire.vertex_v1.models import (
    CustomJob,
    CustomJobSpec,
    HyperparameterTuningJob,
    WorkerPoolSpec,
)
from footplate.wire.vertex_v1.rules import check_custom_job, check_tuning_job
from footplate.wire.vertex_v1.rules.job_specs import MAX_POOLS
from footplate.wire.vertex_v1.rules.parameter_names import names_in
from footplate.wire.vertex_v1.study_configs import study_config
from footplate.wire.vertex_v1.study_models import ParameterSpec, StudySpec
from footplate.wire.vertex_v1.warnings import spec_warnings, unknown_parity, unknown_warnings


def search_request(job: HyperparameterTuningJob, location: Location) -> SearchRequest:
    """Makes the search of a valid request."""
    study, learned = study_config(job.study_spec or StudySpec()), learned_from(job.labels)
    counts = TrialCounts(
        trials=job.max_trial_count or 1,
        parallel=job.parallel_trial_count or 1,
        failed=job.max_failed_trial_count or 0,
    )
    return SearchRequest(
        counts=counts,
        space=study.space,
        metrics=study.metrics,
        algorithm=study.algorithm,
        selection=study.selection,
        stopping=study.stopping,
        limits=study.limits,
        learns_from=_earlier(learned, location) if learned else None,
        regions=trial_regions(job.labels),
    )


def _earlier(job_id: str, location: Location) -> TuningJobName:
    """Returns a job's name for an id, which may also be a study's: no job has the id of a study."""
    return TuningJobName(location.project, location.location, job_id)


MAX_WARNINGS = 20
"""Of all parameters together."""


def study_warnings(job: HyperparameterTuningJob) -> Iterator[str]:
    trials, parallel = job.max_trial_count or 0, job.parallel_trial_count or 0
    yield from parallel_warnings("parallelTrialCount", parallel, "maxTrialCount", trials)
    parameters = (job.study_spec and job.study_spec.parameters) or ()
    warnings = (
        warning
        for index, parameter in enumerate(parameters)
        for warning in _parameter_warnings(parameter, f"studySpec.parameters[{index}]")
    )
    yield from islice(warnings, MAX_WARNINGS)


def _parameter_warnings(parameter: ParameterSpec, at: str) -> Iterator[str]:
    categories = parameter.categorical_value_spec
    values = (categories and categories.values) or []
    if len(set(values)) < len(values):
        yield f"{at}.categoricalValueSpec contains a value twice; the value counts once"
    bounds = parameter.double_value_spec or parameter.integer_value_spec
    given = bounds is not None and (bounds.min_value, bounds.max_value) != (None, None)
    if bounds and given and (bounds.min_value or 0) == (bounds.max_value or 0):
        yield f"{at}: minValue and maxValue are equal, so all trials get the same value"
    for index, child in enumerate(parameter.conditional_parameter_specs or ()):
        if child.parameter_spec is not None:
            field = f"{at}.conditionalParameterSpecs[{index}].parameterSpec"
            yield from _parameter_warnings(child.parameter_spec, field)


def read_submission(body: JsonObject, location: Location, catalogue: Catalogue) -> Submission:
    """Reads a request of ``customJobs.create``; unknown fields are kept, with a warning.

    Raises:
        InvalidArgument: the job has no worker pool, so no job can be made of it; the error has all
            faults. Faults of any other job are in its ``violations``.
    """
    understood = CustomJob.understand(body, strict=False)
    job = understood.message
    found = check_custom_job(job, location.location, catalogue, understood.clouds)
    violations = understood.with_rules(found)
    spec = _spec_of(job.job_spec, violations)
    return _submission(body, location, understood, violations, spec, "jobSpec")


def read_tuning_submission(
    body: JsonObject, location: Location, catalogue: Catalogue
) -> Submission:
    """Reads a request of ``hyperparameterTuningJobs.create``; ``spec`` is that of each trial.

    Raises:
        InvalidArgument: as for custom jobs.
    """
    understood = HyperparameterTuningJob.understand(body, strict=False)
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
    """Makes a submission; ``spec`` is at the path ``field`` of the request.

    If some values couldn't be parsed, the spec gets no warnings.
    """
    job = understood.message
    warnings = unknown_warnings(type(job), body)
    parity = tuple(unknown_parity(type(job), body))
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
    """Makes the submission of a pipeline whose program ``job`` runs.

    ``given`` is the job's spec, which is at ``field`` in the request.
    """
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
    """Returns the request as it is stored, without the labels, which can be changed."""
    request = job.encode()
    request.pop("labels", None)
    return format_object(request)


def _tuning(job: HyperparameterTuningJob) -> Tuning:
    parameters = (job.study_spec and job.study_spec.parameters) or ()
    return Tuning(parameters=len(set(names_in(parameters))), max_trials=job.max_trial_count or 0)


_PROJECT_ID = re.compile(r"projects/(?![0-9]+/)[^/\s]+/")
MAX_METRICS = 20
"""That are spoken of."""
_LOCATION = re.compile(r"projects/[^/]+/locations/(?P<location>[^/]+)/")


def differences(
    job: CustomJob | HyperparameterTuningJob, spec: CustomJobSpec, at: str, region: str
) -> Iterator[str]:
    """Yields the points in which Google's service would refuse the job, or treat it differently.

    ``at`` is the spec's path in the request; the job may be one that this service refuses.
    """
    base = spec.base_output_directory
    if base and (base.output_uri_prefix or "").startswith("/"):
        yield (
            f"{at}.baseOutputDirectory.outputUriPrefix is a path of this machine; "
            "Google's service takes only gs://"
        )
    if _PROJECT_ID.match(spec.network or ""):
        yield f"{at}.network: Google's service requires the project's number, not the project's id"
    if spec.tensorboard and not spec.service_account:
        yield f"{at}.tensorboard: Google's service requires a serviceAccount with this field"
    key = job.encryption_spec.kms_key_name if job.encryption_spec else None
    for field, name in ((f"{at}.tensorboard", spec.tensorboard), ("encryptionSpec", key)):
        found = _LOCATION.match(name or "")
        if found and found["location"] != region:
            where = shortened(found["location"])
            yield (
                f"{field} is in {where}; Google's service requires the job's own region, {region}"
            )
    for index, pool in enumerate((spec.worker_pool_specs or ())[:MAX_POOLS]):
        yield from _pool_differences(pool, f"{at}.workerPoolSpecs[{index}]", primary=index == 0)


def study_differences(job: HyperparameterTuningJob) -> Iterator[str]:
    metrics = (job.study_spec and job.study_spec.metrics) or ()
    for index, metric in enumerate(metrics[:MAX_METRICS]):
        if metric.safety_config is not None:
            yield (
                f"studySpec.metrics[{index}].safetyConfig has no effect here; Google's service "
                "avoids unsafe trials"
            )


def _pool_differences(pool: WorkerPoolSpec, at: str, *, primary: bool) -> Iterator[str]:
    if primary and pool.replica_count is None:
        yield (
            f"{at}.replicaCount isn't given, so 1 replica starts; Google's documentation "
            "requires a replicaCount"
        )
    machine = pool.machine_spec
    if machine and machine.gpu_partition_size and (machine.accelerator_count or 0) > 1:
        yield (
            f"{at}.machineSpec.gpuPartitionSize: Google's service requires acceleratorCount 1 "
            "with this field"
        )
