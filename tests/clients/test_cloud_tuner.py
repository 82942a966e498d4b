"""The unmodified CloudTuner of tensorflow-cloud, which tunes a real model by studies of ml v1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.client_environments import environment_of

if TYPE_CHECKING:
    import subprocess

STUDIES = "projects/demo/locations/us-central1/studies"
SCRIPT = """
import os
os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"  # KerasTuner's messages are old
import kerastuner, numpy
import tensorflow as tf
from kerastuner.engine import hyperparameters
from tensorflow_cloud import CloudTuner

numpy.random.seed(1)
x = numpy.random.rand(64, 2)
y = x.sum(axis=1)

def build(values):
    units, activation = values.get("units"), values.get("activation")
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(units, activation=activation, input_shape=(2,)),
        tf.keras.layers.Dense(1, use_bias=values.get("bias") == "True")])
    model.compile(tf.keras.optimizers.SGD(values.get("rate")), loss="mse")
    return model

def tuner(study, values, max_trials=None):
    return CloudTuner(build, project_id="demo", region="us-central1", study_id=study,
                      objective=kerastuner.Objective("val_loss", "min"), directory=study,
                      hyperparameters=values, max_trials=max_trials)

def search(made):
    made.search(x, y, epochs=2, validation_split=0.25, verbose=0)
    trials = made.oracle.service.list_trials()
    print(">", [trial["state"] for trial in trials])
    return trials

def best(trials):
    return min(trial["finalMeasurement"]["metrics"][0]["value"] for trial in trials)

wide = hyperparameters.HyperParameters()
wide.Float("rate", 1e-4, 1e-1, sampling="log")
wide.Int("units", 2, 8)
wide.Choice("activation", ["relu", "tanh"])
wide.Boolean("bias")
first = tuner("CloudTuner_wide", wide, max_trials=2)
found = search(first)
print(">", sorted(first.get_best_hyperparameters()[0].values))
print(">", first.oracle.get_best_trials()[0].score == best(found))
print(">", len(search(tuner("CloudTuner_wide", wide, max_trials=3))))

small = hyperparameters.HyperParameters()
small.Choice("rate", [0.01, 0.1])
small.Fixed("units", 4)
small.Fixed("activation", "relu")
small.Fixed("bias", True)
search(tuner("CloudTuner_small", small))
service = first.oracle.service
print(">", sorted(each["name"].rpartition("/")[2] for each in service.list_studies()))
service.delete_study()
try:
    service.delete_study()
except ValueError as error:
    print(">", error)
"""


@pytest.fixture
def python() -> str:
    return environment_of("tensorflow-cloud-0.1.16")


def test_cloud_tuner_tunes(
    python: str, footplate: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """A study that is there is gone on with, and one whose every point was tried ends."""
    script = tmp_path / "tune.py"
    script.write_text(SCRIPT)
    done = footplate("run", "--", python, script)
    assert done.returncode == 0, done.stderr
    assert [line[2:] for line in done.stdout.splitlines() if line.startswith("> ")] == [
        "['COMPLETED', 'COMPLETED']",
        "['activation', 'bias', 'rate', 'units']",
        "True",
        "['COMPLETED', 'COMPLETED', 'COMPLETED']",
        "3",
        "['COMPLETED', 'COMPLETED']",
        "['CloudTuner_small', 'CloudTuner_wide']",
        f"DeleteStudy failed. Study not found: {STUDIES}/CloudTuner_wide.",
    ]
