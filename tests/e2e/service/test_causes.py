"""Broken trainers as users send them, and the whole sentence that each of them gets."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from footplate.domain.names import GcsUri, JobName, TrainingJobName
from footplate.replica.lost_files import WAYS_OUT
from footplate.testing.service import running_service
from tests.e2e.service.conftest import BUCKET, CACHE, Context
from tests.support.trainers import pack

MASTER = "replica master-replica-0"
OWN = "because the program"
FAILED = f"{MASTER} exited with code 1: "
REQUIRING = """\
from setuptools import find_packages, setup
setup(name="trainer", version="0.1.0", packages=find_packages(), install_requires={requires!r})
"""

PROGRAMS = {
    "exception": (
        "print('step 1')\nraise ValueError('no \\x1b[31mrows\\x1b[0m')",
        FAILED + "ValueError: no rows (at exception.py:2 in <module>)",
    ),
    "several_lines": (
        "raise RuntimeError('the shapes differ:\\n  (2, 3)\\n  (4, 5)')",
        FAILED + "RuntimeError: the shapes differ: (2, 3) (at several_lines.py:1 in <module>)",
    ),
    "leaving": ("raise SystemExit('no data in /gcs/x')", FAILED + "no data in /gcs/x"),
    "code": (
        (
            "import subprocess, sys\n"
            "sys.exit(128 - subprocess.run(['sh', '-c', 'kill -9 $$']).returncode)"
        ),
        (
            f"{MASTER} exited with code 137 (which often means that SIGKILL killed a child "
            "process of the program)"
        ),
    ),
    "interrupt": (
        "raise KeyboardInterrupt('100 steps are enough')",
        (
            f"{MASTER} was killed by signal 2 (SIGINT), sent by the program itself: a "
            "KeyboardInterrupt that no Python code caught: KeyboardInterrupt: 100 steps are enough "
            "(at interrupt.py:1 in <module>)"
        ),
    ),
    "syntax": (
        "def f(:\n  pass\n",
        FAILED + "SyntaxError: invalid syntax (at syntax.py:1)",
    ),
    "segfault": (
        "import ctypes\nctypes.string_at(0)",
        f"{MASTER} was killed by signal 11 (SIGSEGV), {OWN} used memory that isn't its own",
    ),
    "abort": (
        (
            "import os, sys\nprint('free(): double free detected in tcache 2', file=sys.stderr)\n"
            "os.abort()"
        ),
        (
            f"{MASTER} was killed by signal 6 (SIGABRT), {OWN} called abort(): "
            "free(): double free detected in tcache 2"
        ),
    ),
    "limit": (
        "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nwhile True: pass",
        f"{MASTER} was killed by signal 24 (SIGXCPU), {OWN} reached its limit of CPU time",
    ),
    "memory": (
        "bytearray(1 << 60)",
        FAILED + "MemoryError (at memory.py:1 in <module>). The program ran out of memory (this "
        "machine has N GiB for all programs): use smaller batches, less data at once, or a "
        "machine type with more memory",
    ),
    "importing": (
        "import transformers",
        FAILED + "ModuleNotFoundError: No module named 'transformers' (at importing.py:1 in "
        "<module>). Runtime RUNTIME has no transformers. It has WHAT. Set "
        "install_requires=['transformers'] in your setup.py, or take a runtime that has "
        "transformers",
    ),
    "name": (
        "from numpy import boolx",
        FAILED + "ImportError: cannot import name 'boolx' from 'numpy' (WHERE) (at name.py:1 in "
        "<module>). numpy VERSION is installed (runtime RUNTIME), but the code seems to be "
        "for another version: set install_requires=['numpy==...'] in your setup.py, or take "
        "another runtime version",
    ),
    "bucket": (
        "open('gs://stage/data/a.csv')",
        FAILED + "FileNotFoundError: [Errno 2] No such file or directory: 'gs://stage/data/a.csv' "
        "(at bucket.py:1 in <module>). "
        f"Open the file at /gcs/stage/data/a.csv instead. {WAYS_OUT}",
    ),
}
_VARIED = (
    (r"has [\d.]+ GiB for", "has N GiB for"),
    (r"(?<=[Rr]untime )\S*\d[\w.-]*(?=[ ),])", "RUNTIME"),
    (r"It has (?:(?!\. Set ).)+", "It has WHAT"),
    (r"\(/[^)]*\)", "(WHERE)"),
    (r"numpy [\d.]+", "numpy VERSION"),
)


SETUP = REQUIRING.format(requires=[])


class Broken:
    """All programs are modules of one package, and were sent at once."""

    def __init__(self, context: Context) -> None:
        self.context = context
        modules = {f"trainer/{name}.py": source for name, (source, _) in PROGRAMS.items()}
        self.send("trainer", {"setup.py": SETUP, "trainer/__init__.py": "", **modules})
        self.names = {name: self.start(name, "trainer") for name in PROGRAMS}

    def send(self, package: str, members: dict[str, str]) -> None:
        packed = pack({f"{package}-0.1.0/{path}": text for path, text in members.items()})
        with self.context.client() as client:
            client.storage.upload(GcsUri(BUCKET, f"{package}.tar.gz"), packed)

    def start(self, job_id: str, package: str, module: str = "", **fields: object) -> JobName:
        """The job's id is also the module's, unless that is named."""
        body = {
            "scaleTier": "BASIC",
            "region": "us-central1",
            "packageUris": [f"gs://{BUCKET}/{package}.tar.gz"],
            "pythonModule": module or f"trainer.{job_id}",
            **fields,
        }
        with self.context.client() as client:
            job = {"jobId": job_id, "trainingInput": body}
            client.training_jobs.create("demo", job)  # type: ignore[arg-type]  # JSON by hand
        return TrainingJobName("demo", job_id)

    def message(self, name: JobName) -> str:
        """What all machines and runtimes say alike of how it ended."""
        text = self.context.wait_for(name).error_message
        for pattern, word in _VARIED:
            text = re.sub(pattern, word, text)
        return text


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broken]:
    data = tmp_path_factory.mktemp("causes") / "data"
    with running_service(data, CACHE, stop_grace_s=1, max_replicas=3) as service:
        yield Broken(Context(service))


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_a_program_that_fails_is_explained(broken: Broken, name: str) -> None:
    assert broken.message(broken.names[name]) == PROGRAMS[name][1]


def test_a_module_that_is_misspelt_is_told_with_those_there_are(broken: Broken) -> None:
    told = broken.message(broken.start("misspelt", "trainer", "trainer.segfalt"))
    assert told.startswith(
        f"{FAILED}No module named trainer.segfalt. Your package trainer has abort"
    )
    assert "; did you mean trainer.segfault?" in told


def test_what_a_setup_raises_is_told(broken: Broken) -> None:
    broken.send("raising", {"setup.py": "raise RuntimeError('needs CUDA_HOME')\n"})
    told = broken.message(broken.start("setup", "raising", "raising.task"))
    assert told.startswith(
        f"{MASTER} could not be prepared: the build of raising.tar.gz for Python"
    )
    assert told.endswith(": RuntimeError: needs CUDA_HOME")


def test_who_cancelled_a_job_is_told_and_what_it_was_prepared_for(broken: Broken) -> None:
    slow = "import time\nprint('building', flush=True)\ntime.sleep(60)\n"
    broken.send("slow", {"setup.py": slow})
    name = broken.start("slow", "slow", "slow.task")
    with broken.context.client() as client:
        broken.context.until(
            lambda: (
                "building slow.tar.gz" in str(client.job(name).resource.get("pendingExplanation"))
            )
        )
        why = str(client.job(name).resource["pendingExplanation"])
        client.cancel(name)
    assert re.fullmatch(r"Being prepared for \d+ s: building slow.tar.gz.", why)
    told = broken.message(name)
    assert told == "cancelled by request of footplate at 127.0.0.1"
