"""Tab completion in the shells themselves, of which a machine may have some."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from footplate.cli.main import main
from tests.support.fake_service import FakeService
from tests.support.requirements import needs_packages

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")

LIMIT_S = 60
READY = "READY "
RC_FILES = {
    "bash": ".bashrc",
    "zsh": ".zshrc",
}
SET_UP = {
    "bash": f". ~/script\nPS1='{READY}'\n",
    "zsh": (
        "fpath=(~ $fpath); autoload -Uz compinit; compinit -u -D\n"
        f"PS1='{READY}'; bindkey -e; unsetopt prompt_cr prompt_sp\n"
    ),
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "train.py").touch()
    for shell, name in (("bash", "script"), ("zsh", "_footplate"), ("fish", "script.fish")):
        script = CliRunner().invoke(main, ["completion", shell]).stdout
        (tmp_path / name).write_text(script)
    return tmp_path


@pytest.fixture
def environment(home: Path, fake: FakeService) -> dict[str, str]:
    fake.jobs["projects/demo/jobs/census_1"] = {"jobId": "census_1", "state": "RUNNING"}
    fake.buckets.append("stage")
    programs = Path(sys.executable).parent
    return {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "ZDOTDIR": str(home),
        "TERM": "dumb",
        "FOOTPLATE_URL": fake.url,
    }


@pytest.fixture
def type_into(home: Path, environment: dict[str, str]) -> Iterator[Callable[[str, str, str], str]]:
    """Start the shell on a terminal, type, and read until the words are there."""
    running: list[tuple[subprocess.Popen[bytes], int]] = []

    def type_into(shell: str, typed: str, expected: str) -> str:
        (home / RC_FILES[shell]).write_text(SET_UP[shell])
        ours, theirs = os.openpty()
        process = subprocess.Popen(
            [shell, "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=home,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        running.append((process, ours))
        read_until(ours, READY)
        os.write(ours, typed.encode())
        return read_until(ours, expected)

    yield type_into
    for process, terminal in running:
        os.close(terminal)
        process.kill()
        process.wait()


def read_until(terminal: int, expected: str) -> str:
    """What was shown by then, or till nothing more comes."""
    shown, end = "", time.monotonic() + LIMIT_S
    while expected not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65_536).decode(errors="replace")
    return shown


LINES = [
    ("footplate ai-pl\t", "footplate ai-platform "),
    ("footplate ai-platform jobs descr\t", "jobs describe "),
    ("footplate ai-platform jobs describe ce\t", "describe census_1"),
    ("footplate ai-platform jobs list --filt\t", "list --filter "),
    ("footplate storage ls gs://s\t", "ls gs://stage/"),
    ("footplate storage cp tr\t", "cp train.py"),
    ("footplate run -- python tr\t", "python train.py"),
    ("footplate ai-platform jobs submit training j -- --data tr\t", "--data train.py"),
    ("footplate ai-platform local train -- --config tr\t", "--config train.py"),
]


@pytest.mark.parametrize(
    "shell", [pytest.param(each, marks=needs_packages(each, each)) for each in SET_UP]
)
@pytest.mark.parametrize(("typed", "expected"), LINES, ids=lambda text: text.strip())
def test_tab_completes_a_line(
    shell: str, typed: str, expected: str, type_into: Callable[[str, str, str], str]
) -> None:
    assert expected in type_into(shell, typed, expected)


@needs_packages("fish", "fish")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("footplate ai-platform jobs descr", "describe\tShow a job, and why it failed"),
        ("footplate ai-platform jobs describe ce", "census_1\tRUNNING"),
        ("footplate ai-platform jobs list --form", "--format\tjson, yaml, table, csv"),
        ("footplate storage ls gs://s", "gs://stage/"),
        ("footplate run -- python tr", "train.py"),
        ("footplate ai-platform jobs submit training j -- --data tr", "train.py"),
        ("footplate ai-platform local train -- --config tr", "train.py"),
    ],
)
def test_fish_offers(line: str, offered: str, home: Path, environment: dict[str, str]) -> None:
    words = ["fish", "-c", f"source script.fish; complete -C '{line}'"]
    found = subprocess.run(
        words, cwd=home, env=environment, capture_output=True, text=True, check=True,
        timeout=LIMIT_S,
    )  # fmt: skip
    assert found.stdout.startswith(offered)
