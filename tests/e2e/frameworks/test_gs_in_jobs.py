"""TensorFlow's own ``gs://`` in jobs, by versions 2 and 1, and who else its key lets in."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import httpx
import pytest

from footplate.domain.job_states import State
from footplate.replica.isolation import levels
from footplate.testing.service import running_service
from tests.e2e.frameworks.conftest import Clusters
from tests.e2e.service.conftest import BUCKET, CACHE
from tests.support.requirements import require_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.names import TrainingJobName

CI = os.environ.get("CI") == "true"
VERSIONS = [("2.21", "3.11"), ("1.15", "3.7")]
"""Of TensorFlow's runtimes, and of Python."""
TRAINER = """
import argparse, time
import tensorflow as tf

tf.compat.v1.enable_eager_execution()
files = tf.io.gfile
parser = argparse.ArgumentParser()
parser.add_argument("--root")
root = parser.parse_known_args()[0].root

def write(path, text):
    with files.GFile(path, "w") as file:
        file.write(text)

files.makedirs(root + "/data")
write(root + "/data/a b.csv", "1,2\\n3,4\\n")
assert files.exists(root + "/data/a b.csv")
assert files.listdir(root + "/data") == ["a b.csv"]
files.rename(root + "/data/a b.csv", root + "/data/c.csv")
assert files.glob(root + "/data/*.csv") == [root + "/data/c.csv"]
lines = [line.numpy() for line in tf.data.TextLineDataset(root + "/data/c.csv")]
assert lines == [b"1,2", b"3,4"], lines

checkpoint = tf.train.Checkpoint(value=tf.Variable(3.0))
path = checkpoint.save(root + "/checkpoints/model")
assert tf.train.latest_checkpoint(root + "/checkpoints") == path
checkpoint.value.assign(0.0)
checkpoint.restore(path)
assert checkpoint.value.numpy() == 3.0

writer = tf.compat.v2.summary.create_file_writer(root + "/logs")
with writer.as_default():
    tf.compat.v2.summary.scalar("loss", 0.5, step=1)
writer.close()

begun = time.time()
try:
    files.GFile("gs://no-such-bucket/x").read()
except tf.errors.NotFoundError as error:
    print("MISSING", error)
try:
    files.GFile("gs://theirs/x").read()
except tf.errors.OpError as error:
    print("FOREIGN", type(error).__name__, error)
assert time.time() - begun < 60  # what can't be resolved is repeated for minutes
print("VERSION", tf.__version__)
"""


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    data_dir = tmp_path_factory.mktemp("gs-in-jobs") / "data"
    with running_service(data_dir, CACHE, stop_grace_s=1) as service:
        found = Clusters(service)
        with found.client() as client:
            client.storage.create_bucket("other", "theirs")
        yield found


@pytest.mark.parametrize(("version", "python"), VERSIONS)
def test_gs(clusters: Clusters, version: str, python: str) -> None:
    root = f"gs://{BUCKET}/tensors/{version}"
    name = clusters.submit(TRAINER, f"--root={root}", runtimeVersion=version, pythonVersion=python)
    job = clusters.wait_for(name)
    said = clusters.messages(name)
    require_python(job.error_message)
    if version == "1.15" and levels.HOST_VIEW.missing in isolation(clusters, name):
        require_view(seen=False)
    assert job.state is State.SUCCEEDED, (job.error_message, said)

    assert any(line.startswith(f"VERSION {version}") for line in said)
    assert any(line.startswith("MISSING") and "no-such-bucket" in line for line in said)
    assert any(line.startswith("FOREIGN PermissionDeniedError") for line in said)
    written = clusters.bucket / "tensors" / version
    assert (written / "data" / "c.csv").read_text() == "1,2\n3,4\n"
    assert (written / "checkpoints" / "checkpoint").is_file()
    (events,) = (written / "logs").iterdir()
    assert events.stat().st_size > 0


def test_nothing_else_was_asked_for(clusters: Clusters) -> None:
    answer = httpx.get(f"{clusters.service.url}/footplate/v1/proxy").json()
    assert answer["refusedHosts"] == []


def require_python(message: str | None) -> None:
    """Skip a test whose job failed by ``message`` because this machine lacks its Python."""
    if not CI and re.search(r"Python \S+, which .* needs, isn't on this", message or ""):
        pytest.skip(message or "")


def isolation(clusters: Clusters, name: TrainingJobName) -> str:
    return "\n".join(event.message for event in clusters.events(name, "ISOLATION"))
