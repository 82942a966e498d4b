"""The parts that a training pipeline adds to the job that runs its program."""

from __future__ import annotations

from dataclasses import dataclass

MODEL_LEAF = "model/"
"""The folder of a job's output directory that its model is in."""


@dataclass(frozen=True)
class ModelUpload:
    """The model that a pipeline makes of the files in its model directory when it succeeds.

    ``request`` is ``modelToUpload`` as it was accepted, ``directory`` where the files are
    expected; of a pipeline that tunes, each trial has them below its number. ``model_id`` is the id
    of a new model (empty: the pipeline's), ``parent`` the name of the model that gets a new version
    instead; ``parent_version`` is what the request says behind its ``@``.
    """

    request: str
    directory: str
    model_id: str = ""
    parent: str = ""
    parent_version: str = ""


@dataclass(frozen=True)
class Pipeline:
    """``job_request`` is the request of the job behind the pipeline, as if a client had sent it."""

    job_display_name: str
    job_request: str
    upload: ModelUpload | None = None
    model: str = ""
    """The version that was made: ``projects/.../models/ID@NUMBER``."""

    @property
    def model_name(self) -> str:
        return self.model.partition("@")[0]

    @property
    def model_version(self) -> str:
        return self.model.partition("@")[2]
