"""Every runtime is really made here, and does what its trainers need."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from footplate.domain.runtimes import Runtime, Runtimes
from tests.support.environments import Bench, Outcome, make_sdist

PREFIX = "us-docker.pkg.dev/vertex-ai/training/"
CI = os.environ.get("CI") == "true"

STORAGE_AND_HYPERTUNE = """
import gcsfs, google.cloud.storage, hypertune, pandas, requests, yaml
reporter = hypertune.HyperTune()
reporter.report_hyperparameter_tuning_metric("accuracy", 0.9, 1)
"""
SKLEARN = """
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
x, y = load_iris(return_X_y=True)
print(round(LogisticRegression(max_iter=1000).fit(x, y).score(x, y), 1))
"""
XGBOOST = """
import numpy, xgboost
data = xgboost.DMatrix(numpy.eye(8), label=numpy.arange(8) % 2)
print(xgboost.train({"max_depth": 2}, data, num_boost_round=2).predict(data).shape)
"""
TENSORFLOW = """
import pathlib, sys, tempfile
import tensorflow as tf
directory = tempfile.mkdtemp()
with tf.summary.create_file_writer(directory).as_default():
    tf.summary.scalar("accuracy", 0.5, step=1)
assert list(pathlib.Path(directory).iterdir())
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(tf.ones((8, 2)), tf.ones((8, 1)), verbose=0)
print(tf.__version__, tf.keras.__version__)
"""
LEGACY_KERAS = "import tensorflow as tf; print(tf.keras.Model.__module__)"
TENSORFLOW_1 = """
import sys, tempfile
import tensorflow as tf
assert sys.version_info[:2] == (3, 7)
columns = [tf.feature_column.numeric_column("x")]
estimator = tf.estimator.LinearClassifier(columns, model_dir=tempfile.mkdtemp())
def data():
    return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[0], [1]])).repeat()
tf.estimator.train_and_evaluate(
    estimator, tf.estimator.TrainSpec(data, max_steps=5), tf.estimator.EvalSpec(data, steps=1)
)
print(tf.__version__)
"""
TORCH = """
import tempfile
import torch
from torch.utils.tensorboard import SummaryWriter
weight = torch.ones(2, requires_grad=True)
(weight * torch.arange(2.0)).sum().backward()
with SummaryWriter(tempfile.mkdtemp()) as writer:
    writer.add_scalar("loss", 0.5, 1)
print(torch.__version__, weight.grad.tolist(), torch.cuda.is_available())
"""


def prepare(bench: Bench, runtime: Runtime, *packages: Path, module: str = "trainer") -> Outcome:
    outcome = bench.prepare(bench.make_home(runtime, *packages, module=module))
    if re.match(r"Python \S+, which .* needs, isn't on this machine", outcome.error) and not CI:
        pytest.skip(outcome.error)
    assert outcome.code == 0, outcome
    return outcome


def run(outcome: Outcome, code: str, tmp_path: Path, **variables: str) -> str:
    """Its metrics go to a file of the test, its warnings nowhere."""
    metrics = {"CLOUD_ML_HP_METRIC_FILE": str(tmp_path / "metrics")}
    return outcome.run(code, **metrics, PYTHONWARNINGS="ignore", **variables)


def test_scikit_learn_and_xgboost(bench: Bench, runtimes: Runtimes, tmp_path: Path) -> None:
    outcome = prepare(
        bench, runtimes.resolve(f"image:{PREFIX}sklearn-cpu.1-9.py311:latest", "image")
    )
    run(outcome, STORAGE_AND_HYPERTUNE, tmp_path)
    assert (tmp_path / "metrics").exists()
    assert run(outcome, SKLEARN, tmp_path) == "1.0"
    assert run(outcome, XGBOOST, tmp_path) == "(8,)"


def test_an_image_that_google_no_longer_has(
    bench: Bench, runtimes: Runtimes, tmp_path: Path
) -> None:
    trainer = make_sdist(
        tmp_path, "trainer", files={"trainer.py": SKLEARN}, requires=["scikit-learn<1.1", "xgboost"]
    )
    image = f"image:{PREFIX}scikit-learn-cpu.1-0:latest"
    outcome = prepare(bench, runtimes.resolve(image, "image"), trainer)
    assert run(outcome, "import trainer", tmp_path) == "1.0"
    assert run(outcome, XGBOOST, tmp_path) == "(8,)"
    run(outcome, STORAGE_AND_HYPERTUNE, tmp_path)
    versions = "import sklearn, sys, xgboost; print(sklearn.__version__, xgboost.__version__)"
    assert run(outcome, versions, tmp_path) == "1.0.2 1.6.2"


def test_a_trainer_that_needs_no_tensorflow_gets_the_small_slice(
    bench: Bench, runtimes: Runtimes, tmp_path: Path
) -> None:
    trainer = make_sdist(
        tmp_path, "trainer", files={"trainer.py": SKLEARN}, requires=["scikit-learn", "xgboost"]
    )
    outcome = prepare(bench, runtimes.resolve("version:", ""), trainer)
    assert outcome.messages[-1].startswith("installed the scikit-learn part of runtime")
    assert run(outcome, "import trainer", tmp_path) == "1.0"
    image = runtimes.resolve(f"image:{PREFIX}sklearn-cpu.1-9.py311:latest", "image")
    assert prepare(bench, image).result["bin"] == outcome.result["bin"][1:]


def test_tensorflow(bench: Bench, runtimes: Runtimes, tmp_path: Path) -> None:
    trainer = make_sdist(
        tmp_path, "trainer", files={"trainer.py": TENSORFLOW}, requires=["tensorflow>=2.12"]
    )
    outcome = prepare(bench, runtimes.resolve("version:2.21", ""), trainer)
    assert "names keras" in outcome.messages[-1]
    assert run(outcome, "import trainer", tmp_path).startswith("2.21.0 3.")
    assert run(outcome, LEGACY_KERAS, tmp_path, TF_USE_LEGACY_KERAS="1").startswith("tf_keras")
    run(outcome, STORAGE_AND_HYPERTUNE, tmp_path)
    script = "import subprocess; subprocess.run(['tensorboard', '--version'], check=True)"
    assert run(outcome, script, tmp_path) == "2.21.0"


def test_slices_say_all_that_they_lack(bench: Bench, runtimes: Runtimes, tmp_path: Path) -> None:
    """A word for each module of the whole runtime that the slice hasn't got."""
    runtime = runtimes.resolve("version:2.21", "")
    small, whole = (Runtime(runtime.name, runtime.python, (piece,)) for piece in runtime.cpu)
    lacking = find_modules(bench, whole, tmp_path) - find_modules(bench, small, tmp_path)
    assert "tensorflow" in lacking
    assert sorted(lacking - set(runtime.cpu[0].unless)) == []


def find_modules(bench: Bench, runtime: Runtime, tmp_path: Path) -> set[str]:
    code = (
        "import pkgutil, site\n"
        "print(*(m.name for m in pkgutil.iter_modules(site.getsitepackages())))"
    )
    names = run(prepare(bench, runtime), code, tmp_path).split()
    return {name for name in names if not name.startswith("_")}


def test_pytorch(bench: Bench, runtimes: Runtimes, tmp_path: Path) -> None:
    """The build for the CPU, which not every index has: the one with CUDA is gigabytes."""
    found = runtimes.resolve(f"image:{PREFIX}pytorch-cpu.2-13.py311:latest", "image")
    runtime = Runtime(found.name, found.python, found.cpu[:1])
    trainer = make_sdist(tmp_path, "trainer", files={"trainer.py": TORCH}, requires=["torch>=2"])
    outcome = bench.prepare(bench.make_home(runtime, trainer, module="trainer"))
    if "this machine's package indexes don't have" in outcome.error and not CI:
        pytest.skip(outcome.error)
    assert outcome.code == 0, outcome
    assert run(outcome, "import trainer", tmp_path) == "2.13.0+cpu [0.0, 1.0] False"
    script = (
        "import subprocess\n"
        "subprocess.run(['torchrun', '--no-python', 'python', '-c', "
        "'import sys; print(sys.prefix)'], check=True)"
    )
    layer = outcome.python.removesuffix("/bin/python")
    assert layer in run(outcome, script, tmp_path).splitlines()


def test_runtime_1_15(bench: Bench, runtimes: Runtimes, tmp_path: Path) -> None:
    trainer = make_sdist(
        tmp_path,
        "trainer",
        files={"trainer.py": TENSORFLOW_1},
        requires=["tensorflow-gpu==1.15.0", "scikit-learn>=0.20"],
    )
    outcome = prepare(bench, runtimes.resolve("version:1.15", ""), trainer)
    assert any("tensorflow-gpu==1.15.0 of" in message for message in outcome.messages)
    assert run(outcome, "import trainer", tmp_path).splitlines()[-1] == "1.15.5"
    assert run(outcome, SKLEARN, tmp_path) == "1.0"
    assert run(outcome, XGBOOST, tmp_path) == "(8,)"
    run(outcome, STORAGE_AND_HYPERTUNE, tmp_path)
