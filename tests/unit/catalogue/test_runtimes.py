"""The built-in runtimes: what they promise by their names is what they pin."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from pathlib import Path

import pytest

from footplate import catalogue
from footplate.domain.errors import InvalidArgument
from footplate.domain.runtimes import REDUCERS, Offer, Runtime, Slice

RUNTIMES = catalogue.load()
OFFERED = [offer.runtime for offer in RUNTIMES.offers]
OF_PROGRAMS = [offer for offer in RUNTIMES.offers if REDUCERS not in offer.images]
"""All but that which no program of a user runs in."""
PREFIX = "us-docker.pkg.dev/vertex-ai/training/"


def pins(piece: Slice) -> dict[str, set[str]]:
    """Versions by name; without the part that only tells one build from another."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(
        r"^([a-z0-9-]+)==([^\s+]+)", RUNTIMES.lock_text(piece.lock_sha256), re.M
    ):
        found.setdefault(name, set()).add(version)
    return found


def full(slices: tuple[Slice, ...]) -> Slice:
    return [piece for piece in slices if not piece.fallback][-1]


def slices(runtime: Runtime) -> list[tuple[Slice, ...]]:
    return list(runtime.variants.values())


@pytest.mark.parametrize("runtime", OFFERED, ids=lambda runtime: runtime.name)
def test_slices_are_subsets(runtime: Runtime) -> None:
    for variant in slices(runtime):
        whole = pins(full(variant))
        assert whole
        for piece in variant:
            if piece.fallback:
                assert whole.items() <= pins(piece).items()
            else:
                assert pins(piece).items() <= whole.items()


@pytest.mark.parametrize("runtime", OFFERED, ids=lambda runtime: runtime.name)
def test_every_slice_but_the_full_one_says_when_it_will_not_do(runtime: Runtime) -> None:
    for variant in slices(runtime):
        chosen = [piece for piece in variant if not piece.fallback]
        assert all(piece.unless for piece in chosen[:-1])
        assert not chosen[-1].unless
        assert not variant[0].fallback


@pytest.mark.parametrize(
    "runtime", [offer.runtime for offer in OF_PROGRAMS], ids=lambda runtime: runtime.name
)
def test_every_slice_reports_metrics_and_opens_buckets(runtime: Runtime) -> None:
    for variant in slices(runtime):
        for piece in variant:
            assert pins(piece)["cloudml-hypertune"] == {"0.1.0.dev6"}
            assert {"google-cloud-storage", "gcsfs", "pandas", "scikit-learn"} <= pins(piece).keys()


@pytest.mark.parametrize("runtime", OFFERED, ids=lambda runtime: runtime.name)
def test_every_pin_has_hashes_and_names_no_host(runtime: Runtime) -> None:
    for variant in slices(runtime):
        for piece in variant:
            text = RUNTIMES.lock_text(piece.lock_sha256)
            assert "://" not in text
            assert hashlib.sha256(text.encode()).hexdigest() == piece.lock_sha256
            requirements = re.split(r"\n(?=[a-z0-9])", text)[1:]
            assert all("--hash=sha256:" in requirement for requirement in requirements)


def test_every_tensorflow_has_a_gpu_variant_and_says_which_cuda_it_wants() -> None:
    wanted = {}
    for offer in OF_PROGRAMS:
        if not any(name.startswith("tf-gpu") for name in offer.images):
            continue
        assert offer.runtime.gpu, offer.images
        known = pins(full(offer.runtime.gpu))
        assert "tensorflow-cpu" not in known
        brought = any(name.startswith("nvidia-cuda-runtime") for name in known)
        assert brought == (not offer.runtime.machine_cuda)
        for version in offer.versions:
            wanted[version] = offer.runtime.machine_cuda
    assert {version for version, cuda in wanted.items() if not cuda} == {
        *("2.14", "2.15", "2.16", "2.17", "2.21")
    }
    assert (wanted["1.15"], wanted["2.1"], wanted["2.4"]) == ("10.0", "10.1", "11.0")
    assert (wanted["2.5"], wanted["2.11"], wanted["2.13"]) == ("11.2", "11.2", "11.8")


def test_every_lock_is_used() -> None:
    locks = resources.files("footplate.catalogue") / "locks"
    texts = [p.read_text("utf-8") for p in locks.iterdir() if p.name.endswith(".txt")]
    assert sorted(texts) == sorted(RUNTIMES.locks.values())


@pytest.mark.parametrize(
    ("requested", "python", "package", "version"),
    [
        ("version:1.15", "3.7", "tensorflow", "1.15.5"),
        ("version:1.15", "3.7", "scikit-learn", "0.20.4"),
        ("version:1.15", "3.7", "xgboost", "0.90"),
        ("version:2.21", "3.11", "tensorflow-cpu", "2.21.0"),
        ("version:2.21", "3.11", "tf-keras", "2.21.0"),
        ("version:2.21", "3.11", "tensorboard", "2.21.0"),
        ("version:", "3.11", "xgboost-cpu", "3.2.0"),
        (f"image:{PREFIX}tf-gpu.2-21.py311:latest", "3.11", "tensorflow", "2.21.0"),
        (f"image:{PREFIX}sklearn-cpu.1-9.py311:latest", "3.11", "scikit-learn", "1.9.1"),
        (f"image:{PREFIX}scikit-learn-cpu.1-9.py311:latest", "3.11", "scikit-learn", "1.9.1"),
        (f"image:{PREFIX}xgboost-cpu.3-2.py311:latest", "3.11", "xgboost-cpu", "3.2.0"),
        (f"image:{PREFIX}pytorch-cpu.2-13.py311:latest", "3.11", "torch", "2.13.0"),
        (f"image:{PREFIX}pytorch-gpu.2-13.py311:latest", "3.11", "torch", "2.13.0"),
        (f"image:{PREFIX}tf-cpu.1-15:latest", "3.7", "tensorflow", "1.15.5"),
        ("version:2.1", "3.7", "tensorflow-cpu", "2.1.4"),
        ("version:2.11", "3.7", "tensorflow-cpu", "2.11.0"),
        ("version:2.11", "3.7", "scikit-learn", "1.0.2"),
        ("version:2.11", "3.7", "xgboost", "1.6.2"),
        ("version:/3.7", "3.7", "tensorflow-cpu", "2.11.0"),
        (f"image:{PREFIX}tf-cpu.2-11:latest", "3.7", "tensorflow-cpu", "2.11.0"),
        (f"image:{PREFIX}tf-gpu.2-11.py310:latest", "3.10", "tensorflow-cpu", "2.11.1"),
        (f"image:{PREFIX}tf-gpu.2-17.py310:latest", "3.10", "tensorflow", "2.17.1"),
        (f"image:{PREFIX}pytorch-gpu.1-13.py310:latest", "3.10", "torch", "1.13.1"),
        (f"image:{PREFIX}pytorch-cpu.1-4:latest", "3.7", "torch", "1.4.0"),
        (f"image:{PREFIX}scikit-learn-cpu.0-23:latest", "3.7", "scikit-learn", "0.23.2"),
        (f"image:{PREFIX}xgboost-cpu.1-1:latest", "3.7", "xgboost", "1.1.1"),
    ],
)
def test_names_mean_what_they_say(requested: str, python: str, package: str, version: str) -> None:
    runtime = RUNTIMES.resolve(requested, "trainingInput")
    assert runtime.python == python
    for variant in slices(runtime):
        known = pins(full(variant))
        assert {version} in (known.get(package), known.get(package.removesuffix("-cpu")))


@pytest.mark.parametrize("offer", OF_PROGRAMS, ids=lambda offer: offer.runtime.name)
def test_images_have_what_their_names_say(offer: Offer) -> None:
    packages = {"tf": "tensorflow", "pytorch": "torch", "xgboost": "xgboost"}
    known = pins(full(offer.runtime.cpu))
    for image in offer.images:
        family, version, python = re.split(r"-[cg]pu\.|\.py", image)
        assert python == offer.runtime.python.replace(".", "")
        package = packages.get(family, "scikit-learn")
        (pinned,) = known.get(package) or known[f"{package}-cpu"]
        assert pinned.split(".")[:2] == version.split("-")
    for version in offer.versions:
        (pinned,) = known.get("tensorflow") or known["tensorflow-cpu"]
        assert pinned.split(".")[:2] == version.split(".")


def test_no_name_is_given_twice() -> None:
    names = [name for offer in RUNTIMES.offers for name in (*offer.versions, *offer.images)]
    assert len(set(names)) == len(names)


def test_locks_are_small_enough_for_a_repository() -> None:
    assert sum(map(len, RUNTIMES.locks.values())) < 3 << 20


def test_protobuf_of_the_old_runtime_still_reads_old_code() -> None:
    (version,) = pins(full(RUNTIMES.resolve("version:1.15", "f").cpu))["protobuf"]
    assert tuple(map(int, version.split("."))) < (3, 21)


def test_pytorch_for_the_cpu_falls_back_to_the_build_of_the_index() -> None:

    pytorch = RUNTIMES.resolve(f"image:{PREFIX}pytorch-gpu.2-13.py311:latest", "f")
    assert "torch==2.13.0+cpu" in RUNTIMES.lock_text(full(pytorch.cpu).lock_sha256)
    assert "+cpu" not in RUNTIMES.lock_text(full(pytorch.gpu).lock_sha256)
    assert pytorch.cpu[-1].fallback
    assert pytorch.cpu[-1].lock_sha256 == full(pytorch.gpu).lock_sha256


def test_a_python_that_the_runtime_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"'2\.21 with Python 3\.7' given") as caught:
        catalogue.load().resolve("version:2.21/3.7", "trainingInput")
    assert caught.value.violations[0].field == "trainingInput.runtimeVersion"


def test_what_every_package_names_rules_no_slice_out() -> None:
    for runtime in OFFERED:
        for variant in slices(runtime):
            for piece in variant:
                assert not {"setuptools", "wheel", "packaging", "six", "tf"} & set(piece.unless)


def test_every_name_is_documented() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "runtimes.md"
    text = page.read_text("utf-8")
    for offer in RUNTIMES.offers:
        for name in (*offer.versions, *offer.images):
            assert f"`{name}`" in text
        assert f"| {offer.runtime.python} |" in text
