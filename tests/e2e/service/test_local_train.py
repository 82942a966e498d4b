"""Local runs from a user's folder: a service comes, trains, and goes without a trace."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from footplate.testing.service import FOOTPLATE, outside
from tests.e2e.service.conftest import CACHE
from tests.support.forked_process import ForkedProcess
from tests.support.supervisor_process import find_living

TRAIN = ("ai-platform", "local", "train", "--package-path=trainer")
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311"
RUN = ("ai", "custom-jobs", "local-run", f"--executor-image-uri={IMAGE}")
CTRL_C = b"\x03"
LIMIT_S = 240
MARK = "--mark-of-local-train"
FOLDER = Path("/var/tmp/footplate-local-train-test")
"""Not below /tmp, of which programs have one of their own, wherever the checkout lies. Always the
same, as is what is built from it.
"""

TASK = """\
import pathlib, sys
print(pathlib.Path("data.txt").read_text())
pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1], "model").write_text("trained")
"""
ROLE = """\
import json, os, pathlib, sys, time

place = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1])
role = json.loads(os.environ["TF_CONFIG"])["task"]["type"]
print(role, flush=True)
(place / role).touch()
while role == "chief" and len(list(place.iterdir())) < 3:  # its end is everybody's
    time.sleep(0.02)
"""
BAD = "raise ValueError('no such data')\n"
ENDLESS = f"""\
import pathlib, signal, subprocess, sys, time

def save(*_):
    pathlib.Path("{FOLDER}/saved").touch()
    print("saved", flush=True)
    sys.exit(1)

signal.signal(signal.SIGTERM, save)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)", *sys.argv[1:]])
print("ready", flush=True)
time.sleep(3600)
"""


class User:
    """Somebody in a folder with a trainer; ``scratch`` is their directory for temporary files."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.folder = folder
        self.scratch = scratch
        own = {
            "FOOTPLATE_CACHE_DIR": str(CACHE),
            "FOOTPLATE_STOP_GRACE_S": "5",
            "FOOTPLATE_TMP_PATHS": str(FOLDER),  # local-run doesn't add it: it copies the package
        }
        self._environment = {**outside(os.environ), **own, "TMPDIR": str(scratch)}

    def start(self, *words: str) -> subprocess.Popen[str]:
        return ForkedProcess(
            (*FOOTPLATE, *TRAIN, *words),
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def type_out(self, words: tuple[str, ...], answers: tuple[tuple[bytes, bytes], ...]) -> int:
        """The exit status of a command at a terminal; to what it shows, keys are the answers."""
        pid, screen = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(FOOTPLATE[0], (*FOOTPLATE, *words), self._environment)  # noqa: S606  no shell wanted
        for shown, keys in answers:
            seen = b""
            while shown not in seen:
                seen += os.read(screen, 65536)
            os.write(screen, keys)
        with suppress(OSError):  # Linux says so when nobody has the terminal any more
            while os.read(screen, 65536):
                pass
        os.close(screen)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def train(self, *words: str) -> tuple[int, list[str], str]:
        """Exit status, lines in order, columns put together, and the last thing that was said."""
        with self.start(*words) as process:
            lines, told = process.communicate(timeout=LIMIT_S)
        shown = sorted(re.sub("  +", "  ", line) for line in lines.splitlines())
        return process.returncode, shown, told.splitlines()[-1]

    def traces(self) -> list[str]:
        return [path.name for path in self.scratch.iterdir()]


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    shutil.rmtree(FOLDER, ignore_errors=True)
    trainer = FOLDER / "trainer"
    trainer.mkdir(parents=True)
    (trainer / "__init__.py").touch()
    for name, source in (("task", TASK), ("role", ROLE), ("bad", BAD), ("endless", ENDLESS)):
        (trainer / f"{name}.py").write_text(source)
    (FOLDER / "data.txt").write_text("rows")
    yield User(FOLDER, tmp_path)
    shutil.rmtree(FOLDER)


def test_it_reads_and_writes_where_the_user_is(user: User) -> None:
    done = user.train("--module-name=trainer.task", "--job-dir=output")
    assert done == (0, ["rows"], "Job local_train succeeded.")
    assert (user.folder / "output" / "model").read_text() == "trained"
    assert sorted(path.name for path in (user.folder / "trainer").iterdir()) == [
        "__init__.py",
        "bad.py",
        "endless.py",
        "role.py",
        "task.py",
    ]
    assert user.traces() == []


@pytest.mark.parametrize("folder", ["", "deep/er"])
def test_it_starts_in_the_users_folder_below_tmp(user: User, folder: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        user.folder = Path(made) / folder
        shutil.copytree(FOLDER, user.folder, dirs_exist_ok=True)

        done = user.train("--module-name=trainer.task", "--job-dir=output")

        assert done == (0, ["rows"], "Job local_train succeeded.")
        assert (user.folder / "output" / "model").read_text() == "trained"


def test_replicas_of_a_cluster_know_their_roles(user: User) -> None:
    counts = ("--worker-count=1", "--parameter-server-count=1")
    words = ("--module-name=trainer.role", "--job-dir=output", "--distributed")
    assert user.train(*words, *counts) == (
        0,
        ["master-replica-0  chief", "ps-replica-0  ps", "worker-replica-0  worker"],
        "Job local_train succeeded.",
    )
    assert user.traces() == []


def test_a_trainer_that_fails_says_why(user: User) -> None:
    status, lines, told = user.train("--module-name=trainer.bad")
    assert status == 1
    assert "ValueError: no such data" in lines
    cause = (
        "replica master-replica-0 exited with code 1: "
        "ValueError: no such data (at task.py:11 in <module>)"
    )
    assert told == f"Job local_train failed: {cause}"
    assert user.traces() == []


def test_ctrl_c_cancels_the_job_waits_for_its_end_and_leaves_nothing(user: User) -> None:
    with user.start("--module-name=trainer.endless", "--", MARK) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        rest, told = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, rest) == (130, "saved\n")
    assert told.splitlines()[-1] == (
        "Job local_train was cancelled: cancelled by request of footplate at 127.0.0.1"
    )
    assert find_living(MARK) == []
    assert user.traces() == []


@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize(
    "words",
    [(*TRAIN, "--module-name=trainer.endless"), (*RUN, "--script=trainer/endless.py")],
    ids=["train", "run"],
)
def test_ctrl_c_at_a_terminal_is_for_the_command_alone(user: User, words: tuple[str, ...]) -> None:
    """The program hears of it from the service, and ends in its time, however often it comes."""
    answers = ((b"ready", CTRL_C), (b"waiting until it has ended", CTRL_C))
    assert user.type_out((*words, "--", MARK), answers) == 130
    assert (user.folder / "saved").exists()
    assert find_living(MARK) == []
    assert user.traces() == []


def test_the_death_of_the_command_is_the_end_of_its_job(user: User) -> None:
    with user.start("--module-name=trainer.endless", "--", MARK) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.kill()
        process.communicate(timeout=LIMIT_S)  # to the end of its service, which has the same stderr
    assert find_living(MARK) == []
    assert user.traces() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_service_is_that_of_its_job(user: User, number: signal.Signals) -> None:
    with user.start("--module-name=trainer.endless", "--", MARK) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        (service,) = children
        os.kill(int(service), number)
        _, told = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    last = told.splitlines()[-1]
    # SIGTERM lets the service cancel its job: the command may see that before the service is gone.
    cancelled = number == signal.SIGTERM and "cancelled by request of footplate down" in last
    assert cancelled or last == "Error: the private service has ended"
    assert find_living(MARK) == []
    assert user.traces() == []
