"""The parts that a training pipeline adds to the job that runs its program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from footplate.domain.data_splits import DEFAULT, DataSplit

MODEL_LEAF = "model/"
"""The folder of a job's output directory that its model is in."""
DATA_FORMAT = "AIP_DATA_FORMAT"
WRITES_DATA = "DATA"
"""The kind of the event that says which data is being written, before there is a job."""
_DATA_VARIABLES = ("AIP_TRAINING_DATA_URI", "AIP_VALIDATION_DATA_URI", "AIP_TEST_DATA_URI")


def data_variables(patterns: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Returns the variables that name the files of the three sets."""
    return tuple(zip(_DATA_VARIABLES, patterns, strict=True))


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
class InputData:
    """The dataset that a pipeline writes for its program, split, below ``prefix``."""

    dataset: str
    prefix: str
    split: DataSplit = DEFAULT
    annotation_schema: str = ""

    def folder(self, kind: str, at: datetime) -> str:
        """Returns the folder of a pipeline that was created ``at`` this time.

        Google's names end with milliseconds. With microseconds no two pipelines share a folder.
        """
        time = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        number = self.dataset.rpartition("/")[2]
        return f"{self.prefix.rstrip('/')}/dataset-{number}-{kind}-{time}"


@dataclass(frozen=True)
class Pipeline:
    """The parts that a training pipeline adds to the job that runs its program.

    ``job_request`` is that job's request, as a client would send it.
    """

    job_display_name: str
    job_request: str
    upload: ModelUpload | None = None
    data: InputData | None = None
    model: str = ""
    """The version that was made: ``projects/.../models/ID@NUMBER``."""

    @property
    def model_name(self) -> str:
        return self.model.partition("@")[0]

    @property
    def model_version(self) -> str:
        return self.model.partition("@")[2]
