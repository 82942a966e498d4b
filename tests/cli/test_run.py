"""``footplate run`` as a process, whose end is that of a program."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from footplate.cli.child_program import run_program
from tests.support.fake_service import Answer, FakeService
from tests.support.forked_process import interpreter_variables, run_footplate

if TYPE_CHECKING:
    import subprocess

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


def test_a_program_that_is_not_there_leaves_signals_as_they_were() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with pytest.raises(FileNotFoundError):
        run_program(["/no-such-program"], {})
    assert signal.pthread_sigmask(signal.SIG_SETMASK, before) == before


def test_without_a_server_nothing_runs(run: Run) -> None:
    done = run("echo", "ran", FOOTPLATE_URL="http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: no Footplate server answers at http://127.0.0.1:9;")


JOB = "projects/demo/locations/us-central1/customJobs/7"
FAILED = {
    "name": JOB,
    "kind": "customJobs",
    "createTime": "2026-11-21T08:00:00.000000Z",
    "message": "replica workerpool0-0 exited with code 1: ValueError: bad (at task.py:2 in load)",
}


def fail_a_job(fake: FakeService, **job: object) -> None:
    lines = [{"replica": "workerpool0-0", "message": f"step {at}\x07"} for at in (1, 2)]
    fake.refusals["GET", "/footplate/v1/jobs"] = Answer(body={"jobs": [{**FAILED, **job}]})
    fake.refusals["GET", f"/footplate/v1/{JOB}/lines"] = Answer(body={"lines": lines})


def test_jobs_that_failed_meanwhile_are_shown_with_their_last_lines(
    run: Run, fake: FakeService
) -> None:
    fail_a_job(fake)
    done = run("sh", "-c", "echo the job failed >&2; exit 1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"the job failed\n\nfootplate run: {JOB} failed: {FAILED['message']}\nThe last 2 lines "
        "of the job's log:\n    step 1\\x07\n    step 2\\x07\nThe whole log: footplate ai "
        f"custom-jobs stream-logs {JOB}\nIn the console: {fake.url}/jobs/{JOB}\n"
    )
    asked = [r.query for r in fake.requests if r.path == "/footplate/v1/jobs"]
    assert asked == [
        {"pageSize": "1"},
        {"filter": f'state=FAILED AND createTime>"{FAILED["createTime"]}"', "pageSize": "3"},
    ]
    (lines,) = [r.query for r in fake.requests if r.path.endswith("/lines")]
    assert lines == {"back": "true", "limit": "40"}


def test_of_a_pipeline_the_lines_are_those_of_its_job(run: Run, fake: FakeService) -> None:
    pipeline = JOB.replace("customJobs", "trainingPipelines")
    fail_a_job(fake, name=pipeline, kind="trainingPipelines")
    details = Answer(body={"backing": JOB})
    fake.refusals["GET", f"/footplate/v1/{pipeline}/details"] = details
    told = run("false").stderr
    assert told.startswith(f"\nfootplate run: {pipeline} failed: ")
    assert f"stream-logs {JOB}\nIn the console: {fake.url}/jobs/{pipeline}\n" in told


def test_after_success_no_job_is_shown(run: Run, fake: FakeService) -> None:
    fail_a_job(fake)
    assert run("true").stderr == ""


def test_without_jobs_nothing_is_added(run: Run, fake: FakeService) -> None:
    fake.refusals["GET", "/footplate/v1/jobs"] = Answer(body={"jobs": []})
    assert run("false").stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="waits for signals as Linux has them")
def test_signals_reach_the_program(run: Run, tmp_path: Path) -> None:
    """The program asks its parent for the signal, as somebody does who knows only that one."""
    (tmp_path / "task.py").write_text(
        "import os, signal, sys\n"
        "def leave(*_):\n"
        "    print('told to end', flush=True)\n"
        "    sys.exit(5)\n"
        "signal.signal(signal.SIGTERM, leave)\n"
        "assert signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, [])\n"
        "os.kill(os.getppid(), signal.SIGTERM)\n"
        "while True: signal.pause()\n"
    )
    done = run(sys.executable, "task.py")
    assert (done.returncode, done.stdout) == (5, "told to end\n")


@pytest.mark.skipif(sys.platform != "linux", reason="as above")
def test_a_program_does_not_outlive_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(
        "import os, signal\n"
        "print('begun', flush=True)\n"
        "os.kill(os.getppid(), signal.SIGKILL)\n"
        "while True: signal.pause()\n"
    )
    # The pipe that the program holds ends with it: else this would wait for ever.
    assert run(sys.executable, "task.py").returncode == -signal.SIGKILL
