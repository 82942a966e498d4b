"""Real TensorFlows write event files, and the supervisor's reader finds their scalars."""

from __future__ import annotations

import math
from pathlib import Path

from footplate.domain.replica_records import MetricRecord, Record
from footplate.domain.runtimes import Runtime, Runtimes
from footplate.replica.journal import Journal
from footplate.replica.metrics.metric_records import MetricRecords
from footplate.replica.metrics.watcher import Scanner
from footplate.replica.spool import Spool
from footplate.wire.replica_v1 import decode_reports
from tests.e2e.runtimes.test_runtimes import prepare, run
from tests.support.environments import Bench

TYPES = """
import tensorflow as tf
kinds = "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
with tf.summary.create_file_writer("logs").as_default():
    for step, kind in enumerate(kinds.split()):
        tf.summary.write("m", tf.cast(3, getattr(tf, kind)), step)
        tf.summary.scalar("scalar", tf.cast(3, getattr(tf, kind)), step)
    tf.summary.histogram("histogram", tf.ones(4), 1)
    tf.summary.text("text", "hello", 1)
    tf.summary.write("list", tf.ones(1), 1)
"""
ESTIMATOR = """
import tensorflow as tf

def data():
    return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[0.0], [1.0]])).repeat()

def my_metric(labels, predictions):
    predicted = predictions["predictions"]
    return {"metric1": tf.compat.v1.metrics.root_mean_squared_error(labels, predicted)}

columns = [tf.feature_column.numeric_column("x")]
estimator = tf.estimator.LinearRegressor(columns, model_dir="out")
estimator = tf.estimator.add_metrics(estimator, my_metric)
tf.estimator.train_and_evaluate(
    estimator, tf.estimator.TrainSpec(data, max_steps=5), tf.estimator.EvalSpec(data, steps=1)
)
writer = tf.compat.v1.summary.FileWriter("own")
for step, value in enumerate([0.5, float("nan")]):
    writer.add_summary(tf.compat.v1.Summary(value=[dict(tag="my tag", simple_value=value)]), step)
writer.close()
"""


def find(folder: Path, *tags: str) -> tuple[Record, ...]:
    """What the server would get of all that lies in ``folder``."""
    spool = Spool(str(folder.with_name("spool")), 1 << 26)
    findings = MetricRecords(Journal(spool, 1 << 26, lambda: 1.0), tags)
    for _ in Scanner([str(folder)], findings).look(math.inf):
        pass
    findings.conclude()
    body = spool.read(1 << 26).body
    spool.clear()
    return decode_reports(b'{"records":[' + body + b"]}")


def metrics(folder: Path, *tags: str) -> list[MetricRecord]:
    return [record for record in find(folder, *tags) if isinstance(record, MetricRecord)]


def train(bench: Bench, runtime: Runtime, code: str, tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    run(prepare(bench, runtime), f"import os\nos.chdir({str(work)!r})\n{code}", tmp_path)
    return work


def tensorflow_2(runtimes: Runtimes) -> Runtime:
    found = runtimes.resolve("version:2.21", "")
    return Runtime(found.name, found.python, found.cpu[-1:])


def test_scalars_of_every_type(bench: Bench, runtimes: Runtimes, tmp_path: Path) -> None:
    work = train(bench, tensorflow_2(runtimes), TYPES, tmp_path)
    found = metrics(work, "m", "scalar", "text", "list", "histogram")
    told = [(record.tag, record.step, record.value) for record in found]
    expected = [(tag, step, 3.0) for step in range(12) for tag in ("m", "scalar")]
    assert told == expected
    (tags,) = find(work, "none")
    assert getattr(tags, "tags", ()) == ("m", "scalar")


def test_an_estimator_of_tensorflow_1(bench: Bench, runtimes: Runtimes, tmp_path: Path) -> None:
    work = train(bench, runtimes.resolve("version:1.15", ""), ESTIMATOR, tmp_path)
    (evaluated,) = metrics(work, "metric1")
    assert (evaluated.source, evaluated.step) == ("out/eval", 5)
    first, last = metrics(work, "my tag")
    assert (first.source, first.step, first.value, last.step) == ("own", 0, 0.5, 1)
    assert math.isnan(last.value)
    losses = {record.source for record in metrics(work, "loss")}
    assert losses == {"out", "out/eval"}
