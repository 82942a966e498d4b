"""The rules for training pipelines beyond those of the jobs behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MappingProxyType

from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import Violation
from footplate.domain.hyperparameters import check_trial_counts
from footplate.domain.names import is_dataset_id
from footplate.wire.json_text import describe
from footplate.wire.uris import check_directory
from footplate.wire.vertex_v1.models import CustomJobSpec
from footplate.wire.vertex_v1.pipeline_models import (
    CustomTask,
    InputDataConfig,
    TuningInputs,
    TuningTask,
)
from footplate.wire.vertex_v1.rules.data_splits import check_split
from footplate.wire.vertex_v1.rules.job_specs import check_job_spec
from footplate.wire.vertex_v1.rules.jobs import check_resource
from footplate.wire.vertex_v1.rules.model_registry import check_model, check_place
from footplate.wire.vertex_v1.rules.studies import check_study

Clouded = Callable[[str], bool]

CUSTOM = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
TUNING = CUSTOM.replace("custom_task", "hyperparameter_tuning_task")
INPUTS = "trainingTaskInputs"
_DATA = "inputDataConfig"
_FILES = "files named training-*, validation-* and test-* in the folder of gcsDestination"
_NO_ANNOTATIONS = "Footplate searches no annotations: use annotationSchemaUri or filterSplit"
_UNSERVED = MappingProxyType(
    {
        "annotations_filter": _NO_ANNOTATIONS,
        "saved_query_id": _NO_ANNOTATIONS,
        "persist_ml_use_assignment": "Footplate doesn't change data items: leave this field out",
    }
)
_COUNTS = (
    f"{INPUTS}.maxTrialCount",
    f"{INPUTS}.parallelTrialCount",
    f"{INPUTS}.maxFailedTrialCount",
)


def check_definition(given: str | None) -> Iterator[Violation]:
    """Yields a fault unless the definition is custom training or tuning, not AutoML."""
    if given in (CUSTOM, TUNING):
        return
    field = "trainingTaskDefinition"
    if not given:
        yield Violation(field, f"required: {CUSTOM} or {TUNING}")
        return
    automl = "" if "/custom_" in given else "Footplate has no AutoML: train a program of your own; "
    yield Violation(field, f"{describe(given)} given; {automl}allowed: {CUSTOM} or {TUNING}")


def check_pipeline(
    pipeline: CustomTask | TuningTask, region: str, catalogue: Catalogue, clouded: Clouded
) -> Iterator[Violation]:
    """Yields faults of a training pipeline.

    ``clouded`` returns whether the schema has refused the value of a field, which then is missing.
    """
    yield from check_resource(pipeline)
    if pipeline.input_data_config is not None:
        yield from _check_data(pipeline.input_data_config)
    inputs = pipeline.training_task_inputs
    if inputs is None:
        yield Violation(INPUTS, "required: the spec of the job that runs the program")
    elif isinstance(inputs, TuningInputs):
        yield from _check_tuning(inputs, region, catalogue, clouded)
    else:
        yield from check_job_spec(inputs, INPUTS, region, catalogue, clouded)
    yield from _check_upload(pipeline)


def spec_of(pipeline: CustomTask | TuningTask) -> CustomJobSpec | None:
    """Returns the spec that the job, or each of its trials, runs; None: the inputs lack it."""
    inputs = pipeline.training_task_inputs
    return inputs.trial_job_spec if isinstance(inputs, TuningInputs) else inputs


def _check_tuning(
    inputs: TuningInputs, region: str, catalogue: Catalogue, clouded: Clouded
) -> Iterator[Violation]:
    trials, parallel = inputs.max_trial_count, inputs.parallel_trial_count
    yield from check_trial_counts(trials, parallel, inputs.max_failed_trial_count or 0, _COUNTS)
    if inputs.study_spec is None:
        yield Violation(
            f"{INPUTS}.studySpec", "required: the metrics, and the parameters to search"
        )
    else:
        yield from check_study(inputs.study_spec, f"{INPUTS}.studySpec", clouded)
    field = f"{INPUTS}.trialJobSpec"
    if inputs.trial_job_spec is None:
        yield Violation(field, "required: what each trial runs")
    else:
        yield from check_job_spec(inputs.trial_job_spec, field, region, catalogue, clouded)


def _check_data(data: InputDataConfig) -> Iterator[Violation]:
    """Yields faults of data: a dataset and its split, or files that are split already."""
    if data.bigquery_destination is not None:
        said = "given, but Footplate can't write to BigQuery: use gcsDestination, for CSV files"
        yield Violation(f"{_DATA}.bigqueryDestination", said)
    for name, way in _UNSERVED.items():
        if getattr(data, name):
            yield Violation(
                f"{_DATA}.{InputDataConfig.model_fields[name].alias}", f"given, but {way}"
            )
    splits = data.splits()
    if data.dataset_id and not is_dataset_id(data.dataset_id):
        said = f"{describe(data.dataset_id)} given; allowed: the id of a dataset of this region"
        yield Violation(f"{_DATA}.datasetId", said)
    for method, split in list(splits.items())[:1]:
        yield from check_split(split, f"{_DATA}.{method.value}")
        if not data.dataset_id:
            said = f"given without datasetId: give the dataset to split, or use {_FILES}"
            yield Violation(f"{_DATA}.{method.value}", said)
    for method in list(splits)[1:]:
        said = f"given with {next(iter(splits)).value}; allowed: one split"
        yield Violation(f"{_DATA}.{method.value}", said)
    field = f"{_DATA}.gcsDestination.outputUriPrefix"
    prefix = data.gcs_destination and data.gcs_destination.output_uri_prefix
    if not prefix:
        where = "for the dataset's files" if data.dataset_id else f"with {_FILES}"
        yield Violation(field, f"required: gs://BUCKET/PATH {where}")
    elif prefix.startswith("/"):
        yield Violation(field, f"{describe(prefix)} given; allowed: gs://BUCKET/PATH")
    else:
        yield from check_directory(prefix, field)


def _check_upload(pipeline: CustomTask | TuningTask) -> Iterator[Violation]:
    model, field = pipeline.model_to_upload, "modelToUpload"
    yield from check_place(pipeline.model_id, pipeline.parent_model)
    if model is None:
        for name, given in (("modelId", pipeline.model_id), ("parentModel", pipeline.parent_model)):
            if given:
                yield Violation(name, f"given without {field}, so there is no model to upload")
        return
    yield from check_model(model, field)
    if model.artifact_uri:
        yield Violation(
            f"{field}.artifactUri",
            "given, but Footplate takes the model's files from AIP_MODEL_DIR: leave this field out",
        )
    spec, inputs = spec_of(pipeline), pipeline.training_task_inputs
    if isinstance(inputs, TuningInputs):
        metrics = (inputs.study_spec and inputs.study_spec.metrics) or []
        if len(metrics) > 1:
            conflict = f"given with {len(metrics)} metrics, so that no single trial is the best"
            yield Violation(field, f"{conflict}; allowed: only with one metric")
    if spec is not None:
        at = INPUTS if spec is inputs else f"{INPUTS}.trialJobSpec"
        yield from _check_model_directory(spec, at)


def _check_model_directory(spec: CustomJobSpec, at: str) -> Iterator[Violation]:
    prefix = spec.base_output_directory and spec.base_output_directory.output_uri_prefix
    where = f"{at}.baseOutputDirectory"
    if not prefix:
        said = (
            "required with modelToUpload: Footplate reads the model's files from this "
            "directory's folder model/"
        )
        yield Violation(where, said)
    elif prefix.startswith("/"):
        said = f"{describe(prefix)} given; allowed with modelToUpload: gs://BUCKET/PATH"
        yield Violation(f"{where}.outputUriPrefix", said)
