"""Checks the resources that a job names: machines, TensorBoard, model, dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from footplate.domain.catalogue import Catalogue
from footplate.domain.data_splits import TABULAR_ONLY, SplitMethod
from footplate.domain.datasets import Dataset
from footplate.domain.errors import NotFound, Violation
from footplate.domain.jobs import JobSpec
from footplate.domain.model_registry import Model
from footplate.domain.names import (
    DatasetName,
    ModelName,
    PersistentResourceName,
    TrainingJobName,
    parse_dataset_name,
    parse_model_name,
)
from footplate.domain.persistent_resources import (
    PersistentResource,
    ResourceState,
    misfits,
    resource_named,
)
from footplate.domain.pipelines import ModelUpload
from footplate.domain.submission import Submission
from footplate.domain.tracking.names import TrackingName, parse_tracking_name


def tensorboard_violations(
    submission: Submission, exists: Callable[[TrackingName], bool]
) -> Iterator[Violation]:
    given = submission.spec.tensorboard
    if given is None or not submission.understood:
        return
    field = _field(submission.spec, "tensorboard")
    if _is_refused(submission, field):
        return
    try:
        found = exists(parse_tracking_name(given))
    except NotFound:
        found = False
    if not found:
        said = f"{given!r} given, which doesn't exist"
        yield Violation(field, f"{said}: create it with aiplatform.Tensorboard.create()")


def model_violations(
    submission: Submission, find: Callable[[ModelName], Model | None]
) -> Iterator[Violation]:
    """Yields why the model of a training pipeline couldn't be made after the training."""
    upload = None if submission.pipeline is None else submission.pipeline.upload
    where = submission.name
    if upload is None or isinstance(where, TrainingJobName):
        return
    if upload.parent and not _is_refused(submission, "parentModel"):
        yield from _parent_violations(upload, where.location, find)
    elif upload.model_id and not _is_refused(submission, "modelId"):
        name = ModelName(where.project, where.location, upload.model_id)
        if find(name) is not None:
            said = f"{upload.model_id!r} given, the id of a model that exists; allowed: another id"
            yield Violation("modelId", f"{said}, or parentModel {name} for a new version of it")


def _parent_violations(
    upload: ModelUpload, location: str, find: Callable[[ModelName], Model | None]
) -> Iterator[Violation]:
    version = upload.parent_version
    try:
        name = parse_model_name(upload.parent)
    except NotFound as error:
        yield Violation("parentModel", error.message)
        return
    model = find(name)
    if name.location != location:
        said = f"{upload.parent!r} given; allowed: a model in {location}, the pipeline's region"
    elif model is None:
        said = f"{upload.parent!r} given, which doesn't exist; leave it out for a new model"
    elif version and not any(
        version == str(v.number) or version in v.aliases for v in model.versions
    ):
        said = f"{upload.parent}@{version} given, but the model has no version {version!r}"
    else:
        return
    yield Violation("parentModel", said)


def dataset_violations(
    submission: Submission, find: Callable[[DatasetName], Dataset | None]
) -> Iterator[Violation]:
    """Yields why the dataset of a training pipeline can't be used as the request says."""
    data = None if submission.pipeline is None else submission.pipeline.data
    if data is None or _is_refused(submission, "inputDataConfig.datasetId"):
        return
    name = parse_dataset_name(data.dataset)
    dataset, method = find(name), data.split.method
    if dataset is None:
        said = f"{name.dataset_id!r} given, but {name} doesn't exist; create it first"
        yield Violation("inputDataConfig.datasetId", said)
    elif dataset.is_tabular and method is SplitMethod.FILTERS:
        said = "given, but the dataset is a table; allowed: the other splits"
        yield Violation(f"inputDataConfig.{method.value}", said)
    elif method in TABULAR_ONLY and not dataset.is_tabular:
        said = "given, but the dataset is no table; allowed: fractionSplit, filterSplit"
        yield Violation(f"inputDataConfig.{method.value}", said)
    elif dataset.is_tabular and data.annotation_schema:
        said = "given, but the dataset is a table, which has no annotations; leave this field out"
        yield Violation("inputDataConfig.annotationSchemaUri", said)


def resource_violations(
    submission: Submission,
    find: Callable[[PersistentResourceName], PersistentResource | None],
    catalogue: Catalogue,
) -> Iterator[Violation]:
    spec = submission.spec
    name = resource_named(spec, submission.name.project)
    if name is None or not submission.understood:
        return
    field = _field(spec, "persistentResourceId")
    if _is_refused(submission, field):
        return
    resource = find(name)
    if resource is None:
        yield Violation(
            field,
            f"{name.resource_id!r} given; project {name.project} has no such persistent resource "
            f"in {name.location}: create it with footplate ai persistent-resources create, or "
            "leave the field out",
        )
    elif resource.state is ResourceState.STOPPING:
        yield Violation(
            field,
            f"{name.resource_id!r} given, a persistent resource that is being deleted; name "
            "another",
        )
    else:
        yield from misfits(spec, resource, catalogue)


def _field(spec: JobSpec, name: str) -> str:
    """Returns the path of the field in the request."""
    return f"{spec.primary.field.partition('.workerPoolSpecs')[0]}.{name}"


def _is_refused(submission: Submission, field: str) -> bool:
    return any(violation.field == field for violation in submission.violations)
