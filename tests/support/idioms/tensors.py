"""Programs of TensorFlow, 1.15 or 2."""

from __future__ import annotations

import os
import time

import tensorflow as tf  # type: ignore[import-untyped]  # the runtime has it

tf.compat.v1.enable_eager_execution()
files = tf.io.gfile
ROOT = os.environ["IDIOMS_ROOT"]


def write(path: str, text: str) -> None:
    with files.GFile(path, "w") as file:
        file.write(text)


def case_gfile() -> None:
    folder = f"{ROOT}/gfile"
    files.makedirs(folder)
    write(f"{folder}/a b.txt", "hello\nworld\n")
    assert files.exists(f"{folder}/a b.txt")
    assert not files.exists(f"{folder}/c")
    assert files.listdir(folder) == ["a b.txt"]
    assert files.stat(f"{folder}/a b.txt").length == 12
    assert files.isdir(folder)
    with files.GFile(f"{folder}/a b.txt", "rb") as file:
        file.seek(3)
        assert file.read(4) == b"lo\nw"


def case_gfile_renames_copies_and_removes() -> None:
    folder = f"{ROOT}/gfile_renames_copies_and_removes"
    for place in (folder, f"{folder}/removed"):
        write(f"{place}/a", "x")
        files.rename(f"{place}/a", f"{place}/b.txt")
        files.copy(f"{place}/b.txt", f"{place}/c.txt")
        assert files.glob(f"{place}/*.txt") == [f"{place}/{name}.txt" for name in "bc"]
    files.rmtree(f"{folder}/removed")
    assert not files.exists(f"{folder}/removed/b.txt")  # it remembers folders for seconds


def case_gfile_of_many_parts() -> None:
    content = bytes(range(256)) * (20 << 12)
    with files.GFile(f"{ROOT}/gfile_of_many_parts", "wb") as written:
        written.write(content)
    with files.GFile(f"{ROOT}/gfile_of_many_parts", "rb") as read:
        assert read.read() == content


def case_datasets() -> None:
    write(f"{ROOT}/datasets/lines.txt", "1\n2\n")
    found = tf.data.TextLineDataset(f"{ROOT}/datasets/lines.txt")
    assert [line.numpy() for line in found] == [b"1", b"2"]
    with tf.io.TFRecordWriter(f"{ROOT}/datasets/records") as writer:
        writer.write(b"record")
    found = tf.data.TFRecordDataset(f"{ROOT}/datasets/records")
    assert [record.numpy() for record in found] == [b"record"]


def case_checkpoints() -> None:
    checkpoint = tf.train.Checkpoint(value=tf.Variable(3.0))
    path = checkpoint.save(f"{ROOT}/checkpoints/model")
    assert tf.train.latest_checkpoint(f"{ROOT}/checkpoints") == path
    checkpoint.value.assign(0.0)
    checkpoint.restore(path)
    assert checkpoint.value.numpy() == 3.0


def case_summaries() -> None:
    writer = tf.compat.v2.summary.create_file_writer(f"{ROOT}/summaries")
    with writer.as_default():
        tf.compat.v2.summary.scalar("loss", 0.5, step=1)
    writer.close()
    (events,) = files.listdir(f"{ROOT}/summaries")
    assert files.stat(f"{ROOT}/summaries/{events}").length > 0


def case_saved_model() -> None:
    module = tf.Module()
    module.double = tf.function(lambda x: 2 * x, [tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(module, f"{ROOT}/saved_model")
    assert tf.compat.v2.saved_model.load(f"{ROOT}/saved_model").double(2.0).numpy() == 4.0


def case_refuses_a_bucket_that_does_not_exist_at_once() -> None:
    begun = time.time()
    for ask in (files.listdir, lambda path: files.GFile(path).read()):
        try:
            ask("gs://no-such-bucket/x")
        except tf.errors.NotFoundError:
            continue
        raise AssertionError("found")
    assert time.time() - begun < 60  # it would repeat what can't be resolved for minutes
