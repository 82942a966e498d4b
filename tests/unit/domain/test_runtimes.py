"""Names that jobs use for runtimes."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument, NotFound
from footplate.domain.runtimes import Offer, Runtime, Runtimes, Slice, is_prebuilt

SMALL = Slice("small", "a" * 64, unless=("tensorflow",))
FULL = Slice("full", "b" * 64)
TENSORFLOW = Runtime("2.21", "3.11", cpu=(SMALL, FULL), gpu=(FULL,))
OLD = Runtime("1.15", "3.7", cpu=(FULL,))
PYTORCH = Runtime("PyTorch 2.13", "3.11", cpu=(FULL,), gpu=(FULL,))
RUNTIMES = Runtimes(
    offers=(
        Offer(TENSORFLOW, ("2.21",), ("tf-cpu.2-21.py311", "tf-gpu.2-21.py311")),
        Offer(PYTORCH, (), ("pytorch-gpu.2-13.py311",)),
        Offer(OLD, ("1.15",), ("tf-cpu.1-15.py37",)),
    ),
    default="2.21",
    locks={"b" * 64: "numpy==1"},
)
PREFIX = "us-docker.pkg.dev/vertex-ai/training/"


@pytest.mark.parametrize(
    ("requested", "runtime"),
    [
        ("version:2.21", TENSORFLOW),
        ("version:", TENSORFLOW),
        ("version:1.15", OLD),
        ("version:1.15/3.7", OLD),
        ("version:/3.7", OLD),
        ("version:2.21/", TENSORFLOW),
        (f"image:{PREFIX}tf-gpu.2-21.py311:latest", TENSORFLOW),
        (f"image:{PREFIX}tf-gpu.2-21", TENSORFLOW),
        ("image:gcr.io/cloud-aiplatform/training/pytorch-gpu.2-13.py311:x", PYTORCH),
        ("image@masterConfig.imageUri:gcr.io/cloud-ml-public/training/pytorch-gpu.2-13", PYTORCH),
        (f"image:europe-docker.{PREFIX.partition('.')[2]}tf-cpu.1-15:latest", OLD),
        (f"image:{PREFIX}tf-gpu.2-21.py311@sha256:{'0' * 64}", TENSORFLOW),
    ],
)
def test_resolves(requested: str, runtime: Runtime) -> None:
    assert RUNTIMES.resolve(requested, "trainingInput") == runtime


def test_an_image_for_the_cpu_uses_no_gpu() -> None:
    runtime = RUNTIMES.resolve(f"image:{PREFIX}tf-cpu.2-21.py311:latest", "f")
    assert runtime.variants == {"cpu": TENSORFLOW.cpu}
    assert TENSORFLOW.variants == {"cpu": TENSORFLOW.cpu, "gpu": TENSORFLOW.gpu}


@pytest.mark.parametrize(
    ("requested", "field", "words"),
    [
        ("version:2.11", "trainingInput.runtimeVersion", "2.21 (Python 3.11), 1.15 (Python 3.7)"),
        ("version:1.14", "trainingInput.runtimeVersion", "1.15 (Python 3.7), 2.21 (Python 3.11)"),
        ("version:2.21/3.7", "trainingInput.runtimeVersion", "'2.21 with Python 3.7' given"),
        ("version:/2.7", "trainingInput.runtimeVersion", "'with Python 2.7' given"),
        (
            "image@workerConfig.imageUri:gcr.io/cloud-ml-public/training/pytorch-gpu.1-0",
            "trainingInput.workerConfig.imageUri",
            "pytorch-gpu.2-13.py311",
        ),
        (
            f"image:{PREFIX}tf-cpu.2-12.py310:latest",
            "trainingInput.executorImageUri",
            "tf-cpu.2-21.py311, tf-cpu.1-15.py37",
        ),
        (f"image:{PREFIX}tf-cpu.1-14", "trainingInput.executorImageUri", "is tf-cpu.1-15.py37, "),
        (f"image:{PREFIX}jax-cpu.0-4", "trainingInput.executorImageUri", "pytorch-gpu.2-13.py311"),
        ("image:ubuntu:24.04", "trainingInput.executorImageUri", "a prebuilt training image"),
        ("image:", "trainingInput.executorImageUri", "a prebuilt training image"),
    ],
)
def test_refuses_with_the_nearest(requested: str, field: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=r"given, which the catalogue") as raised:
        RUNTIMES.resolve(requested, "trainingInput")
    assert raised.value.violations[0].field == field
    assert words in raised.value.violations[0].description


@given(st.sampled_from(["version:", "image:", f"image:{PREFIX}tf-cpu.", ""]), st.text())
def test_no_name_breaks_it(start: str, rest: str) -> None:
    with suppress(InvalidArgument):
        assert RUNTIMES.resolve(start + rest, "f").cpu


def test_locks() -> None:
    assert RUNTIMES.lock_text("b" * 64) == "numpy==1"
    with pytest.raises(NotFound):
        RUNTIMES.lock_text("c" * 64)


@pytest.mark.parametrize(
    ("uri", "prebuilt"),
    [
        (f"{PREFIX}tf-gpu.9-9", True),
        ("gcr.io/cloud-ml-public/training/pytorch-cpu.1-9:latest", True),
        ("gcr.io/cloud-ml-algos/xgboost_dist:latest", False),
        (f"{PREFIX}reductionserver:latest", False),
        ("gcr.io/p/i", False),
    ],
)
def test_knows_prebuilt_images_by_their_names(uri: str, prebuilt: bool) -> None:  # noqa: FBT001
    assert is_prebuilt(uri) is prebuilt
