"""A program of TensorFlow that opens the bucket ``theirs``, which another project has."""

from __future__ import annotations

import tensorflow as tf  # type: ignore[import-untyped]  # the runtime has it


def case_refuses_a_bucket_of_another_project() -> None:
    try:
        tf.io.gfile.GFile("gs://theirs/x").read()
    except tf.errors.PermissionDeniedError:
        return
    raise AssertionError("read")
