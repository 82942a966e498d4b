"""Training pipelines of aiplatform v1 as the service sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from footplate.domain.catalogue import Catalogue
from footplate.domain.data_splits import DEFAULT, SETS
from footplate.domain.errors import InvalidArgument
from footplate.domain.names import DatasetName
from footplate.domain.pipelines import (
    MODEL_LEAF,
    InputData,
    ModelUpload,
    Pipeline,
    data_variables,
)
from footplate.domain.submission import Location, Submission
from footplate.wire.json_text import JsonObject, format_object
from footplate.wire.vertex_v1 import models
from footplate.wire.vertex_v1.pipeline_models import CustomTask, InputDataConfig, TuningTask
from footplate.wire.vertex_v1.rules.jobs import MAX_DISPLAY_NAME
from footplate.wire.vertex_v1.rules.pipelines import (
    INPUTS,
    TUNING,
    check_definition,
    check_pipeline,
    spec_of,
)
from footplate.wire.vertex_v1.split_models import split_of
from footplate.wire.vertex_v1.submissions import backed_submission
from footplate.wire.vertex_v1.warnings import unknown_parity, unknown_warnings

_UNREAD = ("trainingTaskInputs", "training_task_inputs")


def read_pipeline(body: JsonObject, location: Location, catalogue: Catalogue) -> Submission:
    """Reads a request of ``trainingPipelines.create``; stores its task inputs unchanged.

    Raises:
        InvalidArgument: the request has no program to run; the error has all faults. Faults of any
            other pipeline are in its ``violations``.
    """
    definition = body.get("trainingTaskDefinition", body.get("training_task_definition"))
    tunes = definition == TUNING
    understood = (
        TuningTask.understand(body, strict=False)
        if tunes
        else CustomTask.understand(body, strict=False)
    )
    pipeline = understood.message
    unknown = tuple(check_definition(pipeline.training_task_definition))
    if unknown:
        raise InvalidArgument.of(unknown)
    found = check_pipeline(pipeline, location.location, catalogue, understood.clouds)
    violations = understood.with_rules(found)
    spec = spec_of(pipeline)
    if spec is None or not spec.worker_pool_specs:
        raise InvalidArgument.of(violations)
    submission = backed_submission(
        _job(pipeline),
        spec,
        f"{INPUTS}.trialJobSpec" if tunes else INPUTS,
        location,
        display_name=pipeline.display_name or "",
        data=_data(pipeline.input_data_config),
        data_format=_data_format(pipeline.input_data_config),
        pipeline=_pipeline(pipeline, spec, location),
        request=_request(pipeline, body),
        labels=tuple((pipeline.labels or {}).items()),
        violations=violations,
        understood=not understood.wrong,
    )
    return replace(
        submission,
        warnings=(*unknown_warnings(type(pipeline), body), *submission.warnings),
        parity=(*unknown_parity(type(pipeline), body), *submission.parity),
    )


def _job(pipeline: CustomTask | TuningTask) -> models.CustomJob | models.HyperparameterTuningJob:
    """Returns the job that runs the pipeline's program, as a client would request it."""
    given: dict[str, Any] = pipeline.encode()  # Any: read and canonical
    inputs: dict[str, Any] = given.get(_UNREAD[0], {})
    suffix = "-hyperparameter-tuning-job" if isinstance(pipeline, TuningTask) else "-custom-job"
    name = f"{(pipeline.display_name or '')[: MAX_DISPLAY_NAME - len(suffix)]}{suffix}"
    same: dict[str, Any] = {key: given[key] for key in ("labels", "encryptionSpec") if key in given}
    if isinstance(pipeline, TuningTask):
        tuning_job = {"displayName": name, **inputs, **same}
        return models.HyperparameterTuningJob.understand(tuning_job).message
    return models.CustomJob.understand({"displayName": name, "jobSpec": inputs, **same}).message


def _pipeline(
    pipeline: CustomTask | TuningTask, spec: models.CustomJobSpec, location: Location
) -> Pipeline:
    job = _job(pipeline)
    request = job.encode()
    request.pop("labels", None)
    model, base = pipeline.model_to_upload, spec.base_output_directory
    prefix = (base and base.output_uri_prefix) or ""
    upload = None
    if model is not None:
        parent, _, parent_version = (pipeline.parent_model or "").partition("@")
        upload = ModelUpload(
            request=format_object(model.encode()),
            directory=f"{prefix.rstrip('/')}/{MODEL_LEAF}",
            model_id=pipeline.model_id or "",
            parent=parent,
            parent_version=parent_version,
        )
    data = _input_data(pipeline.input_data_config, location)
    return Pipeline(job.display_name or "", format_object(request), upload, data)


def _input_data(data: InputDataConfig | None, location: Location) -> InputData | None:
    """Returns the dataset that the pipeline writes; None: its files are split already, or none."""
    if data is None or not data.dataset_id:
        return None
    name = DatasetName(location.project, location.location, data.dataset_id)
    prefix = data.gcs_destination and data.gcs_destination.output_uri_prefix
    splits = [split_of(split, method) for method, split in data.splits().items()]
    split = splits[0] if splits else DEFAULT
    return InputData(str(name), prefix or "", split, data.annotation_schema_uri or "")


def _request(pipeline: CustomTask | TuningTask, body: JsonObject) -> str:
    """Returns the request with canonical names; the task inputs stay as they were sent."""
    request = pipeline.encode()
    request.pop("labels", None)
    for spelling in _UNREAD:
        if spelling in body:
            request[_UNREAD[0]] = body[spelling]
    return format_object(request)


def _data(data: InputDataConfig | None) -> tuple[tuple[str, str], ...]:
    """Returns the variables with the files of each set, named as in Vertex AI.

    Those of a dataset get the folder that the pipeline writes later.
    """
    prefix = data and data.gcs_destination and data.gcs_destination.output_uri_prefix
    if data is None or not prefix:
        return ()
    kind, folder = _data_format(data), prefix.rstrip("/")
    return data_variables([f"{folder}/{each.value}-*.{kind}" for each in SETS])


def _data_format(data: InputDataConfig | None) -> str:
    """Returns the format of the data: JSON Lines if it has a schema of annotations, else CSV."""
    return "jsonl" if data is not None and data.annotation_schema_uri else "csv"
