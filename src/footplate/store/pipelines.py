"""What a training pipeline adds to a job, as a document within its spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.pipelines import ModelUpload, Pipeline

if TYPE_CHECKING:
    from footplate.store.json_column import Json


def pipeline_document(pipeline: Pipeline | None) -> Json:
    """The part of the spec's document; nothing for a job that is no pipeline."""
    if pipeline is None:
        return {}
    upload = pipeline.upload
    document = {
        "display_name": pipeline.job_display_name,
        "request": pipeline.job_request,
        "upload": None if upload is None else dict(vars(upload)),
        "model": pipeline.model,
    }
    return {"pipeline": document}


def pipeline_of(document: Json | None) -> Pipeline | None:
    """Raises ValueError, KeyError or TypeError for what is no document of a pipeline."""
    if document is None:
        return None
    upload = document["upload"]
    return Pipeline(
        document["display_name"],
        document["request"],
        None if upload is None else ModelUpload(**upload),
        document["model"],
    )
