"""Rules for custom jobs and tuning jobs as wholes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import Violation
from footplate.domain.hyperparameters import check_trial_counts
from footplate.wire.learn_from_label import check_learning
from footplate.wire.shared_rules import check_labels
from footplate.wire.trial_regions_label import check_trial_regions
from footplate.wire.vertex_v1.models import CustomJob, HyperparameterTuningJob
from footplate.wire.vertex_v1.pipeline_models import CustomTask, TuningTask
from footplate.wire.vertex_v1.rules.job_specs import check_job_spec
from footplate.wire.vertex_v1.rules.references import check_encryption
from footplate.wire.vertex_v1.rules.studies import check_study

MAX_DISPLAY_NAME = 128
_COUNTS = ("maxTrialCount", "parallelTrialCount", "maxFailedTrialCount")


def check_custom_job(
    job: CustomJob, region: str, catalogue: Catalogue, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    """Yields faults of a custom job.

    ``clouded`` returns whether the schema has refused the value of a field, which then is missing.
    """
    yield from check_resource(job)
    if job.job_spec is None:
        yield Violation("jobSpec", "required: what the job runs")
    else:
        yield from check_job_spec(job.job_spec, "jobSpec", region, catalogue, clouded)


def check_tuning_job(
    job: HyperparameterTuningJob, region: str, catalogue: Catalogue, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    yield from check_resource(job)
    yield from check_learning(job.labels)
    yield from check_trial_regions(job.labels, catalogue)
    trials, parallel = job.max_trial_count, job.parallel_trial_count
    yield from check_trial_counts(trials, parallel, job.max_failed_trial_count or 0, _COUNTS)
    if job.study_spec is None:
        yield Violation("studySpec", "required: the metrics, and the parameters to search")
    else:
        yield from check_study(job.study_spec, "studySpec", clouded)
    if job.trial_job_spec is None:
        yield Violation("trialJobSpec", "required: what each trial runs")
    else:
        yield from check_job_spec(job.trial_job_spec, "trialJobSpec", region, catalogue, clouded)


def check_resource(
    job: CustomJob | HyperparameterTuningJob | CustomTask | TuningTask,
) -> Iterator[Violation]:
    if not job.display_name:
        yield Violation("displayName", f"required: 1 to {MAX_DISPLAY_NAME} characters")
    elif len(job.display_name) > MAX_DISPLAY_NAME:
        given = f"{len(job.display_name)} characters given"
        yield Violation("displayName", f"{given}; allowed: at most {MAX_DISPLAY_NAME}")
    yield from check_labels(job.labels or {})
    yield from check_encryption(job.encryption_spec)
