"""A trainer that tuning jobs of all clients run: it takes milliseconds, and says how good it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TAG = "loss"
STEPS = 3
TRAINER = f"""
import argparse, os
from hypertune import HyperTune

parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
parser.add_argument("--job-dir")
given = parser.parse_args()
reporter = HyperTune()
for step in range(1, {STEPS} + 1):
    loss = (given.x - 0.3) ** 2 + 1 / step
    reporter.report_hyperparameter_tuning_metric({TAG!r}, loss, step)
    print("step", step, "of x", given.x)
"""
"""Its last measurement is its best. It uses the unmodified cloudml-hypertune of the runtime."""

SLEEPING = "import time; print('up', flush=True); time.sleep(3600)"


def loss_of(x: float) -> float:
    """The last one that it reports."""
    return (x - 0.3) ** 2 + 1 / STEPS


def write_package(folder: Path, task: str = TRAINER) -> Path:
    """A package that is only a folder, as ``gcloud --package-path`` wants it."""
    package = folder / "trainer"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "task.py").write_text(task)
    return package
