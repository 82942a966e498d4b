"""Converts the search of an aiplatform v1 tuning job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.names import TuningJobName
from footplate.domain.tuning.search import SearchRequest, TrialCounts
from footplate.wire.learn_from_label import learned_from
from footplate.wire.vertex_v1.study_configs import study_config
from footplate.wire.vertex_v1.study_models import StudySpec

if TYPE_CHECKING:
    from footplate.domain.submission import Location
    from footplate.wire.vertex_v1.models import HyperparameterTuningJob


def search_request(job: HyperparameterTuningJob, location: Location) -> SearchRequest:
    """Of a request in which nothing is wrong."""
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
    )


def _earlier(job_id: str, location: Location) -> TuningJobName:
    """A study's id is none of a job's, so that either is looked for by this name."""
    return TuningJobName(location.project, location.location, job_id)
