"""--package-path: what is built, and what is said about it."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from footplate.cli.packaging.trainer_package import build_package, is_project
from footplate.domain.errors import InvalidArgument

SETUP = """\
from setuptools import setup

setup(
    name='trainer',
    version='0.0.0',
    packages=['trainer', 'trainer.models'],
    package_data={'trainer': ['config.yaml', 'models/net.py', 'task.py']},
    install_requires=[],
)
"""


@pytest.fixture
def trainer(tmp_path: Path) -> Path:
    folder = tmp_path / "trainer"
    (folder / "models").mkdir(parents=True)
    for name in ("__init__.py", "task.py", "models/__init__.py", "models/net.py", "config.yaml"):
        (folder / name).write_text("")
    return folder


def test_a_package_without_metadata_gets_a_setup(trainer: Path) -> None:
    package = build_package(trainer)
    assert package.archive.name == "trainer-0.0.0.tar.gz"
    assert package.archive.members() == (
        "trainer-0.0.0/PKG-INFO",
        "trainer-0.0.0/setup.py",
        "trainer-0.0.0/trainer/__init__.py",
        "trainer-0.0.0/trainer/config.yaml",
        "trainer-0.0.0/trainer/models/__init__.py",
        "trainer-0.0.0/trainer/models/net.py",
        "trainer-0.0.0/trainer/task.py",
    )
    with tarfile.open(fileobj=io.BytesIO(package.archive.content)) as tar:
        setup = tar.extractfile("trainer-0.0.0/setup.py")
        assert setup is not None
        assert setup.read().decode() == SETUP
    left_out = "trainer/config.yaml, trainer/models/__init__.py, trainer/models/net.py"
    (note,) = package.notes
    assert note == (
        f"gcloud would leave out 3 of the files ({left_out}). To include them with gcloud, too, "
        f"name them in a setup.py in {trainer.parent}."
    )


def test_the_same_code_makes_the_same_bytes(trainer: Path) -> None:
    first = build_package(trainer).archive
    (trainer / "task.py").touch()
    assert build_package(trainer).archive == first
    (trainer / "task.py").write_text("x = 1\n")
    assert build_package(trainer).archive.sha256 != first.sha256


def test_the_project_around_it_is_what_gets_built(trainer: Path) -> None:
    (trainer.parent / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['hatchling']\nbuild-backend = 'hatchling.build'\n"
        "[project]\nname = 'mine'\nversion = '2'\n"
    )
    package = build_package(trainer)
    assert package.archive.name == "mine-2.tar.gz"
    assert "mine-2/trainer/task.py" in package.archive.members()
    assert package.notes == ()
    names = sorted(path.name for path in trainer.parent.iterdir())
    assert names == ["pyproject.toml", "trainer"]


def test_a_project_that_leaves_the_package_out_is_noted(trainer: Path) -> None:
    (trainer.parent / "setup.py").write_text(
        "from setuptools import setup\nsetup(name='mine', version='2', py_modules=[])\n"
    )
    assert build_package(trainer).notes == (
        f"The file mine-2.tar.gz, built from {trainer.parent}, contains no package 'trainer'.",
    )


def test_a_pyproject_of_tools_only_is_no_project(tmp_path: Path) -> None:
    assert not is_project(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    assert not is_project(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project\n")
    with pytest.raises(InvalidArgument, match=r"pyproject\.toml is not TOML"):
        is_project(tmp_path)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["trainer/task.py"], "is not a Python package: it has no __init__.py"),
        (["my trainer/__init__.py"], "'my trainer' can't be the name of a Python package"),
    ],
)
def test_what_is_no_package_is_refused(files: list[str], message: str, tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    with pytest.raises(InvalidArgument, match=message):
        build_package((tmp_path / files[0]).parent)


def test_a_folder_with_dashes_is_a_package(tmp_path: Path) -> None:
    folder = tmp_path / "my-trainer"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    assert build_package(folder).archive.name == "my-trainer-0.0.0.tar.gz"
