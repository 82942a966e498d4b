"""The parts that a training pipeline adds to the job that runs its program."""

from __future__ import annotations

from dataclasses import dataclass

MODEL_LEAF = "model/"
"""The folder of a job's output directory that its model is in."""


@dataclass(frozen=True)
class ModelUpload:
    """The model that a pipeline makes from the files in its model directory when it succeeds.

    ``request`` is the accepted ``modelToUpload``. ``directory`` is where the files are expected; if
    the pipeline tunes, each trial has its own folder there, named by its number. ``model_id`` is
    the id of a new model (empty: the pipeline's). ``parent`` names an existing model that gets a
    new version instead; ``parent_version`` is the part of that name after ``@`` in the request.
    """

    request: str
    directory: str
    model_id: str = ""
    parent: str = ""
    parent_version: str = ""


@dataclass(frozen=True)
class Pipeline:
    """The parts that a training pipeline adds to the job that runs its program.

    ``job_request`` is that job's request, as a client would send it.
    """

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
