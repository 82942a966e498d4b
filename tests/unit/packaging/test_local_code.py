"""Local code of a worker pool: packaged, and started as gcloud's image would start it."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from footplate.cli.packaging.local_code import (
    MODULE,
    LocalCode,
    package_local_code,
    read_local_code,
)
from footplate.domain.errors import InvalidArgument

SHOW = """\
import os, sys
print(__name__, sys.argv[1:], sorted(os.listdir(".")), open(HERE).read())
"""


@pytest.fixture
def code(tmp_path: Path) -> Path:
    root = tmp_path / "code"
    (root / "trainer").mkdir(parents=True)
    (root / "data").mkdir()
    (root / "data" / "rows.txt").write_text("rows")
    (root / "train.py").write_text("HERE = 'data/rows.txt'\n" + SHOW)
    (root / "trainer" / "__init__.py").touch()
    (root / "trainer" / "task.py").write_text("HERE = 'trainer/note'\n" + SHOW)
    (root / "trainer" / "note").write_text("beside")
    (root / "start.sh").write_text("echo bash: $@\n")
    return root


def run(code: LocalCode, tmp_path: Path) -> str:
    """What the package prints, started as a replica would, in an empty directory."""
    archive = package_local_code(code)[0]
    with tarfile.open(fileobj=io.BytesIO(archive.content)) as tar:
        tar.extractall(tmp_path / "site", filter="data")
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", MODULE, "--epochs", "a b"],
        cwd=work,
        env={"PYTHONPATH": str(tmp_path / "site" / archive.name.removesuffix(".tar.gz"))},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_script_runs_among_its_files(code: Path, tmp_path: Path) -> None:
    assert run(LocalCode(code, script="train.py"), tmp_path) == (
        "__main__ ['--epochs', 'a b'] ['data', 'start.sh', 'train.py', 'trainer'] rows\n"
    )


def test_a_module_runs_with_its_package_alone(code: Path, tmp_path: Path) -> None:
    assert run(LocalCode(code, python_module="trainer.task"), tmp_path) == (
        "__main__ ['--epochs', 'a b'] ['trainer'] beside\n"
    )


def test_extra_folders_come_along(code: Path, tmp_path: Path) -> None:
    chosen = LocalCode(code, python_module="trainer.task", extra_dirs=("data",))
    assert "['data', 'trainer']" in run(chosen, tmp_path)


def test_a_shell_script_runs_in_bash(code: Path, tmp_path: Path) -> None:
    assert run(LocalCode(code, script="start.sh"), tmp_path) == "bash: --epochs a b\n"


def test_packages_beside_it_are_taken_along(code: Path) -> None:
    (code / "extra-1.tar.gz").write_bytes(b"built")
    (code / "setup.py").write_text(
        "from setuptools import setup\nsetup(name='mine', version='2', packages=['trainer'])\n"
    )
    chosen = LocalCode(code, script="train.py", extra_packages=("extra-1.tar.gz",))
    names = [archive.name for archive in package_local_code(chosen)]
    assert names == ["footplate_local_code-0.0.0.tar.gz", "mine-2.tar.gz", "extra-1.tar.gz"]


def test_the_keys_of_a_pool(code: Path) -> None:
    pool = {
        "local-package-path": str(code),
        "script": "train.py",
        "requirements": "a; b<2",
        "extra-dirs": "data",
    }
    expected = LocalCode(code, script="train.py", requirements=("a", "b<2"), extra_dirs=("data",))
    assert read_local_code(pool) == expected


def test_options_in_requirements_are_refused(code: Path) -> None:
    (code / "requirements.txt").write_text("numpy\n-r other.txt\n")
    with pytest.raises(InvalidArgument, match=r"line 2: '-r other\.txt' is an option of pip"):
        package_local_code(LocalCode(code, script="train.py"))


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"script": "none.py"}, "none.py does not exist, or is not a file"),
        ({"script": "../train.py"}, "script: '../train.py' is outside local-package-path"),
        ({"script": "/etc/passwd"}, "is outside local-package-path"),
        ({"python_module": "no.such"}, "no/such.py does not exist"),
        ({"script": "train.py", "extra_dirs": ("none",)}, "extra-dirs: .*none is not a folder"),
        ({"script": "train.py", "extra_packages": ("x.whl",)}, "extra-packages: .*No such file"),
    ],
)
def test_what_is_not_there_is_named(
    chosen: dict[str, str | tuple[str, ...]], message: str, code: Path
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        package_local_code(LocalCode(code, **chosen))  # type: ignore[arg-type]  # mixed on purpose
