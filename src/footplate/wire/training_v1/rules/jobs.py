"""Rules for a job as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.names import check_training_job_id
from footplate.wire.labels import check_labels
from footplate.wire.training_v1.rules.algorithms import check_algorithm
from footplate.wire.training_v1.rules.clusters import check_cluster
from footplate.wire.training_v1.rules.programs import check_program
from footplate.wire.training_v1.rules.replica_configs import check_configs
from footplate.wire.training_v1.rules.run_options import check_surroundings
from footplate.wire.training_v1.rules.searches import check_search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.catalogue import Catalogue
    from footplate.wire.json_model import ParseResult
    from footplate.wire.training_v1.models import Job


def check_job(understood: ParseResult[Job], catalogue: Catalogue) -> Iterator[Violation]:
    """All that the rules don't allow of what was understood."""
    job = understood.message
    try:
        check_training_job_id(job.job_id or "")
    except InvalidArgument as error:
        yield from error.violations
    yield from check_labels(job.labels or {})
    if job.prediction_input is not None:
        yield Violation("predictionInput", "batch prediction isn't served; allowed: trainingInput")
    training = job.training_input
    if training is None:
        yield Violation("trainingInput", "required: what is to be trained")
        return
    yield from check_cluster(training, catalogue, understood.clouds)
    yield from check_configs(training, catalogue, understood.clouds)
    yield from check_program(training, catalogue, understood.clouds)
    yield from check_algorithm(training, catalogue, understood.clouds)
    yield from check_surroundings(training)
    if training.hyperparameters is not None:
        yield from check_search(training.hyperparameters, job, understood.clouds)
