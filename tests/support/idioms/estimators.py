"""Programs of TensorFlow 1.15 with estimators, whose ``model_dir`` is the job's directory."""

from __future__ import annotations

import os

import tensorflow as tf  # type: ignore[import-untyped]  # the runtime has it
from tensorflow.python.lib.io import file_io  # type: ignore[import-untyped]  # that, too

ROOT = os.environ["IDIOMS_ROOT"]
COLUMNS = [tf.feature_column.numeric_column("x")]


def read():  # type: ignore[no-untyped-def]  # a data set
    return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[0], [1]])).repeat()


def case_estimator() -> None:
    estimator = tf.estimator.LinearClassifier(COLUMNS, model_dir=f"{ROOT}/estimator")
    train = tf.estimator.TrainSpec(read, max_steps=5)
    tf.estimator.train_and_evaluate(estimator, train, tf.estimator.EvalSpec(read, steps=1))
    assert estimator.latest_checkpoint() == f"{ROOT}/estimator/model.ckpt-5"
    features = tf.feature_column.make_parse_example_spec(COLUMNS)
    serving = tf.estimator.export.build_parsing_serving_input_receiver_fn(features)
    exported = estimator.export_saved_model(f"{ROOT}/estimator/export", serving).decode()
    assert tf.io.gfile.exists(f"{exported}/saved_model.pb")


def case_gfile_of_1() -> None:
    with tf.gfile.Open(f"{ROOT}/gfile_of_1/a", "w") as file:
        file.write("m")
    assert tf.gfile.ListDirectory(f"{ROOT}/gfile_of_1") == ["a"]
    assert file_io.file_exists(f"{ROOT}/gfile_of_1/a")
