"""Trials of an Estimator on a cluster, whose evaluator lags behind its chief."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.domain.job_states import State
from footplate.testing.service import running_service
from tests.e2e.frameworks.conftest import Clusters
from tests.e2e.service.conftest import CACHE
from tests.e2e.service.tuning_helpers import curve, trials
from tests.support.trainers import SETUP

LAST = 40
"""The step of the last checkpoint."""
THROTTLE_S = 45
"""From one evaluation to the next: nine times as long as evaluators may stay."""
REQUIRES = ["tensorflow-cpu==2.15.1"]
"""The last one with Estimators. Its own runtime has Python 3.10, which machines may lack."""
TRAINER = f"""
import argparse, glob, os, time
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--job-dir", type=lambda uri: uri.replace("gs://", "/gcs/"))
parser.add_argument("--rate", type=float)
given = parser.parse_args()
tf.config.threading.set_intra_op_parallelism_threads(1)

class FirstEvaluation(tf.estimator.SessionRunHook):
    '''The chief waits for an evaluation of an earlier checkpoint.'''
    def after_run(self, context, values):
        while not glob.glob(os.path.join(given.job_dir, "eval", "events.*")):
            time.sleep(0.2)

def read():
    rows = {{"x": [[1.0], [2.0]]}}, [[0.0], [1.0]]
    return tf.data.Dataset.from_tensors(rows).repeat()

def metric(labels, predictions):
    found = predictions["predictions"]
    return {{"metric1": tf.compat.v1.metrics.root_mean_squared_error(labels, found)}}

config = tf.estimator.RunConfig(given.job_dir, save_checkpoints_steps={LAST})
columns = [tf.feature_column.numeric_column("x")]
estimator = tf.estimator.LinearRegressor(columns, config=config)
estimator = tf.estimator.add_metrics(estimator, metric)
hooks = [FirstEvaluation()] if config.is_chief else []
train = tf.estimator.TrainSpec(read, max_steps={LAST}, hooks=hooks)
test = tf.estimator.EvalSpec(read, steps=1, start_delay_secs=0, throttle_secs={THROTTLE_S})
tf.estimator.train_and_evaluate(estimator, train, test)
"""
CLUSTER = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-standard-4",
    "parameterServerType": "n1-standard-4",
    "parameterServerCount": "1",
    "evaluatorType": "n1-standard-4",
    "evaluatorCount": "1",
}
RATE = {"parameterName": "rate", "type": "DOUBLE", "minValue": 0.1, "maxValue": 1}
SEARCH = {
    "goal": "MINIMIZE",
    "hyperparameterMetricTag": "metric1",
    "maxTrials": 1,
    "params": [RATE],
}


@pytest.fixture
def clusters(tmp_path: Path) -> Iterator[Clusters]:
    """Evaluators that have nothing to evaluate are stopped soon."""
    settings = {"stop_grace_s": 1, "evaluator_grace_s": 5}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        yield Clusters(service)


def test_the_metric_of_a_trial_is_of_its_last_checkpoint(clusters: Clusters) -> None:
    """The evaluator comes to it long after the chief has ended."""
    setup = SETUP.format(requires=REQUIRES)
    name = clusters.submit(TRAINER, setup=setup, hyperparameters=SEARCH, **CLUSTER)
    job = clusters.wait_for(name)
    assert job.state is State.SUCCEEDED, (job.error_message, clusters.messages(name)[-40:])

    (trial,) = trials(clusters, name)
    assert trial.final is not None
    steps = [each.step for each in curve(clusters, name, 1)]
    assert len(steps) > 1, steps
    assert trial.final.step == steps[-1] == LAST
