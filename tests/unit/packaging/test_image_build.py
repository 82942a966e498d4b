"""The context of a build: a Dockerfile like gcloud's, and all that it copies."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from footplate.cli.packaging.image_build import make_context, read_image_name
from footplate.cli.packaging.local_code import LocalCode
from footplate.domain.errors import InvalidArgument


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("training", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "training" / "task.py").write_text("print('hello')\n")
    (tmp_path / "data" / "x.csv").write_text("1,2\n")
    (tmp_path / "dep-1.tar.gz").write_bytes(b"dep")
    return tmp_path


def unpack(context: bytes) -> dict[str, str]:
    with tarfile.open(fileobj=io.BytesIO(context), mode="r:gz") as archive:
        members = [member for member in archive if member.isfile()]
        found = {member.name: archive.extractfile(member) for member in members}
        return {name: file.read().decode() for name, file in found.items() if file is not None}


def test_a_module_with_requirements_and_packages(root: Path) -> None:
    (root / "requirements.txt").write_text("# pinned\nsix==1.16.0\n")
    code = LocalCode(
        root,
        python_module="training.task",
        requirements=("tqdm>=4,<5",),
        extra_packages=("dep-1.tar.gz",),
        extra_dirs=("data",),
    )

    files = unpack(make_context(code, "base:1"))

    assert files.pop("Dockerfile") == (
        "FROM base:1\n"
        "RUN mkdir -m 777 -p /usr/app /home\n"
        "WORKDIR /usr/app\n"
        "ENV HOME=/home PYTHONDONTWRITEBYTECODE=1\n"
        'RUN ["python3", "-m", "pip", "install", "--no-cache-dir", "tqdm>=4,<5", "six==1.16.0"]\n'
        "COPY packages /tmp/packages\n"
        'RUN ["python3", "-m", "pip", "install", "--no-cache-dir", "/tmp/packages/dep-1.tar.gz"]\n'
        "COPY code ./\n"
        'ENTRYPOINT ["python3", "-m", "training.task"]\n'
    )
    assert files == {
        "code/training/task.py": "print('hello')\n",
        "code/data/x.csv": "1,2\n",
        "packages/dep-1.tar.gz": "dep",
    }


@pytest.mark.parametrize(
    ("script", "entry"),
    [
        ("training/task.py", '["python3", "training/task.py"]'),
        ("run.sh", '["/bin/bash", "run.sh"]'),
    ],
)
def test_a_script(root: Path, script: str, entry: str) -> None:
    (root / "run.sh").write_text("echo\n")

    files = unpack(make_context(LocalCode(root, script=script), "base:1"))

    assert files["Dockerfile"].endswith(f"COPY code ./\nENTRYPOINT {entry}\n")
    assert "pip" not in files["Dockerfile"]


def test_a_script_that_is_not_there(root: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"absent\.py does not exist, or is not a file"):
        make_context(LocalCode(root, script="absent.py"), "base:1")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("x y", "--output-image-uri: 'x y' is not the name of an image: it has a space"),
        (f"x@sha256:{'0' * 64}", "has a digest; allowed: NAME:TAG"),
    ],
)
def test_a_name_that_a_new_image_can_not_have(name: str, problem: str) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        read_image_name(name, "--output-image-uri")
