"""Programs of Keras, 2 and 3, which save as Google's samples do."""

from __future__ import annotations

import os
from typing import Any

import keras  # type: ignore[import-not-found]  # the runtime has it
import tensorflow as tf  # type: ignore[import-untyped]  # the runtime has it
import tf_keras  # type: ignore[import-not-found]  # the runtime has it

ROOT = os.environ["IDIOMS_ROOT"]


def fit(version: Any, *callbacks: Any) -> Any:
    model = version.Sequential([version.layers.Dense(1)])
    model.compile(loss="mse")
    model.fit(tf.ones((8, 2)), tf.ones((8, 1)), verbose=0, callbacks=list(callbacks))
    return model


def case_keras_file() -> None:
    fit(keras).save(f"{ROOT}/keras_file/model.keras")
    assert keras.models.load_model(f"{ROOT}/keras_file/model.keras").count_params() == 3


def case_keras_export() -> None:
    fit(keras).export(f"{ROOT}/keras_export")


def case_keras_2_folder() -> None:
    fit(tf_keras).save(f"{ROOT}/keras_2_folder")
    assert tf_keras.models.load_model(f"{ROOT}/keras_2_folder").count_params() == 3


def case_keras_board() -> None:
    fit(keras, keras.callbacks.TensorBoard(f"{ROOT}/keras_board"))


def case_keras_checkpoints() -> None:
    fit(keras, keras.callbacks.ModelCheckpoint(f"{ROOT}/keras_checkpoints/model.keras"))
