"""Runtimes of an operator's file, with locks of his own."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.errors import InvalidArgument
from footplate.domain.runtimes import Runtimes

LOCK = f"""\
# made by hand
alpha==1.0 \\
    --hash=sha256:{"0" * 64}
beta==2.0 --hash=sha256:{"1" * 64}
"""
OWN = """\
[runtimes."2.30"]
python = "3.12"
versions = ["2.30"]
images = ["tf-cpu.2-30.py312"]
[[runtimes."2.30".cpu]]
name = "own"
lock = "own.txt"
"""
BUILT_IN = load_catalogue().runtimes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.txt").write_text(LOCK)
    return tmp_path


def load(folder: Path, text: str) -> Runtimes:
    (folder / "own.toml").write_text(text)
    return load_catalogue(folder / "own.toml").runtimes


def refusals(folder: Path, text: str) -> str:
    with pytest.raises(InvalidArgument) as caught:
        load(folder, text)
    return "\n".join(f"{v.field}: {v.description}" for v in caught.value.violations)


def test_an_own_runtime_is_found_by_its_names(folder: Path) -> None:
    found = load(folder, OWN)
    runtime = found.for_version("2.30", "", "f")
    assert runtime.python == "3.12"
    assert found.lock_text(runtime.cpu[0].lock_sha256) == LOCK
    assert found.find("tf-cpu.2-30", "f") == runtime
    assert found.for_version("2.21", "", "f") == BUILT_IN.for_version("2.21", "", "f")
    assert found.default == BUILT_IN.default


def test_own_names_come_before_built_in_ones(folder: Path) -> None:
    text = OWN.replace('versions = ["2.30"]', 'versions = ["2.21"]').replace(
        "tf-cpu.2-30.py312", "tf-cpu.2-21.py311"
    )
    found = load(folder, text)
    assert found.for_version("2.21", "", "f").name == "2.30"
    assert found.find("tf-cpu.2-21", "f").name == "2.30"
    assert found.find("tf-gpu.2-21", "f").name == "2.21"


def test_a_default_of_ones_own(folder: Path) -> None:
    found = load(folder, f'default_runtime = "2.30"\n{OWN}')
    assert found.for_version("", "", "f").name == "2.30"
    assert "the default is version '2.31', which no runtime has" in refusals(
        folder, 'default_runtime = "2.31"\n'
    )


def test_built_in_runtimes_can_be_removed(folder: Path) -> None:
    found = load(folder, '[remove]\nruntimes = ["1.15"]\n')
    with pytest.raises(InvalidArgument):
        found.for_version("1.15", "", "f")
    assert "'1.16' given, which isn't in the catalogue; did you mean 1.15 or 2.16?" in refusals(
        folder, '[remove]\nruntimes = ["1.16"]\n'
    )
    assert "the default is version '2.21', which no runtime has" in refusals(
        folder, '[remove]\nruntimes = ["2.21"]\n'
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('lock = "own.txt"', 'lock = "no.txt"', "no.txt can't be read: No such file"),
        ('lock = "own.txt"', 'lock = "."', "can't be read: Is a directory"),
        ('lock = "own.txt"', "", "lock is missing"),
        ('"3.12"', '"new"', "'new' given; allowed: a version such as 3.11"),
        ('["2.30"]', '["latest"]', "'latest' given; allowed: a version such as 2.30"),
        (
            "tf-cpu.2-30.py312",
            "my/image",
            ("'my/image' given; allowed: the name of an image, such as tf-cpu.2-30.py311"),
        ),
        (
            'versions = ["2.30"]\nimages = ["tf-cpu.2-30.py312"]',
            "",
            "no job can choose this runtime",
        ),
        (
            '[[runtimes."2.30".cpu]]\nname = "own"\nlock = "own.txt"\n',
            "",
            "this runtime has no packages",
        ),
        ('name = "own"', 'name = "own"\nsize = 1', "unknown key"),
    ],
)
def test_what_is_wrong_is_told(folder: Path, before: str, after: str, said: str) -> None:
    assert before in OWN
    assert said in refusals(folder, OWN.replace(before, after))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file pins no packages"),
        ("alpha==1.0\n", "the line 'alpha==1.0' has no version or no hash"),
        (f"alpha --hash=sha256:{'0' * 64}\n", "has no version or no hash"),
        (f"{LOCK}-r more.txt\n", "the line '-r more.txt' has no version or no hash"),
        ("x" * (5 << 20), "the file is larger than 4 MiB"),
    ],
)
def test_a_lock_that_is_none(folder: Path, text: str, said: str) -> None:
    (folder / "own.txt").write_text(text)
    assert said in refusals(folder, OWN)
