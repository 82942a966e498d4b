"""The files that a job leaves in its directory beside the model itself."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footplate_algorithms import encoding
from footplate_algorithms.preparation import PARTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from footplate_algorithms.algorithms import Algorithm

METADATA = "metadata.json"
INSTANCES = "instance_generator.py"
METRICS = "metrics.json"


@dataclass(frozen=True)
class JobDirectory:
    """The job's directory; ``path`` is where it is, ``uri`` the user's name for it."""

    path: Path
    uri: str

    @property
    def model(self) -> Path:
        return self.path / "model"

    @property
    def processed_data(self) -> Path:
        return self.path / "processed_data"

    @property
    def artifacts(self) -> Path:
        return self.path / "artifacts"

    def make(self, *, preprocess: bool) -> None:
        """Creates the folders; removes files to which an earlier start of the job appended."""
        folders = [self.model, self.artifacts, *([self.processed_data] if preprocess else [])]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        for part in PARTS:
            (self.processed_data / f"{part}.csv").unlink(missing_ok=True)


def write_metadata(directory: JobDirectory, metadata: Mapping[str, Any]) -> None:
    """Writes metadata and the program that reads it; together they can encode new rows."""
    text = json.dumps(metadata, indent=1, ensure_ascii=False)
    (directory.artifacts / METADATA).write_text(f"{text}\n", "utf-8")
    shutil.copyfile(encoding.__file__, directory.artifacts / INSTANCES)


def write_results(
    directory: JobDirectory,
    algorithm: Algorithm,
    steps: int,
    metrics: Mapping[str, Mapping[str, float]],
) -> None:
    """Writes the results; ``metrics`` has scores by data, of which the first are the job's."""
    text = json.dumps({"global_step": steps, **metrics}, indent=1)
    (directory.artifacts / METRICS).write_text(f"{text}\n", "utf-8")
    labels = {"job_id": os.environ.get("CLOUD_ML_JOB_ID", ""), "global_step": str(steps)}
    scores = next(iter(metrics.values()), {})
    if "accuracy" in scores:
        labels["accuracy"] = str(round(100 * scores["accuracy"]))
    fields = {
        "deploymentUri": f"{directory.uri.rstrip('/')}/model/",
        "framework": algorithm.framework,
        "runtimeVersion": algorithm.runtime_version,
        "pythonVersion": algorithm.python_version,
    }
    lines = [f"{name}: {json.dumps(value)}" for name, value in fields.items()]
    lines += ["labels:", *(f"  {name}: {json.dumps(value)}" for name, value in labels.items())]
    (directory.model / "deployment_config.yaml").write_text("\n".join(lines) + "\n", "utf-8")
