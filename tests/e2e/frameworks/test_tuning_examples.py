"""Google's examples of reporting a metric, as they stand on its page, in tuning jobs.

What the page leaves to the reader (``...``) is filled in, and its typing errors are corrected; each
replacement is checked, so that the rest runs verbatim.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import JobName
from footplate.wire.footplate_v1.trials import Trial
from tests.e2e.frameworks.conftest import Clusters
from tests.e2e.service.tuning_helpers import curve, told, trials

PAGES = Path(__file__).resolve().parents[4] / "shared" / "seeds"
CI = os.environ.get("CI") == "true"
ARGUMENTS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--job-dir", type=lambda uri: uri.replace("gs://", "/gcs/"))
parser.add_argument("--rate", type=float)
arguments = parser.parse_args()
"""
KERAS_DATA = """
from datetime import datetime
import numpy as np, tensorflow as tf
x_train = np.ones((640, 784), "float32")
y_train = np.arange(640, dtype="float32")  # equal inputs: no fit is without an error
"""
KERAS_LAYER = "tf.keras.layers.Dense(1, activation='linear', input_dim=784)"
ESTIMATOR_DATA = """
import tensorflow as tf

def data():
    return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[0.0], [1.0]])).repeat()

columns = [tf.feature_column.numeric_column("x")]
"""
ESTIMATOR_CALL = "\ntrain_and_evaluate(arguments.job_dir)\n"
ESTIMATOR_GAPS = {
    "DNNLinearCombinedRegressor(...)": (
        "DNNLinearCombinedRegressor(output_dir, linear_feature_columns=columns, "
        "dnn_feature_columns=columns, dnn_hidden_units=[4])"
    ),
    "train_spec = ...": "train_spec = tf.estimator.TrainSpec(data, max_steps=10)",
    "tf.estimator.EvalSpec(\n": "tf.estimator.EvalSpec(\n        data, steps=1,\n",
    "\n        ...)": "\n    )",
}


def read_example(begin: str, end: str, replacements: Mapping[str, str]) -> str:
    """From the first ``begin`` on to the ``end`` after it, with what is to be replaced."""
    pages = sorted(PAGES.glob("002*"))
    if not pages:
        pytest.skip("the documentation with the examples isn't here")
    text = pages[0].read_text()
    start = text.index(begin)
    example = text[start : text.index(end, start)] + end
    for old, new in replacements.items():
        assert example.count(old) == 1, old
        example = example.replace(old, new)
    return example


def search() -> dict[str, object]:
    rate = {"parameterName": "rate", "type": "DOUBLE", "minValue": 0.1, "maxValue": 1}
    return {
        "goal": "MINIMIZE",
        "hyperparameterMetricTag": "metric1",
        "maxTrials": 2,
        "maxParallelTrials": 2,
        "params": [rate],
    }


def tune(clusters: Clusters, source: str, runtime: str) -> tuple[JobName, list[Trial]]:
    name = clusters.submit(ARGUMENTS + source, runtimeVersion=runtime, hyperparameters=search())
    job = clusters.wait_for(name)
    if (
        re.search(r"Python \S+, which .* needs, isn't on this machine", job.error_message)
        and not CI
    ):
        pytest.skip(job.error_message)
    assert job.state is State.SUCCEEDED, job.error_message
    return name, trials(clusters, name)


def test_the_example_for_keras(clusters: Clusters) -> None:
    """Its layer isn't a list, which Keras 3 insists on."""
    example = read_example(
        "class MyMetricCallback",
        "callbacks=[MyMetricCallback()])",
        {KERAS_LAYER: f"[{KERAS_LAYER}]"},
    )
    name, found = tune(clusters, KERAS_DATA + example, "2.21")
    assert [t.state for t in found] == ["SUCCEEDED"] * 2
    measured = curve(clusters, name, 1)
    assert [each.step for each in measured] == list(range(10))
    assert all(each.values["metric1"] > 0 for each in measured)
    (source,) = {each.source for each in measured}
    assert source.startswith("logs/scalars/2")
    assert source.endswith("/metrics")


def test_the_example_for_estimators_on_a_lone_replica(clusters: Clusters) -> None:
    """Of runtime 1.15; it evaluates only where TF_CONFIG doesn't describe a cluster of a chief."""
    example = read_example(
        "# Create metric for hyperparameter tuning",
        "tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)",
        ESTIMATOR_GAPS,
    )
    name, found = tune(clusters, ESTIMATOR_DATA + example + ESTIMATOR_CALL, "1.15")
    assert [(t.state, t.final.step if t.final else None) for t in found] == [("SUCCEEDED", 10)] * 2
    assert told(clusters, name, "TRIAL_FAILED") == []
