"""``footplate run`` as a process, which a program takes the place of."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.support.forked_process import interpreter_variables, run_footplate

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.support.fake_service import FakeService

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")

LIMIT_S = 120


class Run(Protocol):
    def __call__(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def run(fake: FakeService, tmp_path: Path) -> Run:
    """Start ``footplate run -- WORDS`` with credentials and proxies that must not be used."""

    def start(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **interpreter_variables(),
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "FOOTPLATE_URL": fake.url,
            "GOOGLE_API_KEY": "a-real-key",
            "https_proxy": "http://127.0.0.1:10",
            **variables,
        }
        return run_footplate("run", "--", *words, env=environment, cwd=tmp_path, timeout=LIMIT_S)

    return start


def test_secrets_and_other_proxies_are_taken_out_of_the_environment(
    run: Run, fake: FakeService
) -> None:
    text = """
import json, os
names = ("GOOGLE_API_KEY", "CLOUDSDK_AUTH_ACCESS_TOKEN", "https_proxy", "NO_PROXY")
print(json.dumps([os.environ.get(name) for name in names]))
"""
    done = run(sys.executable, "-c", text, CLOUDSDK_AUTH_ACCESS_TOKEN="ya29.real", NO_PROXY="x.y")
    assert json.loads(done.stdout) == [
        *(None, "footplate", fake.url),
        "127.0.0.1,localhost,::1",
    ], done.stderr


def test_words_exit_code_and_signals_are_the_programs_own(run: Run) -> None:
    show = "import sys; print(sys.argv[1:]); sys.exit(7)"
    done = run(sys.executable, "-c", show, "--url", "--", "a b")
    assert (done.returncode, done.stdout) == (7, "['--url', '--', 'a b']\n")
    assert run("sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM


def test_a_program_that_is_not_there(run: Run, tmp_path: Path) -> None:
    done = run("no-such-program")
    assert (done.returncode, done.stderr) == (
        127,
        "footplate run: no-such-program: no such program\n",
    )
    (tmp_path / "task.py").touch()
    assert run(str(tmp_path / "task.py")).returncode == 126


def test_without_a_server_nothing_runs(run: Run) -> None:
    done = run("echo", "ran", FOOTPLATE_URL="http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: no Footplate server answers at http://127.0.0.1:9;")
