"""TensorFlow's own ``gs://`` under ``footplate run``: run by tests/support/own_process.py."""

from __future__ import annotations

import time

import tensorflow as tf  # type: ignore[import-untyped]  # the runtime has it

files = tf.io.gfile
ROOT = "gs://stage/tensors"


def write(path: str, text: str) -> None:
    with files.GFile(path, "w") as file:
        file.write(text)


def case_files() -> None:
    files.makedirs(f"{ROOT}/files")
    write(f"{ROOT}/files/a b.txt", "hello\nworld\n")
    assert files.exists(f"{ROOT}/files/a b.txt")
    assert not files.exists(f"{ROOT}/files/c")
    assert files.listdir(f"{ROOT}/files") == ["a b.txt"]
    assert files.stat(f"{ROOT}/files/a b.txt").length == 12
    assert files.isdir(f"{ROOT}/files")
    with files.GFile(f"{ROOT}/files/a b.txt", "rb") as file:
        file.seek(3)
        assert file.read(4) == b"lo\nw"


def case_names_are_changed_copied_and_removed() -> None:
    write(f"{ROOT}/names/a", "x")
    files.rename(f"{ROOT}/names/a", f"{ROOT}/names/b.txt")
    files.copy(f"{ROOT}/names/b.txt", f"{ROOT}/names/c.txt")
    assert files.glob(f"{ROOT}/names/*.txt") == [f"{ROOT}/names/{name}.txt" for name in "bc"]
    files.rmtree(f"{ROOT}/names")
    assert not files.exists(f"{ROOT}/names/b.txt")  # folders TensorFlow remembers for seconds


def case_an_object_of_many_parts() -> None:
    content = bytes(range(256)) * (20 << 12)
    with files.GFile(f"{ROOT}/large", "wb") as written:
        written.write(content)
    with files.GFile(f"{ROOT}/large", "rb") as read:
        assert read.read() == content


def case_datasets() -> None:
    write(f"{ROOT}/lines.txt", "1\n2\n")
    found = tf.data.TextLineDataset(f"{ROOT}/lines.txt").as_numpy_iterator()
    assert list(found) == [b"1", b"2"]
    with tf.io.TFRecordWriter(f"{ROOT}/records") as writer:
        writer.write(b"record")
    found = tf.data.TFRecordDataset(f"{ROOT}/records").as_numpy_iterator()
    assert list(found) == [b"record"]


def case_checkpoints_and_summaries() -> None:
    checkpoint = tf.train.Checkpoint(value=tf.Variable(3.0))
    path = checkpoint.save(f"{ROOT}/checkpoints/model")
    assert tf.train.latest_checkpoint(f"{ROOT}/checkpoints") == path
    checkpoint.value.assign(0.0)
    checkpoint.restore(path)
    assert checkpoint.value.numpy() == 3.0
    writer = tf.summary.create_file_writer(f"{ROOT}/logs")
    with writer.as_default(step=1):
        tf.summary.write("loss", 0.5)
    writer.close()
    (events,) = files.listdir(f"{ROOT}/logs")
    assert files.stat(f"{ROOT}/logs/{events}").length > 0


def case_a_bucket_that_does_not_exist_is_an_error_at_once() -> None:
    begun = time.monotonic()
    for ask in (files.listdir, tf.io.read_file):
        try:
            ask("gs://no-such-bucket/x")
        except tf.errors.NotFoundError:
            continue
        raise AssertionError("found")
    assert time.monotonic() - begun < 60  # it would repeat what can't be resolved for minutes
