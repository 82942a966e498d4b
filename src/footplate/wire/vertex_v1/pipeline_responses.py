"""Training pipelines as aiplatform v1 answers them."""

from __future__ import annotations

from footplate.domain.admission import Explanation
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.names import CustomJobName, TuningJobName
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.enums import PipelineState
from footplate.wire.vertex_v1.responses import custom_job_json

STATES = {
    State.QUEUED: PipelineState.PIPELINE_STATE_QUEUED,
    State.PREPARING: PipelineState.PIPELINE_STATE_PENDING,
    State.RUNNING: PipelineState.PIPELINE_STATE_RUNNING,
    State.SUCCEEDED: PipelineState.PIPELINE_STATE_SUCCEEDED,
    State.FAILED: PipelineState.PIPELINE_STATE_FAILED,
    State.CANCELLING: PipelineState.PIPELINE_STATE_CANCELLING,
    State.CANCELLED: PipelineState.PIPELINE_STATE_CANCELLED,
}


def training_pipeline_json(
    job: Job,
    backing: CustomJobName | TuningJobName | None,
    waiting: Explanation | None = None,
) -> JsonObject:
    """Returns a training pipeline.

    ``backing`` is the job that runs the program; None: it doesn't exist yet. ``waiting`` explains
    why that job waits. Errors never have code 0: the SDK would take the pipeline for a success.
    """
    answer = custom_job_json(job, waiting)
    answer["state"] = STATES[job.state].name
    pipeline, model = job.spec.pipeline, answer.get("modelToUpload")
    if pipeline is not None and pipeline.model and isinstance(model, dict):
        made = {"name": pipeline.model_name, "versionId": pipeline.model_version}
        answer["modelToUpload"] = {**model, **made}
    if backing is not None:
        answer["trainingTaskMetadata"] = _metadata(job, backing)
    return answer


def _metadata(job: Job, backing: CustomJobName | TuningJobName) -> JsonObject:
    key = "backingCustomJob" if job.spec.search is None else "backingHyperparameterTuningJob"
    return {key: str(backing)}
