"""The page on runtimes: its table is what the catalogue has, its example one that it takes."""

from __future__ import annotations

import re
from pathlib import Path

from footplate.catalogue import load, load_catalogue
from footplate.domain.runtimes import Offer

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "runtimes.md"
TEXT = PAGE.read_text("utf-8")
RUNTIMES = load()
HOLDS = {
    "TensorFlow": ("tensorflow-cpu", "tensorflow"),
    "PyTorch": ("torch",),
    "scikit-learn": ("scikit-learn",),
    "XGBoost": ("xgboost-cpu", "xgboost"),
}


def pins(offer: Offer) -> dict[str, str]:
    whole = [piece for piece in offer.runtime.cpu if not piece.fallback][-1]
    lock = RUNTIMES.lock_text(whole.lock_sha256)
    return dict(re.findall(r"^([a-z0-9-]+)==([0-9.]+)", lock, re.MULTILINE))


def cuda(offer: Offer) -> str:
    """The version that its GPU variant has, or expects of the machine."""
    runtime = offer.runtime
    if not runtime.gpu:
        return ""
    if runtime.machine_cuda:
        return f"CUDA {runtime.machine_cuda} of the machine"
    lock = RUNTIMES.lock_text(runtime.gpu[-1].lock_sha256)
    found = re.search(r"^nvidia-cuda-runtime(?:-cu\d+)?==(\d+\.\d+)", lock, re.MULTILINE)
    return f"CUDA {found[1]}" if found else "CUDA"


def rendered(offer: Offer) -> str:
    """The row of a runtime."""
    pinned = pins(offer)
    found = (
        f"{name} {pinned[package].rstrip('.')}"
        for name, packages in HOLDS.items()
        for package in packages
        if package in pinned and not any(p in pinned for p in packages[: packages.index(package)])
    )
    default = ", the default" if RUNTIMES.default in offer.versions else ""
    versions = ", ".join(f"`{version}`" for version in offer.versions) + default
    images = ", ".join(f"`{image}`" for image in offer.images)
    cells = (versions, images, offer.runtime.python, ", ".join(found), cuda(offer))
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")


def table() -> str:
    heading = "| runtime version | prebuilt image | Python | holds | GPUs |\n|---|---|---|---|---|"
    return "\n".join([heading, *map(rendered, RUNTIMES.offers)])


def test_the_table_is_what_the_catalogue_has() -> None:
    (shown,) = re.findall(r"^\| runtime version .*?(?=\n\n)", TEXT, re.MULTILINE | re.DOTALL)
    assert shown == table()


def test_the_example_of_own_runtimes_is_valid(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    for name in re.findall(r'lock = "(.+)"', example):
        (tmp_path / name).write_text(f"alpha==1 --hash=sha256:{'0' * 64}\n")
    file = tmp_path / "own.toml"
    file.write_text(example)
    found = load_catalogue(file).runtimes
    assert found.for_version("", "", "f").name == "2.30"
    assert found.find("tf-gpu.2-30", "f").gpu
